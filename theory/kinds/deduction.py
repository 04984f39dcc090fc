"""Statements that a theorem of analysis draws from others: the premises are decided, the theorem is cited.

A deduction is proved only if every premise is proved; a premise that is refuted or undecided leaves it undecided. The
inference itself is not checked by machine: its theorem is named in the steps, for a reader to judge.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from theory.certificate import NotProved
from theory.lemmas import proved, recording
from theory.proof import Proved, Step, Undecided
from theory.statements import Condition, Statement


@dataclass(frozen=True)
class Deduction:
    """`conclusion`, from the premises by the named theorem.

    A premise of another claim is given by its name, "paper.slug: statement", and recorded as used.
    """

    name: str
    text: str
    premises: tuple[Statement | str, ...]
    theorem: str
    conclusion: Callable[[], sp.Basic]
    scope: str
    conditions: tuple[Condition, ...] = ()
    expects: str = "proved"
    nonzero: tuple[sp.Expr, ...] = ()

    def decide(self) -> Proved | Undecided:
        """Proved if every premise is; the scope says which theorem is cited."""
        steps: list[Step] = []
        uses: list[str] = []
        if not self.premises:
            return Undecided("nothing to deduce from")
        for given in self.premises:
            try:
                with recording() as used:
                    premise, outcome = proved(given) if isinstance(given, str) else (given, given.decide())
            except NotProved as reason:
                return Undecided(str(reason), tuple(steps))
            if not isinstance(outcome, Proved):
                return Undecided(f"'{premise.name}' is {outcome.status}", tuple(steps))
            uses += [name for name in (*used, *outcome.uses) if name not in uses]
            steps.append(Step(f"premise ({outcome.scope}): {premise.text}", premise.formula()))
        scope = f"{self.scope}, citing {self.theorem}"
        return Proved(scope, (*steps, Step(f"by {self.theorem}", self.conclusion())), uses=tuple(uses))

    def formula(self) -> sp.Basic:
        """The conclusion."""
        return self.conclusion()
