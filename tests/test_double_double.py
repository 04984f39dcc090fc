"""Double-double arithmetic and the truth made of it, against numbers of any precision."""

from fractions import Fraction

import mpmath
import pytest
import torch
from test_rounding import TRIALS, Exact, rational_rows

from numerics import truth
from numerics.double_double import LN2, DoubleDouble, exact
from numerics.rounding import FORMATS, FP64
from numerics.scenarios import generator, integers, normal

UNIT = Fraction(2) ** -104  # of double-double arithmetic


def numbers(*key, count=300):
    """Numbers of either sign over 120 binades."""
    rng = generator(*key)
    return normal(rng, count) * 2.0 ** (integers(rng, 120, count) - 60).double()


def values(found):
    return [Fraction(high) + Fraction(low) for high, low in zip(found.hi.tolist(), found.lo.tolist(), strict=True)]


def general(key):
    """Numbers with two parts each."""
    return exact(numbers(key, "left")) / exact(numbers(key, "right"))


@pytest.mark.parametrize("name", ["__add__", "__sub__", "__mul__", "__truediv__"])
def test_arithmetic_is_accurate_to_a_few_units(name):
    left, right = general("a"), general("b")
    for found, a, b in zip(values(getattr(left, name)(right)), values(left), values(right), strict=True):
        expected = getattr(a, name)(b)
        assert abs(found - expected) <= 16 * UNIT * abs(expected)


def test_a_difference_that_cancels_is_accurate():
    left = general("a")
    close = left + left * 2.0**-60
    for found, a, b in zip(values(close - left), values(close), values(left), strict=True):
        assert abs(found - (a - b)) <= 16 * UNIT * abs(a - b)


def test_products_of_fp64_numbers_are_exact():
    a, b = numbers("a"), numbers("b")
    exactly = [Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert values(exact(a) * b) == exactly


def test_roots_logarithms_and_exponentials_are_accurate_to_a_few_units():
    x = general("x")
    x = x * x
    small = exact(normal(generator("small"), 300))
    with mpmath.workprec(300):
        for name, argument in (("sqrt", x), ("log", x), ("exp", small)):
            for found, a in zip(values(getattr(argument, name)()), values(argument), strict=True):
                expected = getattr(mpmath, name)(mpmath.mpf(a.numerator) / a.denominator)
                error = abs(mpmath.mpf(found.numerator) / found.denominator - expected)
                # of a logarithm near 0, the unit of an argument near 1 counts
                assert error <= 256 * float(UNIT) * max(abs(expected), 1 if name == "log" else 0), name
        low = mpmath.log(2) - mpmath.mpf(LN2[0])
        assert LN2[0] == float(mpmath.log(2)) and LN2[1] == float(low)
    assert exact(torch.zeros(1, dtype=torch.float64)).sqrt().double().item() == 0


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_sums_are_accurate_relative_to_the_sizes_of_their_terms(count):
    terms = numbers("sum", count=count)
    (total,) = values(exact(terms[None]).sum())
    exactly = [Fraction(term) for term in terms.tolist()]
    assert abs(total - sum(exactly)) <= count * UNIT * sum(map(abs, exactly))


def test_the_distance_sees_more_than_fp64_does():
    third = exact(torch.ones(1, dtype=torch.float64)) / 3.0
    off = third.distance(torch.tensor([1 / 3], dtype=torch.float64)).item()
    assert off == abs(float(Fraction(1, 3) - Fraction(1 / 3)))


@pytest.mark.parametrize("eps", [0.0, 0.125])
@pytest.mark.parametrize("phasors", [1, 2, 7])
def test_the_truth_is_that_of_rational_arithmetic(phasors, eps):
    h, g, gamma = (part.double() for part in rational_rows(FP64, phasors))
    outputs, gradients = truth.mrs_output(h, gamma, eps), truth.mrs_gradient(h, g, gamma, eps)
    for row in range(TRIALS):
        right = Exact(h[row], g[row], gamma, eps)
        size = max(map(abs, right.o)), max(map(abs, fractions_of(gamma))) * 32 / right.s
        for found, expected, scale in zip((outputs, gradients), (right.o, right.gradient), size, strict=True):
            for value, wanted in zip(values(found[row]), expected, strict=True):
                assert abs(value - wanted) <= 64 * phasors * UNIT * scale


def fractions_of(tensor):
    return [Fraction(value) for value in tensor.tolist()]


def test_the_truths_gradients_are_derivatives_of_its_outputs():
    """Along a random direction, by a central difference whose step leaves h^2 = 2^-60 of the third derivative."""
    step = 2.0**-30
    rng = generator("derivatives")
    x, v, g = (normal(rng, 4, 6) for _ in range(3))
    gamma, gammas, w = normal(rng, 3), normal(rng, 6), normal(rng, 6)

    def moved(sign, output):
        return (output(x + sign * step * v) * g).sum()

    for output, gradient in (
        (lambda x: truth.mrs_output(x, gamma, 0.125), truth.mrs_gradient(x, g, gamma, 0.125)),
        (lambda x: truth.rms_output(x, gammas, 0.125), truth.rms_gradient(x, g, gammas, 0.125)),
        (lambda x: truth.ma_output(x, gammas, w, 0.125), truth.ma_gradient(x, g, gammas, w, 0.125)),
    ):
        # x + step v is rounded to fp64, which moves the quotient by up to 2^-53 / step of the gradient's size
        slope = (moved(1, output) - moved(-1, output)) / (2 * step)
        expected = (gradient * v).sum()
        size = (DoubleDouble(gradient.hi.abs(), gradient.lo * 0) * (x.abs() + v.abs())).sum().double()
        assert ((slope - expected).double().abs() <= FP64.unit_roundoff / step * 4 * size).all()


def test_formats_are_told_apart_by_their_accumulation():
    wide = FORMATS["fp32"].accumulating("fp64")
    assert wide.accumulation == FP64 and not wide.accumulates_in_itself
    assert FORMATS["fp16"].accumulating("fp16").accumulates_in_itself
    with pytest.raises(KeyError, match="fp8"):
        FORMATS["fp32"].accumulating("fp8")
