"""The numeric checks of what no source states: what each reports, that each can fail, and both transcriptions."""

import functools
import importlib
import math
from fractions import Fraction

import pytest
import torch

from numerics import blocks, power_means
from numerics.beyond import block_dimension, operator_norm, power_mean, power_mean_logit, starvation_relief
from numerics.inputs import batch
from numerics.measure import DTYPES, Measurement, Settings
from numerics.norms import mrs_norm
from numerics.power_means import scale_roundings
from numerics.rounding import FORMATS, FP64, roundings
from numerics.search import Found, ascend
from theory.exact import Point, evaluate, point
from theory.phasors import P, eps, i
from theory.power_means import p as exponent

SLUGS = [
    "power-mean",
    "power-mean-logit",
    "trade-off",
    "operator-norm",
    "starvation-relief",
    "block-dimension",
]
MODULES = {slug: importlib.import_module(f"numerics.beyond.{slug.replace('-', '_')}") for slug in SLUGS}
FALSE = {"conjugate exponents at the same r"}  # a further statement that is false, and is measured to be
SETTINGS = Settings(trials=16, seed=5)
QUICK = Settings(dtypes=("fp32",), trials=4)
REPLACED = [pytest.param(slug, name, id=f"{slug}-{name}") for slug in SLUGS for name in MODULES[slug].MUTANTS]

SEARCHED: dict[tuple, Found] = {}


def remembered(value, **options) -> Found:
    """`ascend`, once for each seed: what is searched does not depend on the formula that is replaced."""
    key = tuple(sorted((name, str(option)) for name, option in options.items()))
    if key not in SEARCHED:
        SEARCHED[key] = ascend(value, **options)
    return SEARCHED[key]


@pytest.fixture
def memory(monkeypatch):
    """Searches run once."""
    for name in ("logit_bounds", "beyond.power_mean", "beyond.operator_norm", "beyond.starvation_relief"):
        monkeypatch.setattr(importlib.import_module(f"numerics.{name}"), "ascend", remembered)


@functools.cache
def rows(slug: str) -> tuple[Measurement, ...]:
    return tuple(MODULES[slug].measure(SETTINGS))


def chosen(slug: str, part: str = "", **wanted: str) -> list[Measurement]:
    """The rows with these fields; `part` is looked for in scope and detail."""
    found = [r for r in rows(slug) if part in r.scope + r.detail and all(getattr(r, k) == v for k, v in wanted.items())]
    assert found, f"no row of {slug} has {wanted} and {part!r}"
    return found


# what is reported


@pytest.mark.parametrize("slug", SLUGS)
def test_what_is_true_is_consistent_in_every_dtype(slug):
    true = [row for row in rows(slug) if row.statement not in FALSE]
    assert {row.status for row in true} == {"consistent"}, [row for row in true if row.status != "consistent"]
    assert {row.dtype for row in true} == set(DTYPES)


def test_conjugate_exponents_differ_at_the_same_r():
    found = chosen("operator-norm", statement="conjugate exponents at the same r")
    assert {row.status for row in found} == {"violated"} and {row.dtype for row in found} == set(DTYPES)


def test_bounds_of_gradients_are_not_idle_in_half_precision():
    """The rounding to the format is most of it, and is seen."""
    for slug, part in [("power-mean", "the norm on"), ("block-dimension", "Eq. 5"), ("block-dimension", "Eq. 8")]:
        assert all(row.worst > 0.5 for row in chosen(slug, part) if row.dtype in ("fp16", "bf16"))


# what the searches find


@pytest.mark.parametrize("p", power_mean_logit.EXPONENTS)
@pytest.mark.parametrize("d", power_mean_logit.WIDTHS)
def test_search_reaches_the_logit_bound_for_every_exponent(p, d):
    found = power_mean_logit.most(p, d, SETTINGS)
    bound = power_mean_logit.printed(d, p)
    most = bound * (1 + roundings(2 * scale_roundings(d // 2, p) + d + 8, FP64))  # two scales, d products, the bound
    assert 0.99 * bound <= found.value <= most, f"seed {SETTINGS.seed}: {found.by_start}"
    for row in chosen("power-mean-logit", f"p = {p:g}, d = {d},", kind="adversarial"):
        assert row.worst >= (0.98 if row.dtype == "bf16" else 0.99), row


def test_search_finds_a_spread_for_every_exponent_but_1():
    for p in power_mean.EXPONENTS:
        value = power_mean.most_spread(p, SETTINGS).value
        assert abs(value - 1) <= roundings(200, FP64) if p == 1 else value >= power_mean.FAR / 2


def test_search_finds_both_properties_broken_below_1_and_one_of_them_elsewhere():
    for row in chosen("trade-off", dtype="fp64"):
        p = float(row.scope.split(",")[0].removeprefix("p = "))
        score, spread = (float(part.split()[-1]) for part in row.detail.split(", "))
        assert (score > 8.1, spread > 2) == (p < 2, p != 1)


@pytest.mark.parametrize("phasors", operator_norm.SEARCHED)
def test_search_reaches_the_largest_operator_norm_of_p_1(phasors):
    for row in chosen("operator-norm", f"p = 1, P = {phasors},", kind="adversarial"):
        assert 0.99 <= row.worst <= 1, row


def test_search_reaches_both_sides_of_the_relief():
    for row in chosen("starvation-relief", kind="adversarial"):
        assert 0.98 <= row.worst <= 1, row


# each check can fail


@pytest.mark.parametrize(("slug", "mutant"), REPLACED)
def test_a_wrong_formula_is_violated(slug, mutant, monkeypatch, memory):
    monkeypatch.setattr(MODULES[slug], "printed", MODULES[slug].MUTANTS[mutant])
    violated = [row for row in MODULES[slug].measure(QUICK) if row.status == "violated"]
    assert "as printed" in {row.statement for row in violated}
    if "NaN" in mutant:
        assert any(math.isnan(row.worst) for row in violated)


# the layers under the checks


@pytest.mark.parametrize("dtype", DTYPES)
def test_layers_are_mrsnorm_where_they_should_be(dtype):
    """p = 1, and blocks of two channels: the same outputs but for rounding."""
    b = batch("test", FORMATS[dtype], 7, 0.0, 8, SETTINGS)
    o, other = mrs_norm(b.h, b.gamma, eps=0.0).double(), power_means.power_norm(b.h, 1.0, b.gamma).double()
    block = blocks.block_norm(b.h.unflatten(-1, (-1, 2)), b.gamma, 0.0).flatten(-2).double()
    u = b.fmt.accumulation.unit_roundoff * 128 + b.fmt.unit_roundoff * 2
    for found in (other, block):
        assert bool(((found - o).abs() <= u * o.abs() + b.fmt.smallest_subnormal).all())


@pytest.mark.parametrize("p", power_mean_logit.EXPONENTS)
def test_the_power_mean_has_degree_1_and_overflows_nowhere(p):
    r = torch.tensor([[3.0, 4.0, 0.0, 0.0, 5.0, 12.0]], dtype=torch.float64)
    s = power_means.power_scale(r, p).item()
    mean = ((5**p + 0 + 13**p) / 3) ** (1 / p)
    assert abs(s - mean) <= roundings(64, FP64) * mean
    for factor in (2.0**-55, 2.0**55):
        scaled = power_means.power_scale((r * factor).float(), p).item()
        assert abs(scaled - factor * s) <= roundings(64, FORMATS["fp32"]) * factor * s


# the two transcriptions, at exact points


Z = [(9, 12), (-20, 21), (16, 0)]  # magnitudes 15, 29, 16
SQUARES = [(9, 0), (0, -4), (Fraction(48, 5), Fraction(64, 5))]  # magnitudes 9, 4, 16: rational roots
G = [(1, -2), (3, 4), (0, 5)]
GAMMA = [2, -3, 1]


def tensor(values) -> torch.Tensor:
    return torch.tensor([[[float(c) for c in pair] for pair in values]], dtype=torch.float64)


def agree(measured: torch.Tensor | float, exact: Fraction) -> bool:
    return abs(Fraction(float(measured)) - exact) <= Fraction(roundings(64, FP64)) * abs(exact)


@pytest.mark.parametrize(("p", "z"), [(Fraction(1), Z), (Fraction(1, 2), SQUARES)])
def test_power_mean_transcriptions(p, z):
    theory = importlib.import_module("theory.beyond.power_mean")
    gamma = torch.tensor([float(v) for v in GAMMA], dtype=torch.float64)
    measured = power_mean.printed(tensor(z), tensor(G), gamma, float(p))[0]
    for place in (1, 2, 3):
        at = point({exponent: p}, {i: place}, z=z, g=G, gamma=GAMMA)
        assert agree(measured[place - 1] ** 2, evaluate(theory.printed(), at))


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1), Fraction(2)])
def test_power_mean_logit_transcriptions(p):
    theory = importlib.import_module("theory.beyond.power_mean_logit")
    bound = evaluate(theory.printed()[0 if p < 2 else 1], Point({}, {P: Fraction(8), exponent: p}))
    assert agree(power_mean_logit.printed(16, float(p)), bound)


def test_trade_off_transcriptions():
    theory = importlib.import_module("theory.beyond.trade_off")
    assert MODULES["trade-off"].printed(16) == float(theory.printed().subs(P, 8))


@pytest.mark.parametrize(("p", "z"), [(Fraction(1), Z), (Fraction(2), Z), (Fraction(3), Z), (Fraction(1, 2), SQUARES)])
def test_operator_norm_transcriptions(p, z):
    theory = importlib.import_module("theory.beyond.operator_norm")
    r = torch.linalg.vector_norm(tensor(z), dim=-1)
    assert agree(operator_norm.printed(r, float(p)).item() ** 2, evaluate(theory.printed(), point({exponent: p}, z=z)))


def test_starvation_relief_transcriptions():
    theory = importlib.import_module("theory.beyond.starvation_relief")
    assert starvation_relief.printed(8) == tuple(float(side.subs(P, 8)) for side in theory.printed())
    ratio = starvation_relief.squared_ratio(tensor(Z).flatten(-2))
    assert agree(ratio, evaluate(theory.derived(), point(z=Z)))


@pytest.mark.parametrize("place", [1, 2, 3])
def test_block_dimension_transcriptions(place):
    """P = 2 blocks of three channels; the other block enters the exact side by its two sums."""
    theory = importlib.import_module("theory.beyond.block_dimension")
    z, g, gamma, offset = [(2, 3, -6), (1, 4, 8)], [(1, 2, -3), (5, 0, 1)], [2, -3], Fraction(1, 4)
    weights = torch.tensor([float(v) for v in gamma], dtype=torch.float64)
    measured = block_dimension.printed(tensor(z), tensor(g), weights, float(offset))[0, 0, place - 1]
    lists = {theory.x: tuple(map(Fraction, z[0])), theory.y: tuple(map(Fraction, g[0]))}
    projection = gamma[1] * sum(a * b for a, b in zip(z[1], g[1], strict=True))
    numbers = {theory.b: 3, P: 2, eps: offset, theory.weight: gamma[0], theory.sizes: 9, theory.projections: projection}
    at = Point(lists, {name: Fraction(value) for name, value in numbers.items()}, {theory.a: place})
    assert agree(measured, evaluate(theory.printed(), at))
