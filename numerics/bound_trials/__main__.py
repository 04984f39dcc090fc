"""Tries every error bound: `python -m numerics.bound_trials --trials 1000000`.

Prints one line for each bound and format: trials at random with the worst error over its bound, and for every P the
worst that a search has found. Exits with 1 where a bound is exceeded, or where no error comes within 1/50 of it.
"""

from __future__ import annotations

import argparse
import itertools
import sys

from numerics.bound_trials.subjects import BOUNDS
from numerics.bound_trials.trials import SEARCHED, TIGHT, Row, table
from numerics.measure import DTYPES


def main(arguments: list[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="python -m numerics.bound_trials", description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=20_000, help="random trials of each bound in each format")
    parser.add_argument("--dtype", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument(
        "--bound", nargs="+", choices=list(BOUNDS), default=[], help="the bounds to try; all by default"
    )
    parser.add_argument("--search", nargs="*", type=int, default=list(SEARCHED), help="P to search at, or none")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    if given.trials < 0:
        parser.error(f"--trials is {given.trials}; accepted: at least 0")
    if any(phasors < 1 for phasors in given.search):
        parser.error(f"--search is {given.search}; accepted: numbers of at least 1")
    bad = 0
    rows = table(tuple(given.bound), tuple(given.dtype), given.trials, tuple(given.search), given.seed)
    for (bound, dtype), group in itertools.groupby(rows, key=lambda row: (row.bound, row.dtype)):
        found = list(group)
        print(_line(bound, dtype, found), flush=True)
        bad += sum(not row.worst <= 1 for row in found) + len(loose(found))
    return 1 if bad else 0


def loose(rows: list[Row]) -> list[int]:
    """The searched P at which nothing, found by search or at random, comes within 1/`TIGHT` of the bound."""
    best = {row.phasors: 0.0 for row in rows if row.kind == "search"}
    for row in rows:
        if row.phasors in best:
            best[row.phasors] = max(best[row.phasors], row.worst)
    return [phasors for phasors, worst in best.items() if not worst * TIGHT >= 1]


def _line(bound: str, dtype: str, rows: list[Row]) -> str:
    random = [row for row in rows if row.kind == "random"]
    tried, worst = sum(row.trials for row in random), max((row.worst for row in random), default=0.0)
    parts = [f"{tried:>8} trials, worst {worst:.3f}"]
    parts += [f"P={row.phasors}: {row.worst:.3f}" for row in rows if row.kind == "search"]
    return f"{bound:<22} {dtype}  " + "  ".join(parts)


if __name__ == "__main__":
    sys.exit(main())
