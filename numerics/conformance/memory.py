"""The parent's view of the shared memory: where inputs lie, where results are to come, and what they are.

Inputs start at the same addresses every time, so that a further input of the same shape overwrites the one before.
All that is not an input is filled with NaN before a call.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from dataclasses import dataclass
from typing import BinaryIO

import torch
from torch import Tensor

from numerics.conformance.process import SHARED
from numerics.rounding import FORMATS

ALIGNMENT = 64
POISON = 0xFF
NAMES = {fmt.dtype: name for name, fmt in FORMATS.items()}


def stored(x: Tensor) -> Tensor:
    """The bytes of a tensor, those between its elements included."""
    if x.numel() == 0:
        return torch.empty(0, dtype=torch.uint8)
    span = 1 + sum((size - 1) * step for size, step in zip(x.shape, x.stride(), strict=True))
    return x.as_strided((span,), (1,)).contiguous().view(torch.uint8)


def _anonymous() -> BinaryIO:
    """A file without a name: in memory where the system has such files."""
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("conform"), "w+b")
    return tempfile.TemporaryFile()


@dataclass(frozen=True)
class Found:
    """What came back in place of a tensor: its values, or what is wrong with it in words."""

    dtype: str = ""
    shape: tuple[int, ...] = ()
    values: Tensor | None = None  # fp64, of that shape
    wrong: str = ""
    bits: bytes = b""


class Memory:
    """Places are handed out from the start of the memory after each `begin`."""

    def __init__(self) -> None:
        self.file = _anonymous()
        self.file.truncate(SHARED)
        self.map = mmap.mmap(self.file.fileno(), SHARED)
        self.bytes = torch.frombuffer(self.map, dtype=torch.uint8)
        self.used = 0

    def begin(self, start: int = 0) -> None:
        """Forgets all places; the first one will be at byte `start`."""
        self.used = start

    def room(self, size: int) -> list[int]:
        """A poisoned place for `size` bytes: [offset, size]."""
        offset = self.used
        self.used = offset + (size // ALIGNMENT + 2) * ALIGNMENT
        if self.used > SHARED:
            raise ValueError(f"a case needs {self.used} bytes; accepted: {SHARED}")
        self.bytes[offset : self.used] = POISON
        return [offset, size]

    def put(self, x: Tensor) -> dict:
        """Stores a tensor with its strides; the layout that the child builds it from."""
        bits = stored(x)
        offset, size = self.room(len(bits))
        self.bytes[offset : offset + size] = bits
        return {"dtype": NAMES[x.dtype], "shape": list(x.shape), "stride": list(x.stride()), "offset": offset}

    def unchanged(self, x: Tensor, layout: dict) -> bool:
        """Whether a stored tensor's bytes are still those of x."""
        bits = stored(x)
        return torch.equal(self.bytes[layout["offset"] : layout["offset"] + len(bits)], bits)

    def found(self, answer: object, place: list[int]) -> Found:
        """What the child says it left at a place; anything that does not fit together is wrong, never an error."""
        try:
            if "wrong" in answer:
                return Found(wrong=str(answer["wrong"])[:200])
            name, shape, stride = str(answer["dtype"]), tuple(answer["shape"]), tuple(answer["stride"])
            if name not in FORMATS or "offset" not in answer:
                return Found(dtype=name, shape=shape)
            dtype = FORMATS[name].dtype
            if not all(type(n) is int and n >= 0 for n in (*shape, *stride)) or len(shape) != len(stride):
                raise ValueError("no shape")
            count = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))
            if count * dtype.itemsize > place[1]:
                raise ValueError("too much")
            bits = self.bytes[place[0] : place[0] + count * dtype.itemsize].clone()
            values = torch.empty(shape, dtype=dtype) if count == 0 else bits.view(dtype).as_strided(shape, stride)
            plain = values.contiguous()
            return Found(name, shape, plain.double(), bits=bytes(plain.reshape(-1).view(torch.uint8).numpy()))
        except (KeyError, TypeError, ValueError, RuntimeError, AttributeError):
            return Found(wrong="something that is not a tensor")
