"""`analyze`: gradients against autograd, norms against equations, bounds against search, Jacobians against SVD."""

import functools
import itertools
import time

import numpy as np
import pytest
import sympy as sp
import torch

from theory.analysis import analyze, general
from theory.analysis.finding import MEAN_RATE, RMS_R, RMS_RATE, A, S, eps, r_i
from theory.analysis.floats import evaluate
from theory.analysis.normalizer import ArgumentError, FormulaError, r
from theory.moments import vanishes
from theory.mrsnorm import eq04, eq05, eq08
from theory.norms import rms_magnitude
from theory.phasors import N, P, gamma, h, i, substitute, z
from theory.phasors import eps as epsilon

UNIT_ROUNDOFF = 2.0**-53
TORCH = {
    ("r", "m"): (lambda r: r, lambda m: m),
    ("r**2", "sqrt(m)"): (lambda r: r**2, torch.sqrt),
    ("r**(3/2)", "m**(2/3)"): (lambda r: r**1.5, lambda m: m ** (2 / 3)),
    ("r**3", "m**(1/3)"): (lambda r: r**3, lambda m: m ** (1 / 3)),
    ("log(r)", "exp(m)"): (torch.log, torch.exp),
    ("1/r", "1/m"): (lambda r: 1 / r, lambda m: 1 / m),
    ("log(1 + r)", "exp(m) - 1"): (torch.log1p, torch.expm1),
    ("r + r**2", "(sqrt(1 + 4*m) - 1)/2"): (lambda r: r + r**2, lambda m: ((1 + 4 * m).sqrt() - 1) / 2),
    ("Max(r, 1/2)", "m"): (lambda r: r.clamp_min(0.5), lambda m: m),
}


analysed = functools.cache(analyze)


def inputs(length, over, seed):
    rng = np.random.default_rng(seed)
    shape = (length, 2) if over == "phasors" else (length,)
    return rng.normal(size=shape), rng.normal(size=length), rng.normal(size=shape)


def torch_output(z, gamma, phi, psi, offset, inside):
    pairs = z.reshape(len(z), -1)
    mean = phi(torch.linalg.vector_norm(pairs, dim=-1)).mean()
    scale = psi(mean + offset) if inside else psi(mean) + offset
    return (gamma[:, None] * pairs / scale).reshape(z.shape)


def rounding_bound(analysis, z, gamma, g, offset):
    """What rounding can do to the two sides: n + 60 unit roundoffs of the sum of the absolute values of all terms.

    Each sum of n terms has an error of at most n of them; what else is computed on either side are fewer than 30
    operations, of which each has an error of one (a power, a logarithm: a few). exp(m) - 1 magnifies by less than 4
    at these magnitudes, which is counted among the 30.
    """
    pairs, upstream = (value.reshape(len(z), -1) for value in (z, g))
    magnitudes = np.linalg.norm(pairs, axis=1)
    n, m = analysis.normalizer, analysis.normalizer.m
    mean = np.mean(evaluate(n.phi, {r: magnitudes}))
    argument = mean + offset if n.inside else mean
    scale = evaluate(n.psi, {m: argument}) + (0 if n.inside else offset)
    rate = np.abs(evaluate(n.dpsi, {m: argument}) * evaluate(n.dphi, {r: magnitudes})) + np.zeros(len(z))
    total = np.sum(np.abs(gamma[:, None] * upstream * pairs)) / len(z) / scale
    terms = np.abs(gamma[:, None] * upstream) + (rate * total)[:, None]
    return ((len(z) + 60) * UNIT_ROUNDOFF * terms / scale).reshape(z.shape)


@pytest.mark.parametrize("length", [1, 2, 7, 64])
@pytest.mark.parametrize(("over", "where"), list(itertools.product(("phasors", "channels"), ("outside", "inside"))))
@pytest.mark.parametrize("formulas", TORCH)
def test_the_gradient_agrees_with_autograd_to_rounding(formulas, over, where, length):
    analysis = analysed(*formulas, over=over, eps=where)
    for seed, offset in ((1, 1e-3), (2, 0.5)):
        z, weight, g = inputs(length, over, seed)
        variable = torch.tensor(z, requires_grad=True)
        output = torch_output(variable, torch.tensor(weight), *TORCH[formulas], offset, where == "inside")
        output.backward(torch.tensor(g))
        error = np.abs(analysis.numpy_gradient(z, weight, g, offset) - variable.grad.numpy())
        bound = rounding_bound(analysis, z, weight, g, offset)
        assert (error <= bound).all(), f"seed {seed}: {np.max(error / bound)}"


def test_a_symbolic_parameter_is_given_with_the_numbers():
    z, weight, g = inputs(7, "phasors", 3)
    symbolic = analyze("r**p", "m**(1/p)", parameters=["p"])
    known = analyze("r**3", "m**(1/3)")
    error = np.abs(symbolic.numpy_gradient(z, weight, g, 0.1, p=3.0) - known.numpy_gradient(z, weight, g, 0.1))
    assert (error <= rounding_bound(known, z, weight, g, 0.1)).all()
    with pytest.raises(ArgumentError, match="accepts a value for each of \\['p'\\]"):
        symbolic.numpy_gradient(z, weight, g, 0.1)


def same(first, second):
    return all(vanishes(a - b) for a, b in zip(sp.Matrix([first]), sp.Matrix([second]), strict=True))


def test_mrsnorm_reproduces_eqs_5_and_8():
    found = analyze(norm="mrsnorm")
    assert same(found.gradient, eq05.printed())
    assert same(found.own_block, gamma[i] * eq08.printed())
    assert same(found.cross_block, gamma[i] * eq08.cross_block())
    assert not same(found.gradient, eq05.post_affine())


def test_squares_and_a_root_reproduce_rmsnorm():
    x = general.blocks("channels").inputs.components[0]
    outside = analyze("r**2", "sqrt(m)", over="channels")
    inside = analyze(norm="rmsnorm")
    for found, expected in ((outside, eq04.with_eps_outside()), (inside, eq04.derived())):
        assert vanishes(found.gradient[0] - substitute(expected, {h: lambda k: x[k]}))
    eleven = analyze(norm="mrsnorm-eq11")
    assert vanishes(eleven.scale - rms_magnitude(z))
    assert vanishes(analyze("r**2", "sqrt(m)").scale - epsilon - rms_magnitude(z, sp.Integer(0)))


@pytest.mark.parametrize(
    ("method", "wrong"),
    [
        ("gradient", lambda c: c.gradient() * 2),
        ("gradient", lambda c: c.gradient().xreplace({P: P + 1, N: N + 1})),
        ("own_block", lambda c: c.own_block() * c.scale),
        ("cross_block", lambda c: -c.cross_block()),
        ("radial_gain", lambda c: 1 / c.scale),
    ],
)
def test_a_wrong_closed_form_is_not_proved(monkeypatch, method, wrong):
    right = getattr(general.General, method)
    copy = type("Copy", (general.General,), {method: right})
    monkeypatch.setattr(general.General, method, lambda c: wrong(copy(c.over, c.inside)))
    assert not general.proved.__wrapped__("phasors", False)


@pytest.mark.parametrize(("over", "inside"), list(itertools.product(("phasors", "channels"), (False, True))))
def test_the_closed_forms_are_proved_for_unknown_phi_and_psi(over, inside):
    assert general.proved(over, inside)


def jacobian(analysis, z, offset, phi, psi):
    ones = torch.ones(len(z), dtype=torch.float64)
    inside = analysis.normalizer.inside
    found = torch.autograd.functional.jacobian(
        lambda value: torch_output(value, ones, phi, psi, offset, inside), torch.tensor(z)
    )
    return found.reshape(z.size, z.size).numpy()


@pytest.mark.parametrize("over", ["phasors", "channels"])
@pytest.mark.parametrize("formulas", TORCH)
def test_the_operator_norm_is_the_largest_singular_value(formulas, over):
    analysis = analyze(*formulas, over=over)
    m = analysis.normalizer.m
    for seed, length in ((1, 2), (2, 5), (3, 16)):
        z, _, _ = inputs(length, over, seed)
        magnitudes = np.linalg.norm(z.reshape(length, -1), axis=1)
        rates = evaluate(analysis.normalizer.dphi, {r: magnitudes}) + np.zeros(length)
        mean = np.mean(evaluate(analysis.normalizer.phi, {r: magnitudes}))
        for offset in (0.0, 0.25):
            scale = evaluate(analysis.normalizer.psi, {m: mean}) + offset
            values = {
                m: mean,
                eps: offset,
                S: scale,
                MEAN_RATE: np.mean(magnitudes * rates),
                RMS_R: np.sqrt(np.mean(magnitudes**2)),
                RMS_RATE: np.sqrt(np.mean(rates**2)),
            }
            singular = np.linalg.svd(jacobian(analysis, z, offset, *TORCH[formulas]), compute_uv=False)
            formula = evaluate(analysis["operator norm"].formula, values)
            # the formula subtracts squares of terms up to (1 + omega)^2: half of the digits may go
            size = (1 + values[RMS_R] * values[RMS_RATE] / scale) ** 2 / scale
            assert abs(formula - singular[0]) <= size * np.sqrt(length * 64 * UNIT_ROUNDOFF)
            if offset == 0 and analysis["homogeneity"].formula == 1:
                at_zero = evaluate(analysis["operator norm at eps = 0"].formula, values)
                assert abs(at_zero - singular[0]) <= length * 256 * UNIT_ROUNDOFF * size
                assert singular[-1] <= length * 256 * UNIT_ROUNDOFF * size


def ratio(analysis, magnitudes, offset):
    n, m = analysis.normalizer, analysis.normalizer.m
    mean = np.mean(evaluate(n.phi, {r: magnitudes}) + np.zeros_like(magnitudes))
    scale = evaluate(n.psi, {m: mean + offset if n.inside else mean}) + (0 if n.inside else offset)
    return magnitudes / scale


def starts(length, rng):
    yield np.eye(length)[0]
    yield np.ones(length)
    for _ in range(20):
        yield rng.exponential(size=length) ** rng.uniform(0.2, 6)


BOUNDED = [
    ("r", "m", "outside"),
    ("r**2", "sqrt(m)", "inside"),
    ("r**(3/2)", "m**(2/3)", "outside"),
    ("r**3", "m**(1/3)", "outside"),
    ("r**(1/2)", "m**2", "outside"),
    ("2*r**2", "sqrt(m)", "outside"),
    ("r", "m**2", "outside"),
    ("r**2", "m", "outside"),
]


@pytest.mark.parametrize(("phi", "psi", "where"), BOUNDED)
@pytest.mark.parametrize("length", [1, 2, 9])
def test_the_bounds_hold_and_are_reached(phi, psi, where, length):
    analysis = analysed(phi, psi, eps=where)
    rng = np.random.default_rng(length)
    offset = 0.0 if analysis["homogeneity"].formula == 1 else 0.3
    values = {P: float(length), eps: offset}
    output = evaluate(analysis["output bound"].formula, values)
    logit = evaluate(analysis["logit bound"].formula, values)
    worst_output = worst_logit = 0.0
    for start in starts(length, rng):
        for size in (1.0,) if offset == 0 else np.geomspace(1e-2, 1e2, 150):
            found = ratio(analysis, size * start, offset)
            worst_output, worst_logit = max(worst_output, found.max()), max(worst_logit, np.sum(found**2))
    slack = 64 * UNIT_ROUNDOFF
    assert worst_output <= output * (1 + slack) and worst_logit <= logit * (1 + slack)
    reached = 1 - slack * length if offset == 0 else 0.99  # the sizes that are tried are 6 % apart
    assert worst_output >= reached * output and worst_logit >= reached * logit


@pytest.mark.parametrize("formulas", [("log(r)", "exp(m)"), ("1/r", "1/m"), ("r", "sqrt(m)")])
def test_where_there_is_no_bound_it_is_said(formulas):
    analysis = analyze(*formulas)
    assert analysis["output bound"].formula is None and analysis["output bound"].says.startswith("none")
    small = 1e-12 if formulas[0] != "r" else 1.0
    assert ratio(analysis, np.array([1e12, small, small]), 0.0).max() > 1e5


@pytest.mark.parametrize("formulas", [("r", "m"), ("r**2", "sqrt(m)"), ("r**(3/2)", "m**(2/3)"), ("r", "m**2")])
def test_an_outlier_does_what_is_said(formulas):
    analysis = analyze(*formulas)
    length, size = 8, 1e9
    magnitudes = np.array([size, *np.linspace(0.5, 2, length - 1)])
    n, m = analysis.normalizer, analysis.normalizer.m
    mean = np.mean(evaluate(n.phi, {r: magnitudes}))
    scale, slope = evaluate(n.psi, {m: mean}), evaluate(n.dpsi, {m: mean})
    values = {A: size, P: float(length), r_i: magnitudes[1]}
    near = 1e-4  # the next order is (1/A)^(1/2) or smaller
    assert abs(scale / evaluate(analysis["one outlier"].formula, values) - 1) <= near
    gain = 1 - slope * evaluate(n.dphi, {r: size}) * size / (length * scale)
    assert abs(gain - float(analysis["gain of the outlier"].formula)) <= near
    weight = slope * evaluate(n.dphi, {r: magnitudes[1]})
    assert abs(weight / evaluate(analysis["interference beside it"].formula, values) - 1) <= near


def test_an_analysis_takes_less_than_two_seconds():
    started = time.process_time()
    analyze("r**(5/2) + r/(1 + r)", "sqrt(m) + log(1 + m)")
    assert time.process_time() - started < 2


def test_shapes_are_checked():
    analysis = analyze(norm="mrsnorm")
    z, weight, g = inputs(3, "phasors", 0)
    for bad in ((z[:, 0], weight, g), (z, weight[:2], g), (z, weight, g[:2]), (z[:0], weight[:0], g[:0])):
        with pytest.raises(ArgumentError, match="got"):
            analysis.numpy_gradient(*bad, 0.1)


def test_at_a_zero_phasor_u_is_zero_and_an_infinite_rate_is_not_hidden():
    z, weight, g = inputs(3, "phasors", 0)
    z[1] = 0
    found = analyze(norm="mrsnorm").numpy_gradient(z, weight, g, 0.1)
    scale = np.mean(np.linalg.norm(z, axis=1)) + 0.1
    assert (np.abs(found[1] - weight[1] * g[1] / scale) <= 4 * UNIT_ROUNDOFF * np.abs(found[1])).all()
    assert np.isnan(analyze("r**(1/2)", "m**2").numpy_gradient(z, weight, g, 0.1)[1]).all()


def test_refusals_name_the_formula():
    with pytest.raises(FormulaError) as caught:
        analyze("r", "m - 1")
    assert caught.value.which == "psi" and "negative" in caught.value.reason
