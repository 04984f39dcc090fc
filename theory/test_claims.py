"""The proof regression suite: every statement decided as expected, every mutant rejected, every witness recomputed."""

from __future__ import annotations

import pytest

from theory.claims import modules
from theory.proof import Refuted
from theory.statements import UNDEFINED

MODULES = modules()


def _short(module: object) -> str:
    return module.__name__.removeprefix("theory.")


STATEMENTS = [
    pytest.param(statement, id=f"{_short(module)}: {statement.name} [{number}]")
    for module in MODULES
    for number, statement in enumerate(module.STATEMENTS)
]
CONDITIONS = [
    pytest.param(condition, id=f"{_short(module)}: {condition.text}")
    for module in MODULES
    for condition in dict.fromkeys(c for statement in module.STATEMENTS for c in statement.conditions)
]
REFUTED = [parameter for parameter in STATEMENTS if parameter.values[0].expects == "refuted"]
MUTANTS = [
    pytest.param(module, target, mutant, id=f"{_short(module)}.{target}: {name}")
    for module in MODULES
    for target, mutants in (("printed", module.MUTANTS), ("corrected", getattr(module, "CORRECTED_MUTANTS", {})))
    for name, mutant in mutants.items()
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statement_is_decided_as_expected(statement):
    outcome = statement.decide()
    assert outcome.status == statement.expects, getattr(outcome, "reason", outcome)


@pytest.mark.parametrize(("module", "target", "mutant"), MUTANTS)
def test_mutant_is_rejected(module, target, mutant, monkeypatch):
    monkeypatch.setattr(module, target, mutant)
    label = {"printed": "as printed", "corrected": "corrected"}[target]
    statements = [statement for statement in module.STATEMENTS if statement.name == label]
    assert any(statement.decide().status != statement.expects for statement in statements)


@pytest.mark.parametrize("statement", REFUTED)
def test_witness_refutes_when_recomputed(statement):
    _assert_refutes(statement.decide())


@pytest.mark.parametrize("condition", CONDITIONS)
def test_dropping_the_condition_breaks_the_claim(condition):
    _assert_refutes(condition.necessity())


def _assert_refutes(outcome):
    assert isinstance(outcome, Refuted), outcome
    witness = outcome.witness
    assert witness.reproduces()
    values = list(witness.values.values())
    holds = {"=": lambda a, b: a == b, "<=": lambda a, b: a <= b, "<": lambda a, b: a < b}[witness.relation]
    pairs = list(zip(values[::2], values[1::2], strict=True))
    assert any(UNDEFINED in pair or not holds(*pair) for pair in pairs)


@pytest.mark.parametrize("module", MODULES, ids=_short)
def test_claim_has_a_printed_statement_and_a_mutant_of_it(module):
    names = [statement.name for statement in module.STATEMENTS]
    assert "as printed" in names
    assert module.MUTANTS
    if any(s.expects == "refuted" for s in module.STATEMENTS if s.name == "as printed"):
        assert "corrected" in names
        assert module.CORRECTED_MUTANTS


@pytest.mark.parametrize("module", MODULES, ids=_short)
def test_a_printed_claim_that_divides_by_a_magnitude_says_so(module):
    for statement in module.STATEMENTS:
        divides = any(str(expr).startswith("r[") for expr in statement.nonzero)
        if statement.name == "as printed" and statement.expects == "proved" and divides:
            assert any("!= 0" in condition.text for condition in statement.conditions)
