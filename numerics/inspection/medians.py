"""The exact median of more numbers than fit into memory.

Non-negative floating-point numbers are ordered like the integers with the same bits. The lower of the two middle ones
is found 16 bits at a time: one pass counts the leading 16 bits, which tells those of the median, the next pass counts
the following 16 among the numbers that share them, and so on: one pass for 16-bit formats, two for fp32, four for fp64.
A last pass finds the upper one, the smallest number above, unless both are equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

_INTEGERS = {2: torch.int16, 4: torch.int32, 8: torch.int64}
_BITS = 16
_DIGITS = 1 << _BITS

Chunks = Callable[[], Iterable[Tensor]]


def median(chunks: Chunks) -> float:
    """The median of the finite numbers that `chunks()` yields, all of one dtype and none negative.

    The mean of the two middle ones where their number is even, NaN where there is none. `chunks` is called once a pass.
    """
    numbers = 0
    prefix, rank, done, width, dtype = 0, 0, 0, _BITS, torch.float16
    while done < width:
        counts = torch.zeros(_DIGITS, dtype=torch.int64)
        for chunk in chunks():
            dtype, width = chunk.dtype, 8 * chunk.dtype.itemsize
            bits = _finite(chunk).view(_INTEGERS[dtype.itemsize])
            if done:
                bits = bits[bits >> (width - done) == prefix]
            counts += torch.bincount((bits >> (width - done - _BITS)).long() & (_DIGITS - 1), minlength=_DIGITS)
        upto = counts.cumsum(0)
        if not done:
            numbers = int(upto[-1])
            rank = (numbers - 1) // 2
        if not numbers:
            return math.nan
        digit = int(torch.searchsorted(upto, rank, right=True))
        rank -= int(upto[digit - 1]) if digit else 0
        prefix, done = prefix << _BITS | digit, done + _BITS
    lower = torch.tensor(prefix, dtype=_INTEGERS[width // 8]).view(dtype)
    if numbers % 2 or rank + 1 < int(counts[digit]):  # the next number in order is equal to it
        return float(lower)
    upper = min(float(above.min()) for chunk in chunks() if (above := _finite(chunk)[_finite(chunk) > lower]).numel())
    return (float(lower) + upper) / 2


def _finite(chunk: Tensor) -> Tensor:
    return chunk[chunk.isfinite()].flatten()
