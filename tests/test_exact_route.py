"""The exact route: it agrees with every theorem, rejects every mutant, and does not lean on SymPy's calculus."""

from __future__ import annotations

import re
from functools import cache

import pytest
import sympy as sp

from theory import phasors
from theory.claims import modules
from theory.exact import point
from theory.kinds.computed import Computed
from theory.mrsnorm import eq05
from theory.phasors import P, derivative, g, gamma, i, index_sum, z
from theory.routes.exact.findings import AGREES, answer_to, findings
from theory.routes.exact.identities import SURE
from theory.routes.exact.questions import LENGTHS
from theory.statements import Identity, Inequality

MODULES = modules()
LABELS = {"printed": "as printed", "corrected": "corrected"}
UNDECIDED = {  # a premise is a computation, which this route does not repeat
    ("theory.ma_rmsnorm.ma_entropy", "the range that guarantees 99.5 %"),
}
COMPUTED_ONLY = {  # module, function -> how many of its mutants are visible only to statements that are computed
    ("ma_entropy", "printed"): 2,
    ("ma_example", "printed"): 1,
    ("ma_fp16", "printed"): 2,
    ("appendix_c", "printed"): 5,
    ("digest_listing", "printed"): 2,
    ("digest_listing", "corrected"): 2,
    ("significance", "printed"): 2,
    ("significance", "corrected"): 4,
}


def _short(module):
    return module.__name__.rpartition(".")[2]


MUTATED = [
    pytest.param(module, target, id=f"{_short(module)}.{target}")
    for module in MODULES
    for target, mutants in (("printed", module.MUTANTS), ("corrected", getattr(module, "CORRECTED_MUTANTS", {})))
    if mutants
]


@cache
def found(module):
    return tuple(findings(module))


def applied(module):
    return [statement for statement in module.STATEMENTS if not isinstance(statement, Computed)]


def contradicts(statement, answer):
    return answer is not None and answer.status not in AGREES[statement.expects]


@pytest.mark.parametrize("module", MODULES, ids=_short)
def test_every_statement_that_is_not_computed_is_decided_as_the_suite_expects(module):
    for statement, finding in zip(applied(module), found(module), strict=True):
        assert (finding.statement, finding.text) == (statement.name, statement.text)
        if (module.__name__, statement.name) in UNDECIDED:
            assert finding.status == "undecided", finding
            assert "not decided by this route" in finding.detail
        else:
            assert finding.status in AGREES[statement.expects], finding


@pytest.mark.parametrize(("module", "target"), MUTATED)
def test_mutants_are_rejected(module, target, monkeypatch):
    mutants = module.MUTANTS if target == "printed" else module.CORRECTED_MUTANTS
    statements = [(n, s) for n, s in enumerate(module.STATEMENTS) if s.name == LABELS[target]]
    survivors = []
    for name, mutant in mutants.items():
        monkeypatch.setattr(module, target, mutant)
        if any(contradicts(statement, answer_to(statement, f"{name} {n}")) for n, statement in statements):
            continue
        survivors.append(name)
        computed = [statement for _, statement in statements if isinstance(statement, Computed)]
        assert any(statement.decide().status != statement.expects for statement in computed), name
    assert len(survivors) == COMPUTED_ONLY.get((_short(module), target), 0), survivors


def test_an_identity_states_its_points_its_degree_and_the_probability_of_a_false_pass():
    (finding, *_) = found(eq05)
    assert finding.status == "consistent"
    assert finding.scope == f"P in {{{', '.join(map(str, LENGTHS))}}}"
    assert re.search(r"degree <= \d+ at P = 64; 6 points, each coordinate drawn from 2\^\d+ integers", finding.detail)
    assert f"with probability <= 2^-{SURE} (Schwartz-Zippel)" in finding.detail
    assert re.fullmatch(r"theory/routes/exact/checks\.py:\d+", finding.place)


def test_no_identity_is_called_proved_and_every_consistent_one_has_its_probability():
    for finding in (finding for module in MODULES for finding in found(module)):
        assert finding.status != "proved"
        if finding.status == "consistent" and "premises" not in finding.detail:
            stated = "with probability <= 2^-64" in finding.detail or "no probability is claimed" in finding.detail
            assert stated, finding


def test_derivatives_that_cannot_be_left_standing_are_few_and_said_so():
    said = [f for module in MODULES for f in found(module) if "derivatives taken by SymPy" in f.detail]
    assert {finding.statement for finding in said} == {
        "the value at x = 0",
        "the slope at x = 0 in figures",
        "the determinant, written out",
        "the slope of the entropy",
        "it changes its sign once",
        "the slope of the loss of entropy",
    }


@pytest.mark.parametrize("module", MODULES, ids=_short)
def test_witnesses_have_the_values_of_the_other_route(module):
    for statement, finding in zip(applied(module), found(module), strict=True):
        if statement.expects == "refuted":
            witness = statement.decide().witness
            assert finding.witness["values"] == witness.values
            assert witness.inputs == {name: finding.witness["inputs"][name] for name in witness.inputs}


@pytest.fixture
def constant_magnitudes(monkeypatch):
    """A calculus with a wrong rule: magnitudes do not change with their coordinates."""
    right = phasors._rate

    def wrong(node, variable):
        return 0 * node if getattr(node, "base", None) in phasors.MAGNITUDES else right(node, variable)

    phasors._derivative.cache_clear()
    monkeypatch.setattr(phasors, "_rate", wrong)
    yield
    phasors._derivative.cache_clear()


@pytest.fixture
def dropped_delta(monkeypatch):
    """A calculus with a wrong rule: every entry of a family changes with each of them."""
    right = phasors._rate

    def wrong(node, variable):
        return right(node, variable).replace(sp.KroneckerDelta, lambda *_: sp.Integer(1))

    phasors._derivative.cache_clear()
    monkeypatch.setattr(phasors, "_rate", wrong)
    yield
    phasors._derivative.cache_clear()


def _held_constant():
    return Identity("S held constant", "", lambda: (eq05.derived(), gamma[i] * g[i] / eq05.S), nonzero=(eq05.S, z.r))


def test_a_wrong_derivative_rule_that_misleads_the_other_route_is_caught(constant_magnitudes):
    false = _held_constant()
    assert false.decide().status == "proved"
    answer = answer_to(false, "false")
    assert answer.status == "refuted"
    assert answer.witness["values"]["left 1"] != answer.witness["values"]["right 1"]
    printed = eq05.STATEMENTS[0]
    assert printed.decide().status != "proved"
    assert answer_to(printed, "true").status == "consistent"


def test_a_dropped_delta_is_caught(dropped_delta):
    weights = index_sum(lambda k: gamma[k])
    false = Identity("without the delta", "", lambda: (derivative(weights, gamma[i]), P))
    assert false.decide().status == "proved"
    assert answer_to(false, "false").status == "refuted"


@pytest.mark.parametrize(("kind", "status"), [(Identity, "refuted"), (Inequality, "undecided")])
def test_a_point_that_is_no_counterexample_refutes_nothing(kind, status):
    right = z.r[i] if kind is Inequality else 2 * z.r[i]
    statement = kind("r <= r", "", lambda: (z.r[i], right), counterexample=point(z=[(0, 0)]))
    answer = answer_to(statement, "")
    assert answer.status == status
    assert "named counterexample" not in answer.detail
