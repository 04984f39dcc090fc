"""What a formula means: the same tree, computed with SymPy expressions or with exact numbers.

A `Scope` says what numbers, names, entries, functions and sums are; scalars are whatever the scope makes of them.
Vectors and 2 x 2 matrices are `Array`s of scalars. Only what makes sense is defined: sums of equal shapes, products and
quotients with scalars, `dot` and `outer` of vectors. Anything else is an `ExpressionError` at its position.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from theory.syntax import Add, Call, Entry, ExpressionError, Mul, Name, Node, Number, Power, Total


@dataclass(frozen=True)
class Array:
    """A vector (2 entries) or a 2 x 2 matrix (4 entries, row by row) of scalars."""

    entries: tuple[Any, ...]

    @property
    def shape(self) -> str:
        """The shape in words."""
        return _SHAPES[len(self.entries)]

    def map(self, function: Callable[[Any], Any]) -> Array:
        """The array with a function applied to every entry."""
        return Array(tuple(function(entry) for entry in self.entries))


_SHAPES = {2: "a vector", 4: "a matrix"}
Value = Any


class NoValue(ArithmeticError):
    """A part that has no real value whatever the inputs are; the message says why."""


class Scope(Protocol):
    """What the parts of a formula are computed as; `probe` is some index, to find the shape of a sum's body."""

    probe: Any

    def number(self, value: Fraction) -> Value:
        """An exact number."""

    def name(self, name: str) -> Value:
        """A name without an index."""

    def entry(self, name: str, index: Any) -> Value:
        """An indexed name at an index."""

    def function(self, name: str, arguments: list[Value]) -> Value:
        """A function of scalars."""

    def power(self, base: Value, exponent: Value) -> Value:
        """A power of a scalar."""

    def delta(self, first: Any, second: Any) -> Value:
        """1 where two indices are equal, otherwise 0."""

    def total(self, body: Callable[[Any], Value]) -> Value:
        """The sum of a scalar body over the index."""


def interpret(node: Node, scope: Scope, where: Mapping[str, Any]) -> Value:
    """The value of a formula; `where` gives the value of each free index.

    Raises:
        ExpressionError: shapes do not fit.
    """
    if isinstance(node, Number):
        return scope.number(node.value)
    if isinstance(node, Name):
        return scope.name(node.name)
    if isinstance(node, Entry):
        return scope.entry(node.name, where[node.index])
    if isinstance(node, Add):
        result = None
        for negative, term in node.terms:
            value = interpret(term, scope, where)
            value = _times(value, scope.number(Fraction(-1))) if negative else value
            result = value if result is None else _plus(result, value, term)
        return result
    if isinstance(node, Mul):
        result = None
        for inverse, factor in node.factors:
            value = interpret(factor, scope, where)
            if inverse:
                if isinstance(value, Array):
                    raise ExpressionError(f"division by {value.shape}", factor.at)
                value = _power(scope, value, scope.number(Fraction(-1)), factor)
            result = value if result is None else _product(result, value, factor)
        return result
    if isinstance(node, Power):
        known = constant(node.exponent)
        base = interpret(node.base, scope, where)
        exponent = interpret(node.exponent, scope, where) if known is None else scope.number(known)
        for part, value in ((node.base, base), (node.exponent, exponent)):
            if isinstance(value, Array):
                raise ExpressionError(f"a power of {value.shape}; its square is dot(v, v)", part.at)
        return _power(scope, base, exponent, node.base)
    if isinstance(node, Total):
        return _total(node, scope, where)
    if isinstance(node, Call):
        return _call(node, scope, where)
    raise TypeError(f"not a node: {node!r}")


def constant(node: Node) -> Fraction | None:
    """The exact value of a formula of numbers alone, None for any other."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Power):
        base, exponent = constant(node.base), constant(node.exponent)
        whole = base is not None and exponent is not None and exponent.denominator == 1
        return base ** int(exponent) if whole else None
    parts = node.terms if isinstance(node, Add) else node.factors if isinstance(node, Mul) else ()
    values = [(flag, constant(part)) for flag, part in parts]
    if not values or any(value is None for _, value in values):
        return None
    if isinstance(node, Add):
        return sum((-value if flag else value for flag, value in values), Fraction(0))
    result = Fraction(1)
    for inverse, value in values:
        result = result / value if inverse else result * value
    return result


def _call(node: Call, scope: Scope, where: Mapping[str, Any]) -> Value:
    if node.function == "delta":
        return scope.delta(*(where[index] for index in node.arguments))
    values = [interpret(argument, scope, where) for argument in node.arguments]
    if node.function in ("dot", "outer"):
        for argument, value in zip(node.arguments, values, strict=True):
            if not isinstance(value, Array) or len(value.entries) != 2:
                given = value.shape if isinstance(value, Array) else "a number"
                raise ExpressionError(f"{node.function} takes two vectors; this is {given}", argument.at)
        first, second = (value.entries for value in values)
        if node.function == "dot":
            return first[0] * second[0] + first[1] * second[1]
        return Array(tuple(a * b for a in first for b in second))
    for argument, value in zip(node.arguments, values, strict=True):
        if isinstance(value, Array):
            raise ExpressionError(f"{node.function} takes a number; this is {value.shape}", argument.at)
    try:
        return scope.function(node.function, values)
    except NoValue as error:
        raise ExpressionError(str(error), node.at) from None


def _total(node: Total, scope: Scope, where: Mapping[str, Any]) -> Value:
    def body(index: Any) -> Value:
        return interpret(node.body, scope, {**where, node.index: index})

    def part(number: int) -> Callable[[Any], Value]:
        return lambda index: body(index).entries[number]

    probe = body(scope.probe)
    if not isinstance(probe, Array):
        return scope.total(body)
    return Array(tuple(scope.total(part(number)) for number in range(len(probe.entries))))


def _power(scope: Scope, base: Value, exponent: Value, node: Node) -> Value:
    try:
        return scope.power(base, exponent)
    except NoValue as error:
        raise ExpressionError(str(error), node.at) from None


def _plus(first: Value, second: Value, node: Node) -> Value:
    sizes = [len(value.entries) if isinstance(value, Array) else 1 for value in (first, second)]
    if sizes[0] != sizes[1]:
        shapes = [value.shape if isinstance(value, Array) else "a number" for value in (first, second)]
        raise ExpressionError(f"{shapes[1]} added to {shapes[0]}", node.at)
    if isinstance(first, Array):
        return Array(tuple(a + b for a, b in zip(first.entries, second.entries, strict=True)))
    return first + second


def _times(first: Value, scalar: Value) -> Value:
    return first.map(lambda entry: entry * scalar) if isinstance(first, Array) else first * scalar


def _product(first: Value, second: Value, node: Node) -> Value:
    if isinstance(first, Array) and isinstance(second, Array):
        raise ExpressionError(f"{first.shape} times {second.shape}; write dot(a, b) or outer(a, b)", node.at)
    return _times(first, second) if isinstance(first, Array) else _times(second, first)
