"""How the symbolic side arrives at its rows: each statement's formula and the steps of its decision, as plain text.

SymPy is imported only here, and only when a derivation is asked for.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from paper_checks import evidence
from paper_checks.claims import Claim
from paper_checks.evidence import Task


@dataclass(frozen=True)
class Line:
    """One step: what is done, and the formula it gives as text and as LaTeX (both empty where there is none)."""

    title: str
    text: str = ""
    latex: str = ""


@dataclass(frozen=True)
class Derivation:
    """One statement of a claim: its formula, the outcome, and the steps that lead there."""

    statement: str
    text: str
    status: str
    formula: Line
    steps: tuple[Line, ...]
    divides_by: tuple[str, ...] = ()
    legend: tuple[Line, ...] = ()  # what the symbols of the scales stand for, one line a symbol


def derive(claim: Claim, columns: int | None = None) -> list[Derivation]:
    """The derivations of `claim`, formulas broken to fit `columns` if given; none where it has no symbolic side."""
    module = Task(claim.paper, claim.slug, evidence.THEORY).module
    if not evidence.exists(module):
        return []
    return [_derivation(statement, columns) for statement in importlib.import_module(module).STATEMENTS]


def formulas(claim: Claim) -> list[Line]:
    """What the statements of `claim` say as formulas, without deciding them."""
    module = Task(claim.paper, claim.slug, evidence.THEORY).module
    if not evidence.exists(module):
        return []
    return [_line(s.name, s.formula()) for s in importlib.import_module(module).STATEMENTS]


def _derivation(statement: Any, columns: int | None) -> Derivation:
    outcome = statement.decide()
    legend: dict[str, Line] = {}
    return Derivation(
        statement=statement.name,
        text=statement.text,
        status=outcome.status,
        formula=_line("", statement.formula(), columns, legend),
        steps=tuple(_line(step.title, step.formula, columns, legend) for step in outcome.steps),
        divides_by=tuple(dict.fromkeys(_plain(factor, legend) for factor in getattr(outcome, "nonzero", ()))),
        legend=tuple(legend.values()),
    )


def _line(title: str, formula: Any, columns: int | None = None, legend: dict[str, Line] | None = None) -> Line:
    """The formula with the scales by their symbols; `legend` takes in what the symbols stand for."""
    if formula is None:
        return Line(title)
    import sympy

    from theory.display import abbreviate, printable

    short, named = abbreviate(formula)
    for symbol, scale in named.items() if legend is not None else ():
        legend.setdefault(f"{symbol} = {scale}", Line("", f"{symbol} = {scale}", _equation(symbol, scale)))
    wrap = {"wrap_line": False} if columns is None else {"wrap_line": True, "num_columns": columns}
    shown = printable(short if legend is not None else formula)
    return Line(title, sympy.pretty(shown, use_unicode=True, **wrap), sympy.latex(shown))


def _equation(symbol: Any, scale: Any) -> str:
    import sympy

    from theory.display import printable

    return f"{sympy.latex(symbol)} = {sympy.latex(printable(scale))}"


def _plain(factor: Any, legend: dict[str, Line]) -> str:
    from theory.display import abbreviate

    _line("", factor, None, legend)
    return str(abbreviate(factor)[0])
