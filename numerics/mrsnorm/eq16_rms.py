"""Eq. 16 with S as Eq. 11 defines it: how large the share P_i of one phasor in a score can be.

As printed, |P_i| <= W_i <= d/2 for W_i = r_{q,i} r_{k,i} / (S_q S_k). With the root mean square of the magnitudes both
steps hold: r_{q,i}^2 <= (d/2) S_q^2, with equality at eps = 0 when phasor i holds all of q.

What is measured is the certified |P_i| over the last member, |computed| - error with the error derived in
`numerics.attention_scores`; a pair that reaches it is seen at 1 minus twice gamma_2(v) + gamma_m(u) at most,
m = 2 (d/2 + 5) + 4: above 0.98 in bf16 (v = 2^-8), and above 0.99 in the others. Then the steps one by one, the largest
ratio of neighbours in the chain, with W_i in fp64 within its own rounding on either side (`numerics.logit_bounds`).

Source: MRSNorm paper, appendix B, Eqs. 15-16; S from appendix A.2, Eq. 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from torch import Tensor

from numerics.attention_scores import ROOT_MEAN_SQUARE, weight_error
from numerics.inputs import formats
from numerics.logit_bounds import (
    WIDTHS,
    certified_blocks,
    chain,
    hard_rows,
    largest_block_score,
    members,
    over,
    plain_rows,
    scenario_rows,
)
from numerics.measure import Measurement, Settings

SLUG = "eq16-rms"

Chain = tuple[Tensor, float]


def printed(r_q: Tensor, r_k: Tensor, s_q: Tensor, s_k: Tensor) -> Chain:
    """The two upper members as printed: r_q, r_k are (T, P) and the scales (T, 1)."""
    return (r_q / s_q) * (r_k / s_k), 2 * r_q.shape[-1] / 2


MUTANTS: dict[str, Callable[..., Chain]] = {
    "half the bound": lambda r_q, r_k, s_q, s_k: (r_q * r_k / (s_q * s_k), r_q.shape[-1] / 2),
    "two hundredths less": lambda r_q, r_k, s_q, s_k: (r_q * r_k / (s_q * s_k), 0.98 * r_q.shape[-1]),
    "half the weight": lambda r_q, r_k, s_q, s_k: (r_q * r_k / (2 * s_q * s_k), r_q.shape[-1]),
    "without S_k": lambda r_q, r_k, s_q, s_k: (r_q * r_k / s_q, r_q.shape[-1]),
    "NaN": lambda r_q, r_k, s_q, s_k: (r_q * math.nan, math.nan),
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """The bound on sampled pairs and at the pairs the search finds, for d in `WIDTHS`, and the steps to it."""
    found = {d: largest_block_score(SLUG, ROOT_MEAN_SQUARE, d, settings) for d in WIDTHS}
    for fmt in formats(settings):
        yield from plain_rows(settings, fmt, SLUG, _bound)
        yield from scenario_rows(settings, fmt, SLUG, _steps, "as printed", "each step")
        yield from hard_rows(settings, fmt, SLUG, found, _bound, "as printed")


def _bound(q: Tensor, k: Tensor, eps: float) -> Tensor:
    last = members(printed, q, k, ROOT_MEAN_SQUARE, eps)[-1]
    return over(certified_blocks(q, k, ROOT_MEAN_SQUARE, eps).amax(-1), last)


def _steps(q: Tensor, k: Tensor, eps: float) -> Tensor:
    links = members(printed, q, k, ROOT_MEAN_SQUARE, eps)
    slack = weight_error(ROOT_MEAN_SQUARE, q.shape[-1] // 2)
    return chain(certified_blocks(q, k, ROOT_MEAN_SQUARE, eps), links, slack).amax(-1)
