"""Derivatives by dual numbers: every node becomes value + slope e, e^2 = 0, and the slope is a node again.

    (a + a' e)(b + b' e) = a b + (a' b + a b') e          (a + a' e)^q = a^q + q a^(q-1) a' e
    log(a + a' e) = log a + (a'/a) e                      cos(a + a' e) = cos a - sin a a' e

The entry v_k of the family differentiated by is v_k + delta_ki e. The magnitude of a vector is the root of the sum of
the squares of its components and gets its slope from them. What a delta is worth is left to the positions at which the
program is evaluated. This shares nothing with the calculus in `theory.phasors`.
"""

from __future__ import annotations

from theory.phasors import MAGNITUDES
from theory.routes.exact.nodes import Node, Program
from theory.routes.exact.numbers import Unknown


def slope(program: Program, node: Node, variable: Node) -> Node:
    """The slope of a node where `variable`, a symbol or an entry, is variable + e."""
    memo: dict[Node, Node] = {}

    def of(node: Node) -> Node:
        if node not in memo:
            memo[node] = _slope(program, node, variable, of)
        return memo[node]

    return of(node)


def _slope(program: Program, node: Node, variable: Node, of: object) -> Node:
    add, mul, power, parts = program.add, program.mul, program.power, node.parts
    match node.kind:
        case "number" | "delta":
            return program.zero
        case "symbol":
            return program.one if node is variable else program.zero
        case "entry":
            return _entry(program, *node.data, variable)
        case "add":
            return add(*(of(part) for part in parts))
        case "mul":
            return add(*(mul(*parts[:n], of(part), *parts[n + 1 :]) for n, part in enumerate(parts)))
        case "power":
            base, exponent = parts
            if of(exponent) is not program.zero:
                raise Unknown("the slope of a power in its exponent")
            return mul(exponent, power(base, add(exponent, program.constant(-1))), of(base))
        case "log":
            return mul(of(parts[0]), power(parts[0], -1))
        case "cos":
            return mul(program.constant(-1), program.function("sin", parts[0]), of(parts[0]))
        case "sin":
            return mul(program.function("cos", parts[0]), of(parts[0]))
        case "exp":
            return mul(node, of(parts[0]))
        case "total":
            return program.total(node.data[0], parts[1], of(parts[0]))
    raise Unknown(f"the slope of {node.kind}")


def _entry(program: Program, family: object, index: object, variable: Node) -> Node:
    if variable.kind != "entry":
        return program.zero
    by, at = variable.data
    if family == by:
        return program.delta(index, at)
    vectors = MAGNITUDES.get(family)
    if vectors is None or by not in vectors.components:
        return program.zero
    length = program.power(program.entry(family, index), -1)  # (x^2 + y^2)^(1/2) has the slope x x' / r
    return program.mul(program.entry(by, index), length, program.delta(index, at))
