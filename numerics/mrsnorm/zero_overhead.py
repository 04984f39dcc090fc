"""zero-overhead measured: what a scale is computed from, and how many square roots it takes.

As printed, no magnitude is needed. That holds for Eq. 11: S is a function of the sum of the squares of the channels,
and takes one square root a vector, as QK-RMSNorm's does. Eq. 1 takes P, and differs between vectors of one sum.

Measured is the layer's S of Eq. 11, computed in the accumulation format (u), against the formula in fp64 from that sum
alone: |S - formula| <= (gamma_S(u) + gamma_n(fp64)) S, n = N + 8 (sum of squares N + 1, quotient, eps, root, spare).
The square roots are counted in the graph that PyTorch records of a scale, once: a count is exact, its bound is 0, and
no format changes it.

Source: MRSNorm paper, appendix A.4.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from numerics.attention_scores import MEAN, ROOT_MEAN_SQUARE, SCALAR_RMS, Definition, format_of
from numerics.inputs import formats
from numerics.logit_bounds import SMALL_EPS, WIDTHS, over, sampled
from numerics.measure import Measurement, Settings
from numerics.query_keys import scenario_pairs
from numerics.rounding import FP64, roundings

SLUG = "zero-overhead"
ROWS = 3
ROOTS = ("SqrtBackward0", "LinalgVectorNormBackward0")  # one square root for each number that it returns


def printed(squares: Tensor, phasors: int, eps: float) -> Tensor:
    """S from the sum of the squares of the channels, without a magnitude: (T,) -> (T,)."""
    return (squares / phasors + eps).sqrt()


def extra_roots(phasors: int) -> int:
    """The square roots a vector that Eq. 1 takes beyond those of QK-RMSNorm's scale."""
    return phasors - 1


MUTANTS: dict[str, Callable[[Tensor, int, float], Tensor]] = {
    "channels for phasors": lambda squares, phasors, eps: (squares / (2 * phasors) + eps).sqrt(),
    "without the root": lambda squares, phasors, eps: squares / phasors + eps,
    "a sum for the mean": lambda squares, phasors, eps: (squares + eps).sqrt(),
    "eps outside the root": lambda squares, phasors, eps: (squares / phasors).sqrt() + eps,
    "NaN": lambda squares, phasors, eps: squares * math.nan,
}


def roots(definition: Definition, x: Tensor) -> float:
    """The square roots a vector that its scale takes, as the graph of the computation has recorded them."""
    pending, seen, count = [definition.scale(x.requires_grad_(), SMALL_EPS).grad_fn], set(), 0
    while pending:
        node = pending.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if node.name() in ROOTS:
            count += node._saved_result.numel()
        pending += [following for following, _ in node.next_functions]
    return count / len(x)


def measure(settings: Settings) -> Iterator[Measurement]:
    """S on vectors of every scenario, and the square roots of the three scales."""
    for fmt in formats(settings):
        for d in (2, *WIDTHS):
            pairs = scenario_pairs(SLUG, fmt, d // 2, settings, relations=("independent",))
            scope = f"S of Eq. 11 from the sum of squares, d = {d}, every scenario"
            epsilons = (0.0, SMALL_EPS, 0.125)
            yield sampled(settings, fmt, pairs, _ratio, statement="as printed", scope=scope, epsilons=epsilons)
    yield _counted(settings, "as printed", ROOT_MEAN_SQUARE, lambda phasors: 0)
    yield _counted(settings, "Eq. 1 takes P square roots", MEAN, extra_roots)


def _ratio(q: Tensor, k: Tensor, eps: float) -> Tensor:
    phasors = q.shape[-1] // 2
    found = ROOT_MEAN_SQUARE.scale(q, eps).double().squeeze(-1)
    expected = printed(q.double().square().sum(-1), phasors, eps)
    relative = roundings(ROOT_MEAN_SQUARE.roundings(phasors), format_of(q).accumulation)
    exact = ROOT_MEAN_SQUARE.scale(q.double(), eps).squeeze(-1)
    return over((found - expected).abs(), (relative + roundings(2 * phasors + 8, FP64)) * exact)


def _counted(settings: Settings, statement: str, definition: Definition, extra: Callable[[int], int]) -> Measurement:
    """Square roots beyond QK-RMSNorm's, against what is stated."""
    ones = {d: torch.ones(ROWS, d, device=settings.device) for d in (2, *WIDTHS)}
    found = {d: (roots(definition, x), roots(SCALAR_RMS, x)) for d, x in ones.items()}
    wrong = any(mine - base != extra(d // 2) for d, (mine, base) in found.items())
    return Measurement(
        kind="exhaustive",
        statement=statement,
        scope=f"square roots a vector, {definition.name} beside QK-RMSNorm, d in {{{', '.join(map(str, ones))}}}",
        worst=math.inf if wrong else 0.0,
        trials=len(ones),
        dtype="exact",
        device=settings.device,
        seed=settings.seed,
        detail=f"d = {WIDTHS[-1]}: {found[WIDTHS[-1]][0]:g} against {found[WIDTHS[-1]][1]:g}",
    )
