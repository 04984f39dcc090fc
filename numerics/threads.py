"""One thread, for results that do not depend on the number of cores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch computes with one thread meanwhile: the number of threads decides the order of floating-point sums.

    Cores are used by several processes instead, which is faster too: the tensors are small.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
