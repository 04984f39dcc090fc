"""What a layer's derivatives are: differentiated from its definition, and exactly at one point by dual numbers."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import sympy as sp

from theory import exact
from theory.analysis.interpret import Array, interpret
from theory.analysis.layers import GRADIENT, JACOBIAN, LAYERS, WEIGHT_GRADIENT, Layer
from theory.analysis.opaque import Equality
from theory.analysis.scopes import Symbols, statistic
from theory.expressions import parse
from theory.phasors import derivative, i, j
from theory.syntax import Vocabulary


@cache
def loss(name: str) -> sp.Expr:
    """L = sum_k g_k . o_k, with everything written out."""
    layer = LAYERS[name]
    words = layer.vocabulary(GRADIENT)
    everything = Vocabulary(words.names, words.indexed, words.functions, sums=True)
    return interpret(parse(layer.loss, everything), Symbols(layer, expanded=True), {})


@cache
def output(name: str) -> tuple[sp.Expr, ...]:
    """The coordinates of o_i, with everything written out."""
    value = Symbols(LAYERS[name], expanded=True).entry("o", i)
    return value.entries if isinstance(value, Array) else (value,)


@cache
def derived(name: str, target: str) -> tuple[sp.Expr, ...]:
    """The derivative by differentiation, one expression a component (a Jacobian row by row)."""
    layer = LAYERS[name]
    if target == WEIGHT_GRADIENT:
        return (derivative(loss(name), layer.families["gamma"][i]),)
    if target == GRADIENT:
        return tuple(derivative(loss(name), layer.families[c][i]) for c in layer.inputs)
    return tuple(derivative(o, layer.families[c][j]) for o in output(name) for c in layer.inputs)


def at_point(name: str, target: str, at: exact.Point) -> tuple[Fraction, ...]:
    """The derivative at an exact point: by dual numbers, or its formula's value where the layer has a logarithm."""
    layer = LAYERS[name]
    if loss(name).has(sp.log):
        return tuple(exact.evaluate(component, at) for component in derived(name, target))
    if target == WEIGHT_GRADIENT:
        return (exact.evaluate(loss(name), at, layer.families["gamma"][i]),)
    if target == GRADIENT:
        return tuple(exact.evaluate(loss(name), at, layer.families[c][i]) for c in layer.inputs)
    return tuple(exact.evaluate(o, at, layer.families[c][j]) for o in output(name) for c in layer.inputs)


def equality(layer: Layer) -> Equality:
    """Equality of expressions in which S, mu, ... stand for what the layer defines them to be."""
    expanded = Symbols(layer, expanded=True)
    length = layer.numbers[layer.length]
    meaning = {statistic(layer, name): expanded.name(name) for name in layer.statistics}
    return Equality(meaning, (length, 2 * length, sp.Integer(2)) if layer.planar else (length, length - 1))


def cases(layer: Layer, target: str, entries: tuple[sp.Expr, ...]) -> list[tuple[sp.Expr, ...]]:
    """The expressions for i != j and for i = j, where the derivative has two indices."""
    if target != JACOBIAN:
        return [entries]
    different = {sp.KroneckerDelta(i, j): sp.Integer(0)}
    return [tuple(e.xreplace(different) for e in entries), tuple(e.xreplace({j: i}) for e in entries)]
