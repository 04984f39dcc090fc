"""The whole run, as a reader makes it: the verdicts, their grounds, and the ledger that is kept in the repository."""

import importlib
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from paper_checks import evidence, routes
from paper_checks.claims import load
from paper_checks.evidence import SYMPY, Task
from paper_checks.report import document
from theory.coq_twins import PROVED, Result
from theory.routes import kernel

ROOT = Path(__file__).parents[1]


def paper_checks(*arguments):
    command = [sys.executable, "-m", "paper_checks", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The JSON file of a run of everything on the CPU, and the finished process."""
    path = tmp_path_factory.mktemp("run") / "results.json"
    return path, paper_checks("run", "--device", "cpu", "--json", path)


@pytest.fixture(scope="module")
def claims(results):
    return {claim["slug"]: claim for claim in json.loads(results[0].read_text())["claims"]}


def rows(claim, statement, status):
    """Rows of SymPy and of measurements; independent routes have their own."""
    own = [row for row in claim["evidence"] if row["route"] in (None, SYMPY)]
    return [row for row in own if (row["statement"], row["status"]) == (statement, status)]


def test_every_verdict_is_reproduced(results):
    path, process = results
    assert (process.returncode, process.stderr) == (0, "")
    assert json.loads(path.read_text())["problems"] == []


def test_eq18_fails_by_an_exact_witness_and_the_corrected_bound_is_proved(claims):
    claim = claims["eq18"]
    (refuted,) = rows(claim, "as printed", "refuted")
    assert refuted["kind"] == "exact" and int(refuted["witness"]["inputs"]["P"]) >= 2
    left, right = (Fraction(refuted["witness"]["values"][name]) for name in ("left 1", "right 1"))
    assert left > right
    assert claim["verdict"] == "FAIL" and "d^2/4" in claim["corrected"]
    assert [row["scope"] for row in rows(claim, "corrected", "proved")] == ["every P"]
    assert rows(claim, "as printed", "violated") and not rows(claim, "corrected", "violated")


def test_eq18_holds_under_eq11_and_stands_beside_eq18(claims, results):
    assert claims["eq18-rms"]["verdict"] in ("PASS", "PASS IF")
    assert rows(claims["eq18-rms"], "as printed", "proved")[0]["scope"] == "every P"
    table = [line.split()[0] for line in results[1].stdout.splitlines() if line and not line.startswith(" ")]
    assert table.index("eq18-rms") == table.index("eq18") + 1


def test_homogeneity_fails_by_a_rational_witness(claims):
    (refuted,) = rows(claims["homogeneity"], "as printed", "refuted")
    assert all(Fraction(value) is not None for value in refuted["witness"]["values"].values())


@pytest.mark.parametrize("slug", ["eq09", "eq17"])
def test_a_true_equation_passes(claims, slug):
    assert claims[slug]["verdict"] == "PASS"


@pytest.mark.parametrize(
    ("slug", "needs"),
    [("eq03", ["gamma_i > 0"]), ("eq05", ["before the affine weight", "z_i != 0"]), ("eq08", ["affine", "z_i != 0"])],
)
def test_a_conditional_equation_names_what_it_needs(claims, slug, needs):
    assert claims[slug]["verdict"] == "PASS IF"
    assert all(any(need in condition for condition in claims[slug]["conditions"]) for need in needs)


def test_another_run_in_two_processes_gives_the_same_json(results, tmp_path):
    def without_machine(path):
        data = json.loads(path.read_text())
        del data["environment"]
        for claim in data["claims"]:
            for row in claim["evidence"]:
                del row["seconds"]
        return data

    paper_checks("run", "--device", "cpu", "--jobs", "2", "--json", tmp_path / "again.json")
    assert without_machine(tmp_path / "again.json") == without_machine(results[0])


@pytest.fixture(scope="module")
def with_coq(results, tmp_path_factory):
    """The JSON file as it is with Coq installed: its theorems stand in the sources, accepted or not yet checked."""
    data = json.loads(results[0].read_text())
    for claim in data["claims"]:
        if not evidence.exists(name := Task(claim["paper"], claim["slug"], evidence.THEORY).module):
            continue
        rows = [row for row in claim["evidence"] if row["route"] == "coq"]
        found = kernel.findings(importlib.import_module(name), Result(PROVED, ""))
        for row, finding in zip(rows, found, strict=True):
            assert row["status"] in (finding.status, "not run")
            row.update(status=finding.status, detail=finding.detail)
    path = tmp_path_factory.mktemp("run") / "with_coq.json"
    path.write_text(json.dumps(data))
    return path


HEADLINES = ("eq04", "eq05", "eq06", "eq08", "eq16", "eq16-rms", "eq17", "eq18", "eq18-rms", "self-score", "power-mean")


def read_back(path):
    """The results in a JSON file of `run`."""
    return document.results_from(path.read_text(), [c for p in load() for c in p.claims], "--from", str(path))


def test_every_theorem_has_two_independent_routes(with_coq):
    found = read_back(with_coq)
    assert routes.alone(found) == []
    assert routes.counts(found)["1"] == 0


def test_a_headline_theorem_has_three_routes_and_coq_is_one_of_them(with_coq):
    found = {result.claim.slug: result for result in read_back(with_coq)}
    for slug in HEADLINES:
        for deciding in routes.deciding(found[slug].evidence).values():
            assert "coq" in deciding and len(deciding) >= 3


def test_no_prover_but_coq_may_be_missing(results):
    assert json.loads(results[0].read_text())["summary"]["not_run"].keys() <= {"coq"}


def test_the_ledger_in_the_repository_is_what_a_run_writes(with_coq):
    fresh = paper_checks("report", "--markdown", "--from", with_coq)
    assert (fresh.returncode, fresh.stderr) == (0, "")
    assert (ROOT / "paper_checks.md").read_text(encoding="utf-8") == fresh.stdout
