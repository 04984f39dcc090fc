"""significance measured: the exact permutation test on runs of three seeds against three.

As printed, three seeds can be significant at 5 %: the clearest runs have a two-sided p-value of at most 1/20. The
corrected statement is p >= 1/10 for all runs, reached by completely separated ones.

Every p-value is a count of splits over their number, with all splits tried. Runs are fp64 numbers, and a difference of
sums is computed by signs, so that a split and its mirror image give the same size exactly. The only rounding that could
matter would break a tie between two other splits, which raises or lowers a count above 2 and never one of the two that
the statement is about. Nothing is rounded to another format, so that every statement is measured once.

Source: MRSNorm paper, section 4, experimental setup.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

import torch
from torch import Tensor

from numerics.measure import Measurement, Settings
from numerics.scenarios import generator, integers, normal, uniform

SLUG = "significance"
SEEDS = 3


def printed() -> float:
    """The level that the clearest runs are to reach."""
    return 1 / 20


def corrected() -> float:
    """The smallest p-value of three seeds against three."""
    return 1 / 10


# the printed statement is violated as it stands; each of these makes what was consistent in it violated as well
MUTANTS: dict[str, Callable[[], float]] = {"one in a hundred": lambda: 1 / 100, "NaN": lambda: math.nan}
REPAIRS: dict[str, Callable[[], float]] = {"one in ten": lambda: 1 / 10}
CORRECTED_MUTANTS: dict[str, Callable[[], float]] = {
    "one-sided": lambda: 1 / 20,
    "one in five": lambda: 1 / 5,
    "a little more": lambda: 3 / 20,
    "NaN": lambda: math.nan,
}


def signs(seeds: int) -> Tensor:
    """Every way to call `seeds` of 2 `seeds` runs the first group, the given one first: (C, 2 seeds), +1 and -1."""
    rows = []
    for group in combinations(range(2 * seeds), seeds):
        rows.append([1.0 if n in group else -1.0 for n in range(2 * seeds)])
    return torch.tensor(rows, dtype=torch.float64)


def p_values(runs: Tensor) -> Tensor:
    """The exact two-sided p-values of the first half of each row against the second: (T, 2 seeds) -> (T,)."""
    table = signs(runs.shape[-1] // 2).to(runs.device)
    sizes = (table * runs[:, None].double()).sum(-1).abs()  # (T, C)
    return (sizes >= sizes[:, :1]).double().mean(-1)


def separated(rng: torch.Generator, trials: int, seeds: int) -> Tensor:
    """Runs of two groups with a gap between them."""
    low, high = uniform(rng, trials, seeds), uniform(rng, trials, seeds)
    return torch.cat((0.25 * low, 0.5 + 0.25 * high), dim=-1)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Separated runs of three and of four seeds against the level, and all kinds of runs against the bound."""
    rng, trials = generator(settings.seed, SLUG), settings.trials
    clear = separated(rng, trials, SEEDS)
    tied = integers(rng, 4, trials, 2 * SEEDS) / 4
    others = torch.cat((normal(rng, trials, 2 * SEEDS), tied, uniform(rng, trials, 2 * SEEDS)))
    four = separated(rng, trials, 4)
    p, p_others, p_four = (p_values(runs.to(settings.device)) for runs in (clear, others, four))
    yield _row(settings, "as printed", "separated runs, 3 against 3", p / printed())
    yield _row(settings, "four seeds", "separated runs, 4 against 4", p_four / printed())
    yield _row(settings, "corrected", "normal, tied and uniform runs, 3 against 3", corrected() / p_others)
    yield _row(settings, "corrected", "reached by separated runs, 3 against 3", p / corrected())


def _row(settings: Settings, statement: str, scope: str, ratios: Tensor) -> Measurement:
    return Measurement(
        kind="random",
        statement=statement,
        scope=f"{scope}, every split",
        worst=float(ratios.amax()) if len(ratios) else 0.0,
        trials=len(ratios),
        dtype="fp64",
        device=settings.device,
        seed=settings.seed,
    )
