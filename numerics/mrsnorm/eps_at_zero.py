"""eps-at-zero measured: what eps does for S and for the gradient, at h = 0 and near it.

Claim: with eps > 0, S is never 0 and input gradients stay in the range of the format. Source: MRSNorm paper, section
3, Eq. 1, and appendix C (eps = 10^-6), under the condition M = max |gamma_k| |g_k| <= R eps, R the largest number of
the format: then no |dL/dz_i| exceeds M / eps <= R. At h = 0 the gradient is gamma_i g_i / eps; RMSNorm's is
gamma_i g_i / sqrt(eps).

How it is measured. Rows of every scenario, rows so small that S is hardly more than eps, and rows of zeros, at eps =
10^-6, with upstream gradients such that M is just below R eps (R at most 2^100), or of size 1 to see what overflows.
Unit weights, except at h = 0. Gradient ascent looks for the least S and for the largest |dL/dz_i| eps / M among rows
whose largest phasor is between 2^-22, where fp16 has four steps left, and 1.

Bounds. S has P + 7 roundings. Gradients are off by what `numerics.backward` allows. At h = 0 every sum is exact and S
is eps, rounded to the accumulation format: product, quotient and eps, 4 with one to spare (6 for RMSNorm, whose S is a
root), and the last rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from numerics.backward import mrs_gradient
from numerics.found_rows import found_batch, largest, places, searched
from numerics.gradients import input_gradient
from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_norm, mrs_scale, rms_norm
from numerics.rounding import Format, direction, roundings, scale_roundings

WIDEST = 64
EPS = 1e-6
CEILING = 2.0**100
TINY = 2.0**-22


def printed(largest: float) -> float:
    """What |dL/dz_i| is said not to exceed, given the largest number R of the format."""
    return largest


def least() -> float:
    """What S is at least."""
    return EPS


def at_zero(weighted: Tensor, root: bool) -> Tensor:
    """The gradient at h = 0, gamma g / eps, or gamma g / sqrt(eps) for RMSNorm."""
    return weighted / EPS**0.5 if root else weighted / EPS


def _range(fmt: Format) -> float:
    return min(fmt.largest, CEILING)


def _limited(b: Batch) -> Tensor:
    """The batch's upstream gradients, scaled so that M is just below R eps: (T, N)."""
    size = torch.linalg.vector_norm(phasor_view(b.g), dim=-1).amax(-1, keepdim=True)
    wanted = b.g.double() / size * (_range(b.fmt) * EPS * (1 - 2.0**-6))
    return wanted.to(b.fmt.dtype)


def _near_zero(b: Batch) -> Batch:
    """Rows whose components are 0 or the smallest positive number of fp16, 2^-40 in the other formats, up to sign."""
    smallest = b.fmt.smallest_subnormal if b.fmt.name == "fp16" else 2.0**-40
    return replace(b, h=torch.where(b.h.abs() > b.h.abs().median(), b.h.sign() * smallest, torch.zeros_like(b.h)))


def _in_range(b: Batch, positive: Tally, inside: Tally) -> None:
    scale = mrs_scale(b.h, EPS).double()
    allowed = 1 + roundings(scale_roundings(b.phasors), b.fmt.accumulation)
    positive.add(replace(b, eps=EPS), torch.full_like(scale, least()), scale * allowed)
    found = mrs_gradient(replace(b, eps=EPS, gamma=torch.ones_like(b.gamma)), _limited(b))
    where = (b.z != 0).any(dim=-1)
    inside.add(replace(b, eps=EPS), found.norms, printed(_range(b.fmt)) + torch.zeros_like(found.norms), where)


def _at_zero(b: Batch, tallies: tuple[Tally, Tally]) -> None:
    """The gradients of both layers at rows of zeros, for upstream gradients of size 1 and up."""
    zeros, acc = torch.zeros_like(b.h), b.fmt.accumulation
    weight = b.gamma.repeat_interleave(2)
    exact_weighted = (b.g.double() * weight.double()).unflatten(-1, (-1, 2))
    layers = partial(mrs_norm, weight=b.gamma, eps=EPS), partial(rms_norm, weight=weight, eps=EPS)
    for tally, layer, root, count in zip(tallies, layers, (False, True), (4, 6), strict=True):
        exact = at_zero(exact_weighted, root)
        measured = phasor_view(input_gradient(layer, zeros, b.g))
        lost = roundings(count, acc) * exact.abs() + acc.underflow * (1 + 1 / EPS)
        tally.compare(replace(b, eps=EPS, h=zeros), measured, exact, lost)


def measure(settings: Settings) -> Iterator[Measurement]:
    """S, the range of the gradient, both where the search ends, and both layers' gradients at h = 0, a format."""
    for fmt in formats(settings):
        positive, inside = Tally("as printed", fmt, settings), Tally("as printed", fmt, settings)
        zero = Tally("the gradient at h = 0", fmt, settings), Tally("RMSNorm's gradient at h = 0", fmt, settings)
        for b in batches("eps-at-zero", fmt, settings, widest=WIDEST):
            for rows in (b, _near_zero(b)):
                _in_range(rows, positive, inside)
            _at_zero(b, zero)
        yield positive.measurement("eps over S")
        yield inside.measurement(f"|dL/dz_i| over R for M just below R eps, R = {_range(fmt):.4g}")
        yield from _found_rows(fmt, settings)
        yield zero[0].measurement("h = 0, upstream gradients of size 1 to 2^8, against gamma g / eps")
        yield zero[1].measurement("h = 0, the same, against gamma g / sqrt(eps)")


def _sized(points: Tensor) -> Tensor:
    """z with the magnitude that a third vector gives its largest phasor, `TINY` to 1: (R, 3, P, 2) -> (R, P, 2).

    Phasors below `TINY` / 2 are zero, as fp16 would make those below a quarter of that.
    """
    size = torch.linalg.vector_norm(points[:, 2, 0], dim=-1).square().clamp_min(TINY)
    top = torch.linalg.vector_norm(points[:, 0], dim=-1).amax(-1)
    z = points[:, 0] * (size / top)[:, None, None]
    return torch.where(torch.linalg.vector_norm(z, dim=-1, keepdim=True) < TINY / 2, torch.zeros_like(z), z)


def scale_ratio(points: Tensor, eps: float) -> Tensor:
    """eps / S for z of any size: (R, 3, P, 2) -> (R,)."""
    return eps / (torch.linalg.vector_norm(_sized(points), dim=-1).mean(-1) + eps)


def gradient_ratio(points: Tensor, eps: float) -> Tensor:
    """The largest |dL/dz_i| eps / M, by Eq. 5, for z of any size and gamma g: (R, 3, P, 2) -> (R,)."""
    z, g = _sized(points), points[:, 1]
    r, largest_g = torch.linalg.vector_norm(z, dim=-1), torch.linalg.vector_norm(g, dim=-1).amax(-1)
    scale = r.mean(-1) + eps
    omega = (g * z).sum((-1, -2)) / (z.shape[-2] * scale)
    norms = torch.linalg.vector_norm(g - direction(z) * omega[:, None, None], dim=-1)
    return torch.where(r > 0, norms, torch.zeros_like(norms)).amax(-1) * eps / (scale * largest_g)


def _found_rows(fmt: Format, settings: Settings) -> Iterator[Measurement]:
    for phasors, _ in places(settings):
        for side, value, told in (
            (0, scale_ratio, "eps over S"),
            (1, gradient_ratio, "|dL/dz_i| over R, M just below"),
        ):
            found = largest("eps-at-zero", value, phasors, EPS, settings, vectors=3)
            z = _sized(found.phasors[None])
            b = found_batch(replace(found, phasors=torch.cat((z, found.phasors[1:]))), fmt, EPS)
            tallies = tuple(Tally("as printed", fmt, settings) for _ in range(2))
            _in_range(b, *tallies)
            yield searched(tallies[side], replace(b, g=_limited(b)), found, told)


MUTANTS = {
    "half the range": lambda largest: largest / 2,
    "a square root in place of eps": lambda largest: largest * EPS**0.5,
    "NaN": lambda largest: float("nan"),
}
LEAST_MUTANTS = {"1": lambda: 1.0, "one hundredth more": lambda: 1.01 * EPS, "NaN": lambda: float("nan")}
