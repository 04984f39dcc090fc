"""Eq. 16 with S as Eq. 1 defines it: how large the share P_i of one phasor in a score can be.

As printed, |P_i| <= W_i <= d/2 for W_i = r_{q,i} r_{k,i} / (S_q S_k). The first step is |cos| <= 1 and holds for any
positive scales. The second fails for d >= 4: r_{q,i} <= (d/2) S_q, with equality at eps = 0 when phasor i holds all of
q, so the corrected chain is |P_i| <= W_i <= d^2/4.

What is measured is the certified |P_i| over the last member, |computed| - error with the error derived in
`numerics.attention_scores`; a pair that reaches it is seen at 1 minus twice gamma_2(v) + gamma_m(u) at most,
m = 2 (d/2 + 7) + 4: above 0.98 in bf16 (v = 2^-8), and above 0.99 in the others. Then the steps one by one, the largest
ratio of neighbours in the chain, with W_i in fp64 within its own rounding on either side (`numerics.logit_bounds`).

Source: MRSNorm paper, appendix B, Eqs. 15-16; S from section 3, Eq. 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from torch import Tensor

from numerics.attention_scores import MEAN, weight_error
from numerics.inputs import formats
from numerics.logit_bounds import (
    WIDTHS,
    Links,
    certified_blocks,
    chain,
    found_rows,
    hard_rows,
    largest_block_score,
    members,
    over,
    plain_rows,
    scenario_rows,
)
from numerics.measure import Measurement, Settings

SLUG = "eq16"

Chain = tuple[Tensor, float]


def printed(r_q: Tensor, r_k: Tensor, s_q: Tensor, s_k: Tensor) -> Chain:
    """The two upper members as printed: r_q, r_k are (T, P) and the scales (T, 1)."""
    return (r_q / s_q) * (r_k / s_k), 2 * r_q.shape[-1] / 2


def corrected(r_q: Tensor, r_k: Tensor, s_q: Tensor, s_k: Tensor) -> Chain:
    """The same with the sharp bound."""
    return (r_q / s_q) * (r_k / s_k), (2 * r_q.shape[-1]) ** 2 / 4


def _one_scale(r_q: Tensor, r_k: Tensor, s_q: Tensor, s_k: Tensor) -> Chain:
    return r_q * r_k / s_q, r_q.shape[-1] ** 2


def _half_weight(r_q: Tensor, r_k: Tensor, s_q: Tensor, s_k: Tensor) -> Chain:
    return r_q * r_k / (2 * s_q * s_k), r_q.shape[-1] ** 2


def _half_bound(r_q: Tensor, r_k: Tensor, s_q: Tensor, s_k: Tensor) -> Chain:
    return r_q * r_k / (s_q * s_k), r_q.shape[-1] ** 2 / 2


def _nan(r_q: Tensor, r_k: Tensor, s_q: Tensor, s_k: Tensor) -> Chain:
    return r_q * math.nan, math.nan


# the printed statement is violated as it stands; each of these makes what was consistent in it violated as well
MUTANTS: dict[str, Callable[..., Chain]] = {
    "half the weight": _half_weight,
    "without S_k": _one_scale,
    "a bound of 1": lambda r_q, r_k, s_q, s_k: (r_q * r_k / (s_q * s_k), 1.0),
    "NaN": _nan,
}
# with this in its place nothing is violated: the check does not say no to everything
REPAIRS: dict[str, Callable[..., Chain]] = {"the sharp bound": corrected}
CORRECTED_MUTANTS: dict[str, Callable[..., Chain]] = {
    "half of it": _half_bound,
    "half the weight": _half_weight,
    "without S_k": _one_scale,
    "NaN": _nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """Both bounds on sampled pairs and at the pairs the search finds, for d in `WIDTHS`, and the steps to them."""
    found = {d: largest_block_score(SLUG, MEAN, d, settings) for d in WIDTHS}
    for fmt in formats(settings):
        yield from plain_rows(settings, fmt, SLUG, _printed_bound)
        yield from scenario_rows(settings, fmt, SLUG, _printed_first_step, "as printed", "the first step")
        yield from found_rows(settings, fmt, found, _printed_bound, "as printed")
        yield from scenario_rows(settings, fmt, SLUG, _corrected_steps, "corrected", "each step")
        yield from hard_rows(settings, fmt, SLUG, found, _corrected_bound, "corrected")


def _bound(formula: Callable[..., Chain], q: Tensor, k: Tensor, eps: float) -> Tensor:
    return over(certified_blocks(q, k, MEAN, eps).amax(-1), members(formula, q, k, MEAN, eps)[-1])


def _steps(links: Links, q: Tensor, k: Tensor, eps: float) -> Tensor:
    return chain(certified_blocks(q, k, MEAN, eps), links, weight_error(MEAN, q.shape[-1] // 2)).amax(-1)


def _printed_bound(q: Tensor, k: Tensor, eps: float) -> Tensor:
    return _bound(printed, q, k, eps)


def _printed_first_step(q: Tensor, k: Tensor, eps: float) -> Tensor:
    return _steps(members(printed, q, k, MEAN, eps)[:1], q, k, eps)


def _corrected_bound(q: Tensor, k: Tensor, eps: float) -> Tensor:
    return _bound(corrected, q, k, eps)


def _corrected_steps(q: Tensor, k: Tensor, eps: float) -> Tensor:
    return _steps(members(corrected, q, k, MEAN, eps), q, k, eps)
