"""Abbreviated formulas say the same as the long ones."""

import pytest
import sympy as sp

from theory.claims import modules
from theory.display import abbreviate
from theory.moments import vanishes
from theory.statements import entries_of

MODULES = [module for module in modules() if hasattr(module.STATEMENTS[0], "sides")]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_writing_the_legend_back_gives_the_formula(module):
    for entry in (entry for side in module.STATEMENTS[0].sides() for entry in entries_of(side)):
        short, legend = abbreviate(entry)
        assert sp.count_ops(short) <= sp.count_ops(entry)
        assert vanishes(short.xreplace(legend) - entry)


def test_the_scale_is_named():
    from theory.mrsnorm import eq05

    short, legend = abbreviate(sp.ImmutableMatrix(eq05.printed()))
    assert list(map(str, legend)) == ["S"]
    assert "epsilon" not in str(short)
