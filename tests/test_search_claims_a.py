"""Inequalities at searched inputs: how near the search comes, what it hands over, and that every row can fail."""

import functools
import importlib
import math
from dataclasses import replace

import pytest
import torch

from numerics import found_rows
from numerics.found_rows import floored, found_batch, largest, places, thinned
from numerics.measure import DTYPES, Settings
from numerics.mrsnorm import homogeneity, radial_open, rms_gradient_outlier
from numerics.rounding import FORMATS, FP64, roundings
from numerics.search import Found

NONE = Settings(trials=0, seed=3)  # no random rows: only what the search finds
OUTLIER = rms_gradient_outlier.AT_OUTLIER

# claim, statement, what the detail begins with, the least that the search reaches in fp64 and half precision
BOUNDS = [
    ("homogeneity", "corrected", "|Omega| over", 0.99),
    ("homogeneity", "corrected", "|dL/dz_i| over", 0.99),
    ("clipper", "corrected", "|dL/dz_i| over", 0.99),
    ("clipper", "RMSNorm's gain in the 2-norm", "|J^T g| over", 0.99),
    ("interference_broadcast", "corrected", "the lower bound over the ratio;", 0.98),
    ("interference_broadcast", "corrected", "the ratio over its upper bound", 0.98),
    ("rms_gradient_outlier", "corrected", "|xhat_i| over sqrt(N)", 0.99),
    ("radial_open", "as printed", "r_i <= P S / 2", 0.98),
    ("eps_at_zero", "as printed", "eps over S", 0.96),  # 2^-22 in one of 8 phasors leaves S at 1.03 eps
    ("eps_at_zero", "as printed", "|dL/dz_i| over R", 0.9),  # fp16 has four steps at 2^-22, and M is 2^-6 below R eps
]
FALSE = [
    ("clipper", "as printed", "|dL/dz_i| for 64 g", 3.9),
    ("interference_broadcast", "as printed", "MRSNorm's interference", 60),
    ("rms_gradient_outlier", OUTLIER, "|dL/dx_i| over", 10),
]
MODULES = {name: importlib.import_module(f"numerics.mrsnorm.{name}") for name, *_ in BOUNDS}


def searched(name, statement, begins=""):
    found = [row for row in MODULES[name].measure(NONE) if row.kind == "adversarial" and row.statement == statement]
    return [row for row in found if row.detail.startswith(begins)]


@functools.cache
def as_it_is(name, statement, begins):
    return searched(name, statement, begins)


@pytest.mark.parametrize(("name", "statement", "begins", "least"), BOUNDS)
def test_the_search_comes_near_a_bound_that_holds_in_every_dtype(name, statement, begins, least):
    found = as_it_is(name, statement, begins)
    assert {row.dtype for row in found} == set(DTYPES)
    for row in found:
        assert least <= row.worst <= 1 and row.status == "consistent", row


@pytest.mark.parametrize("name", MODULES)
def test_a_deep_search_comes_as_near_in_the_format_of_the_smallest_range(name):
    found = list(MODULES[name].measure(replace(NONE, full=True, dtypes=("fp16",))))
    for _, statement, begins, least in (entry for entry in [*BOUNDS, *FALSE] if entry[0] == name):
        rows = [row for row in found if row.statement == statement and row.detail.startswith(begins)]
        assert rows and all(row.kind == "random" or row.worst >= least for row in rows), rows


@pytest.mark.parametrize(("name", "statement", "begins", "least"), FALSE)
def test_the_search_finds_a_false_inequality_violated_in_every_dtype(name, statement, begins, least):
    found = as_it_is(name, statement, begins)
    assert {row.dtype for row in found} == set(DTYPES)
    for row in found:
        assert row.worst >= least and row.status == "violated", row


@pytest.mark.parametrize(("name", "statement", "begins", "least"), [*BOUNDS, *FALSE])
def test_a_found_input_is_a_few_phasors_and_says_how_it_was_found(name, statement, begins, least):
    for row in as_it_is(name, statement, begins):
        assert row.trials == 8 and row.seed == 3 and row.scope.endswith("found by gradient ascent")
        assert all(f"{start} " in row.detail.split("by start: ")[1] for start in ("gaussian", "outlier", "q = k"))
        assert 1 <= len(row.witness["h"]) <= 5 and len(row.witness["g"]) <= 3, row


# every row can fail: wrong bounds

WRONG = [
    ("homogeneity", "corrected", "half the interference", "corrected", "|Omega| over"),
    ("homogeneity", "corrected", "as if nothing were subtracted", "corrected", "|dL/dz_i| over"),
    ("homogeneity", "corrected", "eps counted twice", "corrected", "|Omega| over"),
    ("homogeneity", "corrected", "all NaN", "corrected", "|Omega| over"),
    ("homogeneity", "corrected", "all NaN", "corrected", "|dL/dz_i| over"),
    ("interference_broadcast", "corrected", "half the factor", "corrected", "the ratio over its upper bound"),
    ("interference_broadcast", "corrected", "twice the factor", "corrected", "the lower bound over the ratio;"),
    ("interference_broadcast", "corrected", "without the share", "corrected", "the lower bound over the ratio, where"),
    *(
        ("interference_broadcast", "corrected", "all NaN", "corrected", begins)
        for begins in ("the ratio over its upper bound", "the lower bound over the ratio")
    ),
    ("rms_gradient_outlier", "corrected", "half the bound of xhat", "corrected", "|xhat_i| over"),
    *(
        ("clipper", "gain_limit", wrong, "RMSNorm's gain in the 2-norm", "")
        for wrong in MODULES["clipper"].GAIN_MUTANTS
    ),
    *(("clipper", "printed", wrong, "as printed", "") for wrong in MODULES["clipper"].MUTANTS),
    *(("interference_broadcast", "printed", w, "as printed", "") for w in MODULES["interference_broadcast"].MUTANTS),
    *(("radial_open", "least", wrong, "as printed", "r_i <= P S / 2") for wrong in radial_open.LEAST_MUTANTS),
    *(("eps_at_zero", "printed", w, "as printed", "|dL/dz_i| over R") for w in MODULES["eps_at_zero"].MUTANTS),
    ("eps_at_zero", "least", "1", "as printed", "eps over S"),
    ("eps_at_zero", "least", "one hundredth more", "as printed", "eps over S"),
    ("eps_at_zero", "least", "NaN", "as printed", "eps over S"),
]
TABLES = {
    "corrected": "CORRECTED_MUTANTS",
    "printed": "MUTANTS",
    "least": "LEAST_MUTANTS",
    "gain_limit": "GAIN_MUTANTS",
}


@pytest.mark.parametrize(("name", "replaced", "wrong", "statement", "begins"), WRONG)
def test_a_wrong_bound_is_violated_where_the_search_ends_in_every_dtype(
    name, replaced, wrong, statement, begins, monkeypatch
):
    monkeypatch.setattr(MODULES[name], replaced, getattr(MODULES[name], TABLES[replaced])[wrong])
    found = searched(name, statement, begins)
    assert {row.dtype for row in found if row.status == "violated"} == set(DTYPES)


@pytest.mark.parametrize("wrong", homogeneity.CORRECTED_MUTANTS)
def test_the_gain_of_a_phasor_is_held_against_the_bound_of_homogeneity(wrong, monkeypatch):
    monkeypatch.setattr(homogeneity, "corrected", homogeneity.CORRECTED_MUTANTS[wrong])
    violated = {row.dtype for row in searched("clipper", "corrected") if row.status == "violated"}
    assert violated == (set(DTYPES) if wrong in ("as if nothing were subtracted", "all NaN") else set())


def test_a_size_of_xhat_that_is_held_against_nan_is_violated(monkeypatch):
    monkeypatch.setattr(rms_gradient_outlier, "corrected", lambda x, g, gamma, scale: (x, math.nan))
    assert {row.status for row in searched("rms_gradient_outlier", "corrected")} == {"violated"}


def test_that_an_outlier_does_not_get_the_largest_gradient_is_measured_and_not_written_down(monkeypatch):
    repair = rms_gradient_outlier.OUTLIER_REPAIRS["no bound at all"]
    monkeypatch.setattr(rms_gradient_outlier, "by_the_outlier", repair)
    assert {row.status for row in searched("rms_gradient_outlier", OUTLIER)} == {"consistent"}


# building blocks


def test_what_is_climbed_is_not_what_is_measured(monkeypatch):
    """A wrong bound does not change the input: the search does not know it."""
    before = [row.witness for row in as_it_is("homogeneity", "corrected", "|Omega| over")]
    found_rows._largest.cache_clear()
    monkeypatch.setattr(homogeneity, "corrected", homogeneity.CORRECTED_MUTANTS["half the interference"])
    assert [row.witness for row in searched("homogeneity", "corrected", "|Omega| over")] == before


def test_the_seed_decides_what_is_found():
    first, again, other = (
        largest("t", homogeneity.omega_ratio, 8, 0.125, replace(NONE, seed=seed)).phasors for seed in (0, 0, 1)
    )
    assert torch.equal(first, again) and not torch.equal(first, other)


def test_rows_of_another_source_are_not_searched():
    assert places(replace(NONE, source=object())) == () and places(NONE) == found_rows.SEARCHED


def test_small_phasors_are_made_as_large_as_every_format_can_tell():
    z = torch.tensor([[1.0, 0.0], [0.0, 2.0**-20], [0.0, 0.0]], dtype=torch.float64)
    assert torch.equal(floored(z), torch.tensor([[1.0, 0.0], [0.0, 2.0**-12], [0.0, 0.0]], dtype=torch.float64))


def test_thinning_drops_what_is_not_needed_in_any_order():
    """Only the second and the third phasor count, and the first is the largest."""
    z = torch.tensor([[[9.0, 0.0], [1.0, 0.0], [0.0, 1.0], [3.0, 0.0]]], dtype=torch.float64)

    def value(points):
        return points[:, 0, 1, 0] * points[:, 0, 2, 1]

    left = thinned(Found(1.0, z, {}, 1, 0), value)
    assert left.value == 1 and (left.phasors != 0).any(-1).tolist() == [[False, True, True, False]]


def test_thinning_leaves_a_nan_as_it_was_found():
    z = torch.ones(1, 3, 2, dtype=torch.float64)
    left = thinned(Found(math.nan, z, {}, 1, 0), lambda points: points[:, 0, 0, 0] * math.nan)
    assert math.isnan(left.value) and torch.equal(left.phasors, z)


def test_a_found_input_becomes_a_row_of_the_format():
    z = torch.tensor([[[1.0, 0.1], [0.0, 0.0]], [[0.5, 0.0], [0.0, 0.25]]], dtype=torch.float64)
    b = found_batch(Found(1.0, z, {}, 1, 0), FORMATS["fp16"], 0.125, found_rows.weights(2))
    assert b.h.dtype == b.g.dtype == b.gamma.dtype == torch.float16
    assert b.eps == 0.125 and b.gamma.tolist() == [1, -2] and b.g.tolist() == [[0.5, 0, 0, 0.25]]


@pytest.mark.parametrize("phasors", [2, 7])
def test_the_closed_formulas_of_the_search_are_the_bounds_ratios(phasors):
    """|dL/dz_i| by Eq. 5 over (2 - eps/S) M / S, written down another way than the search does."""
    rng = torch.Generator().manual_seed(7)
    z, g = torch.randn(2, 1, phasors, 2, generator=rng, dtype=torch.float64)
    gamma, eps = found_rows.weights(phasors), 0.125
    r = torch.linalg.vector_norm(z, dim=-1)
    s = r.mean(-1, keepdim=True) + eps
    gradient = homogeneity.eq05.printed(z, g, gamma, eps)
    most = (gamma.abs() * torch.linalg.vector_norm(g, dim=-1)).amax(-1, keepdim=True)
    expected = (torch.linalg.vector_norm(gradient, dim=-1) / homogeneity.corrected(most, s, eps)[1]).amax()
    found = homogeneity.gradient_ratio(torch.stack((z, g), dim=1), eps)[0]
    # both have a few sums of 2 P terms, products and quotients, none of which cancels by more than 100
    assert (found - expected).abs() <= 100 * roundings(4 * phasors + 40, FP64) * expected
