"""What the checks of MA-RMSNorm share: random weights W, and ratios of error to bound as measurements."""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.inputs import Batch
from numerics.measure import Measurement, Settings
from numerics.rounding import Format
from numerics.scenarios import generator, normal


def random_magnitude(slug: str, b: Batch, settings: Settings) -> Tensor:
    """Normal weights W for a batch, in its dtype and on its device: (N,)."""
    rng = generator(settings.seed, slug, "W", b.phasors, b.fmt.name)
    return normal(rng, b.h.shape[-1]).to(b.fmt.dtype).to(b.h.device)


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
