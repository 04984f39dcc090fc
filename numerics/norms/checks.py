"""What the layers accept, and the errors that name argument, shape and what is accepted."""

from __future__ import annotations

import math
import numbers

import torch
from torch import Tensor

ACCUMULATION = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float32: torch.float32,
    torch.float64: torch.float64,
}
NAMES = "float16, bfloat16, float32, float64"


def check_input(x: Tensor, per_weight: int = 1) -> None:
    """TypeError or ValueError where x cannot be normalized; `per_weight` is 2 where its channels are read in pairs."""
    if x.dtype not in ACCUMULATION:
        raise TypeError(f"x has dtype {x.dtype} and shape {tuple(x.shape)}; accepted: {NAMES}")
    if x.dim() == 0 or x.shape[-1] == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}; accepted: a last dimension of at least one channel")
    if x.shape[-1] % per_weight:
        raise ValueError(
            f"x has shape {tuple(x.shape)}, an odd width of {x.shape[-1]} channels; "
            "accepted: an even width, as pairs of channels"
        )


def accumulate(x: Tensor, per_weight: int = 1) -> Tensor:
    """x in the dtype it is computed in, once `check_input` has accepted it."""
    check_input(x, per_weight)
    return x.to(ACCUMULATION[x.dtype])


def check_eps(eps: float) -> None:
    """ValueError for an eps that is negative or not finite."""
    if not 0 <= eps < math.inf:  # false for NaN; and a comparison can be traced where eps is symbolic
        raise ValueError(f"eps is {eps}; accepted: a finite number of at least 0")


def check_constant(name: str, value: float) -> None:
    """ValueError for a constant that is not finite."""
    if not -math.inf < value < math.inf:
        raise ValueError(f"{name} is {value}; accepted: a finite number")


def check_count(name: str, value: int, multiple: int = 1) -> int:
    """A positive multiple as an int; TypeError where it is no integer, ValueError where it is no such multiple."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} is {value!r}; accepted: an integer")
    if value < 1 or value % multiple:
        raise ValueError(f"{name} is {value}; accepted: a positive multiple of {multiple}")
    return int(value)


def check_weight(weight: Tensor | None, x: Tensor, per_weight: int = 1, name: str = "weight") -> None:
    """TypeError or ValueError for a weight whose dtype, shape or device does not fit x."""
    if weight is None:
        return
    if weight.dtype not in ACCUMULATION:
        raise TypeError(f"{name} has dtype {weight.dtype} and shape {tuple(weight.shape)}; accepted: {NAMES}")
    channels = x.shape[-1]
    if tuple(weight.shape) != (channels // per_weight,):
        raise ValueError(
            f"{name} has shape {tuple(weight.shape)}; accepted for {channels} channels: ({channels // per_weight},)"
        )
    check_device(weight, x, name)


def check_device(weight: Tensor, x: Tensor, name: str = "weight") -> None:
    """ValueError for a weight on another device than x."""
    if weight.device != x.device:
        raise ValueError(
            f"{name}, of shape {tuple(weight.shape)}, is on {weight.device}; "
            f"accepted: {x.device}, where x of shape {tuple(x.shape)} is"
        )
