"""Independent routes: what they find is shown and counted, never believed alone, and a disagreement fails the run."""

import dataclasses
import importlib
import pkgutil

import pytest

import theory.routes
from paper_checks import evidence, options, routes
from paper_checks.claims import Claim
from paper_checks.evidence import Evidence
from paper_checks.run import Result
from paper_checks.usage import UsageProblem
from paper_checks.verdict import decide, disagreements
from theory.routes import finding


def row(status, route="sympy", text="a", statement="as printed", **fields):
    return Evidence(route, statement, status, scope=f"as {route} sees it", route=route, text=text, **fields)


def result(*rows, expected="PASS"):
    claim = Claim("toy", "eq01", "Eq. 1", "x.", expected, open="later" if expected == "OPEN" else None)
    return Result(claim, decide(rows), rows)


# Which routes there are


def test_every_route_of_the_theory_is_asked():
    assert evidence.ROUTES == finding.ROUTES
    assert set(routes.MODULES) <= set(finding.ROUTES)
    found = {f"theory.routes.{entry.name}" for entry in pkgutil.iter_modules(theory.routes.__path__)}
    assert set(routes.MODULES.values()) == found - {finding.__name__}


@pytest.mark.parametrize("name", routes.MODULES.values())
def test_a_route_answers_about_claim_modules(name):
    assert callable(importlib.import_module(name).findings)


# What they mean for the verdict


@pytest.mark.parametrize("status", ["proved", "refuted", "consistent", "undecided", "not run"])
@pytest.mark.parametrize("route", evidence.ROUTES)
@pytest.mark.parametrize("symbolic", [[row("proved")], [row("refuted")], [row("undecided")], []])
def test_a_route_changes_no_verdict(symbolic, route, status):
    without = decide(symbolic)
    found = decide([*symbolic, row(status, route), row(status, route, statement="without: z != 0")])
    assert dataclasses.replace(found, contradictions=()) == without


@pytest.mark.parametrize("route", ["exact", "smt", "interval", "coq"])
@pytest.mark.parametrize(
    ("sympy", "other", "contradiction"),
    [
        ("proved", "refuted", True),
        ("refuted", "proved", True),
        ("refuted", "consistent", True),
        ("proved", "proved", False),
        ("proved", "consistent", False),
        ("refuted", "refuted", False),
        ("proved", "undecided", False),
        ("refuted", "not run", False),
        ("undecided", "proved", False),
        ("undecided", "refuted", False),
    ],
)
def test_two_routes_disagree_when_one_refutes_what_the_other_finds_true(route, sympy, other, contradiction):
    rows = [row(sympy), row(other, route)]
    for order in (rows, rows[::-1]):
        assert bool(decide(order).contradictions) is contradiction


def test_both_sides_of_a_disagreement_are_shown():
    rows = [row("proved", place="a.py:1"), row("refuted", "smt", place="b.py:2", detail="x = 3")]
    (told,) = decide(rows).contradictions
    for part in (
        "as printed",
        "sympy says proved (a; as sympy sees it; a.py:1)",
        "smt says refuted",
        "x = 3",
        "b.py:2",
    ):
        assert part in told


def test_two_independent_routes_can_disagree_too():
    assert disagreements([row("undecided"), row("proved", "smt"), row("refuted", "exact")])


def test_a_route_does_not_disagree_with_itself():
    assert not disagreements([row("proved"), row("proved", "smt"), row("proved", "smt")])
    assert not disagreements([row("proved", "smt"), row("refuted", "smt")])


@pytest.mark.parametrize("route", ["exact", "smt", "interval"])
def test_parts_of_one_name_are_told_apart_by_their_texts(route):
    rows = [row("proved", text="a"), row("refuted", text="b")]
    assert not disagreements([*rows, row("proved", route, "a"), row("refuted", route, "b")])
    assert disagreements([*rows, row("proved", route, "b")]) and disagreements([*rows, row("refuted", route, "a")])


@pytest.mark.parametrize(
    ("parts", "coq", "contradiction"),
    [
        (["proved", "proved"], "refuted", True),
        (["refuted", "refuted"], "proved", True),
        (["proved", "refuted"], "refuted", False),
        (["proved", "refuted"], "proved", False),
        (["proved", "undecided"], "refuted", False),
        ([], "refuted", False),
    ],
)
def test_a_theorem_of_coq_decides_some_part_of_its_name(parts, coq, contradiction):
    rows = [row(status, text=f"part {number}") for number, status in enumerate(parts)]
    assert bool(disagreements([*rows, row(coq, "coq", "its own words")])) is contradiction


def test_a_part_that_only_another_route_refutes_is_no_disagreement_with_coq():
    rows = [row("refuted", text="a"), row("proved", text="b"), row("refuted", "smt", "a"), row("proved", "coq", "b.")]
    assert not disagreements(rows)


def test_the_need_for_a_condition_is_compared_whatever_the_route_calls_it():
    dropped = "without: z != 0"
    sympy, smt = row("refuted", text="", statement=dropped), row("proved", "smt", "at z = 0", statement=dropped)
    assert disagreements([sympy, smt])
    assert not disagreements([sympy, dataclasses.replace(smt, status="refuted")])


def test_a_doubtful_refutation_does_not_excuse_a_measurement():
    measured = Evidence("random", "a further theorem", "violated")
    assert decide([row("refuted", "smt", statement="a further theorem"), measured]).contradictions


# Counting


@pytest.mark.parametrize(
    ("rows", "count"),
    [
        ([], 0),
        ([row("undecided")], 0),
        ([row("proved")], 1),
        ([row("proved"), row("proved", "coq")], 2),
        ([row("proved"), row("proved", "coq"), row("proved", "coq", "b")], 2),
        ([row("proved"), row("consistent", "exact"), row("proved", "coq")], 3),
        ([row("proved"), row("undecided", "smt"), row("not run", "coq")], 1),
        ([row("proved"), row("refuted", "smt"), row("proved", "coq")], 1),
        ([row("refuted"), row("refuted", "coq"), row("proved", statement="corrected")], 1),
        ([row("proved"), row("proved", "coq", statement="a further theorem")], 1),
        ([row("proved"), Evidence("random", "as printed", "consistent")], 1),
    ],
)
def test_a_claim_has_the_routes_of_its_weakest_statement(rows, count):
    assert routes.fewest(rows) == count


def test_claims_are_counted_by_their_routes():
    one = result(row("proved"))
    four = result(*(row("proved", route) for route in ("sympy", "exact", "smt", "coq")))
    left_open = result(row("proved"), expected="OPEN")
    assert routes.counts([one, one, four, left_open]) == {"1": 2, "2": 0, "3": 1}
    assert routes.alone([one, four, left_open]) == ["eq01"]


# The command line


@pytest.mark.parametrize(
    ("given", "chosen", "named"),
    [
        ((), ("exact", "coq"), ()),
        (("all",), ("exact", "coq"), ()),
        (("sympy",), (), ()),
        (("coq",), ("coq",), ("coq",)),
        (("coq, EXACT",), ("exact", "coq"), ("exact", "coq")),
        (("coq", "sympy", "coq"), ("coq",), ("coq",)),
        (("all", "coq"), ("exact", "coq"), ("coq",)),
    ],
)
def test_provers_are_chosen_by_name(monkeypatch, given, chosen, named):
    monkeypatch.setattr(routes, "MODULES", {"exact": "e", "coq": "c"})
    assert options.provers(given) == (chosen, named)


@pytest.mark.parametrize("given", ["lean", "", "coq,", "coq exact"])
def test_what_is_no_prover_is_refused(given):
    with pytest.raises(UsageProblem, match=r"--provers: got .*, accepts one of all, sympy"):
        options.provers([given])
