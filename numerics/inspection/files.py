"""Files of tensors, read in chunks of rows and never executed.

| suffix | read by |
|---|---|
| `.safetensors` | a memory map; the library checks the header |
| `.npy` | NumPy's memory map, object arrays refused |
| `.npz` | a stream through each member, compressed or not |
| `.pt`, `.pth`, `.bin` | `torch.load(weights_only=True, mmap=True)`: plain tensors, any other pickle is refused |

A tensor (..., C) is seen as rows of C channels. At most `CHUNK` numbers of it are in memory at a time, except for an
array in an `.npz` whose channels are not the dimension that varies fastest, and for a `.pt` file in the format that is
no zip archive, which cannot be mapped.
"""

from __future__ import annotations

import json
import math
import pickle
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import IO

import numpy as np
import torch
from torch import Tensor

CHUNK = 1 << 20  # numbers at a time: 8 MiB in fp64
SUFFIXES = (".safetensors", ".npy", ".npz", ".pt", ".pth", ".bin")
FLOATS = {
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    torch.float32: "fp32",
    torch.float64: "fp64",
}
_SAFETENSORS = {"F16": ("<f2", "fp16"), "BF16": ("<i2", "bf16"), "F32": ("<f4", "fp32"), "F64": ("<f8", "fp64")}


class FileProblem(ValueError):
    """A file that cannot be read as tensors; the message says why, in words that complete "accepts"."""


@dataclass(frozen=True)
class Stored:
    """One tensor of a file: its name, shape (..., C) and dtype ("fp16", or the file's own name for another one).

    `read` yields consecutive chunks of rows as (n, C) tensors of the stored dtype; it can be called again.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    read: Callable[[], Iterator[Tensor]]

    @property
    def channels(self) -> int:
        """C, the size of the last dimension; 0 for a single number."""
        return self.shape[-1] if self.shape else 0

    @property
    def rows(self) -> int:
        """How many rows of C channels there are."""
        return math.prod(self.shape[:-1]) if self.shape else 0

    @property
    def obstacle(self) -> str:
        """Why its rows cannot be read as phasors, or nothing."""
        if self.dtype not in FLOATS.values():
            return f"its dtype is {self.dtype}; accepted: {', '.join(FLOATS.values())}"
        if not self.channels or self.channels % 2:
            return f"its shape is {self.shape}; accepted: (..., C) with an even number of channels C"
        if not self.rows:
            return f"its shape is {self.shape}; accepted: at least one row"
        return ""


def open_file(path: Path, dim: int = -1) -> list[Stored]:
    """The tensors of a file, in the file's order, dimension `dim` of each moved to the end: it holds the channels.

    A tensor that has no such dimension is left as it is. Raises `FileProblem` for a suffix that is not known, a file
    that is damaged, and one that holds other things than tensors; OSError for one that cannot be opened.
    """
    readers = {".safetensors": _safetensors, ".npy": _npy, ".npz": _npz}
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise FileProblem(f"a file named {', '.join(SUFFIXES)}")
    with path.open("rb"):
        pass
    return readers.get(suffix, _torch)(path, dim)


def _rows(n: int, channels: int) -> Iterator[tuple[int, int]]:
    step = max(1, CHUNK // max(1, channels))
    return ((start, min(n, start + step)) for start in range(0, n, step))


def _moved(dim: int, dims: int) -> int:
    """The dimension to move to the end, -1 where there is none of that number."""
    return dim if -dims <= dim < dims else -1


def _safetensors(path: Path, dim: int) -> list[Stored]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, "pt") as checked:
            names = list(checked.keys())
        with path.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            header = json.loads(stream.read(length))
    except (SafetensorError, ValueError) as error:
        raise FileProblem(f"a safetensors file ({error})") from error
    return [_mapped(path, name, header[name], 8 + length, dim) for name in names]


def _mapped(path: Path, name: str, entry: Mapping, start: int, dim: int) -> Stored:
    if entry["dtype"] not in _SAFETENSORS or 0 in entry["shape"]:
        return Stored(name, tuple(entry["shape"]), entry["dtype"], lambda: iter(()))
    stored, shown = _SAFETENSORS[entry["dtype"]]
    array = np.memmap(path, stored, "r", start + entry["data_offsets"][0], tuple(entry["shape"]))
    return _array(name, array, shown, dim)


def _npy(path: Path, dim: int) -> list[Stored]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileProblem(f"an .npy file of numbers ({error})") from error
    return [_array(path.stem, array, _numpy_name(array.dtype), dim)]


def _array(name: str, array: np.ndarray, dtype: str, dim: int) -> Stored:
    """A stored array, mapped or not; bf16, which NumPy does not have, comes as 16-bit integers."""
    array = np.moveaxis(array, _moved(dim, array.ndim), -1) if array.ndim else array

    def read() -> Iterator[Tensor]:
        channels = array.shape[-1]
        if array.flags.c_contiguous:
            flat = array.reshape(-1, channels)
            yield from (_tensor(flat[a:b], dtype) for a, b in _rows(len(flat), channels))
            return
        for prefix in product(*map(range, array.shape[:-2])):
            yield from (_tensor(array[prefix][a:b], dtype) for a, b in _rows(array.shape[-2], channels))

    return Stored(name, array.shape, dtype, read)


def _numpy_name(dtype: np.dtype) -> str:
    return f"fp{8 * dtype.itemsize}" if dtype.kind == "f" and dtype.itemsize in (2, 4, 8) else str(dtype)


def _tensor(part: np.ndarray, dtype: str) -> Tensor:
    """A copy in memory, in the machine's byte order."""
    copy = torch.from_numpy(np.array(part, dtype=part.dtype.newbyteorder("="), order="C"))
    return copy.view(torch.bfloat16) if dtype == "bf16" else copy


def _npz(path: Path, dim: int) -> list[Stored]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(".npy")]
            headers = [_header(archive, name) for name in names]
    except (zipfile.BadZipFile, ValueError, EOFError) as error:
        raise FileProblem(f"an .npz file of numbers ({error})") from error
    return [_member(path, name, *header, dim) for name, header in zip(names, headers, strict=True)]


def _header(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], bool, np.dtype]:
    with archive.open(name) as stream:
        shape, fortran, dtype = _read_header(stream)
    if dtype.hasobject:
        raise ValueError(f"{name} holds Python objects")
    return shape, fortran, dtype


def _read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(stream)
    return np.lib.format.read_array_header_2_0(stream)


def _member(path: Path, name: str, shape: tuple[int, ...], fortran: bool, dtype: np.dtype, dim: int) -> Stored:
    short, shown = name.removesuffix(".npy"), _numpy_name(dtype)
    streamed = not (fortran and len(shape) > 1) and _moved(dim, len(shape)) in (-1, len(shape) - 1)

    def whole() -> Stored:
        with zipfile.ZipFile(path) as archive, archive.open(name) as stream:
            return _array(short, np.lib.format.read_array(stream, allow_pickle=False), shown, dim)

    def stream_rows() -> Iterator[Tensor]:
        with zipfile.ZipFile(path) as archive, archive.open(name) as stream:
            _read_header(stream)
            for a, b in _rows(math.prod(shape[:-1]), shape[-1]):
                data = stream.read((b - a) * shape[-1] * dtype.itemsize)
                yield _tensor(np.frombuffer(data, dtype).reshape(b - a, shape[-1]), shown)

    if streamed:
        return Stored(short, shape, shown, stream_rows)
    axes = list(shape)
    axes.append(axes.pop(_moved(dim, len(shape))))
    return Stored(short, tuple(axes), shown, lambda: whole().read())


def _torch(path: Path, dim: int) -> list[Stored]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the old format; what matters is raised
            mapped = zipfile.is_zipfile(path)
            loaded = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped or None)
    except pickle.UnpicklingError as error:
        reason = str(error).split("\n")[0]
        raise FileProblem(f"a file of plain tensors; reading it would run code, which is refused ({reason})") from error
    except (RuntimeError, EOFError, KeyError, ValueError, AttributeError) as error:
        reason = (str(error) or type(error).__name__).split("\n")[0]
        raise FileProblem(f"a file written by torch.save ({reason})") from error
    found = list(_tensors(path.stem, loaded, dim, top=True))
    if not found:
        raise FileProblem("a file that holds a tensor, or a dict or list of tensors")
    return found


def _tensors(name: str, value: object, dim: int, top: bool = False) -> Iterator[Stored]:
    if isinstance(value, Tensor):
        yield _torch_tensor(name, value.detach(), dim)
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _tensors(str(key) if top else f"{name}.{key}", entry, dim)
    elif isinstance(value, list | tuple):
        for number, entry in enumerate(value):
            yield from _tensors(str(number) if top else f"{name}.{number}", entry, dim)


def _torch_tensor(name: str, tensor: Tensor, dim: int) -> Stored:
    if tensor.layout != torch.strided or tensor.is_quantized:
        return Stored(name, tuple(tensor.shape), f"{tensor.layout} {tensor.dtype}", lambda: iter(()))
    tensor = tensor.movedim(_moved(dim, tensor.dim()), -1) if tensor.dim() else tensor

    def read() -> Iterator[Tensor]:
        rows = tensor if tensor.dim() > 1 else tensor[None]
        if rows.is_contiguous():
            rows = rows.view(-1, rows.shape[-1])
        for prefix in product(*map(range, rows.shape[:-2])):
            yield from (rows[prefix][a:b] for a, b in _rows(rows.shape[-2], rows.shape[-1]))

    return Stored(name, tuple(tensor.shape), FLOATS.get(tensor.dtype, str(tensor.dtype).removeprefix("torch.")), read)
