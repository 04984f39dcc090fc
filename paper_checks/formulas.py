"""What `analyze` and `check` share: formulas from the command line, and formulas for people and programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

from paper_checks import output
from paper_checks.usage import UsageProblem

SCHEMA_VERSION = 1
_MOST_SHOWN = 60


def refused(argument: str, formula: str, reason: str, position: int) -> UsageProblem:
    """The problem of a formula that could not be read, with the position (characters count from 1)."""
    start = max(0, min(position - 1, len(formula)) - _MOST_SHOWN // 2)
    part = formula[start : start + _MOST_SHOWN]
    before, after = "..." if start else "", "..." if start + _MOST_SHOWN < len(formula) else ""
    return UsageProblem(argument, f"{before}{part}{after}", f"a formula; at character {position}: {reason}")


def form(expression: Any) -> dict[str, str]:
    """An expression as text and as LaTeX."""
    import sympy

    return {"text": str(expression), "latex": sympy.latex(expression)}


def deliver(text: Iterable[str], data: dict, target: output.Output | None) -> None:
    """The text on standard output, the data in the file; the text on standard error if the data take its place."""
    if target is not None:
        document = {"schema_version": SCHEMA_VERSION, **data}
        target.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    stream = sys.stderr if target is not None and target.is_stdout else sys.stdout
    stream.write("\n".join(text) + "\n")
