"""What `sweep` shows: a progress bar, the worst cells, a summary by scenario, and JSON (`schema_version` 1).

The same plan gives the same JSON, apart from `environment`, whatever ran it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO

from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from paper_checks.report import document, terminal, words

SCHEMA_VERSION = 1
NAME_WIDTH = 22
LISTED = 20  # violations and errors that are printed; all of them are in the JSON


@dataclass(frozen=True)
class Report:
    """The results of a sweep (`numerics.sweeps.merge.Worst`), and what is missing from them.

    `refuted` holds (claim, statement) that the ledger records as false: above their bound they are no violation.
    """

    results: Sequence[Any]
    refuted: Collection[tuple[str, str]]
    shards: int
    stored: int = 0
    errors: Mapping[str, str] = ()
    unfinished: int = 0
    lost: str = ""

    def is_refuted(self, result: Any) -> bool:
        """Whether the ledger says that the statement is false."""
        return (result.claim, result.statement) in self.refuted

    @property
    def held(self) -> list:
        """The results of statements that are to hold, worst first."""
        return _worst_first(each for each in self.results if each.trials and not self.is_refuted(each))

    @property
    def violations(self) -> list:
        """Those that do not hold."""
        return [each for each in self.held if each.status == "violated"]

    @property
    def exit_status(self) -> int:
        """1 for a violation, 3 where a shard is missing or nothing at all was tried, else 0."""
        if self.violations:
            return 1
        return 3 if self.errors or self.unfinished or not any(each.trials for each in self.results) else 0


def _worst_first(results: Any) -> list:
    return sorted(results, key=lambda each: each.order(), reverse=True)  # stable: equals keep the order of the plan


class Rate(ProgressColumn):
    """Shards a second."""

    def render(self, task: Task) -> Text:
        """The speed over the last moments."""
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:.0f} shards/s", style="progress.data.speed")


@contextmanager
def progress(total: int) -> Iterator[Callable[[int, int], None]]:
    """A bar with rate and remaining time on standard error, or nothing where that is no terminal.

    Yields what to call with the number of shards found in the store and of those finished since.
    """
    columns = (TextColumn("sweeping"), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    with terminal.progress_bar(total, "", *columns) as update:
        yield lambda stored, finished: update(completed=stored + finished)


def print_tables(report: Report, stream: TextIO, top: int, seconds: float, identity: Mapping) -> None:
    """The worst cells, the summary by scenario, what is refuted, the counts, and, last, everything that is wrong."""
    out = terminal.console(stream)
    held = report.held
    errors = [each for each in held if not each.inequality or each.status == "violated"]
    out.print(_cells("worst errors over their bounds", errors[:top]))
    if errors:
        worst = errors[0]
        again = f"paper-checks sweep {worst.claim} --scenario {worst.cell.name} --dtype {worst.dtype}"
        text = f"the first one again: {again} --trials {identity['trials']} --seed {identity['seed']}"
        out.print(Text(text, style="dim"), soft_wrap=True)
    out.print()
    out.print(_cells("worst of each statement (an inequality may reach 1)", _first_of_each(held)))
    out.print()
    out.print(_by_scenario([each for each in held if not each.inequality]))
    for line in _refuted(report):
        out.print(Text(line, style="dim"), soft_wrap=True)
    out.print()
    for line in _counts(report, seconds):
        out.print(Text(line, style="bold"), soft_wrap=True)
    for line in _wrong(report):
        out.print(Text(line, style="bold red"), soft_wrap=True)


def _first_of_each(results: Sequence[Any]) -> list:
    first = {(each.claim, each.statement): each for each in reversed(results)}
    return _worst_first(first.values())


def _cells(title: str, results: Sequence[Any]) -> Table:
    """One row a result; where the terminal is narrow, the scenario is cut."""
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="bold")
    table.add_column("error/bound", justify="right", no_wrap=True, min_width=11)
    table.add_column("trials", justify="right", no_wrap=True, min_width=6)
    table.add_column("dtype", no_wrap=True, min_width=5)
    for name, low in (("claim", max((len(each.claim) for each in results), default=5)), ("statement", 10)):
        table.add_column(name, no_wrap=True, overflow="ellipsis", min_width=low, max_width=NAME_WIDTH)
    table.add_column("scenario", no_wrap=True, overflow="ellipsis")
    for each in results:
        style = "" if each.status == "consistent" else "bold red"
        names = (each.dtype, each.claim, each.statement, each.cell.name)
        table.add_row(words.ratio(each.worst), f"{each.trials:,}", *names, style=style)
    return table


def _by_scenario(results: Sequence[Any]) -> Table:
    """Outliers down, dtypes across, the worst ratio of all claims in between."""
    dtypes = list(dict.fromkeys(each.dtype for each in results))
    dtypes.sort(key=("fp16", "bf16", "fp32", "fp64").index)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("worst error by scenario", no_wrap=True)
    for dtype in dtypes:
        table.add_column(dtype, justify="right", no_wrap=True)
    table.add_column("trials", justify="right", no_wrap=True)
    outliers = sorted(dict.fromkeys(each.cell.outlier for each in results), key=_outlier)
    for outlier in outliers:
        rows = [each for each in results if each.cell.outlier == outlier]
        found = {each.dtype: each.worst for each in reversed(rows)}  # worst first, so the worst one is the last to come
        ratios = (words.ratio(found.get(dtype)) for dtype in dtypes)
        table.add_row(outlier, *ratios, f"{sum(each.trials for each in rows):,}")
    return table


def _outlier(name: str) -> tuple[str, float]:
    kind, _, size = name.partition(":")
    return kind, -float(size[1:]) if size.startswith("t") else float(size or 0)


def _refuted(report: Report) -> Iterator[str]:
    found = _worst_first(each for each in report.results if each.trials and report.is_refuted(each))
    first = {each.claim: each for each in reversed(found)}
    for each in sorted(first.values(), key=found.index):
        yield f"refuted as printed: {each.claim}, {words.ratio(each.worst)} in {each.cell.name}, {each.dtype}"


def _counts(report: Report, seconds: float) -> Iterator[str]:
    counts = summary(report)
    yield (
        f"{counts['consistent']:,} statements in cells consistent, {counts['violated']} violated, "
        f"{counts['refuted']:,} of refuted statements; {sum(each.trials for each in report.results):,} trials"
    )
    reasons = Counter(each.reason for each in report.results if each.reason)
    for reason, number in sorted(reasons.items()):
        yield f"{number:,} not run: {reason}"
    partly = sum(each.outside for each in report.results if each.trials)
    if partly:
        yield f"{partly:,} rows of the others left out: they lie outside the domain of the error bounds"
    kept = f", {report.stored:,} of them from the store" if report.stored else ""
    yield f"{report.shards:,} shards{kept}  ({seconds:.0f} s)"


def _wrong(report: Report) -> Iterator[str]:
    lines = [
        f"VIOLATED  {each.claim}: '{each.statement}' is {words.ratio(each.worst)} times its bound in {each.cell.name}, "
        f"{each.dtype} ({_place(each)})"
        for each in report.violations
    ]
    lines += [f"INCOMPLETE  {shard}: {error}" for shard, error in sorted(dict(report.errors).items())]
    yield from lines[:LISTED]
    if len(lines) > LISTED:
        yield f"and {len(lines) - LISTED} more, all of them in the JSON"
    if report.unfinished:
        yield f"INCOMPLETE  {report.unfinished} shards were not run ({report.lost})"
    if not any(each.trials for each in report.results):
        yield "INCOMPLETE  nothing was tried"


def _place(result: Any) -> str:
    row = (result.witness or {}).get("row")
    return f"block {result.block}" if row is None else f"block {result.block}, row {row}"


def summary(report: Report) -> dict[str, int]:
    """How many statements in cells came out how; "refuted" are those the ledger records as false."""
    counts = Counter("refuted" if each.trials and report.is_refuted(each) else each.status for each in report.results)
    return {name: counts[name] for name in ("consistent", "violated", "refuted", "not run")}


def as_json(report: Report, identity: Mapping, environment: Mapping) -> str:
    """The sweep as JSON text; numbers that JSON lacks are strings, as everywhere (`report.document`)."""
    return document.dumps(
        {
            "schema_version": SCHEMA_VERSION,
            "environment": dict(environment),
            "plan": dict(identity),
            "summary": summary(report),
            "errors": dict(sorted(dict(report.errors).items())),
            "unfinished": report.unfinished,
            "cells": [_data(each, report) for each in report.results],
        }
    )


def _data(result: Any, report: Report) -> dict:
    return {
        "claim": result.claim,
        "statement": result.statement,
        "scenario": result.cell.name,
        "dtype": result.dtype,
        "device": result.device,
        "status": result.status,
        "refuted": report.is_refuted(result),
        "worst_error_over_bound": result.worst if result.trials else None,
        "trials": result.trials,
        "outside": result.outside,
        "reason": result.reason or None,
        "block": result.block if result.trials else None,
        "witness": result.witness,
    }
