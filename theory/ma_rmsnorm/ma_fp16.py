"""ma-fp16: does a larger s survive rounding to fp16 better?

Claim: quantized to fp16, MA-RMSNorm is more accurate than RMSNorm by every measure.

Source: section 2.3, the table; section 3.4.

False for the printed s = 2, and for every power of two: with 2^e <= |y| < 2^(e+1), rounding to p = 11 digits is

    fl(y) = 2^(e-10) rint(2^(10-e) y),      so      fl(2^k y) = 2^k fl(y)

as long as neither side leaves the range of normal numbers, since y and 2^k y have the same significand. The relative
error and with it the signal-to-noise ratio are the same, digit for digit; the absolute error is 2^k times as large. At
y = 1/3 and s = 2 the relative errors are equal and the absolute ones 1/12288 and 1/6144.

Below the normal range, where the numbers are evenly spaced, s does help; above 65504 / s it overflows first. For other
s the errors of single entries differ either way, within the same bound, the unit roundoff 2^-11.
"""

from fractions import Fraction

import sympy as sp

from theory.kinds.computed import Computed
from theory.statements import Identity

DIGITS, LEAST = 11, -14  # significant binary digits of fp16, and the exponent of its smallest normal number
CASE = Fraction(1, 3)
FACTOR = 2
Y = sp.Symbol("y", real=True)
e, k, significand = sp.symbols("e k m", integer=True)  # m = rint(2^(10-e) y)


def half(value: Fraction) -> Fraction:
    """The nearest fp16 number, ties to even; ValueError beyond the largest finite one."""
    if value == 0:
        return value
    exponent = max(_exponent(abs(value)), LEAST)
    unit = Fraction(2) ** (exponent - DIGITS + 1)
    rounded = round(value / unit) * unit
    if abs(rounded) >= 2**16:
        raise ValueError(f"{value} rounds to infinity")
    return rounded


def _exponent(value: Fraction) -> int:
    """e with 2^e <= value < 2^(e+1)."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    return exponent if Fraction(2) ** exponent <= value else exponent - 1


def errors(value: Fraction) -> list[Fraction]:
    """Absolute and relative error of rounding to fp16."""
    absolute = abs(half(value) - value)
    return [absolute, absolute / abs(value)]


def derived() -> list[Fraction]:
    """The errors of MA-RMSNorm's output 2/3, s = 2."""
    return errors(FACTOR * CASE)


def printed() -> list[Fraction]:
    """What they are claimed to stay below: those of RMSNorm's output 1/3."""
    return errors(CASE)


def rounded(value: sp.Expr, exponent: sp.Expr) -> list[sp.Expr]:
    """The significand to be rounded, and with m for the rounded one: fl(value), its absolute and its relative error."""
    result = significand * 2 ** (exponent - DIGITS + 1)
    return [value * 2 ** (DIGITS - 1 - exponent), result, result - value, (result - value) / value]


def corrected() -> list[sp.Expr]:
    """For 2^k y, in terms of those for y: the same, 2^k times, 2^k times, the same."""
    return [factor * entry for factor, entry in zip((1, 2**k, 2**k, 1), rounded(Y, e), strict=True)]


def scaled_grid() -> list[tuple[Fraction, Fraction]]:
    """half(2^k y) and 2^k half(y), for y from 1 to 2 in steps of three quarters of a unit, k = -3, 1 and 3."""
    unit = 2 ** (DIGITS - 1)
    grid = [Fraction(quarters, 4 * unit) for quarters in range(4 * unit, 8 * unit, 3)]
    powers = [Fraction(2) ** shift for shift in (-3, 1, 3)]
    return [(half(power * y), power * half(y)) for y in grid for power in powers]


def below_normal() -> list[tuple[Fraction, Fraction]]:
    """Errors of half(2 y) / 2 and of half(y), y a multiple of 7/2^27 below the smallest normal number."""
    grid = [Fraction(step, 2**27) for step in range(7, 2**13, 7)]
    return [(abs(half(2 * y) / 2 - y), abs(half(y) - y)) for y in grid]


STATEMENTS = (
    Computed(
        "as printed",
        "the errors of fp16(s y), absolute and relative, are smaller than those of fp16(y)",
        lambda: list(zip(derived(), printed(), strict=True)),
        scope="y = 1/3, s = 2",
        relation="<",
        inputs=lambda: {"y": CASE, "s": FACTOR, "errors of 2/3": derived(), "errors of 1/3": printed()},
        expects="refuted",
    ),
    Identity(
        "corrected",
        "fl(2^k y) = 2^k fl(y) within the normal range: the same relative error, 2^k times the absolute one",
        lambda: (rounded(2**k * Y, e + k), corrected()),
        nonzero=(Y, 2**k),
        scope="every real y, every k, normal range, round to nearest",
    ),
    Computed(
        "by enumeration",
        "fp16(2^k y) = 2^k fp16(y)",
        scaled_grid,
        scope="y from 1 to 2 in steps of three quarters of a unit, k = -3, 1, 3",
    ),
    Computed(
        "below the normal range s helps",
        "the error of fp16(2 y) / 2 is at most that of fp16(y)",
        below_normal,
        scope="every multiple of 7/2^27 below 2^-14",
        relation="<=",
    ),
)

MUTANTS = {
    "four times the errors": lambda: [4 * error for error in errors(CASE)],
    "the unit roundoff": lambda: [Fraction(2, 2**DIGITS), Fraction(1, 2**DIGITS)],
}
CORRECTED_MUTANTS = {
    "nothing is scaled": lambda: rounded(Y, e),
    "relative error scaled too": lambda: [2**k * entry for entry in rounded(Y, e)],
    "relative error divided by 2^k": lambda: [
        factor * entry for factor, entry in zip((1, 2**k, 2**k, 2**-k), rounded(Y, e), strict=True)
    ],
}
