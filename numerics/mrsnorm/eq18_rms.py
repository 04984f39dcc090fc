"""Eq. 18 with S as Eq. 11 defines it: how large an attention score can be.

As printed, |score| <= d/2 for every query and key of width d. With the root mean square of the magnitudes it follows
from Cauchy-Schwarz (Eq. 17), as sum r^2 <= (d/2) S^2, and is reached at eps = 0 exactly when k is a multiple of q.

What is measured is the certified |score| over the bound (`numerics.logit_bounds`): |computed| - error, with the error
derived in `numerics.attention_scores`. A pair that reaches the bound is seen at 1 minus twice gamma_2(v) + gamma_m(u)
at most, m = 2 (d/2 + 5) + 2 + d: that is above 0.98 in bf16 (v = 2^-8), and above 0.99 in the others.

Source: MRSNorm paper, appendix B, Eq. 18; S from appendix A.2, Eq. 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from torch import Tensor

from numerics.attention_scores import ROOT_MEAN_SQUARE
from numerics.inputs import formats
from numerics.logit_bounds import WIDTHS, certified_score, hard_rows, largest_score, over, plain_rows
from numerics.measure import Measurement, Settings

SLUG = "eq18-rms"


def printed(d: int) -> float:
    """The bound as printed, for queries and keys of width d."""
    return d / 2


MUTANTS: dict[str, Callable[[int], float]] = {
    "half of it": lambda d: d / 4,
    "two hundredths less": lambda d: 0.98 * d / 2,
    "the root of d": math.sqrt,
    "NaN": lambda d: math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """The bound on sampled pairs and at the pairs the search finds, for d in `WIDTHS`."""
    found = {d: largest_score(SLUG, ROOT_MEAN_SQUARE, d, settings) for d in WIDTHS}
    for fmt in formats(settings):
        yield from plain_rows(settings, fmt, SLUG, _printed)
        yield from hard_rows(settings, fmt, SLUG, found, _printed, "as printed")


def _printed(q: Tensor, k: Tensor, eps: float) -> Tensor:
    return over(certified_score(q, k, ROOT_MEAN_SQUARE, eps), printed(q.shape[-1]))
