"""clipper measured: the input gradient grows with the upstream gradient without limit; its gain is what is bounded.

Claim: whatever the upstream gradient is, the input gradient stays below a threshold. Source: MRSNorm paper, abstract
and section 1. The threshold is given every chance: C is 16 times the largest |dL/dz_i| of the row, and the upstream
gradient is multiplied by c = 2^6. What holds is dL/dz_i(c g) = c dL/dz_i(g).

In the 2-norm, with unit weights, RMSNorm's gain |J^T g| / |g| is at most 1 / S_RMS. MRSNorm's is (rms(r) / mean(r)) /
S for g = zhat - u at eps = 0, rounded to the format.

Gradient ascent looks for the largest gain of a phasor, for which the corrected bound is that of homogeneity, and for
RMSNorm's largest gain in the 2-norm. The threshold is tried where the gain of a phasor is largest.

Bounds. Gradients are off by what `numerics.backward` allows; a power of two scales every operation exactly, so what
underflow may lose is the only reason why the two sides differ, and it is covered by the same bound. A norm over the row
is off by the norm of the bounds. The formula for zhat - u is evaluated at the rounded g: |J^T g|^2 in fp64, to gamma_n,
n = N + 2 S + 16; it is compared with the closed form at the unrounded g, which moves the gain by 2 |rounding| / |g|.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from numerics.backward import mrs_gradient, rms_gradient
from numerics.found_rows import found_batch, largest, places, searched, weights
from numerics.inputs import Batch, batches, formats
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.mrsnorm import homogeneity
from numerics.norms import mrs_scale, rms_scale
from numerics.rounding import FP64, Format, direction, rms_roundings, roundings, scale_roundings

WIDEST = 64
FACTOR, ROOM = 2.0**6, 16.0


def printed(norms: Tensor, factor: float) -> Tensor:
    """What |dL/dz_i| is said not to exceed when g is multiplied by `factor`: (T, P) -> (T, 1)."""
    return ROOM * norms.amax(dim=-1, keepdim=True)


def corrected(gradient: Tensor, factor: float) -> Tensor:
    """dL/dz for factor * g from dL/dz for g: (T, P, 2) -> (T, P, 2)."""
    return factor * gradient


def gain_limit(upstream: Tensor, scale: Tensor) -> Tensor:
    """What |J^T g| does not exceed under RMSNorm with unit weights, from |g| and S_RMS: (T,), (T,) -> (T,)."""
    return upstream / scale


def _linear(b: Batch, clipped: Tally, linear: Tally) -> None:
    """Both statements for g and `FACTOR` g, where neither that nor a gradient overflows."""
    g = (b.g.double() / FACTOR).to(b.fmt.dtype)
    one, many = mrs_gradient(b, g), mrs_gradient(b, g * FACTOR)
    where = (b.z != 0).any(dim=-1) & ~(one.infinite | many.infinite).any(dim=-1)
    clipped.add(b, many.norms, printed(one.norms, FACTOR) + many.allowed_norms, where)
    error = (many.value - corrected(one.value, FACTOR)).abs()
    linear.add(b, error, many.allowed + FACTOR * one.allowed, where[..., None])


def _row(x: Tensor) -> Tensor:
    return torch.linalg.vector_norm(x.flatten(1), dim=-1)


def _rms_gain(b: Batch, tally: Tally) -> None:
    """S_RMS |J^T g| / |g| of RMSNorm against 1."""
    b = replace(b, gamma=torch.ones_like(b.gamma))
    found, scale = rms_gradient(b, b.g), rms_scale(b.h.double(), b.eps).squeeze(-1)
    slack = 1 + roundings(rms_roundings(b.h.shape[-1]) + 2 * b.phasors + 8, FP64)
    finite = ~found.infinite.flatten(1).any(-1)
    tally.add(b, _row(found.value), gain_limit(_row(b.g.double()), scale) * slack + _row(found.allowed), finite)


def _mrs_gain(b: Batch, tally: Tally) -> float:
    """S |J^T g| / |g| of MRSNorm at eps = 0 for g = zhat - u, against rms(r) / mean(r); the largest of these."""
    b = replace(b, eps=0.0, gamma=torch.ones_like(b.gamma))
    scale = mrs_scale(b.h.double(), 0.0)
    r = torch.linalg.vector_norm(b.z, dim=-1)
    wanted = (b.z / scale[..., None] - direction(b.z)).flatten(-2)
    g = wanted.to(b.fmt.dtype)
    size, off = (torch.linalg.vector_norm(x, dim=-1) for x in (wanted, g.double() - wanted))
    noise = torch.linalg.vector_norm(direction(b.z).flatten(-2), dim=-1) * roundings(
        scale_roundings(b.phasors) + 8, FP64
    )
    where = (r > 0).all(dim=-1) & (size > 2 * (off + noise))  # all magnitudes equal leave nothing of zhat - u
    found = mrs_gradient(b, g)
    gain = r.square().mean(-1).sqrt() / scale.squeeze(-1)
    expected = gain * size / scale.squeeze(-1)
    slack = roundings(2 * b.phasors + 2 * scale_roundings(b.phasors) + 16, FP64) * expected
    bound = gain.clamp_min(1) * (off + noise) / scale.squeeze(-1) + slack + _row(found.allowed)
    where = where & ~found.infinite.flatten(1).any(-1)
    tally.add(b, (_row(found.value) - expected).abs(), bound, where)
    return gain[where].max().item() if where.any() else 0.0


def measure(settings: Settings) -> Iterator[Measurement]:
    """A threshold, linearity, the two gains in the 2-norm, and each inequality where the search ends, a format."""
    for fmt in formats(settings):
        clipped, linear = Tally("as printed", fmt, settings), Tally("corrected", fmt, settings)
        rms = Tally("RMSNorm's gain in the 2-norm", fmt, settings)
        mrs = Tally("MRSNorm's gain in the 2-norm", fmt, settings)
        most = 0.0
        for b in batches("clipper", fmt, settings, widest=WIDEST):
            _linear(b, clipped, linear)
            _rms_gain(b, rms)
            most = max(most, _mrs_gain(b, mrs))
        yield clipped.measurement(f"|dL/dz_i| for {FACTOR:g} g over {ROOM:g} times the largest for g")
        yield linear.measurement(f"dL/dz for {FACTOR:g} g against {FACTOR:g} times that for g")
        yield rms.measurement("|J^T g| over |g| / S_RMS, unit weights")
        yield mrs.measurement(f"g = zhat - u at eps = 0, against (rms(r) / mean(r)) |g| / S; up to {most:.3g} |g| / S")
        yield from homogeneity.gradient_rows("clipper", fmt, settings)
        yield from _found_rows(fmt, settings)


def rms_gain_ratio(points: Tensor, eps: float) -> Tensor:
    """S_RMS |J^T g| / |g| of RMSNorm for x and g, which are (R, 2, P, 2): (R,)."""
    x, g = points[:, 0].flatten(1), points[:, 1].flatten(1)
    xhat = x / (x.square().mean(-1, keepdim=True) + eps).sqrt()
    ratio = _row(g - xhat * (g * xhat).mean(-1, keepdim=True)) / _row(g)
    return torch.where((x != 0).any(-1), ratio, torch.zeros_like(ratio))  # a row of zeros is no input to look at


def _found_rows(fmt: Format, settings: Settings) -> Iterator[Measurement]:
    for phasors, eps in places(settings):
        found = largest("clipper", homogeneity.gradient_ratio, phasors, eps, settings)
        b, clipped = found_batch(found, fmt, eps, weights(phasors)), Tally("as printed", fmt, settings)
        _linear(b, clipped, Tally("corrected", fmt, settings))
        yield searched(clipped, b, found, f"|dL/dz_i| for {FACTOR:g} g over {ROOM:g} times the largest for g, there")
        found = largest("clipper", rms_gain_ratio, phasors, eps, settings)
        b, rms = found_batch(found, fmt, eps), Tally("RMSNorm's gain in the 2-norm", fmt, settings)
        _rms_gain(b, rms)
        yield searched(rms, b, found, "|J^T g| over |g| / S_RMS, unit weights")


MUTANTS = {
    "a lower threshold": lambda norms, factor: norms.amax(dim=-1, keepdim=True),
    "all NaN": lambda norms, factor: torch.full_like(norms, torch.nan),
}
REPAIRS = {"a threshold that grows with g": lambda norms, factor: 2 * factor * norms.amax(dim=-1, keepdim=True)}
CORRECTED_MUTANTS = {
    "unchanged": lambda gradient, factor: gradient,
    "clipped to norm 1": lambda gradient, factor: direction(gradient),
    "half the factor": lambda gradient, factor: factor / 2 * gradient,
    "all NaN": lambda gradient, factor: torch.full_like(gradient, torch.nan),
}
GAIN_MUTANTS = {
    "half the limit": lambda upstream, scale: upstream / scale / 2,
    "one hundredth less": lambda upstream, scale: 0.99 * upstream / scale,
    "NaN": lambda upstream, scale: upstream * torch.nan,
}
