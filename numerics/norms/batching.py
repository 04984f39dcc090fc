"""The batch dimension that `torch.func.vmap` adds, moved to the front of every operand of a norm."""

from __future__ import annotations

from typing import Any

from torch import Tensor

Weights = tuple[Tensor | None, ...]


def batched(
    info: Any, in_dims: tuple, x: Tensor, weights: Weights, *others: Tensor, every_weight: bool = False
) -> list:
    """x, the weights, and the other operands, each with the batch of size B as its first dimension.

    A weight becomes (B, 1, ..., P), so that it broadcasts as before. It stays without a batch where it has none, unless
    `every_weight` asks for one of its own (expanded) for each member.
    """
    size = info.batch_size

    def front(t: Tensor, dim: int | None) -> Tensor:
        return t.unsqueeze(0).expand(size, *t.shape) if dim is None else t.movedim(dim, 0)

    x, found = front(x, in_dims[0]), []
    for weight, dim in zip(weights, in_dims[1:], strict=False):
        if weight is not None and (dim is not None or every_weight):
            own = front(weight, dim)
            weight = own.reshape(size, *(1 for _ in range(x.dim() - own.dim())), *own.shape[1:])
        found.append(weight)
    rest = zip(others, in_dims[1 + len(weights) :], strict=False)
    return [x, *found, *(front(t, d) for t, d in rest)]


def unbatched(found: tuple[Tensor, ...], weights: Weights, dims: tuple) -> tuple[Tensor, ...]:
    """The gradients, those of the weights without the dimensions that `batched` put into them."""
    shapes = []
    for weight, dim in zip(weights, dims, strict=True):
        if weight is not None:
            shape = list(weight.shape)
            if dim is not None:
                shape.pop(dim)
            shapes.append(shape)
    own = zip(found[1:], shapes, strict=False)
    return found[0], *(t.reshape(t.shape[0], *shape) for t, shape in own)
