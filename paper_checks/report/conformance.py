"""The report of `conform`: one line a property, and the JSON document."""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator
from typing import Any, TextIO

from rich.text import Text

from paper_checks.report.terminal import console

SCHEMA_VERSION = 1
STYLES = {"PASS": "green", "FAIL": "bold red", "N/A": "yellow"}
INDENT = 24
FEW = 4  # entries of an input that is shown


def print_report(found: Any, seed: int, seconds: float, stream: TextIO) -> None:
    """A line a property; below a failure, the smallest input that was found; then the count, and the seed."""
    out = console(stream)
    width = out.width if stream.isatty() else None
    for each in found.findings:
        for number, part in enumerate(_lines(each, width)):
            style = STYLES[each.status] if number == 0 else "dim"
            line = Text(f"{each.status:6}" if number == 0 else "", style=style)
            line.append(
                f"{each.name:18}{part}" if number == 0 else " " * INDENT + part, style="" if number == 0 else "dim"
            )
            out.print(line, soft_wrap=True)
    counts = Counter(each.status for each in found.findings)
    verdict = "conforms to" if found.conforms else "does not conform to"
    summary = ", ".join(f"{counts[status]} {status}" for status in STYLES if counts[status])
    out.print()
    words = f"{found.target} {verdict} {found.spec}: {summary}  ({found.calls} calls, {seconds:.0f} s, seed {seed})"
    out.print(Text(words, style="bold green" if found.conforms else "bold red"), soft_wrap=True)


def _lines(finding: Any, width: int | None) -> Iterator[str]:
    whole = " ".join(finding.diagnosis.split())
    room = max(30, width - INDENT) if width else None
    yield from textwrap.wrap(whole, room, break_long_words=False) if room else [whole]
    if finding.input is not None:
        yield from (
            textwrap.wrap(_input(finding.input), room, break_long_words=False) if room else [_input(finding.input)]
        )


def _input(found: dict[str, Any]) -> str:
    """A failing input in words, with its values where they are few."""
    said = f"input: {found['dtype']}, shape {tuple(found['shape'])}, eps {found['eps']:g}"
    total = 1
    for size in found["shape"]:
        total *= size
    if total <= FEW:
        names = [name for name in ("x", "upstream", "gamma", "W", "beta") if name in found]
        said += "".join(f", {name} = {_flat(found[name])}" for name in names)
    if "entry" in found:
        said += f"; entry {tuple(found['entry'])} of the {found['part']}"
    return said


def _flat(values: Any) -> str:
    while isinstance(values, list) and len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    return f"({', '.join(f'{each:.6g}' if isinstance(each, float) else str(each) for each in values)})"


def as_data(found: Any) -> dict[str, Any]:
    """The document that `--json` writes."""
    return {
        "schema_version": SCHEMA_VERSION,
        "target": found.target,
        "spec": found.spec,
        "conforms": found.conforms,
        "properties": [
            {"name": each.name, "status": each.status, "diagnosis": each.diagnosis, "input": each.input}
            for each in found.findings
        ],
    }


def dumps(found: Any) -> str:
    """The document as text; numbers that JSON does not have are strings in it."""
    return json.dumps(as_data(found), indent=2, allow_nan=False, ensure_ascii=False) + "\n"
