"""Eq. 2 measured: the output of MRSNorm, its largest size, and what it commutes with.

    o_i = gamma_i z_i / S

Source: MRSNorm paper, section 3, Eq. 2. Further statements, for every P:

    output bound            |o_i| <= P |gamma_i|, attained at eps = 0 by a single phasor
    scaling                 at eps = 0, N(c h) = N(h) for c > 0
    rotation equivariance   turning every phasor by an angle of its own turns every output by that angle

Bounds. `rounding.output_error` bounds the layer's loss before its last rounding; the formula in fp64 gets the same with
fp64's unit roundoff. The norm of a pair is at most the norm of the pair of bounds off.

Scaling by a power of two is exact, and so is everything the layer does with it: the outputs of c h and h must be the
same numbers, unless c h itself overflows or loses digits to underflow; such rows are left out and counted.

Rotation. h' = fl(R h) is rounded to the format, so it is R h + e with an e that fp64 knows. With r'_i and S' those of
h', |r'_i - r_i| <= |e_i|, hence |S' - S| <= mean |e_k| =: E, and

    |N(h')_i - R N(h)_i| <= |gamma_i| (|e_i| + r_i E / S) / S' + what the two evaluations lose.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from numerics.inputs import Batch, batches, formats, generator, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_norm, mrs_scale
from numerics.rounding import FP64, Format, output_error, rounded, roundings


def printed(z: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Eq. 2: (T, P, 2), (P,) -> (T, P, 2)."""
    s = torch.linalg.vector_norm(z, dim=-1, keepdim=True).mean(dim=-2, keepdim=True) + eps
    return gamma[:, None] * z / s


def output_bound(gamma: Tensor) -> Tensor:
    """The largest possible |o_i|: (P,) -> (P,)."""
    return len(gamma) * gamma.abs()


def _lost(o: Tensor, gamma: Tensor, fmt: Format) -> Tensor:
    """What an output o (T, P, 2) of the layer is off by, its last rounding included."""
    return rounded(output_error(o, gamma[:, None], o.shape[-2], fmt), o, fmt)


def _scaled(b: Batch, tally: Tally, seed: int) -> None:
    """Compare N(c h) with N(h) at eps = 0, c = 2^k with one k from -12 to 12 a row."""
    power = torch.randint(-12, 13, (len(b.h), 1), generator=generator(seed, "eq02", "powers", b.phasors, b.fmt.name))
    factor = 2.0 ** power.to(b.h.device).double()
    exact = b.h.double() * factor
    scaled = exact.to(b.fmt.dtype)
    kept = (scaled.double() == exact).all(dim=-1, keepdim=True)
    tally.count(f"rows that 2^k takes out of the range of {b.fmt.name}, left out", (~kept).sum())
    # both in one memory layout: it decides the order in which a sum is added up
    h, safe = (x.contiguous() for x in (b.h, torch.where(kept, scaled, b.h)))
    before, after = (mrs_norm(x, b.gamma, b.eps).double() for x in (h, safe))
    difference = torch.where(after == before, torch.zeros_like(after), after - before)  # equal infinities are equal
    tally.add(b, difference.abs(), torch.zeros_like(difference), kept)


def _rotated(b: Batch, tally: Tally, seed: int) -> None:
    """Compare N(R h) with R N(h), R turning each phasor by a random angle of its own."""
    rng = generator(seed, "eq02", "angles", b.phasors, b.fmt.name)
    angle = 2 * torch.pi * torch.rand(b.quiet.shape, generator=rng, dtype=torch.float64).to(b.h.device)
    c, s = angle.cos(), angle.sin()

    def turn(z: Tensor) -> Tensor:
        return torch.stack((c * z[..., 0] - s * z[..., 1], s * z[..., 0] + c * z[..., 1]), dim=-1)

    gamma, largest = b.gamma.double(), b.fmt.largest
    turned = turn(b.z)
    inside = (turned.abs() <= largest).all(dim=-1).all(dim=-1)
    tally.count(f"rows that rotation takes out of the range of {b.fmt.name}, left out", (~inside).sum())
    h = torch.where(inside[:, None], turned.flatten(-2), b.h.double()).to(b.fmt.dtype)
    z = phasor_view(h)
    before, after = (phasor_view(mrs_norm(x, b.gamma, b.eps)) for x in (b.h, h))
    # fp64 turns with a matrix that is orthogonal, and a product that is exact, to within gamma_4 of the phasor's norm
    slack = roundings(8, FP64)
    r = torch.linalg.vector_norm(b.z, dim=-1)
    e = torch.linalg.vector_norm(z - turned, dim=-1) + slack * r
    scale, scale_turned = (mrs_scale(x.double(), b.eps) for x in (b.h, h))
    moved = gamma.abs() * (e + r * e.mean(-1, keepdim=True) / scale) / scale_turned
    lost = sum(torch.linalg.vector_norm(_lost(o, gamma, b.fmt), dim=-1) for o in (before, after))
    error = torch.linalg.vector_norm(after - turn(before), dim=-1)
    size = torch.linalg.vector_norm(before, dim=-1)
    # lost is evaluated at the computed outputs: within a factor 1 + 2^-6 of the exact ones in every format
    tally.add(b, error, moved * (1 + slack) + lost * (1 + 2.0**-6) + slack * size, inside[:, None])


def measure(settings: Settings) -> Iterator[Measurement]:
    """Four measurements a format: Eq. 2 itself, and the three further statements."""
    for fmt in formats(settings):
        value = Tally("as printed", fmt, settings)
        bound = Tally("output bound", fmt, settings)
        scaling = Tally("scaling", fmt, settings)
        rotation = Tally("rotation equivariance", fmt, settings)
        for b in batches("eq02", fmt, settings):
            o = phasor_view(mrs_norm(b.h, b.gamma, b.eps))
            gamma = b.gamma.double()
            exact = printed(b.z, gamma, b.eps)
            lost, lost64 = (output_error(exact, gamma[:, None], b.phasors, f) for f in (fmt, FP64))
            value.compare(b, o, exact, lost, lost64)
            ceiling = output_bound(gamma)
            room = torch.linalg.vector_norm(_lost(exact, gamma, fmt), dim=-1) + roundings(4, FP64) * ceiling
            bound.add(b, torch.linalg.vector_norm(o, dim=-1), ceiling + room)
            _scaled(replace(b, eps=0.0), scaling, settings.seed)
            _rotated(b, rotation, settings.seed)
        yield value.measurement()
        yield bound.measurement("|o_i| over P |gamma_i|")
        yield scaling.measurement("bit for bit at eps = 0, factors 2^-12 to 2^12")
        yield rotation.measurement()


MUTANTS = {
    "multiplied by S": lambda z, gamma, eps: gamma[:, None] * z * mrs_scale(z.flatten(-2), eps)[..., None],
    "S without 1/P": lambda z, gamma, eps: (
        gamma[:, None] * z / (mrs_scale(z.flatten(-2), eps)[..., None] * z.shape[-2])
    ),
    "eps forgotten": lambda z, gamma, eps: gamma[:, None] * z / mrs_scale(z.flatten(-2), 0.0)[..., None],
    "gamma forgotten": lambda z, gamma, eps: z / mrs_scale(z.flatten(-2), eps)[..., None],
    "gamma squared": lambda z, gamma, eps: gamma[:, None] ** 2 * z / mrs_scale(z.flatten(-2), eps)[..., None],
    "channels swapped": lambda z, gamma, eps: gamma[:, None] * z.flip(-1) / mrs_scale(z.flatten(-2), eps)[..., None],
    "all NaN": lambda z, gamma, eps: torch.full_like(z, torch.nan),
}
