"""Rational bounds on square roots and exponentials, for comparisons that have to be exact.

    sum_{k < n} x^k / k!  <=  e^x  <=  the same sum + (x^n / n!) / (1 - x / (n + 1)),     0 <= x < n + 1:

the tail is x^n / n! (1 + x/(n+1) + x^2/((n+1)(n+2)) + ...), below a geometric series.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

DIGITS = 10**12
TERMS = 64


def sqrt_bounds(value: Fraction | int) -> tuple[Fraction, Fraction]:
    """(low, high) with low <= sqrt(value) <= high, at most 1/DIGITS apart, equal where a multiple of it is exact."""
    if value < 0:
        raise ValueError(f"value is {value}; accepted: at least 0")
    scaled = Fraction(value) * DIGITS**2
    low = isqrt(int(scaled))
    return Fraction(low, DIGITS), Fraction(low if low * low == scaled else low + 1, DIGITS)


def exp_bounds(low: Fraction | int, high: Fraction | int | None = None) -> tuple[Fraction, Fraction]:
    """(a, b) with a <= e^x <= b for every x between low and high; ValueError outside 0 <= low <= high < TERMS."""
    high = low if high is None else high
    if not 0 <= low <= high < TERMS:
        raise ValueError(f"exponents from {low} to {high}; accepted: 0 <= low <= high < {TERMS}")
    return _series(Fraction(low))[0], _series(Fraction(high))[1]


def _series(x: Fraction) -> tuple[Fraction, Fraction]:
    total, term = Fraction(0), Fraction(1)
    for k in range(1, TERMS + 1):
        total += term
        term *= x / k
    return total, total + term / (1 - x / (TERMS + 1))
