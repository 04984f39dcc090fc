"""A wrong formula in place of a claim's own makes `paper-checks run` fail."""

import importlib

import pytest

from paper_checks import evidence, run
from paper_checks.claims import load
from paper_checks.evidence import Task

CLAIMS = [claim for paper in load() for claim in paper.claims if claim.expected != "OPEN"]


def mutants(name):
    for claim in CLAIMS:
        module = importlib.import_module(Task(claim.paper, claim.slug, evidence.THEORY).module)
        for label in getattr(module, name, {}):
            yield pytest.param(claim, module, label, id=f"{claim.slug}-{label}")


def status_with(claim, module, monkeypatch, name, formula):
    monkeypatch.setattr(module, name, formula)
    return run.status(run.run([claim]))


@pytest.mark.parametrize(("claim", "module", "label"), list(mutants("MUTANTS")))
def test_a_wrong_printed_formula_fails_the_run(claim, module, label, monkeypatch):
    assert status_with(claim, module, monkeypatch, "printed", module.MUTANTS[label]) == run.DIFFERS


@pytest.mark.parametrize(("claim", "module", "label"), list(mutants("CORRECTED_MUTANTS")))
def test_a_wrong_corrected_formula_is_never_reproduced(claim, module, label, monkeypatch):
    formula = module.CORRECTED_MUTANTS[label]
    assert status_with(claim, module, monkeypatch, "corrected", formula) in (run.DIFFERS, run.INCOMPLETE)
