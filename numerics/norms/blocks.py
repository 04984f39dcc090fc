"""Rows in blocks that stay in a cache: several passes over a block cost one pass over memory.

PyTorch splits an operation on a large tensor among its threads and waits for all of them at its end. So blocks are
larger where there are several threads, each of which has a cache of its own: the work of an operation then outweighs
the waiting.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

ELEMENTS = 2**17  # in a block with one thread: 512 KiB in fp32
TEMPORARIES = 4  # of the size of a block; the heap then keeps twice as much

Sums = tuple[Tensor, ...]


def in_blocks(x: Tensor, weights: tuple[Tensor | None, ...], dims: tuple[int, ...], *others: Tensor) -> bool:
    """Whether rows are to be taken in blocks: eagerly, on a CPU, in contiguous memory, where there are several.

    The weights have to be the same in every row, and `others` to be contiguous and of the shape of x.
    """
    if torch.compiler.is_compiling() or x.device.type != "cpu" or dims != (-1,):
        return False
    contiguous = all(t.is_contiguous() and t.shape == x.shape for t in (x, *others))
    alike = all(t is None or t.dim() <= 1 for t in weights)
    return contiguous and alike and x.numel() > ELEMENTS


def keep_heap(block: Tensor) -> None:
    """Have the temporaries of one block stay in the process when they are freed, to be used again for the next one.

    glibc gives the free end of its heap back to the system, page by page to be faulted in again, until a chunk of at
    most 32 MiB that it had mapped is freed: then it keeps twice as much. One is mapped and freed here, untouched.
    """
    block.new_empty(TEMPORARIES * block.numel())


def over_blocks(function: Callable[[slice], Sums], rows: Tensor) -> Sums:
    """function(block) for all rows (rows, N), slice by slice; what it returns, added up in order."""
    threads = torch.get_num_threads()
    step = max(1, ELEMENTS * (2 * threads if threads > 1 else 1) // rows.shape[-1])
    keep_heap(rows[:step])
    total: Sums = ()
    for start in range(0, len(rows), step):
        part = function(slice(start, min(start + step, len(rows))))
        total = tuple(a + b for a, b in zip(total, part, strict=True)) if total else part
    return total
