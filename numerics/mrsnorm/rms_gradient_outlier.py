"""rms-gradient-outlier measured: only the term that RMSNorm subtracts is proportional to a channel's value.

Claim: dL/dx_i is proportional to xhat_i, so dL/dx_i x_j = dL/dx_j x_i. Source: MRSNorm paper, section 5.1, first
insight. Corrected: gamma_i d_i / S - dL/dx_i = xhat_i Omega / S, and |xhat_i| <= sqrt(N).

How it is measured. The whole gradient is compared at neighbouring channels. The subtracted term is taken from phasors
with upstream gradient 0, where it is the whole gradient. xhat is the layer's output with unit weights.

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
from numerics.inputs import Batch, batches, formats
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import rms_norm, rms_scale
from numerics.rounding import FP64, rms_roundings, rounded, roundings

WIDEST = 64


def printed(gradient: Tensor, x: Tensor, direct: Tensor) -> Tensor:
    """What dL/dx_i x_j is said to be, j the channel before i: dL/dx_j x_i; three times (T, N) -> (T, N).

    `direct` is gamma g / S; the claim makes no use of it.
    """
    return gradient.roll(1, dims=-1) * x


def corrected(x: Tensor, g: Tensor, gamma: Tensor, scale: Tensor) -> tuple[Tensor, float]:
    """The subtracted term (T, N), xhat_i Omega / S, and the bound of |xhat_i|, sqrt(N)."""
    xhat = x / scale
    return xhat * (gamma * g * xhat).mean(-1, keepdim=True) / scale, x.shape[-1] ** 0.5


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
    expected, limit = corrected(x, g, gamma, scale)
    xhat = x / scale
    sizes = xhat.abs() * (gamma * g * xhat).abs().mean(-1, keepdim=True) / scale
    count = 3 * rms_roundings(x.shape[-1]) + x.shape[-1] + 8
    allowed = found.allowed + _pairs(roundings(count, FP64) * sizes)
    term.add(b, (-found.value - _pairs(expected)).abs(), allowed, b.quiet[..., None])
    acc = b.fmt.accumulation
    off = rounded(roundings(rms_roundings(x.shape[-1]) + 3, acc) * xhat.abs() + acc.underflow, xhat, b.fmt)
    size = rms_norm(b.h, None, b.eps).double().abs()
    bound.add(b, _pairs(size), limit * (1 + roundings(8, FP64)) + _pairs(off), defined(b)[:, None, None])


def measure(settings: Settings) -> Iterator[Measurement]:
    """Three measurements a format: proportionality of the gradient, of the subtracted term, and the size of xhat."""
    for fmt in formats(settings):
        whole = Tally("as printed", fmt, settings)
        term, bound = Tally("corrected", fmt, settings), Tally("corrected", fmt, settings)
        for b in batches("rms-gradient-outlier", fmt, settings, widest=WIDEST, channel_weights=True):
            _proportional(b, whole)
            _subtracted(replace(b, eps=0.0) if b.phasors == 7 else b, term, bound)
        yield whole.measurement("dL/dx_i x_j against dL/dx_j x_i, neighbouring channels")
        yield term.measurement("the subtracted term against xhat_i Omega / S, where g_i = 0")
        yield bound.measurement("|xhat_i| over sqrt(N)")


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
