"""Exact evaluation at rational points: no rounding, no simplification, sums written out term by term.

Phasors get rational magnitudes from the rational parametrization of the circle,

    x = r (1 - t^2) / (1 + t^2),   y = 2 r t / (1 + t^2),

so every quantity of the project (magnitudes, S, gradients, scores) is a `Fraction`. Derivatives come from dual
numbers a + b e, e^2 = 0, whose square root is sqrt(a) + b e / (2 sqrt(a)). Nothing here shares code with the
decision procedure of `theory.moments`: it is the second opinion on each of its answers.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt

import sympy as sp
from sympy.tensor.indexed import Indexed, IndexedBase

from theory.phasors import MAGNITUDES, SCALARS, IndexSum, N, P, VectorFamily, eps, i, j


class Irrational(ValueError):
    """The value at this point is not rational (the square root of a number that is not a square)."""


@dataclass(frozen=True)
class Dual:
    """value + slope e with e^2 = 0, both rational."""

    value: Fraction
    slope: Fraction = Fraction(0)

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    def __pow__(self, exponent: int) -> Dual:
        slope = exponent * self.value ** (exponent - 1) * self.slope if self.slope else Fraction(0)
        return Dual(self.value**exponent, slope)

    def sqrt(self) -> Dual:
        """The square root, where it is rational; a slope at 0 raises `ZeroDivisionError`."""
        root = rational_sqrt(self.value)
        return Dual(root, self.slope / (2 * root) if self.slope else Fraction(0))


def rational_sqrt(value: Fraction) -> Fraction:
    """The square root of a rational number, or `Irrational`."""
    if value < 0:
        raise Irrational(f"the square root of {value}")
    top, bottom = isqrt(value.numerator), isqrt(value.denominator)
    if top * top != value.numerator or bottom * bottom != value.denominator:
        raise Irrational(f"the square root of {value}")
    return Fraction(top, bottom)


def next_square(value: Fraction, denominator: int = 16) -> Fraction:
    """The smallest square of a multiple of 1/denominator that is not below `value`."""
    step = isqrt(int(value * denominator**2))
    while Fraction(step, denominator) ** 2 < value:
        step += 1
    return Fraction(step, denominator) ** 2


@dataclass(frozen=True)
class Point:
    """Exact inputs: a number for each plain symbol, a list for each indexed one, a position for each free index.

    Magnitudes are computed from the coordinates, never given; an angle is given by the tangent of its half. Positions
    count from 1.
    """

    lists: Mapping[IndexedBase, tuple[Fraction, ...]] = field(default_factory=dict)
    numbers: Mapping[sp.Symbol, Fraction] = field(default_factory=dict)
    positions: Mapping[sp.Symbol, int] = field(default_factory=lambda: {i: 1, j: 2})

    def __getitem__(self, name: IndexedBase | sp.Symbol | Indexed) -> Fraction | tuple[Fraction, ...]:
        if isinstance(name, Indexed):
            return evaluate(name, self)
        return self.lists[name] if isinstance(name, IndexedBase) else self.numbers[name]

    def entry(self, name: IndexedBase, position: int) -> Fraction:
        """One entry of a family, magnitudes included; positions count from 1."""
        return _entry(name, position, self, None).value

    def with_(self, changes: Mapping) -> Point:
        """The same point with some numbers or lists replaced."""
        lists = {**self.lists, **{n: v for n, v in changes.items() if isinstance(n, IndexedBase)}}
        numbers = {**self.numbers, **{n: v for n, v in changes.items() if not isinstance(n, IndexedBase)}}
        return Point(lists, numbers, self.positions)

    def outside(self) -> str:
        """What keeps the point out of the domain of its symbols, or nothing."""
        for symbol, value in self.numbers.items():
            wrong = (
                (symbol.is_nonnegative and value < 0)
                or (symbol.is_positive and value <= 0)
                or (symbol.is_integer and value.denominator != 1)
            )
            if wrong:
                return f"{symbol} = {value}"
        given = [str(base) for base in self.lists if base in MAGNITUDES]
        return f"{given[0]} is given and not computed" if given else ""

    def data(self, expressions: Iterable[sp.Expr]) -> dict[str, object]:
        """The inputs that the expressions use, by name, in a fixed order."""
        expressions = list(expressions)
        symbols = set().union(*(expr.free_symbols for expr in expressions))
        symbols |= set() if N in symbols else {P}
        bases = {node.base for expr in expressions for node in expr.atoms(Indexed)}
        bases |= {component for base in bases & set(MAGNITUDES) for component in MAGNITUDES[base].components}
        named: dict[str, object] = {str(s): value for s, value in self.numbers.items() if s in symbols}
        named |= {str(base): list(values) for base, values in self.lists.items() if base in bases}
        return named | {str(s): position for s, position in self.positions.items() if s in symbols}


def point(numbers: Mapping | None = None, positions: Mapping | None = None, **families: object) -> Point:
    """A point from readable pieces: `point({eps: 0}, z=[(3, 4), (21, 28)], gamma=[1, 1])`.

    Keyword names are families declared in `theory.phasors`; vectors are given as tuples. P is the length of the
    lists unless `numbers` says otherwise.
    """
    from theory import phasors

    lists: dict[IndexedBase, tuple[Fraction, ...]] = {}
    for name, values in families.items():
        declared = getattr(phasors, name)
        if isinstance(declared, VectorFamily):
            for axis, base in enumerate(declared.components):
                lists[base] = tuple(Fraction(value[axis]) for value in values)
        else:
            lists[declared] = tuple(Fraction(value) for value in values)
    length = len(next(iter(lists.values()))) if lists else 1
    given = {symbol: Fraction(value) for symbol, value in {P: length, **(numbers or {})}.items()}
    return Point(lists, given, positions or {i: 1, j: 2})


def evaluate(expr: sp.Expr, at: Point, slope: Indexed | None = None) -> Fraction:
    """The exact value of `expr`; with `slope=x[i]` the exact derivative in that coordinate instead.

    Raises `ZeroDivisionError` where the expression is undefined and `Irrational` where its value is not rational.
    """
    target = (slope.base, at.positions[slope.indices[0]]) if slope is not None else None
    result = _dual(expr, at, {}, target)
    return result.value if slope is None else result.slope


def _dual(node: sp.Expr, at: Point, where: dict, target: tuple | None) -> Dual:
    if node.is_Rational:
        return Dual(Fraction(node.p, node.q))
    if isinstance(node, Indexed):
        return _entry(node.base, _position(node.indices[0], at, where), at, target)
    if isinstance(node, IndexSum):
        count = _dual(node.length, at, where, None).value
        terms = (_dual(node.body, at, {**where, node.index: n}, target) for n in range(1, int(count) + 1))
        return sum(terms, Dual(Fraction(0)))
    if isinstance(node, sp.Symbol):
        return Dual(at.numbers[node])
    if isinstance(node, sp.Add):
        return sum((_dual(argument, at, where, target) for argument in node.args), Dual(Fraction(0)))
    if isinstance(node, sp.Mul):
        result = Dual(Fraction(1))
        for argument in node.args:
            result = result * _dual(argument, at, where, target)
        return result
    if isinstance(node, sp.Pow):
        return _power(_dual(node.base, at, where, target), _dual(node.exp, at, where, None).value)
    if isinstance(node, sp.log) and _dual(node.args[0], at, where, target) == Dual(Fraction(1)):
        return Dual(Fraction(0))
    if isinstance(node, sp.cos | sp.sin):
        return _angle(node, at, where, target)
    if isinstance(node, sp.KroneckerDelta):
        first, second = (_position(argument, at, where) for argument in node.args[:2])
        return Dual(Fraction(int(first == second)))
    raise Irrational(f"{node.func.__name__} has no exact value here")


def _position(index: sp.Expr, at: Point, where: dict) -> int:
    """Which phasor an index is: a bound one, a number, or a free one with a position in the point."""
    if index in where:
        return where[index]
    return int(index) if index.is_Integer else at.positions[index]


def _power(base: Dual, exponent: Fraction) -> Dual:
    if exponent.denominator == 1:
        return base ** int(exponent)
    if exponent.denominator == 2:
        return base.sqrt() ** exponent.numerator
    raise Irrational(f"{base.value} to the power {exponent}")


def _angle(node: sp.Expr, at: Point, where: dict, target: tuple | None) -> Dual:
    """cos or sin of an angle given by t = tan(angle / 2): rational for every rational t."""
    expanded = sp.expand_trig(node)
    if expanded != node:
        return _dual(expanded, at, where, target)
    t = _dual(node.args[0], at, where, None).value
    return Dual((1 - t * t) / (1 + t * t) if isinstance(node, sp.cos) else 2 * t / (1 + t * t))


def _entry(base: IndexedBase, position: int, at: Point, target: tuple | None) -> Dual:
    family = MAGNITUDES.get(base)
    if family is None or base in at.lists:
        return Dual(at.lists[base][position - 1], Fraction(int((base, position) == target)))
    squares = [_entry(component, position, at, target) ** 2 for component in family.components]
    return sum(squares, Dual(Fraction(0))).sqrt()


def random_point(symbols: Iterable[sp.Symbol], length: int, rng: random.Random, structure: str = "generic") -> Point:
    """A random rational point with `length` entries in every declared family, every magnitude rational.

    `symbols` are the plain symbols to draw beside P and eps. `structure` is "generic", "one-hot" (one phasor of each
    family carries everything), "equal" (all phasors of all families are the same vector) or "axis" (all of them lie
    on one axis, so that nothing is lost to angles). What a family gets does not depend on which others are declared.
    """
    lists: dict[IndexedBase, tuple[Fraction, ...]] = {}
    seed = rng.getrandbits(32)
    for family in MAGNITUDES.values():
        dimension = len(family.components)
        rng, common = random.Random(f"{seed} {family.r}"), random.Random(f"{seed} {dimension}")
        zero = (Fraction(0),) * dimension
        if structure == "equal":
            vectors = [_vector(common, dimension)] * length
        elif structure == "one-hot":
            vectors = [_vector(common, dimension)] + [zero] * (length - 1)
        elif structure == "axis":
            vectors = [(_signed(rng), *zero[1:]) for _ in range(length)]
        else:
            vectors = [_vector(rng, dimension) for _ in range(length)]
        for axis, base in enumerate(family.components):
            lists[base] = tuple(vector[axis] for vector in vectors)
    for base in SCALARS:
        rng = random.Random(f"{seed} {base}")
        values = (_signed(rng) for _ in range(length))
        lists[base] = tuple(abs(value) if base[i].is_nonnegative else value for value in values)
    numbers = {s: _scalar(s, length, random.Random(f"{seed} {s}")) for s in {eps, P, *symbols}}
    numbers = dict(sorted(numbers.items(), key=lambda item: str(item[0])))
    return Point(lists, numbers, {i: 1, j: 2})


def _vector(rng: random.Random, dimension: int) -> tuple[Fraction, ...]:
    """A vector of rational magnitude: each further coordinate splits the last one by a rational angle."""
    coordinates = [Fraction(rng.randint(1, 9), rng.randint(1, 4)) * rng.choice((1, 1 if dimension > 1 else -1))]
    while len(coordinates) < dimension:
        r, t = coordinates.pop(), Fraction(rng.randint(-7, 7), rng.randint(1, 5))
        coordinates += [r * (1 - t * t) / (1 + t * t), 2 * r * t / (1 + t * t)]
    return tuple(coordinates)


def _signed(rng: random.Random) -> Fraction:
    return Fraction(rng.choice([n for n in range(-9, 10) if n]), rng.randint(1, 5))


def _scalar(symbol: sp.Symbol, length: int, rng: random.Random) -> Fraction:
    if symbol.is_integer:
        return Fraction(length)
    return abs(_signed(rng)) if symbol.is_nonnegative else _signed(rng)
