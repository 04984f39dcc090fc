"""What the command line and the reports make of independent routes, on the toy paper with routes written for it."""

import xml.etree.ElementTree as ET

import pytest

from paper_checks import routes, run
from paper_checks.claims import load
from paper_checks.report import markdown

QUICK = ("--device", "cpu", "--dtype", "fp32", "--trials", "2")
EQ01 = "'as printed', 'x + x = 2 x', "


def squeezed(text):
    """The text with every gap one space wide: tables and wrapped lines read alike."""
    return " ".join(text.split())


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
    assert "claims by routes: 0 with one, 1 with two, 0 with three or more" in found.err
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
    assert "0 with one, 0 with two" in found.out  # a disputed statement is decided by neither


@pytest.mark.parametrize("status", ["proved", "consistent"])
def test_a_route_that_confirms_a_refuted_statement_fails_the_run(toy, command, status):
    toy.write_route("exact", f"'as printed', 'x + x = x^2', '{status}', 'P = 1'", slug="eq02")
    found = command("run", "2", *QUICK)
    assert found.status == 1 and f"exact says {status}" in squeezed(found.out)


def test_a_prover_that_is_not_there_is_shown_and_is_no_pass(toy, command):
    toy.write_route("coq", EQ01 + "'not run', 'every P', 'install coq'")
    found = command("run", "1", *QUICK)
    assert found.status == 0 and "coq: not run, which is not a pass (install coq)" in found.out
    assert "claims by routes: 1 with one" in found.out
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
    assert [squeezed(line) for line in lines[start + 1 : start + 11]] == [
        f"SymPy proved {routed.theory}/toy/eq01.py:3 every P",
        "as printed: x + x = 2 x",
        "SMT proved - P = 1",
        "as printed: x + x = 2 x",
        "SMT proved - P = 2",
        "as printed: x + x = 2 x",
        "SMT undecided - P = 3",
        "as printed: x + x = 2 x",
        "Coq proved Doubling.v:3 every P",
        "as printed: A part. (theorem eq01_a)",
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
    assert "Claims by routes: 0 with one, 0 with two, 1 with three or more." in text
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
