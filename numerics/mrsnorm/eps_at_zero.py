"""eps-at-zero measured: what eps does for S and for the gradient, at h = 0 and near it.

Claim: with eps > 0, S is never 0 and input gradients stay in the range of the format. Source: MRSNorm paper, section
3, Eq. 1, and appendix C (eps = 10^-6), under the condition M = max |gamma_k| |g_k| <= R eps, R the largest number of
the format: then no |dL/dz_i| exceeds M / eps <= R. At h = 0 the gradient is gamma_i g_i / eps; RMSNorm's is
gamma_i g_i / sqrt(eps).

How it is measured. Rows of every scenario, rows so small that S is hardly more than eps, and rows of zeros, at eps =
10^-6, with upstream gradients such that M is just below R eps (R at most 2^100), or of size 1 to see what overflows.
Unit weights, except at h = 0.

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
from numerics.gradients import input_gradient
from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_norm, mrs_scale, rms_norm
from numerics.rounding import Format, roundings, scale_roundings

WIDEST = 64
EPS = 1e-6
CEILING = 2.0**100


def printed(largest: float) -> float:
    """What |dL/dz_i| is said not to exceed, given the largest number R of the format."""
    return largest


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
    positive.add(replace(b, eps=EPS), torch.full_like(scale, EPS), scale * allowed)
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
    """Four measurements a format: S, the range of the gradient, and the gradients of both layers at h = 0."""
    for fmt in formats(settings):
        positive, inside = Tally("as printed", fmt, settings), Tally("as printed", fmt, settings)
        zero = Tally("the gradient at h = 0", fmt, settings), Tally("RMSNorm's gradient at h = 0", fmt, settings)
        for b in batches("eps-at-zero", fmt, settings, widest=WIDEST):
            for rows in (b, _near_zero(b)):
                _in_range(rows, positive, inside)
            _at_zero(b, zero)
        yield positive.measurement("eps over S")
        yield inside.measurement(f"|dL/dz_i| over R for M just below R eps, R = {_range(fmt):.4g}")
        yield zero[0].measurement("h = 0, upstream gradients of size 1 to 2^8, against gamma g / eps")
        yield zero[1].measurement("h = 0, the same, against gamma g / sqrt(eps)")


MUTANTS = {
    "half the range": lambda largest: largest / 2,
    "a square root in place of eps": lambda largest: largest * EPS**0.5,
    "NaN": lambda largest: float("nan"),
}
