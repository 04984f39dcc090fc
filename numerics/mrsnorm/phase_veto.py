"""phase-veto measured: what the two channels of a pair add to a score, under MRSNorm and under RMSNorm.

As printed, under MRSNorm P_i = W_i cos(Delta_i), which vanishes for orthogonal phases however large the magnitudes are,
while under RMSNorm only magnitudes count: the pair adds W_i, with RMSNorm's scales in W_i. The corrected statement is
that it adds W_i cos(Delta_i) under RMSNorm, too.

P_i is computed as in attention, in the format under test, and compared with the formula in fp64, evaluated through
angles. The bounds are those of `eq09`, for one phasor: the error of P_i, `attention_scores.block_score_error`, and
gamma_m W_i with m = 2 r + 2 S + 3 + 1 + 67 in fp64, where the last 67 u are absolute and belong to cos(Delta_i).

Where k = q the two statements agree, and where k is q turned by a right angle they are as far apart as they can be.

Source: MRSNorm paper, appendix B, Eq. 15 and the text around it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from numerics.attention_scores import (
    MEAN,
    SCALAR_RMS,
    Definition,
    block_score_error,
    block_scores,
    polar,
    weights,
)
from numerics.inputs import formats
from numerics.logit_bounds import SMALL_EPS, WIDTHS, over, sampled
from numerics.measure import Measurement, Settings
from numerics.query_keys import scenario_pairs
from numerics.rounding import FP64, MAGNITUDE, roundings

SLUG = "phase-veto"
Formula = Callable[[Tensor, Tensor], Tensor]  # (W_i, Delta_i) -> what the pair adds, all (T, P)


def printed(weight: Tensor, delta: Tensor) -> Tensor:
    """What a pair adds under RMSNorm as printed: its magnitudes, whatever the phases are."""
    return weight


def corrected(weight: Tensor, delta: Tensor) -> Tensor:
    """The same with the phases."""
    return weight * torch.cos(delta)


def gated(weight: Tensor, delta: Tensor) -> Tensor:
    """What a pair adds under MRSNorm, as printed (Eq. 15)."""
    return weight * torch.cos(delta)


# the printed statement is violated as it stands; each of these makes what was consistent in it violated as well
MUTANTS: dict[str, Formula] = {
    "half of it": lambda weight, delta: weight / 2,
    "nothing": lambda weight, delta: weight * 0,
    "NaN": lambda weight, delta: weight * math.nan,
}
REPAIRS: dict[str, Formula] = {"with the phases": corrected}
CORRECTED_MUTANTS: dict[str, Formula] = {
    "sine for cosine": lambda weight, delta: weight * torch.sin(delta),
    "absolute cosine": lambda weight, delta: weight * torch.cos(delta).abs(),
    "the cosine squared": lambda weight, delta: weight * torch.cos(delta).square(),
    "without the phases": printed,
    "NaN": lambda weight, delta: weight * math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """Aligned, orthogonal and other pairs of every scenario."""
    rows = (
        ("as printed", "MRSNorm", MEAN, lambda: gated, ("independent", "k = q turned by 90")),
        ("as printed", "QK-RMSNorm", SCALAR_RMS, lambda: printed, ("k = q",)),
        ("as printed", "QK-RMSNorm", SCALAR_RMS, lambda: printed, ("k = q turned by 90",)),
        ("corrected", "QK-RMSNorm", SCALAR_RMS, lambda: corrected, ("independent", "k = -q", "k = q turned by 90")),
    )
    for fmt in formats(settings):
        for statement, part, definition, formula, relations in rows:
            for d in WIDTHS[:2]:
                pairs = scenario_pairs(SLUG, fmt, d // 2, settings, relations=relations)
                ratio = partial(_ratio, definition, formula())
                scope = f"{part}, d = {d}, {' or '.join(relations)}, every scenario"
                yield sampled(settings, fmt, pairs, ratio, statement=statement, scope=scope, epsilons=(0.0, SMALL_EPS))


def _ratio(definition: Definition, formula: Formula, q: Tensor, k: Tensor, eps: float) -> Tensor:
    (_, theta_q), (_, theta_k) = polar(q), polar(k)
    weight = weights(q, k, definition, eps)
    difference = block_scores(q, k, definition, eps).double() - formula(weight, theta_q - theta_k)
    count = 2 * MAGNITUDE + 2 * definition.roundings(q.shape[-1] // 2) + 72
    return over(difference.abs(), block_score_error(q, k, definition, eps) + roundings(count, FP64) * weight).amax(-1)
