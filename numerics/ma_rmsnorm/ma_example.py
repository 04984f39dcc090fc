"""ma-example measured: RMSNorm of (1, 1), of (100, 100) and of longer constant vectors.

Claim: (1, 1) and (100, 100) both become (1/sqrt 2, 1/sqrt 2), of length 1. Source: MA-RMSNorm article, section 2.1.

What holds, at eps = 0 and gamma = 1: a constant positive vector becomes (1, ..., 1), of length sqrt N.

Bounds. The layer is off by the roundings in S_RMS and one for the division, and by its last rounding; a length of N
such entries by as much, and by gamma_N in fp64.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.inputs import formats
from numerics.magnitude_rounding import measured, over
from numerics.measure import Measurement, Settings
from numerics.norms import rms_norm
from numerics.rounding import FP64, Format, rms_roundings, rounded, roundings

VALUES = (1.0, 100.0, 3.0, 0.125)
WIDTHS = (2, 1, 3, 64, 1000)


def printed(channels: int) -> tuple[float, float]:
    """The entry and the length of the output: channels -> (1/sqrt 2, 1)."""
    return 1 / math.sqrt(2), 1.0


def corrected(channels: int) -> tuple[float, float]:
    """The entry and the length of the output: channels -> (1, sqrt N)."""
    return 1.0, math.sqrt(channels)


def measure(settings: Settings) -> Iterator[Measurement]:
    """The printed example, and constant vectors of several widths; two measurements a format."""
    for fmt in formats(settings):
        yield _row(settings, fmt, "as printed", printed(2), (2,), VALUES[:2])
        ratios = [_ratios(settings, fmt, channels, corrected(channels), VALUES) for channels in WIDTHS]
        scope = f"N in {{{', '.join(map(str, WIDTHS))}}}, values {', '.join(map(str, VALUES))}"
        yield measured(settings, fmt, "corrected", scope, torch.cat(ratios), kind="exhaustive")


def _row(
    settings: Settings, fmt: Format, statement: str, claim: tuple[float, float], widths: tuple[int, ...], values: tuple
) -> Measurement:
    ratios = torch.cat([_ratios(settings, fmt, channels, claim, values) for channels in widths])
    output = rms_norm(torch.full((2,), 100.0, dtype=fmt.dtype, device=settings.device), eps=0.0)
    scope = "RMSNorm((1, 1)) and RMSNorm((100, 100)): entries and length"
    witness = {"x": [100.0, 100.0], "output": output.tolist(), "claimed": claim[0]}
    return measured(settings, fmt, statement, scope, ratios, kind="exhaustive", witness=witness)


def _ratios(settings: Settings, fmt: Format, channels: int, claim: tuple[float, float], values: tuple) -> Tensor:
    """Errors over their bounds, for one width: (values, 2), entries and lengths."""
    x = torch.tensor(values, dtype=fmt.dtype, device=settings.device).unsqueeze(-1).repeat(1, channels)
    y = rms_norm(x, eps=0.0).double()
    entry, length = (torch.full((len(values),), value, dtype=torch.float64, device=x.device) for value in claim)
    one = torch.ones_like(entry)
    lost = rounded(roundings(rms_roundings(channels) + 2, fmt.accumulation) * one, one, fmt)
    lengths = torch.linalg.vector_norm(y, dim=-1)
    entry_error = (y - entry.unsqueeze(-1)).abs().amax(-1)
    allowed = (lost + roundings(channels + 3, FP64)) * math.sqrt(channels)
    return torch.stack((over(entry_error, lost + roundings(1, FP64)), over((lengths - length).abs(), allowed)), dim=-1)


MUTANTS = {
    "not normalized": lambda channels: (100.0, 100.0 * math.sqrt(2)),
    "one over N": lambda channels: (1 / channels, 1 / math.sqrt(channels)),
    "NaN": lambda channels: (math.nan, math.nan),
}
# with this in its place nothing is violated: the check does not say no to everything
REPAIRS = {"by the definition": lambda channels: (1.0, math.sqrt(channels))}
CORRECTED_MUTANTS = {
    "L2 normalization": lambda channels: (1 / math.sqrt(channels), 1.0),
    "length 1": lambda channels: (1.0, 1.0),
    "NaN": lambda channels: (math.nan, math.nan),
}
