"""homogeneity measured: phasors do not receive gradients of the same magnitude; two bounds hold instead.

Claim: |dL/dz_i| is the same for every phasor. Source: MRSNorm paper, abstract; section 2.3; section 5.1, after Eq. 6.

The claim is given its best chance: all phasors get upstream gradients of the same weighted norm |gamma_k| |g_k|, in
random directions. Norms of neighbouring phasors are compared, at z_i != 0 and gamma_i != 0.

What holds, with M = max |gamma_k| |g_k|:   |Omega| <= (1 - eps/S) M   and   |dL/dz_i| <= (2 - eps/S) M / S.

Random directions stay far below both. Therefore the corrected statement is also tried where all gamma_k g_k point along
their phasors, which is where Omega is largest, and with one phasor's reversed, which is where the sum is. |Omega| is
measured as S times the gradient norm of a phasor with g = 0, the smallest non-zero one of the row. Each
bound is also tried where gradient ascent finds its ratio largest in fp64 (`numerics.found_rows`), Omega again at a
phasor with g = 0.

Bounds. Gradients are off by `rounding.gradient_error` a component and by the rounding to the input's format; a norm by
the norm of the pair, and by gamma_8 in fp64. M and S in fp64 add gamma_n, n the roundings in S and 8. The ratio of the
printed statement is the difference of two norms over what rounding allows; that of the corrected one is the norm over
its bound plus that allowance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from numerics.found_rows import found_batch, largest, places, searched, weights
from numerics.gradients import input_gradient
from numerics.inputs import Batch, batches, formats, generator, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.mrsnorm import eq05
from numerics.norms import mrs_norm, mrs_scale
from numerics.rounding import (
    FP64,
    Format,
    direction,
    gradient_error,
    rounded,
    roundings,
    scale_roundings,
    settle_overflow,
)


def printed(norms: Tensor, own: Tensor) -> Tensor:
    """What each phasor's gradient norm is said to equal, that of its neighbour: (T, P), (T, P) -> (T, P).

    `own` are the norms that Eq. 5 gives for the same inputs; the claim makes no use of them.
    """
    return norms.roll(1, dims=-1)


def corrected(largest: Tensor, scale: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """The bounds of |Omega| and of |dL/dz_i| from M and S: (T, 1), (T, 1) -> (T, 1), (T, 1)."""
    return (1 - eps / scale) * largest, (2 - eps / scale) * largest / scale


def _weighted(b: Batch, along: Tensor) -> Tensor:
    """Upstream gradients g_k = along_k / gamma_k, 0 where gamma_k is, in the batch's dtype: (T, P, 2) -> (T, N)."""
    gamma = b.gamma.double()[:, None]
    g = torch.where(gamma == 0, torch.zeros_like(along), along / gamma)
    return g.clamp(-b.fmt.largest, b.fmt.largest).flatten(-2).to(b.fmt.dtype)


def _random_directions(b: Batch, seed: int) -> Tensor:
    rng = generator(seed, "homogeneity", "directions", b.phasors, b.fmt.name)
    angle = 2 * torch.pi * torch.rand(b.quiet.shape, generator=rng, dtype=torch.float64).to(b.h.device)
    return torch.stack((angle.cos(), angle.sin()), dim=-1)


def _aligned(b: Batch, seed: int) -> tuple[Tensor, Tensor]:
    """gamma_k g_k = u_k but for one random phasor of every other row, which is reversed; and which one is silenced."""
    r = torch.linalg.vector_norm(b.z, dim=-1)
    silent = torch.where(r > 0, r, torch.inf).argmin(dim=-1, keepdim=True)
    rng = generator(seed, "homogeneity", "reversed", b.phasors, b.fmt.name)
    reversed_ = torch.randint(b.phasors, (len(r), 1), generator=rng).to(b.h.device)
    sign = torch.ones_like(r).scatter(-1, reversed_, -1.0)
    sign[::2] = 1
    if b.phasors > 1:
        sign = sign.scatter(-1, silent, 0.0)
    return sign[..., None] * direction(b.z), silent


def _norms(b: Batch, tally: Tally) -> tuple[Tensor, Tensor, Tensor]:
    """Measured gradient norms (T, P), what rounding allows them to be off by, and the exact ones."""
    layer = partial(mrs_norm, weight=b.gamma, eps=b.eps)
    reference = phasor_view(input_gradient(layer, b.h.double(), b.g.double()))
    measured = phasor_view(input_gradient(layer, b.h, b.g))
    s = mrs_scale(b.h.double(), b.eps)
    lost, lost64 = (gradient_error(b.z, phasor_view(b.g), b.gamma.double(), s, f) for f in (b.fmt, FP64))
    settled, overflowed = settle_overflow(measured, reference, lost + lost64, b.fmt)
    tally.count_overflow(overflowed)
    exact = torch.linalg.vector_norm(reference, dim=-1)
    allowed = torch.linalg.vector_norm(rounded(lost, reference, b.fmt) + lost64, dim=-1)
    return torch.linalg.vector_norm(settled, dim=-1), allowed + roundings(8, FP64) * exact, exact


def measure(settings: Settings) -> Iterator[Measurement]:
    """Five kinds of measurement a format: the claim, the two corrected bounds, and both where the search ends."""
    for fmt in formats(settings):
        equal = Tally("as printed", fmt, settings)
        omega, total = Tally("corrected", fmt, settings), Tally("corrected", fmt, settings)
        widest = 1.0
        for drawn in batches("homogeneity", fmt, settings):
            nonzero = (drawn.z != 0).any(dim=-1)
            b = replace(drawn, g=_weighted(drawn, _random_directions(drawn, settings.seed)))
            counted = nonzero & (b.gamma != 0)
            norms, allowed, exact = _norms(b, equal)
            pairs = counted & counted.roll(1, dims=-1)
            own = torch.linalg.vector_norm(eq05.printed(b.z, phasor_view(b.g), b.gamma.double(), b.eps), dim=-1)
            equal.add(b, (norms - printed(norms, own)).abs(), allowed + allowed.roll(1, dims=-1), pairs)
            widest = max(widest, _largest_ratio(exact, counted))
            total.add(b, norms, _limits(b)[1] + allowed, nonzero)
            along, silent = _aligned(drawn, settings.seed)
            b = replace(drawn, g=_weighted(drawn, along))
            norms, allowed, _ = _norms(b, total)
            limit, limit_total = _limits(b)
            total.add(b, norms, limit_total + allowed, nonzero)
            if b.phasors > 1:
                norm, allowed, present = (x.gather(-1, silent) for x in (norms, allowed, nonzero))
                omega.add(b, norm, limit + allowed, present, chosen=silent)
        ratio = f"equal |gamma_k||g_k|; largest over smallest gradient norm in a row up to {widest:.3g}"
        yield equal.measurement(ratio)
        yield omega.measurement("|Omega| over (1 - eps/S) M")
        yield total.measurement("|dL/dz_i| over (2 - eps/S) M / S")
        yield from _omega_rows(fmt, settings)
        yield from gradient_rows("homogeneity", fmt, settings)


def _omega_ratios(z: Tensor, weighted: Tensor) -> Tensor:
    """|Omega| / ((1 - eps/S) M) if gamma_i g_i were 0, for every i, 0 where z_i is 0: (R, P, 2) twice -> (R, P).

    As 1 - eps/S = mean(r)/S, the ratio is |sum gamma_k g_k . z_k| / (M sum r), whatever eps is.
    """
    r, size = torch.linalg.vector_norm(z, dim=-1), torch.linalg.vector_norm(weighted, dim=-1)
    parts, top = (weighted * z).sum(-1), size.topk(2, dim=-1)
    own = torch.zeros_like(r, dtype=torch.bool).scatter(-1, top.indices[:, :1], True)
    others = torch.where(own, top.values[:, 1:], top.values[:, :1])  # the largest of the rest
    ratio = (parts.sum(-1, keepdim=True) - parts).abs() / (others * r.sum(-1, keepdim=True))
    return torch.where(r > 0, ratio, torch.zeros_like(ratio))


def omega_ratio(points: Tensor, eps: float) -> Tensor:
    """The largest of `_omega_ratios` for z and g: (R, 2, P, 2) -> (R,)."""
    gamma = weights(points.shape[-2]).to(points.device)[:, None]
    return _omega_ratios(points[:, 0], gamma * points[:, 1]).amax(-1)


def gradient_ratio(points: Tensor, eps: float) -> Tensor:
    """The largest |dL/dz_i| / ((2 - eps/S) M / S) over z_i != 0, by Eq. 5, for z and g: (R, 2, P, 2) -> (R,)."""
    z, weighted = points[:, 0], weights(points.shape[-2]).to(points.device)[:, None] * points[:, 1]
    r, size = torch.linalg.vector_norm(z, dim=-1), torch.linalg.vector_norm(weighted, dim=-1)
    mean = r.mean(-1, keepdim=True)
    share = mean / (mean + eps)  # 1 - eps/S
    omega = (weighted * z).sum((-1, -2))[:, None] / r.sum(-1, keepdim=True) * share
    norms = torch.linalg.vector_norm(weighted - direction(z) * omega[..., None], dim=-1)
    ratio = norms / ((1 + share) * size.amax(-1, keepdim=True))
    return torch.where(r > 0, ratio, torch.zeros_like(ratio)).amax(-1)


def _omega_rows(fmt: Format, settings: Settings) -> Iterator[Measurement]:
    for phasors, eps in places(settings):
        found = largest("homogeneity", omega_ratio, phasors, eps, settings)
        b = found_batch(found, fmt, eps, weights(phasors))
        weighted = phasor_view(b.g) * b.gamma.double()[:, None]
        silent = _omega_ratios(b.z, weighted).argmax(-1, keepdim=True)
        at = torch.zeros_like(b.quiet).scatter(-1, silent, True)
        b, tally = replace(b, g=b.g.masked_fill(at.repeat_interleave(2, dim=-1), 0)), Tally("corrected", fmt, settings)
        norms, allowed, _ = _norms(b, tally)
        tally.add(b, norms.gather(-1, silent), _limits(b)[0] + allowed.gather(-1, silent), chosen=silent)
        yield searched(tally, b, found, "|Omega| over (1 - eps/S) M")


def gradient_rows(slug: str, fmt: Format, settings: Settings) -> Iterator[Measurement]:
    """The bound of |dL/dz_i| where the search for `slug` finds its ratio largest."""
    for phasors, eps in places(settings):
        found = largest(slug, gradient_ratio, phasors, eps, settings)
        b, tally = found_batch(found, fmt, eps, weights(phasors)), Tally("corrected", fmt, settings)
        norms, allowed, _ = _norms(b, tally)
        tally.add(b, norms, _limits(b)[1] + allowed, (b.z != 0).any(dim=-1))
        yield searched(tally, b, found, "|dL/dz_i| over (2 - eps/S) M / S")


def _largest_ratio(norms: Tensor, where: Tensor) -> float:
    """The largest over the smallest norm within a row, over all rows; rows with a norm of 0 do not count."""
    top = torch.where(where, norms, -torch.inf).amax(dim=-1)
    low = torch.where(where, norms, torch.inf).amin(dim=-1)
    ratio = torch.where((low > 0) & (top > 0), top / low, torch.ones_like(top))
    return ratio.max().item()


def _limits(b: Batch) -> tuple[Tensor, Tensor]:
    """`corrected` for the batch, the first bound over S, with fp64's own error on top: (T, 1), (T, 1).

    1 - eps/S cancels where S is hardly more than eps; what fp64 then loses is gamma_n of M / S, not of the difference.
    """
    scale = mrs_scale(b.h.double(), b.eps)
    weighted = b.gamma.double().abs() * torch.linalg.vector_norm(phasor_view(b.g), dim=-1)
    largest = weighted.amax(dim=-1, keepdim=True)
    slack = roundings(scale_roundings(b.phasors) + 8, FP64) * 2 * largest / scale
    omega, gradient = corrected(largest, scale, b.eps)
    return omega.clamp_min(0) / scale + slack, gradient.clamp_min(0) + slack


MUTANTS = {
    "twice its neighbour's": lambda norms, own: 2 * norms.roll(1, dims=-1),
    "all NaN": lambda norms, own: torch.full_like(norms, torch.nan),
}
# with this in its place nothing is violated: what rounding allows is enough for the norm that Eq. 5 gives
REPAIRS = {"its own, by Eq. 5": lambda norms, own: own}
CORRECTED_MUTANTS = {
    "half the interference": lambda m, s, eps: ((1 - eps / s) * m / 2, (2 - eps / s) * m / s),
    "as if nothing were subtracted": lambda m, s, eps: ((1 - eps / s) * m, m / s),
    "eps counted twice": lambda m, s, eps: ((1 - 2 * eps / s) * m, (2 - eps / s) * m / s),
    "all NaN": lambda m, s, eps: (torch.full_like(m, torch.nan), torch.full_like(m, torch.nan)),
}
