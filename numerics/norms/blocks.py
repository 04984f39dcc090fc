"""Rows in blocks that stay in a cache: several passes over a block cost one pass over memory."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

ELEMENTS = 2**17  # a thread's share of a block: 512 KiB in fp32


def in_blocks(x: Tensor, weights: tuple[Tensor | None, ...], dims: tuple[int, ...], *others: Tensor) -> bool:
    """Whether rows are to be taken in blocks: eagerly, on a CPU, in contiguous memory, where there are several.

    The weights have to be the same in every row, and `others` to be contiguous and of the shape of x.
    """
    if torch.compiler.is_compiling() or x.device.type != "cpu" or dims != (-1,):
        return False
    contiguous = all(t.is_contiguous() and t.shape == x.shape for t in (x, *others))
    alike = all(t is None or t.dim() <= 1 for t in weights)
    return contiguous and alike and x.numel() > ELEMENTS * torch.get_num_threads()


def blocks(x: Tensor) -> Iterator[slice]:
    """The slices of rows, of at least one row each, for x (rows, N)."""
    step = max(1, ELEMENTS * torch.get_num_threads() // x.shape[-1])
    for start in range(0, x.shape[0], step):
        yield slice(start, start + step)
