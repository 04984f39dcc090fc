"""Attempts to have a falsehood proved: each is refused."""

import pytest
import sympy as sp
from sympy.tensor.indexed import IndexedBase

from theory import certificate as c
from theory.certificate import NotProved
from theory.exact import point
from theory.moments import NotMoments, vanishes
from theory.phasors import P, eps, gamma, i, index_sum, z
from theory.statements import Hypothesis, Inequality

x, y = z.components
a = sp.Symbol("a", real=True)
positive_p, real_p = sp.Symbol("p", positive=True), sp.Symbol("p", real=True)
first_phi, second_phi = IndexedBase("phi", real=True), IndexedBase("phi", positive=True)


@pytest.mark.parametrize(
    "expr",
    [
        P * index_sum(lambda k: k * x[k]) - index_sum(lambda k: k) * index_sum(lambda k: x[k]),
        P * index_sum(lambda k: x[k + 1] * y[k]) - index_sum(lambda k: x[k + 1]) * index_sum(lambda k: y[k]),
        sp.Abs(sp.sqrt(a)) ** 2 - a,
        sp.conjugate(sp.sqrt(a)) - sp.sqrt(a),
        sp.log(P ** sp.sqrt(gamma[i])) - sp.sqrt(gamma[i]) * sp.log(P),
    ],
    ids=["loose index", "shifted index", "Abs", "conjugate", "complex exponent"],
)
def test_what_the_procedure_does_not_know_is_refused(expr):
    with pytest.raises(NotMoments):
        vanishes(expr)


@pytest.mark.parametrize(
    "expr",
    [
        z.r[i] ** positive_p - z.r[i] ** real_p,
        index_sum(lambda k: z.r[k] ** positive_p) - index_sum(lambda k: z.r[k] ** real_p),
        sp.cos(first_phi[i]) - sp.cos(second_phi[i]),
        index_sum(lambda k: sp.cos(first_phi[k])) - index_sum(lambda k: sp.cos(second_phi[k])),
    ],
    ids=["powers", "powers under a sum", "angles", "angles under a sum"],
)
def test_two_symbols_that_print_alike_stay_two(expr):
    assert not vanishes(expr)


@pytest.mark.parametrize(
    "forge",
    [
        lambda: c.difference(c.known(P), P, c.known(0), sign=-2),
        lambda: c.power(c.known(sp.E), sp.I * sp.pi),
        lambda: c.square(sp.log(x[i])),
        lambda: c.square(sp.asin(x[i])),
        lambda: c.square(sp.Function("f")(x[i])),
        lambda: c.given(sp.Integer(-1), " "),
        lambda: c.total(lambda k: c.known(1), length=-3),
        lambda: c.total_except(i, lambda k: c.square(x[k]), length=0),
    ],
)
def test_a_rule_refuses_what_its_premises_do_not_give(forge):
    with pytest.raises(NotProved):
        forge()


def test_a_sum_is_made_of_instances_of_one_term():
    except_i = c.total_except(i, lambda k: c.known(0) if isinstance(k, sp.Dummy) else c.known(5))
    apart = c.total_apart(lambda k, m: c.known(5) if k == m else c.known(0))
    assert except_i.expr == 0
    assert apart.expr == 0


@pytest.mark.parametrize("at", [point({eps: -1}, z=[(1, 0)]), point({eps: 0}, z=[(0, 0)], gamma=[-1])])
def test_a_counterexample_outside_the_domain_refutes_nothing(at):
    statement = Inequality(
        "a root",
        "",
        lambda: (0, eps + z.r[i] ** 2 + gamma[i] * z.r[i]),
        hypotheses=(Hypothesis("gamma_i >= 0", lambda at: not at.lists.get(gamma) or at[gamma[i]] >= 0),),
        counterexample=at,
    )
    assert statement.decide().status == "undecided"
