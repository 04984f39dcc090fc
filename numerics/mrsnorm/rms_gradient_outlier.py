"""rms-gradient-outlier measured: only the term that RMSNorm subtracts is proportional to a channel's value.

Claim: dL/dx_i is proportional to xhat_i, so dL/dx_i x_j = dL/dx_j x_i. Source: MRSNorm paper, section 5.1, first
insight. Corrected: gamma_i d_i / S - dL/dx_i = xhat_i Omega / S, and |xhat_i| <= sqrt(N).

How it is measured. The whole gradient is compared at neighbouring channels. The subtracted term is taken from phasors
with upstream gradient 0, where it is the whole gradient. xhat is the layer's output with unit weights.
Gradient ascent looks for the largest |xhat_i|, and for a gradient that is largest far from the outlier: the statement
that an outlier x_j gets the largest, |dL/dx_i| <= |dL/dx_j|, is false.

Bounds. Gradients are off by what `numerics.backward` allows, products by that times |x|, and gamma_8 in fp64. The
terms gamma_i d_i x_j / S, which the claim leaves out, add the roundings of S_RMS and 8 in fp64. xhat_i has the
roundings of S_RMS and two more, and its last rounding; the formula Omega x / S^2 in fp64 those of S_RMS three times, N
and 8 more, relative to the mean of the absolute terms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from numerics.backward import defined, rms_gradient
from numerics.found_rows import found_batch, largest, places, searched
from numerics.inputs import Batch, batches, formats
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import rms_norm, rms_scale
from numerics.rounding import FP64, Format, rms_roundings, rounded, roundings

WIDEST = 64
FAR = 64.0  # the gradient at the outlier can vanish: the search has no use for larger ratios
AT_OUTLIER = "the outlier gets the largest gradient"


def printed(gradient: Tensor, x: Tensor, direct: Tensor) -> Tensor:
    """What dL/dx_i x_j is said to be, j the channel before i: dL/dx_j x_i; three times (T, N) -> (T, N).

    `direct` is gamma g / S; the claim makes no use of it.
    """
    return gradient.roll(1, dims=-1) * x


def corrected(x: Tensor, g: Tensor, gamma: Tensor, scale: Tensor) -> tuple[Tensor, float]:
    """The subtracted term (T, N), xhat_i Omega / S, and the bound of |xhat_i|, sqrt(N)."""
    xhat = x / scale
    return xhat * (gamma * g * xhat).mean(-1, keepdim=True) / scale, x.shape[-1] ** 0.5


def by_the_outlier(sizes: Tensor, outlier: Tensor) -> Tensor:
    """What no |dL/dx_i| is said to exceed, that of channel j: (T, N), j (T, 1) -> (T, 1)."""
    return sizes.gather(-1, outlier)


def _proportional(b: Batch, tally: Tally) -> None:
    found, x = rms_gradient(b, b.g), b.h.double()
    value, allowed = found.value.flatten(-2), found.allowed.flatten(-2)
    finite = ~found.infinite.flatten(1).any(-1, keepdim=True)
    direct = b.gamma.double() * b.g.double() / rms_scale(x, b.eps)
    left, right = value * x.roll(1, dims=-1), printed(value, x, direct)
    bound = allowed * x.roll(1, dims=-1).abs() + allowed.roll(1, dims=-1) * x.abs()
    bound = bound + roundings(8, FP64) * (left.abs() + (value.roll(1, dims=-1) * x).abs())
    terms = (direct * x.roll(1, dims=-1)).abs() + (direct.roll(1, dims=-1) * x).abs()
    bound = bound + roundings(rms_roundings(x.shape[-1]) + 8, FP64) * terms
    tally.add(b, *map(_pairs, ((left - right).abs(), bound)), finite.unsqueeze(-1))


def _pairs(x: Tensor) -> Tensor:
    """(T, N) -> (T, P, 2)."""
    return x.unflatten(-1, (-1, 2))


def _subtracted(b: Batch, term: Tally, bound: Tally) -> None:
    x, g, gamma, scale = b.h.double(), b.quiet_g.double(), b.gamma.double(), rms_scale(b.h.double(), b.eps)
    found = rms_gradient(b, b.quiet_g)
    expected, _ = corrected(x, g, gamma, scale)
    xhat = x / scale
    sizes = xhat.abs() * (gamma * g * xhat).abs().mean(-1, keepdim=True) / scale
    count = 3 * rms_roundings(x.shape[-1]) + x.shape[-1] + 8
    allowed = found.allowed + _pairs(roundings(count, FP64) * sizes)
    term.add(b, (-found.value - _pairs(expected)).abs(), allowed, b.quiet[..., None])
    _bounded(b, bound)


def _bounded(b: Batch, bound: Tally) -> None:
    x, acc, scale = b.h.double(), b.fmt.accumulation, rms_scale(b.h.double(), b.eps)
    xhat, limit = x / scale, corrected(x, b.g.double(), b.gamma.double(), scale)[1]
    off = rounded(roundings(rms_roundings(x.shape[-1]) + 3, acc) * xhat.abs() + acc.underflow, xhat, b.fmt)
    size = rms_norm(b.h, None, b.eps).double().abs()
    bound.add(b, _pairs(size), limit * (1 + roundings(8, FP64)) + _pairs(off), defined(b)[:, None, None])


def measure(settings: Settings) -> Iterator[Measurement]:
    """Proportionality of the gradient, of the subtracted term, the size of xhat, and what is searched, a format."""
    for fmt in formats(settings):
        whole = Tally("as printed", fmt, settings)
        term, bound = Tally("corrected", fmt, settings), Tally("corrected", fmt, settings)
        for b in batches("rms-gradient-outlier", fmt, settings, widest=WIDEST, channel_weights=True):
            _proportional(b, whole)
            _subtracted(replace(b, eps=0.0) if b.phasors == 7 else b, term, bound)
        yield whole.measurement("dL/dx_i x_j against dL/dx_j x_i, neighbouring channels")
        yield term.measurement("the subtracted term against xhat_i Omega / S, where g_i = 0")
        yield bound.measurement("|xhat_i| over sqrt(N)")
        yield from _found_rows(fmt, settings)


def size_ratio(points: Tensor, eps: float) -> Tensor:
    """The largest |xhat_i| / sqrt(N): (R, 1, P, 2) -> (R,)."""
    x = points[:, 0].flatten(1)
    return x.abs().amax(-1) / (x.square().sum(-1) + x.shape[-1] * eps).sqrt()


def gradient_ratio(points: Tensor, eps: float) -> Tensor:
    """max |dL/dx_i| S over |dL/dx_j| S + max |g| / `FAR`, for x and gamma g, which are (R, 2, P, 2): (R,).

    The second term keeps away from g along x, whose whole gradient vanishes.
    """
    x, g = points[:, 0].flatten(1), points[:, 1].flatten(1)
    xhat = x / (x.square().mean(-1, keepdim=True) + eps).sqrt()
    sizes = (g - xhat * (g * xhat).mean(-1, keepdim=True)).abs()
    at = sizes.gather(-1, x.abs().argmax(-1, keepdim=True)).squeeze(-1)
    return sizes.amax(-1) / (at + g.abs().amax(-1) / FAR)


def _found_rows(fmt: Format, settings: Settings) -> Iterator[Measurement]:
    for phasors, eps in places(settings):
        found = largest("rms-gradient-outlier", size_ratio, phasors, 0.0, settings, vectors=1)
        b, bound = found_batch(found, fmt, 0.0, torch.ones(2 * phasors)), Tally("corrected", fmt, settings)
        _bounded(b, bound)
        yield searched(bound, b, found, "|xhat_i| over sqrt(N)")
        found = largest("rms-gradient-outlier", gradient_ratio, phasors, eps, settings)
        b, beaten = found_batch(found, fmt, eps), Tally(AT_OUTLIER, fmt, settings)
        gradient, outlier = rms_gradient(b, b.g), b.h.abs().argmax(-1, keepdim=True)
        sizes, allowed = gradient.value.abs().flatten(-2), gradient.allowed.flatten(-2)
        limit = by_the_outlier(sizes, outlier) + allowed + allowed.gather(-1, outlier)
        beaten.add(b, *map(_pairs, (sizes, limit)))
        yield searched(beaten, b, found, "|dL/dx_i| over |dL/dx_j|, x_j the largest")


MUTANTS = {
    "opposite": lambda gradient, x, direct: -gradient.roll(1, dims=-1) * x,
    "all NaN": lambda gradient, x, direct: torch.full_like(x, torch.nan),
}
# with this in its place nothing is violated: the rest of the gradient is proportional to xhat
REPAIRS = {
    "with the terms that are not subtracted": lambda gradient, x, direct: (
        (gradient - direct).roll(1, dims=-1) * x + direct * x.roll(1, dims=-1)
    )
}
CORRECTED_MUTANTS = {
    "sign flipped": lambda x, g, gamma, s: (
        -x / s * (gamma * g * (x / s)).mean(-1, keepdim=True) / s,
        x.shape[-1] ** 0.5,
    ),
    "the sign of x, as under MRSNorm": lambda x, g, gamma, s: (
        x.sign() * (gamma * g * (x / s)).mean(-1, keepdim=True) / s,
        x.shape[-1] ** 0.5,
    ),
    "half the bound of xhat": lambda x, g, gamma, s: (
        x / s * (gamma * g * (x / s)).mean(-1, keepdim=True) / s,
        x.shape[-1] ** 0.5 / 2,
    ),
    "all NaN": lambda x, g, gamma, s: (torch.full_like(x, torch.nan), x.shape[-1] ** 0.5),
}
OUTLIER_REPAIRS = {"no bound at all": lambda sizes, outlier: torch.full_like(sizes[:, :1], torch.inf)}
