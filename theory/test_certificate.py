"""Certificates cannot be made by hand, and no rule gives what its premises do not."""

import pytest
import sympy as sp

from theory import certificate as c
from theory.moments import vanishes
from theory.phasors import P, eps, gamma, i, index_sum, key, q, z

x, y = z.components


def test_a_certificate_cannot_be_forged():
    with pytest.raises(c.NotProved, match="rules"):
        c.Nonneg(sp.Integer(-1), "because")


@pytest.mark.parametrize("expr", [x[i], gamma[i], sp.Integer(-1), sp.Symbol("t"), z.r[i] - x[i]])
def test_only_declared_symbols_are_known(expr):
    with pytest.raises(c.NotProved):
        c.known(expr)


def test_only_real_expressions_are_squared():
    with pytest.raises(c.NotProved, match="real"):
        c.square(sp.I * x[i])
    with pytest.raises(c.NotProved, match="real"):
        c.square(sp.sqrt(x[i]))


def test_division_needs_something_positive():
    with pytest.raises(c.NotProved, match="may vanish"):
        c.over(c.known(z.r[i]), c.known(eps))
    assert not c.over(c.known(z.r[i]), c.known(P)).strict


def test_difference_checks_its_identity():
    with pytest.raises(c.NotProved, match="is not"):
        c.difference(c.known(z.r[i]), x[i], c.square(x[i]))
    assert vanishes(c.difference(c.known(z.r[i]), x[i], c.square(y[i])).expr - (z.r[i] - x[i]))


def test_same_checks_its_identity():
    with pytest.raises(c.NotProved, match="is not"):
        c.same(c.known(z.r[i]), x[i])


def test_hypotheses_are_carried_to_the_top():
    part = c.over(c.total(lambda k: c.given(gamma[k], "weights")), c.positive(gamma[i], "first weight"))
    assert part.hypotheses == ("weights", "first weight")


def test_strictness_is_tracked():
    assert c.plus(c.known(z.r[i]), c.known(P)).strict
    assert not c.times(c.known(z.r[i]), c.known(P)).strict
    assert not c.total(lambda k: c.known(z.r[k])).strict


def test_cauchy_schwarz_is_the_difference_it_claims():
    gap = index_sum(lambda k: q.square(k)) * index_sum(lambda k: key.square(k))
    gap -= index_sum(lambda k: q[k].dot(key[k])) ** 2
    assert vanishes(gap - c.cauchy_schwarz(q, key).expr)


def test_sum_over_pairs_leaves_the_diagonal_out():
    pairs = c.total_apart(lambda k, m: c.times(c.known(z.r[k]), c.known(z.r[m]))).expr
    assert vanishes(pairs - (index_sum(lambda k: z.r[k]) ** 2 - index_sum(lambda k: z.r[k] ** 2)))


def test_triangle_checks_its_premises():
    a, b = sp.Matrix([x[i], y[i]]), sp.Matrix([gamma[i], 0])
    with pytest.raises(c.NotProved, match="is not"):
        c.triangle(a, c.known(z.r[i]), c.square(x[i]), b, c.known(P), c.square(gamma[i]))


def test_powers_need_a_base_that_cannot_vanish_under_a_negative_exponent():
    t = sp.Symbol("t", real=True)
    with pytest.raises(c.NotProved, match="may vanish"):
        c.power(c.known(z.r[i]), t)
    assert c.power(c.known(P), t).strict


def test_bernoulli_is_tight_at_one():
    excess = sp.Symbol("s", nonnegative=True)
    gap = c.bernoulli(c.known(z.r[i]), c.known(excess)).expr
    assert gap.subs(z.r[i], 1) == 0
    assert (
        sp.diff(gap.subs(z.r[i], sp.Symbol("t", positive=True)), sp.Symbol("t", positive=True)).subs(
            sp.Symbol("t", positive=True), 1
        )
        == 0
    )


def test_monotone_keeps_the_premises():
    gap = c.total_except(i, lambda k: c.known(z.r[k]))
    powers = c.monotone(gap, c.known(z.r[i]), c.known(eps))
    assert vanishes(powers.expr - (index_sum(lambda k: z.r[k]) ** eps - z.r[i] ** eps))
