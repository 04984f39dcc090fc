"""From the expressions of `theory` to z3's real arithmetic, at a fixed number of phasors.

    sum over k         written out; P, N and every other length are the number of phasors
    x_k, y_k, r_k      r_k >= 0 with r_k^2 = x_k^2 + y_k^2; or, with `squares`, z_k as the square of a complex number
                       w_k = (a, b): x = a^2 - b^2, y = 2ab, r = a^2 + b^2. Every z_k is such a square, and no relation
                       is left: an identity is then one between polynomials
    a root             a non-negative variable whose power is given
    a fraction         numerator and denominator; what is divided by is not zero (`divisors`)
    cos, sin           of each angle: (a^2 - b^2)/(a^2 + b^2) and 2ab/(a^2 + b^2), which reaches every angle
    log                a real number, the same for the same argument; nothing else is known of it
    a symbolic exponent   only with a value given in `fixed`

The free indices i and j are the first two phasors. What is not in this table raises `Inexpressible`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

import sympy as sp
from sympy.tensor.indexed import Indexed, IndexedBase

from theory.phasors import MAGNITUDES, IndexSum, i, j
from theory.routes.smt.solver import Ratio, Relation, Solver

POSITIONS = {i: 1, j: 2}


class Inexpressible(ValueError):
    """Something that has no translation."""


def bases_of(expressions: Iterable[sp.Expr]) -> set[IndexedBase]:
    """Every indexed family that occurs, under sums too."""
    return {node.base for expr in expressions for node in expr.atoms(Indexed)}


def lengths_of(expressions: Iterable[sp.Expr]) -> set[sp.Symbol]:
    """The symbols that say how long a sum is."""
    return {s for expr in expressions for node in expr.atoms(IndexSum) for s in node.length.free_symbols}


def positions_of(expressions: Iterable[sp.Expr]) -> dict[sp.Symbol, int]:
    """The value of each free index: i = 1, j = 2, and 1 for one that is the only free index of its families.

    By symmetry nothing is lost: the sums run over all indices, and only distinct i and j are meant.
    """
    positions, families = dict(POSITIONS), {}
    for node in (node for expr in expressions for node in expr.atoms(Indexed)):
        if node.indices[0].is_Symbol and not isinstance(node.indices[0], sp.Dummy):
            families.setdefault(node.indices[0], set()).add(node.base)
    for symbol, bases in families.items():
        others = set().union(*(found for other, found in families.items() if other != symbol))
        if symbol not in positions and not bases & others:
            positions[symbol] = 1
    return positions


def shortest(expressions: Iterable[sp.Expr]) -> int:
    """The least number of phasors at which every index that is written as a number exists, at least 2."""
    numbers = [node.indices[0] for expr in expressions for node in expr.atoms(Indexed)]
    numbers += [node.length for expr in expressions for node in expr.atoms(IndexSum)]
    return max([2, *(int(number) for number in numbers if number.is_Integer)])


class Translation:
    """One translation: its variables, what is known of them, and what it has divided by.

    `length` is the value of every symbol in `lengths`; `used` are the families that occur anywhere in the statement,
    which decides whether a magnitude has coordinates or is a number of its own.
    """

    def __init__(
        self,
        solver: Solver,
        length: int,
        lengths: Iterable[sp.Symbol],
        used: Iterable[IndexedBase],
        fixed: Mapping[sp.Symbol, Fraction] | None = None,
        squares: bool = False,
    ) -> None:
        self.solver, self.length, self.squares = solver, length, squares
        self.positions: Mapping[sp.Symbol, int] = POSITIONS
        self.numbers: dict[sp.Symbol, object] = {s: Fraction(length) for s in lengths} | dict(fixed or {})
        used = set(used)
        self.vectors = {r: f for r, f in MAGNITUDES.items() if used & set(f.components)}
        self.family_of = {base: f for f in self.vectors.values() for base in f.components}
        self.assumptions: list[object] = []
        self.relations: list[Relation] = []
        self.divisors: dict[int, object] = {}
        self.entries: dict[tuple[IndexedBase, int], object] = {}
        self.halves: dict[object, tuple[object, object]] = {}
        self.square_roots: dict[tuple[IndexedBase, int], tuple[object, object]] = {}
        self._roots: dict[tuple, object] = {}
        self._logs: dict[tuple, object] = {}
        self._sums: dict[tuple, Ratio] = {}

    def __call__(self, expr: sp.Expr, where: Mapping[sp.Symbol, int] | None = None) -> Ratio:
        """The value of an expression; `where` says which phasor an index is beside i and j."""
        return self._value(sp.sympify(expr), {**self.positions, **(where or {})})

    def known(self) -> list[object]:
        """Everything that may be assumed: the domain of the variables, and that nothing divided by is zero."""
        return [*self.assumptions, *(term != 0 for term in self.divisors.values())]

    def bounds(self) -> list[object]:
        """What is known of single variables: not negative, positive."""
        return [term for term in self.assumptions if not self.solver.z3.is_eq(term)]

    def not_zero(self, value: Ratio) -> None:
        """Assume that a value is not zero."""
        if isinstance(value.num, Fraction):
            if value.num == 0:
                self.assumptions.append(self.solver.z3.BoolVal(False, self.solver.context))
        else:
            self.divisors[value.num.get_id()] = value.num

    @property
    def abstract(self) -> bool:
        """Whether a model may be none of the statement: a logarithm was replaced by any real number."""
        return bool(self._logs)

    def ratio(self, value: object) -> Ratio:
        """A number or a z3 term as a `Ratio`."""
        return Ratio(self.solver, Fraction(value) if isinstance(value, int) else value)

    def _value(self, node: sp.Expr, where: Mapping[sp.Symbol, int]) -> Ratio:
        if node.is_Rational:
            return self.ratio(Fraction(node.p, node.q))
        if isinstance(node, Indexed):
            return self.ratio(self._entry(node.base, self._position(node.indices[0], where)))
        if isinstance(node, IndexSum):
            return self._sum(node, where)
        if isinstance(node, sp.Symbol):
            return self.ratio(self._number(node))
        if isinstance(node, sp.Add):
            return self.total(self._value(argument, where) for argument in node.args)
        if isinstance(node, sp.Mul):
            result = self.ratio(1)
            for argument in node.args:
                result = result * self._value(argument, where)
            return result
        if isinstance(node, sp.Pow):
            return self._pow(node, where)
        if isinstance(node, sp.cos | sp.sin):
            return self._angle(node, where)
        if isinstance(node, sp.log):
            key = self._value(node.args[0], where).key()
            if key not in self._logs:
                self._logs[key] = self.solver.real("log")
            return self.ratio(self._logs[key])
        if isinstance(node, sp.KroneckerDelta):
            first, second = (self._position(argument, where) for argument in node.args[:2])
            return self.ratio(int(first == second))
        raise Inexpressible(f"{node.func.__name__} is not real arithmetic")

    def _position(self, index: sp.Expr, where: Mapping[sp.Symbol, int]) -> int:
        position = int(index) if index.is_Integer else where.get(index)
        if position is None:
            raise Inexpressible(f"the index {index} has no value")
        if not 1 <= position <= self.length:
            raise IndexError(f"phasor {position} of {self.length}")
        return position

    def total(self, values: Iterable[Ratio]) -> Ratio:
        """The sum of some values."""
        result = self.ratio(0)
        for value in values:
            result = result + value
        return result

    def _sum(self, node: IndexSum, where: Mapping[sp.Symbol, int]) -> Ratio:
        free = node.free_symbols
        key = (node, frozenset((s, n) for s, n in where.items() if s in free))
        if key not in self._sums:
            count = self._value(node.length, where).num
            if not isinstance(count, Fraction) or count.denominator != 1:
                raise Inexpressible(f"a sum of length {node.length}")
            bodies = (self._value(node.body, {**where, node.index: k}) for k in range(1, int(count) + 1))
            self._sums[key] = self.total(bodies)
        return self._sums[key]

    def _pow(self, node: sp.Pow, where: Mapping[sp.Symbol, int]) -> Ratio:
        exponent = self.constant(node.exp)
        if exponent.denominator == 2 and (magnitude := self._magnitude(node.base, where)) is not None:
            return self.power(magnitude, Fraction(exponent.numerator))
        return self.power(self._value(node.base, where), exponent)

    def constant(self, expr: sp.Expr) -> Fraction:
        """The value of an exponent, which has to be a number."""
        value = self._value(expr, {})
        if not isinstance(value.num, Fraction) or value.den:
            raise Inexpressible(f"the exponent {expr} is not a number")
        return value.num

    def power(self, base: Ratio, exponent: Fraction) -> Ratio:
        """base^exponent; a root is a non-negative variable, so a base with one is not negative."""
        if exponent.denominator > 1:
            base = self._root(base, exponent.denominator)
        if exponent < 0:
            self.not_zero(base)
        return base ** int(exponent.numerator)

    def _root(self, base: Ratio, degree: int) -> Ratio:
        key = (*base.key(), degree)
        if key not in self._roots:
            root = self._roots[key] = self.solver.real("root")
            bottom = base.denominator()
            self.relations.append((root, degree, base.num, bottom))
            power = Ratio(self.solver, root) ** degree * Ratio(self.solver, bottom)
            self.assumptions += [root >= 0, power.num == self.solver.term(base.num)]
        return self.ratio(self._roots[key])

    def _magnitude(self, square: sp.Expr, where: Mapping[sp.Symbol, int]) -> Ratio | None:
        """r_k for x_k^2 + y_k^2 as it is written."""
        for node in square.atoms(Indexed):
            family = self.family_of.get(node.base)
            if family is not None and square == family.square(node.indices[0]):
                return self._value(family.r[node.indices[0]], where)
        return None

    def _angle(self, node: sp.Expr, where: Mapping[sp.Symbol, int]) -> Ratio:
        expanded = sp.expand_trig(node)
        if expanded != node:
            return self._value(expanded, where)
        angle = node.args[0]
        if isinstance(angle, Indexed):
            angle = (angle.base, self._position(angle.indices[0], where))
        elif not isinstance(angle, sp.Symbol):
            raise Inexpressible(f"the angle {angle}")
        if angle not in self.halves:
            self.halves[angle] = self.solver.real("a"), self.solver.real("b")
            if self.squares:  # a point to be found: exact angles are given by the tangent of their half
                self.assumptions.append(self.halves[angle][0] != 0)
        a, b = (self.ratio(half) for half in self.halves[angle])
        whole = a * a + b * b
        self.not_zero(whole)
        return (a * a - b * b if isinstance(node, sp.cos) else self.ratio(2) * a * b) * whole.inverse()

    def _number(self, symbol: sp.Symbol) -> object:
        if symbol in self.positions or isinstance(symbol, sp.Dummy):
            raise Inexpressible(f"the index {symbol} as a number")
        if symbol not in self.numbers:
            self.numbers[symbol] = variable = self.solver.real(str(symbol))
            if symbol.is_positive:
                self.assumptions.append(variable >= 1 if symbol.is_integer else variable > 0)
            elif symbol.is_nonnegative:
                self.assumptions.append(variable >= 0)
        return self.numbers[symbol]

    def _entry(self, base: IndexedBase, position: int) -> object:
        if (base, position) in self.entries:
            return self.entries[base, position]
        family = self.vectors.get(base) or self.family_of.get(base)
        if family is None:
            self._scalar(base, position)
        elif self.squares and len(family.components) == 2:
            self._complex_square(family, position)
        else:
            names = [self._scalar(component, position) for component in family.components]
            r = self._scalar(family.r, position)
            *others, last = names
            rest = r * r - self.solver.z3.Sum([c * c for c in others]) if others else r * r
            self.relations.append((last, 2, rest, Fraction(1)))  # a magnitude is divided by, a coordinate is not
            self.assumptions.append(last * last == rest)
        return self.entries[base, position]

    def _scalar(self, base: IndexedBase, position: int) -> object:
        self.entries[base, position] = variable = self.solver.real(f"{base}_{position}")
        if base[i].is_positive:
            self.assumptions.append(variable > 0)
        elif base[i].is_nonnegative:
            self.assumptions.append(variable >= 0)
        return variable

    def _complex_square(self, family: object, position: int) -> None:
        a, b = self.square_roots[family.r, position] = self.solver.real("a"), self.solver.real("b")
        for name, term in zip((*family.components, family.r), (a * a - b * b, 2 * a * b, a * a + b * b), strict=True):
            self.entries[name, position] = term
