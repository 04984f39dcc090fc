"""Samples: exact inputs of a program, drawn from a set whose size is known.

Every input is a polynomial in integers drawn independently and uniformly from 2^bits of them:

| input | drawn as | degree |
|---|---|---|
| phasor in the plane | (a^2 - b^2, 2 a b), of magnitude a^2 + b^2: (a + b i)^2, which every phasor is | 2 |
| vector of three coordinates | (a^2 + b^2 - c^2 - d^2, 2 (a d + b c), 2 (b d - a c)), of magnitude a^2 + .. + d^2 | 2 |
| number, entry of a scalar family | itself, positive where it is declared so | 1 |
| angle | the tangent t of its half: cos = (1 - t^2) / (1 + t^2), sin = 2 t / (1 + t^2) | 1 in t |

This is the rational parametrization of the circle with its denominator cleared. Where powers with a symbolic exponent
occur, a vector v becomes v |v|, so that its magnitude is a square and half-integer powers of it are rational; exponents
come from `EXPONENTS`, and P and every other length is the sample's.

The shapes beside "generic" are for small points: "one-hot" (one vector, the same in all families, carries everything),
"equal" (all vectors are that one), "axis" (all lie on one axis), "fine" (an eighth of generic). "inside" is generic,
divided by a number that makes every mean smaller than 1.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import sympy as sp
from sympy.tensor.indexed import IndexedBase

from theory.exact import Point
from theory.phasors import MAGNITUDES, SCALARS, VectorFamily, eps
from theory.routes.exact.numbers import Field, Unknown

EXPONENTS = (Fraction(2), Fraction(1, 2), Fraction(3, 2), Fraction(3))
SHAPES = ("generic", "fine", "one-hot", "equal", "axis", "inside")
SHORT = 2  # lengths at which all of them are tried; beyond, the first two


@dataclass
class Sample:
    """Values by symbol and by family (a list of `length` entries), and a position, from 1, for each free index."""

    length: int
    numbers: dict[sp.Symbol, Fraction | int]
    families: dict[IndexedBase, list]
    positions: Mapping[sp.Symbol, int]
    field: Field = field(default_factory=Field)

    def number(self, symbol: sp.Symbol) -> Fraction | int:
        """The value of a plain symbol."""
        if symbol not in self.numbers:
            raise Unknown(f"{symbol} has no value")
        return self.numbers[symbol]

    def family(self, base: IndexedBase) -> list:
        """All entries; magnitudes that are not given are the roots of the sums of the squares."""
        if base not in self.families:
            vectors = MAGNITUDES.get(base)
            if vectors is None:
                raise Unknown(f"{base} has no values")
            rows = zip(*(self.family(component) for component in vectors.components), strict=True)
            self.families[base] = [self.field.root(sum(entry * entry for entry in row), 2) for row in rows]
        return self.families[base]

    def entry(self, base: IndexedBase, position: int) -> object:
        """One entry; positions count from 1."""
        entries = self.family(base)
        if not 1 <= position <= len(entries):
            raise IndexError(f"{base} has no entry {position}")
        return entries[position - 1]

    def point(self) -> Point:
        """The same inputs as a `Point`, for the conditions and adjustments of statements."""
        lists = {base: tuple(map(Fraction, v)) for base, v in self.families.items() if base not in MAGNITUDES}
        return Point(lists, {s: Fraction(v) for s, v in self.numbers.items()}, dict(self.positions))


def sample_of(at: Point, lengths: set[sp.Symbol]) -> Sample:
    """A point as a sample; integers stay integers."""
    families = {base: [_plain(value) for value in values] for base, values in at.lists.items()}
    numbers = {symbol: _plain(value) for symbol, value in at.numbers.items()}
    counts = {len(values) for values in families.values()} or {int(numbers[s]) for s in lengths if s in numbers}
    length = counts.pop() if len(counts) == 1 else 0
    return Sample(length, numbers, families, dict(at.positions))


def _plain(value: Fraction) -> Fraction | int:
    return value.numerator if value.denominator == 1 else value


@dataclass(frozen=True)
class Inputs:
    """What a program reads: its plain symbols and families, which are lengths, exponents and angles."""

    symbols: frozenset[sp.Symbol]
    families: frozenset[IndexedBase]
    lengths: frozenset[sp.Symbol]
    exponents: frozenset[sp.Symbol]
    least: int = 1  # the largest position that is written as a number

    @cached_property
    def _in_order(self) -> tuple[list[sp.Symbol], list[IndexedBase]]:
        """Symbols and families by name, so that what is drawn for one does not depend on the process."""
        return sorted(self.symbols, key=str), sorted(self.families, key=str)

    def wide(self) -> Inputs:
        """The same with every family there is, for conditions that look at others."""
        return replace(self, symbols=self.symbols | {eps}, families=self.families | {*MAGNITUDES, *SCALARS})

    def draw(
        self, rng: random.Random, length: int, bits: int, positions: Mapping, exponent: Fraction, shape: str = "generic"
    ) -> Sample:
        """A sample of one of the `SHAPES`; `exponent` is the value of every symbol that occurs in an exponent."""
        scale = {"inside": Fraction(1, length << 2 * bits + 2), "fine": Fraction(1, 8)}.get(shape, 1)
        numbers: dict[sp.Symbol, Fraction | int] = {}
        symbols, families = self._in_order
        for symbol in symbols:
            if symbol in self.lengths:
                numbers[symbol] = length
            elif symbol in self.exponents:
                numbers[symbol] = exponent if not symbol.is_integer else -(-exponent.numerator // exponent.denominator)
            else:
                numbers[symbol] = _draw(rng, bits, bool(symbol.is_nonnegative)) * (1 if symbol.is_integer else scale)
        lists: dict[IndexedBase, list] = {}
        common: dict[int, tuple[int, ...]] = {}
        for base in families:
            vectors = vectors_of(base)
            if vectors is None:
                lists[base] = [_draw(rng, bits, bool(base.label.is_nonnegative)) for _ in range(length)]
            elif vectors.r not in lists:
                dimension = len(vectors.components)
                one = common.setdefault(dimension, _vector(dimension, rng, bits))
                rows = [_shaped(shape, n, one, _vector(dimension, rng, bits)) for n in range(length)]
                if self.exponents:
                    rows = [(*(entry * row[-1] for entry in row[:-1]), row[-1] ** 2) for row in rows]
                columns = map(list, zip(*rows, strict=True))
                if scale != 1:
                    columns = ([entry * scale for entry in column] for column in columns)
                lists |= dict(zip((*vectors.components, vectors.r), columns, strict=True))
        return Sample(length, numbers, lists, dict(positions))

    def exponents_at(self, length: int) -> tuple[Fraction, ...]:
        """The values to try for the symbols that occur in exponents; one, without a meaning, where there are none."""
        return EXPONENTS[: (len(EXPONENTS) if length <= SHORT else 2) if self.exponents else 1]

    def weight(self, base: IndexedBase) -> int:
        """The degree of an entry of a family in what is drawn."""
        vectors = vectors_of(base)
        if vectors is None:
            return 1
        return (1 if len(vectors.components) == 1 else 2) * (2 if self.exponents else 1)


def vectors_of(base: IndexedBase) -> VectorFamily | None:
    """The vectors of which a family is the magnitude, or a component."""
    if len(_VECTORS) < len(MAGNITUDES):  # families are declared where they are first used
        _VECTORS.update({r: dict.fromkeys((r, *vectors.components), vectors) for r, vectors in MAGNITUDES.items()})
    return next((members[base] for members in _VECTORS.values() if base in members), None)


_VECTORS: dict[IndexedBase, dict[IndexedBase, VectorFamily]] = {}


def _draw(rng: random.Random, bits: int, positive: bool) -> int:
    value = rng.getrandbits(bits)
    if positive:
        return value + 1
    value -= 1 << (bits - 1)
    return value if value < 0 else value + 1


def _shaped(shape: str, number: int, common: tuple[int, ...], own: tuple[int, ...]) -> tuple[int, ...]:
    if shape == "one-hot":
        return common if number == 0 else (0,) * len(common)
    if shape == "equal":
        return common
    return (own[-1], *(0 for _ in own[2:]), own[-1]) if shape == "axis" else own


def _vector(dimension: int, rng: random.Random, bits: int) -> tuple[int, ...]:
    """A vector followed by its magnitude."""
    if dimension == 1:
        a = _draw(rng, bits, False)
        return a, abs(a)
    a, b = _draw(rng, bits, False), _draw(rng, bits, False)
    if dimension == 2:
        return a * a - b * b, 2 * a * b, a * a + b * b
    c, d = _draw(rng, bits, False), _draw(rng, bits, False)
    if dimension == 3:
        return a * a + b * b - c * c - d * d, 2 * (a * d + b * c), 2 * (b * d - a * c), a * a + b * b + c * c + d * d
    raise Unknown(f"vectors of {dimension} coordinates")
