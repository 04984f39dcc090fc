"""All pairs for one scale and weight: bands in, a theorem about every finite fp16 phasor out.

The bands give counts, and extremes up to a factor 1 +- 2^-20. What comes that close to an extreme or to the threshold
is looked up again, and evaluated in rational numbers, so that nothing in a `Survey` is rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from numerics.exhaustive.bands import BANDS, KEPT, NEAR, Band, Table, blocks, judged, scan, tangents
from numerics.exhaustive.component import PAIRS, exact_component

CASES = (  # (S, gamma), fp32 numbers
    (1.0, 1.0),
    (1.25331413745880126953125, 1.0),  # the mean magnitude of normal phasors, sqrt(pi/2), to fp32
    (3.0, 0.7001953125),
    (0.0009765625, 1.0),  # 2^-10: large inputs overflow
    (1000.0, -1.7001953125),  # as beside an outlier: small inputs underflow
    (20000.5, 1.0),
)
Pair = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Survey:
    """What is true of every finite fp16 phasor at this scale and weight; every number is exact.

    `worst` is the largest tan D among the `normal` pairs (both outputs normal, x, y > 0), at `worst_at`. Of the other
    pairs, `infinite` have an infinite output and `lost` lose their phase with finite ones: D is the angle between
    (x, y) and the output, and kept means tan D <= 2^-11. `largest_lost` is the longest phasor that is lost with finite
    outputs, `smallest_kept` the shortest one that is not, None where there is none. `rounding` is the largest relative
    error of one normal output against gamma x / S, at `rounding_at`.
    """

    scale: float
    gamma: float
    pairs: int
    normal: int
    worst: Fraction
    worst_at: Pair
    infinite: int
    lost: int
    largest_lost: Pair | None
    smallest_kept: Pair | None
    rounding: Fraction
    rounding_at: Fraction

    @property
    def bound(self) -> Fraction:
        """What no turn exceeds while both outputs are normal: u."""
        return Fraction(KEPT)

    def data(self) -> dict:
        """As plain data, rational numbers as text."""
        return {name: _plain(value) for name, value in vars(self).items()}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    return str(value) if isinstance(value, Fraction) else value


def survey(scale: float, gamma: float, bands: Iterable[Band] | None = None, device: str = "cpu") -> Survey:
    """The survey of one scale and weight, from `bands` found before (each number once), or from all pairs now.

    Raises ValueError for a scale or weight that `component` refuses, for gamma = 0, which has no phase, for a case in
    which no pair has normal outputs, and for bands that are missing.
    """
    table = checked(scale, gamma, device)
    found = sorted(bands or (scan(table, number) for number in range(BANDS)), key=lambda band: band.number)
    if [band.number for band in found] != list(range(BANDS)):
        raise ValueError(f"{len(found)} bands; accepted: the bands 0 to {BANDS - 1}, each once")
    worst, worst_at = max((_turn(table, pair), pair) for pair in _worst(table, found))
    gone, kept, settled = _extremes(table, found)
    rounding, rounding_at = _rounding(table, scale, gamma)
    return Survey(
        scale=scale,
        gamma=gamma,
        pairs=PAIRS,
        normal=sum(band.normal for band in found),
        worst=worst,
        worst_at=_numbers(table, worst_at),
        infinite=sum(band.infinite for band in found),
        lost=sum(band.lost for band in found) + settled,
        largest_lost=_numbers(table, max(gone, key=lambda pair: _square(table, pair))) if gone else None,
        smallest_kept=_numbers(table, min(kept, key=lambda pair: _square(table, pair))) if kept else None,
        rounding=rounding,
        rounding_at=rounding_at,
    )


def checked(scale: float, gamma: float, device: str = "cpu") -> Table:
    """The table of a case that has something to survey; ValueError for another one, as `survey` says."""
    if gamma == 0:
        raise ValueError("gamma is 0; accepted: any other fp32 number, because every phase is lost at 0")
    table = Table.of(scale, gamma, device)
    if table.first_normal >= table.first_infinite:
        raise ValueError(f"no fp16 phasor has two normal outputs at scale {scale}, gamma {gamma}")
    return table


def _worst(table: Table, bands: list[Band]) -> Iterator[tuple[int, int]]:
    """The pairs with two normal outputs that may turn furthest."""
    least = max(band.worst for band in bands) * (1 - NEAR)
    if least == 0:  # no pair turns at all: S / gamma is a power of two
        yield table.first_normal, table.first_normal
        return
    for band in bands:
        if band.worst >= least:
            for rows, columns, is_normal in blocks(table, band.number):
                if is_normal:
                    yield from _places(tangents(table, rows, columns) >= least, rows, columns)


def _extremes(table: Table, bands: list[Band]) -> tuple[set, set, int]:
    """Pairs that may be the longest lost and the shortest kept one, and how many `near` ones are lost."""
    longest = max(band.largest_lost for band in bands) * (1 - NEAR)
    shortest = min(band.smallest_kept for band in bands) * (1 + NEAR)
    gone, kept, settled = set(), set(), 0
    for band in bands:
        if not (band.near or band.largest_lost >= max(longest, 0) or band.smallest_kept <= shortest < torch.inf):
            continue
        for rows, columns, is_normal in blocks(table, band.number):
            if is_normal:
                continue
            lost, fine, near, square = judged(table, rows, columns)
            gone.update(_places(lost & (square >= longest), rows, columns))
            kept.update(_places(fine & (square <= shortest), rows, columns))
            for pair in _places(near, rows, columns):
                lost_after_all = _turn(table, pair) > Fraction(KEPT)
                settled += lost_after_all
                (gone if lost_after_all else kept).add(pair)
    return gone, kept, settled


def _places(mask: Tensor, rows: slice, columns: slice) -> Iterator[tuple[int, int]]:
    for row, column in mask.nonzero().tolist():
        yield rows.start + row, columns.start + column


def _numbers(table: Table, pair: tuple[int, int]) -> Pair:
    return tuple(Fraction(float(table.x[index])) for index in pair)


def _square(table: Table, pair: tuple[int, int]) -> Fraction:
    return sum(entry**2 for entry in _numbers(table, pair))


def _turn(table: Table, pair: tuple[int, int]) -> Fraction:
    """|tan D| of a pair of indices whose outputs are finite and not both 0."""
    (x, y), (a, b) = (_numbers(table, pair), tuple(Fraction(float(table.a[index])) for index in pair))
    return abs(x * b - y * a) / (x * a + y * b)


def _rounding(table: Table, scale: float, gamma: float) -> tuple[Fraction, Fraction]:
    """The largest relative error of a normal output, and the input that has it."""
    inside = slice(table.first_normal, table.first_infinite)
    x, outputs = table.x[inside].cpu(), table.a[inside].tolist()
    exact = exact_component(x, scale, abs(gamma))
    errors = (abs(Fraction(a) / e - 1) for a, e in zip(outputs, exact, strict=True))
    error, at = max(zip(errors, range(len(outputs)), strict=True))
    return error, Fraction(float(x[at]))
