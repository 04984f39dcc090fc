"""ma-edge measured: where the layer has values, and what it does at x = 0.

Claim: the formula gives every input an output. Source: MA-RMSNorm article, section 2.2, for x != 0.

Tried where it is hardest without leaving the domain of the error bounds: rows with one channel, the smallest or the
largest that the domain allows, at eps = 0. The output of such a row is +-s gamma sqrt N there and alpha W log S
elsewhere; it may be off by `rounding.ma_output_error` and its last rounding.

A search then looks for the row with the largest error over that bound, and for one that attains eps <= S^2: the
computed S^2 has twice the roundings of S_RMS, and two more pay for the ratio.

At x = 0 this project's layer is defined as its docstring says: alpha W log sqrt(eps) with the gradient
s gamma g / sqrt(eps) for eps > 0, and 0 with the gradient 0 for eps = 0, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from numerics.gradients import input_gradient
from numerics.inputs import Batch, formats
from numerics.judge import Tally
from numerics.magnitude_rounding import measured, over
from numerics.measure import Measurement, Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import MA_S as S
from numerics.norms import ma_rms_norm, rms_scale
from numerics.rounding import (
    FP64,
    Format,
    ma_gradient_error,
    ma_output_error,
    rms_roundings,
    rounded,
    roundings,
    settle_overflow,
)
from numerics.scenarios import generator, normal
from numerics.worst_rows import worst_rows

SLUG = "ma-edge"
WIDTHS = (1, 2, 7, 64, 384)
EPSILONS = (1e-6, 1e-3, 0.125)
INSIDE = "with eps inside the root"
NEAR = 0.99  # of the largest eps / S^2, which a simple row comes near to


def printed(x: Tensor, gamma: Tensor, magnitude: Tensor) -> Tensor:
    """The formula, eps = 0: (T, N), (N,), (N,) -> (T, N)."""
    scale = (x.square().sum(-1, keepdim=True) / x.shape[-1]).sqrt()
    return S * gamma * x / scale + ALPHA * magnitude * scale.log()


def value_at_zero(magnitude: Tensor, eps: float) -> Tensor:
    """alpha W log sqrt(eps)."""
    return ALPHA * magnitude * math.log(eps) / 2


def slope_at_zero(gamma: Tensor, g: Tensor, eps: float) -> Tensor:
    """s gamma g / sqrt(eps)."""
    return S * gamma * g / math.sqrt(eps)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Rows with one extreme channel, the zero row with and without eps, and searched rows."""
    for fmt in formats(settings):
        drawn = [_weights(settings, fmt, channels) for channels in WIDTHS]
        scope = f"N in {{{', '.join(map(str, WIDTHS))}}}"
        ratios = torch.cat([_extremes(fmt, gamma, w) for gamma, w, _ in drawn])
        yield measured(settings, fmt, "as printed", f"{scope}, one channel, the smallest or largest, eps = 0", ratios)
        ratios = torch.stack([_zero_row(fmt, *weights, eps) for weights in drawn for eps in EPSILONS])
        tried = ", ".join(f"{eps:g}" for eps in EPSILONS)
        yield measured(settings, fmt, "the value at x = 0", f"{scope}, eps in {{{tried}}}, output and gradient", ratios)
        ratios = torch.stack([_nothing(*weights) for weights in drawn])
        yield measured(settings, fmt, "0 without eps", f"{scope}, x = 0, eps = 0, output and gradient", ratios)
        yield from _searched(fmt, settings)


def _searched(fmt: Format, settings: Settings) -> Iterator[Measurement]:
    """The formula, W being gamma in reverse, and eps <= S^2, at the rows that a search finds."""

    def output(b: Batch, tally: Tally) -> None:
        ratio = _output(b.h, b.gamma, b.gamma.flip(0), fmt)
        tally.add(b, ratio, torch.ones_like(ratio))

    def root(b: Batch, tally: Tally) -> None:
        square = rms_scale(b.h, b.eps).double().square()
        slack = roundings(2 * rms_roundings(b.h.shape[-1]) + 2, fmt.accumulation)
        tally.add(b, torch.full_like(square, b.eps), square * (1 + slack))

    what = "error of the output over its bound"
    yield from worst_rows(
        SLUG, "as printed", fmt, settings, output, what, places=((2, 0.0), (64, 0.0)), channel_weights=True
    )
    yield from worst_rows(SLUG, INSIDE, fmt, settings, root, "eps over S^2", places=((2, 0.125),), keep=NEAR)


def _weights(settings: Settings, fmt: Format, channels: int) -> tuple[Tensor, Tensor, Tensor]:
    """gamma, W and g, normal, in the format: (N,) each."""
    rng = generator(settings.seed, SLUG, channels, fmt.name)
    return tuple(normal(rng, channels).to(fmt.dtype).to(settings.device) for _ in range(3))


def _extremes(fmt: Format, gamma: Tensor, magnitude: Tensor) -> Tensor:
    """Ratios for rows with a single non-zero channel, at both ends of the domain of the bounds: (2,)."""
    acc = fmt.accumulation
    low = max(2 * (2 * acc.smallest_normal * len(gamma)) ** 0.5, fmt.smallest_normal)
    x = torch.zeros(2, len(gamma), dtype=fmt.dtype, device=gamma.device)
    x[0, 0], x[1, -1] = low, -min(fmt.largest, acc.largest**0.5 / 4)
    return _output(x, gamma, magnitude, fmt)


def _output(x: Tensor, gamma: Tensor, magnitude: Tensor, fmt: Format) -> Tensor:
    """The worst ratio of error to bound of each row's output at eps = 0: (T, N), (N,), (N,) -> (T,)."""
    y, wide = ma_rms_norm(x, gamma, magnitude, eps=0.0), x.double()
    scale, exact = rms_scale(wide, 0.0), printed(wide, gamma.double(), magnitude.double())
    lost = ma_output_error(wide, gamma.double(), magnitude.double(), scale, fmt)
    lost64 = ma_output_error(wide, gamma.double(), magnitude.double(), scale, FP64)
    settled, _ = settle_overflow(y, exact, lost, fmt)
    return over((settled - exact).abs(), rounded(lost, exact, fmt) + lost64).amax(-1)


def _zero_row(fmt: Format, gamma: Tensor, magnitude: Tensor, g: Tensor, eps: float) -> Tensor:
    """The worse of output and gradient at x = 0."""
    x = torch.zeros(1, len(gamma), dtype=fmt.dtype, device=gamma.device)
    layer = partial(ma_rms_norm, weight=gamma, magnitude=magnitude, eps=eps)
    weights, w, upstream = gamma.double(), magnitude.double(), g.double()
    scale = rms_scale(x.double(), eps)
    value, slope = value_at_zero(w, eps), slope_at_zero(weights, upstream, eps)
    lost = ma_output_error(x.double(), weights, w, scale, fmt)
    value_ratio = over((layer(x).double() - value).abs(), rounded(lost, value, fmt) + roundings(6, FP64) * value.abs())
    lost = ma_gradient_error(x.double(), upstream, weights, w, scale, fmt)
    settled, _ = settle_overflow(input_gradient(layer, x, g.unsqueeze(0)), slope, lost, fmt)
    slope_ratio = over((settled - slope).abs(), rounded(lost, slope, fmt) + roundings(6, FP64) * slope.abs())
    return torch.maximum(value_ratio.amax(), slope_ratio.amax())


def _nothing(gamma: Tensor, magnitude: Tensor, g: Tensor) -> Tensor:
    """0 where output and gradient of a zero row are exactly 0 at eps = 0, infinite elsewhere."""
    x = torch.zeros(1, len(gamma), dtype=gamma.dtype, device=gamma.device)
    layer = partial(ma_rms_norm, weight=gamma, magnitude=magnitude, eps=0.0)
    found = torch.cat((layer(x), input_gradient(layer, x, g.unsqueeze(0)))).double()
    return over(found.abs(), torch.zeros_like(found)).amax()


MUTANTS = {
    "no second term": lambda x, gamma, w: printed_parts(x, gamma, w)[0],
    "eps inside the root": lambda x, gamma, w: S * gamma * x / (x.square().mean(-1, keepdim=True) + 1e-6).sqrt(),
    "log of the square": lambda x, gamma, w: sum(printed_parts(x, gamma, w)) + printed_parts(x, gamma, w)[1],
    "all NaN": lambda x, gamma, w: torch.full_like(x, torch.nan),
}


def printed_parts(x: Tensor, gamma: Tensor, magnitude: Tensor) -> tuple[Tensor, Tensor]:
    """The two terms of the formula."""
    scale = (x.square().sum(-1, keepdim=True) / x.shape[-1]).sqrt()
    return S * gamma * x / scale, ALPHA * magnitude * scale.log()
