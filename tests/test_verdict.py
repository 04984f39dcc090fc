"""The verdict is a pure function of the evidence, and of nothing else."""

import ast
import inspect

import pytest

from paper_checks import verdict
from paper_checks.evidence import Evidence
from paper_checks.verdict import decide


def row(status, statement="as printed", **fields):
    kind = {"proved": "symbolic", "undecided": "symbolic", "refuted": "exact"}.get(status, "random")
    return Evidence(kind=kind, statement=statement, status=status, **fields)


PROVED, REFUTED, UNDECIDED = row("proved"), row("refuted"), row("undecided", detail="no certificate")
CONSISTENT, VIOLATED, NOT_RUN = row("consistent"), row("violated"), row("not run")
NEEDED, UNNEEDED = row("refuted", "without: x != 0"), row("undecided", "without: y != 0")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], "OPEN"),
        ([PROVED], "PASS"),
        ([PROVED, PROVED], "PASS"),
        ([PROVED, CONSISTENT], "PASS"),
        ([REFUTED], "FAIL"),
        ([PROVED, REFUTED], "FAIL"),
        ([REFUTED, UNDECIDED], "FAIL"),
        ([REFUTED, CONSISTENT], "FAIL"),
        ([REFUTED, VIOLATED], "FAIL"),
        ([UNDECIDED], "OPEN"),
        ([PROVED, UNDECIDED], "OPEN"),
        ([PROVED, NEEDED], "PASS IF"),
        ([PROVED, NEEDED, UNNEEDED], "OPEN"),
        ([NEEDED], "OPEN"),
        ([row("proved", "corrected")], "OPEN"),
        ([row("proved", "a further theorem"), CONSISTENT], "OPEN"),
    ],
)
def test_verdict_of(rows, expected):
    assert decide(rows).verdict == expected


@pytest.mark.parametrize("rows", [[CONSISTENT] * 5, [VIOLATED], [NOT_RUN], [CONSISTENT, VIOLATED, NOT_RUN]])
def test_numeric_evidence_alone_decides_nothing(rows):
    assert decide(rows).verdict == "OPEN"


@pytest.mark.parametrize("numeric", [CONSISTENT, VIOLATED, NOT_RUN])
@pytest.mark.parametrize("symbolic", [[PROVED], [REFUTED], [UNDECIDED], [PROVED, NEEDED], []])
def test_numeric_evidence_changes_no_verdict(symbolic, numeric):
    assert decide([*symbolic, numeric]).verdict == decide(symbolic).verdict


def test_the_order_of_the_evidence_does_not_matter():
    rows = [PROVED, NEEDED, CONSISTENT, row("proved", "corrected", detail="2 x")]
    assert decide(rows) == decide(rows[::-1])


def test_pass_if_names_each_condition_once_and_only_those_of_the_printed_statement():
    other = row("refuted", "corrected, without: z != 0")
    assert decide([PROVED, NEEDED, NEEDED, other]).conditions == ("x != 0",)


def test_a_condition_that_nothing_needs_leaves_the_claim_open_with_the_reason():
    assert "y != 0" in decide([PROVED, UNNEEDED]).reason


def test_an_open_verdict_says_why():
    assert "no certificate" in decide([UNDECIDED]).reason
    assert "no symbolic evidence" in decide([CONSISTENT]).reason


@pytest.mark.parametrize(
    ("rows", "corrected"),
    [
        ([row("proved", "corrected", detail="2 x")], "2 x"),
        ([row("proved", "corrected", detail="a"), row("proved", "corrected", detail="b")], "a; b"),
        ([row("undecided", "corrected", detail="2 x")], None),
        ([row("proved", "corrected", detail="a"), row("undecided", "corrected", detail="b")], None),
        ([row("consistent", "corrected", detail="2 x")], None),
        ([], None),
    ],
)
def test_a_corrected_statement_is_given_only_when_all_of_it_is_proved(rows, corrected):
    assert decide([REFUTED, *rows]).corrected == corrected


@pytest.mark.parametrize("statement", ["as printed", "corrected", "a further theorem"])
def test_a_violated_theorem_is_a_contradiction(statement):
    assert decide([row("proved", statement), row("violated", statement)]).contradictions


@pytest.mark.parametrize("statement", ["corrected", "a further theorem"])
def test_a_violation_that_nothing_exact_explains_is_a_contradiction(statement):
    assert decide([PROVED, row("violated", statement)]).contradictions


def test_a_refuted_corrected_statement_is_a_contradiction():
    assert decide([REFUTED, row("refuted", "corrected")]).contradictions


@pytest.mark.parametrize("statement", ["as printed", "a further claim of the paper"])
def test_a_violated_refuted_statement_is_agreement(statement):
    assert decide([row("refuted", statement), row("violated", statement)]).contradictions == ()


def test_a_failed_search_does_not_contradict_a_refutation():
    assert decide([REFUTED, CONSISTENT]).contradictions == ()


def test_the_verdict_never_sees_the_ledger():
    assert list(inspect.signature(decide).parameters) == ["evidence"]
    assert "expected" not in Evidence.__dataclass_fields__
    source = inspect.getsource(verdict)
    imported = {node.module for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}
    assert imported == {"__future__", "collections.abc", "dataclasses", "paper_checks.evidence"}
    assert "expected" not in source
