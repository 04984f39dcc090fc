"""The further kinds of statements: each proves what it should, and refuses what it should not prove."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from theory.certificate import given, positive, square, times
from theory.kinds.computed import Computed
from theory.kinds.deduction import Deduction
from theory.kinds.enclosure import exp_bounds, sqrt_bounds
from theory.kinds.impossible import Fact, Impossible
from theory.statements import Identity

x, y = sp.symbols("x y", real=True)


def _computed(*pairs, relation="="):
    return Computed("c", "", lambda: list(pairs), scope="here", relation=relation)


def test_computed_numbers_prove_or_refute():
    assert _computed((1, Fraction(1)), (sp.Rational(1, 2), Fraction(1, 2))).decide().status == "proved"
    assert _computed((1, 2), relation="<").decide().scope == "here"
    refuted = _computed((1, 1), (Fraction(1, 3), 2)).decide()
    assert refuted.witness.values == {"left": Fraction(1, 3), "right": 2}
    assert refuted.witness.reproduces()


def test_a_witness_of_a_computation_that_changes_does_not_reproduce():
    numbers = iter(range(9))
    assert not Computed("c", "", lambda: [(next(numbers), -1)], scope="").decide().witness.reproduces()


@pytest.mark.parametrize("value", [0.5, math.nan, True, sp.sqrt(2), None])
def test_what_is_not_an_exact_number_decides_nothing(value):
    assert _computed((value, value)).decide().status == "undecided"


def test_a_computation_of_nothing_decides_nothing():
    assert _computed().decide().status == "undecided"


def _no_real_square_is_minus_one():
    return Impossible(
        "i",
        "no real x has x^2 = -1",
        ("x^2 = -1",),
        lambda: [Fact(x**2 + 1, "assumption", ("x^2 = -1",), sp.Integer(1))],
        lambda: times(positive(x**2 + 1, "x^2 = -1")),
    )


def test_facts_that_add_up_to_something_positive_are_a_contradiction():
    assert _no_real_square_is_minus_one().decide().status == "proved"


@pytest.mark.parametrize(
    "change",
    [
        {"assumes": ()},
        {"facts": lambda: [Fact(x**2 + 1, "assumption", ("something else",), sp.Integer(1))]},
        {"facts": lambda: [Fact(x**2 + 2, "assumption", ("x^2 = -1",), sp.Integer(1))]},
        {"facts": lambda: [Fact(x**2 + 1, "assumption", ("x^2 = -1",), sp.Integer(2))]},
        {"facts": list},
        {"positive": lambda: square(x)},
        {"positive": lambda: given(x**2 + 1, "x^2 = -1")},
        {"positive": lambda: positive(x**2 + 1, "not assumed")},
    ],
)
def test_without_a_contradiction_nothing_is_proved(change):
    assert replace(_no_real_square_is_minus_one(), **change).decide().status == "undecided"


TRUE = Identity("t", "", lambda: ((x + y) ** 2, x**2 + 2 * x * y + y**2))
FALSE = Identity("f", "", lambda: ((x + y) ** 2, x**2 + y**2))


@pytest.mark.parametrize(("premises", "status"), [((TRUE,), "proved"), ((TRUE, FALSE), "undecided"), ((), "undecided")])
def test_a_deduction_needs_every_premise(premises, status):
    assert (
        Deduction("d", "", premises, "a theorem", lambda: sp.Eq(x, x, evaluate=False), "here").decide().status == status
    )


@pytest.mark.parametrize("exponent", [Fraction(0), Fraction(1, 3), Fraction(8), Fraction(113137, 10000), Fraction(40)])
def test_exponentials_are_enclosed(exponent):
    low, high = exp_bounds(exponent)
    reference = sp.exp(sp.Rational(exponent.numerator, exponent.denominator)).evalf(200)
    assert sp.Rational(low.numerator, low.denominator) <= reference <= sp.Rational(high.numerator, high.denominator)
    assert high <= low * Fraction(1001, 1000)


@pytest.mark.parametrize("value", [0, 2, 64, 128, Fraction(9, 4), Fraction(1, 3)])
def test_square_roots_are_enclosed(value):
    low, high = sqrt_bounds(value)
    assert low**2 <= value <= high**2
    assert high - low <= Fraction(1, 10**12)
    assert (low == high) == (value in (0, 64, Fraction(9, 4)))


@pytest.mark.parametrize("arguments", [(-1,), (64,), (2, 1)])
def test_an_exponent_out_of_range_is_refused(arguments):
    with pytest.raises(ValueError, match="accepted"):
        exp_bounds(*arguments)
