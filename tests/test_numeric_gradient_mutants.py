"""The measurements of Eqs. 1-8 can fail: each wrong formula, each wrong layer, and NaN, is reported as a violation."""

import importlib

import pytest
import torch

from numerics import activations, inputs
from numerics.measure import DTYPES, Measurement, Settings
from numerics.mrsnorm import eq03
from numerics.norms import magnitudes, mrs_norm, mrs_scale, rms_norm
from numerics.scenarios import SCENARIOS

EQUATIONS = tuple(f"eq0{number}" for number in range(1, 9))
NAMES = (*EQUATIONS, "unit_direction", "homogeneity", "projection_blockade", "radial_open", "half_params")
MODULES = {name: importlib.import_module(f"numerics.mrsnorm.{name}") for name in NAMES}
FEW = Settings(trials=4, seed=3)
NARROW = ((1, 1e-6), (2, 0.0), (7, 0.125))
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def narrow(monkeypatch):
    """At most 7 phasors: enough to see a wrong formula."""
    monkeypatch.setattr(inputs, "WIDTHS", NARROW)


def of(found, statement: str) -> list[Measurement]:
    chosen = [row for row in found if row.statement == statement]
    assert chosen, statement
    return chosen


# wrong formulas

REPLACED = [
    (name, replaced, statement, mutant)
    for name, module in MODULES.items()
    for replaced, statement, table in (
        ("printed", "as printed", module.MUTANTS),
        ("corrected", "corrected", getattr(module, "CORRECTED_MUTANTS", {})),
    )
    for mutant in table
]


@pytest.mark.parametrize(("name", "replaced", "statement", "mutant"), REPLACED)
def test_a_wrong_formula_is_violated_in_every_dtype(name, replaced, statement, mutant, narrow, monkeypatch):
    module = MODULES[name]
    table = module.MUTANTS if replaced == "printed" else module.CORRECTED_MUTANTS
    monkeypatch.setattr(module, replaced, table[mutant])
    violated = {row.dtype for row in module.measure(FEW) if row.statement == statement and row.status == "violated"}
    assert violated == ({"exact"} if name == "half_params" else set(DTYPES))


def test_every_check_names_a_formula_that_is_not_a_number():
    assert all(any("NaN" in mutant for mutant in module.MUTANTS) for module in MODULES.values())


# wrong layers


def cast_twice(x, weight=None, eps=1e-6):
    """Each path of the gradient is rounded to the input's dtype on its own, as in z / mrs_scale(x)."""
    wide = x.to(torch.float64 if x.dtype == torch.float64 else torch.float32).unflatten(-1, (-1, 2))
    o = wide / mrs_scale(x, eps).unsqueeze(-1)
    return (o if weight is None else o * weight.to(o.dtype).unsqueeze(-1)).flatten(-2).to(x.dtype)


def by_roots(x, weight=None, eps=1e-6):
    """Magnitudes as sqrt(x^2 + y^2), whose gradient at a zero phasor is NaN."""
    wide = x.to(torch.float64 if x.dtype == torch.float64 else torch.float32)
    z = wide.unflatten(-1, (-1, 2))
    s = z.square().sum(-1).sqrt().mean(-1, keepdim=True) + eps
    o = z / s.unsqueeze(-1)
    return (o if weight is None else o * weight.to(o.dtype).unsqueeze(-1)).flatten(-2).to(x.dtype)


def half_split(x, weight=None, eps=1e-6):
    """Channel c is paired with c + N/2 instead of its neighbour."""
    paired = x.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)
    return mrs_norm(paired, weight, eps)


def by_rms(x, weight=None, eps=1e-6):
    """RMSNorm with one weight a pair."""
    return rms_norm(x, None if weight is None else weight.repeat_interleave(2), eps)


def by_maximum(x, weight=None, eps=1e-6):
    """The largest magnitude instead of the mean."""
    wide = x.to(torch.float64 if x.dtype == torch.float64 else torch.float32)
    o = wide.unflatten(-1, (-1, 2)) / (magnitudes(wide).amax(-1, keepdim=True) + eps).unsqueeze(-1)
    return (o if weight is None else o * weight.to(o.dtype).unsqueeze(-1)).flatten(-2).to(x.dtype)


def detached(x, weight=None, eps=1e-6):
    """S held constant in the backward pass."""
    wide = x.to(torch.float64 if x.dtype == torch.float64 else torch.float32)
    o = wide.unflatten(-1, (-1, 2)) / mrs_scale(wide, eps).detach().unsqueeze(-1)
    return (o if weight is None else o * weight.to(o.dtype).unsqueeze(-1)).flatten(-2).to(x.dtype)


def fixed_eps(x, weight=None, eps=1e-6):
    """An eps of 1/8 that cannot be turned off."""
    return mrs_norm(x, weight, 0.125)


def weightless(x, weight=None, eps=1e-6):
    return mrs_norm(x, None, eps)


def doubled(x, weight=None, eps=1e-6):
    return 2 * mrs_norm(x, weight, eps)


def not_a_number(x, weight=None, eps=1e-6):
    return mrs_norm(x, weight, eps) * torch.nan


def in_double(x, weight=None, eps=1e-6):
    """A layer that loses nothing: its output stays in fp64."""
    return mrs_norm(x.double(), None if weight is None else weight.double(), eps)


def centred(x, weight=None, eps=1e-6):
    """LayerNorm: its gradient has a constant part too."""
    return rms_norm(x - x.mean(-1, keepdim=True), weight, eps)


ALL, HALF = set(DTYPES), {"fp16", "bf16"}
LAYERS = [
    ("eq02", "as printed", "mrs_norm", half_split, ALL),
    ("eq02", "output bound", "mrs_norm", doubled, ALL),
    ("eq02", "output bound", "mrs_norm", not_a_number, ALL),
    ("eq02", "scaling", "mrs_norm", fixed_eps, ALL),
    ("eq02", "scaling", "mrs_norm", not_a_number, ALL),
    ("eq02", "rotation equivariance", "mrs_norm", half_split, ALL),
    ("eq02", "rotation equivariance", "mrs_norm", not_a_number, ALL),
    ("eq03", "as printed", "mrs_norm", half_split, ALL),
    ("eq03", "as printed", "mrs_norm", not_a_number, ALL),
    ("eq03", eq03.LOST, "mrs_norm", in_double, HALF),
    ("eq03", eq03.LOST, "mrs_norm", not_a_number, HALF),
    ("eq04", "as printed", "rms_norm", lambda x, weight, eps: rms_norm(x, weight, eps + 1), ALL),
    ("eq05", "as printed", "mrs_norm", cast_twice, HALF),
    ("eq05", "as printed", "mrs_norm", detached, ALL),
    ("eq05", "as printed", "mrs_norm", by_rms, ALL),
    ("eq05", "as printed", "mrs_norm", not_a_number, ALL),
    ("eq05", "u = 0 at a zero phasor", "mrs_norm", by_roots, ALL),
    ("eq06", "as printed", "mrs_norm", by_maximum, ALL),
    ("eq06", "the same for every phasor", "mrs_norm", by_rms, ALL),
    ("eq06", "the same for every phasor", "mrs_norm", not_a_number, ALL),
    ("eq07", "as printed", "mrs_norm", half_split, ALL),
    ("eq07", "as printed", "mrs_norm", not_a_number, ALL),
    ("eq07", "RMSNorm does the same", "rms_norm", centred, ALL),
    ("eq08", "as printed", "mrs_norm", by_rms, ALL),
    ("eq08", "with the affine weight", "mrs_norm", weightless, ALL),
    ("eq08", "own block at z_i = 0", "mrs_norm", by_roots, ALL),
    ("homogeneity", "corrected", "mrs_norm", doubled, ALL),
    ("homogeneity", "corrected", "mrs_norm", not_a_number, ALL),
    ("radial_open", "as printed", "mrs_norm", detached, ALL),
    ("radial_open", "an outlier loses its radial gradient", "mrs_norm", detached, ALL),
    ("radial_open", "an outlier loses its radial gradient", "mrs_norm", not_a_number, ALL),
    ("radial_open", "on real activations", "mrs_norm", detached, ALL),
    ("radial_open", "on real activations", "mrs_norm", not_a_number, ALL),
    ("unit_direction", "as printed", "magnitudes", lambda h: magnitudes(h) * 1.01, ALL),
    (
        "unit_direction",
        "u = 0 at a zero phasor",
        "magnitudes",
        lambda h: h.double().unflatten(-1, (-1, 2)).square().sum(-1).sqrt(),
        ALL,
    ),
    ("projection_blockade", "as printed", "magnitudes", lambda h: magnitudes(h).detach(), ALL),
    ("eq01", "as printed", "mrs_scale", lambda h, eps: mrs_scale(h, 0.0), ALL),
    ("eq01", "bounds by the RMS", "mrs_scale", lambda h, eps: magnitudes(h).amax(-1, keepdim=True) + eps, ALL),
    ("eq01", "as printed", "mrs_scale", lambda h, eps: mrs_scale(h, eps) * torch.nan, ALL),
    ("half_params", "as printed", "MRSNorm", lambda n, **place: torch.nn.RMSNorm(n, **place), {"exact"}),
    ("half_params", "against LayerNorm with bias", "against_layernorm", lambda channels: 1 / 2, {"exact"}),
]


@pytest.mark.parametrize(
    ("name", "statement", "replaced", "wrong", "where"),
    LAYERS,
    ids=[
        f"{name}-{statement}-{getattr(wrong, '__name__', '')}-{number}"
        for number, (name, statement, _, wrong, _) in enumerate(LAYERS)
    ],
)
def test_a_wrong_layer_is_violated(name, statement, replaced, wrong, where, narrow, monkeypatch):
    module = MODULES[name]
    monkeypatch.setattr(module, replaced, wrong)
    found = of(module.measure(FEW), statement)
    assert {row.dtype for row in found if row.status == "violated"} == where


def test_rows_without_outliers_do_not_pass_for_real_activations(monkeypatch):
    even = torch.randn(234, 384, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    monkeypatch.setattr(activations, "rows", lambda kind: even)
    monkeypatch.setattr(inputs, "WIDTHS", NARROW[:1])
    monkeypatch.setattr(inputs, "SCENARIOS", {"gaussian": SCENARIOS["gaussian"]})
    found = of(MODULES["radial_open"].measure(FEW), "on real activations")
    assert {row.status for row in found} == {"violated"}
