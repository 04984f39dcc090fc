"""The four floating-point formats, and which one a layer accumulates in."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from numerics.measure import DTYPES
from numerics.norms import ACCUMULATION


@dataclass(frozen=True)
class Format:
    """A floating-point format by its short name ("fp16") and its torch dtype, and how a layer computes on it.

    `wide` names the format of the accumulation where it is not the one of the layers in `numerics.norms`; `any_order`
    is for sums about whose order nothing is known (`numerics.rounding.summation`).
    """

    name: str
    dtype: torch.dtype
    wide: str | None = None
    any_order: bool = False

    @property
    def unit_roundoff(self) -> float:
        """u: half the distance from 1 to the next larger number."""
        return torch.finfo(self.dtype).eps / 2

    @property
    def smallest_normal(self) -> float:
        """lambda: the smallest positive number with full precision."""
        return torch.finfo(self.dtype).smallest_normal

    @property
    def smallest_subnormal(self) -> float:
        """eta = 2 u lambda: the smallest positive number."""
        return self.smallest_normal * torch.finfo(self.dtype).eps

    @property
    def underflow(self) -> float:
        """What bounds count for an operation that may underflow: eta, in fp64 2^-1000.

        The bounds are evaluated in fp64; an eta of fp64 itself would make that slow (subnormal arithmetic) and inexact.
        """
        return max(self.smallest_subnormal, 2.0**-1000)

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return torch.finfo(self.dtype).max

    @property
    def overflow(self) -> float:
        """Where rounding to nearest turns a number into infinity: half a unit above the largest finite one.

        For fp64 that point is no fp64 number, and nothing that fp64 holds lies between; it is infinity there.
        """
        u = self.unit_roundoff
        return self.largest * (1 + u / (2 - 2 * u))

    @property
    def accumulation(self) -> Format:
        """The format computed in for inputs of this one: that of the layers, or the one that was asked for."""
        if self.wide is not None:
            return FORMATS[self.wide]
        return next(f for f in FORMATS.values() if f.dtype == ACCUMULATION[self.dtype])

    @property
    def accumulates_in_itself(self) -> bool:
        """Whether results are already in this format before they are stored, so that storing loses nothing."""
        return self.accumulation.dtype == self.dtype

    def accumulating(self, wide: str) -> Format:
        """This format with another accumulation; KeyError for a name that is none of the four."""
        return replace(self, wide=FORMATS[wide].name)

    def summed_in_any_order(self) -> Format:
        """This format for code that may add in any order, one term after the other too."""
        return replace(self, any_order=True)


FORMATS = dict(
    zip(
        DTYPES,
        (
            Format("fp16", torch.float16),
            Format("bf16", torch.bfloat16),
            Format("fp32", torch.float32),
            Format("fp64", torch.float64),
        ),
        strict=True,
    )
)
FP64 = FORMATS["fp64"]
