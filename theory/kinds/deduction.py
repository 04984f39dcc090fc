"""Statements that a theorem of analysis draws from others: the premises are decided, the theorem is cited.

A deduction is proved only if every premise is proved; a premise that is refuted or undecided leaves it undecided. The
inference itself is not checked by machine: its theorem is named in the steps, for a reader to judge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from theory.proof import Proved, Step, Undecided
from theory.statements import Condition, Statement


@dataclass(frozen=True)
class Deduction:
    """`conclusion`, from the premises by the named theorem."""

    name: str
    text: str
    premises: tuple[Statement, ...]
    theorem: str
    conclusion: Callable[[], sp.Basic]
    scope: str
    conditions: tuple[Condition, ...] = ()
    expects: str = "proved"
    nonzero: tuple[sp.Expr, ...] = ()

    def decide(self) -> Proved | Undecided:
        """Proved if every premise is."""
        steps: list[Step] = []
        if not self.premises:
            return Undecided("nothing to deduce from")
        for premise in self.premises:
            outcome = premise.decide()
            if not isinstance(outcome, Proved):
                return Undecided(f"'{premise.name}' is {outcome.status}", tuple(steps))
            steps.append(Step(f"premise ({outcome.scope}): {premise.text}", premise.formula()))
        return Proved(self.scope, (*steps, Step(f"by {self.theorem}", self.conclusion())))

    def formula(self) -> sp.Basic:
        """The conclusion."""
        return self.conclusion()
