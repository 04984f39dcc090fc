"""Eq. 17: the chain from a score to the product of two norms.

As printed, for any positive scales,

    |score| = |sum_i P_i| <= sum_i W_i <= sqrt(sum_i r_{q,i}^2) sqrt(sum_i r_{k,i}^2) / (S_q S_k):

the triangle inequality with |cos| <= 1, then Cauchy-Schwarz. Both are equalities when k is a positive multiple of q.
It is measured with both definitions of S, Eq. 1 and Eq. 11, as it must not depend on them.

What is measured is the largest ratio of neighbours (`numerics.logit_bounds.chain`): |score| certified as |computed| -
error (`numerics.attention_scores`), the other members in fp64 within their own rounding on either side. Counted as
`numerics.rounding` does, with r 4: sum W_i has 2 r, two products, 2 S, a quotient and P - 1 = 2 S + P + 10; a norm has
r twice, square 1, sum P - 1, half of it, root 1 = P/2 + 5, so the last member, with two products and a quotient, has
2 S + P + 13. One more pays for the ratio.

Source: MRSNorm paper, appendix B, Eq. 17.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

from torch import Tensor

from numerics.attention_scores import MEAN, ROOT_MEAN_SQUARE, Definition
from numerics.inputs import formats
from numerics.logit_bounds import SMALL_EPS, WIDTHS, certified_score, chain, largest, members, over, sampled, searched
from numerics.measure import Measurement, Settings
from numerics.query_keys import HEAD, real_pairs, scenario_pairs
from numerics.rounding import FP64, roundings

SLUG = "eq17"

Chain = tuple[Tensor, Tensor]


def printed(r_q: Tensor, r_k: Tensor, s_q: Tensor, s_k: Tensor) -> Chain:
    """The two upper members as printed, each (T,): r_q, r_k are (T, P) and the scales (T, 1)."""
    middle = (r_q * r_k / (s_q * s_k)).sum(-1)
    return middle, r_q.square().sum(-1).sqrt() * r_k.square().sum(-1).sqrt() / (s_q * s_k).squeeze(-1)


def _middle(r_q: Tensor, r_k: Tensor, s_q: Tensor, s_k: Tensor) -> Tensor:
    return (r_q * r_k / (s_q * s_k)).sum(-1)


def _norms(r_q: Tensor, r_k: Tensor) -> Tensor:
    return r_q.square().sum(-1).sqrt() * r_k.square().sum(-1).sqrt()


MUTANTS: dict[str, Callable[..., Chain]] = {
    "without the roots": lambda r_q, r_k, s_q, s_k: (
        _middle(r_q, r_k, s_q, s_k),
        r_q.square().sum(-1) * r_k.square().sum(-1) / (s_q * s_k).squeeze(-1),
    ),
    "means for sums": lambda r_q, r_k, s_q, s_k: (
        _middle(r_q, r_k, s_q, s_k),
        _norms(r_q, r_k) / (r_q.shape[-1] * s_q * s_k).squeeze(-1),
    ),
    "maximum for one norm": lambda r_q, r_k, s_q, s_k: (
        _middle(r_q, r_k, s_q, s_k),
        r_q.amax(-1) * r_k.square().sum(-1).sqrt() / (s_q * s_k).squeeze(-1),
    ),
    "scales forgotten at the end": lambda r_q, r_k, s_q, s_k: (_middle(r_q, r_k, s_q, s_k), _norms(r_q, r_k)),
    "mean in the middle": lambda r_q, r_k, s_q, s_k: (
        _middle(r_q, r_k, s_q, s_k) / r_q.shape[-1],
        _norms(r_q, r_k) / (s_q * s_k).squeeze(-1),
    ),
    "NaN": lambda r_q, r_k, s_q, s_k: (_norms(r_q, r_k) * math.nan, _norms(r_q, r_k) * math.nan),
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """The steps on sampled pairs, and the two ends at the pairs the search finds, for both definitions of S."""
    starts = ("gaussian", "outlier")  # q = k would be there already
    found = {d: largest(SLUG, _cosine, d, settings, starts=starts) for d in WIDTHS}
    for fmt in formats(settings):
        for definition in (MEAN, ROOT_MEAN_SQUARE):
            part = f"S of {definition.name}"
            steps, ends = partial(_steps, definition), partial(_ends, definition)
            for d in (2, 14, *WIDTHS):
                pairs = scenario_pairs(SLUG, fmt, d // 2, settings)
                scope = f"each step, {part}, d = {d}, eps = 0 and {SMALL_EPS:g}, every scenario"
                epsilons = (0.0, SMALL_EPS)
                yield sampled(settings, fmt, pairs, steps, statement="as printed", scope=scope, epsilons=epsilons)
            scope = f"each step, {part}, d = {HEAD}, eps = {SMALL_EPS:g}, queries and keys of MiniLM"
            pairs = real_pairs(SLUG, fmt, settings)
            yield sampled(settings, fmt, pairs, steps, statement="as printed", scope=scope, epsilons=(SMALL_EPS,))
            for pair in found.values():
                yield searched(settings, fmt, pair, ends, statement="as printed", part=f"both ends, {part}, ")


def _cosine(q: Tensor, k: Tensor) -> Tensor:
    """|score| over the last member: the scales cancel."""
    return (q * k).sum(-1).abs() / (q.square().sum(-1).sqrt() * k.square().sum(-1).sqrt())


def slack(definition: Definition, phasors: int) -> float:
    """Relative rounding error in fp64 of either member, one rounding more for the ratio."""
    return roundings(2 * definition.roundings(phasors) + phasors + 14, FP64)


def _steps(definition: Definition, q: Tensor, k: Tensor, eps: float) -> Tensor:
    links = members(printed, q, k, definition, eps)
    return chain(certified_score(q, k, definition, eps), links, slack(definition, q.shape[-1] // 2))


def _ends(definition: Definition, q: Tensor, k: Tensor, eps: float) -> Tensor:
    last = members(printed, q, k, definition, eps)[-1]
    return over(certified_score(q, k, definition, eps), last * (1 + slack(definition, q.shape[-1] // 2)))
