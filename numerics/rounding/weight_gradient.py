"""Bounds on the gradients of the weights: gamma of the three layers, W of MA-RMSNorm, before they are stored.

Counted as in `numerics.rounding.counts`; all arguments in fp64. Each is a sum over the T rows of a batch, as
`numerics.norms` computes it: for rows that fill several blocks of a cache (`norms.blocks`) the terms of a block are
added up first, then the blocks, one after the other. So a term meets `row_sum_roundings`, n for short.

    dL/dgamma      sum g x/S               1/S S + 1, product 1, product with g 1, sum n            = S + n + 3
      MRSNorm                              and the sum of a pair 1                                  = S + n + 4
      MA-RMSNorm   s sum g x/S             and s as a number of the format 1, product 1             = S + n + 5
    dL/dW          alpha sum g log S       `log_error`, and product 1, sum n, alpha as a number of
                                           the format 1, product 1                                  = n + 3

relative to the sum of the sizes, whatever cancels. x/S and the product with g lose eta/2 each to underflow.
"""

from __future__ import annotations

from torch import Tensor

from numerics.norms import MA_ALPHA, MA_S
from numerics.norms.blocks import ELEMENTS
from numerics.rounding.counts import rms_roundings, roundings, scale_roundings, sum_roundings
from numerics.rounding.formats import Format
from numerics.rounding.forward import log_error


def row_sum_roundings(rows: int, channels: int, any_order: bool = False) -> int:
    """Roundings that a row's term meets in a sum over rows of N channels, however many threads share a block."""
    blocks = -(-rows // max(1, ELEMENTS // channels))
    return min(max(rows - 1, 0), sum_roundings(rows, any_order) + blocks)


def weight_gradient_error(x: Tensor, g: Tensor, scale: Tensor, fmt: Format) -> Tensor:
    """Bound on the error of dL/dgamma of MRSNorm; x, g: (T, N), S: (T, 1); result (P,)."""
    lost = _summed(x, g, scale, scale_roundings(x.shape[-1] // 2, fmt) + 4, fmt)
    return lost.unflatten(-1, (-1, 2)).sum(-1)


def rms_weight_gradient_error(x: Tensor, g: Tensor, scale: Tensor, fmt: Format) -> Tensor:
    """Bound on the error of dL/dgamma of RMSNorm; x, g: (T, N), S_RMS: (T, 1); result (N,)."""
    return _summed(x, g, scale, rms_roundings(x.shape[-1], fmt) + 3, fmt)


def ma_weight_gradient_error(x: Tensor, g: Tensor, scale: Tensor, fmt: Format, s: float = MA_S) -> Tensor:
    """Bound on the error of dL/dgamma of MA-RMSNorm; x, g: (T, N), S_RMS: (T, 1); result (N,)."""
    lost = _summed(x, g, scale, rms_roundings(x.shape[-1], fmt) + 5, fmt)
    return abs(s) * lost + fmt.accumulation.underflow


def ma_magnitude_gradient_error(x: Tensor, g: Tensor, scale: Tensor, fmt: Format, alpha: float = MA_ALPHA) -> Tensor:
    """Bound on the error of dL/dW of MA-RMSNorm; x, g: (T, N), S_RMS: (T, 1); result (N,)."""
    acc, (rows, channels) = fmt.accumulation, x.shape
    log, lost = scale.log().abs(), log_error(scale, channels, fmt)
    count = row_sum_roundings(rows, channels, fmt.any_order) + 4
    terms = g.abs() * (lost + roundings(count, acc) * (log + lost)) + acc.underflow
    return abs(alpha) * terms.sum(0) + acc.underflow


def _summed(x: Tensor, g: Tensor, scale: Tensor, count: int, fmt: Format) -> Tensor:
    """The bound for sum g x/S over rows where a term counts so many roundings apart from the sum over rows."""
    acc, (rows, channels) = fmt.accumulation, x.shape
    relative = roundings(count + row_sum_roundings(rows, channels, fmt.any_order), acc)
    size = g.abs()
    return relative * (size * (x / scale).abs()).sum(0) + acc.underflow * (size + 1).sum(0)
