"""Where a formula has a value: what it divides by, takes roots of and takes logarithms of, as it is written.

Collected from the tree, before anything cancels: x[i]/x[i] has no value at x[i] = 0 although it is always 1 elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sympy as sp

from theory.analysis.interpret import constant, interpret
from theory.analysis.layers import Layer
from theory.analysis.opaque import Equality
from theory.analysis.scopes import Symbols
from theory.phasors import N, P, i, j
from theory.syntax import Add, Call, Entry, ExpressionError, Mul, Name, Node, Power, Total

NONZERO, NONNEGATIVE, POSITIVE = "!= 0", ">= 0", "> 0"


def conditions(layer: Layer, node: Node, same: Equality) -> Iterator[tuple[sp.Expr, str]]:
    """(expression, relation) for all that the formula needs beyond S > 0 and, for phasors, z_i != 0 and z_j != 0.

    Raises `ExpressionError` where a need is met by no input at all: the formula then has no value anywhere.
    """
    scope = Symbols(layer)
    seen: set[tuple[sp.Expr, str]] = set()
    for part, relation, where in _needs(layer, node, {"i": i, "j": j}):
        if _never(interpret(part, scope, where), relation):
            raise ExpressionError(f"the formula has a value for no input at all: it needs a part {relation}", part.at)
        for factor in sp.Mul.make_args(interpret(part, scope, where)):
            need = (factor.base if isinstance(factor, sp.Pow) else factor, relation)
            if need not in seen and not _granted(layer, factor, relation, scope, same):
                seen.add(need)
                yield need


def _never(value: sp.Expr, relation: str) -> bool:
    """Whether the relation fails for every input, as far as the signs of the symbols tell."""
    value = sp.sympify(value)
    if relation == NONZERO:
        return bool(value.is_zero)
    return bool(value.is_negative if relation == NONNEGATIVE else value.is_nonpositive)


def _granted(layer: Layer, factor: sp.Expr, relation: str, scope: Symbols, same: Equality) -> bool:
    if factor.is_positive or (relation == NONNEGATIVE and factor.is_nonnegative):
        return True
    if isinstance(factor, sp.Pow) and factor.exp.is_positive:
        return _granted(layer, factor.base, relation, scope, same)
    magnitudes = [layer.families["r"][index] for index in (i, j)] if layer.planar else []
    if factor in magnitudes:
        return True
    if relation == NONNEGATIVE and isinstance(factor, sp.Pow) and factor.exp.is_even:
        return True
    scale = scope.name("S")
    multiples = (sp.Integer(1), N, 1 / N, P, 1 / P, 2 * P)
    return any(same(factor, multiple * scale**power) for multiple in multiples for power in (1, 2))


def _needs(layer: Layer, node: Node, where: Mapping[str, sp.Symbol]) -> Iterator[tuple[Node, str, Mapping]]:
    if isinstance(node, Add):
        for _, term in node.terms:
            yield from _needs(layer, term, where)
    elif isinstance(node, Mul):
        for inverse, factor in node.factors:
            if inverse:
                yield factor, NONZERO, where
            yield from _needs(layer, factor, where)
    elif isinstance(node, Power):
        yield from _power_needs(node, where)
        for part in (node.base, node.exponent):
            yield from _needs(layer, part, where)
    elif isinstance(node, Total):
        inside = {**where, node.index: sp.Symbol(node.index, integer=True)}
        yield from _needs(layer, node.body, inside)
    elif isinstance(node, Call) and node.function != "delta":
        if node.function in ("sqrt", "log"):
            yield node.arguments[0], NONNEGATIVE if node.function == "sqrt" else POSITIVE, where
        for argument in node.arguments:
            yield from _needs(layer, argument, where)
    elif isinstance(node, Entry) and f"{node.name}[k]" in layer.definitions:
        yield from _needs(layer, layer.definition(f"{node.name}[k]"), {"k": where[node.index]})
    elif isinstance(node, Name) and node.name in layer.definitions:
        yield from _needs(layer, layer.definition(node.name), {})


def _power_needs(node: Power, where: Mapping[str, sp.Symbol]) -> Iterator[tuple[Node, str, Mapping]]:
    exponent = constant(node.exponent)
    if exponent is None:
        yield node.base, POSITIVE, where
        return
    if exponent < 0:
        yield node.base, NONZERO, where
    if exponent.denominator != 1:
        yield node.base, NONNEGATIVE, where
