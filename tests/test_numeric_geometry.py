"""The measurements of the claims about geometry, outliers and clipping: what they find, and that each can fail."""

import functools
import importlib
import math
import re

import pytest
import torch

from numerics import inputs
from numerics.amplification import amplification
from numerics.backward import mrs_gradient, rms_gradient, worst_of_row
from numerics.inputs import batch
from numerics.measure import DTYPES, Measurement, Settings
from numerics.mrsnorm import (
    clipping_distorts,
    explosion,
    isometry,
    min_dim,
    phase_invariance,
    rms_gradient_outlier,
    squash_blockade,
)
from numerics.norms import mrs_norm
from numerics.rounding import FORMATS, FP64, roundings
from numerics.scenarios import SCENARIOS

FALSE = [
    "capacity",
    "quadratic_outlier",
    "phase_invariance",
    "clipper",
    "interference_broadcast",
    "rms_gradient_outlier",
    "scale_invariance",
    "min_dim",
    "blockade_untrainable",
    "isometry",
    "squash_blockade",
    "clipping_distorts",
    "explosion",
]
TRUE = ["conformal", "phasor_manifold", "phase_decoupled", "ellipse", "eps_at_zero"]
NAMES = (*FALSE, *TRUE)
MODULES = {name: importlib.import_module(f"numerics.mrsnorm.{name}") for name in NAMES}
REFUTED = {
    ("clipping_distorts", clipping_distorts.BY_PARTS),
    ("clipping_distorts", clipping_distorts.BY_EXAMPLE),
    ("rms_gradient_outlier", rms_gradient_outlier.AT_OUTLIER),
}
SETTINGS = Settings(trials=16, seed=5)
FEW = Settings(trials=4, seed=3)
NARROW = ((1, 1e-6), (2, 0.0), (7, 0.125))
pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def narrow(monkeypatch):
    """At most 7 phasors: enough to see a wrong formula."""
    monkeypatch.setattr(inputs, "WIDTHS", NARROW)


@functools.cache
def rows(name: str) -> tuple[Measurement, ...]:
    return tuple(MODULES[name].measure(SETTINGS))


def of(name: str, statement: str, dtype: str | None = None) -> list[Measurement]:
    chosen = [row for row in rows(name) if row.statement == statement and dtype in (None, row.dtype)]
    assert chosen, statement
    return chosen


# what is found


@pytest.mark.parametrize("name", NAMES)
def test_only_refuted_statements_are_violated(name):
    for row in rows(name):
        refuted = (name in FALSE and row.statement == "as printed") or (name, row.statement) in REFUTED
        assert row.status == ("violated" if refuted else "consistent"), row


@pytest.mark.parametrize("name", NAMES)
def test_every_check_runs_in_every_dtype_with_trials(name):
    found = of(name, "as printed")
    assert {row.dtype for row in found} == set(DTYPES)
    assert all(row.trials > 0 and row.device == "cpu" and row.seed == 5 for row in rows(name))
    if name in FALSE:
        assert {row.dtype for row in of(name, "corrected")} == set(DTYPES)


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_rows(name, narrow):
    assert list(MODULES[name].measure(FEW)) == list(MODULES[name].measure(FEW))


@pytest.mark.parametrize("name", NAMES)
def test_no_trials_count_as_not_run(name):
    for row in MODULES[name].measure(Settings(trials=0)):
        assert (row.status == "not run") == (row.kind == "random"), row


# (claim, statement) whose bound is nearly used up somewhere: the check could not be much stricter
TIGHT = [
    ("conformal", "as printed"),
    ("phasor_manifold", "as printed"),
    ("capacity", "corrected"),
    ("quadratic_outlier", "corrected"),
    ("clipper", "RMSNorm's gain in the 2-norm"),
    ("clipper", "MRSNorm's gain in the 2-norm"),
    ("interference_broadcast", "corrected"),
    ("interference_broadcast", "every phasor gets the same"),
    ("rms_gradient_outlier", "corrected"),
    ("phase_decoupled", "as printed"),
    ("ellipse", "as printed"),
    ("min_dim", "corrected"),
    ("blockade_untrainable", "corrected"),
    ("isometry", "corrected"),
    ("squash_blockade", "corrected"),
    ("clipping_distorts", "corrected"),
    ("eps_at_zero", "as printed"),
    ("eps_at_zero", "the gradient at h = 0"),
]


@pytest.mark.parametrize(("name", "statement"), TIGHT)
def test_the_bound_is_not_vacuous_in_half_precision(name, statement):
    for dtype in ("fp16", "bf16"):
        assert max(row.worst for row in of(name, statement, dtype)) > 0.4


def test_the_suprema_are_approached():
    for dtype in DTYPES:
        assert max(row.worst for row in of("quadratic_outlier", "corrected", dtype) if row.kind == "adversarial") > 0.99
        assert of("isometry", "the largest singular value at eps = 0", dtype)[0].worst > 0.98


def test_the_search_finds_one_phasor_that_holds_everything():
    row = next(row for row in of("quadratic_outlier", "corrected", "fp64") if row.scope.startswith("P = 8, "))
    magnitudes = sorted(row.witness["magnitudes"])
    assert row.kind == "adversarial" and sum(magnitudes[:-1]) < 0.01 * magnitudes[-1]


def test_the_claim_about_outliers_is_violated_by_more_than_a_thousand():
    assert all(row.worst > 1000 for row in of("quadratic_outlier", "as printed"))


@pytest.mark.parametrize(
    ("dtype", "first"), [("fp16", 2.0**8), ("bf16", 2.0**64), ("fp32", 2.0**64), ("fp64", 2.0**512)]
)
def test_squares_overflow_from_the_square_root_of_the_threshold_on(dtype, first):
    (row,) = of("explosion", "as printed", dtype)
    assert float(re.search(r"infinite from ([\d.e+]+) on", row.detail)[1]) == float(f"{first:.6g}")


def test_every_finite_number_of_half_precision_is_tried():
    tried = {row.dtype: row for row in of("explosion", "as printed") if row.kind == "exhaustive"}
    assert {dtype: row.trials for dtype, row in tried.items()} == {"fp16": 31744, "bf16": 32640}


def test_rmsnorm_overflows_alone_somewhere_in_every_format():
    for row in of("explosion", "corrected"):
        if "N in" in row.scope:
            assert int(re.search(r"overflows in (\d+) of", row.detail)[1]) > 0


def test_a_gradient_at_zero_overflows_fp16_a_thousand_times_sooner_than_rmsnorms():
    limit = FORMATS["fp16"].largest
    for layer, root in (("the gradient at h = 0", 1.0), ("RMSNorm's gradient at h = 0", 0.5)):
        assert "beyond the range of fp16" in of("eps_at_zero", layer, "fp16")[0].detail
        assert f"{limit * 1e-6**root:.3g}" == ("0.0655" if root == 1 else "65.5")


# building blocks against other routes


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
def test_quarter_turns_are_rotations(turns):
    z = torch.tensor([[[3.0, -4.0], [0.5, 2.0]]], dtype=torch.float64)
    count = torch.full((1, 2), turns)
    angle = turns * math.pi / 2
    rotation = torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]], dtype=z.dtype)
    # an angle of up to 3 pi/2 is off by 5 u, its cosine and sine then by 6 u, and each sum of products by 2 roundings
    allowed = roundings(8, FP64) * z.abs().sum(-1, keepdim=True)
    assert ((phase_invariance.turned(z, count) - z @ rotation.T).abs() <= allowed).all()


@pytest.mark.parametrize("eps", [0.0, 1e-6, 0.125])
def test_the_largest_singular_value_is_the_amplification(eps):
    b = batch("t", FP64, 7, eps, 8, Settings(), scenarios={"gaussian": SCENARIOS["gaussian"]})
    values, other = isometry.singular_values(b)[:, 0], amplification(b.h, eps)
    assert ((values - other).abs() <= roundings(400, FP64) ** 0.5 * values).all()


def test_blocks_of_two_are_the_layer():
    b = batch("t", FP64, 7, 1e-6, 4, Settings(), scenarios={"gaussian": SCENARIOS["gaussian"]})
    blocks = min_dim.block_norm(b.h.unflatten(-1, (-1, 2)), b.gamma, b.eps).flatten(-2)
    assert torch.equal(blocks, mrs_norm(b.h, b.gamma, b.eps))


def test_squashing_is_the_function_of_the_capsule_paper():
    h = torch.tensor([[3.0, 4.0]], dtype=torch.float64)
    expected = 25 / 26 * h / 5  # three roundings, and ten in r / (1 + r^2) times h
    assert ((squash_blockade.squash(h) - expected).abs() <= roundings(13, FP64) * expected).all()


def test_clipping_is_that_of_pytorch():
    v = torch.tensor([[3.0, 4.0, 12.0]], dtype=torch.float64)
    parameter = torch.nn.Parameter(torch.zeros(3, dtype=torch.float64))
    parameter.grad = v[0].clone()
    torch.nn.utils.clip_grad_norm_([parameter], 1.0)
    ours = clipping_distorts.clip(v, torch.ones(1, 1, dtype=torch.float64))[0]
    guard = 1e-6  # PyTorch adds it to the norm, which is 13
    allowed = (guard / 13 + roundings(12, FP64)) * ours.abs()  # a norm, a quotient and a product on either side
    assert ((ours - parameter.grad).abs() <= allowed).all()
    # both directions are off by 5 roundings of their length, their product by 3 more, the difference by one
    assert clipping_distorts.sine(parameter.grad[None], v) <= roundings(2 * (5 + 5 + 3 + 1), FP64)


def test_measured_gradients_of_fp64_are_the_exact_ones():
    b = batch("t", FP64, 7, 1e-6, 4, Settings(), channel_weights=True)
    half = batch("t", FP64, 7, 1e-6, 4, Settings())
    for found in (rms_gradient(b, b.g), mrs_gradient(half, half.g)):
        assert torch.equal(found.value, found.exact) and not found.infinite.any() and (found.allowed > 0).all()


def test_the_worst_of_a_row_keeps_a_nan_and_ignores_what_is_masked():
    error = torch.tensor([[1.0, math.nan], [0.0, 4.0], [3.0, 8.0]])
    where = torch.tensor([[True, True], [True, True], [True, False]])
    found = worst_of_row(error, torch.full_like(error, 2.0), where)
    assert found[0].isnan() and found[1:].tolist() == [2.0, 1.5]


def test_inputs_reach_the_powers_of_two_around_every_threshold():
    for name, first in (("fp32", 2.0**64), ("fp64", 2.0**512)):
        found = explosion.values(FORMATS[name])
        assert (
            first in found
            and torch.nextafter(torch.tensor(first, dtype=found.dtype), torch.zeros(1)[0].to(found.dtype)) in found
        )


# every check can fail: wrong formulas

REPLACED = [
    (name, replaced, statement, mutant)
    for name, module in MODULES.items()
    for replaced, statement, table in (
        ("printed", "as printed", module.MUTANTS),
        ("corrected", "corrected", getattr(module, "CORRECTED_MUTANTS", {})),
    )
    for mutant in table
]
REPAIRED = [(name, repair) for name, module in MODULES.items() for repair in getattr(module, "REPAIRS", {})]


@pytest.mark.parametrize(("name", "replaced", "statement", "mutant"), REPLACED)
def test_a_wrong_formula_is_violated_in_every_dtype(name, replaced, statement, mutant, narrow, monkeypatch):
    module = MODULES[name]
    table = module.MUTANTS if replaced == "printed" else module.CORRECTED_MUTANTS
    monkeypatch.setattr(module, replaced, table[mutant])
    violated = {row.dtype for row in module.measure(FEW) if row.statement == statement and row.status == "violated"}
    assert violated == set(DTYPES)


@pytest.mark.parametrize(("name", "repair"), REPAIRED)
def test_a_violation_is_measured_and_not_written_down(name, repair, narrow, monkeypatch):
    """With the true formula in its place the printed statement of a false claim is consistent."""
    monkeypatch.setattr(MODULES[name], "printed", MODULES[name].REPAIRS[repair])
    assert {row.status for row in MODULES[name].measure(FEW) if row.statement == "as printed"} == {"consistent"}


def test_every_check_names_a_formula_that_is_not_a_number():
    assert all(any("NaN" in mutant for mutant in module.MUTANTS) for module in MODULES.values())
    assert all(hasattr(MODULES[name], "CORRECTED_MUTANTS") for name in FALSE)


# every check can fail: wrong layers


def not_a_number(x, weight=None, eps=1e-6):
    return mrs_norm(x, weight, eps) * torch.nan


def detached(x, weight=None, eps=1e-6):
    """S held constant in the backward pass."""
    wide = x.to(torch.float64 if x.dtype == torch.float64 else torch.float32).unflatten(-1, (-1, 2))
    scale = torch.linalg.vector_norm(wide.detach(), dim=-1).mean(-1)[..., None, None] + eps
    o = wide / scale
    return (o if weight is None else o * weight.to(o.dtype).unsqueeze(-1)).flatten(-2).to(x.dtype)


LAYERS = [
    ("conformal", "stretches of the map itself", "numerics.mrsnorm.conformal.mrs_norm", detached),
    ("conformal", "the map itself is nowhere conformal", "numerics.mrsnorm.conformal.mrs_norm", not_a_number),
    ("phasor_manifold", "an open ball for eps > 0", "numerics.mrsnorm.phasor_manifold.mrs_norm", not_a_number),
    ("clipper", "MRSNorm's gain in the 2-norm", "numerics.backward.mrs_norm", detached),
    ("clipper", "RMSNorm's gain in the 2-norm", "numerics.backward.rms_norm", lambda x, weight, eps: 2 * x * weight),
    ("interference_broadcast", "every phasor gets the same", "numerics.backward.mrs_norm", detached),
    ("phase_invariance", "how Omega turns", "numerics.backward.mrs_norm", detached),
    ("phase_decoupled", "the whole gradient turns the phase", "numerics.backward.mrs_norm", not_a_number),
    ("phase_decoupled", "the amplitude after the step", "numerics.backward.mrs_norm", not_a_number),
    ("isometry", "corrected", "numerics.mrsnorm.isometry.mrs_norm", detached),
    ("isometry", "RMSNorm's Jacobian", "numerics.mrsnorm.isometry.rms_norm", detached),
    ("eps_at_zero", "the gradient at h = 0", "numerics.mrsnorm.eps_at_zero.mrs_norm", not_a_number),
    (
        "eps_at_zero",
        "RMSNorm's gradient at h = 0",
        "numerics.mrsnorm.eps_at_zero.rms_norm",
        lambda x, weight, eps: x * weight,
    ),
]


@pytest.mark.parametrize(("name", "statement", "target", "layer"), LAYERS)
def test_a_wrong_layer_is_violated(name, statement, target, layer, narrow, monkeypatch):
    monkeypatch.setattr(target, layer)
    violated = {
        row.dtype for row in MODULES[name].measure(FEW) if row.statement == statement and row.status == "violated"
    }
    assert violated == set(DTYPES)
