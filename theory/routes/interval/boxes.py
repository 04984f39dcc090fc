"""Inequalities on boxes: adaptive bisection until every sub-box is decided.

A box is a range for each of a few numbers that the statement depends on. Both sides are enclosed on it; where the
enclosures do not decide, the box is halved along its relatively widest side. The statement is proved on the box once
every part is, refuted as soon as a corner, a middle or a part certainly violates it, and undecided when the parts
become too many.

Ranges are widened to the next floating-point numbers, so what is covered is the named box and a little more. Where both
sides meet (a bound that is reached) no enclosure can separate them: such a point is kept out of the box, and the
description says how.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from theory.phasors import P, i, j
from theory.routes.finding import Finding, place_of
from theory.routes.interval.balls import INSTALL, available, ball, between, flint, holds, shown
from theory.routes.interval.program import Inputs, Program
from theory.statements import Inequality, entries_of

BITS = 64
LIMIT = 60_000  # sub-boxes
Values = Mapping[str, object]
Pairs = list[tuple[object, object]]
Corners = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class Box:
    """A statement of a claim on a box, with the ways of filling its symbols from the box's numbers.

    `charts` fill the symbols of a statement that has sides; `formulas` give pairs left <= right (or <) for one that has
    none, written down anew. `description` says what the numbers are and what is left out. `tightened` is a factor on
    the right side with which the statement must fail on this box: 1 % less where the box comes that close to equality.
    """

    claim: str
    text: str
    ranges: Mapping[str, tuple[Fraction | int | str, Fraction | int | str]]
    description: str
    charts: tuple[Callable[[Values], Inputs], ...] = ()
    formulas: tuple[Callable[[Values], Pairs], ...] = ()
    sizes: Mapping = None
    strict: bool = False
    tightened: Fraction = Fraction(99, 100)

    def functions(self, statement: object) -> list[Callable[[Values], Pairs]]:
        """Each chart or formula as a function from the box's numbers to pairs of balls."""
        if self.formulas:
            return list(self.formulas)
        left, right = (entries_of(side) for side in statement.sides())
        program = Program([*left, *right], self.sizes or {P: 2}, {i: 1, j: 2})

        def pairs(chart: Callable[[Values], Inputs]) -> Callable[[Values], Pairs]:
            def values(at: Values) -> Pairs:
                found = program(chart(at))
                return list(zip(found[: len(left)], found[len(left) :], strict=True))

            return values

        return [pairs(chart) for chart in self.charts]


@dataclass(frozen=True)
class Cover:
    """How a box was decided: the number of sub-boxes, and the one that violates the statement."""

    status: str
    parts: int
    violated: Mapping[str, object] | None = None


def cover(
    pairs: Callable[[Values], Pairs], ranges: Mapping[str, tuple], relation: str = "<=", limit: int = LIMIT
) -> Cover:
    """Decides left `relation` right for every point of the box, in at most `limit` sub-boxes."""
    names = list(ranges)
    for place in product(*(_marks(*ranges[name]) for name in names)):
        point = dict(zip(names, place, strict=True))
        found = _violation(pairs({name: ball(value) for name, value in point.items()}), relation)
        if found:
            return Cover("refuted", 0, {"point": {name: str(value) for name, value in point.items()}, **found})
    whole = tuple(_outward(*ranges[name]) for name in names)
    widths = [high - low or 1.0 for low, high in whole]
    waiting, done = deque([whole]), 0
    while waiting:
        box = waiting.popleft()  # breadth first: a violation is met before the edge of where it happens
        at = {name: between(*side) for name, side in zip(names, box, strict=True)}
        found = pairs(at)
        answers = [holds((left, relation, right)) for left, right in found]
        if False in answers:
            sides = {name: list(side) for name, side in zip(names, box, strict=True)}
            return Cover("refuted", done, {"box": sides, **_violation(found, relation)})
        if answers and None not in answers:
            done += 1
        elif not answers or done + len(waiting) >= limit:
            return Cover("undecided", done)
        else:
            waiting += _halves(box, widths)
    return Cover("proved", done)


def _violation(pairs: Pairs, relation: str) -> dict[str, str]:
    """The first pair that certainly violates the relation, or nothing."""
    found = ((left, right) for left, right in pairs if holds((left, relation, right)) is False)
    return next(({"left": shown(left), "relation": relation, "right": shown(right)} for left, right in found), {})


def decide(box: Box, statement: object, factor: Fraction = Fraction(1), limit: int = LIMIT) -> Cover:
    """The statement on the box by all its charts; with `factor`, a statement whose right side is changed by it."""
    relation = statement.relation if isinstance(statement, Inequality) else "<" if box.strict else "<="
    parts = 0
    with flint().ctx.workprec(BITS):
        times = ball(factor)
        for function in box.functions(statement):
            changed = function if factor == 1 else _times(function, times)
            found = cover(changed, box.ranges, relation, limit)
            parts += found.parts
            if found.status != "proved":
                return Cover(found.status, parts, found.violated)
    return Cover("proved", parts)


def finding(box: Box, statement: object, limit: int = LIMIT) -> Finding:
    """The route's answer for this statement on this box."""
    named = {"route": "interval", "statement": statement.name, "text": statement.text, "place": place_of(_what(box))}
    named["scope"] = scope = f"{box.description}; {_shown_ranges(box)}"
    if not available():
        return Finding(**named, status="not run", detail=INSTALL)
    found = decide(box, statement, limit=limit)
    if found.status == "proved":
        named["scope"] = f"{scope}; {found.parts} sub-box{'es' if found.parts > 1 else ''}"
    detail = {
        "proved": "both sides enclosed in balls on every sub-box",
        "refuted": "a sub-box violates the statement",
        "undecided": f"not decided in {limit} sub-boxes",
    }[found.status]
    return Finding(**named, status=found.status, detail=detail, witness=found.violated)


def _what(box: Box) -> Callable:
    """What fills the box's symbols, or states its formula."""
    return (box.formulas or box.charts)[0]


def _times(function: Callable[[Values], Pairs], factor: object) -> Callable[[Values], Pairs]:
    return lambda at: [(left, right * factor) for left, right in function(at)]


def _marks(low: Fraction | int | str, high: Fraction | int | str) -> tuple[Fraction, ...]:
    """The ends of a range and its middle: a violation at one of them is found before anything is halved."""
    low, high = Fraction(low), Fraction(high)
    return low, (low + high) / 2, high


def _outward(low: Fraction | int | str, high: Fraction | int | str) -> tuple[float, float]:
    low, high = Fraction(low), Fraction(high)
    down, up = float(low), float(high)
    down = down if Fraction(down) <= low else math.nextafter(down, -math.inf)
    return down, up if Fraction(up) >= high else math.nextafter(up, math.inf)


def _halves(box: Corners, widths: list[float]) -> list[Corners]:
    number = max(range(len(box)), key=lambda k: (box[k][1] - box[k][0]) / widths[k])
    low, high = box[number]
    middle = (low + high) / 2
    return [(*box[:number], side, *box[number + 1 :]) for side in ((low, middle), (middle, high))]


def _shown_ranges(box: Box) -> str:
    return ", ".join(f"{low} <= {name} <= {high}" for name, (low, high) in box.ranges.items())
