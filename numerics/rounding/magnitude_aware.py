"""Bounds on MA-RMSNorm, y_k = s gamma_k x_k / S + alpha W_k log S: its output and its input gradient, before storing.

Counted as in `numerics.rounding.counts`; all arguments in fp64: x, g (..., N), gamma and W (N,), S = S_RMS (..., 1).

    s gamma x/S    S_RMS, division 1, gamma 1, s as a number of the format 1, product 1, last sum 1     = S + 5
    alpha W log S  alpha as a number of the format 1, two products 2, last sum 1, and `log_error`       = 4

The input gradient is (a - xhat W) v with v = 1/S (S + 1), xhat = x v (S + 2), a = (s gamma) g (3, s as a number of the
format among them) and W = W_1 - W_2,

    W_1 = (sum a x) v / N      a 3, product 1, sum n, v S + 1, product 1, quotient 1, difference 1      = S + n + 8
    W_2 = sum (alpha W) g / N  alpha W 2, product 1, sum n, quotient 1, difference 1                    = n + 5
    a v                        a 3, difference 1, v S + 1, product 1                                    = S + 6
    xhat W v                   xhat S + 2, W, product 1, difference 1, v S + 1, product 1               = W + 2 S + 6

relative to |s gamma g|/S, |xhat| B_1/S and |xhat| B_2/S, B_1 = (1/N) sum |s gamma g xhat|, B_2 = (1/N) sum |g alpha W|.
Underflow: half of eta for each product and quotient, carried through the following ones, and doubled. A logarithm is
taken to be within one unit in the last place, two roundings, as the libraries behind PyTorch state.
"""

from __future__ import annotations

from torch import Tensor

from numerics.norms import MA_ALPHA, MA_S
from numerics.rounding.counts import rms_roundings, roundings, sum_roundings
from numerics.rounding.formats import Format
from numerics.rounding.forward import log_error


def ma_output_error(
    x: Tensor, gamma: Tensor, magnitude: Tensor, scale: Tensor, fmt: Format, s: float = MA_S, alpha: float = MA_ALPHA
) -> Tensor:
    """Bound on the error of y: (..., N)."""
    acc, channels = fmt.accumulation, x.shape[-1]
    first = (s * gamma * x / scale).abs()
    level = (alpha * magnitude).abs()
    log, lost = scale.log().abs(), log_error(scale, channels, fmt)
    second = level * (lost + roundings(5, acc) * (log + lost))
    underflow = acc.underflow * ((s * gamma).abs() + abs(s) + log + 2)
    return roundings(rms_roundings(channels, fmt) + 6, acc) * first + second + underflow


def ma_gradient_error(
    x: Tensor,
    g: Tensor,
    gamma: Tensor,
    magnitude: Tensor,
    scale: Tensor,
    fmt: Format,
    s: float = MA_S,
    alpha: float = MA_ALPHA,
) -> Tensor:
    """Bound on the error of dL/dx: (..., N)."""
    acc, channels = fmt.accumulation, x.shape[-1]
    count, terms = rms_roundings(channels, fmt), sum_roundings(channels, fmt.any_order)
    weighted, xhat = (s * gamma * g).abs(), (x / scale).abs()
    first = (weighted * xhat).sum(-1, keepdim=True) / channels
    second = (alpha * magnitude * g).abs().sum(-1, keepdim=True) / channels
    relative = roundings(count + 6, acc) * weighted
    relative = relative + roundings(3 * count + terms + 14, acc) * xhat * first
    relative = relative + roundings(2 * count + terms + 11, acc) * xhat * second
    size = g.abs()
    carried = 5 + 1 / scale + (size * (xhat + 1)).sum(-1, keepdim=True) / channels
    lost = 1 + (size + 2 + first + second + xhat * carried) / scale
    return relative / scale + acc.underflow * lost
