"""projection-blockade measured: dividing each phasor by its own magnitude annihilates the radial gradient.

    d (z_i / r_i) / d z_i = (I - u_i u_i^T) / r_i,   which maps u_i to 0

Source: MRSNorm paper, section 5.2, at z_i != 0.

How it is measured. L = sum_k g_k . z_k / r_k is differentiated automatically; the Jacobian is symmetric, so the input
gradient must be (g_i - u_i (u_i . g_i)) / r_i, and its part along z_i must vanish.

Bound. The backward pass of z / r with r = |z| has two terms, with 3 roundings in every r:

    g/r                 quotient 1 + 3, last sum 1                                                          5
    u_c (u . g) / r     z/r 1 + 3, again /r 1 + 3, times g 1, sum of two 1, times u_c 1, u_c 1 + 3, sum 1  16

relative to |g_c| / r and |u_c| (|u_x g_x| + |u_y g_y|) / r, one spare each, plus eta for each operation that
underflows; then the rounding to the input's format, and the same in fp64 for the formula. The part along z_i is off by
at most the norm of the pair of bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from numerics.gradients import input_gradient
from numerics.inputs import batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import ACCUMULATION, magnitudes
from numerics.rounding import FP64, Format, direction, rounded, roundings, settle_overflow

Formula = Callable[[Tensor, Tensor], Tensor]


def project(h: Tensor) -> Tensor:
    """z_i / r_i for every phasor, half precision computed in fp32: (..., N) -> (..., N)."""
    wide = h.to(ACCUMULATION[h.dtype])
    u = wide.unflatten(-1, (-1, 2)) / magnitudes(wide).unsqueeze(-1)
    return u.flatten(-2).to(h.dtype)


def printed(z: Tensor, g: Tensor) -> Tensor:
    """(I - u_i u_i^T) g_i / r_i: (T, P, 2), (T, P, 2) -> (T, P, 2)."""
    r = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
    u = z / r
    return (g - u * (u * g).sum(-1, keepdim=True)) / r


def _lost(z: Tensor, g: Tensor, fmt: Format) -> Tensor:
    acc = fmt.accumulation
    r = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
    u = direction(z).abs()
    radial = (u * g.abs()).sum(-1, keepdim=True) / r
    relative = roundings(6, acc) * g.abs() / r + roundings(17, acc) * u * radial
    return relative + acc.underflow * (1 + 2 / r + (2 + 2 / r) * g.abs().sum(-1, keepdim=True) + radial + 2)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Two measurements a format: the Jacobian, and the radial part of the gradient that it passes on."""
    for fmt in formats(settings):
        jacobian = Tally("as printed", fmt, settings)
        radial = Tally("as printed", fmt, settings)
        for b in batches("projection-blockade", fmt, settings):
            zero = (b.z == 0).all(dim=-1)
            filler = torch.tensor([1.0, 0.0], dtype=torch.float64, device=b.h.device)
            z = torch.where(zero[..., None], filler, b.z)  # the projection has no gradient at 0: not what is measured
            g = phasor_view(b.g)
            measured = phasor_view(input_gradient(project, z.flatten(-2).to(fmt.dtype), b.g))
            exact, lost, lost64 = printed(z, g), _lost(z, g, fmt), _lost(z, g, FP64)
            where = ~zero[..., None]
            jacobian.compare(b, measured, exact, lost, lost64, where)
            u = direction(z)
            true = g - u * (u * g).sum(-1, keepdim=True)
            true = true / torch.linalg.vector_norm(z, dim=-1, keepdim=True)
            settled, overflowed = settle_overflow(measured, true, lost + lost64, fmt)
            radial.count_overflow(overflowed & where)
            allowed = torch.linalg.vector_norm(rounded(lost, true, fmt) + 2 * lost64, dim=-1)
            radial.add(b, (u * settled).sum(-1).abs(), allowed, ~zero)
        yield jacobian.measurement("the Jacobian applied to g_i, z_i != 0")
        yield radial.measurement("part of the gradient along z_i, z_i != 0")


def _unit(z: Tensor) -> tuple[Tensor, Tensor]:
    r = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
    return z / r, r


def _mutant(sign: float = -1.0, identity: float = 1.0, power: int = 1, vector: str = "u") -> Formula:
    def formula(z: Tensor, g: Tensor) -> Tensor:
        u, r = _unit(z)
        along = z if vector == "z" else u
        return (identity * g + sign * along * (along * g).sum(-1, keepdim=True)) / r**power

    return formula


MUTANTS = {
    "sign flipped": _mutant(sign=1.0),
    "not divided by r": _mutant(power=0),
    "divided by r^2": _mutant(power=2),
    "projector on u": _mutant(sign=1.0, identity=0.0),
    "nothing projected": _mutant(sign=0.0),
    "z for u": _mutant(vector="z"),
    "all NaN": lambda z, g: torch.full_like(z, torch.nan),
}
