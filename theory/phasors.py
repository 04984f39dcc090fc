"""Phasors and sums of symbolic length: the language every derivation is written in.

A vector h in R^N, N = 2P, is read as P phasors z_k = (x_k, y_k) with magnitude r_k = |z_k|. P stays a symbol. Three
facts make a calculus of it:

- a sum over k = 1..P is an `IndexSum`. Its bound index is canonical: two sums that differ only in what it is called are
  one object. It is also private: no substitution can capture it;
- d x_k / d x_i is the Kronecker delta of k and i, and dr_k / dx_i = (x_k / r_k) delta_ki wherever z_k != 0;
- for 1 <= i <= P, sum_k delta_ki f(k) = f(i): every delta under a sum collapses.

Symbols carry the weakest assumptions that are true: coordinates, weights and upstream gradients are real, never
positive; magnitudes are non-negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import sympy as sp
from sympy.printing.pretty.stringpict import prettyForm
from sympy.tensor.indexed import Indexed, IndexedBase

from theory.standing import ANY, CannotStand, Slope, is_standing

P = sp.Symbol("P", integer=True, positive=True)
N = sp.Symbol("N", integer=True, positive=True)
eps = sp.Symbol("epsilon", nonnegative=True)
i, j = sp.symbols("i j", integer=True)


class _BoundIndex(sp.Dummy):
    """A private index of summation, printed by its name alone."""

    def _sympystr(self, printer: sp.printing.str.StrPrinter) -> str:
        return self.name

    def _pretty(self, printer: sp.printing.pretty.pretty.PrettyPrinter) -> prettyForm:
        return printer._print(sp.Symbol(self.name))


_BOUND = tuple(_BoundIndex(name, integer=True) for name in ("k", "l", "m", "n", "a", "b", "c", "d"))


class IndexSum(sp.Expr):
    """sum_{k=1}^{length} body, with a canonical bound index.

    Construct it with `index_sum`, which also collapses Kronecker deltas; `IndexSum(body, k)` only renames `k`.
    """

    def __new__(cls, body: sp.Expr, index: sp.Symbol, length: sp.Expr = P) -> IndexSum:
        """Rename the index to the first bound symbol, from this depth on, that is not free in the body."""
        body = sp.sympify(body)
        depth = max((term.depth for term in body.atoms(cls)), default=-1) + 1
        taken = body.free_symbols - {index}
        bound = next(symbol for symbol in _BOUND[depth:] if symbol not in taken)
        if index != bound:
            body, index = body.xreplace({index: bound}), bound
        return super().__new__(cls, body, index, length)

    body = property(lambda self: self.args[0])
    index = property(lambda self: self.args[1])
    length = property(lambda self: self.args[2])
    depth = property(lambda self: _BOUND.index(self.args[1]))
    is_commutative = True

    @property
    def free_symbols(self) -> set:
        """Free symbols of the body and the length, without the bound index."""
        return (self.body.free_symbols - {self.index}) | self.length.free_symbols

    def _eval_is_real(self) -> bool | None:
        return True if self.body.is_real else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.body.is_nonnegative else None

    def _eval_derivative(self, variable: sp.Expr) -> sp.Expr:
        return derivative(self, variable)

    def printable(self) -> sp.Sum:
        """The same sum as a SymPy `Sum`, which printers know how to set in parentheses."""
        index = sp.Symbol(self.index.name, integer=True)
        return sp.Sum(self.body.xreplace({self.index: index}), (index, 1, self.length))

    def _latex(self, printer: sp.printing.latex.LatexPrinter) -> str:
        return rf"\left({printer._print(self.printable())}\right)"

    def _sympystr(self, printer: sp.printing.str.StrPrinter) -> str:
        return f"sum({printer._print(self.body)}, {self.index.name}=1..{printer._print(self.length)})"

    def _pretty(self, printer: sp.printing.pretty.pretty.PrettyPrinter) -> prettyForm:
        return prettyForm(*printer._print(self.printable()).parens())


_FRESH: list[sp.Dummy] = []  # one index for each sum that is being written down inside another
_OPEN: list[int] = []


def index_sum(body: Callable[[sp.Symbol], sp.Expr], length: sp.Expr = P) -> sp.Expr:
    """sum_{k=1}^{length} body(k), Kronecker deltas collapsed."""
    level = len(_OPEN)
    if level == len(_FRESH):
        _FRESH.append(sp.Dummy("k", integer=True))
    _OPEN.append(level)
    try:
        return collapse(sp.sympify(body(_FRESH[level])), _FRESH[level], length)
    finally:
        _OPEN.pop()


def collapse(body: sp.Expr, index: sp.Symbol, length: sp.Expr = P) -> sp.Expr:
    """sum_index body with sum_k delta_ki f(k) = f(i), for every i between 1 and the length of the sum."""
    if body == 0:
        return sp.Integer(0)
    if is_standing() or not body.has(sp.KroneckerDelta):
        return IndexSum(body, index, length)
    collapsed = []
    for delta in sorted(body.atoms(sp.KroneckerDelta), key=str):
        if index not in delta.free_symbols:
            continue
        mark = sp.Dummy()
        marked = body.xreplace({delta: mark})
        factor = marked.diff(mark)
        if mark in factor.free_symbols:
            raise NotImplementedError(f"{delta} does not occur linearly in {body}")
        other = next(argument for argument in delta.args if argument != index)
        collapsed.append(factor.xreplace({index: other}))
        body = marked.xreplace({mark: sp.Integer(0)})
    return sp.Add(*collapsed) + (IndexSum(body, index, length) if body != 0 else 0)


@dataclass(frozen=True)
class VectorFamily:
    """Vectors v_1 ... v_P of fixed dimension, with the magnitude of each.

    `components[0][k]` is the first coordinate of v_k, `r[k]` its magnitude, `family[k]` the vector as a column.
    """

    components: tuple[IndexedBase, ...]
    r: IndexedBase

    def __getitem__(self, index: sp.Expr) -> sp.Matrix:
        return sp.Matrix([component[index] for component in self.components])

    def square(self, index: sp.Expr) -> sp.Expr:
        """|v_k|^2, written in coordinates."""
        return sp.Add(*(component[index] ** 2 for component in self.components))

    def unit(self, index: sp.Expr) -> sp.Matrix:
        """u_k = v_k / r_k, defined where v_k != 0."""
        return self[index] / self.r[index]


MAGNITUDES: dict[IndexedBase, VectorFamily] = {}
SCALARS: list[IndexedBase] = []


def vector_family(components: str, magnitude: str) -> VectorFamily:
    """Declare a family of vectors, for example `vector_family("x y", "r")`; r_k^2 = x_k^2 + y_k^2 is then known."""
    bases = tuple(IndexedBase(name, real=True) for name in components.split())
    family = VectorFamily(bases, IndexedBase(magnitude, nonnegative=True))
    MAGNITUDES[family.r] = family
    return family


def scalar_family(name: str, nonnegative: bool = False) -> IndexedBase:
    """Declare a family of real, or non-negative, numbers, one for each index."""
    family = IndexedBase(name, nonnegative=True) if nonnegative else IndexedBase(name, real=True)
    SCALARS.append(family)
    return family


z = vector_family("x y", "r")
g = vector_family("g_x g_y", "G")  # g_k = dL/do_k, the upstream gradient
q = vector_family("x_q y_q", "r_q")
key = vector_family("x_k y_k", "r_k")
gamma = scalar_family("gamma")
h = scalar_family("h")  # scalar channels, for the norms that do not pair them
e = scalar_family("e")  # dL/do_k of a scalar channel
theta_q, theta_k, phi = scalar_family("theta_q"), scalar_family("theta_k"), scalar_family("phi")


def cross(a: sp.Matrix, b: sp.Matrix) -> sp.Expr:
    """The planar cross product a_1 b_2 - a_2 b_1: zero exactly when a and b are parallel."""
    return a[0] * b[1] - a[1] * b[0]


def derivative(expr: sp.Expr, variable: sp.Expr) -> sp.Expr:
    """d expr / d variable for a coordinate such as x[i], through every sum and every magnitude.

    Valid where every magnitude that depends on `variable` is non-zero: dr_i/dx_i = x_i / r_i needs z_i != 0. Inside
    `theory.standing.standing()` it is not taken.
    """
    return Slope.of(expr, variable) if is_standing() else _derivative(expr, variable)


@cache
def _derivative(expr: sp.Expr, variable: sp.Expr) -> sp.Expr:
    names = {node: sp.Dummy() for node in _generators(expr)}
    plain = expr.xreplace(names)
    back = {dummy: node for node, dummy in names.items()}
    terms = []
    for node, dummy in names.items():
        rate = _rate(node, variable)
        if rate != 0:
            terms.append(plain.diff(dummy).xreplace(back) * rate)
    if isinstance(variable, sp.Symbol):
        terms.append(plain.diff(variable).xreplace(back))
    return sp.Add(*terms)


def gradient(expr: sp.Expr, family: VectorFamily, index: sp.Expr) -> sp.Matrix:
    """The column of derivatives of `expr` with respect to the coordinates of vector `index` of the family."""
    return sp.Matrix([derivative(expr, component[index]) for component in family.components])


def jacobian(vector: Iterable[sp.Expr], family: VectorFamily, index: sp.Expr) -> sp.Matrix:
    """d vector / d v_index, one row for each entry of `vector`."""
    return sp.Matrix([list(gradient(entry, family, index)) for entry in vector])


def apart(expr: sp.Expr | sp.Matrix, first: sp.Symbol = i, second: sp.Symbol = j) -> sp.Expr | sp.Matrix:
    """The expression for two different singled-out phasors: delta_ij = 0."""
    return expr.xreplace({sp.KroneckerDelta(first, second): sp.Integer(0)})


def substitute(expr: sp.Expr, replacements: Mapping[IndexedBase, Callable[[sp.Expr], sp.Expr]]) -> sp.Expr:
    """Replace a family everywhere, under sums too: `{x: lambda k: 2 * x[k]}`."""
    if isinstance(expr, Indexed) and expr.base in replacements:
        return replacements[expr.base](expr.indices[0])
    if not expr.args or isinstance(expr, Indexed):
        return expr
    if isinstance(expr, Slope):
        return expr.then({base[ANY]: replacement(ANY) for base, replacement in replacements.items()})
    if isinstance(expr, IndexSum):  # a fresh index: the replacement may hold sums of its own
        index = sp.Dummy(expr.index.name, integer=True)
        body = substitute(expr.body.xreplace({expr.index: index}), replacements)
        return IndexSum(body, index, expr.length)
    return expr.func(*(substitute(argument, replacements) for argument in expr.args))


def on_groups(expr: sp.Expr, groups: Iterable[tuple[sp.Expr, Mapping]], singled: Mapping | None = None) -> sp.Expr:
    """The value of `expr` where the phasors fall into groups of equal ones.

    Each group is (count, {family: value}); a sum becomes the sum over groups of count times the body's value, so the
    counts may contain P and the result holds for every P. `singled` maps a free index to the number of its group.
    """
    if expr.has(Slope):
        raise CannotStand("phasors gathered into groups in a derivative")
    groups = list(groups)
    at = dict(singled or {})

    def value(node: sp.Expr, where: Mapping) -> sp.Expr:
        if isinstance(node, IndexSum):
            return sp.Add(
                *(
                    sp.sympify(count) * value(node.body, {**where, node.index: number})
                    for number, (count, _) in enumerate(groups)
                )
            )
        if isinstance(node, Indexed):
            return sp.sympify(groups[where[node.indices[0]]][1][node.base])
        if not node.args:
            return node
        return node.func(*(value(argument, where) for argument in node.args))

    return value(expr, at)


def _generators(expr: sp.Expr) -> set[sp.Expr]:
    """The outermost sums and indexed symbols of an expression."""
    if isinstance(expr, IndexSum | Indexed):
        return {expr}
    return set().union(*(_generators(argument) for argument in expr.args)) if expr.args else set()


def _rate(node: sp.Expr, variable: sp.Expr) -> sp.Expr:
    if isinstance(node, IndexSum):
        return collapse(derivative(node.body, variable), node.index, node.length)
    if not isinstance(variable, Indexed):
        return sp.Integer(0)
    (at,), (target,) = node.indices, variable.indices
    if node.base == variable.base:
        return sp.KroneckerDelta(at, target)
    family = MAGNITUDES.get(node.base)
    if family is not None and variable.base in family.components:
        return variable.base[at] / node * sp.KroneckerDelta(at, target)
    return sp.Integer(0)
