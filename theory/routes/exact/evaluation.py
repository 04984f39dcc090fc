"""Evaluates a program at one sample: every node once, over all positions of the indices it depends on.

A node that depends on bound indices k < l has a list of lists as its value, one axis for each; what no longer depends
on an index has lost its axis. All arithmetic is exact (`numbers`).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from itertools import repeat, zip_longest
from operator import add, mul

from theory.routes.exact.nodes import Node
from theory.routes.exact.numbers import Field, Unknown, inverse
from theory.routes.exact.samples import Sample

Axes = tuple[object, ...]


class Evaluation:
    """The values of the nodes of a program at a sample."""

    def __init__(self, sample: Sample, field: Field | None = None) -> None:
        self.sample, self.field = sample, field or sample.field
        self.lengths: dict[object, int] = {}
        self.values: dict[Node, object] = {}
        self.axes_of: dict[frozenset, Axes] = {}

    def __call__(self, node: Node) -> object:
        """The value; `Unknown` where there is no exact one, `ZeroDivisionError` where there is none at all."""
        if node not in self.values:
            self.values[node] = self._value(node)
        return self.values[node]

    def axes(self, node: Node) -> Axes:
        """The bound indices that a node depends on, in a fixed order."""
        known = self.axes_of.get(node.indices)
        if known is None:
            bound = [index for index in node.indices if index not in self.sample.positions]
            known = self.axes_of[node.indices] = tuple(sorted(bound, key=lambda index: (index.name, index.dummy_index)))
        return known

    def _value(self, node: Node) -> object:
        kind = node.kind
        if kind in ("add", "mul"):
            return self._folded(node, add if kind == "add" else mul)
        if kind == "number":
            return node.data.numerator if node.data.denominator == 1 else node.data
        if kind == "symbol":
            return self.sample.number(node.data)
        if kind == "entry":
            return self._entry(*node.data)
        if kind == "delta":
            return self._delta(node)
        if kind == "total":
            return self._total(node)
        if kind == "power":
            exponent = self(node.parts[1])
            if not isinstance(exponent, int | Fraction):
                raise Unknown("an exponent that is not rational")
            return self._mapped(lambda base: self.power(base, exponent), node, node.parts[0])
        if kind == "log":
            return self._mapped(self.field.log, node, node.parts[0])
        if kind in ("cos", "sin"):
            pair = self._angle(node.parts[0])
            return self._mapped(lambda turn: turn[kind == "sin"], node, node.parts[0], pair)
        raise Unknown(f"{kind} has no exact value here")

    def power(self, base: object, exponent: Fraction | int) -> object:
        """base^exponent for a rational exponent."""
        if exponent < 0:
            base, exponent = inverse(base), -exponent
        if exponent.denominator == 1:
            return base ** int(exponent)
        return self.field.root(base, exponent.denominator) ** exponent.numerator

    def _folded(self, node: Node, operation: Callable) -> object:
        if not self.axes(node):
            return reduce(operation, map(self, node.parts))
        groups: dict[Axes, object] = {}
        for part in node.parts:
            axes, value = self.axes(part), self(part)
            known = groups.get(axes)
            groups[axes] = value if known is None else spread(operation, axes, (known, axes), (value, axes))
        parts = sorted(groups.items(), key=lambda item: len(item[0]))
        (axes, value), whole = parts[0], self.axes(node)
        for other, more in parts[1:]:
            joint = whole if len(parts) == 2 else tuple(a for a in whole if a in axes or a in other)
            value, axes = spread(operation, joint, (value, axes), (more, other)), joint
        return value

    def _mapped(self, function: Callable, node: Node, part: Node, value: object = None) -> object:
        axes = self.axes(node)
        value = self(part) if value is None else value
        return _each(function, value, len(axes))

    def _length(self, index: object) -> int:
        return self.lengths.get(index, self.sample.length)

    def _entry(self, family: object, index: object) -> object:
        if isinstance(index, int):
            return self.sample.entry(family, index)
        if index in self.sample.positions:
            return self.sample.entry(family, self.sample.positions[index])
        return self.sample.family(family)

    def _delta(self, node: Node) -> object:
        positions = self.sample.positions
        first, second = (index if isinstance(index, int) else positions.get(index) for index in node.data)
        every = range(1, self.sample.length + 1)
        if first is None and second is None:
            return [[int(a == b) for b in every] for a in every]
        if first is None or second is None:
            return [int(a == (first or second)) for a in every]
        return int(first == second)

    def _total(self, node: Node) -> object:
        body, length = node.parts
        index = node.data[0]
        if self(length) != self.sample.length:
            raise Unknown(f"a sum of {self(length)} terms over families of {self.sample.length}")
        axes = self.axes(body)
        return _summed(self(body), axes.index(index), len(axes))

    def _angle(self, node: Node) -> object:
        """(cos, sin) of a linear combination of angles, each given by the tangent of its half."""
        axes = self.axes(node)
        if node.kind == "number" and node.data == 0:
            return (1, 0)
        if node.kind in ("entry", "symbol"):
            return _each(_turn, self(node), len(axes))
        if node.kind == "add":
            turns = [(self._angle(part), self.axes(part)) for part in node.parts]
            return reduce(lambda a, b: (spread(_turned, axes, a, b), axes), turns)[0]
        if node.kind == "mul" and len(node.parts) == 2 and node.parts[0].kind == "number":
            times, angle = node.parts
            if times.data.denominator == 1:
                sense = 1 if times.data > 0 else -1
                unit = _each(lambda turn: (turn[0], sense * turn[1]), self._angle(angle), len(axes))
                several = repeat((unit, axes), abs(times.data.numerator))
                return reduce(lambda a, b: (spread(_turned, axes, a, b), axes), several)[0]
        raise Unknown("the cosine or sine of something else than angles")


def spread(operation: Callable, axes: Axes, first: tuple, second: tuple) -> object:
    """The operation at every position of the axes, for two (value, axes) whose axes are among them, in order."""
    (a, own), (b, other) = first, second
    if not axes:
        return operation(a, b)
    here, rest = axes[0], axes[1:]
    a_list, b_list = own[:1] == (here,), other[:1] == (here,)
    if not rest:
        return list(map(operation, a if a_list else repeat(a), b if b_list else repeat(b)))
    own, other = own[a_list:], other[b_list:]
    pairs = zip(a if a_list else repeat(a), b if b_list else repeat(b), strict=False)
    return [spread(operation, rest, (one, own), (two, other)) for one, two in pairs]


def _each(function: Callable, value: object, depth: int) -> object:
    return function(value) if depth == 0 else [_each(function, entry, depth - 1) for entry in value]


def _summed(value: list, axis: int, depth: int) -> object:
    if axis:
        return [_summed(entry, axis - 1, depth - 1) for entry in value]
    return _sum(value) if depth == 1 else [_summed(list(column), 0, depth - 1) for column in zip(*value, strict=True)]


def _sum(values: list) -> object:
    """The sum; fractions are brought to one denominator in pairs, and reduced once at the end."""
    whole = sum(value for value in values if type(value) is not Fraction)
    pairs = [value.as_integer_ratio() for value in values if type(value) is Fraction]
    while len(pairs) > 1:
        halves = zip_longest(pairs[::2], pairs[1::2], fillvalue=(0, 1))
        pairs = [(a + c, b) if b == d else (a * d + b * c, b * d) for (a, b), (c, d) in halves]
    return whole + Fraction(*pairs[0]) if pairs else whole


def _turn(half: Fraction | int) -> tuple:
    square = half * half
    return Fraction(1 - square, 1 + square), Fraction(2 * half, 1 + square)


def _turned(first: tuple, second: tuple) -> tuple:
    (a, b), (c, d) = first, second
    return a * c - b * d, a * d + b * c
