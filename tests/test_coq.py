"""The Coq twins: what they name exists, Coq accepts them, and what is wrong is noticed."""

import re
import shutil
import tomllib

import pytest

from paper_checks.claims import load
from theory import coq_build, coq_mutants, coq_twins
from theory.claims import modules
from theory.coq_build import Clock, NotInstalled
from theory.coq_sources import SOURCES, BadSource, proofs, read, restated, twins_of, unproved, without_comments

TEXT = read()
SLUGS = {f"{claim.paper}.{claim.slug}" for paper in load() for claim in paper.claims}
STATEMENTS = {module.__name__.removeprefix("theory."): module.STATEMENTS for module in modules()}


def name(twin):
    """What a parametrized test calls a twin."""
    return f"{twin.claim}-{twin.statement[:40]}-{twin.theorem}"


@pytest.fixture(scope="module")
def built():
    """The result for the project's own sources, with the compiled files in place."""
    try:
        coq_build.version()
    except NotInstalled as reason:
        pytest.skip(str(reason))
    return coq_twins.check()


@pytest.fixture
def altered(built, tmp_path):
    """A function that copies the sources and the compiled files, edits one file, and checks the copy."""
    assert built.status == "proved", built.detail
    folder = tmp_path / "coq"
    shutil.copytree(SOURCES, folder)

    def edit(file, old, new):
        path = folder / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")
        return coq_twins.check(folder)

    return edit


# What the files say, without Coq


def test_every_theorem_is_restated_in_full():
    keywords = {name: keyword for name, (keyword, _, _) in proofs(TEXT).items()}
    headline = {name for name, keyword in keywords.items() if keyword != "Lemma"}
    named = [theorem.name for theorem in restated(TEXT)]
    assert len(named) == len(set(named))
    assert headline - set(named) == set()
    assert all(theorem.statement for theorem in restated(TEXT))


@pytest.mark.parametrize("twin", coq_twins.twins(), ids=name)
def test_a_twin_names_a_statement_and_a_theorem_that_exist(twin):
    assert twin.claim in SLUGS
    line = twin.file.read_text(encoding="utf-8").split("\n")[twin.line - 1]
    assert re.search(rf"\b(Theorem|Corollary|Lemma) {twin.theorem}\b", line)
    statements = STATEMENTS[twin.claim.replace("-", "_")]
    conditions = {f"without: {condition.text}" for statement in statements for condition in statement.conditions}
    assert twin.statement in {statement.name for statement in statements} | conditions


@pytest.mark.parametrize("twin", coq_twins.twins(), ids=name)
def test_a_twin_and_the_derivation_agree(twin):
    if twin.statement.startswith("without: "):
        assert twin.outcome == "refuted"
    else:
        statements = STATEMENTS[twin.claim.replace("-", "_")]
        expected = {statement.expects for statement in statements if statement.name == twin.statement}
        assert twin.outcome in expected


def test_the_headline_claims_have_a_twin():
    equations = ["eq04", "eq05", "eq06", "eq08", "eq16", "eq16-rms", "eq17", "eq18", "eq18-rms"]
    further = ["self-score", "power-mean", "power-mean-logit"]
    wanted = {*(f"mrsnorm.{slug}" for slug in equations), *(f"beyond.{slug}" for slug in further)}
    assert wanted <= {twin.claim for twin in coq_twins.twins() if twin.statement == "as printed"}


@pytest.mark.parametrize(
    ("claim", "statement", "outcome"),
    [
        ("mrsnorm.eq18", "as printed", "refuted"),
        ("mrsnorm.eq18", "corrected", "proved"),
        ("mrsnorm.eq18-rms", "as printed", "proved"),
    ],
)
def test_a_statement_finds_its_theorems(claim, statement, outcome):
    found = coq_twins.find(claim, statement)
    assert {twin.outcome for twin in found} == {outcome}
    assert all((twin.claim, twin.statement) == (claim, statement) for twin in found)


def test_a_statement_without_a_twin_finds_none():
    assert coq_twins.find("mrsnorm.eq18", "no such statement") == []


def test_every_word_of_the_theorems_is_pinned():
    pins = without_comments(TEXT["Definitions"])
    pinned = set(re.findall(r"^Check (?:fun [^=]*=>\s*)?(\w+)[^≡]*≡", pins, re.MULTILINE))
    text = "\n".join(map(without_comments, TEXT.values()))
    defined = set(re.findall(r"^[ \t]*(?:Definition|Fixpoint)\s+(\w+)", text, re.MULTILINE))
    used = set(re.findall(r"\w+", without_comments(TEXT["Theorems"]) + pins))
    assert defined & used == pinned


def test_the_wheel_would_hold_the_sources():
    config = tomllib.loads((SOURCES.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    globs = config["tool"]["setuptools"]["package-data"]["theory"]
    packed = {path for glob in globs for path in SOURCES.parent.glob(glob)}
    assert {path for path in SOURCES.iterdir() if path.is_file()} - packed == set()


def test_nothing_is_assumed_or_abandoned():
    assert unproved(TEXT) == []


@pytest.mark.parametrize("word", ["Admitted.", "Axiom a : 0 = 1.", "Proof. admit. Abort.", "Unset Guard Checking."])
def test_an_unproved_lemma_is_seen_in_the_text(word):
    assert unproved({"Some": f"Lemma a : True.\n{word}"})
    assert unproved({"Some": f"(* {word} (* nested *) *)"}) == []


def test_comments_nest_and_keep_their_lines():
    assert without_comments("a (* b\n (* c *) d *) e") == "a \n e"


@pytest.mark.parametrize(
    "text",
    [
        "(** [a.b | c | perhaps] *)\nCheck (one : True).",
        "(** [a.b | c] *)\nCheck (one : True).",
        "Check (two : True).",
        "Check one.",
    ],
)
def test_a_restatement_of_another_form_is_refused(text):
    with pytest.raises(BadSource):
        twins_of({"Theorems": text, "Proofs": "Theorem one : True."})


def test_a_file_that_requires_a_missing_one_is_refused():
    with pytest.raises(BadSource, match="Gone"):
        coq_build.order({"Some": "From Twins Require Import Gone."})


def test_without_coq_nothing_is_claimed(monkeypatch, capsys):
    monkeypatch.setattr(coq_build.shutil, "which", lambda command: None)
    result = coq_twins.check()
    assert result.status == "not run"
    assert coq_build.PACKAGES in result.detail
    assert coq_twins.main([]) == 3
    assert capsys.readouterr().out.startswith("coq: not run: ")


# What Coq says


def test_coq_accepts_every_proof(built):
    assert built.status == "proved", built.detail


def test_the_same_sources_are_not_built_twice(built):
    again = coq_twins.check()
    assert again.cached
    assert (again.status, again.detail, again.coq) == (built.status, built.detail, built.coq)


def test_a_wrong_statement_fails_the_build(altered):
    theorem = "Theorem eq18_refuted P eps : ({} <= P)%nat"
    result = altered("ScoreMean.v", theorem.format(2), theorem.format(1))
    assert result.status == "failed"
    assert result.detail.startswith("ScoreMean.v:")


def test_a_weakened_theorem_fails_where_it_is_restated(altered):
    bound = "sum P (fun i => nrm (z i) ^ 2) {} INR P * S_rms P eps z ^ 2.\nProof. intros HP He;"
    result = altered("ScoreRms.v", bound.format("<"), bound.format("<="))
    assert result.status == "failed"
    assert result.detail.startswith("Theorems.v:")


def test_an_admitted_proof_is_a_failure(altered):
    result = altered("NoPeriodic.v", "intros HT Hc H _; now apply no_periodic. Qed.", "Admitted.")
    assert result.status == "failed"
    assert "Admitted" in result.detail


def test_a_new_axiom_is_a_failure_even_if_its_word_is_overlooked(altered, monkeypatch):
    monkeypatch.setattr(coq_twins, "unproved", lambda sources: [])
    result = altered("NoPeriodic.v", "intros HT Hc H _; now apply no_periodic. Qed.", "Admitted.")
    assert result.status == "failed"
    assert "no_periodic_C1" in result.detail


def test_another_list_of_axioms_is_a_failure(altered):
    result = altered("axioms.txt", "Classical_Prop.classic : forall P : Prop, P \\/ ~ P\n", "")
    assert result.status == "failed"
    assert "Classical_Prop.classic" in result.detail


def test_the_time_limit_is_a_failure(built, tmp_path):
    folder = tmp_path / "coq"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns(".build"))
    result = coq_twins.check(folder, limit=0.0)
    assert result.status == "failed"
    assert "time limit" in result.detail


# The mutants


def test_each_mutant_alters_one_place():
    for mutant in coq_mutants.mutants():
        assert mutant.applied(TEXT) != TEXT


def test_a_mutant_that_alters_nothing_is_broken(built):
    mutant = coq_mutants.Mutant("gone", "Sums", "no such text", "")
    assert coq_mutants.judge(mutant, TEXT, coq_twins.BUILD, Clock.of(60)).status == "broken"


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [
        ("<= INR P ^ 2).", "<= INR P).", "rejected"),
        ("<= INR P ^ 2).", "<= INR P ^ 2)", "broken"),
        ("<= INR P ^ 2).", "<= INRP ^ 2).", "broken"),
        ("<= INR P ^ 2).", "<= INR P ^ (1 + 1)).", "survived"),
    ],
    ids=["wrong", "does not parse", "unknown name", "the same in other words"],
)
def test_a_mutant_is_judged_by_what_coq_says(built, old, new, status):
    before = "Rabs (score P (S_mean P eps q) (S_mean P eps k) q k) "
    mutant = coq_mutants.Mutant("altered", "Theorems", before + old, before + new)
    assert coq_mutants.judge(mutant, TEXT, coq_twins.BUILD, Clock.of(60)).status == status


@pytest.mark.parametrize("name", ["S without eps", "eq05: sign flipped", "energy-identity: not strictly below"])
def test_one_mutant_of_each_kind_is_rejected(built, name):
    mutant = next(mutant for mutant in coq_mutants.mutants() if mutant.name == name)
    assert coq_mutants.judge(mutant, TEXT, coq_twins.BUILD, Clock.of(60)).status == "rejected"


def test_a_control_that_does_not_compile_stops_the_count(built, monkeypatch, tmp_path, capsys):
    assert coq_mutants.report(TEXT, tmp_path, Clock.of(60)) == 1  # nothing is compiled in this folder
    assert "control" in capsys.readouterr().out
