"""veto-neutralises measured: what a growing phasor that is orthogonal to its key does to a score.

As printed, nothing. The corrected statement: score = score_0 W / (W + A), A = |q_i| the spike, W = sum_{k != i} r_k +
P eps, and score_0 the score without it; the whole score falls as 1/A.

The spike is q_i = a (-y_k, x_k) with a power of two a, so that it is orthogonal to k_i without rounding; a = 0 is the
vector without a spike, where both statements agree. The score is computed as in attention; W, A and score_0 are
evaluated in fp64. With T = sum_c |q_c k_c| / (S_q S_k) over the channels of the others, what is computed is off by at
most `numerics.attention_scores.score_error`, and score_0 W / (W + A), whose factors have N + 2 S + 3 (score_0, sums
included), and 2 P + 12 (W, A and the quotient) roundings, by gamma_n(fp64) T.

Source: MRSNorm paper, appendix B, after Eq. 15.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from numerics.attention_scores import MEAN, format_of, score, score_error
from numerics.inputs import formats
from numerics.logit_bounds import SMALL_EPS, WIDTHS, over, sampled
from numerics.measure import Measurement, Settings
from numerics.norms import magnitudes
from numerics.query_keys import SYNTHETIC, Pairs, scenario_pairs
from numerics.rounding import FP64, roundings

SLUG = "veto-neutralises"
PLACE = 1  # the index i of the spike
SPIKES = {"no spike": 0.0, "a spike of 8 |k_i|": 8.0, "a spike of 2^10 |k_i|": 2.0**10}
OTHERS = tuple(name for name in SYNTHETIC if name != "single phasor")  # something has to be left beside the spike
Formula = Callable[[Tensor, Tensor, Tensor], Tensor]  # (score_0, W, A) -> the score, all (T,)


def printed(before: Tensor, others: Tensor, spike: Tensor) -> Tensor:
    """The score, as printed: that without the spike."""
    return before


def corrected(before: Tensor, others: Tensor, spike: Tensor) -> Tensor:
    """The score: a hyperbola in the spike."""
    return before * others / (others + spike)


# the printed statement is violated as it stands; each of these makes what was consistent in it violated as well
MUTANTS: dict[str, Formula] = {
    "half of it": lambda before, others, spike: before / 2,
    "nothing is left": lambda before, others, spike: before * 0,
    "NaN": lambda before, others, spike: before * math.nan,
}
REPAIRS: dict[str, Formula] = {"the hyperbola": corrected}
CORRECTED_MUTANTS: dict[str, Formula] = {
    "twice the spike": lambda before, others, spike: before * others / (others + 2 * spike),
    "falls as the square": lambda before, others, spike: before * (others / (others + spike)).square(),
    "as in a root mean square": lambda before, others, spike: before * others / (others.square() + spike**2).sqrt(),
    "no effect": printed,
    "NaN": lambda before, others, spike: before * math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """Both statements without a spike and with two, on pairs of every scenario and relation."""
    for fmt in formats(settings):
        for statement, formula in (("as printed", printed), ("corrected", corrected)):
            for name, factor in SPIKES.items():
                for d in WIDTHS[:2]:
                    pairs = _spiked(scenario_pairs(SLUG, fmt, d // 2, settings, OTHERS), factor)
                    scope = f"{name}, d = {d}, eps = 0 and {SMALL_EPS:g}, every scenario but a single phasor"
                    ratio = partial(_ratio, formula)
                    epsilons = (0.0, SMALL_EPS)
                    yield sampled(settings, fmt, pairs, ratio, statement=statement, scope=scope, epsilons=epsilons)


def _spiked(pairs: Pairs, factor: float) -> Pairs:
    """The pairs with q_i = a (-y_k, x_k), a = `factor` or the largest power of two that the format allows."""
    pair = slice(2 * PLACE, 2 * PLACE + 2)
    for q, k in pairs:
        wide = k[:, pair].double()
        reach = format_of(q).largest / (4 * wide.abs().amax(-1, keepdim=True))
        a = torch.exp2(torch.floor(torch.log2(reach))).clamp_max(factor) if factor else torch.zeros_like(reach)
        spiked = q.clone()
        spiked[:, pair] = (a * torch.stack((-wide[:, 1], wide[:, 0]), dim=-1)).to(q.dtype)
        yield spiked, k


def _ratio(formula: Formula, q: Tensor, k: Tensor, eps: float) -> Tensor:
    phasors = q.shape[-1] // 2
    spike = magnitudes(q.double())[:, PLACE]
    rest = q.double().unflatten(-1, (-1, 2)).clone()
    rest[:, PLACE] = 0
    rest = rest.flatten(-2)
    others = magnitudes(rest).sum(-1) + phasors * eps
    scale = MEAN.scale(k.double(), eps).squeeze(-1)
    before = (rest * k.double()).sum(-1) / (others / phasors * scale)
    size = (rest * k.double()).abs().sum(-1) / ((others + spike) / phasors * scale)
    difference = score(q, k, MEAN, eps).double() - formula(before, others, spike)
    evaluation = roundings(6 * phasors + 2 * MEAN.roundings(phasors) + 16, FP64)
    return over(difference.abs(), score_error(q, k, MEAN, eps) + evaluation * size)
