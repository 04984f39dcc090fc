"""Numbers that a claim states, enclosed from the formula behind them.

A `Constant` is a transcription of its own: it takes nothing from the claim's file but the text that it answers to, so
a slip in the file's rational arithmetic does not repeat itself here. `claimed` are the numbers of the text; `mutants`
are other numbers, for which the answer must be the opposite: false ones where the claim is true, true ones where it is
false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from theory.routes.finding import Finding, place_of
from theory.routes.interval.balls import CAP, INSTALL, Comparison, available, decide, shown


@dataclass(frozen=True)
class Constant:
    """Comparisons that hold if and only if the statement does, as a function of the numbers that it claims."""

    claim: str
    text: str
    comparisons: Callable[[tuple], Iterable[Comparison]]
    claimed: tuple
    mutants: tuple[tuple, ...]
    scope: str
    detail: str = "enclosed in balls from the formula"

    def decide(self, claimed: tuple | None = None, cap: int = CAP) -> tuple[str, int, Comparison | None]:
        """As `balls.decide`, for the claimed numbers or others."""
        numbers = self.claimed if claimed is None else claimed
        return decide(lambda: self.comparisons(numbers), cap)


def finding(constant: Constant, statement: object, cap: int = CAP) -> Finding:
    """The route's answer for this statement."""
    place = place_of(constant.comparisons)
    named = {"route": "interval", "statement": statement.name, "text": statement.text, "place": place}
    if not available():
        return Finding(**named, status="not run", scope=constant.scope, detail=INSTALL)
    status, bits, failed = constant.decide(cap=cap)
    if failed is None:
        return Finding(**named, status=status, scope=constant.scope, detail=f"{constant.detail}, {bits} bits")
    left, relation, right = failed
    witness = {"left": shown(left), "relation": relation, "right": shown(right)}
    return Finding(
        **named, status=status, scope=constant.scope, detail=f"{constant.detail}, {bits} bits", witness=witness
    )
