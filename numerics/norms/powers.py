"""Powers of two to divide by before anything is squared, so that no square overflows or vanishes (`safe=True`).

A quotient by a power of two is exact, unless it underflows. Squares of numbers between 1 and 2 stay in range, and an
entry so much smaller than the largest that its square underflows changes no sum that the largest is in.
"""

from __future__ import annotations

import torch
from torch import Tensor

BITS = {torch.float32: (torch.int32, 0x7F800000), torch.float64: (torch.int64, 0x7FF0000000000000)}


def power_below(size: Tensor) -> Tensor:
    """The largest power of two not above size >= 0; the smallest normal number where size is below that.

    Infinity and NaN give the largest power of two. fp32 or fp64 of any shape.
    """
    info = torch.finfo(size.dtype)
    integer, exponent = BITS[size.dtype]
    power = (size.view(integer) & exponent).view(size.dtype)  # the mantissa's bits cleared
    largest = 2.0 ** (127 if size.dtype == torch.float32 else 1023)
    return power.clamp(info.smallest_normal, largest)


def row_power(x: Tensor, least: float, dims: tuple[int, ...]) -> Tensor:
    """The power of two below the largest |x_c| in `dims`, and below `least` where that is larger; kept dimensions."""
    if 0 in x.shape:  # no number has no largest
        return torch.ones_like(x.sum(dims, keepdim=True))
    return power_below(x.abs().amax(dims, keepdim=True).clamp_min(least))
