"""ma-50s measured: six experiments, six figures and one file of numbers from one call.

Claim: one command runs all six experiments in about 50 seconds and leaves fig1 ... fig6 and all_results.json. Source:
MA-RMSNorm article, sections 3 and 4.

The author's code and machine are not at hand, so its time is not measured. What is checked is that the six experiments,
re-created in `numerics.experiments.magnitude_aware`, can be had from one call, at a size that takes about a second; the
time of this row is the time they took here. The ratio is 0 if every file is there and holds something, infinite if not.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from numerics.experiments.magnitude_aware import EXPERIMENTS, RESULTS, run
from numerics.inputs import formats
from numerics.magnitude_rounding import measured
from numerics.measure import Measurement, Settings

SIZE, FULL_SIZE = 512, 4096  # rows


def printed() -> tuple[str, ...]:
    """The files that one call is claimed to leave."""
    return (
        "fig1_numerical_utilization.png",
        "fig2_magnitude_mi.png",
        "fig3_entropy.png",
        "fig4_quantization.png",
        "fig5_training.png",
        "fig6_ablation.png",
        "all_results.json",
    )


def measure(settings: Settings) -> Iterator[Measurement]:
    """One measurement, in the last of the formats."""
    fmt, size = formats(settings)[-1], FULL_SIZE if settings.full else SIZE
    with TemporaryDirectory() as directory:
        run(Path(directory), settings, fmt, size)
        numbers = json.loads((Path(directory) / RESULTS).read_text(encoding="utf-8"))
        sizes = {name: path.stat().st_size if (path := Path(directory) / name).is_file() else 0 for name in printed()}
    missing = [name for name, found in sizes.items() if not found] + [n for n in EXPERIMENTS if not numbers.get(n)]
    ratios = torch.tensor([math.inf if name in missing else 0.0 for name in (*sizes, *EXPERIMENTS)])
    detail = f"missing: {', '.join(missing)}" if missing else "every file is there, and every experiment has numbers"
    scope = f"six experiments on {size} rows"
    yield measured(settings, fmt, "as printed", scope, ratios, kind="experiment", detail=detail)


MUTANTS = {
    "a seventh figure": lambda: ("fig7.png",),
    "another file of numbers": lambda: ("results.csv",),
}
