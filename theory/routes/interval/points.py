"""Refutations again: both sides of a statement enclosed at the counterexample that its file names.

The point refutes if the enclosures exclude the relation for certain, whether the values are rational or not. What is
rational stays exact, because a strict inequality that fails by equality is one that no two balls can refute. If the
relation is not excluded the route says "undecided": a point at which a statement holds proves nothing.
"""

from __future__ import annotations

from theory.exact import Point
from theory.routes.finding import Finding, place_of
from theory.routes.interval.balls import CAP, INSTALL, Comparison, available, decide, shown
from theory.routes.interval.program import Program, Unsupported
from theory.statements import Identity, Inequality, entries_of

SCOPE = "one point, enclosed in balls"


def applies(statement: object) -> bool:
    """Whether the statement has two sides and names a counterexample."""
    return isinstance(statement, Identity | Inequality) and statement.counterexample is not None


def refutation(statement: Identity | Inequality, cap: int = CAP) -> Finding:
    """Whether the statement fails at its counterexample, at up to `cap` bits."""
    at = statement.counterexample
    named = {"route": "interval", "statement": statement.name, "text": statement.text, "place": place_of(refutation)}
    if not available():
        return Finding(**named, status="not run", scope="", detail=INSTALL)
    if at.outside() or not all(hypothesis.holds(at) for hypothesis in statement.hypotheses):
        return Finding(**named, status="undecided", scope="", detail="the point is outside the statement's domain")
    try:
        status, bits, failed = decide(lambda: comparisons(statement, at), cap)
    except (Unsupported, KeyError, IndexError, ZeroDivisionError) as reason:
        return Finding(**named, status="undecided", scope="", detail=f"no enclosure at the point: {reason}")
    if failed is None:
        detail = "the statement holds at its counterexample" if status == "proved" else f"not separated at {bits} bits"
        return Finding(**named, status="undecided", scope="", detail=detail)
    left, relation, right = failed
    entries = [entry for side in statement.sides() for entry in entries_of(side)]
    inputs = {name: _plain(value) for name, value in at.data(entries).items()}
    witness = {"inputs": inputs, "left": shown(left), "relation": relation, "right": shown(right)}
    return Finding(**named, status="refuted", scope=SCOPE, detail=f"separated at {bits} bits", witness=witness)


def comparisons(statement: Identity | Inequality, at: Point) -> list[Comparison]:
    """The relation between the enclosed sides, component by component."""
    left, right = (entries_of(side) for side in statement.sides())
    sizes = {symbol: int(value) for symbol, value in at.numbers.items() if symbol.is_integer}
    values = Program([*left, *right], sizes, at.positions, exact=True)({**at.lists, **at.numbers})
    pairs = zip(values[: len(left)], values[len(left) :], strict=True)
    return [(a, statement.relation, b) for a, b in pairs]


def _plain(value: object) -> object:
    return [str(entry) for entry in value] if isinstance(value, list) else str(value)
