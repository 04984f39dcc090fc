"""Exact roots of integers, and rational bounds on roots and logarithms."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

Bounds = tuple[Fraction, Fraction]


def perfect_root(value: Fraction | int, degree: int) -> Fraction | int | None:
    """The rational root of a rational number >= 0, if there is one."""
    top = integer_root(value.numerator, degree)
    if top**degree != value.numerator:
        return None
    bottom = integer_root(value.denominator, degree)
    if bottom**degree != value.denominator:
        return None
    return Fraction(top, bottom) if bottom != 1 else top


def integer_root(value: int, degree: int) -> int:
    """The largest integer whose power is at most value >= 0, by Newton's iteration from above."""
    if degree == 2:
        return isqrt(value)
    if value == 0:
        return 0
    guess = 1 << -(-value.bit_length() // degree)
    while True:
        better = ((degree - 1) * guess + value // guess ** (degree - 1)) // degree
        if better >= guess:
            return guess
        guess = better


def root_bounds(low: Fraction, high: Fraction, degree: int, bits: int) -> Bounds:
    """Bounds on the root of what lies between 0 <= low and high, of width about 2^-bits beside that of the bounds."""
    scale = 1 << bits + max(high.denominator.bit_length() - high.numerator.bit_length(), 0)
    return (
        Fraction(integer_root(int(low * scale**degree), degree), scale),
        Fraction(integer_root(int(high * scale**degree), degree) + 1, scale),
    )


def log_bounds(value: Fraction, bits: int) -> Bounds:
    """Bounds on log(value): value = 2^k m with 1/2 < m < 2, log m = 2 artanh((m - 1)/(m + 1))."""
    k = value.numerator.bit_length() - value.denominator.bit_length()
    (a, b), (c, d) = _log_near_one(value / Fraction(2) ** k, bits), _log_near_one(Fraction(2), bits)
    return (a + k * c, b + k * d) if k >= 0 else (a + k * d, b + k * c)


def _log_near_one(value: Fraction, bits: int) -> Bounds:
    """For 1/2 <= value <= 2: |t| <= 1/3, and the terms left out add up to at most |t|^(2n+1) / (1 - t^2)."""
    scale = 1 << (bits + 16)
    t = (value - 1) / (value + 1)
    step = Fraction(round(t * scale), scale)
    total, power, count = Fraction(0), step, 0
    while abs(power) * scale > 1 and count < bits:
        total += power / (2 * count + 1)
        power = Fraction(round(power * step * step * scale), scale)
        count += 1
    slack = Fraction(8 * (count + 4), scale) + 4 * abs(power)
    return 2 * total - slack, 2 * total + slack


def times(first: Bounds, second: Bounds) -> Bounds:
    """Bounds on a product."""
    products = [a * b for a in first for b in second]
    return min(products), max(products)
