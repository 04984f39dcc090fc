"""energy-identity measured: the sum of the squared magnitudes against (d/2) S^2.

As printed, sum r_k^2 = (d/2) S^2, which needs Eq. 11 and eps = 0. With eps, sum r_k^2 = (d/2) (S^2 - eps). With Eq. 1
it is an inequality the other way round, (d/2) S^2 <= sum r_k^2 at eps = 0.

S is what the layer computes, in the accumulation format (u). Counting roundings as `numerics.rounding` does, S^2 has
2 S and the square 1, and everything else is fp64: P S^2 two, S^2 - eps one, the sum of squares N + 1. So

    |sum r^2 - P S^2| <= (gamma_{2 S}(u) + gamma_{N + 8}(fp64)) P (S^2 + eps),

which also bounds the excess of P S^2 over the sum that rounding may show under Eq. 1.

Source: MRSNorm paper, appendix B, between Eqs. 17 and 18.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from torch import Tensor

from numerics.attention_scores import MEAN, ROOT_MEAN_SQUARE, Definition, format_of
from numerics.inputs import formats
from numerics.logit_bounds import SMALL_EPS, WIDTHS, over, sampled
from numerics.measure import Measurement, Settings
from numerics.query_keys import scenario_pairs
from numerics.rounding import FP64, roundings

SLUG = "energy-identity"


def printed(phasors: int, scale: Tensor) -> Tensor:
    """(d/2) S^2."""
    return phasors * scale.square()


def with_eps(phasors: int, scale: Tensor, eps: float) -> Tensor:
    """(d/2) (S^2 - eps)."""
    return phasors * (scale.square() - eps)


MUTANTS: dict[str, Callable[[int, Tensor], Tensor]] = {
    "d for d/2": lambda phasors, scale: 2 * phasors * scale.square(),
    "S for its square": lambda phasors, scale: phasors * scale,
    "without d/2": lambda phasors, scale: scale.square(),
    "NaN": lambda phasors, scale: scale * math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """The three relations on vectors of every scenario, for d in 2 and `WIDTHS`."""
    cases = (
        ("as printed", (0.0,), "Eq. 11, eps = 0", _printed),
        ("with eps", (SMALL_EPS, 0.125), f"Eq. 11, eps = {SMALL_EPS:g} and 1/8", _with_eps),
        ("Eq. 1 turns it round", (0.0,), "Eq. 1, eps = 0", _mean),
    )
    for fmt in formats(settings):
        for statement, epsilons, part, ratio in cases:
            for d in (2, *WIDTHS):
                pairs = scenario_pairs(SLUG, fmt, d // 2, settings, relations=("independent",))
                scope = f"{part}, d = {d}, every scenario"
                yield sampled(settings, fmt, pairs, ratio, statement=statement, scope=scope, epsilons=epsilons)


def _parts(q: Tensor, definition: Definition, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """The sum of the squares (T,), S (T,), and the bound (T,), in fp64."""
    scale = definition.scale(q, eps).double().squeeze(-1)
    phasors = q.shape[-1] // 2
    relative = roundings(2 * definition.roundings(phasors), format_of(q).accumulation) + roundings(
        2 * phasors + 8, FP64
    )
    return q.double().square().sum(-1), scale, relative * phasors * (scale.square() + eps)


def _printed(q: Tensor, k: Tensor, eps: float) -> Tensor:
    energy, scale, bound = _parts(q, ROOT_MEAN_SQUARE, eps)
    return over((energy - printed(q.shape[-1] // 2, scale)).abs(), bound)


def _with_eps(q: Tensor, k: Tensor, eps: float) -> Tensor:
    energy, scale, bound = _parts(q, ROOT_MEAN_SQUARE, eps)
    return over((energy - with_eps(q.shape[-1] // 2, scale, eps)).abs(), bound)


def _mean(q: Tensor, k: Tensor, eps: float) -> Tensor:
    energy, scale, bound = _parts(q, MEAN, eps)
    return over(q.shape[-1] // 2 * scale.square() - bound, energy)
