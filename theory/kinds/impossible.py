"""Statements that something does not exist: what it would have to satisfy is contradictory.

The proof is a certificate. The facts are expressions that would be zero if the object existed, each with its reason: a
property that is assumed of the object, or a named theorem, which itself needs some of those properties. A combination
of the facts with cofactors that equals something strictly positive is a contradiction:

    sum_n cofactor_n fact_n = positive,   every fact_n = 0,   positive > 0.

The identity is decided by the moment normal form, the sign by `theory.certificate`. What the machine does not check is
the theorem behind a fact; it checks that the theorem's premises are among the assumed properties, and shows its name.

Without a contradiction the statement is undecided. It is refuted by an object: `counterexample` gives a `Witness`
computed from one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import sympy as sp

from theory.certificate import Nonneg, NotProved
from theory.kinds.computed import HOLDS
from theory.moments import NotMoments, vanishes
from theory.proof import Outcome, Proved, Refuted, Step, Undecided, Witness
from theory.statements import Condition


@dataclass(frozen=True)
class Fact:
    """expr = 0, for this reason; `needs` are the assumed properties that the reason rests on."""

    expr: sp.Expr
    because: str
    needs: tuple[str, ...]
    cofactor: sp.Expr


@dataclass(frozen=True)
class Impossible:
    """No object has all the properties `assumes`: its facts add up to something positive."""

    name: str
    text: str
    assumes: tuple[str, ...]
    facts: Callable[[], Iterable[Fact]]
    positive: Callable[[], Nonneg]
    counterexample: Callable[[], Witness] | None = None
    conditions: tuple[Condition, ...] = ()
    scope: str = "every such object"
    expects: str = "proved"
    nonzero: tuple[sp.Expr, ...] = ()

    def decide(self) -> Outcome:
        """Proved by the contradiction, refuted by an object, or undecided."""
        if self.counterexample is not None:
            witness = self.counterexample()
            if not HOLDS[witness.relation](witness.values["left"], witness.values["right"]):
                return Refuted(witness)
        try:
            return self._prove()
        except (NotProved, NotMoments) as reason:
            return Undecided(str(reason))

    def formula(self) -> sp.Basic:
        """0 < positive, where positive is a combination of the facts."""
        combination = sp.Add(*(fact.cofactor * fact.expr for fact in self.facts()))
        return sp.And(sp.Eq(combination, 0, evaluate=False), sp.StrictLessThan(0, self.positive().expr, evaluate=False))

    def _prove(self) -> Proved | Undecided:
        facts, positive = list(self.facts()), self.positive()
        needed = [need for fact in facts for need in fact.needs] + list(positive.hypotheses)
        missing = [need for need in needed if need not in self.assumes]
        if missing:
            return Undecided(f"uses what is not assumed: {', '.join(dict.fromkeys(missing))}")
        if not positive.strict:
            return Undecided("the certificate shows >= 0, not > 0")
        combination = sp.Add(*(fact.cofactor * fact.expr for fact in facts))
        steps = [Step(f"would be zero, by {fact.because} ({', '.join(fact.needs)})", fact.expr) for fact in facts]
        if not vanishes(combination - positive.expr):
            return Undecided("the facts do not add up to the positive expression", tuple(steps))
        steps += [Step("cofactor", fact.cofactor) for fact in facts]
        return Proved(self.scope, (*steps, Step("their combination, which is positive", positive.expr)))
