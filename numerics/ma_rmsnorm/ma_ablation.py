"""ma-ablation measured: neither term, each alone, and both.

Claim: s and the second term together are strictly better than either alone. Source: MA-RMSNorm article, section 3.6.

The author's task and metric are not available. Here the four layers are trained from the same start on the task of
`ma_training`, and the mean squared error after the last step is compared: by SGD and by Adam, on several tasks. As s is
absorbed by gamma, and by the learning rate of the next layer, a difference says something about the training of this
task, not about what the layers can represent. It decides nothing; the ratios are reported.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.inputs import formats
from numerics.ma_rmsnorm.ma_training import Run, losses
from numerics.magnitude_rounding import measured
from numerics.measure import Measurement, Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import MA_S as S
from numerics.rounding import Format

VARIANTS = {"neither": Run(1.0, 0.0), "s": Run(S, 0.0), "alpha": Run(1.0, ALPHA), "both": Run(S, ALPHA)}
STEPS, TASKS = 24, 2


def printed(only_s: Tensor, only_alpha: Tensor) -> Tensor:
    """What the error with both terms is claimed to stay below, from those with one: (tasks,), (tasks,) -> (tasks,)."""
    return torch.minimum(only_s, only_alpha)


def final(settings: Settings, fmt: Format, adam: bool, tasks: int) -> dict[str, Tensor]:
    """The error of each variant after the last step, for every task: (tasks,)."""
    return {
        name: torch.stack([losses(settings, fmt, run, adam, STEPS, task)[-1] for task in range(tasks)]).double()
        for name, run in VARIANTS.items()
    }


def measure(settings: Settings) -> Iterator[Measurement]:
    """The error with both terms over the claimed bound, by SGD and by Adam."""
    for fmt in formats(settings):
        for adam in (False, True):
            found = final(settings, fmt, adam, 10 if settings.full else TASKS)
            ratios = found["both"] / printed(found["s"], found["alpha"])
            shown = ", ".join(f"{name} {float(error.mean()):.3g}" for name, error in found.items())
            detail = (
                f"mean error after {STEPS} steps: {shown}; both are best in {int((ratios < 1).sum())} of {len(ratios)}"
            )
            scope = f"{'Adam' if adam else 'SGD'}, a small regression, error with both over the smaller with one"
            yield measured(settings, fmt, "as printed", scope, ratios, kind="experiment", detail=detail)


MUTANTS = {
    "a hundredth": lambda only_s, only_alpha: torch.minimum(only_s, only_alpha) / 100,
    "NaN": lambda only_s, only_alpha: only_s * math.nan,
}
