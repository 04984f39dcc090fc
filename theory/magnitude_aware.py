"""MA-RMSNorm over N = D channels, as expressions: y_k = s gamma_k x_k / R + alpha W_k log R, R = RMS(x).

The article prints no eps, so R has none; the channels are `h`, as elsewhere in this package. Since x = R xhat with
sum xhat^2 = N, the pair (xhat, log R) describes x != 0 as well, one to one. In these coordinates the layer is linear in
log R and rational: `polar` has a family xhat and a number log_R of their own, so that points can be given exactly.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from theory.exact import Point
from theory.phasors import N, gamma, h, index_sum, scalar_family

s, alpha, log_R = sp.symbols("s alpha log_R", real=True)
c = sp.Symbol("c", positive=True)  # a common factor of all channels
W, xhat = scalar_family("W"), scalar_family("xhat")

MEAN = index_sum(lambda k: h[k] ** 2 / N, N)  # 1/N inside, or the root would be split into two irrational ones
R = sp.sqrt(MEAN)


def direction(k: sp.Expr) -> sp.Expr:
    """xhat_k = x_k / R."""
    return h[k] / R


def output(k: sp.Expr) -> sp.Expr:
    """y_k as a function of x."""
    return s * gamma[k] * direction(k) + alpha * W[k] * sp.log(R)


def polar(k: sp.Expr, level: sp.Expr = log_R) -> sp.Expr:
    """y_k as a function of xhat and log R."""
    return s * gamma[k] * xhat[k] + alpha * W[k] * level


def slant(k: sp.Expr) -> sp.Expr:
    """v_k = alpha W_k / gamma_k, the direction in which log R moves y_k / gamma_k."""
    return alpha * W[k] / gamma[k]


def alignment(unit: Callable[[sp.Expr], sp.Expr] = direction) -> sp.Expr:
    """<xhat, v>, which is alpha <G^-1 W, x> / R with G = diag(gamma)."""
    return index_sum(lambda k: unit(k) * slant(k), N)


def rational_scale(at: Point) -> Point:
    """The point with another x whose R is rational: (1, ..., 1) reflected in the old x, times |x_1|."""
    x = at[h]
    turn = 2 * sum(x) / sum(entry**2 for entry in x)
    return at.with_({h: tuple(abs(x[0]) * (1 - turn * entry) for entry in x)})
