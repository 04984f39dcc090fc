"""Weights by channel, and gradients summed back to the shape of a weight."""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.norms import pairs
from numerics.norms.checks import ACCUMULATION

ROWS = 16  # added up for one partial sum where code is generated
FEW = 256  # with fewer rows it is not worth it, and the compiler fails where the number of partial sums may be 0

exporting = getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)  # PyTorch 2.6 cannot tell


def wide(x: Tensor) -> Tensor:
    """x in its accumulation dtype."""
    return x.to(ACCUMULATION[x.dtype])


def by_channel(weight: Tensor | None, x: Tensor, per_weight: int) -> Tensor | None:
    """A weight in the accumulation dtype of x, one number a channel."""
    if weight is None:
        return None
    weight = weight.to(ACCUMULATION[x.dtype])
    return pairs.by_channel(weight) if per_weight == 2 else weight


def in_parts(terms: Tensor) -> bool:
    """Whether rows are to be added up in parts: in code generated for a CPU, where there are several parts.

    Such a loop goes down one column block after the other, and where rows are long every step is on another page of
    memory. Sums of few rows first stay within the cache: three times as fast at 4096 x 4096. Not for `torch.export`,
    which asks that nothing depend on what the number of rows is divisible by.
    """
    generated = torch.compiler.is_compiling() and not exporting() and terms.device.type == "cpu"
    return generated and terms.numel() >= FEW * terms.shape[-1]


def sum_of_parts(terms: Tensor) -> Tensor:
    """The sum over all dimensions but the last, of `ROWS` rows first: (..., N) -> (N,)."""
    terms = terms.reshape(-1, terms.shape[-1])
    partial = terms.shape[0] // ROWS
    whole = terms[: partial * ROWS].unflatten(0, (partial, ROWS))
    return whole.sum(1).sum(0) + terms[partial * ROWS :].sum(0)


def summed_to(per_channel: Tensor, weight: Tensor, per_weight: int) -> Tensor:
    """Sums over the dimensions in which the weight does not vary, then over each pair where it is one a pair."""
    dims = tuple(d for d in range(-per_channel.dim(), -1) if -d > weight.dim() or weight.shape[d] == 1)
    if len(dims) == per_channel.dim() - 1 and in_parts(per_channel):
        total = sum_of_parts(per_channel)
    else:
        total = per_channel.sum(dims, keepdim=True) if dims else per_channel
    total = total.reshape(*weight.shape[:-1], per_channel.shape[-1])
    return pairs.over_pairs(total) if per_weight == 2 else total


def averaged(x: Tensor, dims: tuple[int, ...], per_weight: int = 1) -> int:
    """How many phasors (`per_weight` 2) or channels a scale averages over in `dims`, the first of them being -1."""
    count = x.shape[-1] // per_weight
    for dim in dims[1:]:
        count = count * x.shape[dim]
    return count
