"""Rows in blocks that stay in a cache: several passes over a block cost one pass over memory.

PyTorch splits an operation on a large tensor among its threads and waits for all of them at its end. For blocks that
waiting would be most of the time, so with several threads each takes rows of its own, in blocks below the size from
which PyTorch splits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

ELEMENTS = 2**17  # in a block with one thread: 512 KiB in fp32
UNSPLIT = 2**15 - 1  # in a block with several: PyTorch's grain is 2^15

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


def over_blocks(function: Callable[[slice], Sums], rows: Tensor) -> Sums:
    """function(block) for all rows (rows, N), slice by slice; what it returns, added up in a fixed order."""
    threads = min(torch.get_num_threads(), len(rows))
    step = max(1, (ELEMENTS if threads == 1 else UNSPLIT) // rows.shape[-1])
    inference = torch.is_inference_mode_enabled()  # a property of the thread, as is whether gradients are recorded

    def work(share: int) -> Sums:
        start, stop = len(rows) * share // threads, len(rows) * (share + 1) // threads
        with torch.inference_mode(inference), torch.no_grad():
            return _added(function(slice(at, min(at + step, stop))) for at in range(start, stop, step))

    if threads == 1:
        return work(0)
    with ThreadPoolExecutor(threads) as pool:
        return _added(pool.map(work, range(threads)))


def _added(parts: Iterable[Sums]) -> Sums:
    total: Sums = ()
    for part in parts:
        total = tuple(a + b for a, b in zip(total, part, strict=True)) if total else part
    return total
