"""Eq. 1 measured: the scale S, that it is positive, and its two bounds by the root mean square.

    S = (1/P) sum_k r_k + eps,   sqrt(2/P) rms(h) <= S - eps <= sqrt(2) rms(h)

Source: MRSNorm paper, section 3, Eq. 1; the bounds are stated by no source.

Bound. The computed S, in the accumulation format, is off by at most `rounding.scale_error`, Eq. 1 in fp64 by the same
with fp64's unit roundoff. The bounds by the RMS are tested on the computed S - eps, which gets exactly that allowance,
and the RMS, in fp64, gets gamma_n of its own (N squares, their sum, mean, root and factor). Both are attained: the left
one by a single phasor, the right one by equal magnitudes.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.inputs import batches, formats
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_scale
from numerics.rounding import FP64, rms_roundings, roundings, scale_error


def printed(z: Tensor, eps: float) -> Tensor:
    """Eq. 1 through the coordinates: (T, P, 2) -> (T, 1)."""
    return z.square().sum(-1).sqrt().sum(-1, keepdim=True) / z.shape[-2] + eps


def rms_bounds(z: Tensor) -> tuple[Tensor, Tensor]:
    """The least and the largest S - eps that a vector of this RMS can have: (T, P, 2) -> (T, 1), (T, 1)."""
    phasors = z.shape[-2]
    rms = (z.square().sum((-1, -2)) / (2 * phasors)).sqrt().unsqueeze(-1)
    return (2 / phasors) ** 0.5 * rms, 2**0.5 * rms


def measure(settings: Settings) -> Iterator[Measurement]:
    """Three measurements a format: the value of S, its sign, and its bounds by the RMS."""
    for fmt in formats(settings):
        value = Tally("as printed", fmt, settings)
        sign = Tally("as printed", fmt, settings)
        bounds = Tally("bounds by the RMS", fmt, settings)
        for b in batches("eq01", fmt, settings):
            s = mrs_scale(b.h, b.eps).double()
            exact = printed(b.z, b.eps)
            allowance = scale_error(exact, b.phasors, fmt) + scale_error(exact, b.phasors, FP64)
            value.add(b, (s - exact).abs(), allowance)
            if b.eps:
                floor = torch.full_like(s, b.eps)
                positive = torch.where(s > 0, s + allowance, torch.zeros_like(s))  # an S <= 0 makes the ratio infinite
                sign.add(b, floor, positive)
            lower, upper = rms_bounds(b.z)
            slack = allowance + roundings(rms_roundings(2 * b.phasors) + 2, FP64) * upper
            bounds.add(b, lower, s - b.eps + slack)
            bounds.add(b, s - b.eps, upper + slack)
        yield value.measurement("value of S")
        yield sign.measurement("S >= eps > 0: eps over S")
        yield bounds.measurement("quantity over bound, both sides; 1 where a bound is attained")


MUTANTS = {
    "without 1/P": lambda z, eps: z.square().sum(-1).sqrt().sum(-1, keepdim=True) + eps,
    "eps forgotten": lambda z, eps: z.square().sum(-1).sqrt().mean(-1, keepdim=True),
    "mean of squares": lambda z, eps: z.square().sum(-1).mean(-1, keepdim=True) + eps,
    "root mean square": lambda z, eps: z.square().sum(-1).mean(-1, keepdim=True).sqrt() + eps,
    "sum of absolute channels": lambda z, eps: z.abs().sum((-1, -2)).unsqueeze(-1) / z.shape[-2] + eps,
    "all NaN": lambda z, eps: torch.full_like(z[..., 0, :1], torch.nan),
}
