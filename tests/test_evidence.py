"""Evidence is found by name, and what goes wrong while collecting it is said, never passed over."""

import pytest

from numerics.measure import Settings
from paper_checks import evidence, run
from paper_checks.claims import load
from paper_checks.evidence import Task, collect, exists

SETTINGS = Settings(dtypes=("fp32",))
HEAD = "from {theory}.toy.kit import *\n"


def decided(slug="eq01", settings=SETTINGS, jobs=1):
    claim = next(claim for claim in load()[0].claims if claim.slug == slug)
    return run.run([claim], settings, jobs)[0]


def statuses(result):
    return [(row.statement, row.status) for row in result.evidence]


def test_modules_are_found_by_name_alone(toy):
    assert exists(f"{toy.theory}.toy.eq01")
    assert not exists(f"{toy.theory}.toy.taste")
    assert not exists(f"{toy.theory}.another_paper.eq01")
    assert [task.module for task in run.tasks(load()[0].claims, SETTINGS)] == [
        f"{toy.theory}.toy.eq01",
        f"{toy.numerics}.toy.eq01",
        f"{toy.theory}.toy.eq02",
        f"{toy.numerics}.toy.eq02",
        f"{toy.theory}.toy.eq02_rms",
    ]


def test_a_true_claim_passes(toy):
    result = decided()
    assert (result.verdict.verdict, result.problems) == ("PASS", ())
    assert statuses(result) == [("as printed", "proved"), ("as printed", "consistent")]
    assert (result.evidence[0].scope, result.evidence[0].detail) == ("every P", "x + x = 2 x")


def test_a_false_claim_fails_with_its_witness_and_the_corrected_statement(toy):
    result = decided("eq02")
    assert (result.verdict.verdict, result.verdict.corrected, result.problems) == ("FAIL", "x + x = 2 x", ())
    assert result.evidence[0].witness == {"inputs": {"x": "1"}, "values": {"left": "2", "right": "1"}, "relation": "="}
    assert result.evidence[0].kind == "exact"


def test_each_condition_is_a_row_of_its_own(toy):
    result = decided("eq02-rms")
    assert statuses(result) == [("as printed", "proved"), ("without: x != 0", "refuted")]
    assert (result.verdict.verdict, result.verdict.conditions) == ("PASS IF", ("x != 0",))


def test_a_condition_of_a_further_statement_is_not_a_condition_of_the_claim(toy):
    further = 'Statement("further", "", lambda: PROVED, (Condition("x > 0", lambda: Refuted(witness())),))'
    printed = 'Statement("as printed", "", lambda: PROVED)'
    toy.write_theory("eq01", f"{HEAD}STATEMENTS = ({printed}, {further})")
    result = decided()
    assert result.verdict.verdict == "PASS"
    assert ("further, without: x > 0", "refuted") in statuses(result)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise ValueError('boom')", "ValueError: boom"),
        ("import nowhere_at_all", "ModuleNotFoundError"),
        ("1 +", "SyntaxError"),
        ("", "AttributeError"),
        ("STATEMENTS = ()", "ValueError: no statement was decided"),
        (HEAD + "STATEMENTS = (Statement('as printed', '', lambda: 1 / 0),)", "ZeroDivisionError"),
        (HEAD + "STATEMENTS = (Statement('as printed', '', lambda: None),)", "AttributeError"),
        (HEAD + "STATEMENTS = (Statement('as printed', '', lambda: True),)", "AttributeError"),
    ],
)
def test_a_theory_module_that_raises_is_undecided_and_an_error(toy, source, message):
    toy.write_theory("eq01", source)
    result = decided()
    assert result.verdict.verdict == "OPEN"
    assert result.evidence[0].status == "undecided" and message in result.evidence[0].detail
    assert any(message in problem for problem in result.problems)
    assert run.status([result]) == 1


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise ValueError('boom')", "ValueError: boom"),
        ("def measure(settings): return iter(())", "ValueError: nothing was measured"),
        ("def measure(settings): yield None", "AttributeError"),
    ],
)
def test_a_numerics_module_that_raises_was_not_run_and_is_an_error(toy, source, message):
    toy.write_numerics("eq01", source=source)
    result = decided()
    assert (result.verdict.verdict, statuses(result)[-1]) == ("PASS", ("as printed", "not run"))
    assert message in result.evidence[-1].detail and any(message in problem for problem in result.problems)
    assert run.status([result]) == 1


def test_what_was_found_before_the_error_is_kept(toy):
    printed, broken = "Statement('as printed', '', lambda: PROVED)", "Statement('further', '', None)"
    toy.write_theory("eq01", f"{HEAD}STATEMENTS = ({printed}, {broken})")
    assert statuses(decided(settings=None)) == [("as printed", "proved"), ("as printed", "undecided")]
    assert decided().verdict.verdict == "OPEN"


def test_a_witness_that_does_not_reproduce_refutes_nothing(toy):
    toy.write_theory("eq02", HEAD + "STATEMENTS = (Statement('as printed', '', lambda: Refuted(witness(False))),)")
    result = decided("eq02")
    assert (result.evidence[0].status, result.verdict.verdict) == ("undecided", "OPEN")
    assert run.status([result]) == 1


def test_a_statement_that_comes_out_the_other_way_is_a_problem(toy):
    refuted = "Statement('further', '', lambda: Refuted(witness()))"
    toy.write_theory("eq01", f"{HEAD}STATEMENTS = (Statement('as printed', '', lambda: PROVED), {refuted})")
    assert any("'further' should be proved and is refuted" in problem for problem in decided().problems)


@pytest.mark.parametrize("worst", ["1.0000001", "float('inf')", "float('nan')"])
def test_a_violated_proof_is_a_contradiction_that_fails_the_run(toy, worst):
    toy.write_numerics("eq01", worst=worst)
    result = decided()
    assert result.evidence[-1].status == "violated"
    assert result.verdict.verdict == "PASS" and "a measurement violates it" in result.problems[0]
    assert run.status([result]) == 1


def test_a_violated_false_claim_is_agreement(toy):
    result = decided("eq02")
    assert statuses(result)[-1] == ("as printed", "violated") and run.status([result]) == 0


def test_nothing_tried_is_not_run_and_leaves_the_run_incomplete(toy):
    nothing = "Measurement('random', 'as printed', '', 0.0, 0, 'fp16', 'cpu', 0, detail='no such kernel')"
    toy.write_numerics("eq01", source=f"from numerics.measure import Measurement\ndef measure(_): yield {nothing}")
    result = decided()
    assert result.evidence[-1].status == "not run" and result.evidence[-1].worst_error_over_bound is None
    assert (result.problems, run.status([result])) == ((), 3)


def test_a_verdict_other_than_the_ledgers_is_a_regression(toy):
    toy.write_theory("eq01", HEAD + "STATEMENTS = (Statement('as printed', '', lambda: Undecided('stuck')),)")
    result = decided()
    assert result.problems == (
        "eq01: the evidence says OPEN (the printed statement is undecided: stuck), the ledger PASS",
    )
    assert run.status([result]) == 1


def test_a_claim_without_evidence_is_open_for_the_reason_the_ledger_gives(toy):
    result = decided("taste")
    assert (result.verdict.verdict, result.reason, result.problems) == ("OPEN", "not examined yet", ())


def test_an_open_claim_is_reproduced_unless_it_was_asked_for(toy):
    result = decided("taste")
    assert (run.status([result]), run.status([result], [result.claim])) == (0, 3)


def test_the_evidence_does_not_depend_on_the_number_of_processes(toy):
    def rows(jobs):
        results = run.run(load()[0].claims, SETTINGS, jobs)
        return [[(row.statement, row.status, row.witness) for row in result.evidence] for result in results]

    assert rows(1) == rows(2)


def test_a_worker_that_dies_is_an_error_and_not_a_pass(toy):
    toy.write_theory("eq01", "import os; os._exit(9)")
    results = run.run(load()[0].claims, None, 2)
    assert any("eq01 raised" in problem for problem in results[0].problems)
    assert run.status(results) == 1


def test_collecting_reads_only_the_module_it_is_asked_for(toy):
    toy.write_theory("eq02", "raise SystemError")
    assert collect(Task("toy", "eq01", evidence.THEORY)).errors == ()
