"""ma-parameters measured: what the modules hold, and that s and alpha add nothing to it.

Claim: MA-RMSNorm has D parameters more than RMSNorm. Source: MA-RMSNorm article, section 2.3, with W a vector.

A count is exact: the ratio is 0 where counts agree and infinite where they do not. The baseline is PyTorch's own
`RMSNorm`. That s gamma and alpha W with s = alpha = 1 give the same function is checked on the outputs, each of which
may be off by `rounding.ma_output_error` and its last rounding; s gamma and alpha W are rounded to the format
once more, which counts one u of each term.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.magnitude_rounding import measured, random_magnitude
from numerics.measure import Measurement, Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import MA_S as S
from numerics.norms import MARMSNorm, ma_rms_norm, rms_scale
from numerics.rounding import FP64, ma_output_error, rounded, roundings

SLUG = "ma-parameters"
WIDTHS = (1, 2, 3, 64, 384, 768, 1024, 4096)


def printed(channels: int) -> float:
    """How many parameters MA-RMSNorm has more than RMSNorm."""
    return channels


def count(module: nn.Module) -> int:
    """The number of learnable parameters."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def measure(settings: Settings) -> Iterator[Measurement]:
    """The count, and the absorbed constants; two measurements a format."""
    for fmt in formats(settings):
        place = {"device": settings.device, "dtype": fmt.dtype}
        more = [count(MARMSNorm(n, **place)) - count(nn.RMSNorm(n, **place)) for n in WIDTHS]
        wrong = [0.0 if found == printed(n) else math.inf for found, n in zip(more, WIDTHS, strict=True)]
        scope = f"N in {{{', '.join(map(str, WIDTHS))}}}"
        ratios = torch.tensor(wrong, dtype=torch.float64)
        yield measured(
            settings, fmt, "as printed", scope, ratios, kind="exhaustive", detail=f"N = {WIDTHS[-1]}: {more[-1]} more"
        )
        absorbed = Tally("s and alpha are redundant", fmt, settings)
        for b in batches(SLUG, fmt, settings, widest=64, channel_weights=True):
            _absorb(absorbed, b, random_magnitude(SLUG, b, settings))
        yield absorbed.measurement()


def _absorb(tally: Tally, b: Batch, magnitude: Tensor) -> None:
    gamma, w = ((factor * value.double()).to(b.fmt.dtype) for factor, value in ((S, b.gamma), (ALPHA, magnitude)))
    left = ma_rms_norm(b.h, b.gamma, magnitude, eps=b.eps).double()
    right = ma_rms_norm(b.h, gamma, w, 1.0, 1.0, b.eps).double()
    x, scale = b.h.double(), rms_scale(b.h.double(), b.eps)
    first, second = S * b.gamma.double() * x / scale, ALPHA * magnitude.double() * scale.log()
    bound = (b.fmt.unit_roundoff + roundings(8, FP64)) * (first.abs() + second.abs())
    for weights, s, alpha in (((b.gamma, magnitude), S, ALPHA), ((gamma, w), 1.0, 1.0)):
        lost = ma_output_error(x, *(value.double() for value in weights), scale, b.fmt, s, alpha)
        bound = bound + rounded(lost, first + second, b.fmt)
    tally.add(b, phasor_view((left - right).abs()), phasor_view(bound))


MUTANTS = {
    "none": lambda channels: 0,
    "twice as many": lambda channels: 2 * channels,
    "a matrix": lambda channels: channels**2 + 1,
    "two scalars as well": lambda channels: channels + 2,
    "NaN": lambda channels: math.nan,
}
