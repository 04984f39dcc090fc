"""How the child reads the tensors a target returns: with functions bound before the target is imported.

What leaves the child are raw bytes, shape, strides and dtype; the parent reads them by itself. The bytes are copied
from the address of the data, by no operation of PyTorch's, so that a target that replaces `torch.Tensor.numpy`,
`torch.allclose` or whatever else changes nothing. Only plain tensors are read: a subclass could answer anything.
"""

from __future__ import annotations

import ctypes
import mmap

import torch
from torch import Tensor

DTYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32, "fp64": torch.float64}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
PLAIN = (Tensor, torch.nn.Parameter)
POISON = 0xFF  # every byte: NaN in each of the four formats

_base = torch._C.TensorBase
_detach, _size, _stride, _numel = _base.detach, _base.size, _base.stride, _base.numel
_data_ptr, _element_size, _as_strided = _base.data_ptr, _base.element_size, _base.as_strided
_contiguous = _base.contiguous
_cpu, _resolve_conj, _resolve_neg, _copy, _to = _base.cpu, _base.resolve_conj, _base.resolve_neg, _base.copy_, _base.to
_empty, _empty_strided, _frombuffer = torch.empty, torch.empty_strided, torch.frombuffer
_memmove, _memset, _type, _strided, _uint8 = ctypes.memmove, ctypes.memset, type, torch.strided, torch.uint8


def span(shape: tuple[int, ...], stride: tuple[int, ...]) -> int:
    """Elements from the first to the last of a strided tensor, those skipped included; 0 where it has none."""
    if 0 in shape:
        return 0
    return 1 + sum((size - 1) * step for size, step in zip(shape, stride, strict=True))


class Memory:
    """The memory that parent and child share: inputs are tensors in it, results are copied into it."""

    def __init__(self, descriptor: int, size: int, device: str) -> None:
        self.map = mmap.mmap(descriptor, size)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.size = size
        self.device = device
        self._copies: list[tuple[Tensor, Tensor]] = []

    def tensor(self, layout: dict) -> Tensor:
        """A tensor over the memory (on a GPU: a copy with the same strides), as {dtype, shape, stride, offset} says."""
        dtype, shape, stride = DTYPES[layout["dtype"]], layout["shape"], layout["stride"]
        count = span(shape, stride)
        if count == 0:
            return _empty_strided(shape, stride, dtype=dtype, device=self.device)
        flat = _frombuffer(self.map, dtype=dtype, count=count, offset=layout["offset"])
        if self.device != "cpu":
            moved = _to(flat, self.device)
            self._copies.append((flat, moved))
            flat = moved
        return _as_strided(flat, shape, stride)

    def write_back(self) -> None:
        """Shows the parent what became of the inputs, where they are copies on a GPU."""
        while self._copies:
            flat, moved = self._copies.pop()
            _copy(flat, moved)

    def record(self, found: object, place: list[int]) -> dict:
        """Copies a tensor's bytes to place = [offset, bytes]; {"wrong": why} where it is none that can be read."""
        if _type(found) not in PLAIN:
            return {"wrong": "None" if found is None else f"a {_type(found).__name__}"}
        if found.layout != _strided:
            return {"wrong": f"a tensor of layout {found.layout}"}
        device = found.device.type
        plain = _resolve_neg(_resolve_conj(_detach(found)))
        plain = plain if device == "cpu" else _cpu(plain)
        shape, stride = tuple(_size(plain)), tuple(_stride(plain))
        dtype, count = NAMES.get(plain.dtype), span(shape, stride)
        described = {"dtype": dtype or str(plain.dtype), "shape": shape, "stride": stride, "device": device}
        offset, room = place
        if dtype is None:
            return described
        if count * _element_size(plain) > room:  # a narrow view of something wide
            plain = _contiguous(plain)
            stride = tuple(_stride(plain))
            described, count = {**described, "stride": stride}, span(shape, stride)
        if count * _element_size(plain) > room:
            return described
        if count:
            _memmove(self.address + offset, _data_ptr(plain), count * _element_size(plain))
        return {**described, "offset": offset}


def overwrite(tensor: Tensor, values: Tensor) -> None:
    """Gives a tensor new values in its place."""
    with torch.no_grad():
        _copy(tensor, values)


def poison(sizes: list[int], device: str) -> None:
    """Fills and frees blocks of these sizes (bytes), so that memory left unwritten by a target reads as NaN."""
    blocks = [_empty(size, dtype=_uint8, device=device) for size in sizes for _ in range(3) if size]
    for block in blocks:
        if device == "cpu":
            _memset(_data_ptr(block), POISON, _numel(block))
        else:
            block.fill_(POISON)
