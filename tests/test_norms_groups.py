"""Norms by groups of channels and of queries and keys: which numbers share a scale and a weight."""

import pytest
import torch
from torch import nn

from numerics.inputs import generator
from numerics.measure import DTYPES
from numerics.mrsnorm.appendix_c import listing
from numerics.norms import GroupMRSNorm, MRSNorm, QKNorm, mrs_norm, mrs_scale, phasor_rms_norm, phasor_rms_scale
from numerics.rounding import FORMATS, FP64, roundings, scale_roundings

EPS = 0.125


def normal(*shape, key="x", dtype=torch.float64):
    return torch.randn(shape, generator=generator("norm groups", key, shape), dtype=torch.float64).to(dtype)


def group_norm(groups, channels, channel_dim, per_position=False, dtype=torch.float64, **options):
    """A group norm with weights of both signs."""
    norm = GroupMRSNorm(groups, channels, channel_dim, EPS, per_position=per_position, dtype=dtype, **options)
    norm.weight.data.copy_(normal(channels // 2, key="gamma"))
    return norm


def agree(found, expected, averaged, fmt=FP64):
    """Two evaluations of the same norm, each with S + 2 roundings; eps leaves no output without them."""
    bound = 2 * roundings(scale_roundings(averaged) + 2, fmt.accumulation) * expected.abs()
    bound = bound + (2 * fmt.unit_roundoff * expected.abs() + fmt.smallest_subnormal if fmt.name in DTYPES[:2] else 0)
    return bool(((found - expected).abs() <= bound).all())


def by_hand(x, gamma, groups, channel_dim, per_position):
    """The definition in loops: channels first, a sample and a group at a time."""
    moved = x.movedim(channel_dim, 0)
    channels, after = x.shape[channel_dim], x.dim() - 1 - channel_dim % x.dim()
    before = moved.dim() - 1 - after
    out, width = torch.empty_like(moved), channels // groups
    for group in range(groups):
        part = moved[group * width : (group + 1) * width]
        r = (part[0::2].square() + part[1::2].square()).sqrt()
        dims = (0,) if per_position else (0, *range(1 + before, moved.dim()))
        s = r.mean(dims, keepdim=True) + EPS
        factor = gamma[group * width // 2 : (group + 1) * width // 2].repeat_interleave(2)
        out[group * width : (group + 1) * width] = part / s * factor.view(-1, *(1,) * (moved.dim() - 1))
    return out.movedim(0, channel_dim)


SHAPES = [((3, 8, 4), 1), ((2, 8, 3, 5), 1), ((2, 3, 5, 8), -1), ((8, 3), 0), ((2, 3, 8, 4, 1), -3), ((8,), 0)]


@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize(("shape", "channel_dim"), SHAPES)
@pytest.mark.parametrize("per_position", [False, True])
@pytest.mark.parametrize("safe", [False, True])
def test_a_group_norm_is_its_definition(groups, shape, channel_dim, per_position, safe):
    norm, x = group_norm(groups, 8, channel_dim, per_position, safe=safe), normal(*shape)
    expected = by_hand(x, norm.weight.detach(), groups, channel_dim, per_position)
    assert agree(norm(x).detach(), expected, x.numel())


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("shape", "channel_dim"), SHAPES)
def test_by_default_it_is_the_listing_of_appendix_c(groups, shape, channel_dim):
    fmt = FORMATS["fp32"]
    norm, x = group_norm(groups, 8, channel_dim, dtype=torch.float32), normal(*shape, dtype=torch.float32)
    expected = listing(x, norm.weight.detach(), channel_dim, groups, EPS)
    assert agree(norm(x).detach(), expected, x.numel(), fmt)


def test_one_group_with_the_channels_last_is_mrs_norm():
    norm, x = group_norm(1, 8, -1), normal(3, 5, 8)
    assert torch.equal(norm(x), mrs_norm(x, norm.weight, EPS))
    assert torch.equal(group_norm(1, 8, -1, per_position=True)(x), norm(x))


def test_no_position_sees_another_when_positions_are_normalized_by_themselves():
    norm, x = group_norm(2, 8, 1, per_position=True), normal(2, 8, 3)
    changed = x.clone()
    changed[0, :, 1] *= 100
    same = (norm(x) == norm(changed)).all(1)
    assert same.tolist() == [[True, False, True], [True, True, True]]


def test_by_default_every_position_of_a_map_shares_the_scale():
    norm, x = group_norm(2, 8, 1), normal(2, 8, 3)
    changed = x.clone()
    changed[0, :4, 1] *= 100
    same = (norm(x) == norm(changed)).flatten(2).all(2)
    assert same.tolist() == [[False] * 4 + [True] * 4, [True] * 8]


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("per_position", [False, True])
def test_gradients_of_feature_maps_are_those_of_finite_differences(groups, per_position):
    norm = group_norm(groups, 8, 1, per_position)

    def function(x, weight):
        return torch.func.functional_call(norm, {"weight": weight}, (x,))

    given = (normal(2, 8, 3).requires_grad_(), norm.weight.detach().requires_grad_())
    assert torch.autograd.gradcheck(function, given)
    assert torch.autograd.gradgradcheck(function, given)


@pytest.mark.parametrize("per_position", [False, True])
def test_channels_last_memory_stays_channels_last(per_position):
    norm, x = group_norm(2, 8, 1, per_position), normal(2, 8, 3, 5)
    last = x.contiguous(memory_format=torch.channels_last)
    out = norm(last)
    assert out.is_contiguous(memory_format=torch.channels_last)
    assert agree(out.detach(), norm(x).detach(), x.numel())


@pytest.mark.parametrize("per_position", [False, True])
def test_expanded_maps_are_accepted_unlike_by_the_listing(per_position):
    norm, x = group_norm(2, 8, 1, per_position), normal(2, 8, 1).expand(2, 8, 3)
    h = x.detach().requires_grad_()
    out = norm(h)
    assert agree(out.detach(), norm(x.contiguous()).detach(), x.numel())
    (found,) = torch.autograd.grad(out, h, torch.ones(1, 1, 1, dtype=x.dtype).expand(2, 8, 3))
    h = x.contiguous().requires_grad_()
    (expected,) = torch.autograd.grad(norm(h), h, torch.ones(2, 8, 3, dtype=x.dtype))
    assert ((found - expected).abs() <= roundings(200, FP64) * expected.abs().amax()).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_group_norm_keeps_the_dtype_and_rounds_once(dtype):
    fmt = FORMATS[dtype]
    norm, x = group_norm(2, 8, 1, dtype=fmt.dtype), normal(2, 8, 3, dtype=fmt.dtype)
    wide = group_norm(2, 8, 1, dtype=fmt.accumulation.dtype)
    wide.load_state_dict(norm.state_dict())
    assert torch.equal(norm(x), wide(x.to(fmt.accumulation.dtype)).to(fmt.dtype))


@pytest.mark.parametrize("shape", [(0, 8, 3), (2, 8, 0)])
def test_empty_maps_stay_empty(shape):
    for options in ({}, {"per_position": True}, {"safe": True}):
        assert GroupMRSNorm(2, 8, **options)(torch.empty(shape)).shape == shape


# queries and keys


@pytest.mark.parametrize(("scale", "norm"), [("mean", mrs_norm), ("rms", phasor_rms_norm)])
def test_queries_and_keys_get_the_same_norm_and_weights_of_their_own(scale, norm):
    module = QKNorm(8, scale, EPS, elementwise_affine=True, dtype=torch.float64)
    module.query.data.copy_(normal(4, key="query"))
    module.key.data.copy_(normal(4, key="key"))
    q, k = normal(2, 3, 8), normal(2, 5, 8, key="k")
    found = module(q, k)
    assert torch.equal(found[0], norm(q, module.query, EPS)) and torch.equal(found[1], norm(k, module.key, EPS))


def test_the_two_scales_are_those_of_eq1_and_eq11():
    q = torch.tensor([3.0, 4.0, 21.0, 28.0])
    assert QKNorm(4, "mean", 0.0)(q, q)[0].tolist() == (q / mrs_scale(q, 0.0)).tolist() == (q / 20).tolist()
    assert QKNorm(4, "rms", 0.0)(q, q)[1].tolist() == (q / phasor_rms_scale(q, 0.0)).tolist() == (q / 25).tolist()


# modules


def test_the_modules_start_at_one_and_forget_what_they_learned():
    for module in (GroupMRSNorm(2, 8), QKNorm(8, elementwise_affine=True)):
        names = {name: tuple(p.shape) for name, p in module.named_parameters()}
        assert set(names.values()) == {(4,)}
        for p in module.parameters():
            nn.init.normal_(p)
        module.reset_parameters()
        assert all(torch.equal(p, torch.ones(4)) for p in module.parameters())
    assert list(GroupMRSNorm(2, 8, elementwise_affine=False).parameters()) == list(QKNorm(8).parameters()) == []


def test_the_modules_show_their_arguments():
    assert GroupMRSNorm(2, 8).extra_repr() == (
        "2, 8, channel_dim=1, eps=1e-06, elementwise_affine=True, per_position=False"
    )
    assert QKNorm(8, safe=True).extra_repr() == "8, scale='mean', eps=1e-06, elementwise_affine=False, safe=True"
    assert MRSNorm(8, safe=True).extra_repr() == "8, eps=1e-06, elementwise_affine=True, safe=True"


def test_a_state_dict_goes_from_one_group_norm_to_another():
    first, second = group_norm(2, 8, 1), GroupMRSNorm(2, 8, dtype=torch.float64)
    second.load_state_dict(first.state_dict())
    assert torch.equal(first.weight, second.weight)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_module_is_built_where_and_as_asked(dtype):
    options = {"dtype": FORMATS[dtype].dtype, "device": "meta"}
    for module in (GroupMRSNorm(2, 8, **options), QKNorm(8, elementwise_affine=True, **options)):
        assert {(p.dtype, p.device.type) for p in module.parameters()} == {(FORMATS[dtype].dtype, "meta")}


REFUSED = {
    "groups that do not divide": (
        lambda: GroupMRSNorm(3, 8),
        ValueError,
        "num_groups is 3, num_channels is 8; acc",
    ),
    "groups of odd width": (lambda: GroupMRSNorm(2, 6), ValueError, "num_groups is 2, num_channels is 6; accepted"),
    "no groups": (lambda: GroupMRSNorm(0, 8), ValueError, "num_groups is 0; accepted"),
    "odd channels": (lambda: GroupMRSNorm(1, 7), ValueError, "num_channels is 7; accepted: a positive multiple of 2"),
    "no channels": (lambda: GroupMRSNorm(1, 0), ValueError, "num_channels is 0; accepted"),
    "half a group": (lambda: GroupMRSNorm(0.5, 8), TypeError, r"num_groups is 0\.5; accepted: an integer"),
    "negative eps": (lambda: GroupMRSNorm(1, 8, eps=-1.0), ValueError, r"eps is -1\.0; accepted"),
    "channels elsewhere": (
        lambda: GroupMRSNorm(1, 8, channel_dim=1)(torch.ones(8, 3)),
        ValueError,
        r"x has shape \(8, 3\); accepted: 8 channels on dimension 1",
    ),
    "no such dimension": (
        lambda: GroupMRSNorm(1, 8, channel_dim=2)(torch.ones(3, 8)),
        ValueError,
        r"x has shape \(3, 8\); accepted: 8 channels on dimension 2",
    ),
    "integers": (lambda: GroupMRSNorm(1, 8)(torch.ones(3, 8, dtype=torch.int32)), TypeError, "torch.int32 and shape"),
    "another device": (
        lambda: GroupMRSNorm(1, 8, device="meta")(torch.ones(3, 8)),
        ValueError,
        r"weight, of shape \(4,\), is on meta; accepted: cpu, where x of shape \(3, 8\) is",
    ),
    "another device, MRSNorm": (
        lambda: MRSNorm(8, device="meta")(torch.ones(3, 8)),
        ValueError,
        "is on meta; accepted",
    ),
    "odd heads": (lambda: QKNorm(7), ValueError, "head_dim is 7; accepted: a positive multiple of 2"),
    "another scale": (lambda: QKNorm(8, "max"), ValueError, "scale is 'max'; accepted: 'mean', 'rms'"),
    "keys of another width": (
        lambda: QKNorm(8)(torch.ones(2, 8), torch.ones(2, 6)),
        ValueError,
        r"k has shape \(2, 6\); accepted: \(\.\.\., 8\)",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_in_words(case):
    call, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        call()
