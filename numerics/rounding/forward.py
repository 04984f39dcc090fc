"""Forward bounds: magnitudes, scales and their logarithm, the outputs of MRSNorm and RMSNorm, before storing.

Counted as in `numerics.rounding.counts`, in the accumulation format; all arguments in fp64.

    o              S, division 1, gamma 1     = S + 2
    o (RMSNorm)    S_RMS, division 1, gamma 1 = S_RMS + 2

A division that underflows loses eta/2, which gamma then multiplies, and the product another eta/2. A logarithm is taken
to be within one unit in the last place, two roundings, as the libraries behind PyTorch state.
"""

from __future__ import annotations

from torch import Tensor

from numerics.rounding.counts import MAGNITUDE, rms_roundings, roundings, scale_roundings
from numerics.rounding.formats import Format


def magnitude_error(r: Tensor, fmt: Format) -> Tensor:
    """Bound on the error of computed magnitudes r."""
    return roundings(MAGNITUDE, fmt.accumulation) * r


def scale_error(scale: Tensor, phasors: int, fmt: Format) -> Tensor:
    """Bound on the error of S (Eq. 1) over P phasors."""
    return roundings(scale_roundings(phasors, fmt), fmt.accumulation) * scale


def rms_scale_error(scale: Tensor, channels: int, fmt: Format) -> Tensor:
    """Bound on the error of S_RMS over N channels, and of the scale of Eq. 11."""
    return roundings(rms_roundings(channels, fmt), fmt.accumulation) * scale


def output_error(o: Tensor, gamma: Tensor, phasors: int, fmt: Format) -> Tensor:
    """Bound on the error of o = gamma z / S over P phasors; shapes broadcast."""
    return _scaled(o, gamma, scale_roundings(phasors, fmt), fmt)


def rms_output_error(o: Tensor, gamma: Tensor, channels: int, fmt: Format) -> Tensor:
    """Bound on the error of o = gamma x / S_RMS over N channels; shapes broadcast."""
    return _scaled(o, gamma, rms_roundings(channels, fmt), fmt)


def _scaled(o: Tensor, gamma: Tensor, scale: int, fmt: Format) -> Tensor:
    acc = fmt.accumulation
    return roundings(scale + 2, acc) * o.abs() + acc.underflow * (gamma.abs() + 1)


def log_error(scale: Tensor, channels: int, fmt: Format) -> Tensor:
    """Bound on the error of log S_RMS: |log(1 + d)| <= g / (1 - g) for |d| <= g = gamma_n of S, and one unit."""
    g = roundings(rms_roundings(channels, fmt), fmt.accumulation)
    drift = g / (1 - g)
    return drift + roundings(3, fmt.accumulation) * (scale.log().abs() + drift)
