"""Real activations that come with the package: a sentence encoder's residual stream, queries and keys.

`data/README.md` says where they are from. Every tensor has 384 channels, that is P = 192 phasors, and fp16 values.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

PATH = Path(__file__).parent / "data" / "minilm_activations.safetensors"
KINDS = ("pre_norm", "query", "key")


@cache
def tensors() -> dict[str, Tensor]:
    """All tensors by name ("layer0.pre_norm", ...), each (rows, 384) in fp16."""
    return load_file(PATH)


@cache
def rows(kind: str) -> Tensor:
    """The rows of one kind over all layers, in fp64 (exactly the stored fp16 values): (rows, 384).

    "pre_norm" is the input of a block's output LayerNorm, "query" and "key" are the projections of the attention.
    Raises ValueError for another kind.
    """
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; accepted: {', '.join(KINDS)}")
    found = [tensor for name, tensor in sorted(tensors().items()) if name.endswith(f".{kind}")]
    return torch.cat(found).double()
