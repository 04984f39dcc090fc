"""Which known mistake a formula is: the templates of every layer and derivative, and the search among them."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from functools import cache

from theory.analysis.gradients import GRADIENTS
from theory.analysis.interpret import Array, interpret
from theory.analysis.layers import GRADIENT, JACOBIAN, LAYERS, WEIGHT_GRADIENT, Layer
from theory.analysis.other_derivatives import JACOBIANS, WEIGHT_GRADIENTS
from theory.analysis.scopes import Numbers
from theory.analysis.template import Template
from theory.expressions import parse
from theory.syntax import Node

TEMPLATES: dict[str, dict[str, Template]] = {
    GRADIENT: GRADIENTS,
    WEIGHT_GRADIENT: WEIGHT_GRADIENTS,
    JACOBIAN: JACOBIANS,
}
_RMS_GRADIENT = "gamma[i]*g[i]/S - x[i]/(N*S**3)*sum(k, gamma[k]*g[k]*x[k])"
RIGHT = {
    GRADIENT: {
        "rmsnorm": _RMS_GRADIENT,
        "layernorm": "(gamma[i]*g[i] - sum(k, gamma[k]*g[k])/N - xhat[i]*sum(k, gamma[k]*g[k]*xhat[k])/N)/S",
        "mrsnorm": "(gamma[i]*g[i] - u[i]*sum(k, gamma[k]*dot(g[k], zhat[k]))/P)/S",
        "ma-rmsnorm": f"s*({_RMS_GRADIENT}) + alpha*x[i]/(N*S**2)*sum(k, W[k]*g[k])",
    },
    WEIGHT_GRADIENT: {
        "rmsnorm": "g[i]*xhat[i]",
        "layernorm": "g[i]*xhat[i]",
        "mrsnorm": "dot(g[i], zhat[i])",
        "ma-rmsnorm": "s*g[i]*xhat[i]",
    },
    JACOBIAN: {
        "rmsnorm": "gamma[i]/S*(delta(i, j) - xhat[i]*xhat[j]/N)",
        "layernorm": "gamma[i]/S*(delta(i, j) - 1/N - xhat[i]*xhat[j]/N)",
        "mrsnorm": "gamma[i]/S*(delta(i, j)*I - outer(zhat[i], u[j])/P)",
        "ma-rmsnorm": "s*gamma[i]/S*(delta(i, j) - xhat[i]*xhat[j]/N) + alpha*W[i]*xhat[j]/(N*S)",
    },
}  # as shown to the user; the templates say the same with slots
_NEAR = 2.0**-30  # floats only choose whom to compare exactly


@cache
def right(name: str, target: str) -> Node:
    """The right formula."""
    return _parsed(name, target, TEMPLATES[target][name].fill())


def named(layer: Layer, target: str, node: Node, same: Callable[[Node], bool]) -> str | None:
    """The name of the first known mistake that the formula is, if `same` confirms it."""
    mine = approximately(layer, target, node)
    if mine is None:
        return None
    for mistake, text in TEMPLATES[target][layer.name].wrong():
        if _close(mine, _known_value(layer.name, target, text)) and same(_parsed(layer.name, target, text)):
            return mistake
    return None


@cache
def _known_value(name: str, target: str, text: str) -> list[float] | None:
    return approximately(LAYERS[name], target, _parsed(name, target, text))


def approximately(layer: Layer, target: str, node: Node) -> list[float] | None:
    """The formula's components at one fixed generic point, in floating point; None where it has no real value."""
    rng = random.Random(7)
    length = 5
    lists = {
        name: tuple(rng.uniform(0.5, 2.0) * rng.choice((-1, 1)) for _ in range(length)) for name in layer.primitives
    }
    numbers = {name: rng.uniform(0.5, 2.0) for name in layer.numbers} | {layer.length: float(length)}
    values: list[float] = []
    try:
        for where in ({"i": 1, "j": 2}, {"i": 1, "j": 1}):
            value = interpret(node, _Floats(layer, lists, numbers), where)
            values += components(value)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return values


def components(value: object) -> list:
    """The components of a value that are compared; of a vector gradient, a number is the first coordinate."""
    return list(value.entries) if isinstance(value, Array) else [value]


def _close(mine: list[float], other: list[float] | None) -> bool:
    if other is None or len(other) < len(mine):
        return False
    step = len(other) // len(mine)
    return all(abs(a - b) <= _NEAR * (abs(a) + abs(b)) for a, b in zip(mine, other[::step], strict=True))


@cache
def _parsed(name: str, target: str, text: str) -> Node:
    return parse(text, LAYERS[name].vocabulary(target))


class _Floats(Numbers):
    """The same formulas in floating point."""

    def number(self, value: object) -> float:
        """The nearest number."""
        return float(value)

    def entry(self, name: str, index: int) -> object:
        """An entry; every magnitude has a value here."""
        if name == "r":
            return abs(complex(self.lists["x"][index - 1], self.lists["y"][index - 1]))
        return super().entry(name, index)

    def function(self, name: str, arguments: list[float]) -> float:
        """A function of real numbers."""
        functions = {"sqrt": math.sqrt, "log": math.log, "exp": math.exp, "Abs": abs, "Min": min, "Max": max}
        return functions[name](*arguments)

    def power(self, base: float, exponent: float) -> float:
        """A real power; OverflowError or ValueError where there is none."""
        return math.pow(base, exponent)
