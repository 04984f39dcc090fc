"""The exact route's parts: standing derivatives, numbers, evaluation, and degree bounds against true degrees."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import zip_longest
from math import isqrt

import pytest
import sympy as sp

from theory import exact
from theory.claims import modules
from theory.mrsnorm import eq05, eq08, isometry
from theory.norms import loss, mean_magnitude, root_mean_square
from theory.phasors import (
    N,
    P,
    apart,
    derivative,
    eps,
    g,
    gamma,
    h,
    i,
    index_sum,
    j,
    jacobian,
    on_groups,
    substitute,
    z,
)
from theory.routes.exact.degrees import Degrees
from theory.routes.exact.enclosures import integer_root, log_bounds, perfect_root
from theory.routes.exact.evaluation import Evaluation
from theory.routes.exact.nodes import Program
from theory.routes.exact.numbers import Field, Unknown, enclosure, inverse, sign
from theory.routes.exact.questions import inputs_of
from theory.routes.exact.reading import Reader
from theory.routes.exact.samples import SHAPES, sample_of
from theory.standing import CannotStand, Slope, standing

x, y = z.components
S = mean_magnitude(z)
t = sp.Symbol("t", real=True)
M = 2**61 - 1


def value(expr, at):
    """The value of an expression by this route's evaluator."""
    return Evaluation(sample_of(at, {P, N}))(Reader(Program())(expr))


def some_point(length=3, seed=0):
    return exact.random_point({t, N}, length, random.Random(seed))


def stood(build):
    with standing():
        return build()


@pytest.mark.parametrize("length", [2, 3, 5])
@pytest.mark.parametrize("variable", [x[i], y[j], gamma[i]], ids=["x_i", "y_j", "gamma_i"])
def test_standing_derivatives_have_the_value_of_dual_numbers_elsewhere(variable, length):
    at, expr = some_point(length), loss(z, g, S)
    slope = stood(lambda: derivative(expr, variable))
    assert isinstance(slope, Slope)
    assert value(slope, at) == exact.evaluate(expr, at, slope=variable) == value(derivative(expr, variable), at)


def test_a_second_derivative_stands_on_the_first():
    twice = stood(lambda: derivative(derivative(loss(z, g, S), x[i]), y[j]))
    assert value(twice, some_point()) == value(derivative(derivative(loss(z, g, S), x[i]), y[j]), some_point())


@pytest.mark.parametrize(
    "build",
    [
        lambda: derivative(t**2 * S, t).subs(t, 0),
        lambda: derivative(t**3 * S, t).subs(t, 2),
        lambda: derivative(loss(z, g, S), x[i]).xreplace({eps: sp.Integer(0)}),
        lambda: derivative(loss(z, g, S), x[i]).xreplace({i: j}),
        lambda: derivative(gamma[i] * x[i] / S, x[i]).subs(gamma[i], 7),
        lambda: derivative(S, x[i]).subs(x[i], 7),
        lambda: substitute(derivative(loss(z, g, S), x[i]), {f: lambda k, f=f: t * f[k] for f in (x, y, z.r)}),
        lambda: substitute(derivative(loss(z, g, S), x[i]), {gamma: lambda k: index_sum(lambda m: y[m] * gamma[k])}),
        lambda: index_sum(lambda k: derivative(x[i] / S, x[k]) * g[k][0]),
        lambda: index_sum(lambda k: index_sum(lambda m: derivative(x[k] / S, x[m]) * y[m])),
        lambda: apart(jacobian(z[i] / S, z, j))[0].xreplace({j: i}),
        lambda: index_sum(lambda k: jacobian(z[i] / S, z, j)[1].xreplace({j: k})),
    ],
)
def test_what_is_done_to_a_standing_derivative_means_what_it_means_afterwards(build):
    at = some_point()
    assert value(stood(build), at) == value(build(), at)


@pytest.mark.parametrize(
    "build",
    [
        lambda: derivative(S, x[i]).func(*derivative(S, x[i]).args),
        lambda: on_groups(derivative(S, x[i]), [(P, {z.r: 1, x: 1})], {i: 0}),
        lambda: derivative(S, x[i]).subs(z.r[i], 2),
        lambda: derivative(x[i] * eps + gamma[i], x[i]).subs(x[i] * eps, 2),
        lambda: derivative(S, x[i]).diff(eps),
    ],
    ids=["rebuilt", "grouped", "an entry under a sum", "a product", "differentiated by SymPy"],
)
def test_what_would_change_the_meaning_of_a_standing_derivative_is_refused(build):
    with standing(), pytest.raises(CannotStand):
        build()


def test_remembered_derivatives_are_not_mixed_up_with_standing_ones():
    before = isometry.by_differentiation()
    inside = stood(isometry.by_differentiation)
    assert any(entry.has(Slope) for entry in inside)
    assert isometry.by_differentiation() == before
    assert not any(entry.has(Slope) for entry in before)


def test_no_claim_remembers_a_derivative_by_a_plain_cache():
    for module in modules():
        assert not {"cache", "lru_cache"} & set(vars(module)), module.__name__


@pytest.mark.parametrize(
    "side",
    [
        eq05.printed()[0],
        eq08.printed()[1],
        z.unit(i)[0] ** 2 + gamma[j] / S,
        index_sum(lambda k: sp.KroneckerDelta(k, i) / S),
    ],
    ids=["Eq. 5", "Eq. 8", "mixed", "delta"],
)
@pytest.mark.parametrize("length", [2, 3, 5])
def test_values_are_those_of_the_other_evaluator(side, length):
    assert value(side, some_point(length)) == exact.evaluate(side, some_point(length))


def test_a_side_without_a_value_divides_by_zero():
    at = exact.point({eps: 0}, z=[(0, 0), (0, 0)])
    with pytest.raises(ZeroDivisionError):
        value(1 / S, at)


def test_an_irrational_scale_is_exact():
    at = exact.point({eps: 0, N: 2}, h=[1, 2])
    root = value(root_mean_square(h), at)
    assert root * root == Fraction(5, 2)
    assert root * inverse(root) == 1
    assert sign(root - Fraction(158, 100)) == 1
    assert sign(root - Fraction(159, 100)) == -1


def test_dependent_roots_and_logarithms_are_recognized():
    field = Field()
    two, three = field.root(2, 2), field.root(3, 2)
    assert field.root(6, 2) - two * three == 0
    assert field.root(Fraction(8, 9), 2) - two * Fraction(2, 3) == 0
    assert inverse(1 + two + three) * (1 + two + three) == 1
    assert field.log(6) - field.log(2) - field.log(3) == 0
    ten, five = field.log(10), field.log(5)
    assert field.log(50) - ten - five == 0
    assert field.log(field.root(10, 2)) - ten * Fraction(1, 2) == 0


def test_a_number_whose_sign_no_precision_tells_is_unknown():
    field = Field()
    apart_by_little = field.log(2) - field.log(3) * Fraction(isqrt(10**2000), 10**1000)
    assert sign(apart_by_little) == -1
    nested = field.root(3 + 2 * field.root(2, 2), 2) - field.root(2, 2) - 1  # zero, but not by the letters' relations
    with pytest.raises(Unknown):
        sign(nested)


@pytest.mark.parametrize("degree", [2, 3, 5])
def test_integer_roots_are_exact(degree):
    rng = random.Random(degree)
    for root in [0, 1, 2, *(rng.getrandbits(100) for _ in range(20))]:
        assert integer_root(root**degree, degree) == root
        assert integer_root((root + 1) ** degree - 1, degree) == root
        assert perfect_root(Fraction(root**degree, 7**degree), degree) == Fraction(root, 7)
        assert perfect_root(Fraction(root**degree + (root > 1), 7**degree), degree) is None or root < 2


@pytest.mark.parametrize("argument", [Fraction(2), Fraction(1, 3), Fraction(10**30 + 1, 7), Fraction(1001, 1000)])
def test_bounds_on_logarithms_enclose_those_of_sympy(argument):
    low, high = log_bounds(argument, 128)
    truth = sp.log(sp.Rational(argument.numerator, argument.denominator)).evalf(60)
    assert sp.Rational(low.numerator, low.denominator) <= truth <= sp.Rational(high.numerator, high.denominator)
    assert high - low < Fraction(1, 2**100)


def test_enclosures_contain_the_number():
    low, high = enclosure(Field().root(2, 2) * 3 - 1, 64)
    assert low**2 + 2 * low + 1 <= 18 <= high**2 + 2 * high + 1


class Line:
    """Stands in for a generator of random integers: the n-th drawn is start_n + t step_n, for all shapes alike."""

    def __init__(self, t: int) -> None:
        self.t, self.random = t, random.Random(7)

    def getrandbits(self, bits: int) -> int:
        start, step = self.random.randint(1, 50), self.random.randint(1, 9)
        return (1 << (bits - 1)) + start + self.t * step


def along_a_line(expr, length, count):
    """The values of an expression at t = 0 .. count - 1 along a line of the integers drawn, and its degree bound."""
    node = Reader(Program())(expr)
    inputs, free = inputs_of([node])
    degrees = Degrees(inputs, length, Fraction(2), free)
    places = {i: 1, j: 2}
    draws = (inputs.draw(Line(t), length, 64, places, Fraction(2)) for t in range(count))
    return [Evaluation(sample)(node) for sample in draws], degrees(node)


def true_degrees(values):
    """(n, d) of the rational function through `values` at 0, 1, 2, ..., in lowest terms, by Euclid's algorithm mod M.

    Modulo a prime a degree can only be smaller, and is the same but for an accident of about the degree in 2^61.
    """
    residues = [Fraction(v).numerator * pow(Fraction(v).denominator, -1, M) for v in values]
    modulus, interpolant = [1], []
    for point, target in enumerate(residues):
        gap = (target - at(interpolant, point)) * pow(at(modulus, point), -1, M)
        interpolant = combined(interpolant, modulus, gap)
        modulus = combined([0, *modulus], modulus, -point)
    (a, b), (s, t) = (modulus, interpolant), ([], [1])
    while len(b) > len(values) // 2 + 1:
        while len(a) >= len(b):
            factor, shift = -a[-1] * pow(b[-1], -1, M), [0] * (len(a) - len(b))
            a, s = combined(a, [*shift, *b], factor), combined(s, [*shift, *t], factor)
        (a, b), (s, t) = (b, a), (t, s)
    return len(b) - 1, len(t) - 1


def at(polynomial, point):
    return sum(c * pow(point, n, M) for n, c in enumerate(polynomial)) % M


def combined(first, second, factor):
    """first + factor * second modulo M, without leading zeros."""
    pairs = zip_longest(first, second, fillvalue=0)
    result = [(a + factor * b) % M for a, b in pairs]
    while result and result[-1] == 0:
        result.pop()
    return result


@pytest.mark.parametrize(
    ("expr", "exact_bound"),
    [
        (index_sum(lambda k: gamma[k] * z.r[k] ** 2), True),
        (eps * index_sum(lambda k: z.r[k]) ** 2 + gamma[i], True),
        (S, True),
        (gamma[i] / S, True),
        (eq05.printed()[0], False),
        (eq05.derived()[0] - eq05.post_affine()[0], False),
        (eq08.printed()[0] - 1 / S, False),
        (index_sum(lambda k: x[k] / z.r[k]), True),
        (index_sum(lambda k: gamma[k] / (z.r[k] + eps)), True),
    ],
    ids=["sum", "square", "S", "gamma / S", "Eq. 5", "post-affine", "Eq. 8", "units", "shifted"],
)
@pytest.mark.parametrize("length", [2, 3])
def test_the_degree_bound_is_at_least_the_true_degree_along_a_line(expr, exact_bound, length):
    values, (n, d) = along_a_line(expr, length, 80)
    top, bottom = true_degrees(values)
    assert max(top, bottom) < 39, "more points are needed"
    assert top <= n and bottom <= d
    if exact_bound:
        assert (top, bottom) == (n, d)


def test_roots_count_their_conjugates():
    node = Reader(Program())(1 + root_mean_square(h) + z.r[i])
    inputs, free = inputs_of([node])
    size = Degrees(inputs, 5, Fraction(2), free).size(node)
    assert size.doublings == 1
    assert size.bits(64) == 64 + 1 + size.numerator.bit_length()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("length", [1, 2, 5])
def test_samples_of_every_shape_have_the_magnitudes_of_their_vectors(shape, length):
    node = Reader(Program())(index_sum(lambda k: z.r[k] * g[k][0]))
    inputs, _ = inputs_of([node])
    sample = inputs.draw(random.Random(1), length, 8, {i: 1}, Fraction(2), shape)
    rows = zip(*(sample.family(base) for base in (x, y, z.r)), strict=True)
    assert all(a * a + b * b == r * r and r >= 0 for a, b, r in rows)
    assert not sample.point().outside()
