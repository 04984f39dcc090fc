"""Rigorous enclosures of irrational values at rational points, in rational arithmetic.

An `Interval` contains the true value: sums, products and quotients of endpoints are exact, square and other roots come
from integer roots, exp from its Taylor polynomial with a bound of the rest, and log from the series of atanh with a
bound of the rest. Endpoints are rounded outwards to multiples of 2^-160, so that they stay short. Two disjoint
enclosures show that two values differ; overlapping ones show nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from theory.analysis.scopes import Numbers
from theory.exact import Irrational

BITS = 160
_LARGEST = 64


@dataclass(frozen=True)
class Interval:
    """low <= value <= high."""

    low: Fraction
    high: Fraction

    def __add__(self, other: Interval) -> Interval:
        return _outward(self.low + other.low, self.high + other.high)

    def __mul__(self, other: Interval) -> Interval:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return _outward(min(ends), max(ends))

    def contains(self, value: Fraction) -> bool:
        """Whether the value may be the one enclosed."""
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return f"about {float((self.low + self.high) / 2):.12g}"


def exactly(value: Fraction) -> Interval:
    """The interval of one rational number."""
    return Interval(value, value)


class Enclosures(Numbers):
    """The formulas of a layer in intervals."""

    def number(self, value: Fraction) -> Interval:
        """An exact number."""
        return exactly(value)

    def name(self, name: str) -> object:
        """An input, a statistic or a definition."""
        value = super().name(name)
        return exactly(value) if isinstance(value, Fraction) else value

    def entry(self, name: str, index: int) -> object:
        """An entry; magnitudes are rational at the points that are tried."""
        value = super().entry(name, index)
        if isinstance(value, Fraction):
            return exactly(value)
        return value.map(_wrapped) if hasattr(value, "map") else value

    def function(self, name: str, arguments: list[Interval]) -> Interval:
        """An enclosure of a function; `Irrational` where it has no real value."""
        first = arguments[0]
        if name == "sqrt":
            return self.power(first, exactly(Fraction(1, 2)))
        if name in ("Min", "Max"):
            pick = min if name == "Min" else max
            return Interval(pick(a.low for a in arguments), pick(a.high for a in arguments))
        if name == "Abs":
            if first.low >= 0:
                return first
            return Interval(max(Fraction(0), -first.high), max(-first.low, first.high))
        bounds = {"exp": _exp, "log": _log}[name]
        return Interval(bounds(first.low).low, bounds(first.high).high)

    def power(self, base: Interval, exponent: Interval) -> Interval:
        """An enclosure of a power with a rational exponent; ZeroDivisionError if the base may be 0 and must not."""
        power = exponent.low
        if exponent.high != power:
            raise Irrational("a power with an exponent that is not rational")
        if power < 0:
            if base.contains(Fraction(0)):
                raise ZeroDivisionError("the divisor may be 0")
            return self.power(_outward(1 / base.high, 1 / base.low), exactly(-power))
        if power.denominator == 1:
            ends = (base.low ** int(power), base.high ** int(power))
            crosses = base.contains(Fraction(0)) and power % 2 == 0 and power > 0
            return _outward(Fraction(0) if crosses else min(ends), max(ends))
        if base.low < 0:
            raise Irrational("a root of a number that may be negative")
        degree = power.denominator
        return self.power(
            _outward(_root(base.low, degree)[0], _root(base.high, degree)[1]), exactly(Fraction(power.numerator))
        )

    def delta(self, first: int, second: int) -> Interval:
        """The Kronecker delta."""
        return exactly(super().delta(first, second))

    def total(self, body: object) -> Interval:
        """The sum, term by term."""
        terms = [body(position) for position in range(1, int(self.numbers[self.layer.length]) + 1)]
        result = exactly(Fraction(0))
        for term in terms:
            result = result + term
        return result


def _wrapped(value: object) -> object:
    return exactly(value) if isinstance(value, Fraction) else value


def _outward(low: Fraction, high: Fraction) -> Interval:
    scale = 1 << BITS
    return Interval(Fraction((low * scale).__floor__(), scale), Fraction((high * scale).__ceil__(), scale))


def _root(value: Fraction, degree: int) -> tuple[Fraction, Fraction]:
    """Bounds of the degree-th root of a non-negative number, 2^-BITS apart."""
    target = (value * (1 << (BITS * degree))).__floor__()
    low, high = 0, 1 << (target.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= target else (low, middle)
    return Fraction(low, 1 << BITS), Fraction(low + 1, 1 << BITS)


def _exp(value: Fraction) -> Interval:
    """e^value: the argument is divided by 256, the Taylor polynomial's remainder is below twice its last term."""
    if abs(value) > _LARGEST:
        raise Irrational(f"exp of {value}")
    if value < 0:
        inverse = _exp(-value)
        return _outward(1 / inverse.high, 1 / inverse.low)
    small = exactly(value / 256)
    term = total = exactly(Fraction(1))
    for n in range(1, 60):
        term = term * small * exactly(Fraction(1, n))
        total = total + term
    total = total + Interval(Fraction(0), 2 * term.high)
    for _ in range(8):
        total = total * total
    return total


def _log(value: Fraction) -> Interval:
    """log(value) = 2 atanh((m - 1)/(m + 1)) + 2 n atanh(1/3) for value = m 2^n, 1/2 < m < 2."""
    if value <= 0:
        raise Irrational(f"log of {value}")
    twos = value.numerator.bit_length() - value.denominator.bit_length()
    mantissa = value / Fraction(2) ** twos
    two = exactly(Fraction(2))
    steps = two * exactly(Fraction(twos)) * _atanh(Fraction(1, 3))
    return two * _atanh((mantissa - 1) / (mantissa + 1)) + steps


def _atanh(value: Fraction) -> Interval:
    """Atanh for |value| <= 1/3: the rest of the series is below twice its next term."""
    power, square, total = exactly(value), exactly(value * value), exactly(Fraction(0))
    for n in range(1, 121, 2):
        total = total + power * exactly(Fraction(1, n))
        power = power * square
    rest = 2 * max(abs(power.low), abs(power.high))
    return total + Interval(-rest, rest)
