"""block-dimension measured: Eqs. 5, 6 and 8 for blocks of 1, 3 and 8 channels.

With z_k in R^b, u_k = z_k / |z_k|, S = (1/P) sum |z_k| + eps and zhat_k = z_k / S, wherever z_i != 0:

    dL/dz_i = (gamma_i g_i - u_i Omega) / S,   Omega = (1/P) sum gamma_k g_k . zhat_k
    |u_i Omega / S| = |Omega| / S
    J_ii^T w = (w - zhat_i (u_i . w) / P) / S   and   J_ji^T w = -u_i (zhat_j . w) / (P S),  j != i,  for gamma = 1

How it is measured. The channels of each row are read in blocks of b, a remainder is dropped. Half of the blocks have
g = 0, so that nothing but interference reaches them, whose norm Eq. 6 gives. For Eq. 8 one block j, the largest, gets
the upstream gradient w and all others 0; the backward pass returns J_ji^T w at every block i.

Bounds. Components are off by `blocks.block_gradient_error` and the rounding to the input's format, norms by the norm of
that and by gamma_(b + 6) in fp64; each formula, in any order, by no more than the same bound in fp64.

Source: no source states it for b != 2; MRSNorm paper, section 5.1, Eqs. 5-6, and section 5.2, Eq. 8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from numerics.blocks import block_gradient_error, block_norm, block_scale
from numerics.gradients import input_gradient
from numerics.inputs import Batch, batches, formats
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.rounding import FP64, direction, rounded, roundings, settle_overflow
from numerics.scenarios import generator, random_gamma

SLUG = "block-dimension"
DIMENSIONS = (1, 3, 8)
WIDEST = 64


def omega(z: Tensor, g: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Omega: (T, P, b), (T, P, b), (P,) -> (T, 1, 1)."""
    return (gamma[:, None] * g * z).sum((-1, -2), keepdim=True) / (z.shape[-2] * block_scale(z, eps))


def printed(z: Tensor, g: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Eq. 5 for blocks: (T, P, b), (T, P, b), (P,) -> (T, P, b)."""
    return (gamma[:, None] * g - direction(z) * omega(z, g, gamma, eps)) / block_scale(z, eps)


def interference_norm(z: Tensor, g: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Eq. 6: (T, P, b), (T, P, b), (P,) -> (T, 1)."""
    return (omega(z, g, gamma, eps).abs() / block_scale(z, eps)).squeeze(-1)


def pulled_back(z: Tensor, w: Tensor, at: Tensor, eps: float) -> Tensor:
    """Eq. 8: J_ji^T w_j at every block i, j = `at`: (T, P, b), (T, P, b), (T, P, 1) mask -> (T, P, b)."""
    s, u = block_scale(z, eps), direction(z)
    along = (z * w).sum((-1, -2), keepdim=True) / s  # zhat_j . w
    own = (w - z / s * (u * w).sum(-1, keepdim=True) / z.shape[-2]) / s
    return torch.where(at, own, -u * along / (z.shape[-2] * s))


@dataclass(frozen=True)
class _Blocks:
    """Rows of a batch in blocks of b: z and g in the format, (T, P, b); gamma (P,); quiet (T, P)."""

    batch: Batch
    z: Tensor
    g: Tensor
    gamma: Tensor
    quiet: Tensor

    @property
    def used(self) -> Tensor:
        """Blocks that are not 0, in rows that have an output: (T, P)."""
        return (self.z != 0).any(-1) & (block_scale(self.z.double(), self.batch.eps) > 0).squeeze(-1)


def _read(b: Batch, dimension: int, seed: int) -> _Blocks:
    count = b.h.shape[-1] // dimension
    rng = generator(seed, SLUG, "weights", b.phasors, dimension, b.fmt.name)
    gamma = random_gamma(rng, count).to(b.fmt.dtype).to(b.h.device)
    z, g = (x[:, : count * dimension].unflatten(-1, (count, dimension)) for x in (b.h, b.g))
    quiet = (torch.rand(z.shape[:2], generator=rng) < 0.5).to(z.device)
    return _Blocks(b, z, g.masked_fill(quiet[..., None], 0), gamma, quiet)


def _gradient(blocks: _Blocks, g: Tensor, gamma: Tensor, exact: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """dL/dz as measured, what it may be off by, and where it is infinite as it must be: (T, P, b) each."""
    eps, fmt, z = blocks.batch.eps, blocks.batch.fmt, blocks.z.double()
    measured = input_gradient(partial(block_norm, weight=gamma, eps=eps), blocks.z, g)
    lost, lost64 = (block_gradient_error(z, g.double(), gamma.double(), eps, f) for f in (fmt, FP64))
    settled, overflowed = settle_overflow(measured, exact, lost + lost64, fmt)
    return settled, rounded(lost + lost64, exact, fmt) + lost64, overflowed


def _collect(blocks: _Blocks, eq05: Tally, eq06: Tally, eq08: Tally) -> None:
    b, z, g, gamma = blocks.batch, blocks.z.double(), blocks.g.double(), blocks.gamma.double()
    used = blocks.used
    exact = printed(z, g, gamma, b.eps)
    settled, allowed, overflowed = _gradient(blocks, blocks.g, blocks.gamma, exact)
    eq05.count_overflow(overflowed & used[..., None])
    _add(eq05, b, (settled - exact).abs(), allowed, used)
    norms, slack = torch.linalg.vector_norm(settled, dim=-1), roundings(z.shape[-1] + 6, FP64)
    bound = torch.linalg.vector_norm(allowed, dim=-1) + slack * norms.nan_to_num(0, 0, 0)
    heard = (used & blocks.quiet)[..., None]
    error = (norms - interference_norm(z, g, gamma, b.eps)).abs()
    _add(eq06, b, error[..., None], bound[..., None], heard.squeeze(-1))
    at = _largest(z)
    w, one = torch.where(at, blocks.g + 1, torch.zeros_like(blocks.g)), torch.ones_like(blocks.gamma)
    exact = pulled_back(z, w.double(), at, b.eps)
    settled, allowed, _ = _gradient(blocks, w, one, exact)
    _add(eq08, b, (settled - exact).abs(), allowed, used)


def _largest(z: Tensor) -> Tensor:
    """Where the largest block of each row is: (T, P, b) -> (T, P, 1)."""
    place = torch.linalg.vector_norm(z, dim=-1).argmax(-1, keepdim=True)
    return torch.zeros(z.shape[:2], dtype=torch.bool, device=z.device).scatter(-1, place, True)[..., None]


def _add(tally: Tally, b: Batch, error: Tensor, bound: Tensor, where: Tensor) -> None:
    """The worst error / bound of each row, (T, P, b) and (T, P): a block is no phasor that a witness could show."""
    ratio = torch.where(error == 0, torch.zeros_like(error), error / bound)
    ratio = torch.where(where[..., None], ratio, torch.zeros_like(ratio)).flatten(1).amax(-1)
    tally.add(b, ratio, torch.ones_like(ratio), where.any(-1))


def measure(settings: Settings) -> Iterator[Measurement]:
    """Eqs. 5, 6 and 8 for every block dimension and format."""
    for fmt in formats(settings):
        tallies = {b: tuple(Tally("as printed", fmt, settings) for _ in range(3)) for b in DIMENSIONS}
        for batch in batches(SLUG, fmt, settings, widest=WIDEST):
            for b, three in tallies.items():
                if batch.h.shape[-1] >= b:
                    _collect(_read(batch, b, settings.seed), *three)
        for b, three in tallies.items():
            for tally, name in zip(three, ("Eq. 5", "Eq. 6, blocks with g_i = 0", "Eq. 8"), strict=True):
                yield tally.measurement(f"{name}, 2P channels in blocks of {b}")


Formula = Callable[[Tensor, Tensor, Tensor, float], Tensor]


def _mutant(share: Callable[[Tensor], Tensor | float] = lambda z: 1.0, sign: float = 1.0, keep: bool = True) -> Formula:
    def formula(z: Tensor, g: Tensor, gamma: Tensor, eps: float) -> Tensor:
        weight = gamma[:, None] if keep else torch.ones_like(gamma)[:, None]
        subtracted = sign * share(z) * direction(z) * omega(z, g, gamma, eps)
        return (weight * g - subtracted) / block_scale(z, eps)

    return formula


MUTANTS: dict[str, Formula] = {
    "without 1/P": _mutant(lambda z: z.shape[-2]),
    "the mean over channels": _mutant(lambda z: 1 / z.shape[-1]),
    "zhat for u": _mutant(lambda z: torch.linalg.vector_norm(z, dim=-1, keepdim=True) / block_scale(z, 0.0)),
    "sign flipped": _mutant(sign=-1.0),
    "S held constant": _mutant(sign=0.0),
    "gamma forgotten": _mutant(keep=False),
    "all NaN": lambda z, g, gamma, eps: torch.full_like(z, torch.nan),
}
