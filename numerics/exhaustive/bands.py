"""The pairs in bands of rows: the largest turn of the phase, and how often it is lost.

A phasor (x, y), not (0, 0), comes out as (a, b), and turns by the angle D with

    tan D = (x b - y a) / (x a + y b).

The products are exact in fp32 (11 bits times 11 bits, between 2^-48 and 2^32) and so is their difference where it
cancels; the quotient is off by at most 2^-22 relatively. What is decided here is therefore decided up to a factor
1 +- 2^-20, and `survey` settles in rational numbers the pairs that come closer to a threshold than that.

The phase is kept where |tan D| <= u, u = 2^-11, and lost elsewhere: where an output is infinite, where both are 0, and
where the phasor turned further than two normal numbers can, rounded to nearest. With relative errors of up to v =
u/(1 + u) + 2^-23 (one rounding to fp16, two in fp32) in either component, tan D <= v / sqrt(1 - v^2) < u.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from numerics.exhaustive.component import VALUES, component, values

BANDS = 64
ROWS = VALUES // BANDS  # 496
KEPT = 2.0**-11
NEAR = 2.0**-20
SMALLEST_NORMAL = 2.0**-14
_CHUNK = 16  # rows at a time: buffers of 2 MiB


@dataclass(frozen=True)
class Band:
    """What was found among the pairs whose x is one of the `ROWS` numbers of the band.

    `normal` pairs have two normal outputs; `worst` is the largest |tan D| among them. Of the other pairs, (0, 0) not
    among them, `infinite` have an infinite output, `lost` have finite outputs and lose their phase, and `near` are too
    close to the threshold to tell. `largest_lost` and `smallest_kept` are extremes of x^2 + y^2, -1 and infinity where
    there is none.
    """

    number: int
    normal: int
    worst: float
    infinite: int
    lost: int
    near: int
    largest_lost: float
    smallest_kept: float

    def data(self) -> dict:
        """As plain data."""
        return asdict(self)


@dataclass(frozen=True)
class Table:
    """Inputs x and outputs a = |component(x)| in fp32, on one device; where a becomes normal, and where infinite."""

    x: Tensor
    a: Tensor
    first_normal: int
    first_infinite: int

    @staticmethod
    def of(scale: float, gamma: float, device: str = "cpu") -> Table:
        """The table of a scale and a weight other than 0; both maps are monotone, so three ranges cover the outputs."""
        x = values(device)
        a = component(x, scale, abs(gamma)).float()
        normal, infinite = (a >= SMALLEST_NORMAL).sum(), a.isinf().sum()
        return Table(x, a, VALUES - int(normal), VALUES - int(infinite))


def tangents(table: Table, rows: slice, columns: slice, out: Tensor | None = None) -> Tensor:
    """|tan D| of the pairs (x of rows, y of columns), NaN where both outputs are 0: (rows, columns) in fp32."""
    x, a = table.x[rows, None], table.a[rows, None]
    y, b = table.x[columns], table.a[columns]
    found = torch.mul(x, b, out=out)
    found.addcmul_(a, y, value=-1)
    return found.div_(x * a + y * b).abs_()


def blocks(table: Table, number: int) -> Iterator[tuple[slice, slice, bool]]:
    """(rows, columns, whether both outputs are normal): the pairs of a band with finite outputs, a chunk at a time."""
    start, stop = number * ROWS, min((number + 1) * ROWS, table.first_infinite)
    for top in range(start, stop, _CHUNK):
        bottom = min(top + _CHUNK, stop)
        middle = min(max(top, table.first_normal), bottom)
        if top < middle:
            yield slice(top, middle), slice(0, table.first_infinite), False
        if middle < bottom:
            yield slice(middle, bottom), slice(0, table.first_normal), False
            yield slice(middle, bottom), slice(table.first_normal, table.first_infinite), True


def judged(table: Table, rows: slice, columns: slice) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of pairs with finite outputs: lost, kept, too close to tell, and x^2 + y^2; (0, 0) is none of the three."""
    found = tangents(table, rows, columns)
    kept = found <= KEPT * (1 - NEAR)
    near = (found <= KEPT * (1 + NEAR)) & ~kept
    lost = ~(kept | near)
    if rows.start == 0 and columns.start == 0:
        lost[0, 0] = False
    return lost, kept, near, table.x[rows, None].square() + table.x[columns].square()


def scan(table: Table, number: int) -> Band:
    """Try all pairs of band `number`, 0 <= number < BANDS."""
    normal, worst, lost, near, largest, smallest = 0, 0.0, 0, 0, -1.0, float("inf")
    for rows, columns, is_normal in blocks(table, number):
        if is_normal:
            found = tangents(table, rows, columns)
            normal, worst = normal + found.numel(), max(worst, float(found.amax()))
            continue
        gone, kept, close, square = judged(table, rows, columns)
        lost, near = lost + int(gone.count_nonzero()), near + int(close.count_nonzero())
        largest = max(largest, float(torch.where(gone, square, -1.0).amax()))
        smallest = min(smallest, float(torch.where(kept, square, torch.inf).amin()))
    finite_rows = max(0, min(ROWS, table.first_infinite - number * ROWS))
    infinite = ROWS * VALUES - finite_rows * table.first_infinite
    return Band(number, normal, worst, infinite, lost, near, largest, smallest)
