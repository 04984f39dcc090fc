"""Fractions of polynomials over the rationals, with the denominator kept as a product of factors.

Nothing is cancelled: whether a fraction vanishes depends on its numerator alone, and greatest common divisors of
polynomials in many variables are the slow part of a general simplifier.
"""

from __future__ import annotations

import sympy as sp
from sympy.polys.rings import PolyElement, PolyRing


class NotMoments(ValueError):
    """The expression is not a rational function of moments and the functions that the procedure knows."""


class Ratio:
    """numerator / product of factor^exponent."""

    def __init__(self, numerator: PolyElement, factors: dict[PolyElement, int] | None = None) -> None:
        self.numerator = numerator
        self.factors = factors or {}

    def __add__(self, other: Ratio) -> Ratio:
        common = {f: max(self.factors.get(f, 0), other.factors.get(f, 0)) for f in self.factors | other.factors}
        return Ratio(self._over(common) + other._over(common), common)

    def __mul__(self, other: Ratio) -> Ratio:
        factors = dict(self.factors)
        for factor, exponent in other.factors.items():
            factors[factor] = factors.get(factor, 0) + exponent
        return Ratio(self.numerator * other.numerator, factors)

    def __pow__(self, exponent: int) -> Ratio:
        if exponent >= 0:
            return Ratio(self.numerator**exponent, {f: e * exponent for f, e in self.factors.items()})
        if self.numerator == 0:
            raise ZeroDivisionError("division by an expression that vanishes identically")
        return Ratio(self.denominator() ** -exponent, {self.numerator: -exponent})

    def denominator(self) -> PolyElement:
        """The product of the factors."""
        product = self.numerator.ring.one
        for factor, exponent in self.factors.items():
            product *= factor**exponent
        return product

    def _over(self, common: dict[PolyElement, int]) -> PolyElement:
        numerator = self.numerator
        for factor, exponent in common.items():
            missing = exponent - self.factors.get(factor, 0)
            if missing:
                numerator = numerator * factor**missing
        return numerator


def ring_over(symbols: set[sp.Symbol]) -> PolyRing:
    """The ring of polynomials in these symbols, in an order that does not depend on the run."""
    return PolyRing(sorted(symbols, key=str) or [sp.Dummy("one")], sp.QQ)


def to_ratio(node: sp.Expr, ring: PolyRing) -> Ratio:
    """A rational expression in the symbols of the ring, as a fraction; anything else raises `NotMoments`."""
    names = dict(zip(ring.symbols, ring.gens, strict=True))

    def convert(node: sp.Expr) -> Ratio:
        if node.is_Rational:
            return Ratio(ring(sp.QQ(node.p, node.q)))
        if node in names:
            return Ratio(names[node])
        if isinstance(node, sp.Add | sp.Mul):
            result, *rest = [convert(argument) for argument in node.args]
            for part in rest:
                result = result + part if isinstance(node, sp.Add) else result * part
            return result
        if isinstance(node, sp.Pow) and node.exp.is_Integer:
            return convert(node.base) ** int(node.exp)
        if node in (sp.zoo, sp.nan):
            raise ZeroDivisionError("division by an expression that vanishes identically")
        raise NotMoments(f"{node} is not a rational function of moments")

    return convert(node)
