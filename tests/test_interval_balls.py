"""Balls decide what is certain and nothing else, and programs on balls compute what the expressions say."""

from fractions import Fraction

import pytest
import sympy as sp

from theory.phasors import P, i, index_sum, j, key, q, z
from theory.routes.interval import balls
from theory.routes.interval.program import Program, Unsupported

flint = pytest.importorskip("flint", reason="python-flint, of the extra provers")
arb = flint.arb

x, y = sp.symbols("x y", real=True)


def wide(low, high):
    return arb(low).union(arb(high))


@pytest.mark.parametrize("relation", ["<", "<=", "="])
def test_overlapping_balls_decide_nothing(relation):
    first, second = wide(0, 2), wide(1, 3)
    assert balls.holds((first, relation, second)) is None
    assert balls.holds((second, relation, first)) is None


def test_a_wide_ball_is_not_equal_to_itself():
    ball = arb(2).sqrt()
    assert balls.holds((ball, "=", ball)) is None
    assert balls.holds((arb(1), "=", arb(1))) is True


@pytest.mark.parametrize("relation", ["<", "<=", "="])
def test_what_is_not_a_number_decides_nothing(relation):
    assert balls.holds((arb.nan(), relation, arb(1))) is None
    assert balls.holds((arb(1), relation, arb.nan())) is None


def test_equal_exact_numbers_are_at_most_but_not_below_each_other():
    assert balls.holds((arb(1), "<=", arb(1))) is True
    assert balls.holds((arb(1), "<", arb(1))) is False


def test_precision_is_raised_until_the_comparison_is_decided():
    def close():
        return [(arb(2).sqrt(), "<", arb(2).sqrt() + arb(2) ** -300)]

    assert balls.decide(close, cap=128)[:2] == ("undecided", 128)
    assert balls.decide(close)[:2] == ("proved", 512)


def test_equal_irrational_numbers_stay_undecided():
    assert balls.decide(lambda: [(arb(8).sqrt(), "<=", 2 * arb(2).sqrt())])[:2] == ("undecided", balls.CAP)


def test_no_comparison_is_no_proof():
    assert balls.decide(list)[0] == "undecided"


@pytest.mark.parametrize(("low", "high", "power", "least", "most"), [(-1, 2, 2, 0, 4), (-1, 2, 3, -1, 8)])
def test_whole_powers_are_as_tight_as_their_ends(low, high, power, least, most):
    value = balls.whole_power(wide(low, high), power)
    assert least - Fraction(1, 10**6) < float(value.lower()) and float(value.upper()) < most + Fraction(1, 10**6)


def test_real_powers_start_at_zero_and_need_a_positive_exponent():
    value = balls.real_power(wide(0, 4), arb(1.5))
    assert value.contains(arb(0)) and value.contains(arb(8)) and value < arb(8.1)
    assert balls.real_power(wide(0, 4), arb(-1)).is_nan()
    assert balls.real_power(wide(-2, -1), arb(0.5)).is_nan()


def test_programs_write_sums_out_and_find_magnitudes():
    total = index_sum(lambda k: q.r[k] * key.r[k] ** 2) + q[i].dot(key[i]) + sp.sqrt(P)
    at = {q: [(3, 4), (0, 2)], key: [(1, 0), (-3, 4)]}
    (value,) = Program([total], {P: 2}, {i: 1}, exact=False)(at)
    assert abs(value - (5 + 50 + 3 + arb(2).sqrt())) < arb(2) ** -40


def test_programs_keep_rational_numbers_exact_where_they_can():
    (value,) = Program([sp.sqrt(x) / 3 + y**-2], {}, {}, exact=True)({x: Fraction(4, 9), y: Fraction(3, 2)})
    assert value == flint.fmpq(2, 3)


def test_programs_refuse_what_they_do_not_know():
    with pytest.raises(Unsupported, match="Max"):
        Program([sp.Max(x, y)], {}, {})
    with pytest.raises(Unsupported, match="needs a number"):
        Program([index_sum(lambda k: z.r[k])], {}, {})


def test_different_indices_do_not_share_a_value():
    nested = index_sum(lambda k: index_sum(lambda m: z.components[0][k] - 2 * z.components[0][m]))
    (value,) = Program([nested], {P: 2}, {}, exact=True)({z: [(1, 0), (5, 0)]})
    assert value == -12


def test_an_index_without_a_place_is_refused():
    for expr in (z.r[j], sp.KroneckerDelta(i, j)):
        with pytest.raises(Unsupported, match="no place"):
            Program([expr], {}, {})


@pytest.mark.parametrize("first, second, value", [(1, 1, 1), (1, 2, 0)])
def test_deltas_compare_places(first, second, value):
    assert Program([sp.KroneckerDelta(i, j)], {}, {i: first, j: second}, exact=True)({}) == [value]
