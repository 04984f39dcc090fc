"""Power means of the phasor magnitudes as the scale of a normalizer, and two inequalities between them.

    S_p(z) = ((1/P) sum_k r_k^p)^(1/p),   p > 0;   n_p(z) = (sum_k r_k^p)^(1/p) = P^(1/p) S_p

p = 1 is MRSNorm's scale (section 3, Eq. 1) without eps, p = 2 that of Eq. 11. For every P and every z:

    n_p >= r_k,   hence   sum r^q <= n_p^q  for q >= p;
    mean r^q <= S_p^q  for 0 < q <= p,  since t^b <= 1 + b (t - 1) for b = q/p <= 1, with t_k = r_k^p / mean r^p.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from theory.certificate import (
    Nonneg,
    bernoulli,
    known,
    monotone,
    over,
    positive,
    power,
    same,
    times,
    total,
    total_except,
)
from theory.exact import Point
from theory.phasors import MAGNITUDES, P, VectorFamily, index_sum

p = sp.Symbol("p", positive=True)


def mean_power(family: VectorFamily, exponent: sp.Expr = p) -> sp.Expr:
    """(1/P) sum_k r_k^exponent."""
    return index_sum(lambda k: family.r[k] ** exponent) / P


def power_mean(family: VectorFamily, exponent: sp.Expr = p) -> sp.Expr:
    """S_p for p = `exponent`."""
    return mean_power(family, exponent) ** (1 / exponent)


def powered(family: VectorFamily, k: sp.Expr) -> Nonneg:
    """r_k^p >= 0."""
    return power(known(family.r[k]), p)


def norm(family: VectorFamily) -> Nonneg:
    """n_p >= 0."""
    return power(total(lambda k: powered(family, k)), 1 / p)


def largest(family: VectorFamily, k: sp.Expr) -> Nonneg:
    """n_p - r_k >= 0: the sum of all r^p is at least r_k^p, and t^(1/p) is monotone."""
    return monotone(total_except(k, lambda m: powered(family, m)), powered(family, k), over(known(1), known(p)))


def sum_below(family: VectorFamily, excess: Nonneg) -> Nonneg:
    """n_p^q - sum r^q = sum_k r_k^p (n_p^(q-p) - r_k^(q-p)) >= 0, for q = p + excess."""
    return total(lambda k: times(powered(family, k), monotone(largest(family, k), known(family.r[k]), excess)))


def tangent(base: Nonneg, mean: Nonneg, exponent: Nonneg, room: Nonneg) -> Nonneg:
    """1 + b (t - 1) - t^b >= 0 for t = base / mean >= 0 and 0 < b <= 1; `room` proves that 1/b - 1 >= 0.

    It is b times what the convex power 1/b of t^b exceeds its own tangent at 1 by.
    """
    b = exponent.expr
    return times(exponent, bernoulli(times(power(base, b), power(mean, -b)), same(room, 1 / b - 1)))


def mean_below(
    family: VectorFamily,
    exponent: Nonneg,
    room: Nonneg,
    text: str,
    magnitude: Callable[[sp.Expr], Nonneg] = known,
) -> Nonneg:
    """S_p^q - mean r^q >= 0 for q = b p, b = `exponent` in (0, 1], where mean r^p > 0 by the hypothesis `text`.

    It is S_p^q times the mean of 1 + b (t - 1) - t^b, since t has the mean 1. `room` is that of `tangent`; `magnitude`
    proves r_k >= 0, or r_k > 0 where the sign of b is not plain from its form.
    """
    mean = positive(mean_power(family), text)
    below = total(lambda k: tangent(power(magnitude(family.r[k]), p), mean, exponent, room))
    return times(over(below, known(P)), power(mean, exponent.expr))


def squared_magnitudes(at: Point) -> Point:
    """The point with p = 1/2 and z_k r_k in place of every z_k: the powers in use are then rational."""
    lists = {}
    for family in MAGNITUDES.values():
        for base in family.components:
            if base in at.lists:
                lists[base] = tuple(at.entry(family.r, n + 1) * value for n, value in enumerate(at[base]))
    return at.with_({**lists, p: Fraction(1, 2)})
