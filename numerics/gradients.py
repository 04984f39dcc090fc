"""Gradients of a layer by automatic differentiation: the whole input gradient, and one phasor's own block."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Layer = Callable[[Tensor], Tensor]  # (..., N) -> (..., N)


def input_gradient(layer: Layer, h: Tensor, g: Tensor) -> Tensor:
    """dL/dh for the upstream gradient g = dL/do, in the dtype of h: (..., N), (..., N) -> (..., N)."""
    h = h.detach().requires_grad_()
    return torch.autograd.grad(layer(h), h, g)[0]


def own_gradient(layer: Layer, h: Tensor, chosen: Tensor, v: Tensor) -> Tensor:
    """J_ii^T v: the gradient at phasor i when the upstream gradient is v there and 0 everywhere else.

    h is (T, N); `chosen` (T, K) holds the indices i; v (T, K, 2). Returns (T, K, 2) in the dtype of h.
    """
    copies = h.unsqueeze(1).repeat(1, chosen.shape[1], 1)  # (T, K, N): one row a chosen phasor
    place = pick_place(chosen)
    upstream = torch.zeros_like(copies).scatter_(-1, place, v.to(h.dtype))
    return input_gradient(layer, copies, upstream).gather(-1, place)


def pick_place(chosen: Tensor) -> Tensor:
    """Channels 2i and 2i + 1 of the chosen phasors: (T, K) -> (T, K, 2)."""
    return torch.stack((2 * chosen, 2 * chosen + 1), dim=-1)


def pick(values: Tensor, chosen: Tensor) -> Tensor:
    """The chosen phasors' entries: (T, P, ...), (T, K) -> (T, K, ...)."""
    rows = torch.arange(len(values), device=values.device)[:, None]
    return values.expand(len(chosen), *values.shape[1:])[rows, chosen]
