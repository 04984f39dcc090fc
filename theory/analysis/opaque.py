"""Equality of expressions that contain functions the decision procedure does not know.

`theory.moments` expands a sum only if its body is built from powers and logarithms of single symbols. Something else,
such as sum_k sqrt(r_k^2 + eps), is first abstracted: each unknown function of one phasor becomes a new family f_k, each
unknown function of no phasor a new symbol. If two expressions are equal whatever f is, they are equal; that they differ
for a general f says nothing about the f at hand. So the answer here is "equal" or "not known to be equal".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import sympy as sp
from sympy.tensor.indexed import Indexed, IndexedBase

from theory.flatten import Flattener
from theory.moments import NotMoments
from theory.phasors import MAGNITUDES, IndexSum

_PLACE = sp.Symbol("place", integer=True)
_FUNCTIONS = (sp.Function, sp.Max, sp.Min)


class Equality:
    """Decides equality, with `meaning` giving the value of symbols that stand for a statistic."""

    def __init__(self, meaning: Mapping[sp.Symbol, sp.Expr] | None = None, factors: Sequence[sp.Expr] = ()) -> None:
        self._flat = _Flattener(meaning or {})
        self._factors = [f for factor in factors for f in (factor, 1 / factor)]
        self._roots = [(expr**2, symbol) for symbol, expr in (meaning or {}).items() if _is_root(expr)]
        self._known: dict[sp.Expr, sp.Expr] = {}  # an unknown function at `place` -> what stands for it

    def __call__(self, first: sp.Expr, second: sp.Expr) -> bool:
        """Whether the expressions are the same for every number of phasors; False is "not known to be".

        Raises:
            ZeroDivisionError: one of them divides by something that is zero everywhere.
        """
        difference = sp.sympify(first) - second
        if difference == 0:
            return True
        try:
            difference = self._share_roots(difference)
            return self._flat.equal(self._flat(difference), sp.Integer(0))
        except NotMoments:
            pass
        try:
            abstracted = self._abstract(difference)
            return self._flat.equal(self._flat(abstracted), sp.Integer(0))
        except NotMoments:
            return False

    def _share_roots(self, expr: sp.Expr) -> sp.Expr:
        """sqrt(c b) as sqrt(c) sqrt(b) for a known root sqrt(b) and one of the positive factors c."""
        shared = {}
        for node in sorted(filter(_is_root, expr.atoms(sp.Pow)), key=str):
            if any(isinstance(symbol, sp.Dummy) for symbol in node.free_symbols):
                continue
            base = self._flat(node.base)
            for known, symbol in self._roots:
                for factor in self._factors:
                    if self._flat.equal(base, self._flat(factor * known)):
                        shared[node] = (sp.sqrt(factor) * symbol) ** (2 * node.exp)
            if node not in shared:
                self._roots.append((node.base, sp.sqrt(node.base)))
        return expr.xreplace(shared)

    def _abstract(self, expr: sp.Expr) -> sp.Expr:
        for node, index in _unknown(expr, None):
            if not self._expands(node, index):
                self._stand_in(node, index)
        return self._replace(expr)

    def _expands(self, node: sp.Expr, index: sp.Symbol | None) -> bool:
        try:
            flat = self._flat(IndexSum(node, index)) if index is not None else self._flat(node)
            self._flat.ratio(flat)
        except NotMoments:
            return False
        return True

    def _stand_in(self, node: sp.Expr, index: sp.Symbol | None) -> None:
        key = _key(node, index)
        if key not in self._known:
            name = f"f{len(self._known)}"
            standing = IndexedBase(name, real=True)[_PLACE] if index is not None else sp.Dummy(name, real=True)
            self._known[key] = standing

    def _replace(self, node: sp.Expr) -> sp.Expr:
        if isinstance(node, Indexed) or not node.args:
            return node
        if isinstance(node, IndexSum):
            return IndexSum(self._replace(node.body), node.index, node.length)
        base, times = _root(node)
        for index in (None, *_indices(base)):
            key = _key(base, index)
            if key in self._known:
                standing = self._known[key]
                return (standing if index is None else standing.xreplace({_PLACE: index})) ** times
        return node.func(*(self._replace(argument) for argument in node.args))


class _Flattener(Flattener):
    """A flattener that writes out statistics wherever they stand."""

    def __init__(self, meaning: Mapping[sp.Symbol, sp.Expr]) -> None:
        super().__init__()
        self.meaning = meaning
        self.written: dict[sp.Symbol, sp.Expr] = {}

    def __call__(self, node: sp.Expr) -> sp.Expr:
        if node in self.meaning:
            if node not in self.written:
                self.written[node] = super().__call__(self.meaning[node])
            return self.written[node]
        return super().__call__(node)


def _is_root(node: sp.Expr) -> bool:
    """A square root, or an odd power of one, of something that is not one symbol or number."""
    return isinstance(node, sp.Pow) and node.exp.is_Rational and node.exp.q == 2 and node.base.has(IndexSum, sp.Add)


def _unknown(node: sp.Expr, bound: sp.Symbol | None) -> Iterator[tuple[sp.Expr, sp.Symbol | None]]:
    """The functions that may have to be abstracted, each with the one index it depends on."""
    if isinstance(node, IndexSum):
        yield from _unknown(node.body, node.index)
        return
    if isinstance(node, Indexed) or not node.args:
        return
    base, _ = _root(node)
    indices = _indices(base)
    inside = bound is not None and bound in indices
    rational = isinstance(node, sp.Pow) and not node.exp.is_Integer
    divides = isinstance(node, sp.Pow) and node.exp.is_negative and isinstance(node.base, sp.Add)
    if isinstance(node, _FUNCTIONS) or (inside and (rational or divides)):
        if len(indices) > 1:
            raise NotMoments(f"{node} depends on two phasors")
        yield base, (indices[0] if indices else None)
        return
    for argument in node.args:
        yield from _unknown(argument, bound)


def _root(node: sp.Expr) -> tuple[sp.Expr, sp.Integer]:
    """A power as (its primitive root, how many times): b^(3/2) is (sqrt(b))^3, b^(-2) is (1/b)^2."""
    if isinstance(node, sp.Pow):
        if node.exp.is_Integer and node.exp < 0:
            return 1 / node.base, -node.exp
        if node.exp.is_Rational and not node.exp.is_Integer:
            return node.base ** sp.Rational(1, node.exp.q), sp.Integer(node.exp.p)
    return node, sp.Integer(1)


def _key(node: sp.Expr, index: sp.Symbol | None) -> sp.Expr:
    """The function at `place`, with squares of magnitudes written in coordinates."""
    squares = {
        entry**2: MAGNITUDES[entry.base].square(entry.indices[0])
        for entry in node.atoms(Indexed)
        if entry.base in MAGNITUDES
    }
    plain = node.xreplace(squares)
    return plain if index is None else plain.xreplace({index: _PLACE})


def _indices(node: sp.Expr) -> list[sp.Symbol]:
    """The indices of an expression that are not bound inside it."""
    found: dict[sp.Symbol, None] = {}
    for entry in sorted(node.atoms(Indexed), key=str):
        found.update(dict.fromkeys(index for index in entry.indices if index in node.free_symbols))
    return list(found)
