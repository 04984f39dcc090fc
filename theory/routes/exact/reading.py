"""Reads SymPy expressions into programs; takes the derivatives that were left standing.

Only the tree that SymPy holds is used, never its calculus or its simplifier. A standing derivative (`theory.standing`)
becomes the slope of the program of its expression (`slopes`), and the steps that follow it are carried out there.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy as sp
from sympy.tensor.indexed import Indexed

from theory.phasors import IndexSum
from theory.routes.exact.nodes import Node, Program
from theory.routes.exact.numbers import Unknown
from theory.routes.exact.slopes import slope
from theory.standing import ANY, Slope

FUNCTIONS = {sp.log: "log", sp.cos: "cos", sp.sin: "sin", sp.exp: "exp"}


class Reader:
    """Expressions of one program, each read once."""

    def __init__(self, program: Program) -> None:
        self.program, self.read = program, {}

    def __call__(self, expr: sp.Expr) -> Node:
        """The node of an expression; raises `Unknown` for what a program cannot say."""
        if expr not in self.read:
            self.read[expr] = self._node(expr)
        return self.read[expr]

    def _node(self, expr: sp.Expr) -> Node:
        program = self.program
        if expr.is_Rational:
            return program.constant(Fraction(int(expr.p), int(expr.q)))
        if isinstance(expr, Indexed):
            return program.entry(expr.base, index(expr.indices))
        if isinstance(expr, sp.Symbol):
            return program.symbol(expr)
        if isinstance(expr, sp.Add | sp.Mul):
            return (program.add if expr.is_Add else program.mul)(*(self(part) for part in expr.args))
        if isinstance(expr, sp.Pow):
            return program.power(self(expr.base), self(expr.exp))
        if isinstance(expr, sp.Abs):
            return program.power(program.power(self(expr.args[0]), 2), Fraction(1, 2))
        if isinstance(expr, IndexSum):
            return program.total(expr.index, self(expr.length), self(expr.body))
        if isinstance(expr, sp.KroneckerDelta):
            return program.delta(*(index([argument]) for argument in expr.args[:2]))
        if isinstance(expr, Slope):
            return self._slope(expr)
        if expr is sp.E:
            return program.function("exp", program.one)
        if type(expr) in FUNCTIONS:
            return program.function(FUNCTIONS[type(expr)], self(expr.args[0]))
        raise Unknown(f"{expr.func.__name__} has no exact value here")

    def _slope(self, expr: Slope) -> Node:
        node = slope(self.program, self(expr.expr), self(expr.variable))
        for step in expr.steps:
            rule = [pair for old, new in step for pair in self._replacement(old, new)]
            node = self.program.substitute(node, dict(rule))
        return node

    def _replacement(self, old: sp.Expr, new: sp.Expr) -> Iterator[tuple[tuple, object]]:
        node = self(new)
        if isinstance(old, Indexed) and old.indices != (ANY,):
            yield ("entry", old.base, index(old.indices)), node
        elif isinstance(old, Indexed):
            yield ("entry", old.base, None), lambda k: self.program.substitute(node, {("index", ANY): k})
        elif isinstance(old, sp.KroneckerDelta):
            yield ("delta", *self.program.delta(*(index([a]) for a in old.args[:2])).data), node
        else:
            yield ("symbol", old), node
            if old.is_integer and (new.is_Integer or new.is_Symbol):
                yield ("index", old), index([new])


def index(indices: tuple | list) -> object:
    """An index: a symbol, or a position."""
    if len(indices) != 1 or not (indices[0].is_Symbol or indices[0].is_Integer):
        raise Unknown(f"the index {indices}")
    return int(indices[0]) if indices[0].is_Integer else indices[0]
