"""Balls: intervals that certainly contain a real number, and comparisons that are certain or say nothing.

Arb (in python-flint, the extra `provers`) computes with a midpoint and a radius and rounds outwards. A comparison of
two balls has three answers. It is true if it holds for every pair of numbers in them, false if it holds for no pair,
and undecided otherwise; Arb itself answers False to the last two, so "not (a < b)" would prove nothing. A ball that is
not a number decides nothing either.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from math import isqrt
from types import ModuleType

START, CAP = 64, 4096  # bits of precision: the first try, and the last
INSTALL = "python-flint is not installed: pip install 'paper-checks[provers]'"
Comparison = tuple[object, str, object]  # left, "<", "<=" or "=", right; balls, or exact rationals on both sides


@cache
def available() -> bool:
    """Whether python-flint can be imported."""
    return importlib.util.find_spec("flint") is not None


def flint() -> ModuleType:
    """python-flint, imported only where it is used."""
    import flint

    return flint


def rational(value: Fraction | int | str) -> object:
    """The exact rational number, as FLINT has it."""
    value = Fraction(value)
    return flint().fmpq(value.numerator, value.denominator)


def ball(value: Fraction | int | str) -> object:
    """A ball around a rational number; its radius is 0 if the number has few enough binary digits."""
    return flint().arb(rational(value))


def between(low: float, high: float) -> object:
    """The ball that holds every number from `low` to `high`."""
    arb = flint().arb
    return arb(low).union(arb(high))


def as_ball(value: object) -> object:
    """The ball of a number that may be an exact rational."""
    return value if hasattr(value, "rad") else flint().arb(value)


def clipped(value: object) -> object:
    """The part that is not negative, for numbers that are known not to be."""
    return value if value >= 0 else value.nonnegative_part()


def root(value: object) -> object:
    """The square root: exact if it is that of a rational square, else a ball (not a number below 0)."""
    if hasattr(value, "rad"):
        return value.sqrt()
    top, bottom = isqrt(max(int(value.p), 0)), isqrt(int(value.q))
    exact = flint().fmpq(top, bottom)
    return exact if exact * exact == value else flint().arb(value).sqrt()


def whole_power(base: object, exponent: int) -> object:
    """base^n for an integer n: never negative for even n, and no wider than the ends make it."""
    if exponent < 0:
        return 1 / whole_power(base, -exponent)
    if not hasattr(base, "rad") or exponent <= 1:
        return base**exponent
    if exponent % 2:
        return (base.lower() ** exponent).union(base.upper() ** exponent)
    return (base.abs_lower() ** exponent).union(base.abs_upper() ** exponent)


def real_power(base: object, exponent: object) -> object:
    """base^p for base >= 0 and real p; a base that may be 0 needs p > 0, or the result is not a number."""
    base, exponent = as_ball(base), as_ball(exponent)
    if base > 0:
        return (base.log() * exponent).exp()
    zero, top = flint().arb(0), base.upper()
    if not exponent > 0 or top < 0:
        return flint().arb.nan()
    return zero.union((top.log() * exponent).exp()) if top > 0 else zero


def holds(comparison: Comparison) -> bool | None:
    """True or False if the comparison is certain, None if the balls leave it open."""
    left, relation, right = comparison
    if hasattr(left, "rad") or hasattr(right, "rad"):
        left, right = as_ball(left), as_ball(right)
    if relation == "=":
        return True if left == right else False if left != right else None
    if relation == "<":
        return True if left < right else False if left >= right else None
    return True if left <= right else False if left > right else None


def decide(comparisons: Callable[[], Iterable[Comparison]], cap: int = CAP) -> tuple[str, int, Comparison | None]:
    """("proved" | "refuted" | "undecided", bits, the comparison that fails), at rising precision up to `cap` bits.

    Proved if every comparison is certain, refuted if one is certainly false. The precision is doubled until then.
    """
    bits = min(START, cap)
    while True:
        with flint().ctx.workprec(bits):
            found = list(comparisons())
            answers = [holds(comparison) for comparison in found]
        if False in answers:
            return "refuted", bits, found[answers.index(False)]
        if answers and None not in answers:
            return "proved", bits, None
        if bits >= cap or not answers:
            return "undecided", bits, None
        bits = min(2 * bits, cap)


def shown(value: object, digits: int = 15) -> str:
    """A ball or a rational number as text: for a ball, the digits that are certain and the radius."""
    return value.str(digits) if hasattr(value, "rad") else str(value)
