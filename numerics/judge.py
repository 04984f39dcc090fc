"""The worst case of a check: errors against bounds, over all batches, with the input that gave it.

A `Tally` collects one statement in one format. Ratios are error / bound; an error of 0 counts 0 whatever the bound; a
NaN is kept as the worst case for good, so that it reaches `Measurement.worst` and is reported as a violation.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from numerics.inputs import Batch
from numerics.measure import Measurement, Settings
from numerics.rounding import Format, rounded, settle_overflow

SHOWN = 8  # a witness lists every phasor of a row of at most so many
SEEN = 0.02  # the bound of a scenario says something where its worst ratio reaches this


class Tally:
    """The worst ratio of one statement in one format, where it was found, and what was counted on the way."""

    def __init__(self, statement: str, fmt: Format, settings: Settings, kind: str = "random") -> None:
        self.statement = statement
        self.fmt = fmt
        self.settings = settings
        self.kind = kind
        self.worst = 0.0
        self.trials = 0
        self.witness: dict | None = None
        self.by_scenario: dict[str, float] = {}
        self.widths: set[tuple[int, float]] = set()
        self.counts: dict[str, int] = {}

    def count(self, what: str, number: int | Tensor) -> None:
        """Add to a named count that the detail reports."""
        self.counts[what] = self.counts.get(what, 0) + int(number)

    def count_overflow(self, overflowed: Tensor) -> None:
        """Count results that `settle_overflow` found infinite as they must be."""
        self.count(f"results beyond the range of {self.fmt.name}, infinite as they must be", overflowed.sum())

    def add(
        self,
        batch: Batch,
        error: Tensor,
        bound: Tensor,
        where: Tensor | None = None,
        chosen: Tensor | None = None,
    ) -> None:
        """Take in error / bound, both (T, ...) in fp64; entries outside the mask `where` are no part of the statement.

        A second axis is that of the phasors, or of the phasors `chosen` (T, K) out of each row. A bound below 0 is one
        of 0: it allows nothing.
        """
        ratio = torch.where(error == 0, torch.zeros_like(error), error / bound.clamp_min(0))
        tried = torch.ones(len(ratio), dtype=torch.bool, device=ratio.device)
        if where is not None:
            where = where.expand_as(ratio)
            ratio = torch.where(where, ratio, torch.full_like(ratio, -1))  # below every ratio that counts
            tried = where.reshape(len(ratio), -1).any(dim=-1)
        if not tried.any():
            return
        self.trials += int(tried.sum())
        self.widths.add((batch.phasors, batch.eps))
        by_row, column = ratio.reshape(len(ratio), -1).max(dim=-1)  # a NaN counts as the largest
        for index, name in enumerate(batch.scenarios):
            rows = by_row[tried & (batch.origin == index)]
            if len(rows):
                self.by_scenario[name] = _larger(self.by_scenario.get(name, 0.0), rows.max().item())
        value, row = by_row.max(dim=0)
        if self.witness is None or not (math.isnan(self.worst) or value.item() <= self.worst):
            self.worst = _larger(self.worst, value.item())
            position = torch.unravel_index(column[row], ratio.shape[1:]) if ratio.dim() > 1 else ()
            place = (int(row), *(int(p) for p in position))
            self.witness = _witness(batch, place, error, bound.expand_as(error), chosen)

    def compare(
        self,
        batch: Batch,
        measured: Tensor,
        exact: Tensor,
        error: Tensor,
        formula_error: Tensor | float = 0.0,
        where: Tensor | None = None,
        chosen: Tensor | None = None,
    ) -> None:
        """Compare a result of the layer with the exact one, component by component.

        `error` bounds what was lost before the last rounding, which is added here; `formula_error` bounds what `exact`
        itself lost in fp64. Infinite results are settled first (`settle_overflow`) and counted.
        """
        settled, overflowed = settle_overflow(measured, exact, error, self.fmt)
        self.count_overflow(overflowed if where is None else overflowed & where)
        self.add(batch, (settled - exact).abs(), rounded(error, exact, self.fmt) + formula_error, where, chosen)

    def measurement(self, detail: str = "", worst: float | None = None) -> Measurement:
        """The tally as a `Measurement`; `worst` replaces the ratio where a statement has its own."""
        worst = self.worst if worst is None else worst
        counted = [f"{number} {what}" for what, number in self.counts.items() if number]
        if self.witness and self.by_scenario:
            seen = sum(ratio > SEEN for ratio in self.by_scenario.values())
            counted.insert(0, f"worst: {self.witness['scenario']}, P = {self.witness['P']}")
            counted.append(f"ratio above {SEEN} in {seen} of {len(self.by_scenario)} scenarios")
        if self.widths:
            counted.append(f"eps in {{{', '.join(f'{eps:g}' for eps in sorted({eps for _, eps in self.widths}))}}}")
        widths = ", ".join(map(str, sorted({phasors for phasors, _ in self.widths})))
        return Measurement(
            kind=self.kind,
            statement=self.statement,
            scope=f"P in {{{widths}}}, {len(self.by_scenario)} scenarios",
            worst=worst,
            trials=self.trials,
            dtype=self.fmt.name,
            device=self.settings.device,
            seed=self.settings.seed,
            detail="; ".join(part for part in (detail, *counted) if part),
            witness=self.witness,
        )


def _larger(left: float, right: float) -> float:
    """The larger of the two, NaN where either is."""
    return left if math.isnan(left) or right <= left else right


def plain(values: Tensor) -> list | float | str:
    """A tensor as nested lists of numbers; what JSON has no number for becomes "inf", "-inf" or "nan"."""
    if values.dim():
        return [plain(value) for value in values]
    number = values.item()
    return number if math.isfinite(number) else str(number)


def _witness(batch: Batch, place: tuple[int, ...], error: Tensor, bound: Tensor, chosen: Tensor | None) -> dict:
    row = place[0]
    found = {
        "scenario": batch.scenarios[int(batch.origin[row])],
        "P": batch.phasors,
        "eps": batch.eps,
        "row": row,
        "error": plain(error[place]),
        "bound": plain(bound[place]),
    }
    if batch.phasors <= SHOWN:
        found |= {"h": plain(batch.h[row]), "g": plain(batch.g[row]), "gamma": plain(batch.gamma)}
    if len(place) == 1 or error.shape[1] == 1 < batch.phasors:
        return found  # a statement about the row as a whole
    i = place[1] if chosen is None else int(chosen[row, place[1]])
    pair = slice(2 * i, 2 * i + 2)
    gamma = batch.gamma.reshape(batch.phasors, -1)[i]
    return found | {
        "phasor": i,
        "z_i": plain(batch.h[row, pair]),
        "g_i": plain(batch.g[row, pair]),
        "gamma_i": plain(gamma),
    }
