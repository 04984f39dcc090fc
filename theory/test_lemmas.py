"""Lemmas: a use is recorded, and a proof is never better founded than what it uses."""

from dataclasses import replace

import pytest

from theory import certificate as c
from theory.lemmas import at, lemma, recording
from theory.mrsnorm import eq17, eq18
from theory.phasors import gamma, i, j, key, q
from theory.proof import Undecided

CORRECTED = next(statement for statement in eq18.STATEMENTS if statement.name == "corrected")
LEMMA = "mrsnorm.eq17: one phasor"


def _break(monkeypatch, **changes):
    broken = tuple(replace(s, **changes) if s.name == "one phasor" else s for s in eq17.STATEMENTS)
    monkeypatch.setattr(eq17, "STATEMENTS", broken)


def test_a_proof_records_the_lemmas_it_uses():
    assert CORRECTED.decide().uses == (LEMMA,)
    assert next(s for s in eq18.STATEMENTS if s.name == "the corrected bound is reached").decide().uses == ()


def test_a_proof_on_an_undecided_lemma_is_undecided(monkeypatch):
    _break(monkeypatch, proof=None)
    outcome = CORRECTED.decide()
    assert isinstance(outcome, Undecided)
    assert LEMMA in outcome.reason


def test_a_proof_on_a_refuted_lemma_is_undecided(monkeypatch):
    _break(monkeypatch, sides=lambda: ([q[i].dot(key[i])] * 2, [q.r[i] * key.r[i] / 2] * 2))
    outcome = CORRECTED.decide()
    assert isinstance(outcome, Undecided)
    assert "refuted" in outcome.reason


def test_a_lemma_that_rests_on_itself_is_refused(monkeypatch):
    _break(monkeypatch, proof=lambda: lemma("mrsnorm.eq17", "one phasor"))
    outcome = CORRECTED.decide()
    assert isinstance(outcome, Undecided)
    inner = next(s for s in eq17.STATEMENTS if s.name == "one phasor").decide()
    assert "is undecided" in outcome.reason and isinstance(inner, Undecided)


def test_an_unknown_lemma_is_refused():
    with recording() as used, pytest.raises(c.NotProved, match="names 0 statements"):
        lemma("mrsnorm.eq17", "two phasors")
    assert used == []


def test_a_hypothesis_about_one_index_does_not_carry_over():
    with pytest.raises(c.NotProved, match="index i only"):
        at(c.given(gamma[i], "gamma_i >= 0"), j, instead_of=i)
    assert at(c.square(gamma[i]), j, instead_of=i).expr == gamma[j] ** 2
