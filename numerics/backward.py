"""Input gradients of the two layers as a format computes them, with the exact ones and what rounding allows.

Both are taken by automatic differentiation, in the format and in fp64 from the same inputs; the bounds are those of
`numerics.rounding`. A correct infinity counts as the exact value (`settle_overflow`) and is marked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from numerics.gradients import Layer, input_gradient
from numerics.inputs import Batch, phasor_view
from numerics.norms import mrs_norm, mrs_scale, rms_norm, rms_scale
from numerics.rounding import FP64, gradient_error, rms_gradient_error, rounded, roundings, settle_overflow


@dataclass(frozen=True)
class Gradient:
    """dL/dz in fp64, (T, P, 2): as measured, exact to fp64, and a bound on the difference of the two.

    The bound also covers the distance of either from the true gradient.
    """

    value: Tensor
    exact: Tensor
    allowed: Tensor
    infinite: Tensor

    @property
    def norms(self) -> Tensor:
        """|dL/dz_i|: (T, P)."""
        return torch.linalg.vector_norm(self.value, dim=-1)

    @property
    def allowed_norms(self) -> Tensor:
        """What `norms` may be off by, gamma_8 of fp64 for evaluating them included: (T, P)."""
        slack = roundings(8, FP64) * torch.linalg.vector_norm(self.exact, dim=-1)
        return torch.linalg.vector_norm(self.allowed, dim=-1) + slack


def defined(b: Batch) -> Tensor:
    """Rows that have an output: at eps = 0 a row of zeros has none. (T,)."""
    return (b.h != 0).any(dim=-1) | (b.eps > 0)


def mrs_gradient(b: Batch, g: Tensor) -> Gradient:
    """The input gradient of MRSNorm for an upstream gradient g (T, 2P) in the batch's format."""
    scale = mrs_scale(b.h.double(), b.eps)
    z, upstream, gamma = b.z, phasor_view(g), b.gamma.double()
    lost, lost64 = (gradient_error(z, upstream, gamma, scale, f) for f in (b.fmt, FP64))
    return _gradient(b, g, partial(mrs_norm, weight=b.gamma, eps=b.eps), lost, lost64)


def rms_gradient(b: Batch, g: Tensor) -> Gradient:
    """The input gradient of RMSNorm, channels in pairs; a weight a pair serves both of its channels."""
    weight = b.gamma if len(b.gamma) == b.h.shape[-1] else b.gamma.repeat_interleave(2)
    x, scale = b.h.double(), rms_scale(b.h.double(), b.eps)
    lost, lost64 = (phasor_view(rms_gradient_error(x, g.double(), weight.double(), scale, f)) for f in (b.fmt, FP64))
    return _gradient(b, g, partial(rms_norm, weight=weight, eps=b.eps), lost, lost64)


def _gradient(b: Batch, g: Tensor, layer: Layer, lost: Tensor, lost64: Tensor) -> Gradient:
    exact = phasor_view(input_gradient(layer, b.h.double(), g.double()))
    measured = phasor_view(input_gradient(layer, b.h, g))
    value, infinite = settle_overflow(measured, exact, lost + lost64, b.fmt)
    return Gradient(value, exact, rounded(lost + lost64, exact, b.fmt) + lost64, infinite)


def worst_of_row(error: Tensor, bound: Tensor, where: Tensor | None = None) -> Tensor:
    """The largest error / bound of each row, for quantities that are not one a phasor: (T, ...) -> (T,).

    An error of 0 counts 0, and so does what lies outside the mask `where`; a NaN stays.
    """
    ratio = torch.where(error == 0, torch.zeros_like(error), error / bound)
    if where is not None:
        ratio = torch.where(where, ratio, torch.zeros_like(ratio))
    return ratio.flatten(1).amax(-1)
