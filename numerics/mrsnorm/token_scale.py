"""token-scale measured: what becomes of a score when the whole query grows.

As printed, score(c q, k) = score(q, k), true at eps = 0, for Eq. 1's scale and for RMSNorm's. With eps the factor is
c S / (c (S - eps) + eps), S the scale of q.

The scaled query is stored, q' = c q + e with |e_c| known exactly. Beside the rounding errors of both scores
(`numerics.attention_scores.score_error`) the storing moves the score: with A = sum_c |q'_c k_c| / (S' S_k),

    |score(q') - score(c q)| <= sum_c |e_c k_c| / (S' S_k) + (A + sum_c |e_c k_c| / (S' S_k)) delta / S_cq,
    |S' - S_cq| <= delta = sqrt(sum_c e_c^2 / P),

since a mean and a root mean square of magnitudes both move by at most the root mean square of the changes. What is
evaluated in fp64 has at most N + 2 S + 16 roundings, relative to A; the factor passes on those of S, times 1 - factor.

Source: MRSNorm paper, section 5.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from numerics.attention_scores import MEAN, SCALAR_RMS, Definition, format_of, score, score_error
from numerics.inputs import formats
from numerics.logit_bounds import SMALL_EPS, over, sampled
from numerics.measure import Measurement, Settings
from numerics.query_keys import scenario_pairs
from numerics.rounding import FP64, roundings

SLUG = "token-scale"
WIDTHS = (2, 64)  # d
FACTORS = (0.3, 64.0)  # c


def printed(c: Tensor) -> Tensor:
    """The factor by which the score changes: 1 for every c."""
    return torch.ones_like(c)


def with_eps(c: Tensor, scale: Tensor, eps: float) -> Tensor:
    """The factor where eps > 0: c, S -> c S / (c (S - eps) + eps)."""
    return c * scale / (c * (scale - eps) + eps)


MUTANTS: dict[str, Callable[[Tensor], Tensor]] = {
    "grows with c": lambda c: c,
    "shrinks with c": lambda c: 1 / c,
    "grows with the root of c": lambda c: c.sqrt(),
    "NaN": lambda c: c * math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """Both norms at eps = 0, and Eq. 1 with eps, on pairs of every scenario and relation."""
    cases = (
        ("as printed", (0.0,), "Eq. 1, eps = 0", MEAN),
        ("RMSNorm", (0.0,), "QK-RMSNorm, eps = 0", SCALAR_RMS),
        ("with eps", (SMALL_EPS, 0.125), f"Eq. 1, eps = {SMALL_EPS:g} and 1/8", MEAN),
    )
    for fmt in formats(settings):
        for statement, epsilons, part, definition in cases:
            for d in WIDTHS:
                pairs = scenario_pairs(SLUG, fmt, d // 2, settings)
                ratio = partial(_ratio, definition, statement == "with eps")
                scope = f"{part}, d = {d}, c in {FACTORS}, every scenario"
                yield sampled(settings, fmt, pairs, ratio, statement=statement, scope=scope, epsilons=epsilons)


def _ratio(definition: Definition, offset: bool, q: Tensor, k: Tensor, eps: float) -> Tensor:
    """The worst over `FACTORS`, each reduced where c q would leave the range of the format."""
    wide = q.double()
    reach = format_of(q).largest / (2 * wide.abs().amax(-1))
    return torch.stack([_one(definition, offset, q, k, eps, reach.clamp_max(c)) for c in FACTORS]).amax(0)


def _one(definition: Definition, offset: bool, q: Tensor, k: Tensor, eps: float, c: Tensor) -> Tensor:
    exact = c[:, None] * q.double()
    larger = exact.to(q.dtype)
    factor = with_eps(c, definition.scale(q.double(), eps).squeeze(-1), eps) if offset else printed(c)
    found = score(larger, k, definition, eps).double()
    expected = factor * score(q, k, definition, eps).double()
    bound = score_error(larger, k, definition, eps) + factor.abs() * score_error(q, k, definition, eps)
    return over((found - expected).abs(), bound + _stored(definition, exact, larger, k, eps, factor))


def _stored(definition: Definition, exact: Tensor, stored: Tensor, k: Tensor, eps: float, factor: Tensor) -> Tensor:
    """How far storing c q moves the score, and the evaluation in fp64: (T, d) -> (T,)."""
    stored, k, phasors = stored.double(), k.double(), k.shape[-1] // 2
    scales = definition.scale(stored, eps) * definition.scale(k, eps)
    error = stored - exact
    moved = ((error * k).abs() / scales).sum(-1)
    size = ((stored * k).abs() / scales).sum(-1)
    shift = (error.square().sum(-1) / phasors).sqrt() / definition.scale(exact, eps).squeeze(-1)
    evaluation = roundings(2 * phasors + 2 * definition.roundings(phasors) + 16, FP64)
    return moved + (size + moved) * shift + evaluation * size * (2 + factor)
