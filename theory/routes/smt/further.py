"""Deductions and impossibilities, as far as they are real arithmetic.

A deduction is its premises: each is put to z3, and what the cited theorem makes of them is not. An impossibility is
proved if no values satisfy all its facts and what it assumes; that z3 finds by itself, without the cofactors.
"""

from __future__ import annotations

import importlib

from theory.certificate import NotProved
from theory.kinds.deduction import Deduction
from theory.kinds.impossible import Impossible
from theory.moments import denominators
from theory.routes.smt.decide import Answer, decide
from theory.routes.smt.solver import Solver
from theory.routes.smt.steps import hypotheses
from theory.routes.smt.translate import Inexpressible, Translation, bases_of
from theory.statements import Identity, Inequality, Statement


def deduction(statement: Deduction, solver: Solver) -> Answer:
    """Proved if z3 proves every premise; undecided if it does not, or if one is not for z3."""
    scopes = []
    for given in statement.premises:
        premise = _named(given) if isinstance(given, str) else given
        if not isinstance(premise, Identity | Inequality):
            raise Inexpressible(f"the premise '{premise.name}'")
        answer = decide(premise, Solver(solver.limit))
        if answer.status != "proved":
            return Answer("undecided", detail=f"the premise '{premise.name}' is {answer.status}: {answer.detail}")
        scopes.append(f"{premise.name}: {answer.scope}")
    if not scopes:
        return Answer("undecided", detail="no premises")
    return Answer("proved", "; ".join(scopes), f"the premises only; the rest is {statement.theorem}")


def _named(name: str) -> Statement:
    claim, _, statement = name.partition(": ")
    module = importlib.import_module(f"theory.{claim}")
    found = [entry for entry in module.STATEMENTS if entry.name == statement]
    if len(found) != 1:
        raise Inexpressible(f"'{name}' names {len(found)} statements")
    return found[0]


def impossible(statement: Impossible, solver: Solver) -> Answer:
    """Proved if z3 finds that the facts contradict each other; facts that do not are undecided."""
    try:
        facts, positive = list(statement.facts()), statement.positive()
    except NotProved as reason:
        return Answer("undecided", detail=str(reason))
    needed = [need for fact in facts for need in fact.needs] + list(positive.hypotheses)
    missing = [need for need in needed if need not in statement.assumes]
    if missing:
        return Answer("undecided", detail=f"uses what is not assumed: {missing[0]}")
    expressions = [fact.expr for fact in facts]
    translate = Translation(solver, 2, (), bases_of([*expressions, positive.expr]))
    zeros = [solver.term(translate(expr).num) == 0 for expr in expressions]
    for value, strict in hypotheses(positive, translate):
        term = solver.term(value.numerator_with_sign())
        zeros.append(term > 0 if strict else term >= 0)
    for divisor in denominators(*expressions):
        translate.not_zero(translate(divisor))
    answer = solver.ask(*zeros, *translate.known())[0]
    if answer == "unsat":
        return Answer("proved", statement.scope, "no values satisfy its facts; the theorems behind them are cited")
    return Answer("undecided", detail="its facts do not contradict each other" if answer == "sat" else "z3: unknown")
