"""Eq. 18 with S as Eq. 1 defines it: how large an attention score can be.

As printed, |score| <= d/2 for every query and key of width d. Independent Gaussian pairs stay far below it from d = 64
on, and at d = 8 about one pair in a hundred lies above, so the statement looks true when it is only sampled. The
corrected statement is |score| <= d^2/4, reached at eps = 0 when one phasor holds all of q and of k:

    |score| <= sum_i r_{q,i} r_{k,i} / (S_q S_k) <= (sum_i r_{q,i}) (sum_i r_{k,i}) / (S_q S_k) <= (d/2)^2.

What is measured is the certified |score| over the bound (`numerics.logit_bounds`): |computed| - error, with the error
derived in `numerics.attention_scores`. A pair that reaches the sharp bound is seen at 1 minus twice gamma_2(v) +
gamma_m(u) at most, m = 2 (d/2 + 7) + 2 + d: that is above 0.98 in bf16 (v = 2^-8), and above 0.99 in the others.

Source: MRSNorm paper, appendix B, Eq. 18; S from section 3, Eq. 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from torch import Tensor

from numerics.attention_scores import MEAN
from numerics.inputs import formats
from numerics.logit_bounds import WIDTHS, certified_score, found_rows, hard_rows, largest_score, over, plain_rows
from numerics.measure import Measurement, Settings

SLUG = "eq18"


def printed(d: int) -> float:
    """The bound as printed, for queries and keys of width d."""
    return d / 2


def corrected(d: int) -> float:
    """The sharp bound."""
    return d**2 / 4


# the printed statement is violated as it stands; with each of these the Gaussian pairs violate it as well
MUTANTS: dict[str, Callable[[int], float]] = {
    "an eighth of d": lambda d: d / 8,
    "half the logarithm": lambda d: math.log(d) / 2,
    "NaN": lambda d: math.nan,
}
# with this in its place nothing is violated: the check does not say no to everything
REPAIRS: dict[str, Callable[[int], float]] = {"the sharp bound": lambda d: d**2 / 4}
CORRECTED_MUTANTS: dict[str, Callable[[int], float]] = {
    "half of it": lambda d: d**2 / 8,
    "two hundredths less": lambda d: 0.98 * d**2 / 4,
    "linear in d": lambda d: d / 2,
    "NaN": lambda d: math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """Both bounds on sampled pairs and at the pairs the search finds, for d in `WIDTHS`."""
    found = {d: largest_score(SLUG, MEAN, d, settings) for d in WIDTHS}
    for fmt in formats(settings):
        yield from plain_rows(settings, fmt, SLUG, _printed)
        yield from found_rows(settings, fmt, found, _printed, "as printed")
        yield from hard_rows(settings, fmt, SLUG, found, _corrected, "corrected")


def _printed(q: Tensor, k: Tensor, eps: float) -> Tensor:
    return over(certified_score(q, k, MEAN, eps), printed(q.shape[-1]))


def _corrected(q: Tensor, k: Tensor, eps: float) -> Tensor:
    return over(certified_score(q, k, MEAN, eps), corrected(q.shape[-1]))
