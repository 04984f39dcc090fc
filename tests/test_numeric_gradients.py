"""The measurements of Eqs. 1-8 and what follows from them: what they find, and that each of them can fail."""

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
from numerics.mrsnorm import eq03, eq05, homogeneity
from numerics.norms import magnitudes, mrs_norm, mrs_scale, rms_norm
from numerics.rounding import FORMATS, FP64, roundings
from numerics.scenarios import SCENARIOS

NAMES = (
    "eq01 eq02 eq03 eq04 eq05 eq06 eq07 eq08 unit_direction homogeneity projection_blockade radial_open half_params"
).split()
MODULES = {name: importlib.import_module(f"numerics.mrsnorm.{name}") for name in NAMES}
SETTINGS = Settings(trials=16, seed=5)
FEW = Settings(trials=4, seed=3)
NARROW = ((1, 1e-6), (2, 0.0), (7, 0.125))


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """These tensors are small: threads that wait for each other only cost time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


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
    assert {row.dtype for row in found} == set(DTYPES)
    assert all(row.trials > 0 and row.device == "cpu" and row.seed == 5 for row in found)


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
@pytest.mark.parametrize(
    "name", ["eq01", "eq02", "eq03", "eq04", "eq05", "eq06", "eq07", "eq08", "projection_blockade"]
)
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


@pytest.mark.parametrize(("name", "replaced", "statement", "mutant"), REPLACED)
def test_a_wrong_formula_is_violated_in_every_dtype(name, replaced, statement, mutant, narrow, monkeypatch):
    module = MODULES[name]
    table = module.MUTANTS if replaced == "printed" else module.CORRECTED_MUTANTS
    monkeypatch.setattr(module, replaced, table[mutant])
    violated = {row.dtype for row in module.measure(FEW) if row.statement == statement and row.status == "violated"}
    assert violated == set(DTYPES)


def test_every_check_names_a_formula_that_is_not_a_number():
    assert all(any("NaN" in mutant for mutant in module.MUTANTS) for module in MODULES.values())


def test_the_violation_of_homogeneity_is_measured_and_not_written_down(narrow, monkeypatch):
    """Compared with itself, every gradient has the norm that it should have."""
    monkeypatch.setattr(homogeneity, "printed", lambda norms: norms)
    assert {row.status for row in of(homogeneity.measure(FEW), "as printed")} == {"consistent"}


# every check can fail: wrong layers


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
    ("half_params", "as printed", "MRSNorm", lambda n, **place: torch.nn.RMSNorm(n, **place), ALL),
    ("half_params", "against LayerNorm with bias", "against_layernorm", lambda channels: 1 / 2, ALL),
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


# the tally


def tally(*ratios):
    """A tally of fp64 fed with one row of 2 phasors for each pair of ratios."""
    found = Tally("as printed", FP64, Settings())
    b = batch("t", FP64, 2, 0.0, 1, Settings(), scenarios={"gaussian": SCENARIOS["gaussian"]})
    for pair in ratios:
        found.add(b, torch.tensor([pair], dtype=torch.float64), torch.ones(1, 2, dtype=torch.float64))
    return found.measurement()


def test_a_nan_is_the_worst_case_whatever_comes_after_it():
    for found in (tally((0.5, math.nan)), tally((math.nan, 2.0), (0.1, 3.0)), tally((7.0, 0.0), (math.nan, 0.0))):
        assert math.isnan(found.worst) and found.status == "violated"
        assert found.witness["error"] == "nan"


def test_the_worst_case_is_the_largest_ratio_and_names_its_input():
    found = tally((0.25, 0.5), (0.75, 0.1), (0.3, 0.2))
    assert (found.worst, found.status, found.trials) == (0.75, "consistent", 3)
    assert (found.witness["error"], found.witness["phasor"]) == (0.75, 0)


def test_entries_outside_the_statement_do_not_count():
    found = Tally("as printed", FP64, Settings())
    b = batch("t", FP64, 2, 0.0, 1, Settings(), scenarios={"gaussian": SCENARIOS["gaussian"]})
    ratio, one = torch.tensor([[math.nan, 0.5]], dtype=torch.float64), torch.ones(1, 2, dtype=torch.float64)
    found.add(b, ratio, one, torch.tensor([[False, True]]))
    assert (found.worst, found.trials, found.witness["phasor"]) == (0.5, 1, 1)
    found.add(b, ratio, one, torch.tensor([[False, False]]))
    assert found.trials == 1


def test_an_error_of_zero_needs_no_bound_and_no_bound_allows_an_error():
    found = Tally("as printed", FP64, Settings())
    b = batch("t", FP64, 2, 0.0, 1, Settings(), scenarios={"gaussian": SCENARIOS["gaussian"]})
    zero = torch.zeros(1, 2, dtype=torch.float64)
    found.add(b, zero, zero)
    assert found.measurement().status == "consistent"
    for bound in (zero, zero - 1):
        found.add(b, zero + 1e-300, bound)
        assert found.worst == math.inf
