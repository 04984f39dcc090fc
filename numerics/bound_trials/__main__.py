"""Tries every error bound: `python -m numerics.bound_trials --trials 1000000`.

Prints one line for each bound and format: trials at random with the worst error over its bound, and for every P the
worst that a search has found. Exits with 1, and says where, if a bound is exceeded or no error comes within 1/50 of it.
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
    parser = argparse.ArgumentParser(
        prog="python -m numerics.bound_trials",
        description=__doc__.splitlines()[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="bounds:\n  " + "\n  ".join(BOUNDS),
    )
    parser.add_argument(
        "--trials",
        type=int,
        default=20_000,
        metavar="N",
        help="random trials of each bound in each format (%(default)s)",
    )
    parser.add_argument(
        "--dtype",
        nargs="+",
        choices=DTYPES,
        default=list(DTYPES),
        metavar="NAME",
        help=f"from {', '.join(DTYPES)} (all)",
    )
    parser.add_argument(
        "--bound",
        nargs="+",
        choices=list(BOUNDS),
        default=[],
        metavar="NAME",
        help="the bounds to try, from below (all)",
    )
    searched = ", ".join(map(str, SEARCHED))
    parser.add_argument(
        "--search", nargs="+", type=int, default=list(SEARCHED), metavar="P", help=f"P to search at ({searched})"
    )
    parser.add_argument("--no-search", dest="search", action="store_const", const=[], help="random trials alone")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the random trials and searches (%(default)s)"
    )
    given = parser.parse_args(arguments)
    if given.trials < 0:
        parser.error(f"--trials is {given.trials}; accepted: at least 0")
    if any(phasors < 1 for phasors in given.search):
        parser.error(f"--search is {given.search}; accepted: numbers of at least 1")
    if not given.trials and not given.search:
        parser.error("--trials is 0 with --no-search: nothing would be tried")
    problems: list[str] = []
    rows = table(tuple(given.bound), tuple(given.dtype), given.trials, tuple(given.search), given.seed)
    for (bound, dtype), group in itertools.groupby(rows, key=lambda row: (row.bound, row.dtype)):
        found = list(group)
        print(_line(bound, dtype, found), flush=True)
        where = f"{bound}, {dtype}"
        exceeded = [row for row in found if not row.worst <= 1]
        problems += [f"{where}, P = {row.phasors}: exceeded, {row.worst:.6g} times ({row.kind})" for row in exceeded]
        problems += [f"{where}, P = {phasors}: no error comes within 1/{TIGHT} of it" for phasors in loose(found)]
    near = f"; at every P searched, an error comes within 1/{TIGHT} of it" if given.search else ""
    print("\n".join(problems) or f"no bound is exceeded{near}")
    return 1 if problems else 0


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
