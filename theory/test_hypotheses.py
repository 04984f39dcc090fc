"""What a certificate assumes is what the theorem says it assumes: true at every point that satisfies the hypotheses.

A hypothesis and the expression behind it are tied by their text alone. Here they are compared: wherever the declared
hypotheses hold, each assumed expression is evaluated exactly, at every value of the indices that it leaves free.
"""

from itertools import islice, product

import pytest
import sympy as sp

from theory.claims import modules
from theory.exact import Irrational, Point, evaluate
from theory.phasors import N, P
from theory.statements import Inequality, _points, pairs_of

INEQUALITIES = [
    pytest.param(statement, id=f"{module.__name__.removeprefix('theory.')}: {statement.name} [{number}]")
    for module in modules()
    for number, statement in enumerate(module.STATEMENTS)
    if isinstance(statement, Inequality) and statement.hypotheses and statement.expects == "proved"
]


def _values(expr: sp.Expr, at: Point):
    """The values of the expression over all its free indices, where they are rational."""
    free = sorted((s for s in expr.free_symbols if isinstance(s, sp.Dummy)), key=str)
    length = int(at.numbers.get(P, at.numbers.get(N, 1)))
    for places in product(range(1, length + 1), repeat=len(free)):
        moved = Point(at.lists, at.numbers, {**at.positions, **dict(zip(free, places, strict=True))})
        try:
            yield evaluate(expr, moved)
        except (Irrational, ZeroDivisionError):
            continue


@pytest.mark.parametrize("statement", INEQUALITIES)
def test_assumptions_hold_wherever_the_hypotheses_do(statement):
    outcome = statement.decide()
    assumed = [node for proof in outcome.certificates for node in proof.walk() if node.hypothesis]
    for at in islice(_points(statement, pairs_of(statement)), 6):
        for node in assumed:
            for value in _values(node.expr, at):
                assert value > 0 if node.strict else value >= 0, (node.hypothesis, node.expr, at)
