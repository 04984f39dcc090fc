"""Eq. 8 measured: the Jacobian of an output phasor with respect to its own input phasor.

    d zhat_i / d z_i = (I - u_i zhat_i^T / P) / S,   zhat_i = z_i / S

Source: MRSNorm paper, section 5.2, Eq. 8, with zhat before the affine weight, at z_i != 0. With the weight the block is
gamma_i times that. At z_i = 0 the block exists and is I / S.

How it is measured. Two backward passes, with the upstream gradient (1, 0) and (0, 1) at phasor i and 0 elsewhere, give
the two rows of the block. In each row of the batch that is done for the largest phasor and for a random other one.

Bound. `rounding.own_gradient_error`, the rounding to the input's format, and the same bound in fp64 for the formula.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from numerics.gradients import own_gradient, pick
from numerics.inputs import Batch, batches, choose, formats
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_norm, mrs_scale
from numerics.rounding import FP64, Format, own_gradient_error

WIDEST = 64
CHOSEN = 2


def scale(z: Tensor, eps: float) -> Tensor:
    """S: (T, P, 2) -> (T, 1, 1, 1)."""
    return torch.linalg.vector_norm(z, dim=-1).mean(dim=-1)[:, None, None, None] + eps


def unit(z: Tensor) -> Tensor:
    """u_i, NaN at z_i = 0: (T, P, 2) -> (T, P, 2)."""
    return z / torch.linalg.vector_norm(z, dim=-1, keepdim=True)


def outer(a: Tensor, b: Tensor) -> Tensor:
    """a_i b_i^T: (T, P, 2), (T, P, 2) -> (T, P, 2, 2)."""
    return a[..., :, None] * b[..., None, :]


def identity(z: Tensor) -> Tensor:
    """The 2 x 2 identity in the dtype of z."""
    return torch.eye(2, dtype=z.dtype, device=z.device)


def printed(z: Tensor, eps: float) -> Tensor:
    """Eq. 8 for every phasor: (T, P, 2) -> (T, P, 2, 2)."""
    zhat = z / scale(z, eps)[..., 0]
    return (identity(z) - outer(unit(z), zhat) / z.shape[-2]) / scale(z, eps)


def _blocks(b: Batch, chosen: Tensor, weight: Tensor | None) -> Tensor:
    """The own blocks of the chosen phasors by automatic differentiation: (T, K) -> (T, K, 2, 2), row a = J[a, :]."""
    layer = partial(mrs_norm, weight=weight, eps=b.eps)
    rows = []
    for component in range(2):
        v = torch.zeros(*chosen.shape, 2, device=b.h.device)
        v[..., component] = 1
        rows.append(own_gradient(layer, b.h, chosen, v))
    return torch.stack(rows, dim=-2)


def _lost(b: Batch, chosen: Tensor, gamma: Tensor, fmt: Format) -> Tensor:
    """What the two backward passes lose: weights gamma (T, K) -> (T, K, 2, 2)."""
    z, s = pick(b.z, chosen), mrs_scale(b.h.double(), b.eps)
    rows = identity(z)[:, None, None].expand(2, *z.shape)
    return torch.stack([own_gradient_error(z, v, gamma, s, b.phasors, fmt) for v in rows], dim=-2)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Three measurements a format: Eq. 8, the block with the affine weight, and the block at a zero phasor."""
    for fmt in formats(settings):
        tally = Tally("as printed", fmt, settings)
        weighted = Tally("with the affine weight", fmt, settings)
        at_zero = Tally("own block at z_i = 0", fmt, settings)
        for b in batches("eq08", fmt, settings, widest=WIDEST):
            chosen = choose(b, CHOSEN, settings.seed)
            zero = (pick(b.z, chosen) == 0).all(dim=-1)[..., None, None]
            exact = pick(printed(b.z, b.eps), chosen)
            measured, one = _blocks(b, chosen, None), torch.ones_like(chosen, dtype=torch.float64)
            lost, lost64 = (_lost(b, chosen, one, f) for f in (fmt, FP64))
            tally.compare(b, measured, exact, lost, lost64, ~zero, chosen)
            isotropic = (identity(b.z) / scale(b.z, b.eps)).expand_as(exact)
            at_zero.compare(b, measured, isotropic, lost, lost64, zero, chosen)
            gamma = pick(b.gamma.double()[None], chosen)
            lost, lost64 = (_lost(b, chosen, gamma, f) for f in (fmt, FP64))
            exact = gamma[..., None, None] * exact
            weighted.compare(b, _blocks(b, chosen, b.gamma), exact, lost, lost64, ~zero, chosen)
        yield tally.measurement("zhat before the affine weight, z_i != 0")
        yield weighted.measurement("gamma_i times Eq. 8")
        yield at_zero.measurement()


Formula = Callable[[Tensor, float], Tensor]


def _mutant(share: float = 1.0, left: Formula | None = None, right: Formula | None = None) -> Formula:
    def formula(z: Tensor, eps: float) -> Tensor:
        zhat = z / scale(z, eps)[..., 0]
        product = outer(left(z, eps) if left else unit(z), right(z, eps) if right else zhat)
        return (identity(z) - share * product / z.shape[-2]) / scale(z, eps)

    return formula


MUTANTS = {
    "without 1/P": lambda z, eps: _mutant(share=z.shape[-2])(z, eps),
    "sign flipped": _mutant(share=-1.0),
    "S held constant": _mutant(share=0.0),
    "u for zhat": _mutant(right=lambda z, eps: unit(z)),
    "zhat for u": _mutant(left=lambda z, eps: z / scale(z, eps)[..., 0]),
    "z for zhat": _mutant(right=lambda z, eps: z),
    "eps forgotten": lambda z, eps: _mutant()(z, 0.0),
    "all NaN": lambda z, eps: torch.full((*z.shape, 2), torch.nan, dtype=z.dtype, device=z.device),
}
