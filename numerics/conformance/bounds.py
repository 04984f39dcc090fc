"""From the error of a computation to the bound on what is returned, and measured errors over that bound.

The last rounding, to the dtype of the result, counts u (|exact| + error), or half the smallest subnormal number. Where
the terms of a result may be rounded one by one (`Exact.terms`), that comes before it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.conformance.specs import Exact
from numerics.rounding import Format, rounded, settle_overflow


def bound(exact: Exact, fmt: Format, wide: bool = False) -> tuple[Tensor, Tensor]:
    """The bounds before and after the last rounding; `wide`: of a computation in fp64, twice, as the truth is one."""
    error = 2 * exact.error64 if wide else exact.error
    if exact.terms is not None and fmt != fmt.accumulation:
        error = error + fmt.unit_roundoff * (exact.terms + error) + 2 * fmt.underflow
    return error, rounded(error, exact.value, fmt)


def ratios(values: Tensor, exact: Exact, fmt: Format, wide: bool = False) -> Tensor:
    """Errors over their bounds, NaN where there is no number; 0 where there is no error."""
    before, after = bound(exact, fmt, wide)
    settled, _ = settle_overflow(values, exact.value, before, fmt)
    error = (settled - exact.value).abs()
    return torch.where(error == 0, torch.zeros_like(error), error / after)
