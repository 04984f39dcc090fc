"""The numeric checks of the attention scores can fail: each wrong formula, and NaN, is reported as a violation."""

import functools
import importlib
import math

import pytest
import torch

from numerics import logit_bounds
from numerics.logit_bounds import chain, over
from numerics.measure import Measurement, Settings
from numerics.search import Found, ascend

NAMES = {
    "eq09": "mrsnorm.eq09",
    "eq11": "mrsnorm.eq11",
    "eq16": "mrsnorm.eq16",
    "eq16-rms": "mrsnorm.eq16_rms",
    "eq17": "mrsnorm.eq17",
    "eq18": "mrsnorm.eq18",
    "eq18-rms": "mrsnorm.eq18_rms",
    "self-score": "beyond.self_score",
}
MODULES = {slug: importlib.import_module(f"numerics.{name}") for slug, name in NAMES.items()}
REPLACED = [
    (slug, name, statement, mutant)
    for slug, module in MODULES.items()
    for name, statement, table in (
        ("printed", "as printed", module.MUTANTS),
        ("corrected", "corrected", getattr(module, "CORRECTED_MUTANTS", {})),
    )
    for mutant in table
]


@pytest.fixture
def quick(monkeypatch):
    """d = 64 only, one dtype."""
    for module in (logit_bounds, *MODULES.values()):
        if hasattr(module, "WIDTHS"):
            monkeypatch.setattr(module, "WIDTHS", (64,))
    return Settings(dtypes=("fp32",), trials=16)


SEARCHED: dict[tuple, Found] = {}


def remembered(value, **options) -> Found:
    """`ascend`, once for each seed: what is searched does not depend on the formula that is replaced."""
    key = tuple(sorted(options.items()))
    if key not in SEARCHED:
        SEARCHED[key] = ascend(value, **options)
    return SEARCHED[key]


@functools.cache
def unbroken(slug: str, settings: Settings) -> tuple[Measurement, ...]:
    return tuple(MODULES[slug].measure(settings))


@pytest.mark.parametrize("slug, name, statement, mutant", REPLACED, ids=[f"{r[0]}-{r[2]}-{r[3]}" for r in REPLACED])
def test_a_wrong_formula_is_violated(slug, name, statement, mutant, monkeypatch, quick):
    """Also where the right formula is violated already: then something that was consistent must fall."""
    if slug != "eq11":  # its search drives the two formulas apart
        monkeypatch.setattr(logit_bounds, "ascend", remembered)
    before = unbroken(slug, quick)
    module = MODULES[slug]
    table = module.MUTANTS if name == "printed" else module.CORRECTED_MUTANTS
    monkeypatch.setattr(module, name, table[mutant])
    after = tuple(module.measure(quick))
    fallen = {
        new.statement
        for old, new in zip(before, after, strict=True)
        if (old.status, new.status) == ("consistent", "violated")
    }
    assert fallen and statement in {row.statement for row in after if row.status == "violated"}
    if mutant == "NaN":
        assert all(math.isnan(row.worst) for row in after if row.statement == statement)


@pytest.mark.parametrize("slug", ["eq11", "eq16", "eq18"])
def test_the_right_formula_in_place_of_the_printed_one_is_consistent(slug, monkeypatch, quick):
    (repair,) = MODULES[slug].REPAIRS.values()
    monkeypatch.setattr(MODULES[slug], "printed", repair)
    assert {row.status for row in MODULES[slug].measure(quick)} == {"consistent"}


def test_ratios_keep_nan_and_do_not_divide_nothing_by_nothing():
    ratio = over(torch.tensor([1.0, 0.0, -1.0, 1.0, math.nan, 0.0]), torch.tensor([2.0, 0.0, 0.0, 0.0, 1.0, math.nan]))
    assert ratio[:4].tolist() == [0.5, 0.0, 0.0, math.inf] and ratio[4:].isnan().all()
    assert chain(torch.tensor([1.0]), (2.0, 1.0), 0.0).tolist() == [2.0]
    assert chain(torch.tensor([1.0]), (2.0, math.nan), 0.0).isnan().all()
