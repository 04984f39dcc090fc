"""MA-RMSNorm measured: the layer, what the checks of its claims find, and that each of them can fail."""

import functools
import importlib
import json
import math
import os
import subprocess
import sys
from fractions import Fraction

import pytest
import torch

from numerics.experiments import magnitude_aware as experiments
from numerics.gradients import input_gradient
from numerics.ma_rmsnorm import ma_entropy, ma_fp16, ma_jacobian, ma_recover, ma_training
from numerics.magnitude_rounding import measured, over
from numerics.measure import DTYPES, Measurement, Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import MA_S as S
from numerics.norms import MARMSNorm, ma_rms_norm, rms_norm, rms_scale
from numerics.rounding import FORMATS, FP64, ma_output_error, rounded, roundings
from numerics.scenarios import generator, normal

CONSISTENT = ["ma_discard", "ma_mi", "ma_jacobian", "ma_edge", "ma_parameters"]
REFUTED = ["ma_example", "ma_recover", "ma_p99", "ma_entropy", "ma_collapse_claim", "ma_fp16", "ma_training"]
DECIDED = CONSISTENT + REFUTED
OPEN = ["ma_ablation", "ma_50s"]
MODULES = {name: importlib.import_module(f"numerics.ma_rmsnorm.{name}") for name in DECIDED + OPEN}
SETTINGS = Settings(trials=16, seed=5)
QUICK = Settings(trials=8, seed=3, dtypes=("fp16", "fp32"))
REPLACED = [
    pytest.param(name, target, mutant, id=f"{name}.{target}: {mutant}")
    for name, module in MODULES.items()
    for target, table in (("printed", module.MUTANTS), ("corrected", getattr(module, "CORRECTED_MUTANTS", {})))
    for mutant in table
]
pytestmark = pytest.mark.usefixtures("one_thread")


@functools.cache
def rows(name: str) -> tuple[Measurement, ...]:
    return tuple(MODULES[name].measure(SETTINGS))


def drawn(*shape, key="x", dtype=torch.float64):
    return normal(generator("test_numeric_ma", key, shape), *shape).to(dtype)


# what is found


@pytest.mark.parametrize("name", DECIDED)
def test_every_statement_is_consistent_but_the_refuted_ones(name):
    for row in rows(name):
        refuted = name in REFUTED and row.statement == "as printed"
        assert row.status == ("violated" if refuted else "consistent"), row


@pytest.mark.parametrize("name", DECIDED + OPEN[:1])
def test_every_check_runs_in_every_dtype(name):
    label = "corrected" if name == "ma_fp16" else "as printed"  # nothing is rounded to fp64 there
    found = [row for row in rows(name) if row.statement == label]
    assert {row.dtype for row in found} == set(DTYPES)
    assert all(row.device == "cpu" and row.seed == 5 and row.trials > 0 for row in found)


@pytest.mark.parametrize("name", DECIDED + OPEN)
def test_a_check_repeats_itself(name):
    settings = Settings(trials=4, seed=1, dtypes=("fp32",))
    first, second = (list(MODULES[name].measure(settings)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(("name", "target", "mutant"), REPLACED)
def test_a_wrong_formula_is_violated(name, target, mutant, monkeypatch):
    module = MODULES[name]
    table = module.MUTANTS if target == "printed" else module.CORRECTED_MUTANTS
    monkeypatch.setattr(module, target, table[mutant])
    label = {"printed": "as printed", "corrected": "corrected"}[target]
    for dtype in QUICK.dtypes if name != "ma_50s" else QUICK.dtypes[-1:]:
        statuses = {row.status for row in module.measure(QUICK) if row.statement == label and row.dtype == dtype}
        assert "violated" in statuses, dtype


@pytest.mark.parametrize("name", REFUTED)
def test_a_refuted_check_does_not_say_no_to_everything(name, monkeypatch):
    module = MODULES[name]
    for repair in module.REPAIRS.values():
        monkeypatch.setattr(module, "printed", repair)
        found = [row for row in module.measure(QUICK) if row.statement == "as printed"]
        assert found and {row.status for row in found} == {"consistent"}


def test_half_a_percent_is_guaranteed_up_to_a_range_of_0_40836():
    """The least entropy over all corners at n = 64, on either side of the threshold."""
    n, top = 64, torch.arange(1, 64).unsqueeze(-1)
    kept = []
    for spread in (0.408355, 0.408365):
        logits = -spread * (torch.arange(n) >= top).double()
        kept.append(float(ma_entropy.entropy(logits)[0].min()) / math.log(n))
    assert kept[0] > 0.995 > kept[1]


def test_attention_of_unit_variance_loses_its_entropy_as_s_grows():
    shares = []
    for s in (1.0, 2.0, 5.0, 8.0):
        logits = ma_entropy.attention_logits(Settings(), FP64, s, rows=16)
        shares.append(float(ma_entropy.entropy(logits)[0].mean()) / math.log(ma_entropy.KEYS))
    for share, about in zip(shares, (0.89, 0.34, 0.04, 0.015), strict=True):
        assert abs(share - about) < 0.02


def test_entropy_is_that_of_the_definition():
    logits = 3 * drawn(20, 9)
    p = logits.softmax(-1)
    h, error = ma_entropy.entropy(logits)
    assert ((h + (p * p.log()).sum(-1)).abs() <= 2 * error).all()


def test_training_with_eps_left_as_it_is_differs_under_adam():
    run = ma_training.corrected(8.0, True)
    wrong = ma_training.Run(run.s, run.alpha, run.start, run.rate, 1.0)
    own = ma_training.losses(SETTINGS, FP64, ma_training.Run(8.0, ALPHA), True)
    right, off = (ma_training.losses(SETTINGS, FP64, r, True) for r in (run, wrong))
    assert torch.equal(own, right)
    assert 0 < float((own - off).abs().max()) < 1e-2


def test_a_factor_that_is_no_power_of_two_takes_the_same_steps_up_to_rounding():
    own = ma_training.losses(SETTINGS, FP64, ma_training.Run(5.0, ALPHA), False)
    other = ma_training.losses(SETTINGS, FP64, ma_training.corrected(5.0, False), False)
    drift = (own - other).abs() / own
    assert 0 < float(drift.max()) <= ma_training.STEPS * roundings(200, FP64)


def test_the_smallest_counterexample_has_the_output_2_twice():
    x = torch.tensor([[1.0], [-math.exp(40)]], dtype=torch.float64)
    one = torch.ones(1, dtype=torch.float64)
    y = ma_rms_norm(x, one, one, eps=0.0)
    assert ((y - 2).abs() <= roundings(20, FP64) * 2).all()
    assert (ma_recover.printed(x, x) == x).all()


def test_below_the_normal_range_and_only_there_a_larger_s_is_more_accurate():
    (row,) = [row for row in rows("ma_fp16") if row.statement == ma_fp16.SMALL]
    assert row.kind == "exhaustive" and row.trials == 2**14 - 1
    share = float(row.detail.split("smaller in ")[1].split(" ")[0])
    assert 30 < share < 60


def test_over_keeps_nan_and_counts_no_error_as_nothing():
    ratios = over(torch.tensor([0.0, 1.0, math.nan, 1.0]), torch.tensor([0.0, 2.0, 1.0, 0.0]))
    assert ratios[:2].tolist() == [0, 0.5] and ratios[2].isnan() and ratios[3].isinf()
    assert measured(Settings(), FP64, "x", "y", ratios).status == "violated"
    assert measured(Settings(), FP64, "x", "y", ratios[:0]).status == "not run"


# the layer


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("eps", [1e-6, 1e-3, 0.0])
def test_a_zero_row_has_a_finite_output_and_gradient(fmt, eps):
    layer = MARMSNorm(5, eps=eps, dtype=fmt.dtype)
    with torch.no_grad():
        layer.magnitude.copy_(drawn(5, key="W"))
    x, g = torch.zeros(2, 5, dtype=fmt.dtype), torch.ones(2, 5, dtype=fmt.dtype)
    x[1] = drawn(5)
    y, slope = layer(x), input_gradient(layer, x, g)
    assert y.isfinite().all() and slope.isfinite().all()
    if eps:
        value = ALPHA * layer.magnitude.detach().double() * math.log(eps) / 2
        scale = rms_scale(torch.zeros(5, dtype=torch.float64), eps)
        lost = ma_output_error(
            torch.zeros(5, dtype=torch.float64), layer.weight.double(), layer.magnitude.double(), scale, fmt
        )
        assert ((y[0].double() - value).abs() <= rounded(lost, value, fmt) + roundings(6, FP64) * value.abs()).all()
    else:
        assert (y[0] == 0).all() and (slope[0] == 0).all()
    layer(x).sum().backward()
    assert layer.weight.grad.isfinite().all() and layer.magnitude.grad.isfinite().all()


def test_the_slope_at_zero_is_2000_for_the_defaults():
    x, g = torch.zeros(1, 3, dtype=torch.float64), torch.ones(1, 3, dtype=torch.float64)
    slope = input_gradient(lambda rows: ma_rms_norm(rows, magnitude=drawn(3)), x, g)
    assert ((slope - 2000).abs() <= 2000 * roundings(12, FP64)).all()


def test_an_underflowing_row_without_eps_counts_as_zero():
    x = torch.full((1, 4), 1e-30)
    y = ma_rms_norm(x, magnitude=torch.ones(4), eps=0.0)
    assert (y == 0).all()


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=FORMATS)
@pytest.mark.parametrize("channels", [1, 2, 7, 128])
def test_the_output_stays_within_its_bound(fmt, channels):
    x, gamma, w = drawn(50, channels), drawn(channels, key="gamma"), drawn(channels, key="W")
    x, gamma, w = (value.to(fmt.dtype) for value in (x, gamma, w))
    wide, weights, levels = x.double(), gamma.double(), w.double()
    scale = rms_scale(wide, 1e-3)
    exact = S * weights * wide / scale + ALPHA * levels * scale.log()
    lost, lost64 = (ma_output_error(wide, weights, levels, scale, f) for f in (fmt, FP64))
    error = (ma_rms_norm(x, gamma, w, eps=1e-3).double() - exact).abs()
    assert (error <= rounded(lost, exact, fmt) + lost64).all()


def test_without_the_second_term_it_is_s_times_rms_norm():
    x, gamma = drawn(9, 6), drawn(6, key="gamma")
    assert torch.equal(ma_rms_norm(x, gamma, None, 2.0, eps=1e-3), 2 * rms_norm(x, gamma, 1e-3))
    assert torch.equal(ma_rms_norm(x, gamma, torch.zeros(6), 1.0, eps=0.0), rms_norm(x, gamma, 0.0))


def test_the_module_starts_as_twice_rms_norm_and_learns_w():
    layer, x = MARMSNorm(6, dtype=torch.float64), drawn(9, 6)
    assert {name: tuple(p.shape) for name, p in layer.named_parameters()} == {"weight": (6,), "magnitude": (6,)}
    assert torch.equal(layer(x), 2 * rms_norm(x))
    layer(x).sum().backward()
    assert (layer.magnitude.grad != 0).all()
    with torch.no_grad():
        layer.magnitude.add_(1)
    layer.reset_parameters()
    assert (layer.magnitude == 0).all() and (layer.weight == 1).all()
    assert repr(layer) == "MARMSNorm(6, eps=1e-06, elementwise_affine=True, s=2.0, alpha=0.1)"
    assert list(MARMSNorm(6, elementwise_affine=False).parameters()) == []


def test_half_precision_is_rounded_once():
    x, w = drawn(30, 64, dtype=torch.float16), drawn(64, key="W", dtype=torch.float16)
    assert torch.equal(ma_rms_norm(x, None, w), ma_rms_norm(x.float(), None, w.float()).half())


def test_gradcheck():
    x, gamma, w = (drawn(*shape, key=key).requires_grad_() for shape, key in (((4, 5), "x"), ((5,), "g"), ((5,), "w")))
    assert torch.autograd.gradcheck(lambda *values: ma_rms_norm(*values, eps=0.1), (x, gamma, w))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"eps": -1.0}, ValueError, "eps"),
        ({"s": math.nan}, ValueError, "s is nan"),
        ({"alpha": math.inf}, ValueError, "alpha is inf"),
        ({"magnitude": torch.ones(3)}, ValueError, "shape"),
        ({"weight": torch.ones(4, dtype=torch.int64)}, TypeError, "dtype"),
    ],
)
def test_what_the_layer_refuses(options, error, message):
    with pytest.raises(error, match=message):
        ma_rms_norm(torch.ones(2, 4), **options)


def test_what_the_module_refuses():
    with pytest.raises(ValueError, match="s is inf"):
        MARMSNorm(4, s=math.inf)
    with pytest.raises(ValueError, match="channels"):
        MARMSNorm(0)
    with pytest.raises(ValueError, match="accepted"):
        MARMSNorm(4)(torch.ones(2, 5))


# the same formulas as in `theory`


def test_the_two_transcriptions_of_the_gradient_agree_at_rational_points():
    theory = importlib.import_module("theory.ma_rmsnorm.ma_jacobian")
    layer = importlib.import_module("theory.magnitude_aware")
    exact = importlib.import_module("theory.exact")
    phasors = importlib.import_module("theory.phasors")
    formula = theory.gradient()[1]
    h, gamma, e, w = [7, 1], [2, Fraction(-1, 2)], [3, Fraction(5, 4)], [Fraction(2, 3), -1]
    numbers = {phasors.N: 2, layer.s: 2, layer.alpha: Fraction(0.1)}
    tensors = [torch.tensor([[float(value) for value in values]], dtype=torch.float64) for values in (h, e, gamma, w)]
    found = ma_jacobian.printed(tensors[0], tensors[1], tensors[2][0], tensors[3][0], 0.0)[0]
    for place in (1, 2):
        at = exact.point(numbers, {phasors.i: place}, h=h, gamma=gamma, e=e).with_({layer.W: tuple(map(Fraction, w))})
        expected = float(exact.evaluate(formula, at))
        assert abs(found[place - 1].item() - expected) <= roundings(40, FP64) * 10


# the six experiments


def test_one_call_leaves_six_figures_and_a_file_of_numbers(tmp_path):
    results = experiments.run(tmp_path, Settings(), FORMATS["fp32"], size=256)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"{name}.png" for name in experiments.EXPERIMENTS} | {"all_results.json"}
    assert all(path.read_bytes()[:4] == b"\x89PNG" for path in tmp_path.glob("*.png"))
    assert json.loads((tmp_path / "all_results.json").read_text(encoding="utf-8")) == results
    p99 = results["fig1_numerical_utilization"]["p99 of |y|"]
    assert abs(p99["s = 8"] / p99["s = 1"] - 8) < 0.5
    information = results["fig2_magnitude_mi"]["mutual information in nats"]
    assert information["s = 1"] > information["s = 5"]


def test_the_experiments_are_one_command_that_prints_its_time(tmp_path):
    command = [sys.executable, "-m", "numerics.experiments.magnitude_aware", str(tmp_path / "output")]
    command += ["--rows", "256", "--seed", "1"]
    found = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("6 figures and all_results.json in ") and found.stdout.endswith(" s\n")
    assert len(list((tmp_path / "output").iterdir())) == 7
