"""The searched worst cases of claims with exact formulas: how near they come to the bounds, and that each can fail."""

import functools
import importlib
import math

import pytest
import torch

from numerics import inputs
from numerics.ma_rmsnorm import ma_edge, ma_p99
from numerics.measure import DTYPES, Measurement, Settings
from numerics.mrsnorm import conformal, ellipse, eq01, phase_decoupled
from numerics.norms import mrs_norm, rms_scale
from numerics.rounding import FORMATS, FP64
from numerics.worst_rows import KEEP, Place, Rows, simpler, worst_row, worst_rows

STATEMENTS = {
    "mrsnorm.eq01": ("as printed", eq01.RMS),
    "mrsnorm.eq03": ("as printed",),
    "mrsnorm.conformal": ("as printed", conformal.STRETCHES, conformal.SMALLER),
    "mrsnorm.phase_decoupled": ("as printed", phase_decoupled.WHOLE),
    "mrsnorm.ellipse": ("as printed", ellipse.STEADY),
    "mrsnorm.clipping_distorts": ("corrected",),
    "ma_rmsnorm.ma_edge": ("as printed", ma_edge.INSIDE),
    "ma_rmsnorm.ma_p99": ("corrected", ma_p99.SHIFT),
    "ma_rmsnorm.ma_collapse_claim": ("corrected",),
}
MODULES = {name: importlib.import_module(f"numerics.{name}") for name in STATEMENTS}
SEARCHES = [(name, statement) for name, statements in STATEMENTS.items() for statement in statements]
SETTINGS = Settings(trials=1, seed=7)
TWO = Settings(trials=1, seed=7, dtypes=("fp16", "fp64"))


pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(autouse=True)
def searches_only(monkeypatch):
    """No random rows where `batches` draws them."""
    monkeypatch.setattr(inputs, "WIDTHS", ())


def searched(name: str, settings: Settings) -> list[Measurement]:
    return [row for row in MODULES[name].measure(settings) if row.kind == "adversarial"]


@functools.cache
def rows(name: str) -> tuple[Measurement, ...]:
    return tuple(searched(name, SETTINGS))


def of(name: str, statement: str, dtype: str | None = None) -> list[Measurement]:
    found = [row for row in rows(name) if row.statement == statement and dtype in (None, row.dtype)]
    assert found, statement
    return found


# what is found


@pytest.mark.parametrize(("name", "statement"), SEARCHES)
def test_a_search_in_every_dtype_finds_no_violation_and_says_how_near_it_came(name, statement):
    assert {row.dtype for row in of(name, statement)} == set(DTYPES)
    for row in of(name, statement):
        assert row.status == "consistent" and row.trials > 0, row
        assert all(f"from {start}" in row.detail for start in ("gaussian", "outlier", "mixed"))
        assert "found by" in row.scope


def test_nothing_else_is_searched():
    assert {(name, row.statement) for name in MODULES for row in rows(name)} == set(SEARCHES)


NEAR = 0.99  # of a bound on a real quantity
ATTAINED = [
    ("mrsnorm.eq01", eq01.RMS),
    ("mrsnorm.conformal", conformal.SMALLER),
    ("ma_rmsnorm.ma_edge", ma_edge.INSIDE),
]


@pytest.mark.parametrize(("name", "statement"), ATTAINED)
def test_a_bound_on_a_real_quantity_is_approached(name, statement):
    assert all(row.worst > NEAR for row in of(name, statement))


@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_the_second_term_moves_a_quantile_by_nearly_all_it_can(dtype):
    """In half precision what the outputs may lose is as large as the move."""
    assert of("ma_rmsnorm.ma_p99", ma_p99.SHIFT, dtype)[0].worst > NEAR


FAR = {  # scales are sums in fp32, whose roundings do not all have one sign; the third stands in a test above
    ("mrsnorm.ellipse", ellipse.STEADY),
    ("mrsnorm.eq01", "as printed"),
    ("ma_rmsnorm.ma_p99", ma_p99.SHIFT),
}


@pytest.mark.parametrize(("name", "statement"), [pair for pair in SEARCHES if pair not in FAR])
def test_an_error_comes_near_its_bound_in_half_precision(name, statement):
    assert all(max(row.worst for row in of(name, statement, dtype)) > 0.25 for dtype in ("fp16", "bf16"))


def test_the_lower_bound_by_the_rms_is_attained_by_one_phasor_and_the_upper_one_by_equal_ones():
    alone = of("mrsnorm.eq01", eq01.RMS, "fp64")[0].witness["h"]
    both = of("mrsnorm.eq01", eq01.RMS, "fp64")[2].witness["h"]
    assert len(alone) == 1 and len(both) == 2
    first, second = (math.hypot(*z) for z in both.values())
    assert min(first, second) > 0.9 * max(first, second)


def test_the_stretches_differ_least_at_a_phasor_that_is_small_in_its_row():
    for row in of("mrsnorm.conformal", conformal.SMALLER):
        first, second = row.witness["x"][:2], row.witness["x"][2:]
        sizes = sorted((math.hypot(*first), math.hypot(*second)))
        assert 0 < sizes[0] < 0.02 * sizes[1]


# every search can fail: wrong formulas

REPLACED = [
    (name, target, mutant)
    for name, module in MODULES.items()
    for target, table in (("printed", module.MUTANTS), ("corrected", getattr(module, "CORRECTED_MUTANTS", {})))
    for mutant in table
    if {"printed": "as printed"}.get(target, target) in STATEMENTS[name]
]


REVERSED = [  # another vector of the same line: the sense is a sign, which random rows decide, and no bound
    ("mrsnorm.eq03", "printed", "turned by pi"),
    ("mrsnorm.eq03", "printed", "literal arctan"),
    ("mrsnorm.phase_decoupled", "printed", "turned by pi"),
]


@pytest.mark.parametrize(("name", "target", "mutant"), [entry for entry in REPLACED if entry not in REVERSED])
def test_a_search_finds_a_wrong_formula_in_every_dtype(name, target, mutant, monkeypatch):
    module = MODULES[name]
    monkeypatch.setattr(module, target, (module.MUTANTS if target == "printed" else module.CORRECTED_MUTANTS)[mutant])
    label = "as printed" if target == "printed" else target
    found = [row for row in searched(name, TWO) if row.statement == label]
    assert {row.dtype for row in found if row.status == "violated"} == set(TWO.dtypes)


@pytest.mark.parametrize(("name", "target", "mutant"), REVERSED)
def test_a_line_in_the_other_sense_has_the_bound_of_the_line(name, target, mutant, monkeypatch):
    monkeypatch.setattr(MODULES[name], target, MODULES[name].MUTANTS[mutant])
    assert {row.status for row in searched(name, TWO) if row.statement == "as printed"} == {"consistent"}


def not_a_number(x, weight=None, eps=1e-6):
    return mrs_norm(x, weight, eps) * torch.nan


def detached(x, weight=None, eps=1e-6):
    """S held constant in the backward pass."""
    return conformal.fixed(x, torch.ones(x.shape[-1] // 2, dtype=x.dtype) if weight is None else weight, eps)


def first_channel_twice(x, eps):
    """The mean of squares counts the first channel of each pair twice."""
    return rms_scale(x * x.new_tensor([2.0**0.5, 1.0]).repeat(x.shape[-1] // 2), eps)


def inside(bounds, low, high):
    return lambda z: tuple(bound * factor for bound, factor in zip(bounds(z), (low, high), strict=True))


WRONG = [
    ("mrsnorm.eq01", eq01.RMS, "rms_bounds", inside(eq01.rms_bounds, 1.01, 1.0)),
    ("mrsnorm.eq01", eq01.RMS, "rms_bounds", inside(eq01.rms_bounds, 1.0, 0.99)),
    ("mrsnorm.eq01", eq01.RMS, "rms_bounds", inside(eq01.rms_bounds, math.nan, 1.0)),
    ("mrsnorm.conformal", conformal.STRETCHES, "mrs_norm", detached),
    ("mrsnorm.conformal", conformal.SMALLER, "mrs_norm", not_a_number),
    ("mrsnorm.phase_decoupled", phase_decoupled.WHOLE, "mrs_scale", lambda h, eps: 2 * eq01.mrs_scale(h, eps)),
    ("mrsnorm.ellipse", ellipse.STEADY, "rms_scale", first_channel_twice),
    ("ma_rmsnorm.ma_edge", ma_edge.INSIDE, "rms_scale", lambda x, eps: rms_scale(x, 0.0)),
    ("ma_rmsnorm.ma_edge", ma_edge.INSIDE, "rms_scale", lambda x, eps: rms_scale(x, 0.98 * eps)),
]


@pytest.mark.parametrize(
    ("name", "statement", "target", "wrong"), WRONG, ids=[f"{w[0]}-{i}" for i, w in enumerate(WRONG)]
)
def test_a_search_finds_a_wrong_bound_or_layer(name, statement, target, wrong, monkeypatch):
    monkeypatch.setattr(MODULES[name], target, wrong)
    found = [row for row in searched(name, TWO) if row.statement == statement and row.status == "violated"]
    assert {row.dtype for row in found} == set(TWO.dtypes)


def test_a_second_term_a_hundredth_larger_than_its_bound_is_found(monkeypatch):
    monkeypatch.setattr(ma_p99, "ALPHA", 0.99 * ma_p99.ALPHA)
    found = [row for row in searched("ma_rmsnorm.ma_p99", Settings(dtypes=("fp64",))) if row.statement == ma_p99.SHIFT]
    assert [row.status for row in found] == ["violated"]


# the search itself


def channel(b, tally):
    """A bound of 8 on the first channel."""
    tally.add(b, b.h.double()[:, :1].clamp_min(0), torch.full((len(b.h), 1), 8.0, dtype=torch.float64))


def found_by(check, seed=3, **options):
    return worst_row("t", "s", FP64, Settings(seed=seed), check, "ratio", 4, 0.0, **options)


def test_a_violation_that_no_start_has_is_found_and_shown_in_few_digits():
    row = found_by(channel)
    assert row.status == "violated" and row.worst > 1
    assert row.witness["x"][0] > 8 and row.witness["x"][2:] == [0.0, 0.0] and row.witness["copies"] == 2


def test_a_nan_is_kept_as_the_worst_case():
    row = found_by(lambda b, tally: tally.add(b, b.h.double()[:, :1] * math.nan, torch.ones(len(b.h), 1)))
    assert math.isnan(row.worst) and row.status == "violated"


def test_what_is_left_out_counts_for_nothing():
    def none(b, tally):
        tally.add(b, b.h.double().abs(), torch.zeros_like(b.h.double()), torch.zeros(len(b.h), 1, dtype=torch.bool))

    row = found_by(none)
    assert (row.worst, row.trials, row.status) == (0.0, 0, "not run")


def test_the_same_seed_finds_the_same_row_and_another_seed_another():
    def half(b, tally):
        tally.add(b, b.h.double()[:, :1].abs(), torch.full((len(b.h), 1), 128.0, dtype=torch.float64))

    assert found_by(half) == found_by(half)
    assert found_by(half).witness != found_by(half, seed=4).witness


def test_rows_of_other_settings_are_not_searched():
    assert list(worst_rows("t", "s", FP64, Settings(source=object()), channel, "ratio")) == []


def test_the_row_shown_keeps_its_share_and_is_no_longer_than_it_must_be():
    place = Place(channel, "s", FP64, Settings(), 2, 0.0, torch.ones(2, dtype=torch.float64))
    tiles = torch.tensor([[[[7.123456789, 1.987654321], [3.0, 4.0]]]], dtype=torch.float64)
    ratio, shown = simpler(place, 7.123456789 / 8, tiles)
    assert ratio >= KEEP * 7.123456789 / 8
    assert shown.flatten().tolist() == [7.0, 2.0, 0.0, 0.0]


def test_a_row_that_breaks_a_bound_still_breaks_it_when_it_is_shown():
    place = Place(channel, "s", FP64, Settings(), 2, 0.0, torch.ones(2, dtype=torch.float64))
    tiles = torch.tensor([[[[8.04, 1.0], [3.0, 4.0]]]], dtype=torch.float64)
    ratio, shown = simpler(place, 8.04 / 8, tiles)
    assert ratio > 1 and shown[0, 0, 0, 0] > 8


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_rows_tried_are_in_the_format_and_repeat_their_tile(dtype):
    fmt = FORMATS[dtype]
    place = Place(channel, "s", fmt, Settings(), 6, 0.5, torch.ones(2, dtype=fmt.dtype))
    b = place.batch(torch.arange(16, dtype=torch.float64).view(2, 2, 2, 2))
    assert b.h.dtype == fmt.dtype and b.h.shape == b.g.shape == (2, 12) and b.gamma.shape == (6,)
    assert b.h[0].tolist() == [0.0, 1.0, 2.0, 3.0] * 3 and b.g[1].tolist() == [12.0, 13.0, 14.0, 15.0] * 3
    assert b.quiet.tolist() == [[True, False] * 3] * 2


def test_the_ratios_of_rows_are_the_worst_over_all_that_is_added():
    tally = Rows("s", FP64, Settings())
    place = Place(channel, "s", FP64, Settings(), 2, 0.0, torch.ones(2, dtype=torch.float64))
    b = place.batch(torch.ones(3, 1, 2, 2, dtype=torch.float64))
    tally.add(b, torch.tensor([1.0, 2.0, 0.0]), torch.tensor([2.0, 4.0, 0.0]))
    tally.add(
        b,
        torch.tensor([[1.0], [9.0], [9.0]]),
        torch.tensor([[1.0], [9.0], [9.0]]),
        torch.tensor([[True], [False], [False]]),
    )
    assert tally.by_row.tolist() == [1.0, 0.5, 0.0] and tally.worst == 1.0
