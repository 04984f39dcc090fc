"""Eq. 9: a score is a sum of cosines, weighted by the magnitudes.

As printed, for phasors q_i, k_i with magnitudes r and angles theta, and any positive scales,

    score = sum_i (r_{q,i} r_{k,i} / (S_q S_k)) cos(theta_{q,i} - theta_{k,i}) = sum_i W_i cos(Delta_i).

The left side is what a layer and a dot product compute in the format under test; the right side is evaluated in fp64,
through angles, from the same stored numbers. What is measured is their difference over the sum of two bounds: that of
`numerics.attention_scores` on the left side, and on the right

    gamma_m |W_i| summed over i,   m = 2 r + 2 S + 3 [W_i] + 1 [times cos] + P - 1 + 67 [cos Delta_i],

where r is 4, u is that of fp64, and the last count is absolute: atan2 and cos are taken to be within 4 units in the
last place, which is a relative 8 u. That puts each angle off by 8 u pi, the difference by 2 u pi more, the cosine, with
slope at most 1, by 18 u pi + 8 u < 65 u, and two are spare. Both definitions of S are tried, and eps up to 1/8.

Source: MRSNorm paper, section 5.3, Eq. 9, derived in appendix A, Eqs. 10-14.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from numerics.attention_scores import MEAN, ROOT_MEAN_SQUARE, Definition, polar, score, score_error, weights
from numerics.inputs import formats
from numerics.logit_bounds import SMALL_EPS, WIDTHS, over, sampled
from numerics.measure import Measurement, Settings
from numerics.query_keys import HEAD, real_pairs, scenario_pairs
from numerics.rounding import FP64, MAGNITUDE, roundings

SLUG = "eq09"
EPSILONS = (0.0, SMALL_EPS, 0.125)


def printed(r_q: Tensor, theta_q: Tensor, r_k: Tensor, theta_k: Tensor, s_q: Tensor, s_k: Tensor) -> Tensor:
    """The right side, term by term: magnitudes and angles are (T, P), scales (T, 1); result (T,)."""
    return ((r_q * r_k) / (s_q * s_k) * torch.cos(theta_q - theta_k)).sum(-1)


MUTANTS: dict[str, Callable[..., Tensor]] = {
    "sine for cosine": lambda r_q, a_q, r_k, a_k, s_q, s_k: (r_q * r_k / (s_q * s_k) * torch.sin(a_q - a_k)).sum(-1),
    "sum of the angles": lambda r_q, a_q, r_k, a_k, s_q, s_k: (r_q * r_k / (s_q * s_k) * torch.cos(a_q + a_k)).sum(-1),
    "without the weights": lambda r_q, a_q, r_k, a_k, s_q, s_k: torch.cos(a_q - a_k).sum(-1),
    "without S_k": lambda r_q, a_q, r_k, a_k, s_q, s_k: (r_q * r_k / s_q * torch.cos(a_q - a_k)).sum(-1),
    "S_q twice": lambda r_q, a_q, r_k, a_k, s_q, s_k: (r_q * r_k / s_q.square() * torch.cos(a_q - a_k)).sum(-1),
    "mean for sum": lambda r_q, a_q, r_k, a_k, s_q, s_k: (r_q * r_k / (s_q * s_k) * torch.cos(a_q - a_k)).mean(-1),
    "absolute cosines": lambda r_q, a_q, r_k, a_k, s_q, s_k: (r_q * r_k / (s_q * s_k) * (a_q - a_k).cos().abs()).sum(
        -1
    ),
    "NaN": lambda r_q, a_q, r_k, a_k, s_q, s_k: (r_q * math.nan).sum(-1),
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """Both definitions of S, on pairs of every scenario and relation, and on the real ones."""
    for fmt in formats(settings):
        for definition in (MEAN, ROOT_MEAN_SQUARE):
            ratio = partial(_ratio, definition)
            part = f"S of {definition.name}"
            for d in (2, 14, *WIDTHS):
                pairs = scenario_pairs(SLUG, fmt, d // 2, settings)
                scope = f"{part}, d = {d}, eps = 0, {SMALL_EPS:g} and 1/8, every scenario"
                yield sampled(settings, fmt, pairs, ratio, statement="as printed", scope=scope, epsilons=EPSILONS)
            scope = f"{part}, d = {HEAD}, eps = {SMALL_EPS:g}, queries and keys of MiniLM"
            pairs = real_pairs(SLUG, fmt, settings)
            yield sampled(settings, fmt, pairs, ratio, statement="as printed", scope=scope, epsilons=(SMALL_EPS,))


def _ratio(definition: Definition, q: Tensor, k: Tensor, eps: float) -> Tensor:
    (r_q, theta_q), (r_k, theta_k) = polar(q), polar(k)
    s_q, s_k = (definition.scale(x.double(), eps) for x in (q, k))
    difference = score(q, k, definition, eps).double() - printed(r_q, theta_q, r_k, theta_k, s_q, s_k)
    phasors = r_q.shape[-1]
    count = 2 * MAGNITUDE + 2 * definition.roundings(phasors) + phasors + 70
    right = roundings(count, FP64) * weights(q, k, definition, eps).sum(-1)
    return over(difference.abs(), score_error(q, k, definition, eps) + right)
