"""The Coq route: one finding a theorem, one build a run, and a broken proof or formula fails the run."""

import shutil

import pytest

from paper_checks import run
from paper_checks.claims import load
from theory import coq_twins
from theory.claims import modules
from theory.coq_sources import SOURCES
from theory.coq_twins import FAILED, NOT_RUN, PROVED, Result
from theory.mrsnorm import eq04, eq05, eq18, significance
from theory.routes import kernel
from theory.routes.kernel import BuildFailed, findings

BUILT = Result(PROVED, "every theorem")
CLAIMS = {claim.slug: claim for paper in load() for claim in paper.claims}


@pytest.fixture
def said(monkeypatch):
    """What Coq says, instead of asking it; returns how often it was asked."""

    def say(result):
        asked = []
        kernel._check.cache_clear()
        monkeypatch.setattr(coq_twins, "check", lambda folder: asked.append(folder) or result)
        return asked

    yield say
    kernel._check.cache_clear()


def decided(*slugs):
    return run.run([CLAIMS[slug] for slug in slugs], provers=["coq"])


def test_every_twin_is_a_finding_of_its_claim():
    found = [finding for module in modules() for finding in findings(module, BUILT)]
    assert len(found) == len(coq_twins.twins())
    assert {finding.route for finding in found} == {"coq"}


def test_a_finding_says_what_its_theorem_decides_and_where_it_is_proved():
    printed = next(finding for finding in findings(eq18, BUILT) if finding.statement == "as printed")
    assert (printed.status, printed.scope, printed.detail) == (
        "refuted", "every P >= 2, every eps >= 0", "theorem eq18_refuted"
    )  # fmt: skip
    file, line = printed.place.split(":")
    assert file == "theory/coq/ScoreMean.v"
    text = (SOURCES / "ScoreMean.v").read_text(encoding="utf-8").splitlines()[int(line) - 1]
    assert "eq18_refuted" in text


def test_without_coq_every_theorem_is_not_run_and_the_packages_are_named():
    found = list(findings(eq05, Result(NOT_RUN, "install coq")))
    assert {(finding.status, finding.detail) for finding in found} == {("not run", "install coq")}
    assert len(found) == len(list(findings(eq05, BUILT)))


def test_sources_that_coq_refuses_are_an_error():
    with pytest.raises(BuildFailed, match=r"theory/coq do not pass: Sums\.v:3: no"):
        list(findings(eq05, Result(FAILED, "Sums.v:3: no")))


def test_a_claim_without_a_twin_does_not_ask_coq(said):
    asked = said(Result(FAILED, "never asked"))
    assert list(findings(significance)) == [] and asked == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_coq_is_asked_once_a_run(said, jobs):
    asked = said(BUILT)
    found = run.run([CLAIMS["eq18"], CLAIMS["eq17"], CLAIMS["eq05"]], jobs=jobs, provers=["coq"])
    assert len(asked) == 1 and run.status(found) == 0
    assert all(any(row.route == "coq" for row in result.evidence) for result in found)


def test_the_stage_is_announced_before_coq_is_asked(said):
    asked = said(BUILT)
    shown = []
    run.run([CLAIMS["eq18"]], provers=["coq"], progress=lambda done: shown.append((done, len(asked))))
    assert shown[0] == ("checking in Coq", 0) and shown[1][1] == 1


def test_a_build_that_fails_is_an_error_of_the_run_that_shows_both(said):
    said(Result(FAILED, "Sums.v:3: no"))
    (found,) = decided("eq18")
    assert run.status([found]) == 1 and "Sums.v:3: no" in found.problems[0]
    assert {(row.route, row.status) for row in found.evidence if row.statement == "as printed"} == {
        ("sympy", "refuted"), ("coq", "undecided")
    }  # fmt: skip


@pytest.mark.parametrize(("slug", "module"), [("eq04", eq04), ("eq05", eq05)])
def test_a_mutant_in_the_place_of_printed_contradicts_coq(said, monkeypatch, slug, module):
    said(BUILT)
    assert run.status(decided(slug)) == 0
    for mutant in module.MUTANTS.values():
        monkeypatch.setattr(module, "printed", mutant)
        (found,) = decided(slug)
        assert run.status([found]) == 1
        assert any("two routes disagree about 'as printed': sympy says" in problem for problem in found.problems)


@pytest.mark.parametrize("proof", ["Admitted.", "Proof. Abort."])
def test_an_abandoned_proof_fails_the_run(monkeypatch, tmp_path, proof):
    folder = tmp_path / "coq"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns(".build"))
    path, old = folder / "NoPeriodic.v", "intros HT Hc H _; now apply no_periodic. Qed."
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, proof), encoding="utf-8")
    monkeypatch.setattr(kernel, "FOLDER", folder)
    (found,) = decided("no-1d")
    assert run.status([found]) == 1
    assert any("NoPeriodic.v" in problem and proof.split()[-1].rstrip(".") in problem for problem in found.problems)
    assert any((row.route, row.status) == ("sympy", "proved") for row in found.evidence)
