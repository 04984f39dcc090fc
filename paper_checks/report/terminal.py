"""The table of `run`: one line a claim, with conditions and corrected statements below it, and a summary."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from paper_checks import routes
from paper_checks.evidence import PRINTED, Evidence, Task
from paper_checks.report import words
from paper_checks.run import Result

STYLES = {"PASS": "green", "PASS IF": "cyan", "FAIL": "bold red", "OPEN": "yellow"}
HEADER = ("claim", "source", "verdict", "strongest evidence", "error/bound")
LEGEND = "error/bound: the printed statement's largest measured error over its bound; above 1 it is violated"
PIPE_WIDTH = 120


def console(stream: TextIO) -> Console:
    """A console that obeys NO_COLOR and, where there is no terminal and no COLUMNS, is 120 columns wide."""
    width = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(file=stream, width=width, highlight=False, markup=False, emoji=False)


def print_table(results: Sequence[Result], stream: TextIO, seconds: float, verbose: bool = False) -> None:
    """The table, with every row of evidence if it is verbose, the counts, and, last, everything that is wrong."""
    out = console(stream)
    widths = _widths(results, out.width)
    out.print(_line(HEADER, widths, "bold"))
    for result in results:
        out.print(_line(_cells(result), widths))
        for note in words.notes(result):
            indent = " " * (widths[0] + 2)
            for line in textwrap.wrap(note, max(20, out.width - len(indent)), break_long_words=False):
                out.print(Text(indent + line, style="dim"), soft_wrap=True)
        for row in result.evidence if verbose else ():
            out.print(Text("  " + evidence_line(row), style="dim"), soft_wrap=True)
    out.print()
    out.print(Text(LEGEND, style="dim"))
    out.print(Text(words.counted_routes(results)))
    if lonely := routes.alone(results):
        out.print(Text(f"one route only: {', '.join(lonely)}"), soft_wrap=True)
    for prover, reason in routes.absent(results).items():
        out.print(Text(f"{prover}: not run, which is not a pass ({reason})", style="yellow"), soft_wrap=True)
    out.print(Text(f"{words.counts(results)}  ({seconds:.0f} s)", style="bold"))
    for gap in words.grouped((result.claim.slug, gap) for result in results for gap in result.gaps):
        out.print(Text(f"INCOMPLETE  {gap}", style="yellow"))
    for problem in words.grouped((result.claim.slug, problem) for result in results for problem in result.problems):
        out.print(Text(f"WRONG  {problem}", style="bold red"))


def evidence_line(row: Evidence) -> str:
    """One row of evidence: by what, what came out, for which statement, how far it reaches, and the rest."""
    detail = "" if row.detail == row.text else row.detail.removeprefix(f"{row.text}: ")
    measured = ", ".join(filter(None, (row.dtype, row.device)))
    ratio = words.ratio(row.worst_error_over_bound)
    rest = (row.scope, detail, measured, ratio and f"error/bound {ratio}", row.place)
    head = (f"{row.route or row.kind:11}", f"{row.status:10}", words.named(row))
    return "  ".join((*head, *(f"[{part}]" for part in rest if part)))


@contextmanager
def progress_bar(total: int, description: str, *columns: ProgressColumn) -> Iterator[Callable[..., None]]:
    """A bar on standard error, by default with percentage and remaining time, or nothing where that is no terminal.

    Yields what takes the changes: `advance`, `completed`, `description`, as `rich.progress.Progress.update`.
    """
    if not sys.stderr.isatty():
        yield lambda **changes: None
        return
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield partial(bar.update, bar.add_task(description, total=total))


@contextmanager
def progress(total: int) -> Iterator:
    """A progress bar on standard error, or nothing where that is no terminal; yields what to call after each task."""
    columns = (TextColumn("{task.description:20}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with progress_bar(total, "deciding", *columns) as update:

        def advance(done: Task | str) -> None:
            """A task is done, or a stage that has this name begins."""
            if isinstance(done, str):
                update(description=done)
            else:
                update(advance=1, description=done.slug)

        yield advance


def _cells(result: Result) -> tuple[str, ...]:
    ratio = words.ratio(words.worst(result, PRINTED))
    return result.claim.slug, _source(result), result.verdict.verdict, words.strongest(result), ratio


def _source(result: Result) -> str:
    return result.claim.source.replace("section ", "§").replace("appendix ", "app. ")


def _widths(results: Sequence[Result], total: int) -> tuple[int, ...]:
    slug = max(len(HEADER[0]), *(len(result.claim.slug) for result in results))
    source = min(total // 4, max(len(HEADER[1]), *(len(_source(result)) for result in results)))
    fixed = (slug, source, len("PASS IF"))
    last = len(HEADER[-1])
    return (*fixed, max(10, total - sum(fixed) - last - 2 * 4), last)


def _line(cells: Sequence[str], widths: Sequence[int], style: str = "") -> Text:
    line = Text(style=style, no_wrap=True, overflow="ellipsis")
    for number, (cell, width) in enumerate(zip(cells, widths, strict=True)):
        text = Text(cell, style=STYLES.get(cell, ""))
        last = number == len(cells) - 1
        text.truncate(width, overflow="ellipsis", pad=not last)
        line.append_text(text)
        if not last:
            line.append("  ")
    return line
