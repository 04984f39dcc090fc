"""The tree by which a sum is computed, measured: how many roundings a term really meets.

With a huge M in place of term i and -M in place of term j, every term that joins one of them before the two meet is
lost; so the sum of ones is the number of terms outside the smallest subtree that holds both i and j. As j runs over
all terms, each node on the way from term i to the root gives one size, so that different sizes count roundings
(Xie, Chen, Lin and Zhang, FPRev: revealing floating-point accumulation orders, 2024).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

HUGE = {torch.float32: 2.0**60, torch.float64: 2.0**120}  # absorbs any sum of ones that fits in memory
ROWS = 2**22  # numbers that are summed at once


def measured_roundings(
    total: Callable[[Tensor], Tensor], terms: int, place: int, dtype: torch.dtype, rows: int = ROWS
) -> int:
    """Roundings that term `place` of so many meets in total(values), (R, terms) -> (R,); `rows` * terms at once."""
    others = torch.cat((torch.arange(place), torch.arange(place + 1, terms)))
    sizes: set[float] = set()
    for part in others.split(max(1, rows // terms)):
        values = torch.ones(len(part), terms, dtype=dtype)
        values[:, place] = HUGE[dtype]
        values[torch.arange(len(part)), part] = -HUGE[dtype]
        sizes.update((terms - total(values)).tolist())
    return len(sizes)
