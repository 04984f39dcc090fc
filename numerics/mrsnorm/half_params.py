"""half-params measured: what the modules hold.

Claim: MRSNorm over N = 2P channels has N/2 learnable parameters, half of RMSNorm's N; LayerNorm, with its bias, has 2N.

Source: MRSNorm paper, abstract and section 3, after Eq. 3.

A count is exact: the bound is 0, so the ratio is 0 where the counts agree and infinite where they do not. It is the
same in every format, and is made once. The comparison is with PyTorch's own `RMSNorm` and `LayerNorm`, not with this
project's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from torch import nn

from numerics.measure import Measurement, Settings
from numerics.norms import MRSNorm

WIDTHS = (2, 4, 14, 64, 384, 768, 1024, 4096)


def printed(channels: int) -> float:
    """How many parameters MRSNorm has over this many channels, as a share of RMSNorm's: channels -> 1/2."""
    return 1 / 2


def against_layernorm(channels: int) -> float:
    """The same as a share of LayerNorm's, with its bias: channels -> 1/4."""
    return 1 / 4


def count(module: nn.Module) -> int:
    """The number of learnable parameters."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


def _worst(pairs: Iterable[tuple[float, float]]) -> float:
    """0 where every pair of numbers is equal, infinite elsewhere (a NaN equals nothing)."""
    return 0.0 if all(measured == expected for measured, expected in pairs) else math.inf


def measure(settings: Settings) -> Iterator[Measurement]:
    """Two measurements: against RMSNorm, and against LayerNorm with bias."""
    mrs = {n: count(MRSNorm(n, device=settings.device)) for n in WIDTHS}
    rms = {n: count(nn.RMSNorm(n, device=settings.device)) for n in WIDTHS}
    layer = {n: count(nn.LayerNorm(n, device=settings.device)) for n in WIDTHS}
    for statement, others, share in (
        ("as printed", rms, printed),
        ("against LayerNorm with bias", layer, against_layernorm),
    ):
        yield Measurement(
            kind="exhaustive",
            statement=statement,
            scope=f"N in {{{', '.join(map(str, WIDTHS))}}}",
            worst=_worst((mrs[n] / others[n], share(n)) for n in WIDTHS),
            trials=len(WIDTHS),
            dtype="exact",
            device=settings.device,
            seed=settings.seed,
            detail=f"N = 4096: {mrs[4096]} of {others[4096]} parameters",
        )


MUTANTS = {
    "a quarter": lambda channels: 1 / 4,
    "the same": lambda channels: 1.0,
    "one a layer": lambda channels: 1 / channels,
    "NaN": lambda channels: math.nan,
}
