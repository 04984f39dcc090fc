"""The measurements of Eqs. 1-8 and what follows from them: what they find, again and in every dtype."""

import functools
import importlib
import math
import re
from dataclasses import replace

import pytest
import torch

from numerics import activations, inputs
from numerics.amplification import amplification, jacobian
from numerics.inputs import batch, phasor_view
from numerics.judge import Tally
from numerics.measure import DTYPES, Measurement, Settings
from numerics.mrsnorm import eq03, eq05
from numerics.norms import magnitudes, mrs_scale
from numerics.rounding import FORMATS, FP64, roundings
from numerics.scenarios import SCENARIOS

EQUATIONS = tuple(f"eq0{number}" for number in range(1, 9))
NAMES = (*EQUATIONS, "unit_direction", "homogeneity", "projection_blockade", "radial_open", "half_params")
MODULES = {name: importlib.import_module(f"numerics.mrsnorm.{name}") for name in NAMES}
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


def of(found, statement: str) -> list[Measurement]:
    chosen = [row for row in found if row.statement == statement]
    assert chosen, statement
    return chosen


# what is found


@pytest.mark.parametrize("name", NAMES)
def test_every_statement_is_consistent_but_homogeneity(name):
    for row in rows(name):
        refuted = (name, row.statement) == ("homogeneity", "as printed")
        assert row.status == ("violated" if refuted else "consistent"), row


@pytest.mark.parametrize("name", NAMES)
def test_every_check_runs_in_every_dtype_with_trials(name):
    found = of(rows(name), "as printed")
    assert {row.dtype for row in found} == ({"exact"} if name == "half_params" else set(DTYPES))
    assert all(row.trials > 0 and row.device == "cpu" and row.seed == 5 for row in found)


def test_parameters_are_counted_once():
    assert [row.statement for row in rows("half_params")] == ["as printed", "against LayerNorm with bias"]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "half_params"])
def test_real_activations_and_outliers_are_scenarios_of_every_check(name, monkeypatch):
    seen = {}
    add = Tally.add

    def watch(self, batch, *args, **kwargs):
        add(self, batch, *args, **kwargs)
        seen.setdefault(self.statement, set()).update(self.by_scenario)

    monkeypatch.setattr(Tally, "add", watch)
    list(MODULES[name].measure(replace(FEW, dtypes=("fp16",))))
    assert {"real pre_norm", "outlier channel", "outlier phasor", "outlier phasors", "student"} <= seen["as printed"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", [*EQUATIONS, "projection_blockade"])
def test_the_bound_is_not_vacuous(name, dtype):
    """The worst error of the main statement uses 2 % of its bound or more, in most scenarios."""
    row = next(row for row in of(rows(name), "as printed") if row.dtype == dtype)
    assert row.worst > 0.02
    seen, total = map(int, re.search(r"ratio above 0.02 in (\d+) of (\d+) scenarios", row.detail).groups())
    assert seen > total / 2


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_rows(name, narrow):
    assert list(MODULES[name].measure(FEW)) == list(MODULES[name].measure(FEW))


def test_the_order_of_the_checks_does_not_matter(narrow):
    alone = list(eq05.measure(replace(FEW, dtypes=("fp32",))))
    among = [row for row in eq05.measure(FEW) if row.dtype == "fp32"]
    assert alone == among


@pytest.mark.parametrize("name", NAMES)
def test_no_trials_count_as_not_run(name):
    for row in MODULES[name].measure(Settings(trials=0)):
        random = row.kind == "random"
        assert (row.status == "not run") == random, row


def test_overflow_is_counted_and_named():
    found = next(row for row in of(rows("eq05"), "as printed") if row.dtype == "fp16")
    assert re.search(r"[1-9]\d* results beyond the range of fp16, infinite as they must be", found.detail)


def test_a_violation_comes_with_the_input_that_gave_it():
    row = next(row for row in of(rows("homogeneity"), "as printed") if row.dtype == "fp64")
    witness = row.witness
    assert witness["error"] > witness["bound"]
    if witness["P"] <= 8:
        h, g, gamma = (torch.tensor(witness[key], dtype=torch.float64)[None] for key in ("h", "g", "gamma"))
        d = eq05.printed(phasor_view(h), phasor_view(g), gamma[0], witness["eps"])  # another route than the check's
        norms = torch.linalg.vector_norm(d, dim=-1)[0]
        i = witness["phasor"]
        difference = (norms[i] - norms[i - 1]).abs()
        slack = roundings(100, FP64) * norms.max()
        assert (difference - witness["error"]).abs() <= slack


def test_gradient_norms_of_one_row_differ_by_more_than_ten_times():
    for row in of(rows("homogeneity"), "as printed"):
        assert float(re.search(r"in a row up to ([\d.e+]+);", row.detail)[1]) > 10


@pytest.mark.parametrize("name", ["homogeneity", "eq02", "radial_open"])
def test_the_inequalities_are_nearly_attained(name):
    """Random rows alone stay far below these bounds; the checks do not."""
    statement = {
        "homogeneity": "corrected",
        "eq02": "output bound",
        "radial_open": "an outlier loses its radial gradient",
    }
    assert all(row.worst > 0.9 for row in of(rows(name), statement[name]))


# where half precision loses the phase


@pytest.mark.parametrize(("dtype", "lost", "gone"), [("fp16", 2.0**-12, 2.0**-24), ("bf16", 2.0**-123, 2.0**-133)])
def test_half_precision_loses_the_phase_below_its_normal_range(dtype, lost, gone):
    row = next(row for row in of(rows("eq03"), eq03.LOST) if row.dtype == dtype)
    assert row.worst < 0.01
    first = float(re.search(r"beyond its bound from r_2/S = ([\d.e+-]+) down", row.detail)[1])
    last = float(re.search(r"no phase left, from r_2/S = ([\d.e+-]+) down", row.detail)[1])
    # z_2 / S at up to 85.5 degrees: a component is below the normal range for r_2/S below lambda / cos(85.5 deg)
    assert first <= FORMATS[dtype].smallest_normal / math.cos(math.radians(85.5)) * 1.01
    assert first >= FORMATS[dtype].smallest_normal and first > lost / 4
    assert last <= FORMATS[dtype].smallest_subnormal and last > gone / 4
    assert row.witness["sin_error"] > row.witness["bound"]


# real activations


@pytest.mark.parametrize("dtype", DTYPES)
def test_real_activations_close_the_radial_gain_and_amplify(dtype):
    row = next(row for row in of(rows("radial_open"), "on real activations") if row.dtype == dtype)
    gain = float(re.search(r"gain down to ([\d.]+)/S", row.detail)[1])
    norms = [float(value) for value in re.findall(r"([\d.]+)/S (?:\(|reached)", row.detail)]
    assert gain < 0.15
    assert len(norms) == 3 and all(10 < value < 192**0.5 for value in norms)


@pytest.mark.parametrize("eps", [0.0, 1e-6, 0.5])
@pytest.mark.parametrize("phasors", [2, 3, 16])
def test_the_closed_form_of_the_operator_norm_is_that_of_the_explicit_jacobian(phasors, eps):
    h = batch(
        "t", FP64, phasors, eps, 4, Settings(), scenarios={k: SCENARIOS[k] for k in ("gaussian", "outlier phasor")}
    ).h
    for row, predicted in zip(h, amplification(h, eps), strict=True):
        s = mrs_scale(row, eps)
        values = torch.linalg.svdvals(jacobian(row, eps) * s)
        # rounding of S J, at most gamma_n |S J| entry by entry, moves a singular value by no more than its norm (Weyl)
        bound = roundings(40 * phasors, FP64) * torch.linalg.matrix_norm(jacobian(row, eps) * s)
        assert (values[0] - predicted).abs() <= bound
        between = values[1:-1] if eps or phasors > 1 else values
        assert ((between - 1).abs() <= bound).all()
        assert (values[0] * values[-1] - eps / s).abs() <= 2 * bound * values[0]


def test_at_eps_0_the_operator_norm_is_rms_over_mean():
    h = activations.rows("pre_norm")[:16]
    r = magnitudes(h)
    expected = r.square().mean(-1).sqrt() / r.mean(-1)
    assert ((amplification(h, 0.0) - expected).abs() <= roundings(800, FP64) * expected).all()
