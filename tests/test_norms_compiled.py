"""The norms where code is generated or traced: torch.compile, torch.export, autocast."""

import copy
from functools import partial

import pytest
import torch
from torch.nn import functional as F

from numerics.gradients import input_gradient
from numerics.inputs import generator, phasor_view
from numerics.norms import (
    GroupMRSNorm,
    MARMSNorm,
    MRSNorm,
    QKNorm,
    RMSNorm,
    mrs_norm,
    mrs_scale,
    rms_norm,
    rms_scale,
    weights,
)
from numerics.rounding import (
    FORMATS,
    FP64,
    gradient_error,
    output_error,
    rms_gradient_error,
    rms_weight_gradient_error,
    rounded,
    weight_gradient_error,
)

# PyTorch's compiler makes an instance of the autograd function that it traces, and imports what PyTorch has deprecated:
# both warn of PyTorch itself
pytestmark = [
    pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.torch.jit:DeprecationWarning"),
]

EPS = 1e-3
MODULES = {
    "MRSNorm": lambda: MRSNorm(8),
    "MRSNorm safe": lambda: MRSNorm(8, safe=True),
    "RMSNorm": lambda: RMSNorm(8),
    "MARMSNorm": lambda: MARMSNorm(8),
    "GroupMRSNorm": lambda: GroupMRSNorm(2, 8, channel_dim=-1),
    "QKNorm": lambda: QKNorm(8, elementwise_affine=True),
    "QKNorm rms": lambda: QKNorm(8, "rms"),
}
modules = pytest.mark.parametrize("name", MODULES)


@pytest.fixture(autouse=True)
def fresh_compiler():
    torch.compiler.reset()


def normal(*shape, key="x", dtype=torch.float64):
    return torch.randn(shape, generator=generator("norms compiled", key, shape), dtype=torch.float64).to(dtype)


def made(name, dtype=torch.float32):
    module = MODULES[name]().to(dtype)
    for k, parameter in enumerate(module.parameters()):
        parameter.data.copy_(normal(*parameter.shape, key=f"p{k}"))
    return module


def arguments(module, x):
    """x, or for queries and keys x and its rows in reverse, as leaves of a graph."""
    rows = (x, x.flip(0)) if isinstance(module, QKNorm) else (x,)
    return tuple(t.detach().requires_grad_() for t in rows)


def called(module, x, run=None):
    """What a module gives, as one tensor."""
    found = (module if run is None else run)(*arguments(module, x))
    return torch.cat(found) if isinstance(found, tuple) else found


def with_gradients(module, x, run=None):
    """The output, and the gradients of the inputs and the weights for an upstream gradient that differs everywhere."""
    args = arguments(module, x)
    found = (module if run is None else run)(*args)
    found = torch.cat(found) if isinstance(found, tuple) else found
    upstream = normal(*found.shape, key="g", dtype=found.dtype)
    return found.detach(), *torch.autograd.grad(found, (*args, *module.parameters()), upstream)


def close(found, expected, fmt, count=40):
    """Within gamma_40 of the largest entry, for sums of at most 24 numbers, and one rounding to the format."""
    bound = (2 * count * fmt.accumulation.unit_roundoff + 2 * fmt.unit_roundoff) * expected.abs().amax()
    return bool(((found.double() - expected.double()).abs() <= bound).all())


# generated code against fp64, beside PyTorch's own kernels


@pytest.mark.parametrize(("kind", "name"), [("mrs", "fp32"), ("mrs", "bf16"), ("mrs", "fp16"), ("rms", "fp16")])
def test_compiled_and_eager_both_hold_the_bounds_against_fp64(kind, name):
    fmt, phasors = FORMATS[name], 17
    norm, scale = {"mrs": (mrs_norm, mrs_scale), "rms": (rms_norm, rms_scale)}[kind]
    h, g = (normal(3, 2 * phasors, key=key, dtype=fmt.dtype) for key in "hg")
    gamma = normal(phasors if kind == "mrs" else 2 * phasors, key="gamma", dtype=fmt.dtype)
    h[0, :2] = 0  # the first and the last pair are computed apart from the others
    h[1, -2:] = 0
    h[2, 4:6] = 0
    wide, up, weight = h.double(), g.double(), gamma.double()
    layer = partial(norm, weight=weight, eps=EPS)
    exact, slope, s = layer(wide), input_gradient(layer, wide, up), scale(wide, EPS)
    if kind == "mrs":
        per_channel = weight.repeat_interleave(2)
        lost = [gradient_error(phasor_view(wide), phasor_view(up), weight, s, f).flatten(-2) for f in (fmt, FP64)]
    else:
        per_channel = weight
        lost = [rms_gradient_error(wide, up, weight, s, f) for f in (fmt, FP64)]
    bound_o = rounded(sum(output_error(exact, per_channel, phasors, f) for f in (fmt, FP64)), exact, fmt)
    bound_d = rounded(sum(lost), slope, fmt)
    for run in (norm, torch.compile(norm, fullgraph=True)):
        x, w = h.clone().requires_grad_(), gamma.clone().requires_grad_()
        out = run(x, w, EPS)
        dx, dw = torch.autograd.grad(out, (x, w), g)
        assert out.dtype == dx.dtype == dw.dtype == fmt.dtype
        assert ((out.double() - exact).abs() <= bound_o).all()
        assert ((dx.double() - slope).abs() <= bound_d).all()
        terms = (up * wide / s).abs().sum(0)
        terms = terms.unflatten(-1, (-1, 2)).sum(-1) if kind == "mrs" else terms
        leaf = weight.clone().requires_grad_()
        (exact_w,) = torch.autograd.grad(norm(wide, leaf, EPS), leaf, up)
        bound_w = 80 * (fmt.accumulation.unit_roundoff + FP64.unit_roundoff) * terms + fmt.unit_roundoff * exact_w.abs()
        assert ((dw.double() - exact_w).abs() <= bound_w).all()  # S and 6 sums, products and quotients: fewer than 80


@pytest.mark.parametrize("dtype", ["bf16", "fp64"])
@modules
def test_the_traced_graph_is_whole_and_computes_the_same(name, dtype):
    """Without a C++ compiler in between: the graph that code would be generated from."""
    fmt = FORMATS[dtype]
    module, x = made(name, fmt.dtype), normal(6, 8, dtype=fmt.dtype)
    x[0, :2] = 0
    run = torch.compile(module, fullgraph=True, backend="aot_eager")
    for found, expected in zip(with_gradients(module, x, run), with_gradients(module, x), strict=True):
        assert found.dtype == expected.dtype and close(found, expected, fmt)


SHAPES = [(3, 5), (0,), (255,), (17, 33), (2, 128)]


def weight_gradients_hold(kind, **options):
    """Whether the gradients of the weights, as compiled for these rows one after the other, are the eager ones."""
    norm, scale, error, entries = {
        "mrs": (mrs_norm, mrs_scale, weight_gradient_error, 4),
        "rms": (rms_norm, rms_scale, rms_weight_gradient_error, 8),
    }[kind]
    run = torch.compile(norm, fullgraph=True, **options)
    for rows in SHAPES:
        x, g = normal(*rows, 8), normal(*rows, 8, key="g")
        gamma, leaf = normal(entries, key="gamma").requires_grad_(), x.clone().requires_grad_()
        found, expected = (torch.autograd.grad(f(leaf, gamma, EPS), gamma, g)[0] for f in (run, norm))
        x, g = x.reshape(-1, 8), g.reshape(-1, 8)
        bound = error(x, g, scale(x, EPS), FP64.summed_in_any_order())
        if not ((found - expected).abs() <= 2 * bound).all():
            return False
    return True


@pytest.mark.parametrize(("kind", "dynamic"), [("mrs", True), ("mrs", None), ("rms", None)])
def test_gradients_of_weights_over_any_number_of_rows(kind, dynamic):
    """In generated code they are sums of sums of 16 rows, and of the rows that are left, from 256 rows on."""
    assert weight_gradients_hold(kind, dynamic=dynamic)


WRONG_SUMS = {
    "rows that are left forgotten": lambda terms: terms.flatten(0, -2).unfold(0, 16, 16).sum((0, 2)),
    "the last dimension but one only": lambda terms: terms.sum(-2).flatten(0, -2)[0],
}


@pytest.mark.parametrize("wrong", WRONG_SUMS)
def test_a_wrong_sum_over_rows_is_rejected(wrong, monkeypatch):
    monkeypatch.setattr(weights, "sum_of_parts", WRONG_SUMS[wrong])
    assert not weight_gradients_hold("mrs", backend="aot_eager")


@pytest.mark.parametrize("channels", [2, 4, 6])
def test_the_narrowest_rows_are_traced_right(channels):
    module, x = MRSNorm(channels, dtype=torch.float64), normal(5, channels)
    run = torch.compile(module, fullgraph=True, backend="aot_eager", dynamic=True)
    for found, expected in zip(with_gradients(module, x, run), with_gradients(module, x), strict=True):
        assert close(found, expected, FP64)


@pytest.mark.parametrize("channel_dim", [1, -1])
@pytest.mark.parametrize("per_position", [False, True])
def test_feature_maps_are_traced_whole(channel_dim, per_position):
    module = GroupMRSNorm(2, 8, channel_dim, per_position=per_position, dtype=torch.float64)
    x = normal(3, 8, 2, 8)
    run = torch.compile(module, fullgraph=True, backend="aot_eager")
    for found, expected in zip(with_gradients(module, x, run), with_gradients(module, x), strict=True):
        assert close(found, expected, FP64)


@pytest.mark.parametrize("compiled", [False, True])
def test_no_more_memory_is_kept_than_by_pytorchs_rms_norm(compiled):
    def kept(function, *args):
        sizes = {}

        def pack(t):
            sizes[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
            return t

        run = torch.compile(function, backend="aot_eager_decomp_partition") if compiled else function
        with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
            run(*args)
        return sum(sizes.values())

    x, pairs, channels = (normal(*s, dtype=torch.float16).requires_grad_() for s in ((64, 128), (64,), (128,)))
    theirs = kept(lambda x, w: F.rms_norm(x, (128,), w, 1e-6), x, channels)
    ours = kept(mrs_norm, x, pairs)
    assert 2 * x.numel() < ours <= theirs  # x itself, and little else


# torch.export, deepcopy, autocast


@pytest.mark.parametrize(
    ("name", "strict"), [*((name, False) for name in MODULES), ("MRSNorm", True), ("RMSNorm", True)]
)
def test_an_exported_module_computes_the_same_for_other_numbers_of_rows(name, strict):
    module, x = made(name), normal(6, 8, dtype=torch.float32)
    args = arguments(module, x)
    rows = torch.export.Dim("rows")
    program = torch.export.export(module, args, dynamic_shapes=tuple({0: rows} for _ in args), strict=strict)
    other = normal(9, 8, key="other", dtype=torch.float32)
    assert close(called(module, other, program.module()), called(module, other), FORMATS["fp32"])


@modules
def test_a_deep_copy_is_independent_and_equal(name):
    module, x = made(name), normal(6, 8, dtype=torch.float32)
    twin = copy.deepcopy(module)
    assert torch.equal(called(module, x), called(twin, x))
    for parameter in twin.parameters():
        parameter.data.zero_()
    assert all((parameter != 0).any() for parameter in module.parameters())


@modules
@pytest.mark.parametrize("reduced", [torch.float16, torch.bfloat16])
def test_autocast_changes_neither_dtype_nor_numbers(name, reduced):
    """The norms keep the dtype of their input: fp32 stays fp32, and what a matmul made half precision stays so."""
    module = made(name)
    for dtype in (torch.float32, reduced):
        x = normal(6, 8, dtype=dtype)
        plain = with_gradients(module, x)
        with torch.autocast("cpu", dtype=reduced):
            found = called(module, x)
            cast = with_gradients(module, x)
        assert found.dtype == dtype
        assert all(torch.equal(a, b) for a, b in zip(cast, plain, strict=True))
