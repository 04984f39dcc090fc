"""Weights by channel, and gradients summed back to the shape of a weight."""

from __future__ import annotations

from torch import Tensor

from numerics.norms import pairs
from numerics.norms.checks import ACCUMULATION


def wide(x: Tensor) -> Tensor:
    """x in its accumulation dtype."""
    return x.to(ACCUMULATION[x.dtype])


def by_channel(weight: Tensor | None, x: Tensor, per_weight: int) -> Tensor | None:
    """A weight in the accumulation dtype of x, one number a channel."""
    if weight is None:
        return None
    weight = weight.to(ACCUMULATION[x.dtype])
    return pairs.by_channel(weight) if per_weight == 2 else weight


def summed_to(per_channel: Tensor, weight: Tensor, per_weight: int) -> Tensor:
    """Sums over the dimensions in which the weight does not vary, then over each pair where it is one a pair."""
    dims = tuple(d for d in range(-per_channel.dim(), -1) if -d > weight.dim() or weight.shape[d] == 1)
    total = per_channel.sum(dims, keepdim=True) if dims else per_channel
    total = total.reshape(*weight.shape[:-1], per_channel.shape[-1])
    return pairs.over_pairs(total) if per_weight == 2 else total


def averaged(x: Tensor, dims: tuple[int, ...], per_weight: int = 1) -> int:
    """How many phasors (`per_weight` 2) or channels a scale averages over in `dims`, the first of them being -1."""
    count = x.shape[-1] // per_weight
    for dim in dims[1:]:
        count = count * x.shape[dim]
    return count
