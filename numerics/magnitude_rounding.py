"""What MA-RMSNorm may lose to rounding: a-priori bounds on its output and on its input gradient.

y_k = s gamma_k x_k / S + alpha W_k log S, S = sqrt(mean x^2 + eps), as `numerics.norms` computes it.
Roundings are counted, and the domain is, as in `numerics.rounding`. A logarithm is taken to be within one unit in the
last place, two roundings, as the libraries behind PyTorch state.
"""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.inputs import Batch
from numerics.measure import Measurement, Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import MA_S as S
from numerics.rounding import Format, rms_roundings, roundings, sum_roundings
from numerics.scenarios import generator, normal


def random_magnitude(slug: str, b: Batch, settings: Settings) -> Tensor:
    """Normal weights W for a batch, in its dtype and on its device: (N,)."""
    rng = generator(settings.seed, slug, "W", b.phasors, b.fmt.name)
    return normal(rng, b.h.shape[-1]).to(b.fmt.dtype).to(b.h.device)


def log_error(scale: Tensor, channels: int, fmt: Format) -> Tensor:
    """Bound on the error of log S: |log(1 + d)| <= g / (1 - g) for |d| <= g = gamma_n, n that of S, and one unit."""
    g = roundings(rms_roundings(channels, fmt), fmt.accumulation)
    drift = g / (1 - g)
    return drift + roundings(3, fmt.accumulation) * (scale.log().abs() + drift)


def output_error(
    x: Tensor, gamma: Tensor, magnitude: Tensor, scale: Tensor, fmt: Format, s: float = S, alpha: float = ALPHA
) -> Tensor:
    """Bound on the error of y before its last rounding; x (..., N), gamma and W (N,), S (..., 1), all in fp64.

        s gamma x/S    S, division 1, gamma 1, s as a number of the format 1 and product 1, last sum 1     = S + 5
        alpha W log S  alpha as a number of the format 1, two products 2, last sum 1, and `log_error`      = 4

    Underflow: half of eta for each product and quotient, carried through the following ones.
    """
    acc, channels = fmt.accumulation, x.shape[-1]
    first = (s * gamma * x / scale).abs()
    level = (alpha * magnitude).abs()
    log, lost = scale.log().abs(), log_error(scale, channels, fmt)
    second = level * (lost + roundings(5, acc) * (log + lost))
    underflow = acc.underflow * ((s * gamma).abs() + abs(s) + log + 2)
    return roundings(rms_roundings(channels, fmt) + 6, acc) * first + second + underflow


def gradient_error(
    x: Tensor,
    g: Tensor,
    gamma: Tensor,
    magnitude: Tensor,
    scale: Tensor,
    fmt: Format,
    s: float = S,
    alpha: float = ALPHA,
) -> Tensor:
    """Bound on the error of dL/dx by automatic differentiation of `ma_rms_norm`, before its last rounding.

    x, g: (T, N); gamma, W: (N,); S: (T, 1); result (T, N), all in fp64. With xhat = x/S the parts are

        s gamma g/S       s 2, gamma 1, division 1 + S, last sum 1                                      = S + 5
        xhat B_1 / S      s 2, gamma 1, x/S 1 + S, again /S 1 + S, product 1, sum N - 1, with the other
                          branch 1, root 1 + S, /N 2, times 2x 2, last sum 1                            = 3 S + N + 12
        xhat B_2 / S      alpha W 2, g 1, sum N - 1, /S 1 + S, with the other branch 1, root 1 + S,
                          /N 2, times 2x 2, last sum 1                                                  = 2 S + N + 10

    with B_1 = (1/N) sum |s gamma g xhat| and B_2 = (1/N) sum |g alpha W|: nothing is assumed about cancellation.
    Underflow as in `rounding.rms_gradient_error`, for more operations.
    """
    acc, channels, count = fmt.accumulation, x.shape[-1], rms_roundings(x.shape[-1], fmt)
    total = sum_roundings(channels, fmt.any_order)
    direct = (s * gamma * g / scale).abs()
    xhat = (x / scale).abs()
    first = (direct * xhat).sum(-1, keepdim=True) / channels
    second = (alpha * magnitude * g).abs().sum(-1, keepdim=True) / channels / scale
    relative = roundings(count + 6, acc) * direct
    relative = relative + roundings(3 * count + total + 14, acc) * xhat * first
    relative = relative + roundings(2 * count + total + 12, acc) * xhat * second
    weighted, inverse = (s * gamma * g).abs(), 1 / scale
    lost = weighted * (inverse + 1) + xhat * inverse * (gamma.abs() + 1) + g.abs() + 2
    lost = xhat * (2 * lost.sum(-1, keepdim=True) / channels + 2 + inverse)
    return relative + acc.underflow * (lost + 4 * x.abs() + (gamma.abs() + 1) * inverse + 2)


def over(error: Tensor, bound: Tensor | float) -> Tensor:
    """error / bound, where an error of 0 counts 0 even for the bound 0; a NaN stays a NaN."""
    return torch.where(error == 0, torch.zeros_like(error), error / bound)


def measured(
    settings: Settings,
    fmt: Format,
    statement: str,
    scope: str,
    ratios: Tensor,
    *,
    kind: str = "random",
    detail: str = "",
    witness: dict | None = None,
) -> Measurement:
    """The largest of some ratios of error to bound as a measurement, one trial a row; a NaN counts as the largest."""
    return Measurement(
        kind=kind,
        statement=statement,
        scope=scope,
        worst=float(ratios.amax()) if len(ratios) else 0.0,
        trials=len(ratios),
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail=detail,
        witness=witness,
    )
