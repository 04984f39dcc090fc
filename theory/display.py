"""Readable formulas: the scales by their symbols, with a legend that says what each stands for."""

from __future__ import annotations

import sympy as sp

from theory.norms import mean_magnitude, rms_magnitude, root_mean_square
from theory.phasors import IndexSum, P, eps, h, index_sum, key, q, z

_NAMES = ("S", "S_q", "S_k", "S_q", "S_k", "S", "S")
_SCALES = (
    mean_magnitude(z),
    mean_magnitude(q),
    mean_magnitude(key),
    rms_magnitude(q),
    rms_magnitude(key),
    root_mean_square(h),
    sp.sqrt(index_sum(lambda k: z.square(k)) / (2 * P) + eps),
)


def abbreviate(formula: sp.Basic) -> tuple[sp.Basic, dict[sp.Symbol, sp.Expr]]:
    """The formula with S, S_q, S_k for the scales it contains, and the legend of those symbols.

    Two different scales of one formula never share a symbol: the second one is left written out.
    """
    legend: dict[sp.Symbol, sp.Expr] = {}
    for name, scale in zip(_NAMES, _SCALES, strict=True):
        symbol = sp.Symbol(name, positive=True)
        short = _replace(formula, scale, symbol)
        if symbol not in legend and short != formula:
            formula, legend[symbol] = short, scale
    return formula, legend


def _replace(formula: sp.Basic, scale: sp.Expr, symbol: sp.Symbol) -> sp.Basic:
    """Every occurrence of the scale, and of its powers where it is a square root."""
    if formula == scale:
        return symbol
    if isinstance(scale, sp.Pow) and isinstance(formula, sp.Pow) and formula.base == scale.base:
        return symbol ** (formula.exp / scale.exp)
    if not formula.args or isinstance(formula, sp.Indexed):
        return formula
    arguments = [_replace(argument, scale, symbol) for argument in formula.args]
    if tuple(arguments) == formula.args:
        return formula
    if isinstance(formula, sp.core.relational.Relational):
        return formula.func(*arguments, evaluate=False)
    return formula.func(*arguments)


def printable(formula: sp.Basic) -> sp.Basic:
    """The formula with every sum as a SymPy `Sum`, ready for a printer."""
    if not formula.args or isinstance(formula, sp.Indexed):
        return formula
    arguments = [printable(argument) for argument in formula.args]
    if isinstance(formula, IndexSum):
        index = sp.Symbol(formula.index.name, integer=True)
        return sp.Sum(arguments[0].xreplace({formula.index: index}), (index, 1, formula.length))
    if isinstance(formula, sp.core.relational.Relational):
        return formula.func(*arguments, evaluate=False)
    return formula.func(*arguments)


class Formula:
    """A titled formula for a notebook: shown in LaTeX, with the scales by their symbols and what they stand for."""

    def __init__(self, title: str, formula: object) -> None:
        self.title = title
        self.formula = sp.ImmutableMatrix(formula) if isinstance(formula, sp.MatrixBase | list) else formula

    def _repr_latex_(self) -> str:
        short, legend = abbreviate(self.formula)
        where = ", ".join(f"{sp.latex(symbol)} = {sp.latex(printable(scale))}" for symbol, scale in legend.items())
        lines = [rf"\displaystyle \text{{{self.title}}}\quad {sp.latex(printable(short))}"]
        if where:
            lines.append(rf"\displaystyle \text{{where }} {where}")
        return r"$\begin{array}{l} " + r" \\[2ex] ".join(lines) + r" \end{array}$"

    def __repr__(self) -> str:
        return f"{self.title}: {abbreviate(self.formula)[0]}"


def outcome_table(statements: tuple) -> list[tuple[str, str, str, str]]:
    """(name, what it says, outcome, scope) for every statement of a claim, each decided now."""
    rows = []
    for statement in statements:
        outcome = statement.decide()
        rows.append((statement.name, statement.text, outcome.status, outcome.scope))
    return rows
