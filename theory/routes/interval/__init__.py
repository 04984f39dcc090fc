"""Ball arithmetic: every number that a claim states, its refutations, and its bounds on boxes, enclosed rigorously.

| what | file | says |
|---|---|---|
| numbers | `entropy_constants.py`, `exact_constants.py` | a constant, from its formula and not from the claim's file |
| refutations | `points.py` | both sides at the named counterexample, apart for certain |
| bounds | `box_*.py` | the sides on a box, by adaptive bisection |

A bound on a box is proved there and nowhere else: the scope names the box, the number of phasors or keys, what was left
out because both sides meet in it, and the number of sub-boxes. python-flint is imported when a finding needs it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import ModuleType

from theory.routes.finding import Finding
from theory.routes.interval import (
    box_deductions,
    box_layers,
    box_statements,
    boxes,
    constant,
    entropy_constants,
    exact_constants,
    points,
)

CONSTANTS = (*entropy_constants.CONSTANTS, *exact_constants.CONSTANTS)
BOXES = (*box_statements.BOXES, *box_layers.BOXES, *box_deductions.BOXES)


def findings(module: ModuleType) -> Iterator[Finding]:
    """What ball arithmetic says about the statements of a claim module of `theory`."""
    claim = module.__name__.removeprefix("theory.")
    for statement in module.STATEMENTS:
        for entry in CONSTANTS:
            if (entry.claim, entry.text) == (claim, statement.text):
                yield _timed(lambda e=entry, s=statement: constant.finding(e, s))
        for box in BOXES:
            if (box.claim, box.text) == (claim, statement.text):
                yield _timed(lambda b=box, s=statement: boxes.finding(b, s))
        if points.applies(statement):
            yield _timed(lambda s=statement: points.refutation(s))


def _timed(answer: Callable[[], Finding]) -> Finding:
    start = time.process_time()
    found = answer()
    return replace(found, seconds=time.process_time() - start)
