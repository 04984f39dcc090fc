"""power-mean-logit measured: the largest attention score for S_p = (mean r^p)^(1/p).

    sup |score| = (d/2)^(2/p) for 0 < p <= 2, d/2 for p >= 2, at eps = 0

The first is reached where one phasor holds all of q = k, the second at equal magnitudes. Random pairs stay far below
both, so the search has to find them: gradient ascent in fp64 for every p and d, rounded to each format.

What is measured is the certified |score| over the bound (`numerics.logit_bounds`): |computed| - error, with the error
of `numerics.attention_scores` and the roundings in S_p of `numerics.power_means`. That costs most where p is small,
since S_p then rests on the power 1/p of a sum.

Source: no source states it; the scores are those of the MRSNorm paper, section 5.3, Eq. 12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

from torch import Tensor

from numerics.attention_scores import Definition, score
from numerics.inputs import formats
from numerics.logit_bounds import certified_score, largest, over, sampled, searched
from numerics.measure import Measurement, Settings
from numerics.power_means import power_scale, scale_roundings
from numerics.query_keys import scenario_pairs
from numerics.search import Found

SLUG = "power-mean-logit"
EXPONENTS = (0.5, 1.0, 1.5, 2.0, 3.0)
WIDTHS = (8, 64)  # d


def printed(d: int, p: float) -> float:
    """The supremum of |score| for queries and keys of width d."""
    return (d / 2) ** (2 / p) if p <= 2 else d / 2


def definition(p: float) -> Definition:
    """S_p as a scale of queries and keys."""
    return Definition(f"S_{p:g}", lambda x, eps: power_scale(x, p, eps), lambda phasors: scale_roundings(phasors, p))


DEFINITIONS = {p: definition(p) for p in EXPONENTS}


def most(p: float, d: int, settings: Settings, slug: str = SLUG) -> Found:
    """The pair with the largest |score| that the search finds."""
    options = {} if settings.full else {"restarts": 2, "steps": 60}
    return largest(f"{slug} {p:g}", lambda q, k: score(q, k, DEFINITIONS[p], 0.0).abs(), d, settings, **options)


def measure(settings: Settings) -> Iterator[Measurement]:
    """The bound for every p on sampled pairs, and at the pairs the search finds."""
    found = {(p, d): most(p, d, settings) for p in EXPONENTS for d in WIDTHS}
    for fmt in formats(settings):
        for d in WIDTHS:
            pairs = list(scenario_pairs(SLUG, fmt, d // 2, settings))
            for p in EXPONENTS:
                scope = f"p = {p:g}, d = {d}, eps = 0, every scenario"
                ratio = partial(_ratio, p=p)
                yield sampled(settings, fmt, iter(pairs), ratio, statement="as printed", scope=scope)
                yield searched(settings, fmt, found[p, d], ratio, statement="as printed", part=f"p = {p:g}, ")


def _ratio(q: Tensor, k: Tensor, eps: float, p: float) -> Tensor:
    return over(certified_score(q, k, DEFINITIONS[p], eps), printed(q.shape[-1], p))


MUTANTS: dict[str, Callable[[int, float], float]] = {
    "d/2 for every p": lambda d, p: d / 2,
    "the power 1/p": lambda d, p: (d / 2) ** (1 / p) if p <= 2 else d / 2,
    "the power p": lambda d, p: (d / 2) ** p if p <= 2 else d / 2,
    "the first for every p": lambda d, p: (d / 2) ** (2 / p),
    "two hundredths less": lambda d, p: 0.98 * _bound(d, p),
    "NaN": lambda d, p: math.nan,
}
_bound = printed  # the mutants keep to it when `printed` is replaced
