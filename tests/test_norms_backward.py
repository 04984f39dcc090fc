"""The norms' own backward passes: Eq. 5 and its relatives, twice differentiated, in every layout, batched."""

import math
from functools import partial

import pytest
import torch

from numerics.gradients import input_gradient
from numerics.inputs import generator, phasor_view
from numerics.measure import DTYPES
from numerics.norms import (
    GroupMRSNorm,
    blocks,
    ma_rms_norm,
    mean_norm,
    mrs_norm,
    mrs_scale,
    phasor_rms_norm,
    phasor_rms_scale,
    rms_norm,
    rms_scale,
    root_norm,
)
from numerics.rounding import FORMATS, FP64, gradient_error, output_error, rms_gradient_error, rounded, roundings

EPS = 1e-3
NORMS = {
    "mrs": (mrs_norm, (2,)),
    "mrs safe": (partial(mrs_norm, safe=True), (2,)),
    "rms": (rms_norm, (1,)),
    "rms safe": (partial(rms_norm, safe=True), (1,)),
    "phasor rms": (phasor_rms_norm, (2,)),
    "ma": (ma_rms_norm, (1, 1)),
}
formats = pytest.mark.parametrize("fmt", FORMATS.values(), ids=DTYPES)
norms = pytest.mark.parametrize("name", NORMS)


def normal(*shape, key="x", dtype=torch.float64):
    return torch.randn(shape, generator=generator("norms backward", key, shape), dtype=torch.float64).to(dtype)


def operands(name, rows, channels, dtype=torch.float64):
    """The norm, and x with its weights, all of both signs and with gradients."""
    norm, per_weight = NORMS[name]
    found = [normal(*rows, channels), *(normal(channels // per, key=f"w{k}") for k, per in enumerate(per_weight))]
    return partial(norm, eps=EPS), tuple(t.to(dtype).requires_grad_() for t in found)


def wrong(found, expected, fmt=FP64, count=200):
    """Largest difference over gamma_count of the largest entry: `count` covers any order of sums of 64 numbers here."""
    return ((found - expected).abs().amax() / (roundings(count, fmt) * expected.abs().amax())).item()


# Eq. 5


def eq05(x, gamma, g, eps):
    """Eq. 5 for one row in plain numbers; u = 0 at a zero phasor."""
    pairs = range(len(gamma))
    z, up = ([complex(t[2 * k], t[2 * k + 1]) for k in pairs] for t in (x, g))
    s = sum(map(abs, z)) / len(z) + eps
    omega = sum(gamma[k] * (up[k] * z[k].conjugate()).real / s for k in pairs) / len(z)
    found = [(gamma[k] * up[k] - (z[k] / abs(z[k]) if z[k] else 0) * omega) / s for k in pairs]
    return [part for value in found for part in (value.real, value.imag)]


@pytest.mark.parametrize("safe", [False, True])
@pytest.mark.parametrize("phasors", [1, 2, 7])
def test_the_backward_pass_is_eq05_with_u_equal_to_0_at_zero_phasors(phasors, safe):
    h, g, gamma = normal(4, 2 * phasors), normal(4, 2 * phasors, key="g"), normal(phasors, key="gamma")
    h[1, :2] = 0
    h[2] = 0
    found = input_gradient(partial(mrs_norm, weight=gamma, eps=EPS, safe=safe), h, g)
    expected = torch.tensor([eq05(*(t.tolist() for t in (h[k], gamma, g[k])), EPS) for k in range(4)])
    lost = 2 * gradient_error(phasor_view(h), phasor_view(g), gamma, mrs_scale(h, EPS), FP64).flatten(-2)
    assert ((found - expected.double()).abs() <= lost + roundings(1, FORMATS["fp32"]) * expected.abs()).all()


@norms
def test_gradients_are_those_of_finite_differences_and_second_ones_too(name):
    norm, given = operands(name, (3,), 8)
    assert torch.autograd.gradcheck(norm, given)
    assert torch.autograd.gradgradcheck(norm, given)


@pytest.mark.parametrize("wanted", [(True, False), (False, True)])
def test_gradients_of_x_alone_and_of_the_weight_alone_are_the_same(wanted):
    norm, given = operands("mrs", (3,), 8)
    g = normal(3, 8, key="g")
    both = torch.autograd.grad(norm(*given), given, g)
    some = [t.detach().requires_grad_(want) for t, want in zip(given, wanted, strict=True)]
    alone = torch.autograd.grad(norm(*some), [t for t, want in zip(some, wanted, strict=True) if want], g)
    assert torch.equal(alone[0], both[wanted.index(True)])


@norms
def test_second_derivatives_are_finite_at_a_zero_phasor(name):
    norm, (x, *weights) = operands(name, (3,), 8)
    x = x.detach().clone()
    x[0, 2:4] = 0
    x[1] = 0
    x.requires_grad_()
    first = torch.autograd.grad(norm(x, *weights).sin().sum(), x, create_graph=True)[0]
    second = torch.autograd.grad(first.cos().sum(), (x, *weights))
    assert all(t.isfinite().all() for t in second)
    assert second[0][0].abs().max() > 0


@pytest.mark.parametrize("eps", [0.0, 1e-50])
def test_ma_rms_norm_passes_nothing_back_where_its_scale_is_0(eps):
    x, w = torch.zeros(2, 4, requires_grad=True), torch.ones(4, requires_grad=True)
    out = ma_rms_norm(x, w, torch.ones(4), eps=eps)
    grads = torch.autograd.grad(out.sum(), (x, w))
    assert [t.abs().max().item() for t in (out, *grads)] == [0, 0, 0]


# the rounding of half precision, and both ways of going through rows


@formats
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", ["mrs", "rms", "phasor rms", "ma"])
def test_rows_in_blocks_and_all_at_once_give_the_same(name, threads, fmt, monkeypatch):
    norm, given = operands(name, (2, 9), 16, fmt.dtype)
    g = normal(2, 9, 16, key="g", dtype=fmt.dtype)

    def both():
        out = norm(*given)
        return out, *torch.autograd.grad(out, given, g)

    whole = both()
    used = []
    over_blocks = blocks.over_blocks
    for module in (mean_norm, root_norm):
        monkeypatch.setattr(module, "over_blocks", lambda *args: used.append(1) or over_blocks(*args))
    monkeypatch.setattr(
        blocks, "ELEMENTS", 64 // threads // threads
    )  # four rows a block, or two, and fewer in the last
    monkeypatch.setattr(blocks.torch, "get_num_threads", lambda: threads)
    parts = both()
    with torch.inference_mode():
        assert torch.equal(norm(*given), parts[0])
    assert len(used) == 3
    assert torch.equal(whole[0], parts[0]) and torch.equal(whole[1], parts[1])
    for a, b in zip(whole[2:], parts[2:], strict=True):  # summed over rows in another order, then rounded once
        assert (
            (a - b).abs().amax() <= 2 * (roundings(40, fmt.accumulation) * 18 + fmt.unit_roundoff) * a.abs().amax()
        ).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_weight_gradient_of_half_precision_is_summed_in_fp32(dtype):
    """4096 equal terms: in fp16 or bf16 their sum stops growing."""
    x, w = torch.ones(4096, 2, dtype=dtype), torch.ones(1, dtype=dtype, requires_grad=True)
    out = mrs_norm(x, w, 0.0)
    (grad,) = torch.autograd.grad(out, w, torch.full_like(x, 2.0**-6))
    exact = 4096 * 2 * 2.0**-6 / math.sqrt(2)
    assert abs(grad.item() - exact) <= 2 * FORMATS["fp16" if dtype == torch.float16 else "bf16"].unit_roundoff * exact


# memory


@norms
def test_only_x_the_weights_and_s_are_kept_for_the_backward_pass(name):
    norm, given = operands(name, (5,), 8, torch.float16)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        norm(*given)
    assert [t.data_ptr() for t in kept[:-1]] == [t.data_ptr() for t in given]
    assert kept[-1].shape == (5, 2 if "safe" in name else 1)  # S, or S' beside the power of two of its row


# the largest and the smallest numbers

EXTREMES = [("fp32", 3e38), ("bf16", 3e38), ("fp32", 1e-30), ("bf16", 1e-30), ("fp64", 1e307), ("fp64", 1e-300)]


@pytest.mark.parametrize("name", ["mrs safe", "phasor rms safe", "rms safe"])
@pytest.mark.parametrize("eps", [0.0, 1e-6])
@pytest.mark.parametrize(("dtype", "size"), EXTREMES, ids=[f"{dtype}-{size:g}" for dtype, size in EXTREMES])
def test_the_safe_norms_keep_result_and_gradient_of_huge_and_tiny_rows(name, eps, dtype, size):
    """A power of two is taken out exactly, so the bounds of ordinary rows hold.

    The exact result is that of the plain norm in fp64; for fp64 rows, that of the row 2^k times as large or as small,
    in the middle of the range, unless eps is all there is to S. It has its own rounding there: hence twice the bound.
    """
    norm = {"mrs safe": mrs_norm, "rms safe": rms_norm, "phasor rms safe": phasor_rms_norm}[name]
    scale = {"mrs safe": mrs_scale, "rms safe": rms_scale, "phasor rms safe": phasor_rms_scale}[name]
    fmt, phasors = FORMATS[dtype], 8
    h = normal(5, 2 * phasors)
    h = (h / h.abs().max() * size).to(fmt.dtype)
    h[0, 4:6] = 0
    h[1, 2:8] = (h[1, 2:8].double() * 2.0**-30).to(fmt.dtype)  # small beside the row's largest, its direction kept
    h[2] = h[2].sign() * size
    g = normal(5, 2 * phasors, key="g", dtype=fmt.dtype)
    gamma = normal(2 * phasors if name == "rms safe" else phasors, key="gamma", dtype=fmt.dtype)
    shift = 1.0 if dtype != "fp64" or (eps and size < 1) else 2.0 ** -round(math.log2(size))
    moved = eps * shift if name == "mrs safe" else eps * shift * shift
    wide, weight, up = h.double() * shift, gamma.double(), g.double()
    out = norm(h, gamma, eps, safe=True).double()
    grad = input_gradient(partial(norm, weight=gamma, eps=eps, safe=True), h, g).double() / shift
    exact = norm(wide, weight, moved)
    slope = input_gradient(partial(norm, weight=weight, eps=moved), wide, up)
    s = scale(wide, moved)
    by_channel = weight if name == "rms safe" else weight.repeat_interleave(2)
    lost_o, lost_d = output_error(exact, by_channel, phasors, fmt), rms_gradient_error(wide, up, by_channel, s, fmt)
    if name == "mrs safe":
        lost_d = gradient_error(phasor_view(wide), phasor_view(up), weight, s, fmt).flatten(-2)
    lost_o = lost_o + output_error(exact, by_channel, phasors, FP64)
    unit = fmt.smallest_subnormal / shift  # what the last rounding of a gradient in the subnormal range loses
    assert ((out - exact).abs() <= rounded(lost_o, exact, fmt)).all()
    assert ((grad - slope).abs() <= rounded(2 * lost_d, slope, fmt) + unit).all()
    assert exact.abs().max() > 0 and slope.abs().max() > 0


@pytest.mark.parametrize("size", [3e38, 1e-30])
def test_without_safe_these_rows_are_lost(size):
    h = torch.full((4,), size)
    out = mrs_norm(h, eps=0.0)
    exact = torch.full((4,), 0.5**0.5, dtype=torch.float64)
    bound = output_error(exact, torch.ones(4), 2, FORMATS["fp32"])
    assert not ((out - exact).abs() <= bound).any()
    assert ((mrs_norm(h, eps=0.0, safe=True) - exact).abs() <= bound).all()


# layouts of x and of the upstream gradient

LAYOUTS = {
    "transposed": lambda t: t.transpose(0, 1).contiguous().transpose(0, 1),
    "expanded": lambda t: t[:1].expand(t.shape),
    "one number": lambda t: t[:1, :1, :1].expand(t.shape),
    "strided": lambda t: torch.stack((t, t), dim=-1)[..., 0],
    "rows flipped": lambda t: t.flip(0),
}


@norms
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("where", ["x", "g"])
def test_the_layout_of_x_and_of_g_changes_no_gradient(name, layout, where):
    norm, (x, *weights) = operands(name, (6, 3), 8)
    x, g = x.detach(), normal(6, 3, 8, key="g")
    view = LAYOUTS[layout](x if where == "x" else g)
    plain = view.clone(memory_format=torch.contiguous_format)
    found = []
    for t in (view, plain):
        h = (t if where == "x" else x).detach().requires_grad_()
        before = h.detach().clone(), t.clone()
        found.append(torch.autograd.grad(norm(h, *weights), (h, *weights), t if where == "g" else g))
        assert torch.equal(h, before[0]) and torch.equal(t, before[1])
    assert all(wrong(a, b) <= 1 for a, b in zip(*found, strict=True))


@norms
@pytest.mark.parametrize("rows", [(0,), (2, 0, 3)])
def test_an_empty_batch_has_an_empty_gradient_and_gives_the_weights_zeros(name, rows):
    norm, given = operands(name, rows, 8)
    grads = torch.autograd.grad(norm(*given).sum(), given)
    assert grads[0].shape == (*rows, 8)
    assert all(torch.equal(t, torch.zeros_like(t)) for t in grads[1:])


# torch.func


@norms
def test_vmap_over_rows_is_the_norm_of_the_batch(name):
    norm, given = operands(name, (5,), 8)
    x, *weights = (t.detach() for t in given)
    assert torch.equal(torch.func.vmap(norm, in_dims=(0, *(None for _ in weights)))(x, *weights), norm(x, *weights))
    stacks = [torch.stack([w * k for k in range(1, 6)], dim=-1) for w in weights]  # a weight each, batch last
    found = torch.func.vmap(norm, in_dims=(0, *(-1 for _ in weights)))(x, *stacks)
    rows = [norm(x[k], *(w[..., k] for w in stacks)) for k in range(5)]
    assert wrong(found, torch.stack(rows)) <= 1


@norms
def test_jacrev_is_autograds_jacobian(name):
    norm, given = operands(name, (3,), 8)
    places = tuple(range(len(given)))
    found = torch.func.jacrev(norm, argnums=places)(*given)
    expected = torch.autograd.functional.jacobian(norm, given)
    assert all(wrong(a, b) <= 1 for a, b in zip(found, expected, strict=True))


@norms
def test_gradients_sample_by_sample_add_up_to_those_of_the_batch(name):
    norm, given = operands(name, (5,), 8)
    places = tuple(range(len(given)))

    def loss(*args):
        return norm(*args).sin().sum()

    each = torch.func.vmap(torch.func.grad(loss, argnums=places), in_dims=(0, *(None for _ in given[1:])))(*given)
    whole = torch.autograd.grad(loss(*given), given)
    assert wrong(each[0], whole[0]) <= 1
    assert all(wrong(a.sum(0), b) <= 1 for a, b in zip(each[1:], whole[1:], strict=True))


def test_second_derivatives_by_torch_func_are_autograds():
    norm, (x, w) = operands("mrs", (2,), 6)

    def loss(x):
        return norm(x, w).sin().sum()

    found = torch.func.jacrev(torch.func.jacrev(loss))(x)
    assert wrong(found, torch.autograd.functional.hessian(loss, x)) <= 1


def test_a_group_norm_is_vmapped_with_its_channels_anywhere():
    norm, x = GroupMRSNorm(2, 8, channel_dim=0, per_position=True, dtype=torch.float64), normal(3, 8, 5)
    found = torch.func.vmap(norm, in_dims=0)(x)
    assert wrong(found, torch.stack([norm(sample) for sample in x])) <= 1
