"""What a sweep measures: for each claim, the ratios of its statements on the rows of one cell.

A claim that draws its rows through `inputs.batches` is swept by its own `measure`, with the cell as the source of its
rows; only what it measures on those rows counts. Claims about scores are swept by the ratios of `logit_bounds` with the
claim's own formula. Formulas are looked up when they are needed, so that a wrong one is noticed here as well.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from numerics.attention_scores import MEAN, ROOT_MEAN_SQUARE, Definition, score, score_error, weight_error
from numerics.beyond import self_score
from numerics.inputs import formats
from numerics.judge import plain
from numerics.logit_bounds import certified_blocks, certified_score, chain, members, over, pair_data
from numerics.measure import Settings
from numerics.mrsnorm import eq16, eq16_rms, eq17, eq18, eq18_rms

Ratio = Callable[[Tensor, Tensor, float], Tensor]  # (q, k, eps) -> (T,)


@dataclass(frozen=True)
class Row:
    """One statement on one block of rows: the worst ratio, the rows tried, and the row that gave it, as plain data."""

    statement: str
    worst: float
    trials: int
    witness: dict | None = None


OWN_MEASURE = {
    "mrsnorm": (
        "eq01",
        "eq02",
        "eq03",
        "eq04",
        "eq05",
        "eq06",
        "eq07",
        "eq08",
        "conformal",
        "homogeneity",
        "interference-broadcast",
        "isometry",
        "phase-invariance",
        "projection-blockade",
        "scale-invariance",
        "unit-direction",
    ),
}

# What a ratio measures here is no error but a quantity over its claimed bound, which is attained: 1 is nothing unusual.
INEQUALITIES = {
    ("eq01", "bounds by the RMS"),
    ("eq02", "output bound"),
    ("conformal", "the map itself is nowhere conformal"),
    ("interference-broadcast", "corrected"),
    ("isometry", "the largest singular value at eps = 0"),
    ("homogeneity", "corrected"),
    *((claim, statement) for claim in ("eq16", "eq18") for statement in ("as printed", "corrected")),
    *((claim, "as printed") for claim in ("eq16-rms", "eq17", "eq18-rms", "self-score")),
}


def _steps(definition: Definition, q: Tensor, k: Tensor, eps: float) -> Tensor:
    links = members(eq17.printed, q, k, definition, eps)
    return chain(certified_score(q, k, definition, eps), links, eq17.slack(definition, q.shape[-1] // 2))


def _share(formula: Callable, definition: Definition, q: Tensor, k: Tensor, eps: float) -> Tensor:
    links = members(formula, q, k, definition, eps)
    blocks = certified_blocks(q, k, definition, eps)
    return chain(blocks, links, weight_error(definition, q.shape[-1] // 2)).amax(-1)


def _self_score(q: Tensor, k: Tensor, eps: float) -> Tensor:
    at_most = score(q, q, MEAN, 0.0).double() + score_error(q, q, MEAN, 0.0)
    return over(at_most.new_full(at_most.shape, self_score.printed(q.shape[-1])), at_most)


def _score(definition: Definition, bound: Callable[[int], float], q: Tensor, k: Tensor, eps: float) -> Tensor:
    return over(certified_score(q, k, definition, eps), bound(q.shape[-1]))


def _ratios() -> dict[str, dict[str, Ratio]]:
    """Of each claim about scores, the ratio of each statement."""
    return {
        "eq16": {
            "as printed": partial(_share, eq16.printed, MEAN),
            "corrected": partial(_share, eq16.corrected, MEAN),
        },
        "eq16-rms": {"as printed": partial(_share, eq16_rms.printed, ROOT_MEAN_SQUARE)},
        "eq17": {
            "as printed": lambda q, k, eps: _steps(MEAN, q, k, eps).maximum(_steps(ROOT_MEAN_SQUARE, q, k, eps)),
        },
        "eq18": {
            "as printed": partial(_score, MEAN, eq18.printed),
            "corrected": partial(_score, MEAN, eq18.corrected),
        },
        "eq18-rms": {"as printed": partial(_score, ROOT_MEAN_SQUARE, eq18_rms.printed)},
        "self-score": {"as printed": _self_score},
    }


MODULES = {slug: f"numerics.{paper}.{slug.replace('-', '_')}" for paper, slugs in OWN_MEASURE.items() for slug in slugs}
CLAIMS = (*MODULES, *_ratios())


def measured(claim: str, settings: Settings) -> Iterator[Row]:
    """The statements of a claim on the rows of `settings.source`, in one dtype, each once; KeyError without a claim."""
    found: dict[str, Row] = {}
    for row in _own(claim, settings) if claim in MODULES else _scores(claim, settings):
        found[row.statement] = worse(found.get(row.statement), row)
    yield from found.values()


def worse(left: Row | None, right: Row) -> Row:
    """The one with the larger ratio, the left one of equals, a NaN before every number; the trials are the larger."""
    if left is None:
        return right
    chosen = right if _order(right) > _order(left) else left
    return Row(left.statement, chosen.worst, max(left.trials, right.trials), chosen.witness)


def _order(row: Row) -> tuple[bool, bool, float]:
    return row.trials > 0, math.isnan(row.worst), 0.0 if math.isnan(row.worst) else row.worst


def _own(claim: str, settings: Settings) -> Iterator[Row]:
    for found in importlib.import_module(MODULES[claim]).measure(settings):
        if found.kind == "random":  # searches and experiments draw nothing from the cell
            yield Row(found.statement, float(found.worst), found.trials, found.witness)


def _scores(claim: str, settings: Settings) -> Iterator[Row]:
    (fmt,) = formats(settings)
    eps = settings.source.cell.eps
    q, k = settings.source.pairs(claim, fmt, settings)
    for statement, ratio in _ratios()[claim].items():
        if not len(q):
            yield Row(statement, 0.0, 0)
            continue
        ratios = ratio(q, k, eps)
        row = int(ratios.argmax())  # argmax takes a NaN for the largest
        witness = {"row": row, "ratio": plain(ratios[row]), **(pair_data(q[row], k[row], eps) or {})}
        yield Row(statement, float(ratios[row]), len(q), witness)
