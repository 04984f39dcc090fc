"""The score of a vector with itself, with S as Eq. 1 defines it: what was printed as an upper bound is a lower one.

For every q != 0 of width d = 2P, at eps = 0, score(q, q) >= d/2, an equality only where no two magnitudes differ; and
for every eps >= 0

    score(q, q) - d/2 = P (mean r^2 - S^2) / S^2,

which at eps = 0 is P times the variance of r over its squared mean.

Bounds. The inequality: d/2 over the computed score plus its error (`numerics.attention_scores`). The identity: that
error and, for the right side in fp64, gamma_n P (mean r^2 + S^2) / S^2 with n = 2 S + P + 15, which counts r^2 9, its
mean P + 1, two more S, and 4 operations. Equality: magnitudes drawn equal and rounded to a format differ by a relative
delta <= v + 4 u(fp64), which adds at most P delta^2 / (1 - delta)^2.

Source: no source states it; S from the MRSNorm paper, section 3, Eq. 1, the score from its Eq. 12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from torch import Tensor

from numerics.attention_scores import MEAN, format_of, score, score_error
from numerics.inputs import formats
from numerics.logit_bounds import SMALL_EPS, WIDTHS, largest, over, sampled, searched
from numerics.measure import Measurement, Settings
from numerics.norms import magnitudes
from numerics.query_keys import HEAD, real_pairs, scenario_pairs
from numerics.rounding import FP64, roundings

SLUG = "self-score"
EPSILONS = (0.0, SMALL_EPS, 0.125)


def printed(d: int) -> float:
    """The least score(q, q) over all q != 0 of width d."""
    return d / 2


def excess(r: Tensor, s: Tensor) -> Tensor:
    """score(q, q) - d/2 from magnitudes (T, P) and a scale (T, 1): (T,)."""
    return r.shape[-1] * (r.square().mean(-1) / s.squeeze(-1).square() - 1)


MUTANTS: dict[str, Callable[[int], float]] = {
    "d": lambda d: d,
    "two hundredths more": lambda d: 1.02 * d / 2,
    "two hundredths less": lambda d: 0.98 * d / 2,
    "the largest score": lambda d: d**2 / 4,
    "the root of d": math.sqrt,
    "NaN": lambda d: math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """The lower bound on sampled and real vectors and at the ones the search finds, when it is met, and the excess."""
    found = {d: largest(SLUG, lambda q, k: 1 / score(q, q, MEAN, 0.0), d, settings, vectors=1) for d in WIDTHS}
    for fmt in formats(settings):
        for d in WIDTHS:
            pairs = scenario_pairs(SLUG, fmt, d // 2, settings)
            scope = f"d/2 over the score, d = {d}, eps = 0, every scenario"
            yield sampled(settings, fmt, pairs, _least, statement="as printed", scope=scope)
        scope = f"d/2 over the score, d = {HEAD}, eps = 0, queries of MiniLM"
        yield sampled(settings, fmt, real_pairs(SLUG, fmt, settings), _least, statement="as printed", scope=scope)
        for pair in found.values():
            yield searched(settings, fmt, pair, _least, statement="as printed", part="d/2 over the score, ")
        for d in WIDTHS:
            pairs = scenario_pairs(SLUG, fmt, d // 2, settings, ("equal magnitudes",))
            scope = f"distance from d/2 over its bound, d = {d}, eps = 0, equal magnitudes"
            yield sampled(settings, fmt, pairs, _met, statement="as printed", scope=scope)
        for d in (2, *WIDTHS):
            pairs = scenario_pairs(SLUG, fmt, d // 2, settings)
            scope = f"d = {d}, eps = 0, {SMALL_EPS:g} and 1/8, every scenario"
            yield sampled(settings, fmt, pairs, _identity, statement="with eps", scope=scope, epsilons=EPSILONS)


def _least(q: Tensor, k: Tensor, eps: float) -> Tensor:
    at_most = score(q, q, MEAN, eps).double() + score_error(q, q, MEAN, eps)
    return over(at_most.new_full(at_most.shape, printed(q.shape[-1])), at_most)


def _met(q: Tensor, k: Tensor, eps: float) -> Tensor:
    fmt = format_of(q)
    delta = fmt.unit_roundoff + 4 * FP64.unit_roundoff
    spread = q.shape[-1] / 2 * (delta / (1 - delta)) ** 2
    return over((score(q, q, MEAN, eps).double() - printed(q.shape[-1])).abs(), score_error(q, q, MEAN, eps) + spread)


def _identity(q: Tensor, k: Tensor, eps: float) -> Tensor:
    phasors = q.shape[-1] // 2
    r, s = magnitudes(q.double()), MEAN.scale(q.double(), eps)
    size = phasors * (r.square().mean(-1) / s.squeeze(-1).square() + 1)
    right = roundings(2 * MEAN.roundings(phasors) + phasors + 15, FP64) * size
    return over((score(q, q, MEAN, eps).double() - phasors - excess(r, s)).abs(), score_error(q, q, MEAN, eps) + right)
