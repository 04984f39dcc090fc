"""ma-discard: does RMSNorm discard the magnitude completely?

Claim: RMSNorm(c x) = RMSNorm(x) for every c > 0, so the output knows nothing of R = RMS(x).

Source: introduction and section 2.1.

True for eps = 0 and x != 0. It is one number that is lost: x = R y for gamma = 1, so the strengths of the channels
relative to each other stay. With eps > 0 inside the root the map is one to one in exact arithmetic, since the mean
square rho^2 of the output gives the scale back: S^2 = eps / (1 - rho^2), R = rho S and x = S y.
"""

import sympy as sp

from theory.exact import Point, evaluate, next_square, point
from theory.magnitude_aware import MEAN, R, c
from theory.phasors import N, eps, h, i, index_sum, j, substitute
from theory.statements import Condition, Identity, refute


def derived() -> sp.Expr:
    """RMSNorm(c x)_i with eps = 0; its mean square is c^2 times that of x."""
    return c * h[i] / sp.sqrt(c**2 * MEAN)


def printed() -> sp.Expr:
    """What it is claimed to be: RMSNorm(x)_i."""
    return h[i] / R


def with_eps(k: sp.Expr) -> sp.Expr:
    """RMSNorm(x)_k with eps inside the root."""
    return h[k] / sp.sqrt(MEAN + eps)


def rho_square() -> sp.Expr:
    """The mean square of RMSNorm(x) with eps inside the root."""
    return index_sum(lambda k: with_eps(k) ** 2, N) / N


def rational_root(at: Point) -> Point:
    """The point with an eps > 0 for which mean x^2 + eps is the square of a rational number."""
    mean = evaluate(MEAN, at)
    return at.with_({eps: next_square(mean + 1) - mean})


_AT_ZERO = Identity("RMSNorm at x = 0", "", lambda: (derived(), printed()))
_WITH_EPS = Identity(
    "RMSNorm with eps > 0", "", lambda: (c * h[i] / sp.sqrt(c**2 * MEAN + eps), h[i] / sp.sqrt(MEAN + eps))
)

CONDITIONS = (
    Condition("eps = 0", lambda: refute(_WITH_EPS, point({N: 1, eps: 3, c: sp.Rational(11, 4)}, h=[1]))),
    Condition(
        "x != 0", lambda: refute(_AT_ZERO, point({N: 1, c: 2}, h=[0])), lambda at: any(value != 0 for value in at[h])
    ),
)

STATEMENTS = (
    Identity(
        "as printed",
        "RMSNorm(c x) = RMSNorm(x) for every c > 0",
        lambda: (
            [substitute(MEAN, {h: lambda k: c * h[k]}), derived()],
            [c**2 * MEAN, printed()],
        ),
        CONDITIONS,
        nonzero=(R, MEAN, c),
        scope="every N",
    ),
    Identity(
        "one number is lost",
        "x = R y, and y_i / y_j = x_i / x_j",
        lambda: ([R * printed(), printed() / (h[j] / R)], [h[i], h[i] / h[j]]),
        nonzero=(R, MEAN, h[j]),
        scope="every N",
    ),
    Identity(
        "with eps the magnitude stays in the output",
        "with rho^2 the mean square of y: (1 - rho^2) S^2 = eps, R^2 = rho^2 S^2 and (1 - rho^2) x^2 = eps y^2",
        lambda: (
            [(1 - rho_square()) * (MEAN + eps), rho_square() * (MEAN + eps), (1 - rho_square()) * h[i] ** 2],
            [eps, MEAN, eps * with_eps(i) ** 2],
        ),
        nonzero=(MEAN + eps, sp.sqrt(MEAN + eps)),
        adjust=rational_root,
        scope="every N",
    ),
)

MUTANTS = {
    "scales along": lambda: c * h[i] / R,
    "not normalized": lambda: h[i],
    "sign flipped": lambda: -h[i] / R,
    "L2 normalization": lambda: h[i] / sp.sqrt(N * MEAN),
}
