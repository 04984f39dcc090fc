"""What a specification consists of: formulas in fp64, and how far a computation of them may be off.

The formulas are closed ones, of the outputs and of both gradients; nothing here is differentiated automatically. They
are evaluated in fp64, whose own error is below 2^-28 of any bound.

What an implementation may do, and what the bounds allow for:
- It computes in fp32 at least, whatever the dtype of its input: fp16 and bf16 are to be widened first, fp64 may be
  narrowed (the paper's listing does so). One that accumulates in fp16 or bf16, or rounds S to them, is not allowed.
- It sums in any order, by any tree, so that a sum of n terms counts n - 1 roundings; it divides, or multiplies by a
  reciprocal; it takes magnitudes by squares, by complex numbers or in polar form. `SPARE` roundings pay for that.
- It rounds the output once, to the dtype of its input. The terms of the input gradient may be rounded to that dtype
  one by one before they are added: automatic differentiation does so where x is widened twice. A parameter's gradient
  is rounded once, to the parameter's dtype; where the channels of a phasor share one, the two contributions may be
  rounded before they are added (as in the paper's listing, which repeats gamma for each channel).
- Each operation may underflow, by at most half the smallest subnormal number of fp32.

Counts are of the standard model, gamma_n = n u / (1 - n u) (see `numerics.rounding`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from numerics.rounding import FORMATS, Format, roundings

SPARE = 12
TINY = 4 * FORMATS["fp32"].smallest_subnormal


@dataclass(frozen=True)
class Rows:
    """One case with its leading dimensions flattened, in fp64: x and g (T, N), parameters (n,), eps.

    `lead` are the dimensions in front of the channels; `narrow` is the dtype the input has.
    """

    x: Tensor
    g: Tensor
    parameters: dict[str, Tensor]
    eps: float
    lead: tuple[int, ...]
    narrow: torch.dtype

    @property
    def channels(self) -> int:
        """N."""
        return self.x.shape[-1]

    def with_parameter(self, name: str, change: Callable[[Tensor], Tensor]) -> Rows:
        """The same rows with one parameter changed."""
        return replace(self, parameters={**self.parameters, name: change(self.parameters[name])})


@dataclass(frozen=True)
class Exact:
    """A true value, the bound on what a computation in fp32 loses before the last rounding, and in fp64.

    `terms` bounds the sum of the magnitudes that may be rounded to the dtype of the result before they are added.
    """

    value: Tensor
    error: Tensor
    error64: Tensor
    terms: Tensor | None = None


class Spec:
    """A normalization layer over the last dimension, which is split into `groups`; a subclass for every formula."""

    name: str
    formula: str
    paired = False  # channels 2i and 2i + 1 belong together
    inputs = 1  # 2: the layer takes queries and keys, and returns both
    roles: dict[str, int] = {}  # noqa: RUF012  # parameters: name -> channels that share an entry
    groups = 1

    def size(self, role: str, channels: int) -> int:
        """Entries of a parameter."""
        return channels // self.roles[role]

    def width(self, channels: int) -> int:
        """The next number of channels, upwards, that the layer exists for."""
        step = 2 * self.groups if self.paired else 1
        return -(-channels // step) * step

    def output(self, rows: Rows) -> Exact:
        """The output (T, N)."""
        value = self.forward(rows)
        return Exact(value, *(self.forward_error(rows, value, fmt) for fmt in (FORMATS["fp32"], FORMATS["fp64"])))

    def forward(self, rows: Rows) -> Tensor:
        """The formula."""
        raise NotImplementedError

    def forward_error(self, rows: Rows, value: Tensor, fmt: Format) -> Tensor:
        """Bound on the error of `value` computed in `fmt`."""
        raise NotImplementedError

    def input_gradient(self, rows: Rows) -> Exact:
        """dL/dx (T, N)."""
        raise NotImplementedError

    def parameter_gradient(self, role: str, rows: Rows) -> Exact:
        """dL/dparameter (n,)."""
        raise NotImplementedError

    def zero_slack(self, rows: Rows) -> Tensor | None:
        """How far the input gradient may be off where the derivative does not exist (a phasor 0); None: nowhere."""
        return None

    def scales(self, rows: Rows) -> Iterator[tuple[str, Tensor]]:
        """Mistakes in the scale: their names and the outputs they give."""
        return iter(())

    def gradient_mistakes(self, rows: Rows) -> Iterator[tuple[str, Tensor]]:
        """Mistakes in the input gradient: their names and what they give."""
        return iter(())


def count(number: int, fmt: Format) -> float:
    """gamma_n with the spare roundings."""
    return roundings(number + SPARE, fmt)


def pooled(statistic: Tensor, rows: Rows) -> Iterator[tuple[str, Tensor]]:
    """A per-row statistic (T, ...) averaged over rows, over the batch, over time, and up to each time."""
    rest = statistic.shape[1:]
    if len(statistic) > 1:
        yield "statistic over all tokens", statistic.mean(0, keepdim=True).expand_as(statistic)
    if len(rows.lead) == 2 and min(rows.lead) > 1:
        split = statistic.reshape(*rows.lead, *rest)
        yield "statistic over the batch", split.mean(0, keepdim=True).expand_as(split).reshape(-1, *rest)
        yield "statistic over time", split.mean(1, keepdim=True).expand_as(split).reshape(-1, *rest)
        steps = torch.arange(1, rows.lead[1] + 1, dtype=torch.float64).reshape(1, -1, *(1 for _ in rest))
        yield "statistic over time up to each token", (split.cumsum(1) / steps).reshape(-1, *rest)
