"""The graph of claims is recorded by the proofs, not typed."""

import networkx as nx

from paper_checks import claims as ledger
from paper_checks import graph


def every_claim():
    return [claim for paper in ledger.load() for claim in paper.claims]


def test_the_logit_bounds_rest_on_the_bound_for_one_phasor():
    found = graph.build(claim for claim in every_claim() if claim.slug in ("eq16", "eq16-rms", "eq17", "eq18"))
    assert set(found.edges) == {("eq16", "eq17"), ("eq16-rms", "eq17"), ("eq18", "eq17")}
    assert found["eq18"]["eq17"]["lemmas"] == ["one phasor"]
    assert nx.is_directed_acyclic_graph(found)


def test_mermaid_text_names_claims_verdicts_and_lemmas():
    text = graph.mermaid(graph.build(claim for claim in every_claim() if claim.slug in ("eq09", "eq17", "eq18")))
    assert text.splitlines()[0] == "graph LR"
    assert '"eq18: FAIL"' in text and '-->|"one phasor"|' in text
    assert "eq09" not in text


def test_a_broken_lemma_opens_what_rests_on_it(monkeypatch):
    from dataclasses import replace

    from theory.mrsnorm import eq17

    broken = tuple(replace(s, proof=None) if s.name == "one phasor" else s for s in eq17.STATEMENTS)
    monkeypatch.setattr(eq17, "STATEMENTS", broken)
    found = graph.build(claim for claim in every_claim() if claim.slug in ("eq16-rms", "eq17"))
    assert {slug: found.nodes[slug]["verdict"] for slug in found} == {"eq16-rms": "OPEN", "eq17": "OPEN"}
