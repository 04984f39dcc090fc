"""Words that several reports share: the strongest evidence, the worst measurement, the counts."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from paper_checks import routes
from paper_checks.claims import VERDICTS
from paper_checks.evidence import CORRECTED, PRINTED, ROUTES, WITHOUT, Evidence
from paper_checks.report.document import summary
from paper_checks.run import Result

MEASURED = ("consistent", "violated")
RELATIONS = {"=": operator.eq, "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt}
PROVERS = {"sympy": "SymPy", "exact": "exact", "smt": "SMT", "interval": "interval", "coq": "Coq"}
STRENGTH = ("refuted", "proved", "violated", "consistent", "undecided", "not run")


def strongest(result: Result) -> str:
    """The printed statement's strongest row with its scope; for an open claim, why it is open."""
    if result.verdict.verdict == "OPEN":
        return result.reason
    rows = (row for row in result.evidence if row.statement == PRINTED and row.route not in ROUTES)
    row = min(rows, key=lambda r: STRENGTH.index(r.status))
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


def counted_routes(results: Sequence[Result]) -> str:
    """How many claims are decided by one, two, and three or more routes."""
    found = routes.counts(results)
    return f"claims by routes: {found['1']} with one, {found['2']} with two, {found['3']} with three or more"


def routes_of(result: Result) -> str:
    """The routes that decide each of the claim's statements, such as "as printed: SymPy, Coq"."""
    found = routes.deciding(result.evidence).items()
    return "; ".join(f"{name}: {', '.join(PROVERS[p] for p in PROVERS if p in by) or 'none'}" for name, by in found)


def besides(row: Evidence, evidence: Sequence[Evidence]) -> list[Evidence]:
    """What independent routes say about the statement of one of SymPy's rows.

    Coq's theorems decide parts of their own; they stand beside the first row of that name.
    """
    own = [other for other in evidence if other.statement == row.statement and other.route is not None]
    first = next((other for other in own if other.route not in ROUTES), None)
    same = [other for other in own if other.text == row.text or WITHOUT in row.statement]
    return [
        *(other for other in same if other.route in ROUTES and other.route != "coq"),
        *(other for other in own if other.route == "coq" and row is first),
    ]


def findings(rows: Iterable[Evidence]) -> str:
    """Rows of independent routes on one line, such as "SMT: proved, P <= 3; Coq: proved, every P (eq18_bound)"."""
    grouped: dict[tuple[str, str], list[Evidence]] = {}
    for row in rows:
        grouped.setdefault((row.route, row.status), []).append(row)
    return "; ".join(_found(PROVERS[route], status, own) for (route, status), own in grouped.items())


def _found(prover: str, status: str, rows: Sequence[Evidence]) -> str:
    scopes = dict.fromkeys(row.scope for row in rows if row.scope)
    theorems = [row.detail.removeprefix("theorem ") for row in rows if row.detail.startswith("theorem ")]
    return f"{prover}: {', '.join((status, *scopes))}" + (f" ({', '.join(theorems)})" if theorems else "")


def named(row: Evidence) -> str:
    """A row's statement, with its text where that says more."""
    return f"{row.statement}: {row.text}" if row.text else row.statement


def grouped(lines: Iterable[tuple[str, str]], most: int = 3) -> list[str]:
    """(slug, text) pairs as lines; claims about which the same is said share one, the first few by name."""
    slugs: dict[str, list[str]] = {}
    for slug, text in lines:
        slugs.setdefault(text.removeprefix(f"{slug}: "), []).append(slug)
    return [f"{_listed(found, most)}: {text}" for text, found in slugs.items()]


def _listed(names: Sequence[str], most: int) -> str:
    rest = len(names) - most
    return ", ".join(names) if rest < 2 else f"{', '.join(names[:most])} and {rest} more"
