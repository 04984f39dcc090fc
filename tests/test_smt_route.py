"""The SMT route: what it proves and refutes, and that nothing it cannot decide passes."""

import builtins
from fractions import Fraction
from types import SimpleNamespace

import pytest

from theory.beyond import self_score
from theory.mrsnorm import eq04, eq05, eq06, eq08, eq16, eq16_rms, eq17, eq18, no_1d, radial_open
from theory.phasors import P, eps, gamma, i, index_sum, key, q, z
from theory.routes.smt import decide, findings, models, solver
from theory.routes.smt.models import WrongModel
from theory.routes.smt.solver import LIMIT, Solver
from theory.statements import Identity, Inequality

x, y = z.components
HEADLINES = {
    "eq04": (eq04, "as printed", "N <= 3"),
    "eq05": (eq05, "as printed", "P <= 3"),
    "eq06": (eq06, "as printed", "P <= 3"),
    "eq08": (eq08, "as printed", "P <= 3"),
    "eq16": (eq16, "corrected", "P <= 3"),
    "eq16-rms": (eq16_rms, "as printed", "P <= 3"),
    "eq17": (eq17, "as printed", "P <= 3"),
    "eq18": (eq18, "corrected", "P <= 3"),
    "self-score": (self_score, "as printed", "P <= 3"),
    "radial-open": (radial_open, "as printed", "P <= 3"),
}
MUTATED = [
    pytest.param(module, name, label, id=f"{module.__name__.rpartition('.')[2]}.{label}: {name}")
    for module in (eq04, eq05, eq06, eq08, eq16, eq18, self_score, radial_open)
    for label, mutants in (("as printed", module.MUTANTS), ("corrected", getattr(module, "CORRECTED_MUTANTS", {})))
    for name in mutants
]


@pytest.fixture(autouse=True)
def z3():
    """z3, or a skip that says what to install: what needs it is not passed without it."""
    return pytest.importorskip("z3", reason=solver.INSTALL)


def one(statement):
    """The only finding about a statement."""
    (finding,) = findings(SimpleNamespace(STATEMENTS=(statement,)))
    return finding


@pytest.mark.parametrize("claim", HEADLINES)
def test_a_headline_theorem_is_proved_at_the_stated_length(claim):
    module, name, scope = HEADLINES[claim]
    statement = next(s for s in module.STATEMENTS if s.name == name)
    found = one(statement)
    assert (found.status, found.scope) == ("proved", scope), found.detail


@pytest.mark.parametrize("module", [eq16, eq18], ids=["eq16", "eq18"])
def test_the_printed_bound_is_refuted_without_being_given_a_point(module):
    statement = next(s for s in module.STATEMENTS if s.name == "as printed")
    found = one(statement)
    assert found.status == "refuted", found.detail
    assert found.witness["inputs"] != statement.counterexample.data([module.derived()])


@pytest.mark.parametrize(("module", "name", "label"), MUTATED)
def test_a_mutant_is_not_confirmed(module, name, label, monkeypatch):
    target = {"as printed": "printed", "corrected": "corrected"}[label]
    mutant = {"as printed": module.MUTANTS, "corrected": getattr(module, "CORRECTED_MUTANTS", {})}[label][name]
    monkeypatch.setattr(module, target, mutant)
    statements = [s for s in module.STATEMENTS if s.name == label]
    assert any(one(s).status != s.expects for s in statements)


def test_a_false_inequality_is_refuted_at_a_point_evaluated_again():
    found = one(Inequality("false", "r_i <= x_i", lambda: (z.r[i], x[i])))
    assert found.status == "refuted"
    values = {name: Fraction(value) for name, value in found.witness["values"].items()}
    assert values["left"] > values["right"]


def test_two_different_numbers_are_refuted_at_a_point_of_the_domain():
    assert one(Identity("false", "x_i / x_i + 1 = 3", lambda: (P - P + 2, 3), nonzero=(x[i],))).status == "refuted"


def test_what_z3_does_not_know_is_undecided(monkeypatch):
    monkeypatch.setattr(Solver, "ask", lambda self, *assertions: ("unknown", None))
    found = one(Inequality("unknown", "x_i^2 >= 0", lambda: (0, x[i] ** 2)))
    assert found.status == "undecided"


def test_a_limit_that_is_reached_is_undecided():
    sums = index_sum(lambda k: q.r[k] ** 2) * index_sum(lambda k: key.r[k] ** 2)
    chain = Inequality("hard", "", lambda: (index_sum(lambda k: q.r[k] * key.r[k]) ** 2, sums))
    status = decide.decide(chain, Solver(limit=1)).status
    assert LIMIT > 1
    assert status == "undecided"


@pytest.mark.parametrize("value", [Fraction(0), Fraction(1, 3)])
def test_a_doctored_model_is_an_error(value, monkeypatch):
    monkeypatch.setattr(models, "rational", lambda model, term: (value, True))
    with pytest.raises(WrongModel, match=r"'false' .*z3's model, evaluated again, is no counterexample"):
        one(Inequality("false", "x_i <= 5", lambda: (x[i], 5)))


def test_a_model_that_had_to_be_rounded_may_fail_and_is_undecided(monkeypatch):
    monkeypatch.setattr(models, "rational", lambda model, term: (Fraction(0), False))
    found = one(Inequality("false", "x_i <= 5", lambda: (x[i], 5)))
    assert found.status == "undecided"
    assert "z3's model, evaluated again, is no counterexample" in found.detail


def test_a_solver_that_says_yes_to_everything_is_contradicted_by_the_point():
    class Doctored(Solver):
        """Answers every query with a model of the empty query."""

        def ask(self, *assertions):
            return super().ask()

    with pytest.raises(WrongModel, match="no counterexample"):
        decide.decide(Inequality("true", "x_i^2 >= 0", lambda: (0, x[i] ** 2)), Doctored())


def test_hypotheses_that_nothing_meets_prove_nothing():
    false = Identity("void", "0 = 1 where x_i - x_i != 0", lambda: (x[i], y[i]), nonzero=(x[i] * 0,))
    assert one(false).status == "undecided"


def test_an_assumption_that_is_not_named_is_not_used():
    from theory.certificate import given

    unnamed = Inequality("unnamed", "gamma_i >= 0", lambda: (0, gamma[i]), lambda: given(gamma[i], "gamma_i >= 0"))
    assert one(unnamed).status in ("refuted", "undecided")


def test_a_sum_free_statement_holds_for_every_P_at_once():
    assert one(Identity("square", "", lambda: ((P + eps) ** 2, P**2 + 2 * P * eps + eps**2))).scope == "every P"


def test_an_impossibility_is_contradicted_without_its_cofactors():
    statements = [s for s in no_1d.STATEMENTS if hasattr(s, "facts")]
    assert [one(s).status for s in statements] == [
        {"refuted": "undecided"}.get(s.expects, s.expects) for s in statements
    ]


def test_without_z3_nothing_is_run(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name == "z3":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    found = list(findings(eq05))
    assert {finding.status for finding in found} == {"not run"}
    assert all("pip install z3-solver" in finding.detail for finding in found)
