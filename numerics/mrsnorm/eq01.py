"""Eq. 1 measured: the scale S, that it is positive, and its two bounds by the root mean square.

    S = (1/P) sum_k r_k + eps,   sqrt(2/P) rms(h) <= S - eps <= sqrt(2) rms(h)

Source: MRSNorm paper, section 3, Eq. 1; the bounds are stated by no source.

Bound. The computed S, in the accumulation format, is off by at most `rounding.scale_error`, Eq. 1 in fp64 by the same
with fp64's unit roundoff. The bounds by the RMS are tested on the computed S - eps, which gets exactly that allowance,
and the RMS, in fp64, gets gamma_n of its own (N squares, their sum, mean, root and factor). Both are attained: the left
one by a single phasor, the right one by equal magnitudes; gradient ascent on S / S_RMS and its inverse finds both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from numerics.inputs import Batch, batches, formats, generator, rows_batch
from numerics.judge import Tally
from numerics.logit_bounds import SHOWN, phasor_data
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_scale
from numerics.rounding import FP64, Format, rms_roundings, roundings, scale_error
from numerics.search import Found, ascend, minimised, sharpened
from numerics.worst_rows import worst_rows

SEARCHED = (2, 64)  # P
STARTS = ("gaussian", "outlier", "mixed")
RMS = "bounds by the RMS"


def printed(z: Tensor, eps: float) -> Tensor:
    """Eq. 1 through the coordinates: (T, P, 2) -> (T, 1)."""
    return z.square().sum(-1).sqrt().sum(-1, keepdim=True) / z.shape[-2] + eps


def rms_bounds(z: Tensor) -> tuple[Tensor, Tensor]:
    """The least and the largest S - eps that a vector of this RMS can have: (T, P, 2) -> (T, 1), (T, 1)."""
    phasors = z.shape[-2]
    rms = (z.square().sum((-1, -2)) / (2 * phasors)).sqrt().unsqueeze(-1)
    return (2 / phasors) ** 0.5 * rms, 2**0.5 * rms


def _value(b: Batch, tally: Tally) -> tuple[Tensor, Tensor]:
    """The computed S against Eq. 1; returns it and the bound on its error: (T, 1), (T, 1)."""
    s, exact = mrs_scale(b.h, b.eps).double(), printed(b.z, b.eps)
    allowance = scale_error(exact, b.phasors, b.fmt) + scale_error(exact, b.phasors, FP64)
    tally.add(b, (s - exact).abs(), allowance)
    return s, allowance


def _bounds(b: Batch, tally: Tally, sides: tuple[int, ...] = (0, 1)) -> None:
    """The computed S - eps against the lower bound (side 0) and the upper one (side 1) by the RMS."""
    s = mrs_scale(b.h, b.eps).double()
    lower, upper = rms_bounds(b.z)
    exact = torch.linalg.vector_norm(b.z, dim=-1).mean(-1, keepdim=True) + b.eps
    lost = scale_error(exact, b.phasors, b.fmt) + scale_error(exact, b.phasors, FP64)
    slack = lost + roundings(rms_roundings(2 * b.phasors) + 2, FP64) * upper
    if 0 in sides:
        tally.add(b, lower, s - b.eps + slack)
    if 1 in sides:
        tally.add(b, s - b.eps, upper + slack)


def _search(side: int, phasors: int, settings: Settings) -> Found:
    """A vector with the largest (side 1) or least (side 0) S / S_RMS that gradient ascent finds in fp64, eps = 0."""
    seed = generator(settings.seed, "eq01", "search", side, phasors).initial_seed()
    restarts, steps = (32, 120) if settings.full else (4, 60)

    def value(points: Tensor) -> Tensor:
        ratio = torch.linalg.vector_norm(points[:, 0], dim=-1).mean(-1) / points[:, 0].square().mean((-1, -2)).sqrt()
        return ratio if side else 1 / ratio

    options = {"starts": STARTS, "restarts": restarts, "steps": steps, "device": settings.device}
    found = ascend(value, vectors=1, phasors=phasors, seed=seed, **options)
    return (sharpened if settings.full else minimised)(found, value)


def _found(side: int, found: Found, fmt: Format, settings: Settings) -> Measurement:
    """One of the bounds by the RMS at the vector that the search found, rounded to the format."""
    b = rows_batch("found", found.rounded(fmt.dtype), fmt, 0.0)
    tally = Tally(RMS, fmt, settings, kind="adversarial")
    _bounds(b, tally, (side,))
    shown = phasor_data(b.h[0])
    most = 2**0.5 if side else (b.phasors / 2) ** 0.5
    reached = ", ".join(f"{value / most:.6g} from {name}" for name, value in found.by_start.items())
    return replace(
        tally.measurement(),
        scope=f"P = {b.phasors}, eps = 0, found by gradient ascent",
        trials=found.restarts,
        detail=f"{'S over the upper bound' if side else 'the lower bound over S'} by the RMS: {reached}",
        witness={"P": b.phasors, "eps": 0.0, "h": shown} if len(shown) <= SHOWN else None,
    )


def measure(settings: Settings) -> Iterator[Measurement]:
    """The value of S, its sign and its bounds by the RMS; value and bounds at searched rows, too."""
    found = {}
    if settings.source is None:
        found = {(side, phasors): _search(side, phasors, settings) for side in (0, 1) for phasors in SEARCHED}
    for fmt in formats(settings):
        value = Tally("as printed", fmt, settings)
        sign = Tally("as printed", fmt, settings)
        bounds = Tally(RMS, fmt, settings)
        for b in batches("eq01", fmt, settings):
            s, allowance = _value(b, value)
            if b.eps:
                floor = torch.full_like(s, b.eps)
                positive = torch.where(s > 0, s + allowance, torch.zeros_like(s))  # an S <= 0 makes the ratio infinite
                sign.add(b, floor, positive)
            _bounds(b, bounds)
        yield value.measurement("value of S")
        yield sign.measurement("S >= eps > 0: eps over S")
        yield bounds.measurement("quantity over bound, both sides; 1 where a bound is attained")
        yield from worst_rows("eq01", "as printed", fmt, settings, _value, "error of S over its bound")
        for (side, _), vector in found.items():
            yield _found(side, vector, fmt, settings)


MUTANTS = {
    "without 1/P": lambda z, eps: z.square().sum(-1).sqrt().sum(-1, keepdim=True) + eps,
    "eps forgotten": lambda z, eps: z.square().sum(-1).sqrt().mean(-1, keepdim=True),
    "mean of squares": lambda z, eps: z.square().sum(-1).mean(-1, keepdim=True) + eps,
    "root mean square": lambda z, eps: z.square().sum(-1).mean(-1, keepdim=True).sqrt() + eps,
    "sum of absolute channels": lambda z, eps: z.abs().sum((-1, -2)).unsqueeze(-1) / z.shape[-2] + eps,
    "all NaN": lambda z, eps: torch.full_like(z[..., 0, :1], torch.nan),
}
