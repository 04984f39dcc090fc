"""The exact route rechecks certificates: every rule is accepted as it stands and refused when tampered with."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from theory import certificate as c
from theory.phasors import P, eps, i, key, q, z
from theory.power_means import p
from theory.routes.exact.certificates import RULES
from theory.routes.exact.checks import decide
from theory.statements import Hypothesis, Inequality

x, y = z.components
LARGE = Hypothesis("r_i > 1", lambda at: at[z.r[i]] > 1)
MORE = c.given(z.r[i] - 1, LARGE.text)
SURE = c.positive(z.r[i] - 1, LARGE.text)
R, EPS, ONE = c.known(z.r[i]), c.known(eps), c.known(1)
GAP = c.plus(c.square(x[i]), c.square(y[i]))

PROOFS = {
    "a square": c.square(x[i] - y[i]),
    "declared": R,
    "hypothesis": MORE,
    "a sum": c.plus(R, EPS),
    "a product": c.times(R, EPS),
    "a quotient": c.over(R, SURE),
    "a sum over k": c.total(lambda k: c.square(x[k] + y[k])),
    "a sum over k != ": c.total_except(i, lambda k: c.known(z.r[k])),
    "a sum over pairs k != l": c.total_apart(lambda k, m: c.times(c.known(q.r[k]), c.known(key.r[m]))),
    "a square root": c.root(c.plus(R, EPS)),
    "a power": c.power(R, p),
    "a power of the larger": c.monotone(EPS, R, c.known(p)),
    "a convex power": c.bernoulli(R, c.known(p)),
    "|b| <= a": c.difference(R, x[i], c.square(y[i])),
    "an equal form": c.same(GAP, z.r[i] ** 2),
}


def status(proof, expr=None, strict=False):
    """What the route says of 0 <= expr, by default what the certificate says it shows."""
    shown = proof.expr if expr is None else expr
    statement = Inequality("", "", lambda: (0, shown), lambda: proof, hypotheses=(LARGE,), strict=strict)
    return decide(statement, "").status


def without_sides(proof, **changes):
    """A tampered certificate of what the true one shows."""
    return status(replace(proof, **changes), proof.expr)


def test_there_is_a_proof_of_every_rule():
    assert set(PROOFS) == set(RULES)
    assert all(proof.rule.startswith(rule) for rule, proof in PROOFS.items())


@pytest.mark.parametrize("rule", PROOFS)
def test_a_rule_is_accepted_as_it_stands(rule):
    assert status(PROOFS[rule]) == "consistent"


@pytest.mark.parametrize("rule", PROOFS)
def test_a_certificate_of_something_else_is_refused(rule):
    assert status(PROOFS[rule], PROOFS[rule].expr + z.r[i]) == "undecided"
    assert without_sides(PROOFS[rule], expr=PROOFS[rule].expr + z.r[i]) == "undecided"


@pytest.mark.parametrize("rule", PROOFS)
def test_a_rule_under_another_name_is_refused(rule):
    other = "a sum over k" if rule == "a sum" else "a sum"
    assert without_sides(PROOFS[rule], rule="a new rule") == "undecided"
    if len(PROOFS[rule].parts) != 1:
        data = PROOFS[rule].data or (sp.Symbol("m", integer=True), P)
        assert without_sides(PROOFS[rule], rule=other, data=data) == "undecided"


@pytest.mark.parametrize("rule", [rule for rule, proof in PROOFS.items() if proof.parts])
def test_a_premise_replaced_by_another_is_refused(rule):
    for number in range(len(PROOFS[rule].parts)):
        parts = list(PROOFS[rule].parts)
        parts[number] = c.plus(parts[number], SURE)
        assert without_sides(PROOFS[rule], parts=tuple(parts)) == "undecided"


@pytest.mark.parametrize("rule", [rule for rule, proof in PROOFS.items() if proof.parts])
def test_a_premise_left_out_is_refused(rule):
    assert without_sides(PROOFS[rule], parts=PROOFS[rule].parts[1:]) == "undecided"


@pytest.mark.parametrize(
    ("rule", "data"),
    [
        ("a square", (x[i] + y[i],)),
        ("a power", (p + 1,)),
        ("|b| <= a", (y[i], sp.Integer(-1))),
        ("|b| <= a", (x[i], sp.Integer(-3))),
        ("a sum over k", (PROOFS["a sum over k"].data[0], 2 * P)),
        ("a sum over pairs k != l", (*PROOFS["a sum over pairs k != l"].data[1::-1], 2 * P)),
    ],
)
def test_other_data_are_refused(rule, data):
    assert without_sides(PROOFS[rule], data=data) == "undecided"


@pytest.mark.parametrize("rule", ["a square", "declared", "a sum", "a product", "a square root", "a sum over k"])
def test_strictness_that_a_rule_does_not_give_is_refused(rule):
    assert status(replace(PROOFS[rule], strict=True)) == "undecided"


def test_a_strict_inequality_needs_a_strict_certificate():
    assert status(SURE, strict=True) == "consistent"
    assert status(c.plus(MORE), strict=True) == "undecided"


def test_a_quotient_by_what_may_vanish_is_refused():
    assert status(replace(PROOFS["a quotient"], parts=(R, EPS))) == "undecided"


def test_a_negative_power_of_what_may_vanish_is_refused():
    assert status(replace(PROOFS["a power"], data=(-p,)), z.r[i] ** -p) == "undecided"


def test_a_negative_number_is_not_declared_non_negative():
    assert status(replace(ONE, expr=sp.Integer(-1)), sp.Integer(-1)) in ("refuted", "undecided")
    assert status(replace(R, expr=x[i]), x[i] ** 3 - x[i] ** 3 + x[i]) in ("refuted", "undecided")


def test_a_hypothesis_that_the_statement_does_not_name_is_refused():
    assert without_sides(MORE, hypothesis="something else") == "undecided"
    assert without_sides(MORE, hypothesis=" ") == "undecided"


def test_a_hypothesis_that_does_not_give_what_it_is_used_for_is_refused():
    assert status(c.plus(c.given(z.r[i] - 2, LARGE.text), c.known(2)), z.r[i]) == "undecided"
    assert status(c.plus(MORE, ONE), z.r[i]) == "consistent"


def test_what_is_assumed_of_other_indices_need_not_hold_of_this_one():
    others = Hypothesis("r_k >= 1 for k != i", lambda at: all(at.entry(z.r, k) >= 1 for k in range(1, int(at[P]) + 1)))
    proof = c.total_except(i, lambda k: c.given(z.r[k] - 1, others.text))
    statement = Inequality("", "", lambda: (0, proof.expr), lambda: proof, hypotheses=(others,))
    assert decide(statement, "").status == "consistent"
