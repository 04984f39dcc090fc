"""What the shards of a sweep add up to: the worst case of each statement in each cell.

Merging takes the maximum, NaN above every number and, of equals, the first block; trials are added. So it commutes and
associates, and any order of any grouping of the shards gives the same result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from numerics.sweeps.checks import INEQUALITIES
from numerics.sweeps.matrix import Cell
from numerics.sweeps.shards import Outcome, Plan, Shard

OUTSIDE = "every row lies outside the domain of the error bounds"
WITHOUT = "these rows have nothing that the statement speaks of"


@dataclass(frozen=True)
class Worst:
    """The worst ratio of one statement in one cell, where it was found, and how many rows were tried."""

    claim: str
    statement: str
    cell: Cell
    dtype: str
    device: str
    worst: float
    trials: int
    outside: int
    block: int
    witness: dict | None

    @property
    def status(self) -> str:
        """As `Measurement.status`: a NaN is a violation, no trials are "not run"."""
        if self.trials == 0:
            return "not run"
        return "consistent" if self.worst <= 1 else "violated"

    @property
    def reason(self) -> str:
        """Why nothing was tried; empty where something was."""
        if self.trials:
            return ""
        return OUTSIDE if self.outside else WITHOUT

    @property
    def inequality(self) -> bool:
        """Whether the ratio is that of a quantity to its claimed bound; of an error to what rounding allows if not."""
        return (self.claim, self.statement) in INEQUALITIES

    def order(self) -> tuple:
        """Larger is worse."""
        nan = math.isnan(self.worst)
        return self.trials > 0, nan, 0.0 if nan else self.worst


class Merged:
    """The outcomes taken in so far."""

    def __init__(self) -> None:
        self._cells: dict[tuple, Worst] = {}

    def take(self, shard: Shard, outcome: Outcome) -> None:
        """Take in one shard; each must be taken once, in any order."""
        for row in outcome.rows:
            new = Worst(
                shard.claim,
                row.statement,
                shard.cell,
                shard.dtype,
                shard.device,
                row.worst,
                row.trials,
                outcome.outside,
                shard.block,
                row.witness,
            )
            key = (shard.claim, shard.cell, shard.dtype, shard.device, row.statement)
            self._cells[key] = _merged(self._cells[key], new) if key in self._cells else new

    def cells(self, plan: Plan) -> Iterator[Worst]:
        """The results in the order of the plan, the statements of a claim by name."""
        claims, cells = (dict(zip(x, range(len(x)), strict=True)) for x in (plan.claims, plan.cells))

        def place(key: tuple) -> tuple:
            claim, cell, dtype, device, statement = key
            return claims[claim], cells[cell], plan.dtypes.index(dtype), plan.devices.index(device), statement

        yield from (self._cells[key] for key in sorted(self._cells, key=place))


def _merged(left: Worst, right: Worst) -> Worst:
    worse = max(left, right, key=lambda each: (*each.order(), -each.block))
    return Worst(
        *(worse.claim, worse.statement, worse.cell, worse.dtype, worse.device, worse.worst),
        trials=left.trials + right.trials,
        outside=left.outside + right.outside,
        block=worse.block,
        witness=worse.witness,
    )
