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

from numerics.exhaustive.bands import BANDS, KEPT, NEAR, Band, Table, blocks, scan, tangents
from numerics.exhaustive.component import PAIRS, exact_component
from numerics.rounding import FP64, roundings

CASES = (  # (S, gamma), fp32 numbers
    (1.0, 1.0),
    (1.25331413745880126953125, 1.0),  # the mean magnitude of normal phasors, sqrt(pi/2), to fp32
    (3.0, 0.7001953125),
    (0.0009765625, 1.0),  # 2^-10: large inputs overflow
    (1000.0, -1.7001953125),  # as beside an outlier: small inputs underflow
    (20000.5, 1.0),
)
Pair = tuple[Fraction, Fraction]
_RING = 0.8  # inner over outer radius squared
_ROWS = 1024


@dataclass(frozen=True)
class Survey:
    """What is true of every finite fp16 phasor at this scale and weight; every number is exact.

    `worst` is the largest tan D among the `normal` pairs (both outputs normal, x, y > 0), at `worst_at`. Of the other
    pairs, `infinite` have an infinite output and `lost` lose their phase with finite ones: D is the angle between
    (x, y) and the output, and kept means tan D <= 2^-11. `largest_lost` is the longest phasor that is lost with finite
    outputs, x <= y, None where there is none. `rounding` is the largest relative error of one normal output against
    gamma x / S, at `rounding_at`.
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
    lost = sum(band.lost for band in found) + _settled(table, found)
    worst, worst_at = max((_turn(table, pair), pair) for pair in _worst(table, found))
    longest = _largest_lost(table, abs(gamma) / scale) if lost else None
    rounding, rounding_at = _rounding(table, scale, gamma)
    return Survey(
        scale=scale,
        gamma=gamma,
        pairs=PAIRS,
        normal=sum(band.normal for band in found),
        worst=worst,
        worst_at=_numbers(table, worst_at),
        infinite=sum(band.infinite for band in found),
        lost=lost,
        largest_lost=_numbers(table, longest) if longest else None,
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
            for rows, columns, is_normal, _ in blocks(table, band.number):
                if is_normal:
                    yield from _places(tangents(table, rows, columns).abs() >= least, rows, columns)


def _settled(table: Table, bands: list[Band]) -> int:
    """How many of the pairs too close to the threshold lose their phase."""
    lost = 0
    for band in bands:
        for rows, columns, is_normal, weight in blocks(table, band.number) if band.near else ():
            if not is_normal:
                found = tangents(table, rows, columns).abs()
                near = (found > KEPT * (1 - NEAR)) & (found <= KEPT * (1 + NEAR))
                lost += weight * sum(_turn(table, pair) > Fraction(KEPT) for pair in _places(near, rows, columns))
    return lost


def _largest_lost(table: Table, factor: float) -> tuple[int, int] | None:
    """The longest phasor that loses its phase with finite outputs.

    Its larger output a is below 2^-12: the other one is off by at most max(2^-25, u b), so that tan D < u from there
    on. Rings of pairs are searched from there inwards, `factor` = |gamma| / S being what |(x, y)| is multiplied by; a
    ring has a range of columns in each row.
    """
    longest: tuple[int, int] | None = None
    squares = table.x[: table.first_infinite].double().square()
    top = 2 * (2.0**-12 / factor) ** 2
    while top >= float(squares[1]):
        bottom = top * _RING
        first, last = (torch.searchsorted(squares, edge - squares, right=True) for edge in (bottom, top))
        first = torch.maximum(first, torch.arange(len(first), device=first.device))
        for part in range(0, len(first), _ROWS):  # row r has the columns first[r] .. last[r] - 1
            counts = (last - first)[part : part + _ROWS].clamp_min(0)
            rows = torch.arange(len(counts), device=first.device).repeat_interleave(counts) + part
            start = counts.cumsum(0) - counts
            columns = torch.arange(len(rows), device=first.device) - start[rows - part] + first[rows]
            found = _first_lost(table, rows, columns, squares)
            longest = (
                found if longest is None or (found and _length(table, found) > _length(table, longest)) else longest
            )
        if longest:
            return longest
        top = bottom
    return None


def _first_lost(table: Table, rows: Tensor, columns: Tensor, squares: Tensor) -> tuple[int, int] | None:
    """The longest one of these pairs that loses its phase."""
    (x, y), (a, b) = ((values[rows], values[columns]) for values in (table.x, table.a))
    unsure = ~(((x * b - y * a) / (x * a + y * b)).abs() <= KEPT * (1 - NEAR))
    rows, columns = rows[unsure], columns[unsure]
    length = squares[rows] + squares[columns]
    order = length.argsort(descending=True)
    best: tuple[int, int] | None = None
    for place in order.tolist():
        pair = int(rows[place]), int(columns[place])
        if best and float(length[place]) < float(_length(table, best)) * (1 - roundings(8, FP64)):
            return best
        if _loses(table, pair) and (best is None or _length(table, pair) > _length(table, best)):
            best = pair
    return best


def _loses(table: Table, pair: tuple[int, int]) -> bool:
    return not any(table.a[list(pair)].tolist()) or _turn(table, pair) > Fraction(KEPT)


def _places(mask: Tensor, rows: slice, columns: slice) -> Iterator[tuple[int, int]]:
    for row, column in mask.nonzero().tolist():
        yield rows.start + row, columns.start + column


def _numbers(table: Table, pair: tuple[int, int]) -> Pair:
    return tuple(Fraction(float(table.x[index])) for index in pair)


def _length(table: Table, pair: tuple[int, int]) -> Fraction:
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
