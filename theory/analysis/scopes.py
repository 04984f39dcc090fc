"""The two ways to compute a formula about a layer: with symbols for every N, and with exact numbers at one point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy as sp

from theory.analysis.interpret import Array, NoValue, interpret
from theory.analysis.layers import Layer
from theory.exact import Irrational, rational_sqrt
from theory.phasors import index_sum

SYMBOLIC = {"sqrt": sp.sqrt, "log": sp.log, "exp": sp.exp, "Abs": sp.Abs, "Min": sp.Min, "Max": sp.Max}


def symbolic_function(name: str, arguments: list[sp.Expr]) -> sp.Expr:
    """A function of symbolic arguments; `NoValue` where SymPy knows that it has no real value."""
    try:
        value = SYMBOLIC[name](*arguments)
    except (ValueError, TypeError) as error:
        raise NoValue(f"{name} has no real value here") from error
    if value.has(sp.zoo, sp.nan, sp.oo, sp.S.NegativeInfinity):
        raise NoValue(f"{name} has no real value here")
    return value


def symbolic_power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """A power of symbolic arguments; `NoValue` where it divides by zero."""
    if base == 0 and exponent.is_negative:
        raise NoValue("division by something that is always zero")
    return base**exponent


@dataclass(frozen=True)
class Symbols:
    """Sums of symbolic length. Statistics such as S stay symbols, unless `expanded`."""

    layer: Layer
    expanded: bool = False
    probe: Any = field(default_factory=lambda: sp.Dummy("k", integer=True))

    def number(self, value: Fraction) -> sp.Expr:
        """A rational number."""
        return sp.Rational(value.numerator, value.denominator)

    def name(self, name: str) -> Any:
        """An input, a statistic or a definition."""
        if name in self.layer.numbers:
            return self.layer.numbers[name]
        if name == "I":
            return Array((sp.Integer(1), sp.Integer(0), sp.Integer(0), sp.Integer(1)))
        if name in self.layer.statistics and not self.expanded:
            return statistic(self.layer, name)
        return interpret(self.layer.definition(name), self, {})

    def entry(self, name: str, index: sp.Expr) -> Any:
        """An entry of a family, of a vector of families, or of a definition."""
        if name in self.layer.vectors:
            return Array(tuple(self.layer.families[part][index] for part in self.layer.vectors[name]))
        if name in self.layer.families:
            return self.layer.families[name][index]
        return interpret(self.layer.definition(f"{name}[k]"), self, {"k": index})

    def function(self, name: str, arguments: list[sp.Expr]) -> sp.Expr:
        """A function, as SymPy has it."""
        return symbolic_function(name, arguments)

    def power(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        """A power, as SymPy has it."""
        return symbolic_power(base, exponent)

    def delta(self, first: sp.Expr, second: sp.Expr) -> sp.Expr:
        """The Kronecker delta."""
        return sp.KroneckerDelta(first, second)

    def total(self, body: Callable[[sp.Expr], sp.Expr]) -> sp.Expr:
        """The sum over all channels or phasors, Kronecker deltas collapsed."""
        return index_sum(body, self.layer.numbers[self.layer.length])


def statistic(layer: Layer, name: str) -> sp.Symbol:
    """The symbol that stands for a statistic: S is positive wherever the layer is defined, var is a mean of squares."""
    assumptions = {"S": {"positive": True}, "var": {"nonnegative": True}}
    return sp.Symbol(name, **assumptions.get(name, {"real": True}))


@dataclass
class Numbers:
    """Exact values at one point: `lists` and `numbers` by the user's names, positions from 1."""

    layer: Layer
    lists: Mapping[str, tuple[Fraction, ...]]
    numbers: Mapping[str, Fraction]
    probe: int = 1

    def __post_init__(self) -> None:
        self._known: dict[tuple[str, int], Any] = {}

    def number(self, value: Fraction) -> Fraction:
        """Itself."""
        return value

    def name(self, name: str) -> Any:
        """An input, a statistic or a definition."""
        if name in self.numbers:
            return self.numbers[name]
        if name == "I":
            return Array((Fraction(1), Fraction(0), Fraction(0), Fraction(1)))
        return self._once(name, 0, {})

    def entry(self, name: str, index: int) -> Any:
        """An entry; the magnitude of a phasor has to be rational."""
        if name in self.lists:
            return self.lists[name][index - 1]
        if name in self.layer.vectors:
            return Array(tuple(self.lists[part][index - 1] for part in self.layer.vectors[name]))
        if name == "r":
            return rational_sqrt(self.lists["x"][index - 1] ** 2 + self.lists["y"][index - 1] ** 2)
        return self._once(f"{name}[k]", index, {"k": index})

    def function(self, name: str, arguments: list[Fraction]) -> Fraction:
        """A function where its value is rational; `Irrational` elsewhere."""
        if name == "sqrt":
            return rational_sqrt(arguments[0])
        if name in ("log", "exp"):
            if arguments[0] == (1 if name == "log" else 0):
                return Fraction(0 if name == "log" else 1)
            raise Irrational(f"{name} of {arguments[0]}")
        return {"Abs": abs, "Min": min, "Max": max}[name](*arguments)

    def power(self, base: Fraction, exponent: Fraction) -> Fraction:
        """A power where its value is rational; `Irrational` elsewhere."""
        if exponent.denominator == 2:
            base, exponent = rational_sqrt(base), exponent * 2
        if exponent.denominator != 1:
            raise Irrational(f"{base} to the power {exponent}")
        return base ** int(exponent)

    def delta(self, first: int, second: int) -> Fraction:
        """The Kronecker delta."""
        return Fraction(int(first == second))

    def total(self, body: Callable[[int], Fraction]) -> Fraction:
        """The sum, term by term."""
        length = int(self.numbers[self.layer.length])
        return sum((body(position) for position in range(1, length + 1)), Fraction(0))

    def _once(self, name: str, index: int, where: Mapping[str, int]) -> Any:
        if (name, index) not in self._known:
            self._known[name, index] = interpret(self.layer.definition(name), self, where)
        return self._known[name, index]
