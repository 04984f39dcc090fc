"""SymPy expressions as straight-line programs on balls, for a fixed number of phasors.

Sums are written out, equal parts are computed once, and magnitudes come from the coordinates. This transcription shares
no code with `theory.moments` (which proves) or `theory.exact` (which evaluates rationally); where it differs from them,
so do the routes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import reduce

import sympy as sp
from sympy.tensor.indexed import Indexed, IndexedBase

from theory.phasors import MAGNITUDES, IndexSum, VectorFamily
from theory.routes.interval.balls import as_ball, ball, clipped, flint, rational, real_power, root, whole_power

Inputs = Mapping[object, object]  # a family of vectors or numbers: its entries; a symbol: its value


class Unsupported(ValueError):
    """An expression that this evaluator does not know, or a symbol without a value."""


class Program:
    """The expressions as functions of their inputs, at the precision in force when the program is made.

    `sizes` gives integer values to symbols such as P, `positions` the place (from 1) of each free index. With `exact`,
    numbers stay rational until a root or a transcendental function makes a ball of them.
    """

    def __init__(self, exprs: Iterable[sp.Expr], sizes: Mapping, positions: Mapping, exact: bool = False) -> None:
        self._number = rational if exact else ball
        self._steps: list[tuple[Callable, tuple[int, ...]]] = []
        self._known: dict[object, int] = {}
        self._reads: list[tuple[int, object, int]] = []
        self._sizes, self._positions = dict(sizes), dict(positions)
        self._results = [self._place(sp.sympify(expr), {}, False) for expr in exprs]

    def __call__(self, inputs: Inputs) -> list:
        """The balls of the expressions; `KeyError` names a symbol without a value."""
        values: list = [None] * len(self._steps)
        given = {key: self._as_number(value) for key, value in _entries(inputs).items()}
        for at, base, position in self._reads:
            values[at] = given[base, position]
        for at, (function, arguments) in enumerate(self._steps):
            if function is not None:
                values[at] = function(*[values[k] for k in arguments])
        return [values[k] for k in self._results]

    def _as_number(self, value: object) -> object:
        return self._number(value) if isinstance(value, int | str | Fraction) else value

    def _add(self, key: object, function: Callable | None, arguments: tuple[int, ...] = ()) -> int:
        key = key if key is not None else (function, arguments)
        if key not in self._known:
            self._known[key] = len(self._steps)
            self._steps.append((function, arguments))
            if function is None:
                self._reads.append((self._known[key], *key))
        return self._known[key]

    def _place(self, node: sp.Expr, where: Mapping, angle: bool) -> int:
        bound = tuple(sorted((str(k), v) for k, v in where.items() if k in node.free_symbols))
        key = (node, bound, angle)
        if key not in self._known:
            self._known[key] = self._compile(node, where, angle)
        return self._known[key]

    def _compile(self, node: sp.Expr, where: Mapping, angle: bool) -> int:
        def parts(nodes: Iterable[sp.Expr], inner: bool = angle) -> tuple[int, ...]:
            return tuple(self._place(argument, where, inner) for argument in nodes)

        if node.is_Rational or node in self._sizes:
            value = self._number(Fraction(node.p, node.q) if node.is_Rational else self._sizes[node])
            return self._add(None, lambda: value)
        if isinstance(node, Indexed):
            return self._leaf(node.base, self._at(node.indices[0], where), angle)
        if isinstance(node, sp.Symbol):
            return self._leaf(node, 0, angle)
        if isinstance(node, IndexSum):
            terms = [self._place(node.body, {**where, node.index: n}, angle) for n in self._range(node.length)]
            return self._add(("sum", *terms), _sum, tuple(terms))
        if isinstance(node, sp.Add):
            return self._add(None, _sum, parts(node.args))
        if isinstance(node, sp.Mul):
            return self._add(None, _product, parts(node.args))
        if isinstance(node, sp.exp):
            return self._add(None, _exp, parts(node.args))
        if isinstance(node, sp.Pow):
            return self._power(node, where, angle)
        if isinstance(node, sp.log):
            return self._add(None, _log, parts(node.args))
        if isinstance(node, sp.Abs):
            return self._add(None, abs, parts(node.args))
        if isinstance(node, sp.cos | sp.sin):
            return self._add(None, _cos if isinstance(node, sp.cos) else _sin, parts(node.args, True))
        if isinstance(node, sp.KroneckerDelta):
            first, second = (self._at(index, where) for index in node.args[:2])
            return self._place(sp.Integer(int(first == second)), {}, False)
        raise Unsupported(f"{node.func.__name__} is not known to the ball evaluator")

    def _at(self, index: sp.Expr, where: Mapping) -> int:
        place = where.get(index, self._positions.get(index))
        if place is None:
            raise Unsupported(f"the index {index} has no place")
        return place

    def _range(self, length: sp.Expr) -> range:
        count = sp.sympify(sp.sympify(length).xreplace(self._sizes))
        if not count.is_Integer:
            raise Unsupported(f"a sum of {length} terms needs a number")
        return range(1, int(count) + 1)

    def _leaf(self, base: object, position: int, angle: bool) -> int:
        if angle:  # points give an angle by the tangent of its half
            return self._add(None, _angle, (self._leaf(base, position, False),))
        if base in MAGNITUDES:
            squares = [self._add(None, _square, (self._leaf(c, position, False),)) for c in MAGNITUDES[base].components]
            return self._add(None, _root, (self._add(None, _sum, tuple(squares)),))
        return self._add((base, position), None)

    def _power(self, node: sp.Pow, where: Mapping, angle: bool) -> int:
        base, exponent = self._place(node.base, where, angle), node.exp
        if exponent.is_Integer:
            n = int(exponent)
            return self._add(("power", base, n), lambda x: whole_power(x, n), (base,))
        signed = not node.base.is_nonnegative
        if exponent.is_Rational and exponent.q == 2:
            n = int(exponent.p)
            half = self._add(None, root if signed else _root, (base,))
            return self._add(("power", half, n), lambda x: whole_power(x, n), (half,))
        return self._add(None, _signed_power if signed else real_power, (base, self._place(exponent, where, angle)))


def _entries(inputs: Inputs) -> dict:
    found: dict = {}
    for name, value in inputs.items():
        if isinstance(name, VectorFamily):
            for axis, component in enumerate(name.components):
                found |= {(component, n): vector[axis] for n, vector in enumerate(value, 1)}
        elif isinstance(name, IndexedBase):
            found |= {(name, n): entry for n, entry in enumerate(value, 1)}
        else:
            found[name, 0] = value
    return found


def _sum(*terms: object) -> object:
    return reduce(operator.add, terms) if terms else ball(0)


def _product(*factors: object) -> object:
    return reduce(operator.mul, factors)


def _square(x: object) -> object:
    return whole_power(x, 2)


def _root(x: object) -> object:
    return root(clipped(x))


def _signed_power(x: object, exponent: object) -> object:
    return real_power(x, exponent) if x >= 0 else flint().arb.nan()


def _angle(t: object) -> object:
    return 2 * as_ball(t).atan()


def _exp(x: object) -> object:
    return as_ball(x).exp()


def _log(x: object) -> object:
    return as_ball(x).log()


def _cos(x: object) -> object:
    return as_ball(x).cos()


def _sin(x: object) -> object:
    return as_ball(x).sin()
