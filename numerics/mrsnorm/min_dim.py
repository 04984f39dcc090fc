"""min-dim measured: MRSNorm over blocks of 1, 2, 3 and 5 channels has the same gradient, and an open radial direction.

Claim: one channel is too few for an open radial gradient, so that the radial gain is 0 there. Source: MRSNorm paper,
section 5.2. Corrected, for blocks z_i in R^b of every dimension b, S = (1/P) sum |z_k| + eps:

    dL/dz_i = (gamma_i g_i - u_i Omega) / S,   Omega = (1/P) sum_k gamma_k g_k . z_k / S.

How it is measured. The channels of each row are read in blocks of b (a remainder is dropped); half of the blocks have
g = 0, where the gradient is the interference, whose length Eq. 6 gives. The radial gain is that of the largest block:
for b = 1 the sign u_i is exact in every format, and u_i dL/dx_i for g_i = u_i is the gain itself.

Bound. As for phasors (`rounding.gradient_error`), with b channels a block: r has b/2 + 2 roundings (squares 1, sum b -
1 and underflow 1 halved by the root, root 1) and one to spare, S has P + 3 more, and the two terms

    gamma g/S      S + 3,          u_c Omega/S    2 S + b P + 8 + r,

relative to |gamma g|/S and |u_c|/S times the mean of the absolute terms of Omega; underflow likewise.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from numerics.backward import worst_of_row
from numerics.gradients import input_gradient
from numerics.inputs import Batch, batches, formats
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import ACCUMULATION
from numerics.rounding import FP64, Format, rounded, roundings, settle_overflow
from numerics.scenarios import generator, random_gamma

WIDEST = 64
BLOCKS = (1, 2, 3, 5)


def printed(r: Tensor, scale: Tensor, blocks: int) -> Tensor:
    """The radial gain with blocks of one channel, from the block's magnitude, S and P: (T, 1), (T, 1) -> (T, 1)."""
    return torch.zeros_like(r)


def corrected(z: Tensor, g: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """dL/dz for blocks of any dimension: (T, P, b), (T, P, b), (P,) -> (T, P, b)."""
    r = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
    s = r.mean(dim=-2, keepdim=True) + eps
    omega = (gamma[:, None] * (g * z / s).sum(-1, keepdim=True)).mean(dim=-2, keepdim=True)
    return (gamma[:, None] * g - _unit(z) * omega) / s


def block_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """MRSNorm over blocks: (..., P, b) -> (..., P, b), half precision computed in fp32."""
    wide = x.to(ACCUMULATION[x.dtype])
    scale = torch.linalg.vector_norm(wide, dim=-1).mean(dim=-1)[..., None, None] + eps
    return (wide / scale * weight.to(wide.dtype)[:, None]).to(x.dtype)


def _unit(z: Tensor) -> Tensor:
    r = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
    return torch.where(r > 0, z / r, torch.zeros_like(z))


def _error(z: Tensor, g: Tensor, gamma: Tensor, eps: float, fmt: Format) -> Tensor:
    acc, (blocks, b) = fmt.accumulation, z.shape[-2:]
    s = torch.linalg.vector_norm(z, dim=-1, keepdim=True).mean(-2, keepdim=True) + eps
    r_count = (b + 1) // 2 + 3
    s_count = r_count + blocks + 4
    weighted, zhat = (gamma[:, None] * g).abs(), (z / s).abs()
    mean = (weighted * zhat).sum((-1, -2), keepdim=True) / blocks
    lost = (weighted * (1 / s + 1) + zhat / s + 1).sum((-1, -2), keepdim=True) / blocks
    direct = roundings(s_count + 3, acc) * weighted / s
    interference = roundings(2 * s_count + b * blocks + 8 + r_count, acc) * _unit(z).abs() * mean / s
    return direct + interference + acc.underflow * (lost + mean / s + 1 / s + 3)


def _read(batch: Batch, b: int, seed: int) -> tuple[Tensor, Tensor, Tensor] | None:
    """z and g in blocks (T, P, b) and weights (P,), in the batch's format; None if there is no block."""
    blocks = batch.h.shape[-1] // b
    if not blocks:
        return None
    rng = generator(seed, "min-dim", "weights", batch.phasors, b, batch.fmt.name)
    gamma = random_gamma(rng, blocks).to(batch.fmt.dtype).to(batch.h.device)
    z, g = (x[:, : blocks * b].unflatten(-1, (blocks, b)) for x in (batch.h, batch.g))
    quiet = torch.rand(z.shape[:2], generator=rng).to(z.device) < 0.5
    return z, g.masked_fill(quiet[..., None], 0), gamma


def _gain(batch: Batch, z: Tensor, tally: Tally) -> None:
    """The radial gain of the largest of blocks of one channel."""
    wide, one = z.double(), torch.ones(z.shape[1], dtype=torch.float64, device=z.device)
    r = wide.abs().squeeze(-1)
    at = r.argmax(-1, keepdim=True)
    u = torch.zeros_like(wide).scatter(1, at[..., None], wide.gather(1, at[..., None]).sign())
    measured = input_gradient(partial(block_norm, weight=one, eps=batch.eps), z, u.to(z.dtype))
    scale = r.mean(-1, keepdim=True) + batch.eps
    lost = sum(_error(wide, u, one, batch.eps, f) for f in (batch.fmt, FP64))
    exact = corrected(wide, u, one, batch.eps)
    settled, _ = settle_overflow(measured, exact, lost, batch.fmt)
    gain = (settled * u).sum(-1).gather(-1, at)
    bound = rounded(lost, exact, batch.fmt).squeeze(-1).gather(-1, at)
    top = r.gather(-1, at)
    tally.add(
        batch, (gain - printed(top, scale, z.shape[1])).abs().squeeze(-1), bound.squeeze(-1), (top > 0).squeeze(-1)
    )


def _equation(batch: Batch, read: tuple[Tensor, Tensor, Tensor], tally: Tally) -> None:
    """Eq. 5 against automatic differentiation: the worst component of each row over its bound."""
    z, g, gamma = read
    wide = z.double(), g.double(), gamma.double()
    measured = input_gradient(partial(block_norm, weight=gamma, eps=batch.eps), z, g)
    exact = corrected(*wide, batch.eps)
    lost, lost64 = (_error(*wide, batch.eps, f) for f in (batch.fmt, FP64))
    settled, overflowed = settle_overflow(measured, exact, lost, batch.fmt)
    used = (wide[0] != 0).any(-1, keepdim=True)
    if batch.eps == 0:
        used = used & (wide[0] != 0).flatten(1).any(-1)[:, None, None]  # a row of zeros has no output
    tally.count_overflow(overflowed & used)
    row = worst_of_row((settled - exact).abs(), rounded(lost, exact, batch.fmt) + lost64, used)
    tally.add(batch, row, torch.ones_like(row), used.flatten(1).any(-1))


def measure(settings: Settings) -> Iterator[Measurement]:
    """The radial gain with blocks of one channel, and Eq. 5 for every kind of block."""
    for fmt in formats(settings):
        blocked = Tally("as printed", fmt, settings)
        equations = {b: Tally("corrected", fmt, settings) for b in BLOCKS}
        for batch in batches("min-dim", fmt, settings, widest=WIDEST):
            for b, tally in equations.items():
                read = _read(batch, b, settings.seed)
                if read is not None:
                    _equation(batch, read, tally)
                    if b == 1:
                        _gain(batch, read[0], blocked)
        yield blocked.measurement("radial gain of the largest channel, blocks of one channel")
        for b, tally in equations.items():
            yield tally.measurement(f"Eq. 5 with blocks of {b}")


MUTANTS = {
    "1/S": lambda r, s, blocks: 1 / s,
    "all NaN": lambda r, s, blocks: torch.full_like(r, torch.nan),
}
REPAIRS = {"the gain of phasors": lambda r, s, blocks: (1 - r / (blocks * s)) / s}


def _mutant(z: Tensor, g: Tensor, gamma: Tensor, eps: float, share: float = 1.0, power: int = 0) -> Tensor:
    s = torch.linalg.vector_norm(z, dim=-1, keepdim=True).mean(dim=-2, keepdim=True) + eps
    direct = gamma[:, None] * g / s
    size = (torch.linalg.vector_norm(z, dim=-1, keepdim=True) / s) ** power
    omega = (gamma[:, None] * (g * z / s).sum(-1, keepdim=True)).mean(dim=-2, keepdim=True)
    return direct - share * size * _unit(z) * omega / s


CORRECTED_MUTANTS = {
    "1/N for 1/P": lambda z, g, gamma, eps: _mutant(z, g, gamma, eps, share=0.5),
    "zhat for u": lambda z, g, gamma, eps: _mutant(z, g, gamma, eps, power=1),
    "sign flipped": lambda z, g, gamma, eps: _mutant(z, g, gamma, eps, share=-1.0),
    "eps forgotten": lambda z, g, gamma, eps: _mutant(z, g, gamma, 0.0),
    "all NaN": lambda z, g, gamma, eps: torch.full_like(z, torch.nan),
}
