"""Words that several reports share: the strongest evidence, the worst measurement, the counts."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from paper_checks.claims import VERDICTS
from paper_checks.evidence import CORRECTED, PRINTED, Evidence
from paper_checks.report.document import summary
from paper_checks.run import Result

MEASURED = ("consistent", "violated")
RELATIONS = {"=": operator.eq, "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
STRENGTH = ("refuted", "proved", "violated", "consistent", "undecided", "not run")


def strongest(result: Result) -> str:
    """The printed statement's strongest row with its scope; for an open claim, why it is open."""
    if result.verdict.verdict == "OPEN":
        return result.reason
    row = min((r for r in result.evidence if r.statement == PRINTED), key=lambda r: STRENGTH.index(r.status))
    if row.status == "refuted" and row.witness:
        return refutation(row.witness)
    return f"{row.status}: {row.scope}" if row.scope else row.status


def refutation(witness: Mapping) -> str:
    """A refutation in one phrase, such as "refuted at P = 2: 25/8 <= 2 is false"."""
    inputs = witness.get("inputs", {})
    where = next((f" at {size} = {inputs[size]}" for size in ("P", "N", "d") if size in inputs), "")
    side = failing_side(witness)
    return f"refuted{where}: {side}" if side else f"refuted{where}"


def failing_side(witness: Mapping) -> str:
    """The first pair of values of a witness that breaks the relation, such as "25/8 <= 2 is false"; "" if none does."""
    values, relation = list(witness.get("values", {}).values()), witness.get("relation")
    for left, right in zip(values[::2], values[1::2], strict=False):
        try:
            fails = not RELATIONS[relation](Fraction(left), Fraction(right))
        except (KeyError, ValueError, TypeError):  # another relation, or "undefined"
            fails = relation in RELATIONS
        if fails:
            return f"{left} {relation} {right} is false"
    return ""


def point(witness: Mapping) -> str:
    """The inputs of a witness on one line, such as "P = 2, x = (3, 21)"."""
    return ", ".join(f"{name} = {value(entry)}" for name, entry in witness.get("inputs", {}).items())


def value(entry: object) -> str:
    """A value in mathematical notation: lists become tuples."""
    return f"({', '.join(map(value, entry))})" if isinstance(entry, list | tuple) else str(entry)


def worst(result: Result, statement: str) -> float | None:
    """The largest error over bound measured for one statement (NaN counts as the largest), or None."""
    ratios = [row.worst_error_over_bound for row in measured(result.evidence) if row.statement == statement]
    return max(ratios, key=lambda ratio: math.inf if math.isnan(ratio) else ratio, default=None)


def measured(rows: Iterable[Evidence]) -> list[Evidence]:
    """The rows that were measured."""
    return [row for row in rows if row.status in MEASURED and row.worst_error_over_bound is not None]


def ratio(value: float | None) -> str:
    """An error over its bound, short: three digits."""
    return "" if value is None else f"{value:.3g}"


def notes(result: Result) -> list[str]:
    """What a reader of the verdict needs beside it: the conditions, and the corrected statement."""
    lines = []
    if result.verdict.verdict == "PASS IF":
        lines.append("if " + "; ".join(result.verdict.conditions))
    if result.verdict.verdict == "FAIL" and result.verdict.corrected:
        largest = ratio(worst(result, CORRECTED))
        lines.append(f"corrected: {result.verdict.corrected}" + (f"  (error/bound {largest})" if largest else ""))
    return lines


def counts(results: Sequence[Result]) -> str:
    """How many claims, and how many of each verdict."""
    found = summary(results)
    listed = ", ".join(f"{found[verdict]} {verdict}" for verdict in VERDICTS)
    return f"{len(results)} claim{'s' if len(results) != 1 else ''}: {listed}"
