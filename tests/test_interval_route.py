"""The ball arithmetic route: encloses what is known, refutes what is altered, never takes doubt for an answer."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
import sympy as sp

from theory import claims
from theory.exact import Point
from theory.kinds.computed import Computed
from theory.kinds.deduction import Deduction
from theory.kinds.impossible import Impossible
from theory.routes import interval
from theory.routes.finding import ROOT
from theory.routes.interval import balls, boxes, constant, points
from theory.routes.interval.entropy_constants import corner, entropy, heaviest, softmax
from theory.routes.interval.exact_constants import half, rounding_error, smallest_p_value
from theory.routes.interval.uncovered import UNCOVERED
from theory.statements import Identity, Inequality

flint = pytest.importorskip("flint", reason="python-flint, of the extra provers")
arb = flint.arb

STATEMENTS = {(m.__name__.removeprefix("theory."), s.text): s for m in claims.modules() for s in m.STATEMENTS}
MODULES = {m.__name__.removeprefix("theory."): m for m in claims.modules()}
x, y = sp.symbols("x y", real=True)


@cache
def found(claim):
    return tuple(interval.findings(MODULES[claim]))


def _name(entry):
    return f"{entry.claim.split('.')[1]}-{entry.text[:40]}"


@pytest.mark.parametrize(
    ("value", "reference"),
    [
        (lambda: entropy([balls.ball("3/4"), balls.ball("1/4")]), "0.5623351446188083"),  # H of (3/4, 1/4), in nats
        (lambda: heaviest(1024, arb(8)), "0.7445028136382045"),
        (lambda: arb(64).sqrt().exp(), "2980.957987041728"),
        (lambda: corner(4, 4, arb(2)), "1.3862943611198906"),  # log 4
        (lambda: softmax([arb(0), arb(2).log()])[1], "0.6666666666666667"),
    ],
    ids=["entropy", "heaviest", "exp", "log", "softmax"],
)
def test_enclosures_contain_known_values(value, reference):
    unit = Fraction(1, 10 ** len(reference.split(".")[1]))
    with flint.ctx.workprec(128):
        assert abs(value() - balls.ball(reference)) <= balls.ball(unit)


@pytest.mark.parametrize(
    ("value", "rounded"),
    [("1/4096", "1/4096"), ("65503", "65504"), ("2049", "2048"), ("2051", "2052"), ("3/67108864", "1/16777216")],
)
def test_half_precision_rounds_to_nearest_even(value, rounded):
    assert half(Fraction(value)) == Fraction(rounded)


def test_rounding_errors_of_thirds_are_exact():
    assert rounding_error(Fraction(1, 3)) == flint.fmpq(1, 12288)
    assert rounding_error(Fraction(2, 3)) == flint.fmpq(1, 6144)
    with pytest.raises(ValueError, match="twice"):
        half(Fraction(1, 3))


def test_rank_sums_give_the_tables_of_the_rank_test():
    assert [smallest_p_value(n) for n in (2, 3, 4, 5)] == [flint.fmpq(2, n) for n in (6, 20, 70, 252)]


@pytest.mark.parametrize("entry", interval.CONSTANTS, ids=_name)
def test_a_constant_answers_to_a_statement_and_agrees_with_it(entry):
    assert entry.decide()[0] == STATEMENTS[entry.claim, entry.text].decide().status


@pytest.mark.parametrize("entry", interval.CONSTANTS, ids=_name)
def test_other_numbers_get_the_opposite_answer(entry):
    opposite = {"proved": "refuted", "refuted": "proved"}[entry.decide()[0]]
    assert entry.mutants
    assert {entry.decide(mutant)[0] for mutant in entry.mutants} == {opposite}


def test_too_little_precision_leaves_a_constant_undecided():
    entry = next(entry for entry in interval.CONSTANTS if "10^11 keys" in entry.text)
    statement = STATEMENTS[entry.claim, entry.text]
    assert constant.finding(entry, statement, cap=128).status == "undecided"
    assert constant.finding(entry, statement).status == "proved"


@pytest.mark.parametrize("entry", interval.BOXES, ids=_name)
def test_a_tightened_bound_fails_on_its_box(entry):
    statement = STATEMENTS[entry.claim, entry.text]
    assert 0 < entry.tightened < 1
    refuted = boxes.decide(entry, statement, entry.tightened)
    assert refuted.status == "refuted" and refuted.violated


@pytest.mark.parametrize("claim", sorted({entry.claim for entry in interval.BOXES}))
def test_every_bound_is_proved_on_its_box(claim):
    bounds = {entry.text for entry in interval.BOXES if entry.claim == claim}
    answers = [finding for finding in found(claim) if finding.text in bounds]
    assert {finding.status for finding in answers} == {"proved"}
    assert all("sub-box" in finding.scope and "<=" in finding.scope for finding in answers)


def test_too_few_boxes_leave_a_bound_undecided():
    entry = next(entry for entry in interval.BOXES if entry.claim == "beyond.self_score")
    assert boxes.finding(entry, STATEMENTS[entry.claim, entry.text], limit=50).status == "undecided"


def test_a_bound_that_is_reached_inside_the_box_is_not_proved():
    found = boxes.cover(lambda at: [(2 * at["x"], at["x"] ** 2 + 1)], {"x": (0, 2)}, limit=500)
    assert found.status == "undecided"


def test_a_bound_that_fails_in_one_corner_is_refuted_there():
    found = boxes.cover(lambda at: [(at["x"] + at["y"], arb(2) - arb(2) ** -40)], {"x": (0, 1), "y": (0, 1)})
    assert found.status == "refuted" and found.violated["point"] == {"x": "1", "y": "1"}


def test_a_violation_away_from_corners_is_found_by_halving():
    found = boxes.cover(lambda at: [(at["x"] * (arb(3) - at["x"]), arb(2.2))], {"x": (0, "5/4")})
    assert found.status == "proved"
    found = boxes.cover(lambda at: [(-abs(at["x"] - balls.ball("1/3")), arb(-0.01))], {"x": (0, 1)})
    assert found.status == "refuted" and "box" in found.violated


def test_division_by_a_ball_that_holds_zero_is_no_proof():
    assert boxes.cover(lambda at: [(arb(-1), 1 / at["x"])], {"x": (0, 1)}, limit=200).status == "undecided"


def test_a_box_covers_the_numbers_it_names():
    low, high = boxes._outward("1/10", "7/10")
    assert Fraction(low) <= Fraction(1, 10) and Fraction(high) >= Fraction(7, 10)
    assert Fraction(high) - Fraction(low) < Fraction(6, 10) + Fraction(1, 10**15)


@pytest.mark.parametrize(
    ("claim", "text"),
    [key for key, s in STATEMENTS.items() if points.applies(s)],
    ids=lambda value: value.replace(" ", "_")[:40],
)
def test_every_named_counterexample_refutes_in_balls(claim, text):
    answers = [finding for finding in found(claim) if finding.text == text]
    assert [finding.status for finding in answers] == ["refuted"]
    assert answers[0].witness["left"] != "" and answers[0].witness["inputs"]


def _point(left, right, relation=Identity, **numbers):
    at = Point({}, {x: Fraction(2), **numbers}, {})
    return relation("s", "", lambda: (left, right), counterexample=at)


def test_irrational_values_refute_where_they_are_apart():
    finding = points.refutation(_point(sp.sqrt(x), sp.Rational(14142, 10000)))
    assert finding.status == "refuted" and finding.witness["relation"] == "="


@pytest.mark.parametrize(
    ("left", "right", "relation"),
    [
        (sp.sqrt(x), 2 / sp.sqrt(x), Identity),
        (sp.sqrt(x), 2 / sp.sqrt(x), Inequality),
        (x, 2, Identity),
        (1 / (x - 2), 0, Identity),
        (sp.log(x - 3), 0, Identity),
    ],
    ids=["equal_roots", "at_most", "equal_numbers", "undefined", "logarithm"],
)
def test_a_point_that_does_not_separate_the_sides_refutes_nothing(left, right, relation):
    assert points.refutation(_point(left, right, relation)).status == "undecided"


def test_a_corrected_claim_is_no_longer_refuted():
    eq18 = MODULES["mrsnorm.eq18"]
    statement = replace(eq18.STATEMENTS[0], sides=lambda: (eq18.derived(), eq18.corrected()))
    assert points.refutation(eq18.STATEMENTS[0]).status == "refuted"
    assert points.refutation(statement).status == "undecided"


def test_no_answer_contradicts_the_proof_of_the_same_statement():
    assert found("beyond.trade_off")
    for claim in MODULES:
        for finding in found(claim):
            expected = STATEMENTS[claim, finding.text].expects
            assert finding.status == expected, (claim, finding)


def test_every_computation_and_deduction_is_answered_or_explained():
    missing = {
        (claim, s.text)
        for (claim, _), s in STATEMENTS.items()
        if isinstance(s, Computed | Deduction | Impossible) and not any(f.text == s.text for f in found(claim))
    }
    assert missing == set(UNCOVERED)


def test_without_flint_every_answer_is_not_run(monkeypatch):
    for module in (boxes, constant, points):
        monkeypatch.setattr(module, "available", lambda: False)
    for claim in ("mrsnorm.softmax_collapse", "ma_rmsnorm.ma_fp16", "mrsnorm.eq18"):
        answers = list(interval.findings(MODULES[claim]))
        assert Counter(finding.status for finding in answers) == {"not run": len(found(claim))}
        assert all("pip install" in finding.detail for finding in answers)


def test_every_answer_says_where_it_was_decided():
    for finding in found("mrsnorm.softmax_collapse"):
        file, line = finding.place.rsplit(":", 1)
        assert file.startswith("theory/routes/interval/") and int(line) > 1 and finding.seconds >= 0


def test_the_route_imports_without_flint_and_says_that_it_did_not_run():
    code = (
        "import sys; sys.modules['flint'] = None\n"
        "from theory.mrsnorm import eq18, softmax_collapse\n"
        "from theory.routes import interval\n"
        "found = [f for m in (eq18, softmax_collapse) for f in interval.findings(m)]\n"
        "print(len(found), {f.status for f in found})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    count = len(found("mrsnorm.eq18")) + len(found("mrsnorm.softmax_collapse"))
    assert (done.stdout, done.stderr) == (f"{count} {{'not run'}}\n", "")


@pytest.mark.parametrize(
    ("claim", "text", "altered"),
    [
        ("mrsnorm.eq18", "|score| <= (d/2)^2 = d^2/4", "d^2/8"),
        ("mrsnorm.eq18", "|score| <= (d/2)^2 = d^2/4", "d^2/4 - 1"),
        ("mrsnorm.eq16", "|P_i| <= r_q r_k / (S_q S_k) <= (d/2)^2", "d/2"),
    ],
)
def test_a_wrong_formula_of_the_claim_is_refuted_on_the_box(monkeypatch, claim, text, altered):
    module = MODULES[claim]
    monkeypatch.setattr(module, "corrected", module.CORRECTED_MUTANTS[altered])
    answers = [finding for finding in interval.findings(module) if finding.text == text]
    assert [finding.status for finding in answers] == ["refuted"]
    assert answers[0].witness
