"""The scenario matrix, as data: a cell is one value of every axis, and its name lists them.

`massive:1e4/P64/wide/eps1e-6/zeros/strided` has a few fixed channels 10^4 times the median, 64 phasors, gamma of many
sizes and both signs, eps = 10^-6, half of the phasors (0, 0), and tensors whose neighbours lie two apart in memory.

The axes have 25,920 combinations. `covering()` is a part of them in which every two values of different axes meet in
some cell; `product()` is all of them. How rows of a cell are drawn is in `numerics.sweeps.rows`.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

FACTORS = ("10", "1e3", "1e5")
OUTLIERS = (
    "none",
    *(f"channel:{factor}" for factor in FACTORS),  # one random channel of each row is so many times larger
    *(f"phasor:{factor}" for factor in FACTORS),  # both channels of one random phasor
    *(f"token:{factor}" for factor in FACTORS),  # all channels of every eighth row
    *(f"tail:t{degrees}" for degrees in (3, 2, 1)),  # Student's t, with 1 degree of freedom Cauchy
    *(f"massive:{factor}" for factor in ("1e3", "1e4", "1e5")),  # the same few channels of all rows, times the median
)
PHASORS = (1, 2, 7, 64, 192, 1024)  # P
GAMMAS = ("ones", "mixed", "wide")  # all 1; normal, with negatives and a 0; signed, from 2^-8 to 2^8
EPSILONS = (0.0, 1e-6, 0.125)
CONTENTS = (
    "dense",
    "zeros",  # a random half of the phasors, never the largest, is (0, 0)
    "axis",  # the smaller channel of every phasor is 0
    "subnormal",  # ordinary channels lie below the normal range of the dtype
    "tiny",  # near the lower end of the domain of the error bounds
    "huge",  # near its upper end, or near the largest number of the dtype
)
LAYOUTS = (
    "contiguous",
    "transposed",  # rows are the columns of a matrix
    "strided",  # neighbours lie two apart, gamma's too
    "offset",  # rows are parts of longer ones and begin at their second element
    "expanded",  # one row of upstream gradients serves all rows, with stride 0
)
AXES = (OUTLIERS, PHASORS, GAMMAS, EPSILONS, CONTENTS, LAYOUTS)
KINDS = tuple(dict.fromkeys(outlier.partition(":")[0] for outlier in OUTLIERS))


class NoSuchCell(ValueError):
    """A selection that the matrix does not have: the axis ("scenario" or "P"), what was given, what is accepted."""

    def __init__(self, axis: str, given: object, accepted: str) -> None:
        super().__init__(f"{axis} is {given!r}; accepted: {accepted}")
        self.axis, self.given, self.accepted = axis, given, accepted


@dataclass(frozen=True)
class Cell:
    """One value of every axis: what the rows of a shard look like, but for their dtype."""

    outlier: str
    phasors: int
    gamma: str
    eps: float
    content: str
    layout: str

    @property
    def name(self) -> str:
        """Outlier, P, gamma, eps, content and layout, with slashes between."""
        eps = f"eps{self.eps:g}".replace("e-0", "e-")
        return f"{self.outlier}/P{self.phasors}/{self.gamma}/{eps}/{self.content}/{self.layout}"

    @property
    def kind(self) -> str:
        """The kind of outlier, without its magnitude: "massive"."""
        return self.outlier.partition(":")[0]


@cache
def product() -> tuple[Cell, ...]:
    """All combinations."""
    return tuple(itertools.starmap(Cell, itertools.product(*AXES)))


@cache
def covering() -> tuple[Cell, ...]:
    """Cells in which every two values of different axes meet, from a greedy construction that involves no chance."""
    axes = range(len(AXES))
    missing = {
        ((a, x), (b, y))
        for a, b in itertools.combinations(axes, 2)
        for x, y in itertools.product(range(len(AXES[a])), range(len(AXES[b])))
    }
    used: Counter[tuple[int, int]] = Counter()
    cells = []
    while missing:
        chosen = dict(min(missing))
        for axis in axes:
            if axis not in chosen:
                chosen[axis] = _most_useful(axis, chosen, missing, used)
        found = sorted(chosen.items())
        used.update(found)
        missing.difference_update(itertools.combinations(found, 2))
        cells.append(Cell(*(AXES[axis][value] for axis, value in found)))
    return tuple(cells)


def _most_useful(axis: int, chosen: dict[int, int], missing: set, used: Counter) -> int:
    """The value of an axis that meets most values it has not met; of several, the one that was used least."""

    def gain(value: int) -> tuple[int, int, int]:
        meets = sum(tuple(sorted(((axis, value), other))) in missing for other in chosen.items())
        return meets, -used[axis, value], -value

    return max(range(len(AXES[axis])), key=gain)


def select(scenarios: Iterable[str] = (), phasors: Iterable[int] = (), full: bool = False) -> tuple[Cell, ...]:
    """The cells of the named scenarios and widths P; all of them where none is named.

    A scenario is a kind of outlier ("massive"), a kind with its magnitude ("massive:1e4"), or the name of a cell, which
    need not be part of the covering. Raises NoSuchCell for a name or a width that the matrix does not have, and where
    no cell is left.
    """
    scenarios, phasors = tuple(dict.fromkeys(scenarios)), tuple(dict.fromkeys(phasors))
    named = {cell.name: cell for cell in product()} if any("/" in name for name in scenarios) else {}
    for name in scenarios:
        if name not in (*KINDS, *OUTLIERS) and name not in named:
            raise NoSuchCell("scenario", name, f"{', '.join((*KINDS, *OUTLIERS[1:]))}, or the name of a cell")
    for width in phasors:
        if width not in PHASORS:
            raise NoSuchCell("P", width, ", ".join(map(str, PHASORS)))
    drawn = list(product() if full else covering())
    drawn += [named[name] for name in scenarios if name in named and named[name] not in drawn]
    found = tuple(
        cell
        for cell in drawn
        if (not scenarios or {cell.kind, cell.outlier, cell.name} & set(scenarios))
        and (not phasors or cell.phasors in phasors)
    )
    if not found:
        raise NoSuchCell("P", ", ".join(map(str, phasors)), f"a P that {', '.join(scenarios)} has")
    return found
