"""starvation-relief measured: the scale of RMSNorm over that of MRSNorm, where an outlier inflates both.

    1/sqrt(2) <= S_RMS / S <= sqrt(N)/2   at eps = 0,

the left side met at equal magnitudes, the right one by a single phasor, in one channel or in both. One phasor among
others comes within a factor 1 - delta of N/4 with (S_RMS / S)^2 where the others add up to at most delta/2 of it. The
relief that an outlier brings, against equal magnitudes, is therefore at most sqrt(P).

How it is measured. Both scales as the layers compute them, in the accumulation format, squared. Random rows stay
between the two sides; gradient ascent climbs the ratio and its inverse in fp64, and what it finds is rounded to each
format.

Bounds. S and S_RMS have the roundings of `numerics.rounding`, the squared ratio twice their sum and 4 more. The least
delta of a row is computed in fp64 from magnitudes, which adds gamma_n, n = P + 8, relative to 1 + 2 delta. Magnitudes
that are equal but for rounding differ by at most a part v + 4 u(fp64), which adds the square of that.

Source: no source states it; the MRSNorm paper, sections 1 and 2.1, claims that the mean is not dominated at all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from numerics.inputs import Batch, batches, formats, rows_batch
from numerics.judge import Tally, plain
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_scale, rms_scale
from numerics.rounding import FP64, Format, rms_roundings, roundings, scale_roundings
from numerics.scenarios import generator
from numerics.search import Found, ascend, minimised, sharpened

SLUG = "starvation-relief"
SEARCHED = (2, 8, 64)  # P


def printed(phasors: int) -> tuple[float, float]:
    """The least value of (S_RMS / S)^2 and its supremum over vectors of P phasors."""
    return 0.5, phasors / 2


MUTANTS: dict[str, Callable[[int], tuple[float, float]]] = {
    "sqrt(N/8)": lambda phasors: (0.5, phasors / 4),
    "two hundredths less": lambda phasors: (0.5, 0.98 * phasors / 2),
    "two hundredths more": lambda phasors: (0.5, 1.02 * phasors / 2),
    "1 for the least value": lambda phasors: (1.0, phasors / 2),
    "a relief of P": lambda phasors: (0.5, phasors**2 / 2),
    "NaN": lambda phasors: (math.nan, math.nan),
}


def squared_ratio(h: Tensor) -> Tensor:
    """(S_RMS / S)^2 at eps = 0: (T, N) -> (T, 1), in fp64 from scales in the accumulation format."""
    return (rms_scale(h, 0.0).double() / mrs_scale(h, 0.0).double()).square()


def _relative(phasors: int, fmt: Format) -> float:
    count = 2 * (scale_roundings(phasors) + rms_roundings(2 * phasors)) + 4
    return roundings(count, fmt.accumulation)


def _delta(b: Batch) -> Tensor:
    """Twice the sum of all magnitudes but the largest, over the largest: (T, 1)."""
    r = torch.linalg.vector_norm(b.z, dim=-1)
    top = r.amax(-1, keepdim=True)
    return 2 * (r.sum(-1, keepdim=True) - top).clamp_min(0) / top


def measure(settings: Settings) -> Iterator[Measurement]:
    """Both sides on random rows, how near the supremum is, both sides by search, and where each is met."""
    found = {(side, n): _search(side, n, settings) for side in (0, 1) for n in SEARCHED}
    for fmt in formats(settings):
        least, most, near, equal, alone = (Tally("as printed", fmt, settings) for _ in range(5))
        for b in batches(SLUG, fmt, settings, eps_zero=True):
            ratio, relative = squared_ratio(b.h), _relative(b.phasors, b.fmt)
            low, high = (torch.full_like(ratio, side) for side in printed(b.phasors))
            some = (b.h != 0).any(dim=-1, keepdim=True)
            least.add(b, low, ratio * (1 + relative), some)
            most.add(b, ratio, high * (1 + relative), some)
            delta = _delta(b)
            slack = relative * high + roundings(b.phasors + 8, FP64) * high * (1 + 2 * delta)
            near.add(b, (high - ratio).clamp_min(0), delta * high + slack, some)
            _met(b, "equal magnitudes", ratio, low, relative, equal)
            _met(b, "single phasor", ratio, high, relative, alone)
        yield least.measurement("1/2 over (S_RMS / S)^2")
        yield most.measurement("(S_RMS / S)^2 over N/4")
        yield near.measurement("N/4 - (S_RMS / S)^2 over delta N/4, delta from the row")
        yield equal.measurement("equal magnitudes: distance of (S_RMS / S)^2 from 1/2")
        yield alone.measurement("a single phasor: distance of (S_RMS / S)^2 from N/4")
        for (side, _), vector in found.items():
            yield _found(side, vector, fmt, settings)


def _met(b: Batch, scenario: str, ratio: Tensor, side: Tensor, relative: float, tally: Tally) -> None:
    """The distance from one side on the rows of a scenario that meets it."""
    rows = (b.origin == b.scenarios.index(scenario))[:, None] & (b.h != 0).any(dim=-1, keepdim=True)
    spread = (b.fmt.unit_roundoff + 4 * FP64.unit_roundoff) ** 2 * 4
    tally.add(b, (ratio - side).abs(), (relative + spread) * side, rows)


def _search(side: int, phasors: int, settings: Settings) -> Found:
    """The vector with the largest (side 1) or least (side 0) S_RMS / S that gradient ascent finds in fp64."""
    seed = generator(settings.seed, SLUG, "search", side, phasors).initial_seed()
    restarts, steps = (32, 120) if settings.full else (2, 60)

    def value(points: Tensor) -> Tensor:
        ratio = squared_ratio(points[:, 0].flatten(-2)).squeeze(-1)
        return ratio if side else 1 / ratio

    options = {"restarts": restarts, "steps": steps, "device": settings.device}
    found = ascend(value, vectors=1, phasors=phasors, seed=seed, **options)
    return (sharpened if settings.full else minimised)(found, value)


def _found(side: int, found: Found, fmt: Format, settings: Settings) -> Measurement:
    h = found.rounded(fmt.dtype)
    b = rows_batch("found", h, fmt, 0.0)
    ratio, relative = squared_ratio(h).item(), _relative(b.phasors, fmt)
    low, high = printed(b.phasors)
    return Measurement(
        kind="adversarial",
        statement="as printed",
        scope=f"P = {b.phasors}, eps = 0, found by gradient ascent",
        worst=ratio / (high * (1 + relative)) if side else low / (ratio * (1 + relative)),
        trials=found.restarts,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail="(S_RMS / S)^2 over N/4" if side else "1/2 over (S_RMS / S)^2",
        witness={"magnitudes": plain(torch.linalg.vector_norm(b.z[0], dim=-1))} if b.phasors <= 8 else None,
    )
