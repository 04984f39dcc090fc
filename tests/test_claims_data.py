"""The ledger: every claim of the inventory is there, well-formed, and named once."""

import pytest

from paper_checks import claims, slugs
from paper_checks.claims import LedgerError, load
from paper_checks.usage import UsageProblem

MRSNORM = [
    *("eq01", "eq02", "eq03", "conformal", "phasor-manifold", "half-params", "capacity", "quadratic-outlier"),
    *("explosion", "efficiency", "eq04", "eq05", "unit-direction", "eq06", "phase-invariance", "homogeneity"),
    *("clipper", "interference-broadcast", "rms-gradient-outlier", "scale-invariance", "eq07", "phase-decoupled"),
    *("ellipse", "redundancy", "no-1d", "min-dim", "projection-blockade", "blockade-untrainable", "eq08"),
    *("radial-open", "isometry", "squash-blockade", "clipping-distorts", "rope", "eq09", "eq11", "soft-constraint"),
    *("token-scale", "zero-overhead", "eq16", "eq16-rms", "eq17", "energy-identity", "eq18", "eq18-rms"),
    *("phase-veto", "veto-neutralises", "softmax-collapse", "appendix-c", "digest-listing", "eps-at-zero"),
    *("significance", "fig1"),
]
BEYOND = [
    *("self-score", "power-mean", "power-mean-logit", "trade-off", "operator-norm", "starvation-relief"),
    "block-dimension",
]
MA_RMSNORM = [
    *("ma-example", "ma-discard", "ma-recover", "ma-mi", "ma-jacobian", "ma-edge", "ma-parameters", "ma-p99"),
    *("ma-entropy", "ma-collapse-claim", "ma-fp16", "ma-training", "ma-ablation", "ma-50s"),
]

EVERY = [claim for paper in load() for claim in paper.claims]
GOOD = """
[paper]
name = "toy"
title = "t"
source = "s"
[[claim]]
slug = "eq01"
source = "Eq. 1"
statement = "x."
expected = "PASS"
"""


def test_the_ledger_holds_every_claim_of_the_paper_in_its_order():
    papers = {paper.name: [claim.slug for claim in paper.claims] for paper in load()}
    assert papers["mrsnorm"] == MRSNORM
    assert papers["beyond"] == BEYOND
    assert papers["ma-rmsnorm"] == MA_RMSNORM


def test_related_claims_stand_side_by_side():
    order = [claim.slug for claim in EVERY]
    for slug in ("eq16", "eq18"):
        assert order.index(f"{slug}-rms") == order.index(slug) + 1


@pytest.mark.parametrize("claim", EVERY, ids=lambda claim: claim.slug)
def test_claim_is_well_formed(claim):
    assert slugs.normalize(claim.slug) == claim.slug
    assert claim.statement.endswith(".") and len(claim.statement) > 20
    assert claim.source
    assert (claim.open is not None) == (claim.expected == "OPEN")


@pytest.mark.parametrize("slug", ["fig1", "redundancy", "efficiency"])
def test_a_claim_that_needs_an_experiment_says_what_would_decide_it(slug):
    assert "would decide it" in next(claim.open for claim in EVERY if claim.slug == slug)


@pytest.mark.parametrize(
    ("typed", "slug"),
    [
        *(("eq5", "eq05"), ("5", "eq05"), ("EQ05", "eq05"), ("Eq. 5", "eq05")),
        *(("18-rms", "eq18-rms"), ("eq18_rms", "eq18-rms")),
        *(("Unit-Direction", "unit-direction"), ("half_params", "half-params"), (" fig1 ", "fig1")),
    ],
)
def test_what_is_typed_names_the_claim(typed, slug):
    assert slugs.find(typed, EVERY).slug == slug


@pytest.mark.parametrize(("typed", "near"), [("homogenity", "homogeneity"), ("eq81", "eq18"), ("19-rms", "eq18-rms")])
def test_an_unknown_claim_suggests_the_nearest(typed, near):
    with pytest.raises(UsageProblem, match=rf"SLUG: got '{typed}'.*did you mean {near}\?"):
        slugs.find(typed, EVERY)


def test_a_slug_of_two_papers_asks_which():
    twice = [claims.Claim(paper, "eq01", "s", "t", "PASS") for paper in ("one", "two")]
    with pytest.raises(UsageProblem, match="one, two each have it, choose with --paper"):
        slugs.find("1", twice)


def test_a_further_file_is_a_further_paper(tmp_path):
    (tmp_path / "toy.toml").write_text(GOOD)
    (paper,) = load(tmp_path)
    assert (paper.name, [claim.slug for claim in paper.claims]) == ("toy", ["eq01"])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('expected = "PASS"', 'expected = "MAYBE"', "eq01: expected = 'MAYBE' is none of PASS"),
        ('expected = "PASS"', 'expected = "OPEN"', "eq01: an OPEN claim"),
        ('expected = "PASS"', 'expected = "PASS"\nopen = "why"', "eq01: an OPEN claim"),
        ('statement = "x."', "", "eq01: lacks statement"),
        ('statement = "x."', "statement = 3", "eq01: statement is not text"),
        ('statement = "x."', 'statement = "x."\nassumptions = "y"', "eq01: assumptions is not a list of texts"),
        ('statement = "x."', 'statement = "x."\nverdict = "PASS"', "eq01: has unknown verdict"),
        ('title = "t"', "", "lacks title"),
        ("[paper]", "[paper", "toy.toml: "),
        (GOOD, GOOD + GOOD[GOOD.index("[[claim]]") :], "a slug is used twice"),
    ],
)
def test_a_malformed_file_is_refused_by_name(tmp_path, old, new, message):
    (tmp_path / "toy.toml").write_text(GOOD.replace(old, new))
    with pytest.raises(LedgerError, match=r"toy\.toml") as refused:
        load(tmp_path)
    assert message in str(refused.value)
