"""The map of one channel: fp16 -> fp16, for a given scale and weight.

MRSNorm computes o = gamma (x / S) in fp32 and rounds to fp16 (`numerics.norms`). S and gamma are the same for both
channels of a phasor, so a table of 31,744 outputs holds what happens to all of its pairs.
"""

from __future__ import annotations

from fractions import Fraction

import torch
from torch import Tensor

VALUES = 0x7C00  # bit patterns 0 .. 0x7BFF are the finite fp16 numbers from 0 up, in order
PAIRS = VALUES**2


def values(device: str = "cpu") -> Tensor:
    """All finite non-negative fp16 numbers in order, in fp32: (VALUES,)."""
    return torch.arange(VALUES, dtype=torch.int16).view(torch.float16).to(device, torch.float32)


def component(x: Tensor, scale: float, gamma: float) -> Tensor:
    """gamma (x / S) in fp32, rounded to fp16: what the layer makes of channels x, in the shape of x.

    `scale` and `gamma` are fp32 numbers. Raises ValueError for others, and for a scale that is not positive and finite.
    """
    given = torch.tensor([scale, gamma], dtype=torch.float64)
    if not (torch.equal(given, given.float().double()) and 0 < scale < float("inf") and bool(given.isfinite().all())):
        raise ValueError(f"scale is {scale}, gamma is {gamma}; accepted: finite fp32 numbers, the scale positive")
    scale32, gamma32 = given.float().to(x.device)
    return (x.float() / scale32 * gamma32).half()


def exact_component(x: Tensor, scale: float, gamma: float) -> list[Fraction]:
    """gamma x / S without rounding, for a vector x."""
    factor = Fraction(gamma) / Fraction(scale)
    return [Fraction(value) * factor for value in x.tolist()]
