"""Finite computations repeated by other algorithms: fp16 rounding, permutation tests, the listing, two vectors.

Nothing real is left to enclose in most of these; they are exact integers and rational numbers, computed without the
claims' files. Rounding to fp16 is Python's own conversion to half precision (IEEE 754, ties to even), the p-values come
from the generating function of rank sums, and the listing is a reshape of a flat list.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isqrt, prod

from theory.routes.interval.balls import Comparison, flint, rational, root
from theory.routes.interval.constant import Constant

FP16, SEEDS = "ma_rmsnorm.ma_fp16", "mrsnorm.significance"
EXAMPLE, LISTING, NO_1D = "ma_rmsnorm.ma_example", "mrsnorm.appendix_c", "mrsnorm.no_1d"
EXACTLY = "recomputed in exact rational arithmetic by another algorithm"


def half(value: Fraction) -> Fraction:
    """The nearest fp16 number, for a rational number that a double holds exactly (`ValueError` for others)."""
    if Fraction(float(value)) != value:
        raise ValueError(f"{value} is not a double: converting it would round twice")
    return Fraction(struct.unpack("<e", struct.pack("<e", float(value)))[0])


def rounding_error(value: Fraction) -> object:
    """|fl(v) - v| of any v > 0 in the normal range: the distance to the nearer of the two neighbours of v."""
    start = half(Fraction(int(value * 2**11), 2**11))  # exact for 0 < v < 1 up to the last digits
    (bits,) = struct.unpack("<H", struct.pack("<e", float(start)))
    near = (struct.unpack("<e", struct.pack("<H", bits + step))[0] for step in range(-4, 5))
    return rational(min(abs(Fraction(other) - value) for other in near))


def _smaller_errors(claimed: tuple) -> Iterable[Comparison]:
    """Absolute and relative error of fp16(s / 3) against those of fp16(1/3)."""
    (factor,) = claimed
    plain, scaled = Fraction(1, 3), factor / 3
    yield rounding_error(scaled), "<", rounding_error(plain)
    yield rounding_error(scaled) / rational(scaled), "<", rounding_error(plain) / rational(plain)


def _scaled_rounding(claimed: tuple) -> Iterable[Comparison]:
    """fp16(factor y) = factor fp16(y) on the grid."""
    for step in range(4096, 8192, 3):
        y = Fraction(step, 4096)
        for factor in claimed:
            yield rational(half(factor * y)), "=", rational(factor * half(y))


def _below_the_normal_range(claimed: tuple) -> Iterable[Comparison]:
    """|fp16(s y) / s - y| <= |fp16(y) - y| for y a multiple of 7/2^27 below 2^-14."""
    (factor,) = claimed
    for step in range(7, 8192, 7):
        y = Fraction(step, 2**27)
        yield rational(abs(half(factor * y) / factor - y)), "<=", rational(abs(half(y) - y))


def rank_sums(chosen: int, among: int) -> object:
    """The polynomial whose coefficient at x^k counts the choices with rank sum k above the least: a Gaussian binomial.

    The product over j = 1..chosen of (1 - x^(among - chosen + j)) / (1 - x^j), divided exactly.
    """
    poly = flint().fmpz_poly

    def factor(power: int) -> object:
        return poly([1, *[0] * (power - 1), -1])

    above = prod((factor(among - chosen + j) for j in range(1, chosen + 1)), start=poly([1]))
    return above // prod((factor(j) for j in range(1, chosen + 1)), start=poly([1]))


def smallest_p_value(seeds: int, sides: int = 2) -> object:
    """The share of the splits whose rank sum is as extreme as the least, on one side or on both."""
    counts = rank_sums(seeds, 2 * seeds)
    ends = [counts[0], counts[counts.degree()]][:sides]
    return flint().fmpq(sum(ends, flint().fmpz(0)), counts(1))


def _reaches(claimed: tuple) -> Iterable[Comparison]:
    level, seeds = claimed
    yield smallest_p_value(seeds), "<=", rational(level)


def _is_smallest(claimed: tuple) -> Iterable[Comparison]:
    value, sides = claimed
    yield smallest_p_value(3, sides), "=", rational(value)


def _four_reach_it(claimed: tuple) -> Iterable[Comparison]:
    few, enough = claimed
    level = rational(Fraction(1, 20))
    yield smallest_p_value(enough), "<=", level
    yield level, "<", smallest_p_value(few)


def rmsnorm(vector: Sequence[int]) -> list:
    """x / sqrt(mean x^2), exact where the root is."""
    mean = sum((rational(x) ** 2 for x in vector), rational(0)) / len(vector)
    return [rational(x) / root(mean) for x in vector]


def _becomes(claimed: tuple) -> Iterable[Comparison]:
    """The entries of both outputs and the length of the first, against the stated ones (by their squares)."""
    entry, length = claimed
    outputs = [rmsnorm((1, 1)), rmsnorm((100, 100))]
    for output in outputs:
        yield output[0] ** 2, "=", rational(entry)
    yield sum((x**2 for x in outputs[0]), rational(0)), "=", rational(length)


def _same_output(claimed: tuple) -> Iterable[Comparison]:
    first, second = claimed
    return [(a, "=", b) for a, b in zip(rmsnorm(first), rmsnorm(second), strict=True)]


TRIPLES = ((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29), (9, 40, 41), (12, 35, 37))


def _listing(claimed: tuple) -> Iterable[Comparison]:
    """The listing (reshape to groups, mean over all that follows) against Eqs. 1 and 2 at every position."""
    shapes, axis, groups = claimed
    for shape in shapes:
        yield from _one_shape(shape, axis % len(shape), groups)


def _one_shape(shape: Sequence[int], axis: int, groups: int) -> Iterable[Comparison]:
    before, pairs, after = prod(shape[:axis]), shape[axis] // 2, prod(shape[axis + 1 :])
    count = before * pairs * after  # phasors, in row-major order of (before, pair, after)
    z = [TRIPLES[(5 * n + n // 7) % len(TRIPLES)] for n in range(count)]
    eps, block = rational(Fraction(1, 8)), pairs // groups * after  # a group is one contiguous block
    for n in range(count):
        first, column = n // block * block, n % after
        listed = [magnitude(v) for v in z[first : first + block]]
        start = n // (pairs * after) * pairs * after
        own = [magnitude(v) for v in z[start + column : start + pairs * after : after]]
        weight = rational(n // after % pairs - 2) or rational(Fraction(7, 3))
        scales = [sum(values, rational(0)) / len(values) + eps for values in (listed, own)]
        for component in z[n][:2]:
            yield weight * component / scales[0], "=", weight * component / scales[1]


def magnitude(vector: Sequence[int]) -> object:
    """|z| of the first two entries, an integer for these."""
    return rational(isqrt(vector[0] ** 2 + vector[1] ** 2))


def _triangle(claimed: tuple) -> Iterable[Comparison]:
    """T min |f'| <= |f(x + T) - f(x)| for the wave that rises from 0 to 1 and falls back, with these slopes."""
    rise, fall = claimed
    end = rational(rise) + rational(fall)  # f(2) - f(0), both pieces having length 1
    yield 2 * rational(min(abs(rise), abs(fall))), "<=", abs(end)


def _listing_constant(text: str, shapes: tuple, axis: int, mutants: tuple) -> Constant:
    text = text.format(", ".join(str(shape) for shape in shapes))
    return Constant(LISTING, text, _listing, (shapes, axis, 1), mutants, "these shapes, other exact inputs", EXACTLY)


_ROWS, _MAPS = ((2,), (8,), (3, 4), (2, 2, 6)), ((1, 2, 2), (2, 4, 3))
_TEXT = "the outputs are those of Eqs. 1 and 2, 1 group(s), channels at {}, shapes {{}}"

CONSTANTS = (
    Constant(
        FP16,
        "the errors of fp16(s y), absolute and relative, are smaller than those of fp16(y)",
        _smaller_errors,
        (Fraction(2),),
        ((Fraction(3, 2),), (Fraction(3),)),
        "y = 1/3, s = 2",
        "the nearest of the neighbouring fp16 numbers, from their bit patterns",
    ),
    Constant(
        FP16,
        "fp16(2^k y) = 2^k fp16(y)",
        _scaled_rounding,
        (Fraction(1, 8), Fraction(2), Fraction(8)),
        ((Fraction(3),), (Fraction(3, 2),)),
        "y from 1 to 2 in steps of three quarters of a unit, k = -3, 1, 3",
        "Python's own conversion to half precision",
    ),
    Constant(
        FP16,
        "the error of fp16(2 y) / 2 is at most that of fp16(y)",
        _below_the_normal_range,
        (Fraction(2),),
        ((Fraction(1, 2),), (Fraction(1, 4),)),
        "every multiple of 7/2^27 below 2^-14",
        "Python's own conversion to half precision",
    ),
    Constant(
        SEEDS,
        "the clearest runs of three seeds against three have a p-value of at most 1/20",
        _reaches,
        (Fraction(1, 20), 3),
        ((Fraction(1, 10), 3), (Fraction(1, 20), 4)),
        "all 20 splits",
        "the generating function of rank sums, in integers",
    ),
    Constant(
        SEEDS,
        "the smallest two-sided p-value of three seeds against three is 1/10, that of completely separated runs",
        _is_smallest,
        (Fraction(1, 10), 2),
        ((Fraction(1, 20), 2), (Fraction(1, 60), 2), (Fraction(1, 32), 2), (Fraction(1, 10), 1)),
        "all 20 splits",
        "the generating function of rank sums, in integers",
    ),
    Constant(
        SEEDS,
        "four against four reach 2/70, below 1/20; three is the largest number that cannot reach 1/20",
        _four_reach_it,
        (3, 4),
        ((4, 5), (2, 3)),
        "all 20 and all 70 splits",
        "the generating function of rank sums, in integers",
    ),
    Constant(
        SEEDS,
        "a one-sided test of three against three reaches 1/20 exactly",
        _is_smallest,
        (Fraction(1, 20), 1),
        ((Fraction(1, 10), 1), (Fraction(1, 20), 2)),
        "all 20 splits",
        "the generating function of rank sums, in integers",
    ),
    Constant(
        EXAMPLE,
        "RMSNorm maps (1, 1) and (100, 100) to (1/sqrt 2, 1/sqrt 2), of length 1 (squares compared)",
        _becomes,
        (Fraction(1, 2), 1),
        ((1, 2),),
        "N = 2",
        EXACTLY,
    ),
    Constant(
        EXAMPLE,
        "RMSNorm maps (1, 1) and (100, 100) to the same vector",
        _same_output,
        ((1, 1), (100, 100)),
        (((1, 1), (100, 99)), ((1, 1), (-1, 1))),
        "N = 2",
        EXACTLY,
    ),
    _listing_constant(_TEXT.format(-1), _ROWS, -1, ((((8,),), -1, 2), (((2, 4, 3),), 1, 1), (((4,),), -1, 2))),
    _listing_constant(_TEXT.format(1), _MAPS, 1, ((((1, 2, 1), (2, 4, 1)), 1, 1), (_ROWS, -1, 1))),
    Constant(
        NO_1D,
        "no continuous f of period T has |f'| = c > 0 except at isolated points",
        _triangle,
        (1, -1),
        ((1, 1), (Fraction(-1, 2), Fraction(-1, 2))),
        "the triangle wave of period 2",
        EXACTLY,
    ),
)
