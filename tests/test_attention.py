"""Attention: rotary embedding in both pairings, norms of queries and keys, and what a token may see."""

import math

import pytest
import torch

from numerics.attention import PAIRINGS, Attention, rope_angles, rotate
from numerics.inputs import generator
from numerics.measure import DTYPES
from numerics.norms import mrs_norm, phasor_rms_norm
from numerics.rounding import FORMATS, FP64, roundings

pairings = pytest.mark.parametrize("pairing", PAIRINGS)


def normal(*shape, key="x", dtype=torch.float64):
    return torch.randn(shape, generator=generator("attention", key, shape), dtype=torch.float64).to(dtype)


def attention(*args, **options):
    """An attention in fp64 with weights of our own generator."""
    module = Attention(*args, dtype=torch.float64, **options)
    for k, p in enumerate(module.parameters()):
        p.data.copy_(normal(*p.shape, key=f"p{k}") / 4)
    return module


def near(found, expected, count=400):
    """gamma_400 of the largest entry: a handful of sums of at most 16 terms each, and a softmax."""
    return bool(((found - expected).abs() <= roundings(count, FP64) * expected.abs().amax()).all())


# RoPE


def test_angles_are_positions_times_powers_of_the_base():
    found = rope_angles(torch.tensor([0, 1, 3]), 4, base=100.0)
    expected = torch.tensor([[0, 0], [1, 0.1], [3, 0.3]], dtype=torch.float64)
    assert ((found - expected).abs() <= roundings(4, FP64) * expected).all()


@pairings
def test_each_pair_is_a_complex_number_times_a_phase(pairing):
    x, angles = normal(5, 8), normal(5, 4, key="angles")
    a, b = (x[:, 0::2], x[:, 1::2]) if pairing == "adjacent" else (x[:, :4], x[:, 4:])
    turned = torch.complex(a, b) * torch.exp(1j * angles)
    parts = torch.view_as_real(turned)
    expected = parts.flatten(-2) if pairing == "adjacent" else parts.transpose(-1, -2).flatten(-2)
    size = torch.hypot(a, b).amax()
    assert ((rotate(x, angles, pairing) - expected).abs() <= roundings(16, FP64) * size).all()


@pairings
def test_scores_depend_on_the_distance_of_positions_alone(pairing):
    q, k = normal(8), normal(8, key="k")

    def score(t, u):
        at = [rope_angles(torch.tensor(p), 8) for p in (t, u)]
        return (rotate(q, at[0], pairing) * rotate(k, at[1], pairing)).sum()

    # an angle of at most 1012 is off by gamma_4 of itself
    slack = roundings(4 * 1012 + 40, FP64) * q.norm() * k.norm()
    assert (score(12, 5) - score(1012, 1005)).abs() <= slack
    assert (score(12, 5) - score(12, 6)).abs() > 1e6 * slack


def test_the_norm_commutes_with_adjacent_pairs_and_not_with_half_split_ones():
    x, angles = normal(50, 8), normal(50, 4, key="angles")

    def gap(pairing):
        return (
            (mrs_norm(rotate(x, angles, pairing), eps=0.0) - rotate(mrs_norm(x, eps=0.0), angles, pairing)).abs().max()
        )

    assert gap("adjacent") <= roundings(60, FP64) * 4  # no entry of a normalized row exceeds P = 4
    assert gap("half-split") > 0.05


@pytest.mark.parametrize("dtype", DTYPES)
@pairings
def test_half_precision_is_rotated_in_fp32_and_rounded_once(pairing, dtype):
    fmt = FORMATS[dtype]
    x, angles = normal(5, 8, dtype=fmt.dtype), normal(5, 4, key="angles")
    wide = rotate(x.to(fmt.accumulation.dtype), angles, pairing)
    assert torch.equal(rotate(x, angles, pairing), wide.to(fmt.dtype))


# attention


def by_hand(module, x, norm, positions):
    """Softmax attention written out head by head."""
    heads, d = module.num_heads, module.head_dim
    q, k, v = (x @ module.projection.weight.T).chunk(3, dim=-1)
    out = []
    for head in range(heads):
        place = slice(head * d, (head + 1) * d)
        a, b = q[..., place], k[..., place]
        if norm is not None:
            a, b = norm(a, None, 1e-6), norm(b, None, 1e-6)
        if module.pairing is not None:
            angles = rope_angles(positions, d)
            a, b = rotate(a, angles, module.pairing), rotate(b, angles, module.pairing)
        logits = a @ b.transpose(-1, -2) / math.sqrt(d)
        if module.causal:
            later = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).triu(1)
            logits = logits.masked_fill(later, -math.inf)
        out.append(logits.softmax(-1) @ v[..., place])
    return torch.cat(out, dim=-1) @ module.output.weight.T


@pytest.mark.parametrize(("scale", "norm"), [("mean", mrs_norm), ("rms", phasor_rms_norm), (None, None)])
@pytest.mark.parametrize("pairing", [*PAIRINGS, None])
@pytest.mark.parametrize("causal", [False, True])
def test_attention_is_its_definition(scale, norm, pairing, causal):
    module, x = attention(16, 2, scale, pairing, causal), normal(3, 5, 16)
    assert near(module(x), by_hand(module, x, norm, torch.arange(5)))
    positions = torch.tensor([0, 1, 2, 7, 30])
    assert near(module(x, positions), by_hand(module, x, norm, positions))


def test_positions_may_differ_from_sample_to_sample():
    module, x = attention(16, 2), normal(3, 5, 16)
    positions = torch.tensor([[0, 1, 2, 3, 4], [5, 7, 9, 11, 13], [0, 0, 1, 1, 2]])
    found = module(x, positions)
    for k in range(3):
        assert near(found[k], module(x[k : k + 1], positions[k])[0])


def test_the_two_pairings_and_the_two_scales_are_different_layers():
    x = normal(3, 5, 16)
    found = [attention(16, 2, scale, pairing)(x) for scale in ("mean", "rms") for pairing in PAIRINGS]
    assert all(not near(a, b) for k, a in enumerate(found) for b in found[:k])


def test_a_causal_token_sees_no_later_one():
    module, x = attention(16, 2, causal=True), normal(2, 5, 16)
    changed = x.clone()
    changed[:, 3] += 1
    moved = (module(x) != module(changed)).any(-1)
    assert moved.tolist() == [[False, False, False, True, True]] * 2


def test_gradients_are_those_of_finite_differences():
    module = attention(8, 2, pairing="half-split")
    assert torch.autograd.gradcheck(module, normal(1, 3, 8).requires_grad_())


def test_an_empty_batch_and_one_token_pass_through():
    module = attention(16, 2)
    assert module(normal(0, 5, 16)).shape == (0, 5, 16)
    assert near(module(normal(2, 1, 16)), module(normal(2, 1, 16), torch.tensor([9])))


def test_a_state_dict_goes_from_one_attention_to_another():
    first, second, x = attention(16, 2), Attention(16, 2, dtype=torch.float64), normal(2, 3, 16)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(x), second(x))
    second.reset_parameters()
    assert not torch.equal(first(x), second(x))


def test_under_autocast_the_layer_works_in_half_precision():
    module, x = Attention(16, 2), normal(2, 3, 16, dtype=torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = module(x)
    assert found.dtype == torch.bfloat16 and found.isfinite().all()


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning")
@pairings
def test_the_whole_layer_is_one_graph(pairing):
    torch.compiler.reset()
    module, x = attention(16, 2, pairing=pairing, causal=True), normal(2, 5, 16)
    assert near(torch.compile(module, fullgraph=True, backend="aot_eager")(x), module(x))


def test_the_module_shows_its_arguments():
    assert Attention(16, 4).extra_repr() == ("16, 4, pairing='adjacent', causal=False, base=10000.0, temperature=0.5")


REFUSED = {
    "heads that do not divide": (lambda: Attention(16, 3), ValueError, "num_heads is 3, channels is 16; accepted"),
    "heads of odd width": (lambda: Attention(6, 2), ValueError, "num_heads is 2, channels is 6; accepted"),
    "no heads": (lambda: Attention(16, 0), ValueError, "num_heads is 0; accepted"),
    "another pairing": (lambda: Attention(16, 2, pairing="odd"), ValueError, "pairing is 'odd'; accepted: 'adjacent'"),
    "another scale": (lambda: Attention(16, 2, "max"), ValueError, "scale is 'max'; accepted"),
    "another width": (
        lambda: Attention(16, 2)(torch.ones(2, 3, 8)),
        ValueError,
        r"x has shape \(2, 3, 8\); accepted: \(B, T, 16\)",
    ),
    "no batch": (lambda: Attention(16, 2)(torch.ones(3, 16)), ValueError, r"shape \(3, 16\); accepted"),
    "too few positions": (
        lambda: Attention(16, 2)(torch.ones(2, 3, 16), torch.arange(2)),
        ValueError,
        r"positions has shape \(2,\); accepted: \(3,\) or \(2, 3\)",
    ),
    "a base of 0": (lambda: rope_angles(torch.arange(2), 4, 0.0), ValueError, r"base is 0\.0; accepted"),
    "odd width": (lambda: rope_angles(torch.arange(2), 3), ValueError, "head_dim is 3; accepted"),
    "angles of another width": (
        lambda: rotate(torch.ones(2, 8), torch.ones(2, 3)),
        ValueError,
        r"x has shape \(2, 8\); accepted: \(\.\.\., 6\)",
    ),
    "integers": (lambda: rotate(torch.ones(4, dtype=torch.int64), torch.ones(2)), TypeError, "torch.int64 and shape"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_in_words(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()
