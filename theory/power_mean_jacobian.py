"""The Jacobian J of h -> h / S_p, S_p = (mean r^p)^(1/p), as a map of vectors b = (b_1, ..., b_P), b_k in the plane.

Where every z_k != 0, dS_p/dz_k = S_p v_k with v_k = r_k^(p-1) u_k / sum r^p, so v . z = 1 and J = (I - z v^T) / S_p.
With b' = b - z (z . b)/|z|^2 and a = v - z/|z|^2, both orthogonal to z,

    S_p^2 |J b|^2 = |b'|^2 + |z|^2 (a . b')^2 <= |b'|^2 (1 + |z|^2 |a|^2) <= |b|^2 |z|^2 |v|^2.

For b = a both are equalities. z turned by 90 degrees, phasor by phasor, is orthogonal to z and to v and has gain 1/S_p.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, positive, square, times, total
from theory.phasors import g, i, index_sum, jacobian, z
from theory.power_means import p, power_mean

Field = Callable[[sp.Expr], sp.Matrix]  # index -> a vector in the plane

S = power_mean(z)
TOTAL = index_sum(lambda k: z.r[k] ** p)
SQUARES = index_sum(lambda k: z.r[k] ** 2)  # |z|^2
ANY: Field = g.__getitem__  # b


def dot(first: Field, second: Field) -> sp.Expr:
    """sum_k a_k . b_k."""
    return index_sum(lambda k: first(k).dot(second(k)))


def energy(b: Field) -> sp.Expr:
    """|b|^2."""
    return dot(b, b)


def v(k: sp.Expr) -> sp.Matrix:
    """v_k = r_k^(p-1) u_k / sum r^p."""
    return z.r[k] ** (p - 2) * z[k] / TOTAL


def a(k: sp.Expr) -> sp.Matrix:
    """v less its part along z: what J amplifies most."""
    return v(k) - z[k] / SQUARES


def turned(k: sp.Expr) -> sp.Matrix:
    """z_k turned by 90 degrees."""
    return sp.Matrix([-z[k][1], z[k][0]])


def differentiated() -> sp.Matrix:
    """(J b)_i for any b, by differentiation of z_i / S_p along every b_k."""
    return sp.Matrix([index_sum(lambda k, e=entry: (jacobian([e / S], z, k) * ANY(k))[0]) for entry in z[i]])


def image(b: Field) -> Field:
    """k -> (J b)_k = (b_k - z_k (v . b)) / S_p."""
    part = dot(v, b)
    return lambda k: (b(k) - z[k] * part) / S


def upper(text: str) -> Nonneg:
    """|z|^2 |v|^2 |b|^2 / S_p^2 - |J b|^2 >= 0 for any b, where S_p > 0 by the hypothesis `text`.

    S_p^2 times it is |z|^2 (|a|^2 |b'|^2 - (a . b')^2) + |v|^2 (z . b)^2.
    """
    along = dot(z.__getitem__, ANY)
    lagrange = _lagrange(a, lambda k: ANY(k) - z[k] * along / SQUARES)
    size = plus(*(total(lambda k, s=s: square(v(k)[s])) for s in (0, 1)))
    scale = positive(S, text)
    first = times(total(lambda k: square(z.r[k])), lagrange)
    return over(plus(first, times(size, square(along))), times(scale, scale))


def _lagrange(first: Field, second: Field) -> Nonneg:
    """|a|^2 |b|^2 - (a . b)^2 >= 0."""
    squares = [
        total(lambda k, s=s, t=t: total(lambda m: square(first(k)[s] * second(m)[t] - first(m)[t] * second(k)[s])))
        for s in (0, 1)
        for t in (0, 1)
    ]
    return times(known(sp.Rational(1, 2)), plus(*squares))
