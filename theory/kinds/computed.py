"""Statements that one finite exact computation decides: an enumeration, a program run, a number enclosed in rationals.

The two sides are computed as integers or fractions; a float is refused, because it proves nothing. A computation whose
pairs all satisfy the relation is `Proved` with the scope that the file gives it, which says how far it reaches; the
first pair that does not is a `Refuted` whose witness repeats the computation.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import sympy as sp

from theory.proof import Outcome, Proved, Refuted, Step, Undecided, Witness
from theory.statements import Condition

HOLDS = {"=": operator.eq, "<=": operator.le, "<": operator.lt}
_SHOWN = {"=": sp.Eq, "<=": sp.LessThan, "<": sp.StrictLessThan}
Pairs = Sequence[tuple[object, object]]


@dataclass(frozen=True)
class Computed:
    """left `relation` right for every pair that `values` computes; `inputs` are shown with a refutation."""

    name: str
    text: str
    values: Callable[[], Pairs]
    scope: str
    relation: str = "="
    inputs: Callable[[], Mapping[str, object]] = dict
    conditions: tuple[Condition, ...] = ()
    derivation: Callable[[], Iterable[Step]] = lambda: ()
    expects: str = "proved"
    nonzero: tuple[sp.Expr, ...] = ()

    def decide(self) -> Outcome:
        """Proved within the scope, refuted by the computed numbers, or undecided if nothing exact was computed."""
        try:
            pairs = self._pairs()
        except TypeError as reason:
            return Undecided(str(reason))
        if not pairs:
            return Undecided("the computation gave nothing to compare")
        holds = HOLDS[self.relation]
        for number, (left, right) in enumerate(pairs):
            if not holds(left, right):
                return Refuted(
                    Witness(self.inputs(), {"left": left, "right": right}, self.relation, partial(self._pair, number)),
                    tuple(self.derivation()),
                )
        return Proved(self.scope, (*self.derivation(), Step(f"computed: {self._summary(pairs)}")))

    def formula(self) -> sp.Basic:
        """The first comparison, with its numbers."""
        left, right = (sp.Rational(side.numerator, side.denominator) for side in self._pairs()[0])
        return _SHOWN[self.relation](left, right, evaluate=False)

    def _pairs(self) -> list[tuple[Fraction, Fraction]]:
        return [(_exact(left), _exact(right)) for left, right in self.values()]

    def _pair(self, number: int) -> dict[str, Fraction]:
        left, right = self._pairs()[number]
        return {"left": left, "right": right}

    def _summary(self, pairs: list[tuple[Fraction, Fraction]]) -> str:
        shown = ", ".join(f"{left} {self.relation} {right}" for left, right in pairs[:3])
        return shown if len(pairs) <= 3 else f"{shown} and {len(pairs) - 3} more"


def _exact(value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | Fraction | sp.Rational):
        raise TypeError(f"{value!r} is not an exact number")
    return Fraction(int(value.p), int(value.q)) if isinstance(value, sp.Rational) else Fraction(value)
