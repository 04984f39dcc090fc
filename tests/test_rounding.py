"""The error bounds: never exceeded against rational arithmetic, and not so loose that they would say nothing."""

import math
from fractions import Fraction
from functools import partial

import pytest
import torch

from numerics.gradients import input_gradient, own_gradient
from numerics.inputs import phasor_view
from numerics.measure import DTYPES
from numerics.norms import mrs_norm, mrs_scale, rms_norm, rms_scale
from numerics.rounding import (
    FORMATS,
    FP64,
    check_domain,
    direction,
    gradient_error,
    magnitude_error,
    output_error,
    own_gradient_error,
    pair_sum_roundings,
    rms_gradient_error,
    rounded,
    roundings,
    scale_error,
    scale_roundings,
    settle_overflow,
)
from numerics.scenarios import generator, integers

formats = pytest.mark.parametrize("fmt", FORMATS.values(), ids=DTYPES)
widths = pytest.mark.parametrize("phasors", [1, 2, 7, 64])


# the formats


@formats
def test_one_plus_u_rounds_to_one_and_anything_more_does_not(fmt):
    u = fmt.unit_roundoff
    if fmt == FP64:
        assert 1.0 + u == 1.0 and 1.0 + 1.5 * u != 1.0
        return
    # torch rounds fp64 to fp16 and bf16 by way of fp32, so these numbers have to be exact there
    one, more = torch.tensor([1 + u, 1 + u * (1 + 2.0**-8)], dtype=torch.float64).to(fmt.dtype).tolist()
    assert (one, more) == (1, 1 + 2 * u)


@formats
def test_the_smallest_numbers_are_what_they_are_called(fmt):
    smallest = torch.tensor(fmt.smallest_subnormal, dtype=fmt.dtype)
    assert smallest > 0 and smallest.double() == fmt.smallest_subnormal
    assert torch.tensor(fmt.smallest_subnormal / 2, dtype=torch.float64).to(fmt.dtype) == 0
    assert fmt.smallest_subnormal == 2 * fmt.unit_roundoff * fmt.smallest_normal


@pytest.mark.parametrize("name", DTYPES[:3])
def test_rounding_to_infinity_starts_where_the_format_says(name):
    fmt = FORMATS[name]
    wide = torch.float64 if fmt == fmt.accumulation else torch.float32  # what the layer rounds from
    at = torch.tensor(fmt.overflow, dtype=wide)
    below = torch.nextafter(at, torch.zeros_like(at))
    assert at.double() == fmt.overflow
    assert at.to(fmt.dtype).isinf()
    assert below.to(fmt.dtype).double() == fmt.largest


def test_half_precision_accumulates_in_fp32():
    assert {name: fmt.accumulation.name for name, fmt in FORMATS.items()} == {
        "fp16": "fp32",
        "bf16": "fp32",
        "fp32": "fp32",
        "fp64": "fp64",
    }


# counting roundings


@formats
@pytest.mark.parametrize("count", [1, 2, 9, 100])
def test_gamma_n_bounds_every_product_of_n_roundings(fmt, count):
    u = Fraction(fmt.unit_roundoff)
    bound = Fraction(roundings(count, fmt)) * (1 + Fraction(2) ** -50)  # as evaluated in fp64
    for above in range(count + 1):  # so many factors (1 + u)^(+1), the others (1 - u)^(-1), and the inverse
        product = (1 + u) ** above / (1 - u) ** (count - above)
        assert abs(product - 1) <= bound
        assert abs(1 / product - 1) <= bound


def test_too_many_roundings_are_refused():
    with pytest.raises(ValueError, match="count is 256; accepted for bf16: below 256"):
        roundings(256, FORMATS["bf16"])


@pytest.mark.parametrize("order", ["as it is", "ascending", "descending", "pairwise", "layer"])
def test_the_scale_bound_covers_any_order_of_summation(order):
    r = (10.0 ** (6 * torch.rand(1024, generator=generator("order"), dtype=torch.float64))).float()
    exact = sum(map(Fraction, r.tolist())) / 1024
    if order == "layer":
        got = mrs_scale(torch.stack((r, torch.zeros_like(r)), dim=-1).flatten(), 0.0)
    elif order == "pairwise":
        got = r
        while len(got) > 1:
            got = got[::2] + got[1::2]
        got = got / 1024
    else:
        terms = r.sort(descending=order == "descending").values if order != "as it is" else r
        got = terms.numpy().cumsum(dtype="float32")[-1:] / 1024
    bound = scale_error(torch.tensor([float(exact)], dtype=torch.float64), 1024, FORMATS["fp32"])
    assert abs(Fraction(float(got[0])) - exact) <= Fraction(bound.item())


# against rational arithmetic

TRIPLES = torch.tensor([(3, 4), (4, 3), (5, 12), (8, 15), (0, 1), (1, 0), (7, 24), (20, 21)], dtype=torch.float64)
TRIALS = 40


def rational_rows(fmt, phasors):
    """Rows whose magnitudes are integers times powers of two, gamma, g and eps that all are exact in the format."""
    rng = generator("rational", fmt.name, phasors)
    kind = TRIPLES[integers(rng, len(TRIPLES), TRIALS, phasors)]
    sign = 2.0 * integers(rng, 2, TRIALS, phasors, 2) - 1
    z = kind * sign * 2.0 ** integers(rng, 13, TRIALS, phasors, 1).sub(6)
    g = integers(rng, 33, TRIALS, phasors, 2).double() - 16
    gamma = (integers(rng, 33, phasors).double() - 16) / 8
    h = z.flatten(-2).to(fmt.dtype)
    assert torch.equal(phasor_view(h), z)
    return h, g.flatten(-2).to(fmt.dtype), gamma.to(fmt.dtype)


def fractions(values):
    return [Fraction(value) for value in values.double().tolist()]


class Exact:
    """MRSNorm of one row, and its input gradient by the quotient rule, in rational arithmetic."""

    def __init__(self, h, g, gamma, eps):
        x, d, a = fractions(h), fractions(g), fractions(gamma)
        phasors = len(a)
        self.r = [Fraction(math.isqrt(int(16**6 * (x[2 * k] ** 2 + x[2 * k + 1] ** 2))), 4**6) for k in range(phasors)]
        assert all(self.r[k] ** 2 == x[2 * k] ** 2 + x[2 * k + 1] ** 2 for k in range(phasors))
        self.s = sum(self.r) / phasors + Fraction(eps)
        channels = range(2 * phasors)
        self.o = [a[c // 2] * x[c] / self.s for c in channels]
        loss = sum(d[c] * a[c // 2] * x[c] for c in channels)  # L = loss / S, dS/dx_c = x_c / (P r)
        self.gradient = [
            d[c] * a[c // 2] / self.s - loss / self.s**2 * x[c] / (phasors * self.r[c // 2]) for c in channels
        ]


def worst(measured, exact, bound):
    """The largest error over its bound, in rational arithmetic; every error of 0 counts 0."""
    ratios = [
        abs(Fraction(m) - e) / Fraction(b) if Fraction(m) != e else Fraction(0)
        for m, e, b in zip(measured.double().flatten().tolist(), exact, bound.flatten().tolist(), strict=True)
    ]
    return float(max(ratios))


def quantities(fmt, phasors, eps):
    """Worst ratio of r, S, o and the input gradient over rows of rational magnitudes."""
    h, g, gamma = rational_rows(fmt, phasors)
    wide = gamma.double()
    found = {"S": 0.0, "o": 0.0, "gradient": 0.0}
    o, d = mrs_norm(h, gamma, eps), input_gradient(partial(mrs_norm, weight=gamma, eps=eps), h, g)
    scale = mrs_scale(h, eps)
    for row in range(TRIALS):
        exact = Exact(h[row], g[row], gamma, eps)
        s = torch.tensor([[float(exact.s)]], dtype=torch.float64)
        z, true_o = phasor_view(h[row : row + 1]), torch.tensor([float(v) for v in exact.o], dtype=torch.float64)
        true_d = torch.tensor([float(v) for v in exact.gradient], dtype=torch.float64)
        lost_o = output_error(true_o, wide.repeat_interleave(2), phasors, fmt)
        lost_d = gradient_error(z, phasor_view(g[row : row + 1]), wide, s, fmt).flatten()
        for name, measured, rational, bound in (
            ("S", scale[row], [exact.s], scale_error(s, phasors, fmt)),
            ("o", o[row], exact.o, rounded(lost_o, true_o, fmt)),
            ("gradient", d[row], exact.gradient, rounded(lost_d, true_d, fmt)),
        ):
            found[name] = max(found[name], worst(measured, rational, bound))
    return found


@formats
@widths
@pytest.mark.parametrize("eps", [0.0, 0.125])
def test_the_bounds_hold_in_rational_arithmetic_and_say_something(fmt, phasors, eps):
    found = quantities(fmt, phasors, eps)
    assert all(ratio <= 1 for ratio in found.values()), found
    # these sums of few significant bits are often exact, so that S may lose nothing at all
    floor = 0.02 if phasors < 64 or fmt != fmt.accumulation else 0.002
    assert found["o"] > floor and found["gradient"] > floor, found


@formats
def test_rms_gradients_hold_their_bound_in_rational_arithmetic(fmt):
    """Channels +-2 k, one k a row, have S_RMS = 2 k at eps = 0."""
    rng = generator("rms", fmt.name)
    sign = 2.0 * integers(rng, 2, TRIALS, 14).double() - 1
    x = sign * 2.0 * 3.0 ** integers(rng, 4, TRIALS, 1).double()
    h, g = x.to(fmt.dtype), (integers(rng, 33, TRIALS, 14).double() - 16).to(fmt.dtype)
    gamma = ((integers(rng, 33, 14).double() - 16) / 8).to(fmt.dtype)
    d = input_gradient(partial(rms_norm, weight=gamma, eps=0.0), h, g)
    scale = rms_scale(x, 0.0)
    lost = rms_gradient_error(x, g.double(), gamma.double(), scale, fmt)
    ratios = []
    for row in range(TRIALS):
        s, a = abs(Fraction(x[row, 0].item())), fractions(gamma)
        xhat, up = [Fraction(v) / s for v in x[row].tolist()], fractions(g[row])
        mean = sum(a[c] * up[c] * xhat[c] for c in range(14)) / 14
        exact = [(a[c] * up[c] - xhat[c] * mean) / s for c in range(14)]
        true = torch.tensor([float(v) for v in exact], dtype=torch.float64)
        ratios.append(worst(d[row], exact, rounded(lost[row], true, fmt)))
    assert 0.02 < max(ratios) <= 1


@formats
def test_one_phasors_own_bound_is_the_whole_rows_with_one_upstream_gradient(fmt):
    h, _, gamma = rational_rows(fmt, 7)
    z, s, chosen = phasor_view(h), mrs_scale(h.double(), 0.125), torch.full((TRIALS, 1), 3)
    v = torch.tensor([0.75, -2.0], dtype=torch.float64).expand(TRIALS, 1, 2)
    g = torch.zeros_like(z)
    g[:, 3] = v[:, 0]
    layer = partial(mrs_norm, weight=gamma, eps=0.125)
    assert torch.equal(
        own_gradient(layer, h, chosen, v)[:, 0], input_gradient(layer, h, g.flatten(-2).to(fmt.dtype))[:, 6:8]
    )
    own = own_gradient_error(z[:, 3:4], v, gamma.double()[3:4], s, 7, fmt)
    whole = gradient_error(z, g, gamma.double(), s, fmt)[:, 3:4]
    # interference counts 2 S + n + 14 of them, where n = 1 for the one phasor: gamma_a >= (a/b) (1 - b u) gamma_b
    few, many = (2 * scale_roundings(7) + terms + 14 for terms in (1, pair_sum_roundings(7)))
    share = few / many * (1 - many * fmt.accumulation.unit_roundoff) * (1 - roundings(64, FP64))
    assert ((own <= whole) & (own >= share * whole)).all()


@formats
def test_magnitudes_hold_their_bound(fmt):
    h = rational_rows(fmt, 64)[0]
    generic = (h.double() * 1.1).to(fmt.dtype)
    got = torch.linalg.vector_norm(phasor_view(generic), dim=-1)  # fp64, itself off by 2^-51 at most
    measured = mrs_scale(generic.unflatten(-1, (-1, 2)), 0.0).squeeze(-1).double()  # P = 1: S is the magnitude
    bound = magnitude_error(got, fmt) + magnitude_error(got, FP64)
    ratio = ((measured - got).abs() / bound).max().item()
    assert ratio <= 1 and (ratio > 0.02 or fmt == FP64)


# the last rounding, overflow, and where the bounds hold


def test_the_last_rounding_costs_u_or_half_a_subnormal():
    fmt, exact = FORMATS["fp16"], torch.tensor([1.0, 2.0**-20], dtype=torch.float64)
    added = rounded(torch.zeros_like(exact), exact, fmt)
    assert added.tolist() == [2.0**-11, 2.0**-25]
    for name in ("fp32", "fp64"):
        assert rounded(torch.zeros_like(exact), exact, FORMATS[name]).tolist() == [0, 0]


def settle(measured, exact, error=0.0):
    as_tensor = partial(torch.tensor, dtype=torch.float64)
    settled, right = settle_overflow(as_tensor([measured]), as_tensor([exact]), as_tensor([error]), FORMATS["fp16"])
    return settled.item(), right.item()


def test_an_infinity_counts_as_right_exactly_where_the_format_has_no_number():
    inf = math.inf
    assert settle(inf, 7e4) == (7e4, True)
    assert settle(-inf, -7e4) == (-7e4, True)
    assert settle(inf, 65519.0) == (inf, False)
    assert settle(inf, 65519.0, error=1.0) == (65519.0, True)
    assert settle(-inf, 7e4) == (-inf, False)
    assert settle(65504.0, 7e4) == (inf, False)  # it should have overflowed
    assert settle(65504.0, 65520.0, error=1.0) == (65504.0, False)  # it may, and need not
    assert math.isnan(settle(math.nan, 7e4)[0])
    assert settle(inf, math.nan) == (inf, False)


@pytest.mark.parametrize("r", [1e-20, 1e19, math.inf, math.nan])
def test_magnitudes_outside_the_domain_are_refused(r):
    with pytest.raises(ValueError, match="accepted in fp32: 0, or"):
        check_domain(torch.tensor([0.0, 1.0, r], dtype=torch.float64), FORMATS["bf16"])


def test_magnitudes_inside_the_domain_are_accepted():
    check_domain(torch.tensor([0.0, 1e-18, 1.0, 1e18], dtype=torch.float64), FORMATS["bf16"])
    check_domain(torch.tensor([1e-150, 1e150], dtype=torch.float64), FP64)


def test_the_direction_of_a_zero_phasor_is_zero():
    z = torch.tensor([[0.0, 0.0], [3.0, -4.0]], dtype=torch.float64)
    assert direction(z).tolist() == [[0, 0], [0.6, -0.8]]
