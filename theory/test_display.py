"""Abbreviated formulas say the same as the long ones."""

import pytest
import sympy as sp

from theory.claims import modules
from theory.display import abbreviate
from theory.moments import vanishes
from theory.statements import entries_of

SIDES = [
    pytest.param(
        sp.Matrix([entry for side in statement.sides() for entry in entries_of(side)]), id=f"{m.__name__}: {n}"
    )
    for m in modules()
    for n, statement in enumerate(m.STATEMENTS)
    if hasattr(statement, "sides")
]


@pytest.mark.parametrize("entries", SIDES)
def test_writing_the_legend_back_gives_the_formula(entries):
    for entry in entries:
        short, legend = abbreviate(entry)
        assert sp.count_ops(short) <= sp.count_ops(entry)
        assert vanishes(short.xreplace(legend) - entry)


def test_the_scale_is_named():
    from theory.mrsnorm import eq05

    short, legend = abbreviate(sp.ImmutableMatrix(eq05.printed()))
    assert list(map(str, legend)) == ["S"]
    assert "epsilon" not in str(short)
