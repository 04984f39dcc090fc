"""The pairs in bands of rows: the largest turn of the phase, and how often it is lost.

A phasor (x, y), not (0, 0), comes out as (a, b), and turns by the angle D with

    tan D = (x b - y a) / (x a + y b).

The products are exact in fp32 (11 bits times 11 bits, between 2^-48 and 2^32) and so is their difference where it
cancels; the quotient is off by at most 2^-22 relatively. What is decided here is therefore decided up to a factor
1 +- 2^-20, and `survey` settles in rational numbers the pairs that come closer to a threshold than that. Exchanging x
and y changes neither |tan D| nor how it is rounded, so only pairs with x <= y are computed, and count twice.

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
    """What was found among the pairs whose smaller number is one of the `ROWS` numbers of the band.

    `normal` pairs have two normal outputs; `worst` is the largest |tan D| among them. Of the other pairs, (0, 0) not
    among them, `infinite` have an infinite output, `lost` have finite outputs and lose their phase, and `near` are too
    close to the threshold to tell. Pairs (x, y) and (y, x) are counted where the smaller of the two has its band.
    """

    number: int
    normal: int
    worst: float
    infinite: int
    lost: int
    near: int

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


class Buffers:
    """Memory for chunks of up to `rows` rows, so that it is not asked for again and again."""

    def __init__(self, device: torch.device, rows: int = _CHUNK, columns: int = VALUES) -> None:
        self.two = torch.empty(2, rows * columns, device=device)

    def of(self, rows: int, columns: int) -> tuple[Tensor, Tensor]:
        """Two buffers of that shape."""
        return tuple(buffer[: rows * columns].view(rows, columns) for buffer in self.two)


def tangents(table: Table, rows: slice, columns: slice, buffers: Buffers | None = None) -> Tensor:
    """tan D of the pairs (x of rows, y of columns), NaN where both outputs are 0: (rows, columns) in fp32."""
    x, a = table.x[rows, None], table.a[rows, None]
    y, b = table.x[columns], table.a[columns]
    across, along = (buffers or Buffers(x.device, len(x), len(y))).of(len(x), len(y))
    torch.mul(x, b, out=across).addcmul_(a, y, value=-1)
    torch.add(x * a, y * b, out=along)
    return across.div_(along)


def blocks(table: Table, number: int) -> Iterator[tuple[slice, slice, bool, int]]:
    """The pairs x <= y of a band with finite outputs, a chunk at a time.

    (rows, columns, whether both outputs are normal, how often each pair counts): twice beside the diagonal, where the
    pair exchanged is in no block, and once in a square on the diagonal, which holds it.
    """
    start, stop = number * ROWS, min((number + 1) * ROWS, table.first_infinite)
    for top in range(start, stop, _CHUNK):
        bottom = min(top + _CHUNK, stop)
        parts = [(top, min(max(top, table.first_normal), bottom)), (min(max(top, table.first_normal), bottom), bottom)]
        for first, last in parts:
            if first < last:
                rows, is_normal = slice(first, last), first >= table.first_normal
                yield rows, rows, is_normal, 1
                if last < table.first_infinite:
                    yield rows, slice(last, table.first_infinite), is_normal, 2


def scan(table: Table, number: int) -> Band:
    """Try all pairs of band `number`, 0 <= number < BANDS."""
    normal, worst, other, kept, unclear = 0, 0.0, 0, 0, 0
    buffers = Buffers(table.x.device)
    for rows, columns, is_normal, weight in blocks(table, number):
        found = tangents(table, rows, columns, buffers)
        if is_normal:
            normal += weight * found.numel()
            low, high = found.aminmax()
            worst = max(worst, -float(low), float(high))
            continue
        found.abs_()
        sure, maybe = (int((found <= KEPT * factor).count_nonzero()) for factor in (1 - NEAR, 1 + NEAR))
        other, kept, unclear = other + weight * found.numel(), kept + weight * sure, unclear + weight * (maybe - sure)
    if number == 0:
        other -= 1  # (0, 0) has no phase to lose
    height = ROWS * number, ROWS * (number + 1)
    infinite = _square(VALUES - height[0]) - _square(VALUES - height[1])  # all pairs of the band
    finite = [max(0, table.first_infinite - edge) for edge in height]
    infinite -= _square(finite[0]) - _square(finite[1])
    return Band(number, normal, worst, infinite, other - kept - unclear, unclear)


def _square(count: int) -> int:
    return count * count
