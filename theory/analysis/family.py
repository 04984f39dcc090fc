"""Normalizers that are functions of one power mean of the magnitudes, and homogeneity in general.

If phi(r) = c r^p + b, then S depends on the input through M_p = (mean r^p)^(1/p) alone: S = F(M_p) at eps = 0 with
F(t) = psi(c t^p + b). If phi(r) = c log r + b, the same holds with the geometric mean, p = 0. Classical facts about
power means (Hardy, Littlewood, Polya: Inequalities, 2.9-2.10) then give sharp bounds:

    max r_i <= n^(1/p) M_p for p > 0, with equality iff a single magnitude is not zero,
    rms(r) <= n^(max(1/p, 1/2) - 1/2) M_p for p > 0, with equality for a single one (p <= 2) or equal ones (p >= 2),
    max r_i / M_p is unbounded for p <= 0 and n >= 2: one r_i grows, the others shrink, and M_p stays the same.

Homogeneity of degree d, S(c h) = c^d S(h) for c > 0, is decided by Euler's identity psi'(m) mean(r phi'(r)) = d psi(m).
For a function of one power mean it says F(t) = C t^d. For any other phi, r phi'(r) is not affine in phi(r), so that
mean(r phi') is no function of m, and S is homogeneous of no degree (n >= 2).
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from theory.analysis.normalizer import Normalizer, r

t = sp.Symbol("t", positive=True)


@dataclass(frozen=True)
class PowerMean:
    """S as a function of the power mean of this order: `form` is F in the symbol t.

    `constant` and `degree` are C and d where F(t) = C t^d, else None.
    """

    order: sp.Expr
    form: sp.Expr
    constant: sp.Expr | None
    degree: sp.Expr | None


def power_mean(normalizer: Normalizer) -> PowerMean | None:
    """The power mean that S (at eps = 0) is a function of; None where phi is recognized as no power or logarithm."""
    found = _shape(normalizer.phi)
    if found is None:
        return None
    order, inner = found
    form = sp.powsimp(normalizer.psi.xreplace({normalizer.m: inner}))
    constant, rest = form.as_independent(t, as_Add=False)
    base, exponent = rest.as_base_exp()
    if base == t and t not in exponent.free_symbols and constant.is_nonzero is not False:
        return PowerMean(order, form, constant, exponent)
    return PowerMean(order, form, None, None)


def is_other(normalizer: Normalizer) -> bool:
    """Whether phi is certainly no c r^p + b and no c log r + b: the degree of phi' varies at rational points."""
    from theory.analysis.floats import evaluate

    if normalizer.parameters:
        return False
    rate = normalizer.dphi
    degree = r * rate.diff(r) / rate
    if degree.has(sp.DiracDelta, sp.Derivative):
        return False
    values = [float(evaluate(degree, {r: point})) for point in (0.5, 0.75, 1.25, 2.0, 3.0)]
    finite = [value for value in values if abs(value) < 1e6]
    return len(finite) > 1 and max(finite) - min(finite) > 1e-6 * max(map(abs, finite))


def _shape(phi: sp.Expr) -> tuple[sp.Expr, sp.Expr] | None:
    """(p, c t^p + b) or (0, c log t + b)."""
    offset, varying = sp.expand(phi).as_independent(r, as_Add=True)
    factor, power = varying.as_independent(r, as_Add=False)
    if power == sp.log(r):
        return sp.Integer(0), factor * sp.log(t) + offset
    base, exponent = sp.powsimp(power).as_base_exp()
    if base == r and r not in exponent.free_symbols:
        return exponent, factor * t**exponent + offset
    return None
