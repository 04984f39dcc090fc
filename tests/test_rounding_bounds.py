"""Every error bound holds, at random and under search, and comes within a factor of 50 of an error that is found.

What is tried a million times at random, and at every P, is `python -m numerics.bound_trials --trials 1000000`.
"""

import math
from dataclasses import replace
from functools import partial

import pytest
import torch

from numerics import norms, truth
from numerics.bound_trials import __main__ as command
from numerics.bound_trials import subjects
from numerics.bound_trials.draw import NAMES, drawn
from numerics.bound_trials.search import KEEP, Worst, shortened, worst_error
from numerics.bound_trials.subjects import BOUNDS, Case, ratios
from numerics.bound_trials.trials import TIGHT, Row, random_worst, searched_worst
from numerics.double_double import DoubleDouble
from numerics.measure import DTYPES
from numerics.rounding import FORMATS, FP64, output_error, rounded, weight_gradient_error
from numerics.scenarios import generator, normal

bounds = pytest.mark.parametrize("bound", BOUNDS.values(), ids=list(BOUNDS))
dtypes = pytest.mark.parametrize("dtype", DTYPES)
LONG = 2**17
CHANNELS = 2**9  # numbers in a case
BLOCKS = 2**15  # rows of 4 channels that fill a block of the cache


@bounds
@dtypes
def test_no_random_trial_exceeds_a_bound(bound, dtype):
    """Twelve cases: every eps at every level."""
    for phasors in (1, 7):
        row = random_worst(bound, dtype, phasors, 12 * CHANNELS // (2 * phasors), channels=CHANNELS)
        assert 0 < row.worst <= 1, row


@bounds
@dtypes
@pytest.mark.parametrize("phasors", [2, 64])
def test_the_search_comes_within_a_factor_of_50_of_a_bound_and_not_beyond_it(bound, dtype, phasors):
    population = 8 if bound.over_rows else 32
    row = searched_worst(bound, dtype, phasors, population=population, generations=8, enough=1 / TIGHT)
    assert 1 / TIGHT <= row.worst <= 1, row


@bounds
@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_long_rows_and_sums_over_many_rows_come_as_near(bound, dtype):
    phasors = BLOCKS if bound.over_rows else LONG
    row = searched_worst(bound, dtype, phasors, population=8, generations=12, enough=1 / TIGHT)
    assert 1 / TIGHT <= row.worst <= 1, row


@pytest.mark.parametrize(
    "name", ["S, Eq. 1", "S_RMS", "MRSNorm o", "MRSNorm dL/dz", "MA-RMSNorm dL/dx", "score, Eq. 1"]
)
def test_long_rows_of_phasors_that_all_differ_hold_their_bound(name):
    row = random_worst(BOUNDS[name], "fp64", LONG, 1)
    assert row.worst <= 1, row


def test_rows_that_fill_several_blocks_hold_the_bound_on_gradients_of_weights():
    rng = generator("blocks")
    x, g, gamma = normal(rng, 3 * BLOCKS + 5, 4), normal(rng, 3 * BLOCKS + 5, 4), normal(rng, 2)
    assert x.numel() > norms.blocks.ELEMENTS * 2 * torch.get_num_threads()
    case = Case(FORMATS["fp64"], 0.125, x, g, gamma, torch.ones(4).double(), torch.ones(4).double())
    assert 0 < float(ratios(BOUNDS["MRSNorm dL/dgamma"].subject, case).max()) <= 1


# other accumulations


@pytest.mark.parametrize(("dtype", "wide"), [("fp16", "fp64"), ("bf16", "fp64"), ("fp32", "fp64"), ("fp16", "fp16")])
def test_the_bound_on_the_output_holds_for_other_accumulations(dtype, wide):
    fmt = FORMATS[dtype].accumulating(wide)
    case = drawn(fmt, 7, 400, 0, NAMES.index("equal magnitudes"))
    x, gamma = case.x.to(fmt.accumulation.dtype), case.gamma.to(fmt.accumulation.dtype)
    pairs = x.unflatten(-1, (-1, 2))
    scale = pairs.square().sum(-1).sqrt().mean(-1, keepdim=True)
    measured = (x / scale * gamma.repeat_interleave(2)).to(fmt.dtype)
    exact = truth.mrs_output(case.x.double(), case.gamma.double(), 0.0)
    lost = output_error(exact.double(), case.gamma.double().repeat_interleave(2), 7, fmt)
    worst = float((exact.distance(measured) / rounded(lost, exact.double(), fmt)).nan_to_num(0).max())
    assert 1 / TIGHT <= worst <= 1


def test_a_wider_accumulation_has_a_smaller_bound():
    x, g, one = (torch.ones(4, 2, dtype=torch.float64) for _ in range(3))
    errors = [
        float(weight_gradient_error(x, g, one[:, :1], FORMATS["fp32"].accumulating(wide)).max())
        for wide in ("fp32", "fp64")
    ]
    assert errors[1] <= 2 * FP64.unit_roundoff / FORMATS["fp32"].unit_roundoff * errors[0]


# what the trials must notice


def altered(monkeypatch, name, function):
    monkeypatch.setattr(norms, name, function)


WRONG = {
    "computed in fp16": lambda x, weight, eps: right(x.half().to(x.dtype), weight, eps),
    "eps forgotten": lambda x, weight, eps: right(x, weight, 0.0),
    "gamma forgotten": lambda x, weight, eps: right(x, None, eps),
    "NaN": lambda x, weight, eps: right(x, weight, eps) * math.nan,
}
right = norms.mrs_norm


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ["MRSNorm o", "MRSNorm dL/dz"])
def test_the_trials_reject(wrong, name, monkeypatch):
    altered(monkeypatch, "mrs_norm", WRONG[wrong])
    row = random_worst(BOUNDS[name], "fp32", 7, 12 * 36, channels=CHANNELS)
    assert not row.worst <= 1


def test_a_sum_one_term_after_the_other_exceeds_the_bound_for_pytorchs_sums():
    def one_by_one(x, eps):
        r = norms.magnitudes(x)
        return torch.from_numpy(r.numpy().cumsum(-1, dtype="float32")[..., -1:]) / r.shape[-1] + eps

    x = torch.tensor([[1 / 3, 0.0]]).repeat(1, 2**17)
    exact = truth.mrs_scale(x[:, :2].double(), 0.0)
    fmt, measured = FORMATS["fp32"], one_by_one(x, 0.0)
    error = float(exact.distance(measured))
    counted, anyhow = (float(subjects.scale_error(exact.double(), 2**17, f)) for f in (fmt, fmt.summed_in_any_order()))
    assert counted < error <= anyhow


def test_the_command_names_a_bound_that_nothing_comes_near(monkeypatch):
    rows = [Row("b", "fp32", 2, kind, 10, worst) for kind, worst in (("random", 0.001), ("search", 0.01))]
    assert command.loose(rows) == [2]
    assert command.loose([*rows, Row("b", "fp32", 2, "random", 1, 0.02)]) == []
    assert command.loose(rows[:1]) == []  # nothing was searched for


@pytest.mark.parametrize(
    ("factor", "said"), [(1 / 8, "P = 2: exceeded, "), (100, "P = 2: no error comes within 1/50 of it")]
)
def test_the_command_fails_for_a_bound_too_small_or_too_large(factor, said, monkeypatch, capsys):
    bound = subjects.scale_error
    wrong = partial(subjects._scale, norms.mrs_scale, truth.mrs_scale, lambda *args: factor * bound(*args), 2)
    monkeypatch.setitem(BOUNDS, "S, Eq. 1", replace(BOUNDS["S, Eq. 1"], subject=wrong))
    arguments = ["--trials", "500", "--dtype", "fp32", "--bound", "S, Eq. 1", "--search", "2"]
    assert command.main(arguments) == 1
    assert f"S, Eq. 1, fp32, {said}" in capsys.readouterr().out
    monkeypatch.undo()
    assert command.main(arguments) == 0
    out = capsys.readouterr().out
    assert "501 trials, worst 0." in out
    assert out.endswith("no bound is exceeded; at every P searched, an error comes within 1/50 of it\n")
    assert command.main([*arguments[:-2], "--no-search"]) == 0
    assert capsys.readouterr().out.endswith("no bound is exceeded\n")


@pytest.mark.parametrize(
    "wrong",
    [
        ["--trials", "-1"],
        ["--bound", "S, Eq. 3"],
        ["--dtype", "fp8"],
        ["--search", "0"],
        ["--trials", "0", "--no-search"],
    ],
)
def test_the_command_refuses(wrong, capsys):
    with pytest.raises(SystemExit) as stopped:
        command.main(wrong)
    assert stopped.value.code == 2 and wrong[1] in capsys.readouterr().err


# the search


def test_the_same_seed_finds_the_same_case_and_its_ratio_is_reproduced():
    bound, fmt = BOUNDS["MRSNorm o"], FORMATS["fp32"]
    found = [worst_error(bound.subject, fmt, 64, seed=seed, population=32, generations=1) for seed in (3, 3, 4)]
    assert found[0].described() == found[1].described() != found[2].described()
    assert float(ratios(bound.subject, found[0].case).max()) == found[0].ratio <= found[0].largest


def test_a_case_is_shortened_to_the_fewest_decimals_that_keep_nine_tenths_of_its_ratio():
    def size(case):
        x = case.x[:, None, :1].double()
        return x, DoubleDouble(0 * x, 0 * x), torch.ones_like(x)

    def short(first, second):
        x = torch.tensor([[first, second]], dtype=torch.float64)
        case = Case(FORMATS["fp64"], 0.0, x, x, x[0, :1], x[0], x[0], 3)
        found = shortened(size, Worst(first, first, case, 1), stored=False)
        assert found.ratio >= KEEP * first
        return found.described()["x"]

    assert short(0.98765, 1.2345) == [1.0, 1.0]
    assert short(0.1499, 1.2345) == [0.15, 1.2]  # 0.1 is less than nine tenths of it


def test_a_nan_ends_the_search_as_its_worst_case(monkeypatch):
    altered(monkeypatch, "mrs_norm", WRONG["NaN"])
    found = worst_error(subjects.BOUNDS["MRSNorm o"].subject, FORMATS["fp32"], 2, population=8, generations=0)
    assert math.isnan(found.ratio) and math.isnan(found.largest)


def test_a_nan_that_is_met_once_stays():
    calls = []

    def sometimes(case):
        calls.append(case)
        x = case.x[:, None, :1].double()
        return x * (math.nan if len(calls) == 2 else 1), DoubleDouble(0 * x, 0 * x), torch.ones_like(x)

    found = worst_error(sometimes, FORMATS["fp64"], 2, population=8, generations=3, stored=False)
    assert len(calls) > 2 and math.isnan(found.largest)


def test_a_row_of_zeros_is_never_drawn():
    for chunk in range(len(NAMES)):
        assert bool((drawn(FORMATS["fp16"], 1, 200, 0, chunk).x != 0).any(-1).all())
