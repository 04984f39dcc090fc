"""The last rounding, to the format of the input, and the infinities that it makes."""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.rounding.formats import Format


def rounded(error: Tensor, exact: Tensor, fmt: Format) -> Tensor:
    """The bound after the result is rounded to `fmt`: error + max(u (|exact| + error), eta/2).

    Nothing is added where the layers compute in `fmt` already.
    """
    if fmt.accumulates_in_itself:
        return error
    half = (fmt.unit_roundoff * (exact.abs() + error)).clamp_min(fmt.underflow / 2)
    return error + half


def settle_overflow(measured: Tensor, exact: Tensor, error: Tensor, fmt: Format) -> tuple[Tensor, Tensor]:
    """Measured results in fp64 with every *correct* infinity replaced by the exact value, and a mask of those.

    An infinity is correct where the exact value, within `error` (the bound before the last rounding), lies beyond the
    point where `fmt` rounds to infinity, and has its sign. A finite number there, with the whole interval beyond that
    point, becomes infinite: it should have overflowed. Everything else stays.
    """
    measured = measured.double()
    may = (exact.abs() + error >= fmt.overflow) & (measured == torch.copysign(torch.full_like(exact, torch.inf), exact))
    missed = (exact.abs() - error >= fmt.overflow) & measured.isfinite()
    settled = torch.where(may, exact, measured)
    return torch.where(missed, torch.full_like(measured, torch.inf), settled), may
