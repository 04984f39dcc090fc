"""Random trials of an error bound, and the table of what trials and search have found.

A trial is one row of a case, or one weight where the bound is on the gradient of weights. The same seed gives the same
trials; how they are cut into chunks belongs to the seed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from numerics.bound_trials.draw import drawn
from numerics.bound_trials.search import worst_error
from numerics.bound_trials.subjects import BOUNDS, Bound, ratios
from numerics.rounding import FORMATS

CHUNK = 2**16  # channels in a case
SHARES = ((1, 0.4), (2, 0.4), (7, 0.195), (64, 0.004), (192, 0.001))  # P, and the share of the trials that have it
WEIGHTS = 2048  # phasors of the rows that gradients of weights are summed over
SEARCHED = (1, 2, 7, 64, 192, 4096, 2**17)  # P
AGAIN = (64, 64)  # population and generations of a second search; it stops once it has found enough
TIGHT = 50  # a bound that no found error comes nearer to than this says too little


@dataclass(frozen=True)
class Row:
    """The worst of the trials, or of a search (`kind`), of one bound in one format over P phasors."""

    bound: str
    dtype: str
    phasors: int
    kind: str
    trials: int
    worst: float


def random_worst(bound: Bound, dtype: str, phasors: int, trials: int, seed: int = 0, channels: int = CHUNK) -> Row:
    """The largest error / bound of so many random trials, up to `channels` numbers in a case.

    For a sum over rows a trial is one weight, and P is the number of rows.
    """
    worst, done, chunk, fmt = 0.0, 0, 0, FORMATS[dtype]
    while done < trials:
        width = min(WEIGHTS, channels) if bound.over_rows else phasors
        rows = phasors if bound.over_rows else min(max(1, channels // (2 * phasors)), trials - done)
        found = ratios(bound.subject, drawn(fmt, width, rows, seed, chunk, bound.pairs), bound.stored)
        high = float(found.amax())
        worst = high if math.isnan(high) or not high <= worst else worst
        done, chunk = done + len(found), chunk + 1
        if math.isnan(worst):
            break
    return Row(bound.name, dtype, phasors, "random", done, worst)


def searched_worst(
    bound: Bound,
    dtype: str,
    phasors: int,
    seed: int = 0,
    population: int = 64,
    generations: int = 8,
    enough: float = math.inf,
) -> Row:
    """The largest error / bound that the search finds; it goes on until one is `enough`, or has no generation left."""
    found = worst_error(
        bound.subject,
        FORMATS[dtype],
        phasors,
        seed=seed,
        population=population,
        generations=generations,
        stored=bound.stored,
        enough=enough,
        one_by_one=bound.over_rows,
    )
    return Row(bound.name, dtype, phasors, "search", found.tried, found.largest)


def table(
    names: tuple[str, ...], dtypes: tuple[str, ...], trials: int, searched: tuple[int, ...], seed: int
) -> Iterator[Row]:
    """Every bound in every format: so many trials, shared out over P, and a search for every P of `searched`."""
    for name in names or tuple(BOUNDS):
        for dtype in dtypes:
            for phasors, share in SHARES:
                if trials:
                    yield random_worst(BOUNDS[name], dtype, phasors, math.ceil(share * trials), seed)
            for phasors in searched:
                yield _deep(BOUNDS[name], dtype, phasors, seed)


def _deep(bound: Bound, dtype: str, phasors: int, seed: int) -> Row:
    """A search, shorter for long rows; where nothing comes near the bound, another one until something does."""
    population, generations = (16, 2) if phasors > 192 else (64, 8)
    row = searched_worst(bound, dtype, phasors, seed, population, generations)
    if row.worst * TIGHT >= 1 or math.isnan(row.worst):
        return row
    again = searched_worst(bound, dtype, phasors, seed + 1, *AGAIN, enough=1 / TIGHT)
    return replace(
        again,
        trials=row.trials + again.trials,
        worst=again.worst if math.isnan(again.worst) else max(row.worst, again.worst),
    )
