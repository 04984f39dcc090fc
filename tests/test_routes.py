"""Independent routes: what they find is shown and counted, never believed alone, and a disagreement fails the run."""

import dataclasses
import importlib
import pkgutil
import xml.etree.ElementTree as ET

import pytest

import theory.routes
from paper_checks import evidence, options, routes, run
from paper_checks.claims import Claim, load
from paper_checks.evidence import Evidence
from paper_checks.report import markdown
from paper_checks.run import Result
from paper_checks.usage import UsageProblem
from paper_checks.verdict import decide, disagreements
from theory.routes import finding

QUICK = ("--device", "cpu", "--dtype", "fp32", "--trials", "2")
EQ01 = "'as printed', 'x + x = 2 x', "


def row(status, route="sympy", text="a", statement="as printed", **fields):
    return Evidence(route, statement, status, scope=f"as {route} sees it", route=route, text=text, **fields)


def result(*rows, expected="PASS"):
    claim = Claim("toy", "eq01", "Eq. 1", "x.", expected, open="later" if expected == "OPEN" else None)
    return Result(claim, decide(rows), rows)


def squeezed(text):
    """The text with every gap one space wide: tables and wrapped lines read alike."""
    return " ".join(text.split())


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


def test_a_bad_prover_is_one_line_and_leaves_no_file(toy, command, tmp_path):
    found = command("run", *QUICK, "--provers", "lean", "--json", tmp_path / "x.json")
    assert (found.status, found.out, list(tmp_path.glob("*x.json*"))) == (2, "", [])
    assert found.err.startswith("paper-checks: --provers: got 'lean', accepts one of") and found.err.count("\n") == 1


def test_run_counts_the_routes_and_names_the_claims_that_have_one(toy, command):
    toy.write_route("exact")
    toy.write_route("coq", EQ01 + "'proved', 'every P', 'theorem eq01', 'Doubling.v:3'")
    found = command("run", "1", *QUICK, "--json", "-")
    assert found.status == 0
    assert found.json()["summary"]["routes"] == {"1": 0, "2": 1, "3": 0}
    assert "routes: 0 claims with one, 1 with two, 0 with three or more" in found.err
    found = command("run", *QUICK)
    assert found.status == 0 and "one route only: eq02, eq02-rms\n" in found.out


def test_a_finding_is_a_row_of_evidence(toy, command):
    toy.write_route("smt", EQ01 + "'proved', 'P <= 3', 'unsat', 'solver.py:7', None, 0.25")
    (claim,) = command("run", "1", *QUICK, "--json", "-").json()["claims"]
    (found,) = (entry for entry in claim["evidence"] if entry["route"] == "smt")
    assert [found[name] for name in ("kind", "statement", "text", "status", "scope", "detail", "place", "seconds")] == [
        "smt", "as printed", "x + x = 2 x", "proved", "P <= 3", "unsat", "solver.py:7", 0.25
    ]  # fmt: skip
    assert claim["routes"] == 2
    assert [entry["route"] for entry in claim["evidence"]] == ["sympy", "smt", None]


def test_verbose_prints_every_row(toy, command):
    toy.write_route("smt", EQ01 + "'undecided', 'P = 4', 'time is up', 'solver.py:7'")
    lines = command("run", "1", *QUICK, "--verbose").out.splitlines()
    (smt,) = (line for line in lines if line.startswith("  smt "))
    assert squeezed(smt) == "smt undecided as printed: x + x = 2 x [P = 4] [time is up] [solver.py:7]"
    (measured,) = (squeezed(line) for line in lines if line.startswith("  random "))
    assert measured == "random consistent as printed [x up to 1] [fp32, cpu] [error/bound 0.5]"
    assert not any(line.startswith("  smt ") for line in command("run", "1", *QUICK).out.splitlines())


def test_what_a_route_leaves_undecided_is_no_gap(toy, command):
    toy.write_route("smt", EQ01 + "'undecided', 'P = 4', 'time is up'")
    found = command("run", "1", *QUICK, "--provers", "smt")
    assert found.status == 0 and "INCOMPLETE" not in found.out


def test_a_doctored_model_is_reported_and_fails_the_run(toy, command):
    model = "{'inputs': {'x': '3'}, 'values': {'left': '6', 'right': '7'}, 'relation': '='}"
    toy.write_route("smt", EQ01 + f"'refuted', 'P = 1', 'a model', 'solver.py:7', {model}")
    found = command("run", "1", *QUICK)
    assert found.status == 1
    for part in ("WRONG eq01: two routes disagree", "sympy says proved", "smt says refuted", "solver.py:7"):
        assert part in squeezed(found.out)
    assert "0 claims with one, 0 with two" in found.out  # a disputed statement is decided by neither


@pytest.mark.parametrize("status", ["proved", "consistent"])
def test_a_route_that_confirms_a_refuted_statement_fails_the_run(toy, command, status):
    toy.write_route("exact", f"'as printed', 'x + x = x^2', '{status}', 'P = 1'", slug="eq02")
    found = command("run", "2", *QUICK)
    assert found.status == 1 and f"exact says {status}" in squeezed(found.out)


def test_a_prover_that_is_not_there_is_shown_and_is_no_pass(toy, command):
    toy.write_route("coq", EQ01 + "'not run', 'every P', 'install coq'")
    found = command("run", "1", *QUICK)
    assert found.status == 0 and "coq: not run, which is not a pass (install coq)" in found.out
    assert "1 claims with one" in found.out
    asked = command("run", "1", *QUICK, "--provers", "coq")
    assert asked.status == 3 and "INCOMPLETE  eq01: coq was not run (install coq)" in asked.out
    assert command("run", "1", *QUICK, "--provers", "sympy").status == 0
    assert command("run", "1", *QUICK, "--json", "-").json()["summary"]["not_run"] == {"coq": "install coq"}
    assert [command("show", "1", *extra).status for extra in ([], ["--provers", "coq"])] == [0, 3]


def test_a_route_that_raises_is_an_error_of_the_run(toy, command):
    toy.write_route("smt", "1 / 0", slug="")
    found = command("run", "1", "2", *QUICK)
    assert found.status == 1 and "_smt raised ZeroDivisionError" in squeezed(found.out)
    assert "WRONG  eq01, eq02: " in found.out  # said once


@pytest.mark.parametrize("route", ["exact", "coq"])
@pytest.mark.parametrize("found", ["'as it is printed', 'x + x = 2 x'", "'without: x != 0', ''"])
def test_a_finding_about_no_statement_of_the_claim_is_an_error(toy, command, route, found):
    toy.write_route(route, f"{found}, 'proved', 'every P'")
    found = command("run", "1", *QUICK)
    assert found.status == 1 and f"{route} finds something about no statement here" in squeezed(found.out)


@pytest.mark.parametrize(("route", "status"), [("coq", 0), ("smt", 1)])
def test_a_text_that_no_part_has_is_an_error_except_in_coq(toy, command, route, status):
    toy.write_route(route, "'as printed', 'another text', 'proved', 'every P'")
    assert command("run", "1", *QUICK).status == status


def test_a_finding_of_another_route_is_an_error(toy):
    toy.write_route("smt", EQ01 + "'proved', 'P = 1'")
    routes.MODULES["coq"] = routes.MODULES.pop("smt")
    (found,) = run.run(load()[0].claims[:1], provers=["coq"])
    assert "smt finds something about no statement here" in found.problems[0]


def test_the_routes_do_not_depend_on_the_number_of_processes(toy):
    toy.write_route("smt", EQ01 + "'proved', 'P = 1'")
    toy.write_route("coq", EQ01 + "'proved', 'every P'")

    def rows(jobs):
        found = run.run(load()[0].claims, jobs=jobs, provers=routes.MODULES)
        return [[(entry.route, entry.status) for entry in each.evidence] for each in found]

    assert rows(1) == rows(2)


# Reports


@pytest.fixture
def routed(toy):
    """The toy paper with what two routes find."""
    toy.write_route("smt", EQ01 + "'proved', 'P = 1'", EQ01 + "'proved', 'P = 2'", EQ01 + "'undecided', 'P = 3'")
    toy.write_route("coq", "'as printed', 'A part.', 'proved', 'every P', 'theorem eq01_a', 'Doubling.v:3'")
    return toy


def test_show_lists_prover_statement_scope_place_and_status(routed, command):
    lines = command("show", "1").out.splitlines()
    start = lines.index("routes: as printed: SymPy, SMT, Coq")
    assert [squeezed(line) for line in lines[start + 1 : start + 6]] == [
        f"SymPy proved every P {routed.theory}/toy/eq01.py:3 as printed: x + x = 2 x",
        "SMT proved P = 1 - as printed: x + x = 2 x",
        "SMT proved P = 2 - as printed: x + x = 2 x",
        "SMT undecided P = 3 - as printed: x + x = 2 x",
        "Coq proved every P Doubling.v:3 as printed: A part. (theorem eq01_a)",
    ]
    assert "Doubling.v:3" in command("show", "1", "--latex").out
    shown = command("show", "1", "--json").json()
    assert [(entry["route"], entry["place"]) for entry in shown["evidence"]][-1] == ("coq", "Doubling.v:3")
    assert "Coq" not in command("show", "1", "--provers", "smt").out


def test_the_ledger_has_the_other_routes_beside_the_statement(routed):
    text = markdown.render(run.run(load()[0].claims[:1], provers=routes.MODULES), load())
    assert (
        "| as printed: x + x = 2 x | symbolic: proved | every P | "
        "SMT: proved, P = 1, P = 2; SMT: undecided, P = 3; Coq: proved, every P (eq01\\_a) |"
    ) in text
    assert "claims with one, 0 with two, 1 with three or more" in text
    assert "Doubling.v" not in text  # a line number would change with every edit


def test_html_and_junit_have_the_routes(routed, command, tmp_path):
    paths = {name: tmp_path / f"out.{name}" for name in ("html", "junit")}
    assert command("run", "1", *QUICK, "--html", paths["html"], "--junit", paths["junit"]).status == 0
    page = paths["html"].read_text()
    assert "Routes: as printed: SymPy, SMT, Coq." in page and "smt: undecided" in page and "Doubling.v:3" in page
    properties = ET.fromstring(paths["junit"].read_text()).findall(".//property")
    assert ("routes", "as printed: SymPy, SMT, Coq") in [(p.get("name"), p.get("value")) for p in properties]


def test_junit_skips_a_claim_whose_prover_was_asked_for_and_is_not_there(toy, command):
    toy.write_route("coq", EQ01 + "'not run', 'every P', 'install coq'")
    for extra, skipped in (([], "0"), (["--provers", "coq"], "1")):
        suite = ET.fromstring(command("run", "1", *QUICK, *extra, "--junit", "-").out).find("testsuite")
        assert suite.get("skipped") == skipped
        assert suite.find(".//property[@name='coq not run']").get("value") == "install coq"


def test_results_of_an_earlier_run_are_read_back_with_their_routes(routed, command, tmp_path):
    command("run", "--device", "cpu", "--json", tmp_path / "x.json", "--provers", "smt,coq")
    assert command("report", "--markdown", "--from", tmp_path / "x.json").out == command("report", "--markdown").out
