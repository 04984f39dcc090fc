"""What `conform` compares with: formulas, against automatic differentiation and exact numbers, and bounds."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from numerics.conformance import data
from numerics.conformance.bounds import bound, ratios
from numerics.conformance.case import Case
from numerics.conformance.specs import NAMES, Rows, find
from numerics.rounding import FORMATS, roundings
from numerics.scenarios import generator, normal

FP32, FP64 = FORMATS["fp32"], FORMATS["fp64"]
U = FP64.unit_roundoff


def rows_of(spec, seed, eps=0.125, count=6, channels=8):
    rng = generator("specs", spec.name, seed)
    parameters = {role: normal(rng, spec.size(role, channels)) for role in spec.roles}
    x, g = normal(rng, count, channels), normal(rng, count, channels)
    return Rows(x, g, parameters, eps, (2, count // 2), torch.float64)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", NAMES)
def test_the_closed_gradients_are_those_of_automatic_differentiation(name, seed):
    """Both are evaluated in fp64; each is within the fp64 bound of the true gradient."""
    spec = find(name)
    rows = rows_of(spec, seed)
    x = rows.x.clone().requires_grad_()
    parameters = {role: each.clone().requires_grad_() for role, each in rows.parameters.items()}
    output = spec.forward(Rows(x, rows.g, parameters, rows.eps, rows.lead, rows.narrow))
    found = torch.autograd.grad(output, [x, *parameters.values()], rows.g)
    exact = [spec.input_gradient(rows), *(spec.parameter_gradient(role, rows) for role in parameters)]
    for one, other in zip(found, exact, strict=True):
        assert ((one - other.value).abs() <= 2 * other.error64).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_named_mistake_differs_from_the_truth_by_more_than_the_bound(name):
    """Otherwise it could be named where nothing is wrong, or pass where it is made."""
    spec = find(name)
    rows = rows_of(spec, 1)
    truths = {"scale": spec.output(rows), "gradient": spec.input_gradient(rows)}
    mistakes = [("scale", *each) for each in spec.scales(rows)]
    mistakes += [("gradient", *each) for each in spec.gradient_mistakes(rows)]
    assert len(mistakes) >= 10
    for kind, what, values in mistakes:
        assert not (ratios(values, truths[kind], FP32) <= 1).all(), what


@pytest.mark.parametrize("name", NAMES)
def test_the_bounds_are_small_against_the_truth(name):
    """Where nothing cancels they are a few hundred unit roundoffs of fp32: zeros can never pass."""
    spec = find(name)
    rows = rows_of(spec, 2)
    for exact in (spec.output(rows), spec.input_gradient(rows)):
        assert ((exact.error / exact.value.abs()).median() <= roundings(512, FP32)).item()
        assert not (ratios(torch.zeros_like(exact.value), exact, FP32) <= 1).any(-1).all()


def test_mrsnorm_at_rational_magnitudes_is_exact():
    """z = ((3, 4), (21, 28)): S = 20 + eps; with gamma = (2, -1) and g = ((1, 0), (0, 1)) by hand from Eq. 5."""
    spec = find("mrsnorm")
    x = torch.tensor([[3.0, 4.0, 21.0, 28.0]], dtype=torch.float64)
    g = torch.tensor([[1.0, 0.0, 0.0, 1.0]], dtype=torch.float64)
    rows = Rows(x, g, {"gamma": torch.tensor([2.0, -1.0], dtype=torch.float64)}, 0.0, (1,), torch.float64)
    s = Fraction(20)
    output = [Fraction(6, 20), Fraction(8, 20), Fraction(-21, 20), Fraction(-28, 20)]
    omega = (2 * Fraction(3) - Fraction(28)) / s / 2
    u = [Fraction(3, 5), Fraction(4, 5)] * 2
    direct = [Fraction(2), Fraction(0), Fraction(0), Fraction(-1)]
    gradient = [(d - v * omega) / s for d, v in zip(direct, u, strict=True)]
    for exact, by_hand in (
        (spec.output(rows), output),
        (spec.input_gradient(rows), gradient),
        (spec.parameter_gradient("gamma", rows), [Fraction(3, 20), Fraction(28, 20)]),
    ):
        wanted = torch.tensor([float(each) for each in by_hand], dtype=torch.float64).reshape(exact.value.shape)
        assert ((exact.value - wanted).abs() <= 8 * U * wanted.abs()).all()


def test_at_a_zero_row_the_gradient_is_gamma_g_over_eps():
    spec = find("mrsnorm")
    case = data.draw(generator("zero"), spec, FORMATS["fp16"], (1, 8), 2.0**-20)
    case = case.changed(x=torch.zeros_like(case.x))
    wanted = case.rows.parameters["gamma"].repeat_interleave(2) * case.rows.g / 2.0**-20
    assert torch.equal(case.input_gradient.value, wanted)


def test_an_infinite_gradient_is_right_exactly_where_the_truth_is_beyond_the_format():
    spec, fmt = find("mrsnorm"), FORMATS["fp16"]
    case = data.draw(generator("infinite"), spec, fmt, (1, 8), 2.0**-20)
    case = case.changed(x=torch.zeros_like(case.x), g=torch.ones_like(case.g))
    exact = case.input_gradient
    stored = exact.value.to(fmt.dtype).double()
    assert stored.isinf().any()
    assert (ratios(stored, exact, fmt) <= 1).all()
    assert not (ratios(-stored, exact, fmt) <= 1)[stored.isinf()].any()
    finite = stored.clamp(-fmt.largest, fmt.largest)
    assert not (ratios(finite, exact, fmt) <= 1)[stored.isinf()].any()


@pytest.mark.parametrize("fmt", FORMATS.values(), ids=lambda fmt: fmt.name)
def test_nan_is_never_within_a_bound(fmt):
    spec = find("rmsnorm")
    case = data.draw(generator("nan"), spec, fmt, (2, 8), 0.125)
    found = ratios(torch.full_like(case.output.value, torch.nan), case.output, fmt)
    assert not (found <= 1).any()


def test_at_a_zero_phasor_any_direction_of_length_one_will_do_and_nothing_longer():
    spec = find("mrsnorm")
    rng = generator("phasor")
    case = data.draw(rng, spec, FP64, (1, 8), 0.125)
    x = case.x.clone()
    x[0, :2] = 0
    case = case.changed(x=x)
    exact = case.input_gradient
    s = torch.linalg.vector_norm(x.reshape(4, 2), dim=-1).mean() + 0.125
    weighted = case.rows.g.reshape(4, 2) * case.parameters["gamma"][:, None]
    omega = (weighted * x.reshape(4, 2) / s).sum() / 4
    for length, allowed in ((0.0, True), (0.999, True), (-0.999, True), (1.5, False)):
        moved = exact.value.clone()
        moved[0, 0] -= length * omega / s
        assert bool((ratios(moved, exact, FP64) <= 1).all()) is allowed


def test_half_precision_results_are_rounded_once_and_gradient_terms_once_more():
    spec, fmt = find("mrsnorm"), FORMATS["bf16"]
    case = data.draw(generator("once"), spec, fmt, (64, 16), 0.125)
    exact = case.output
    assert (ratios(exact.value.to(fmt.dtype).double(), exact, fmt) <= 1).all()
    twice = (exact.value.to(fmt.dtype).double() * (1 + 1.5 * fmt.unit_roundoff)).to(fmt.dtype).double()
    assert not (ratios(twice, exact, fmt) <= 1).all()
    before, after = bound(case.input_gradient, fmt)
    assert (before > case.input_gradient.error).all() and (after > before).all()


def test_a_layernorm_row_whose_variance_is_rounding_alone_is_not_judged():
    """In fp32 the variance of 2^30 + (1024, 0, ...) may be anything; the same row around 0 has a bound."""
    spec = find("layernorm")
    parameters = {"gamma": torch.ones(8), "beta": torch.zeros(8)}
    x = torch.zeros(1, 8)
    x[0, 0] = 1024
    far = Case(spec, FP32, 1e-12, x + 2.0**30, torch.ones_like(x), parameters, "far from 0")
    near = Case(spec, FP32, 1e-12, x, torch.ones_like(x), parameters, "around 0")
    assert far.output.error.isinf().all()
    assert (near.output.error <= roundings(512, FP32) * near.output.value.abs().max()).all()


def extended(name, case):
    """The output, and MRSNorm's input gradient, in numpy's widest format (64 bits of precision on x86)."""
    x, g = (each.double().numpy().astype(np.longdouble) for each in (case.x, case.g))
    parameters = {role: each.double().numpy().astype(np.longdouble) for role, each in case.parameters.items()}
    gamma, eps = parameters["gamma"], np.longdouble(case.eps)
    if name == "rmsnorm":
        return [gamma * x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)]
    if name == "layernorm":
        centred = x - x.mean(-1, keepdims=True)
        return [gamma * centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps) + parameters["beta"]]
    z, g, gamma = x.reshape(len(x), -1, 2), g.reshape(len(x), -1, 2), gamma[None, :, None]
    r = np.sqrt((z * z).sum(-1, keepdims=True))
    s = r.mean(-2, keepdims=True) + eps
    omega = (gamma * g * z / s).sum((-1, -2), keepdims=True) / z.shape[1]
    return [(gamma * z / s).reshape(x.shape), ((gamma * g - z / r * omega) / s).reshape(x.shape)]


@pytest.mark.parametrize("channels", [16, 770, 8192])
@pytest.mark.parametrize("name", ["mrsnorm", "rmsnorm", "layernorm"])
def test_the_truths_own_error_is_nothing_beside_the_bound(name, channels):
    """fp64 is enough for the truth: its error is within the bound for fp64, which is nothing beside the one for fp32.

    The two count the same roundings, n u / (1 - n u), so their ratio is that of the unit roundoffs, but for 1 - n u.
    """
    case = data.draw(generator("extended", channels), find(name), FP32, (3, channels), 1e-6)
    for exact, wide in zip((case.output, case.input_gradient), extended(name, case), strict=False):
        error = np.abs(exact.value.numpy().astype(np.longdouble) - wide)
        assert (error <= 2 * FP64.unit_roundoff / FP32.unit_roundoff * exact.error.numpy()).all()
        assert (error <= exact.error64.numpy()).all()
