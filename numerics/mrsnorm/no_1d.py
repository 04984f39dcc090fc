"""no-1d measured: the increment of a function over an interval, and the size of its slope.

As printed, |f'| = c > 0 makes f a line of slope c or -c, which has the increment +-c T over T and is not periodic.
Further, every differentiable f has T inf |f'| <= |f(x + T) - f(x)|: a periodic one has slopes as small as you like. The
triangle wave, differentiable but at its corners, has |f'| = 1 and the period 2: for it that fails.

f = c x + sum_n a_n sin(w_n x + p_n), K = 8 terms (none for a line), is evaluated in the accumulation format (u). A term
has the roundings of a product and a sum in its argument, |w x| + |p| times 2 u, 8 u for the sine, and a product; the
sum K + 1 more; c x one. So each value is off by at most

    gamma_{K + 12}(u) (|c x| + sum |a_n| (1 + |w_n x| + |p_n|)).

The infimum of |f'| over the interval is bounded from below by its minimum on a grid of spacing h less h/2 times
sum |a_n| w_n^2, in fp64. Only that lower bound counts: what is reported as a violation is one.

Source: MRSNorm paper, section 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.inputs import formats
from numerics.logit_bounds import over
from numerics.measure import Measurement, Settings
from numerics.rounding import Format, roundings
from numerics.scenarios import generator, integers, normal, uniform

SLUG = "no-1d"
TERMS = 8
GRID = 512


@dataclass(frozen=True)
class Functions:
    """f = c x + sum_n a_n sin(w_n x + p_n) by row: c, start and length of the interval (T,), the others (T, K)."""

    slope: Tensor
    size: Tensor
    rate: Tensor
    phase: Tensor
    start: Tensor
    length: Tensor

    def value(self, x: Tensor, dtype: torch.dtype) -> Tensor:
        """f(x), computed in `dtype`: (T,) -> (T,)."""
        slope, size, rate, phase, x = (v.to(dtype) for v in (self.slope, self.size, self.rate, self.phase, x))
        return slope * x + (size * (rate * x[:, None] + phase).sin()).sum(-1)

    def error(self, x: Tensor, fmt: Format) -> Tensor:
        """Bound on the error of `value` in the accumulation format of `fmt`."""
        terms = self.size.abs() * (1 + (self.rate * x[:, None]).abs() + self.phase.abs())
        return roundings(TERMS + 12, fmt.accumulation) * ((self.slope * x).abs() + terms.sum(-1))

    def smallest_slope(self) -> Tensor:
        """A lower bound on inf |f'| over the interval: (T,)."""
        step = self.length / GRID
        x = self.start[:, None] + step[:, None] * torch.arange(GRID + 1, dtype=torch.float64, device=step.device)
        cosines = torch.cos(self.rate[:, None] * x[..., None] + self.phase[:, None])  # (T, GRID + 1, K)
        slopes = self.slope[:, None] + (self.size * self.rate)[:, None].mul(cosines).sum(-1)
        lipschitz = (self.size.abs() * self.rate.square()).sum(-1)
        return (slopes.abs().amin(-1) - step / 2 * lipschitz).clamp_min(0)


def printed(slope: Tensor, length: Tensor) -> Tensor:
    """The increment over an interval of a function of constant slope."""
    return slope * length


MUTANTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "periodic": lambda slope, length: 0 * slope,
    "the slope": lambda slope, length: slope,
    "always rising": lambda slope, length: slope.abs() * length,
    "half of it": lambda slope, length: slope * length / 2,
    "NaN": lambda slope, length: slope * math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """Lines, lines with waves on them, periodic waves, and the triangle wave."""
    for fmt in formats(settings):
        for statement, scope, ratio in (
            ("as printed", "lines of either sign", _line),
            ("differentiable functions", "lines, with and without waves on them, and waves alone", _smooth),
            ("differentiable almost everywhere is enough", "the triangle wave of period 2 and slope 1", _triangle),
        ):
            ratios = ratio(fmt, settings)
            yield Measurement(
                kind="random",
                statement=statement,
                scope=scope,
                worst=float(ratios.amax()) if len(ratios) else 0.0,
                trials=len(ratios),
                dtype=fmt.name,
                device=settings.device,
                seed=settings.seed,
            )


def _draw(fmt: Format, settings: Settings, linear: bool, waves: bool) -> Functions:
    """Random functions whose numbers the format under test holds; a waved one is over a period of its waves or not."""
    rng, trials = generator(settings.seed, SLUG, fmt.name, linear, waves), settings.trials
    numbers = {
        "slope": normal(rng, trials) * (4 if linear else 0),
        "size": normal(rng, trials, TERMS) * (uniform(rng, trials, 1) if waves else 0),
        "rate": 1.0 + integers(rng, 6, trials, TERMS),
        "phase": 6 * uniform(rng, trials, TERMS),
        "start": 8 * uniform(rng, trials) - 4,
        "length": 0.5 + 6 * uniform(rng, trials),
    }
    return Functions(**{name: v.to(fmt.dtype).double().to(settings.device) for name, v in numbers.items()})


def _increment(f: Functions, fmt: Format) -> tuple[Tensor, Tensor]:
    """f(x + T) - f(x) and the bound on its error, the end x + T being rounded as well."""
    end = f.start + f.length  # exact in fp64, and rounded by `value`
    lipschitz = f.slope.abs() + (f.size * f.rate).abs().sum(-1)
    moved = roundings(1, fmt.accumulation) * end.abs() * lipschitz
    found = f.value(end, fmt.accumulation.dtype).double() - f.value(f.start, fmt.accumulation.dtype).double()
    return found, f.error(end, fmt) + f.error(f.start, fmt) + moved


def _line(fmt: Format, settings: Settings) -> Tensor:
    f = _draw(fmt, settings, linear=True, waves=False)
    found, error = _increment(f, fmt)
    return over((found - printed(f.slope, f.length)).abs(), error)


def _smooth(fmt: Format, settings: Settings) -> Tensor:
    ratios = []
    for linear, waves in ((True, False), (True, True), (False, True)):
        f = _draw(fmt, settings, linear, waves)
        found, error = _increment(f, fmt)
        ratios.append(over(f.length * f.smallest_slope(), found.abs() + error))
    return torch.cat(ratios)


def _triangle(fmt: Format, settings: Settings) -> Tensor:
    """T times the slope, 1 wherever it is defined, over the increment: 0 over a period, for points the format holds."""
    x = (8 * uniform(generator(settings.seed, SLUG, fmt.name, "triangle"), settings.trials)).to(fmt.dtype).double()

    def wave(at: Tensor) -> Tensor:
        return 1 - (at.remainder(2) - 1).abs()

    error = roundings(4, fmt.accumulation) * (x + 4)
    return over(torch.full_like(x, 2.0), (wave(x + 2) - wave(x)).abs() + error).to(settings.device)
