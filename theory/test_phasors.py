"""The calculus of sums of symbolic length, trap by trap."""

import random

import pytest
import sympy as sp

from theory.display import printable
from theory.exact import evaluate, random_point
from theory.moments import vanishes
from theory.norms import loss, mean_magnitude, rms_magnitude, score
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
    key,
    on_groups,
    q,
    substitute,
    z,
)

x, y = z.components


def test_sums_equal_up_to_the_index_are_the_same_object():
    k, m = sp.symbols("k m", integer=True)
    assert index_sum(lambda n: x[n]) == index_sum(lambda n: x[n])
    assert index_sum(lambda a: x[a] * index_sum(lambda b: y[b])) == index_sum(
        lambda b: x[b] * index_sum(lambda a: y[a])
    )
    assert index_sum(lambda n: x[n] * k) != index_sum(lambda n: x[n] * m)


def test_derivative_by_a_fresh_index_keeps_one_term():
    assert derivative(index_sum(lambda k: gamma[k] * x[k]), x[i]) == gamma[i]


def test_derivative_of_a_double_sum_counts_both_places():
    square = index_sum(lambda k: index_sum(lambda m: x[k] * x[m]))
    assert vanishes(derivative(square, x[i]) - 2 * index_sum(lambda k: x[k]))


def test_derivative_by_another_phasor_leaves_a_delta():
    delta = derivative(x[i], x[j])
    assert delta == sp.KroneckerDelta(i, j)
    assert apart(delta) == 0


def test_magnitude_differentiates_to_the_unit_vector():
    assert derivative(z.r[i], x[i]) == x[i] / z.r[i]


def test_substitution_cannot_capture_the_bound_index():
    total = index_sum(lambda k: x[k] * gamma[i])
    replaced = total.xreplace({gamma[i]: index_sum(lambda k: y[k])})
    assert vanishes(replaced - index_sum(lambda k: x[k]) * index_sum(lambda k: y[k]))


def test_substitution_cannot_capture_the_index_of_an_outer_sum():
    replaced = substitute(index_sum(lambda k: x[k]), {x: lambda k: index_sum(lambda m: y[m] * gamma[k])})
    assert vanishes(replaced - index_sum(lambda k: y[k]) * index_sum(lambda k: gamma[k]))


def test_a_sum_put_into_a_double_sum_captures_neither_index():
    inner, c = index_sum(lambda n: z.r[n]), sp.Symbol("c")
    double = index_sum(lambda k: index_sum(lambda m: x[k] * y[m] * c))
    product = index_sum(lambda k: x[k]) * index_sum(lambda k: y[k]) * inner
    assert vanishes(double.xreplace({c: inner}) - product)
    assert vanishes(double.subs(c, inner) - product)


def test_the_index_of_another_sum_stays_free():
    free = index_sum(lambda k: x[k]).index
    assert free in index_sum(lambda m: y[m] * gamma[free]).free_symbols


def test_deltas_collapse_under_the_sum_only():
    collapsed = index_sum(lambda k: sp.KroneckerDelta(k, i) * x[k] + y[k])
    assert collapsed == x[i] + index_sum(lambda k: y[k])


def test_a_delta_that_is_not_linear_is_refused():
    with pytest.raises(NotImplementedError, match="linearly"):
        index_sum(lambda k: 1 / (1 + sp.KroneckerDelta(k, i)))


def test_groups_give_sums_for_every_P():
    total = index_sum(lambda k: z.r[k])
    assert on_groups(total, [(1, {z.r: 5}), (P - 1, {z.r: 2})]) == 5 + 2 * (P - 1)


def test_substitution_reaches_under_sums():
    assert substitute(index_sum(lambda k: x[k]), {x: lambda k: 2 * y[k]}) == index_sum(lambda k: 2 * y[k])


S, R = mean_magnitude(z), sp.sqrt(index_sum(lambda k: h[k] ** 2, N) / N + eps)
GRADIENTS = {
    "mrsnorm": (loss(z, g, S), x),
    "mrsnorm, second channel": (loss(z, g, S), y),
    "power of the scale": (S**3 * z.r[i], x),
    "score": (score(q, key, mean_magnitude(q), mean_magnitude(key)), q.components[0]),
    "sum of two norms": (index_sum(lambda k: z.r[k]) + index_sum(lambda k: g.r[k]), x),
}


@pytest.mark.parametrize("name", GRADIENTS)
@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_gradient_agrees_with_exact_dual_numbers(name, length):
    expr, base = GRADIENTS[name]
    at = random_point((), length, random.Random(length))
    symbolic = derivative(expr, base[i])
    assert evaluate(symbolic, at) == evaluate(expr, at, slope=base[i])


def test_rms_gradient_agrees_with_exact_dual_numbers():
    scale = rms_magnitude(q)
    from theory.mrsnorm.eq16_rms import rational_scales

    at = rational_scales(random_point((), 3, random.Random(7)))
    expr = score(q, key, scale, sp.Integer(1))
    assert evaluate(derivative(expr, q.components[1][i]), at) == evaluate(expr, at, slope=q.components[1][i])


def test_printing_names_the_index():
    assert str(index_sum(lambda k: x[k])) == "sum(x[k], k=1..P)"
    assert r"\sum_{k=1}^{P} {x}_{k}" in sp.latex(index_sum(lambda k: x[k]))


def test_the_square_of_a_sum_does_not_print_as_a_sum_of_squares():
    square, squares = index_sum(lambda k: x[k]) ** 2, index_sum(lambda k: x[k] ** 2)
    for printer in (sp.latex, sp.pretty, lambda e: sp.latex(printable(e)), lambda e: sp.pretty(printable(e))):
        assert printer(square) != printer(squares)
        assert any(bracket in printer(square) for bracket in ")⎠")
