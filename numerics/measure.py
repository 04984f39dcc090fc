"""What a numeric check is asked (`Settings`) and what it answers (`Measurement`).

A measurement is a ratio: the largest error divided by the bound derived for it, or, for an inequality, the largest
|quantity| divided by the bound the statement gives. It is consistent with the statement exactly when that ratio is at
most 1; a NaN compares false and is therefore a violation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

DTYPES = ("fp16", "bf16", "fp32", "fp64")


@dataclass(frozen=True)
class Settings:
    """How a check is to be run: device name, dtypes, trials a cell, seed, and whether to go deep.

    `source`, where there is one, replaces the rows that `numerics.inputs.batches` draws (`numerics.sweeps.rows`).
    """

    device: str = "cpu"
    dtypes: tuple[str, ...] = DTYPES
    trials: int = 64
    seed: int = 0
    full: bool = False
    source: Any = None


@dataclass(frozen=True)
class Measurement:
    """The worst case one check found for one statement in one dtype on one device.

    `statement` is "as printed", "corrected" or the name of a further theorem; it is the name under which the symbolic
    side states the same thing. `witness` is the input that gave the worst ratio, as plain data.
    """

    kind: str  # "random" | "adversarial" | "exhaustive" | "experiment"
    statement: str
    scope: str
    worst: float
    trials: int
    dtype: str
    device: str
    seed: int
    detail: str = ""
    witness: dict | None = None

    @property
    def status(self) -> str:
        """Consistent, violated, or "not run" where nothing was tried."""
        if self.trials == 0:
            return "not run"
        return "consistent" if self.worst <= 1 else "violated"
