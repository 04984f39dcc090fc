"""Eq. 4: the input gradient of RMSNorm, the paper's point of comparison.

Claim, for every N >= 1: dL/dx_i = (1/S) (gamma_i d_i - xhat_i (1/N) sum_k gamma_k d_k xhat_k), with d_k = dL/do_k,
xhat_k = x_k / S and S = S_RMS.

Source: section 5.1, Eq. 4.

The paper does not define S_RMS. The formula is exact for sqrt(mean x^2 + eps), and for xhat as it is before the affine
weight. With eps outside, S = R + eps, R = sqrt(mean x^2), the true gradient has x_i / R in place of xhat_i = x_i / S in
front of the sum.
"""

import sympy as sp

from theory.exact import Point, evaluate, next_square, point
from theory.norms import root_mean_square
from theory.phasors import N, derivative, e, eps, gamma, h, i, index_sum
from theory.statements import Condition, Identity, refute

S = root_mean_square(h)
R = root_mean_square(h, sp.Integer(0))


def _loss(scale: sp.Expr) -> sp.Expr:
    return index_sum(lambda k: e[k] * gamma[k] * h[k], N) / scale


def _form(scale: sp.Expr, direction: sp.Expr, weight: int = 1) -> sp.Expr:
    projection = index_sum(lambda k: gamma[k] ** weight * e[k] * h[k] / scale, N) / N
    return (gamma[i] * e[i] - direction * projection) / scale


def derived() -> sp.Expr:
    """dL/dx_i by differentiation."""
    return derivative(_loss(S), h[i])


def printed() -> sp.Expr:
    """Eq. 4."""
    return _form(S, h[i] / S)


def with_eps_outside() -> sp.Expr:
    """dL/dx_i for S = R + eps, by differentiation."""
    return derivative(_loss(R + eps), h[i])


def rational_root(at: Point) -> Point:
    """The point with eps moved so that mean(x^2) + eps is the square of a rational number."""
    mean_square = evaluate(index_sum(lambda k: h[k] ** 2, N) / N, at)
    return at.with_({eps: next_square(mean_square) - mean_square})


_OUTSIDE = Identity(
    "Eq. 4 with eps outside the root", "", lambda: (with_eps_outside(), _form(R + eps, h[i] / (R + eps)))
)
_POST_AFFINE = Identity("Eq. 4 with post-affine xhat", "", lambda: (derived(), _form(S, h[i] / S, weight=2)))

CONDITIONS = (
    Condition(
        "eps = 0, or S_RMS has it under the root",
        lambda: refute(_OUTSIDE, point({N: 1, eps: 1}, h=[1], e=[1], gamma=[1])),
    ),
    Condition(
        "xhat_k is taken before the affine weight",
        lambda: refute(_POST_AFFINE, point({N: 1, eps: 0}, h=[1], e=[1], gamma=[2])),
    ),
)

STATEMENTS = (
    Identity(
        "as printed",
        "dL/dx_i = (gamma_i d_i - xhat_i (1/N) sum gamma_k d_k xhat_k) / S",
        lambda: (derived(), printed()),
        CONDITIONS,
        nonzero=(S,),
        adjust=rational_root,
        scope="every N",
    ),
    Identity(
        "with eps outside the root",
        "S = R + eps: dL/dx_i = (gamma_i d_i - (x_i / R) (1/N) sum gamma_k d_k xhat_k) / S",
        lambda: (with_eps_outside(), _form(R + eps, h[i] / R)),
        nonzero=(R, R + eps),
        scope="every N",
    ),
)

MUTANTS = {
    "without 1/N": lambda: (
        (gamma[i] * e[i] - N * h[i] / S * index_sum(lambda k: gamma[k] * e[k] * h[k] / S, N) / N) / S
    ),
    "sign flipped": lambda: _form(S, -h[i] / S),
    "gamma counted twice": lambda: _form(S, h[i] / S, weight=2),
    "gamma forgotten in the sum": lambda: _form(S, h[i] / S, weight=0),
    "1/P for 1/N": lambda: _form(S, 2 * h[i] / S),
    "S held constant": lambda: gamma[i] * e[i] / S,
}
