"""SymPy expressions evaluated on NumPy arrays, by walking the expression: nothing is generated or executed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

_FUNCTIONS = {sp.exp: np.exp, sp.log: np.log, sp.Abs: np.abs, sp.sign: np.sign}


def evaluate(expr: sp.Expr, values: Mapping[sp.Symbol, np.ndarray | float]) -> np.ndarray | float:
    """The value of an expression; NaN or infinity where it has none.

    Raises:
        KeyError: a symbol has no value. TypeError: a function is not known.
    """
    with np.errstate(all="ignore"):
        return _walk(sp.sympify(expr), values)


def _walk(node: sp.Expr, values: Mapping) -> np.ndarray | float:
    if node.is_Symbol:
        return values[node]
    if isinstance(node, sp.Rational):
        return np.float64(node.p) / np.float64(node.q) if node.q != 1 else np.float64(node.p)
    if not node.args:
        return np.float64(node)
    arguments = [_walk(argument, values) for argument in node.args]
    first, *rest = arguments
    if isinstance(node, sp.Pow):
        return _power(first, node.exp, rest[0])
    if isinstance(node, sp.Add | sp.Mul | sp.Max | sp.Min):
        combine = {sp.Add: np.add, sp.Mul: np.multiply, sp.Max: np.maximum, sp.Min: np.minimum}[node.func]
        for other in rest:
            first = combine(first, other)
        return first
    if isinstance(node, sp.Heaviside):
        return np.heaviside(first, 0.5)
    if node.func in _FUNCTIONS:
        return _FUNCTIONS[node.func](first)
    raise TypeError(f"{node.func.__name__} has no value in floating point here")


def _power(base: np.ndarray | float, exponent: sp.Expr, value: np.ndarray | float) -> np.ndarray | float:
    if exponent == sp.Rational(1, 2):
        return np.sqrt(base)
    if exponent == -1:
        return np.divide(1.0, base)
    if exponent.is_Integer and abs(int(exponent)) <= 3:
        positive = np.multiply(base, base) if abs(int(exponent)) >= 2 else base
        positive = np.multiply(positive, base) if abs(int(exponent)) == 3 else positive
        return positive if exponent > 0 else np.divide(1.0, positive)
    return np.power(base, value)
