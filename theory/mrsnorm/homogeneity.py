"""homogeneity: does every phasor receive an update of the same magnitude?

Claim: |dL/dz_i| is the same for every phasor ("gradient homogeneity").

Source: abstract; section 2.3; section 5.1, after Eq. 6.

False. Eq. 6 makes the *subtracted* term uniform, not the gradient: at z = ((1,0), (1,0)), gamma = 1, eps = 0 and
upstream gradients (1,0) and (-5/13, 12/13) of equal norm, the two gradients have norms 9/13 and 15/13.

What holds, for every P, with M = max_k |gamma_k| |g_k|:

    |Omega| <= (1 - eps/S) M     and     |dL/dz_i| <= (2 - eps/S) M / S  (z_i != 0).

Route: r_k M -+ gamma_k g_k . z_k >= 0, since (r_k M)^2 - (gamma_k g_k . z_k)^2 is r_k^2 (M^2 - gamma_k^2 |g_k|^2) plus
the square of gamma_k times a cross product; the mean over k gives the first bound, the triangle inequality the second.
"""

from fractions import Fraction

import sympy as sp

from theory import certificate
from theory.certificate import Nonneg, difference, given, known, over, plus, positive, square, times, total
from theory.exact import Point, evaluate, point
from theory.mrsnorm.eq05 import S, omega
from theory.norms import loss
from theory.phasors import P, apart, cross, eps, g, gamma, gradient, i, j, z
from theory.statements import Hypothesis, Identity, Inequality

M = sp.Symbol("M", nonnegative=True)


def largest_weight(at: Point) -> Point:
    """The point with M = max_k |gamma_k| |g_k|."""
    count = range(1, int(at[P]) + 1)
    return at.with_({M: max(abs(at.entry(gamma, k)) * at.entry(g.r, k) for k in count)})


def _weights_hold(at: Point) -> bool:
    return largest_weight(at)[M] <= at[M]


def squared_norm(index: sp.Symbol) -> sp.Expr:
    """|dL/dz_index|^2, by differentiation."""
    vector = gradient(loss(z, g, S), z, index)
    return vector.dot(vector)


def derived() -> sp.Expr:
    """The squared norm of the gradient at phasor i."""
    return squared_norm(i)


def printed() -> sp.Expr:
    """What the paper says it equals: the squared norm at any other phasor j."""
    return apart(squared_norm(j))


def corrected() -> list[sp.Expr]:
    """The bounds for |Omega| and for |dL/dz_i|."""
    return [(1 - eps / S) * M, (2 - eps / S) * M / S]


WEIGHTS = "M >= |gamma_k| |g_k| for every k"
SCALE = "S > 0"


def _weight(k: sp.Expr) -> Nonneg:
    return given(M**2 - gamma[k] ** 2 * g.square(k), WEIGHTS)


def _term(k: sp.Expr, sign: int) -> Nonneg:
    """r_k M + sign gamma_k g_k . z_k >= 0."""
    rest = plus(times(square(z.r[k]), _weight(k)), square(gamma[k] * cross(g[k], z[k])))
    return difference(times(known(z.r[k]), known(M)), gamma[k] * g[k].dot(z[k]), rest, sign)


def _omega_bound(sign: int) -> Nonneg:
    """(1 - eps/S) M + sign Omega >= 0."""
    mean = over(total(lambda k: _term(k, sign)), times(known(P), positive(S, SCALE)))
    return certificate.same(mean, (1 - eps / S) * M + sign * omega())


def _gradient_bound() -> Nonneg:
    """((2 - eps/S) M / S)^2 - |dL/dz_i|^2 >= 0."""
    scale = positive(S, SCALE)
    below, above = _omega_bound(-1), _omega_bound(1)
    mean = over(times(total(lambda k: known(z.r[k])), known(M)), times(known(P), scale))
    rest = certificate.triangle(
        gamma[i] * g[i],
        known(M),
        _weight(i),
        z.unit(i) * omega(),
        certificate.same(mean, (1 - eps / S) * M),
        certificate.same(times(below, above), ((1 - eps / S) * M) ** 2 - omega() ** 2),
    )
    return over(rest, times(scale, scale))


def _sides() -> tuple[list[sp.Expr], list[sp.Expr]]:
    projection, size = corrected()
    return [omega(), -omega(), derived()], [projection, projection, size**2]


STATEMENTS = (
    Identity(
        "as printed",
        "|dL/dz_i| = |dL/dz_j| for all i, j",
        lambda: (derived(), printed()),
        nonzero=(S, z.r[i], z.r[j]),
        counterexample=point(
            {eps: 0}, z=[(1, 0), (1, 0)], gamma=[1, 1], g=[(1, 0), (Fraction(-5, 13), Fraction(12, 13))]
        ),
        expects="refuted",
    ),
    Inequality(
        "corrected",
        "|Omega| <= (1 - eps/S) M and |dL/dz_i| <= (2 - eps/S) M / S, M = max |gamma_k| |g_k|",
        _sides,
        lambda: [_omega_bound(-1), _omega_bound(1), _gradient_bound()],
        hypotheses=(
            Hypothesis(WEIGHTS, _weights_hold),
            Hypothesis(SCALE, lambda at: evaluate(S, at) > 0),
        ),
        nonzero=(S, z.r[i]),
        adjust=largest_weight,
    ),
)


MUTANTS = {"a phasor with itself": derived}
CORRECTED_MUTANTS = {
    "half the interference": lambda: [(1 - eps / S) * M / 2, (2 - eps / S) * M / S],
    "as if nothing were subtracted": lambda: [(1 - eps / S) * M, M / S],
    "eps counted twice": lambda: [(1 - 2 * eps / S) * M, (2 - eps / S) * M / S],
}
