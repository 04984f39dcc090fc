"""ma-p99 measured: quantiles of the activations at s = 5, and whether anything is gained.

Claim: s = 5 takes the 99th percentile from 4.1 to 20.6, so that the layer can express more. Source: MA-RMSNorm article,
introduction, section 2.3 and section 3.1.

What holds: scaling Y by s scales its quantiles by s; the layer with s = 1 and s gamma for gamma is the same; the second
term moves a quantile by at most max |alpha W log R|; and the map y -> s y, rounded, never has more values than there
are y. (An order statistic moves by at most the largest change of an entry, so all bounds are maxima over entries.)

Bounds. Each output may be off by `rounding.ma_output_error` and its last rounding; s gamma, rounded to the
format, by one more u. As the claim is strict it is tested as: the largest output of the layer with s gamma, plus what
rounding may have taken from it, stays below the largest output with s = 5.

Random rows move a quantile by far less than the second term may. So a search climbs the move over its bound, in fp64
and by row and W; what it finds is measured in the format.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from numerics.inputs import Batch, formats
from numerics.judge import Tally
from numerics.logit_bounds import SHOWN, phasor_data
from numerics.magnitude_rounding import measured
from numerics.measure import Measurement, Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import ma_rms_norm, rms_scale
from numerics.rounding import FP64, Format, ma_output_error, rounded, roundings
from numerics.scenarios import generator, normal, uniform
from numerics.search import Found, ascend, minimised, sharpened
from numerics.worst_rows import worst_rows

SLUG = "ma-p99"
FACTOR = 5.0  # s
CHANNELS = 64
PLACES = ((2, 0.0),)  # (P, eps) of the searched rows of N = 2 P channels
STARTS = ("gaussian", "outlier", "mixed")
SHIFT, CODES = "the second term moves it by at most max |alpha W log R|", "no more codes"


def printed(gamma: Tensor) -> Tensor:
    """gamma of the layer with s = 1 that is claimed to stay below the one with s = 5: (N,) -> (N,)."""
    return FACTOR * gamma


def corrected(quantile: Tensor) -> Tensor:
    """The quantile at s = 5, from that at s = 1."""
    return FACTOR * quantile


def measure(settings: Settings) -> Iterator[Measurement]:
    """The largest outputs, the quantiles with and without the second term, and the values that are taken."""
    found = _search(settings)
    for fmt in formats(settings):
        x, gamma, w = _draw(settings, fmt)
        plain = ma_rms_norm(x, gamma, None, 1.0, eps=0.0)
        wide = ma_rms_norm(x, gamma, None, FACTOR, eps=0.0)
        both = ma_rms_norm(x, gamma, w, FACTOR, eps=0.0)
        absorbed = ma_rms_norm(x, printed(gamma.double()).to(fmt.dtype), None, 1.0, eps=0.0)
        lost = [_lost(x, gamma, value, s, fmt) for value, s in ((0 * w, 1.0), (0 * w, FACTOR), (w, FACTOR))]
        scope = f"N = {CHANNELS}, {len(x)} rows"
        highest = absorbed.double().abs().amax() + lost[1] + fmt.unit_roundoff * wide.double().abs().amax()
        ratio = (highest / wide.double().abs().amax()).unsqueeze(0)
        differ = (absorbed != wide).double().mean().item()
        detail = f"{100 * differ:.0f} % of the entries differ from those at s = 5, by rounding" if differ < 0.9 else ""
        yield measured(
            settings,
            fmt,
            "as printed",
            f"{scope}, largest output with 5 gamma over that with s = 5",
            ratio,
            detail=detail,
        )
        signed, size = _quantiles(plain), _quantiles(wide)
        allowed = FACTOR * lost[0] + lost[1] + roundings(6, FP64) * size.abs()
        detail = f"p99 {signed[0]:.3g}, of |y| {signed[1]:.3g}, at s = 5 {size[0]:.3g} and {size[1]:.3g}"
        yield measured(settings, fmt, "corrected", scope, (size - corrected(signed)).abs() / allowed, detail=detail)
        level = (ALPHA * w.double() * rms_scale(x.double(), 0.0).log()).abs().amax()
        moved = (_quantiles(both) - size).abs() / (
            level + lost[1] + lost[2] + roundings(6, FP64) * (size.abs() + level)
        )
        yield measured(settings, fmt, SHIFT, scope, moved)
        what = "error of a quantile over its bound"
        yield from worst_rows(SLUG, "corrected", fmt, settings, _stretched, what, PLACES, channel_weights=True)
        yield _shifted(settings, fmt, found)
        if fmt != fmt.accumulation:
            yield _codes(settings, fmt)


def _draw(settings: Settings, fmt: Format) -> tuple[Tensor, Tensor, Tensor]:
    """Normal rows at scales from 1/16 to 16, gamma of both signs and W, in the format."""
    rng = generator(settings.seed, SLUG, fmt.name)
    rows = max(settings.trials, 8)
    x = normal(rng, rows, CHANNELS) * 2.0 ** (8 * uniform(rng, rows, 1) - 4)
    gamma, w = normal(rng, CHANNELS).sign() * (0.5 + uniform(rng, CHANNELS)), normal(rng, CHANNELS)
    return tuple(value.to(fmt.dtype).to(settings.device) for value in (x, gamma, w))


def _lost(x: Tensor, gamma: Tensor, magnitude: Tensor, s: float, fmt: Format) -> Tensor:
    """The most that an entry of the output may be off by."""
    return _lost_rows(x, gamma, magnitude, s, fmt).amax()


def _lost_rows(x: Tensor, gamma: Tensor, magnitude: Tensor, s: float, fmt: Format) -> Tensor:
    """The same row by row: (T, N) -> (T,)."""
    wide, weights = x.double(), (gamma.double(), magnitude.double())
    scale = rms_scale(wide, 0.0)
    exact = s * weights[0] * wide / scale + ALPHA * weights[1] * scale.log()
    return rounded(ma_output_error(wide, *weights, scale, fmt, s), exact, fmt).amax(-1) + roundings(
        4, FP64
    ) * exact.abs().amax(-1)


def _stretched(b: Batch, tally: Tally) -> None:
    """The quantiles of each row at s = 5 against those at s = 1."""
    none = torch.zeros_like(b.gamma)
    signed, size = (_row_quantiles(ma_rms_norm(b.h, b.gamma, None, s, eps=0.0)) for s in (1.0, FACTOR))
    lost = [_lost_rows(b.h, b.gamma, none, s, b.fmt)[:, None] for s in (1.0, FACTOR)]
    allowed = FACTOR * lost[0] + lost[1] + roundings(6, FP64) * size.abs()
    tally.add(b, (size - corrected(signed)).abs(), allowed)


def _search(settings: Settings) -> Found:
    """A row x and weights W, gamma = 1, whose second term moves a quantile most for its size, by gradient ascent."""

    def value(points: Tensor) -> Tensor:
        x, w = points.flatten(-2).unbind(1)  # (R, N) each
        scale = rms_scale(x, 0.0)
        level = ALPHA * w * scale.log()
        moved = _row_quantiles(FACTOR * x / scale + level) - _row_quantiles(FACTOR * x / scale)
        return moved.abs().amax(-1) / level.abs().amax(-1)

    restarts, steps = (32, 120) if settings.full else (4, 60)
    seed = generator(settings.seed, SLUG, "search").initial_seed()
    options = {"starts": STARTS, "restarts": restarts, "steps": steps, "device": settings.device}
    found = ascend(value, vectors=2, phasors=CHANNELS // 2, seed=seed, **options)
    return (sharpened if settings.full else minimised)(found, value)


def _shifted(settings: Settings, fmt: Format, found: Found) -> Measurement:
    """The bound on what the second term moves at what the search found, gamma = 1."""
    x, w = found.rounded(fmt.dtype).unsqueeze(1).unbind(0)  # (1, N) each
    gamma, w = torch.ones_like(x[0]), w[0]
    wide, both = (ma_rms_norm(x, gamma, value, FACTOR, eps=0.0) for value in (None, w))
    lost = sum(_lost(x, gamma, value, FACTOR, fmt) for value in (0 * w, w))
    level = (ALPHA * w.double() * rms_scale(x.double(), 0.0).log()).abs().amax()
    size = _quantiles(wide)
    # what the outputs lost may have widened the move as well as narrowed it: only a certain excess is a violation
    ratios = (_quantiles(both) - size).abs() / (level + lost + roundings(6, FP64) * (size.abs() + level))
    starts = ", ".join(f"{value:.4g} from {name}" for name, value in found.by_start.items())
    few = {"x": phasor_data(x[0]), "W": phasor_data(w)}
    row = measured(
        settings,
        fmt,
        SHIFT,
        f"N = {CHANNELS}, one row, gamma = 1, found by gradient ascent",
        ratios,
        kind="adversarial",
        detail=f"the move over its bound: {starts}",
        witness={"N": CHANNELS, **few} if sum(map(len, few.values())) <= SHOWN else None,
    )
    return replace(row, trials=found.restarts)


def _row_quantiles(y: Tensor) -> Tensor:
    """The 99th percentiles of y and of |y| in each row: (T, N) -> (T, 2)."""
    wide = y.double()
    return torch.stack((wide.quantile(0.99, dim=-1), wide.abs().quantile(0.99, dim=-1)), dim=-1)


def _quantiles(y: Tensor) -> Tensor:
    """The 99th percentiles of y and of |y|, over all entries: (2,)."""
    flat = y.double().flatten()
    return torch.stack((flat.quantile(0.99), flat.abs().quantile(0.99)))


def _codes(settings: Settings, fmt: Format) -> Measurement:
    """How many values s y takes, rounded, for all finite y of the format, over how many y there are."""
    codes = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(fmt.dtype).to(settings.device)
    y = codes[codes.isfinite()]
    counts = [len((s * y.double()).to(fmt.dtype).unique()) for s in (1.0, 2.0, 5.0, 8.0)]
    ratios = torch.tensor([count / counts[0] for count in counts[1:]], dtype=torch.float64)
    detail = f"distinct values of s y at s = 1, 2, 5, 8: {', '.join(map(str, counts))}"
    scope = f"every finite {fmt.name} number"
    return measured(settings, fmt, CODES, scope, ratios, kind="exhaustive", detail=detail)


MUTANTS = {
    "six times gamma": lambda gamma: (FACTOR + 1) * gamma,
    "the other sign": lambda gamma: -FACTOR * gamma,
    "NaN": lambda gamma: gamma * math.nan,
}
# with this in its place nothing is violated: the check does not say no to everything
REPAIRS = {"the same gamma": lambda gamma: gamma}
CORRECTED_MUTANTS = {
    "unchanged": lambda quantile: quantile,
    "shifted by s": lambda quantile: quantile + FACTOR,
    "5.1 times": lambda quantile: 5.1 * quantile,
    "NaN": lambda quantile: quantile * math.nan,
}
