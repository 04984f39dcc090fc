"""Eq. 11: is S the root mean square of the magnitudes?

As printed, the scale of section 3 (Eq. 1, the mean of the magnitudes) is sqrt(mean r^2 + eps). They are different
numbers unless all magnitudes are equal and eps = 0, or there is one phasor and eps = 0; the mean is never the larger.

What Eq. 11 defines is RMSNorm's scale times sqrt 2. With m the mean square of the 2P channels, mean r^2 = 2 m, so

    S_11 = sqrt(2 m + eps) = sqrt(2) sqrt(m + eps/2) = sqrt(2) S_RMS(eps/2),

and the score under Eq. 11 with eps is half of QK-RMSNorm's with eps/2 (the corrected statement). With the same eps in
both roots each vector contributes a factor S_RMS / S_11, whose square (m + eps) / (2 m + eps) lies between 1/2 and 1.

Bounds. S in the format, against Eq. 11 in fp64: `roundings` of either scale times S. Scores: the sum of the two bounds
of `numerics.attention_scores`. The squared factor: twice the roundings of both scales and 3 more, in the accumulation
format; its formula, N squares, their sum and 6 operations, in fp64. Halving is exact.

Source: MRSNorm paper, appendix A.2, Eq. 11, against section 3, Eq. 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from numerics.attention_scores import MEAN, ROOT_MEAN_SQUARE, SCALAR_RMS, format_of, score, score_error
from numerics.inputs import formats
from numerics.logit_bounds import SMALL_EPS, WIDTHS, largest, over, sampled, searched
from numerics.measure import Measurement, Settings
from numerics.norms import magnitudes
from numerics.query_keys import HEAD, real_pairs, scenario_pairs
from numerics.rounding import FP64, roundings

SLUG = "eq11"
EPSILONS = (0.0, SMALL_EPS, 0.125)


def printed(r: Tensor, eps: float) -> Tensor:
    """S as printed, from magnitudes: (T, P) -> (T, 1)."""
    return (r.square().mean(-1, keepdim=True) + eps).sqrt()


def corrected(q: Tensor, k: Tensor, eps: float) -> Tensor:
    """The score under Eq. 11 by way of QK-RMSNorm: (T, d) -> (T,)."""
    return score(q, k, SCALAR_RMS, eps / 2).double() / 2


# the printed statement is violated as it stands; with each of these Eq. 1 also comes out as the larger, or as NaN
MUTANTS: dict[str, Callable[[Tensor, float], Tensor]] = {
    "half of the mean": lambda r, eps: r.mean(-1, keepdim=True) / 2 + eps,
    "RMSNorm's scale": lambda r, eps: (r.square().mean(-1, keepdim=True) / 2 + eps).sqrt(),
    "without the root": lambda r, eps: r.square().mean(-1, keepdim=True) + eps,
    "NaN": lambda r, eps: r[..., :1] * math.nan,
}
# with this in its place nothing is violated: the check does not say no to everything
REPAIRS: dict[str, Callable[[Tensor, float], Tensor]] = {"Eq. 1": lambda r, eps: r.mean(-1, keepdim=True) + eps}
CORRECTED_MUTANTS: dict[str, Callable[[Tensor, Tensor, float], Tensor]] = {
    "the same eps": lambda q, k, eps: score(q, k, SCALAR_RMS, eps).double() / 2,
    "twice the eps": lambda q, k, eps: score(q, k, SCALAR_RMS, 2 * eps).double() / 2,
    "not halved": lambda q, k, eps: score(q, k, SCALAR_RMS, eps / 2).double(),
    "divided by sqrt 2": lambda q, k, eps: score(q, k, SCALAR_RMS, eps / 2).double() / math.sqrt(2),
    "Eq. 1's score": lambda q, k, eps: score(q, k, MEAN, eps).double(),
    "NaN": lambda q, k, eps: score(q, k, SCALAR_RMS, eps / 2).double() * math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """Both scales on sampled vectors and where the search drives them apart, then the scores they give."""
    found = largest(SLUG, _apart, 8, settings, vectors=1)
    for fmt in formats(settings):
        for statement, ratio, epsilons in (
            ("as printed", _printed, EPSILONS),
            ("Eq. 1 is never larger", _order, (0.0,)),
            ("corrected", _corrected, EPSILONS),
            ("the same eps in both roots", _factor, EPSILONS[1:]),
        ):
            tried = " and ".join(f"{eps:g}" for eps in epsilons)
            for d in (2, *WIDTHS) if statement != "as printed" else WIDTHS:
                pairs = scenario_pairs(SLUG, fmt, d // 2, settings)
                scope = f"d = {d}, eps = {tried}, every scenario"
                yield sampled(settings, fmt, pairs, ratio, statement=statement, scope=scope, epsilons=epsilons)
            scope = f"d = {HEAD}, eps = {tried}, queries and keys of MiniLM"
            pairs = real_pairs(SLUG, fmt, settings)
            yield sampled(settings, fmt, pairs, ratio, statement=statement, scope=scope, epsilons=epsilons)
        yield searched(settings, fmt, found, _printed, statement="as printed")


def _apart(q: Tensor, k: Tensor) -> Tensor:
    """How many times larger the printed scale is than Eq. 1's, or smaller: at least 1."""
    ratio = (printed(magnitudes(q), 0.0) / MEAN.scale(q, 0.0)).squeeze(-1)
    return torch.maximum(ratio, 1 / ratio)


def _scales(q: Tensor, eps: float) -> tuple[Tensor, Tensor, float]:
    """S of Eq. 1 in the format, the printed scale in fp64, and a bound on the relative error of both together."""
    phasors = q.shape[-1] // 2
    lost = roundings(MEAN.roundings(phasors), format_of(q).accumulation)
    lost += roundings(ROOT_MEAN_SQUARE.roundings(phasors), FP64) + roundings(MEAN.roundings(phasors), FP64)
    return MEAN.scale(q, eps).double().squeeze(-1), printed(magnitudes(q.double()), eps).squeeze(-1), lost


def _printed(q: Tensor, k: Tensor, eps: float) -> Tensor:
    mean, other, lost = _scales(q, eps)
    return over((mean - other).abs(), lost * MEAN.scale(q.double(), eps).squeeze(-1))


def _order(q: Tensor, k: Tensor, eps: float) -> Tensor:
    mean, other, lost = _scales(q, eps)
    return over(mean * (1 - lost), other)


def _corrected(q: Tensor, k: Tensor, eps: float) -> Tensor:
    bound = score_error(q, k, ROOT_MEAN_SQUARE, eps) + score_error(q, k, SCALAR_RMS, eps / 2) / 2
    return over((score(q, k, ROOT_MEAN_SQUARE, eps).double() - corrected(q, k, eps)).abs(), bound)


def _factor(q: Tensor, k: Tensor, eps: float) -> Tensor:
    """The larger of: 1/2 and the squared factor over their upper neighbour, and its distance from its formula."""
    phasors, acc = q.shape[-1] // 2, format_of(q).accumulation
    squared = (SCALAR_RMS.scale(q, eps) / ROOT_MEAN_SQUARE.scale(q, eps)).double().square().squeeze(-1)
    m = q.double().square().mean(-1)
    exact = (m + eps) / (2 * m + eps)
    lost = roundings(2 * (SCALAR_RMS.roundings(phasors) + ROOT_MEAN_SQUARE.roundings(phasors)) + 3, acc)
    lost += roundings(2 * (2 * phasors + 6), FP64)
    between = torch.maximum(over(0.5 / squared, 1 + lost), over(squared, 1 + lost))
    return torch.maximum(between, over((squared - exact).abs(), lost * exact))
