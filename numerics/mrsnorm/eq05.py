"""Eq. 5 measured: the input gradient of MRSNorm by automatic differentiation against the printed formula.

    dL/dz_i = (gamma_i g_i - u_i Omega) / S,   Omega = (1/P) sum_k gamma_k g_k . zhat_k,   zhat_k = z_k / S

Source: Eq. 5 of the MRSNorm paper (section 5.1), where zhat has no affine weight yet, at z_i != 0.

Bound. The layer's backward pass in its accumulation format loses at most `rounding.gradient_error` a component, the
gradient is then rounded to the input's format, and the printed formula in fp64, from the same inputs, loses at most
the same bound with fp64's unit roundoff. For fp64 inputs both sides are fp64 and both bounds count.

At z_i = 0 the printed direction is undefined. There the layer takes u_i = 0, so its gradient must be gamma_i g_i / S;
that is measured as a statement of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from numerics.gradients import input_gradient
from numerics.inputs import batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_norm, mrs_scale
from numerics.phasor_math import dot, length, times
from numerics.rounding import FP64, gradient_errors


def scale(z: Tensor, eps: float) -> Tensor:
    """S of phasors: (T, P, 2) -> (T, 1, 1)."""
    return length(z).mean(dim=-1)[..., None, None] + eps


def omega(z: Tensor, g: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Omega: (T, P, 2), (T, P, 2), (P,) -> (T, 1, 1)."""
    zhat = z / scale(z, eps)
    return (gamma * dot(g, zhat)).sum(-1)[..., None, None] / z.shape[-2]


def unit(z: Tensor) -> Tensor:
    """u_i = z_i / r_i, NaN at z_i = 0: (T, P, 2) -> (T, P, 2)."""
    return times(z, 1 / length(z))


def printed(z: Tensor, g: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Eq. 5: (T, P, 2), (T, P, 2), (P,) -> (T, P, 2)."""
    return (times(g, gamma) - unit(z) * omega(z, g, gamma, eps)) / scale(z, eps)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Two measurements a format: Eq. 5 at non-zero phasors, and what the layer does at zero ones."""
    for fmt in formats(settings):
        tally = Tally("as printed", fmt, settings)
        at_zero = Tally("u = 0 at a zero phasor", fmt, settings)
        for b in batches("eq05", fmt, settings):
            measured = input_gradient(partial(mrs_norm, weight=b.gamma, eps=b.eps), b.h, b.g)
            z, g, gamma = b.z, phasor_view(b.g), b.gamma.double()
            s = mrs_scale(b.h.double(), b.eps)
            lost, lost64 = gradient_errors(z, g, gamma, s, fmt, FP64)
            zero = (z == 0).all(dim=-1, keepdim=True)
            measured = phasor_view(measured)
            tally.compare(b, measured, printed(z, g, gamma, b.eps), lost, lost64, where=~zero)
            at_zero.compare(b, measured, gamma[:, None] * g / s[..., None], lost, lost64, where=zero)
            at_zero.count("zero phasors", zero.sum())
        yield tally.measurement("z_i != 0")
        yield at_zero.measurement()


MUTANTS = {
    "without 1/P": lambda z, g, a, e: (a[:, None] * g - unit(z) * omega(z, g, a, e) * z.shape[-2]) / scale(z, e),
    "1/N for 1/P": lambda z, g, a, e: (a[:, None] * g - unit(z) * omega(z, g, a, e) / 2) / scale(z, e),
    "sign flipped": lambda z, g, a, e: (a[:, None] * g + unit(z) * omega(z, g, a, e)) / scale(z, e),
    "zhat for u": lambda z, g, a, e: (a[:, None] * g - z / scale(z, e) * omega(z, g, a, e)) / scale(z, e),
    "u for zhat": lambda z, g, a, e: (a[:, None] * g - unit(z) * omega(unit(z), g, a, 0.0)) / scale(z, e),
    "post-affine zhat": lambda z, g, a, e: (a[:, None] * g - unit(z) * omega(z, g, a * a, e)) / scale(z, e),
    "gamma forgotten": lambda z, g, a, e: (g - unit(z) * omega(z, g, torch.ones_like(a), e)) / scale(z, e),
    "eps forgotten": lambda z, g, a, e: (a[:, None] * g - unit(z) * omega(z, g, a, 0.0)) / scale(z, 0.0),
    "S held constant": lambda z, g, a, e: a[:, None] * g / scale(z, e),
    "all NaN": lambda z, g, a, e: torch.full_like(z, torch.nan),
}
