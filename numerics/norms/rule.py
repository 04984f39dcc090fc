"""What a norm does, apart from its tensors."""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """eps; the dimensions S averages over, counted from the last, -1 first; channels a weight; the safe scaling or not.

    For MA-RMSNorm also s and alpha; without s (None) the norm is no MA-RMSNorm.
    """

    eps: float
    dims: tuple[int, ...] = (-1,)
    per_weight: int = 1
    safe: bool = False
    s: float | None = None
    alpha: float = 0.0
