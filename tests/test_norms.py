"""The layers: what they compute, in which dtype, at which edges, and what they refuse."""

from fractions import Fraction
from functools import partial

import pytest
import torch
from torch import nn

from numerics import norms
from numerics.gradients import input_gradient
from numerics.inputs import generator
from numerics.norms import MRSNorm, RMSNorm, mrs_norm, mrs_scale, phasor_rms_scale, rms_norm, rms_scale
from numerics.rounding import FORMATS, FP64, rms_roundings, roundings

LAYERS = {"MRSNorm": (MRSNorm, mrs_norm, 2), "RMSNorm": (RMSNorm, rms_norm, 1)}
HALF = [torch.float16, torch.bfloat16]
DTYPES = [fmt.dtype for fmt in FORMATS.values()]


def normal(*shape, key="x", dtype=torch.float64):
    return torch.randn(shape, generator=generator("test_norms", key, shape), dtype=torch.float64).to(dtype)


@pytest.fixture(params=LAYERS)
def layer(request):
    return LAYERS[request.param]


def weight(layer, channels, dtype=torch.float64):
    """A gamma of both signs that fits the layer."""
    gamma = normal(channels // layer[2], key="gamma", dtype=dtype)
    gamma[0] = -gamma[0].abs()
    return gamma


# values


def test_the_witness_q_has_scale_20_under_eq1_and_25_under_eq11():
    h = torch.tensor([3.0, 4.0, 21.0, 28.0], dtype=torch.float64)
    assert norms.magnitudes(h).tolist() == [5, 35]
    assert mrs_scale(h, 0.0).item() == 20
    assert phasor_rms_scale(h, 0.0).item() == 25
    assert mrs_norm(h, torch.tensor([2.0, -1.0], dtype=torch.float64), 0.0).tolist() == [0.3, 0.4, -1.05, -1.4]


def test_rms_norm_of_two_twos_is_two_ones():
    h = torch.tensor([2.0, -2.0], dtype=torch.float64)
    assert rms_norm(h, eps=0.0).tolist() == [1, -1]
    assert rms_scale(h, 12.0).item() == 4  # eps inside the root


def test_eps_stands_outside_the_mean_of_eq1_and_inside_the_roots():
    h = torch.tensor([3.0, 4.0], dtype=torch.float64)
    assert mrs_scale(h, 2.0).item() == 7
    assert phasor_rms_scale(h, 144.0).item() == 13
    assert rms_scale(h, 3.5).item() == 4


@pytest.mark.parametrize("phasors", [1, 2, 7, 64])
def test_magnitudes_are_those_of_complex_numbers(phasors):
    h = normal(5, 2 * phasors)
    expected = torch.view_as_complex(h.unflatten(-1, (-1, 2))).abs()
    assert ((norms.magnitudes(h) - expected).abs() <= 2 * roundings(4, FP64) * expected).all()


@pytest.mark.parametrize("channels", [1, 2, 7, 128])
def test_rms_norm_is_pytorchs(channels):
    h, gamma = normal(9, channels), normal(channels, key="gamma")
    expected = nn.functional.rms_norm(h, (channels,), gamma, eps=1e-3)
    bound = 2 * roundings(rms_roundings(channels) + 3, FP64) * expected.abs()
    assert ((rms_norm(h, gamma, 1e-3) - expected).abs() <= bound).all()


def test_mrs_norm_pairs_adjacent_channels_and_not_halves():
    h = torch.tensor([3.0, 4.0, 0.0, 0.0], dtype=torch.float64)
    assert norms.magnitudes(h).tolist() == [5, 0]


def test_the_output_agrees_with_rational_arithmetic():
    """z = k (3, 4) has r = 5 |k|, so every step is rational."""
    factors = [2, -3, 7, 1]
    h = [Fraction(c * k) for k in factors for c in (3, 4)]
    scale = Fraction(5 * sum(map(abs, factors)), 4) + Fraction(1, 8)
    got = mrs_norm(torch.tensor([float(x) for x in h], dtype=torch.float64), eps=0.125)
    assert got.tolist() == [float(x / scale) for x in h]  # all but the quotient is exact, and that is rounded correctly


# dtypes


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_output_has_the_inputs_dtype(layer, dtype):
    _, function, _ = layer
    h = normal(3, 8, dtype=dtype)
    for gamma in (None, weight(layer, 8, torch.float32)):
        assert function(h, gamma).dtype == dtype


@pytest.mark.parametrize("dtype", HALF)
def test_half_precision_is_computed_in_fp32_and_rounded_once(layer, dtype):
    _, function, _ = layer
    h, gamma = normal(50, 64, dtype=dtype), weight(layer, 64, dtype)
    assert torch.equal(function(h, gamma), function(h.float(), gamma.float()).to(dtype))


@pytest.mark.parametrize("dtype", HALF)
def test_the_gradient_of_half_precision_is_rounded_once(layer, dtype):
    """Casting the input twice, once for each path, would round both parts of the gradient before they are added."""
    _, function, _ = layer
    h, g, gamma = normal(50, 64, dtype=dtype), normal(50, 64, key="g", dtype=dtype), weight(layer, 64, dtype)
    half = input_gradient(partial(function, weight=gamma), h, g)
    single = input_gradient(partial(function, weight=gamma.float()), h.float(), g.float())
    assert torch.equal(half, single.to(dtype))


@pytest.mark.parametrize("dtype", HALF)
def test_scales_of_half_precision_inputs_are_fp32(dtype):
    h = normal(3, 8, dtype=dtype)
    assert {s(h, 1e-6).dtype for s in (mrs_scale, rms_scale, phasor_rms_scale)} == {torch.float32}


def test_an_eps_below_fp16s_smallest_number_still_counts():
    assert mrs_scale(torch.zeros(2, dtype=torch.float16), 1e-12).item() > 0


# gradients


@pytest.mark.parametrize("phasors", [1, 2, 7])
def test_the_gradient_is_that_of_finite_differences(layer, phasors):
    _, function, _ = layer
    h = normal(3, 2 * phasors).requires_grad_()
    gamma = weight(layer, 2 * phasors).requires_grad_()
    assert torch.autograd.gradcheck(partial(function, eps=1e-3), (h, gamma))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_zero_phasor_has_a_finite_gradient_with_u_equal_to_0(dtype):
    h = torch.tensor([0.0, 0.0, 3.0, 4.0], dtype=dtype)
    got = input_gradient(partial(mrs_norm, eps=0.0), h, torch.tensor([1.0, 2.0, 0.0, 0.0], dtype=dtype))
    assert got[:2].tolist() == torch.tensor([0.4, 0.8], dtype=dtype).tolist()  # g / S, S = 5/2


def test_a_row_of_zeros_passes_g_over_eps_on():
    got = input_gradient(partial(mrs_norm, eps=0.25), torch.zeros(4), torch.tensor([1.0, -2.0, 0.0, 3.0]))
    assert got.tolist() == [4, -8, 0, 12]
    assert mrs_norm(torch.zeros(4), eps=0.25).tolist() == [0, 0, 0, 0]


def test_a_row_of_zeros_without_eps_has_no_output(layer):
    _, function, _ = layer
    assert function(torch.zeros(4), eps=0.0).isnan().all()


# shapes


@pytest.mark.parametrize("shape", [(8,), (3, 8), (2, 3, 8), (0, 8), (2, 0, 8)])
def test_any_leading_dimensions_are_kept(layer, shape):
    module, function, _ = layer
    h = normal(*shape)
    out = module(8, dtype=torch.float64)(h)
    assert out.shape == shape
    rows = [function(row) for row in h.reshape(-1, 8)]
    assert torch.equal(out.reshape(-1, 8), torch.stack(rows) if rows else torch.empty(0, 8, dtype=torch.float64))


@pytest.mark.parametrize(
    "view",
    [
        lambda h: h.transpose(0, 1).contiguous().transpose(0, 1),
        lambda h: h[:1].expand(6, -1),
        lambda h: torch.stack((h, h), dim=-1)[..., 0],
        lambda h: h.flip(0),
    ],
    ids=["transposed", "expanded", "strided", "flipped"],
)
def test_the_layout_in_memory_does_not_matter(layer, view):
    _, function, _ = layer
    h = view(normal(6, 8))
    assert torch.equal(function(h), function(h.clone(memory_format=torch.contiguous_format)))


# modules


def test_a_module_starts_at_gamma_one_and_holds_what_its_width_says(layer):
    module, _, per_weight = layer
    norm = module(16)
    assert {name: tuple(p.shape) for name, p in norm.named_parameters()} == {"weight": (16 // per_weight,)}
    assert torch.equal(norm.weight, torch.ones(16 // per_weight))
    with torch.no_grad():
        norm.weight.fill_(3)
    norm.reset_parameters()
    assert torch.equal(norm.weight, torch.ones(16 // per_weight))


def test_a_module_without_affine_weights_has_no_parameters(layer):
    module, function, _ = layer
    norm = module(8, elementwise_affine=False, eps=0.5)
    assert norm.weight is None
    assert list(norm.parameters()) == []
    h = normal(4, 8)
    assert torch.equal(norm(h), function(h, None, 0.5))


def test_a_module_is_its_function(layer):
    module, function, _ = layer
    norm = module(8, eps=0.25, dtype=torch.float64)
    with torch.no_grad():
        norm.weight.copy_(weight(layer, 8))
    h = normal(4, 8)
    assert torch.equal(norm(h), function(h, norm.weight, 0.25))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_module_is_built_in_the_dtype_and_on_the_device_asked_for(layer, dtype):
    norm = layer[0](8, dtype=dtype, device="meta")
    assert (norm.weight.dtype, norm.weight.device.type) == (dtype, "meta")


def test_a_module_shows_its_arguments_as_pytorchs_does(layer):
    assert layer[0](8).extra_repr() == "8, eps=1e-06, elementwise_affine=True"


def test_a_state_dict_goes_from_one_module_to_another(layer):
    first, second = layer[0](8), layer[0](8)
    with torch.no_grad():
        first.weight.copy_(weight(layer, 8, torch.float32))
    second.load_state_dict(first.state_dict())
    assert torch.equal(first.weight, second.weight)


# what is refused

F4 = torch.ones(4)
REFUSED = {
    "odd width": (lambda: mrs_norm(torch.ones(2, 3)), ValueError, "3 channels; accepted: an even width"),
    "no channels": (lambda: mrs_norm(torch.ones(2, 0)), ValueError, r"shape \(2, 0\); accepted"),
    "no channels, RMSNorm": (lambda: rms_norm(torch.ones(0)), ValueError, r"shape \(0,\); accepted"),
    "a scalar": (lambda: mrs_norm(torch.tensor(1.0)), ValueError, r"shape \(\); accepted"),
    "integers": (
        lambda: mrs_norm(torch.ones(4, dtype=torch.int64)),
        TypeError,
        r"x has dtype torch.int64 and shape \(4,\); accepted: float16",
    ),
    "complex numbers": (
        lambda: rms_norm(torch.ones(4, dtype=torch.complex64)),
        TypeError,
        r"complex64 and shape \(4,\); accepted",
    ),
    "negative eps": (lambda: mrs_norm(F4, eps=-1e-6), ValueError, "eps is -1e-06; accepted"),
    "NaN for eps": (lambda: rms_scale(F4, float("nan")), ValueError, "eps is nan; accepted"),
    "infinite eps": (lambda: MRSNorm(4, eps=float("inf")), ValueError, "eps is inf; accepted"),
    "weight a channel": (lambda: mrs_norm(F4, F4), ValueError, r"weight has shape \(4,\); accepted .*: \(2,\)"),
    "weight a phasor": (lambda: rms_norm(F4, F4[:2]), ValueError, r"weight has shape \(2,\); accepted .*: \(4,\)"),
    "integer weight": (
        lambda: mrs_norm(F4, torch.ones(2, dtype=torch.int32)),
        TypeError,
        "weight has dtype torch.int32",
    ),
    "odd channels": (lambda: MRSNorm(5), ValueError, "channels is 5; accepted: a positive multiple of 2"),
    "zero channels": (lambda: MRSNorm(0), ValueError, "channels is 0; accepted"),
    "negative channels": (lambda: RMSNorm(-4), ValueError, "channels is -4; accepted"),
    "fractional channels": (lambda: MRSNorm(4.0), TypeError, r"channels is 4\.0; accepted: an integer"),
    "a flag for channels": (lambda: RMSNorm(True), TypeError, "channels is True; accepted: an integer"),
    "another width": (lambda: MRSNorm(8)(F4), ValueError, r"shape \(4,\); accepted: \(\.\.\., 8\)"),
    "another width, RMSNorm": (lambda: RMSNorm(8)(torch.ones(2, 4)), ValueError, r"accepted: \(\.\.\., 8\)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_in_words(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()
