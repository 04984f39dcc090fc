"""Rewrites an expression in plain symbols: sums become moments, roots and angles become symbols with known relations.

| in the expression | becomes |
|---|---|
| x_k, gamma_i, r_k | a symbol for each family and index; the last coordinate's square is r^2 less the others |
| sum_k body | a combination of moments, sums of monomials in the symbols of index k |
| base^(m/n) | (symbol)^m with symbol^n = base |
| base^(a + c t), t symbolic | base^a (symbol)^c, the symbol standing for base^t |
| (a b)^t, (a^s)^t with a, b >= 0 | a^t b^t, a^(s t) |
| cos, sin of an angle | a pair with sin^2 = 1 - cos^2 (sums and differences of angles are expanded) |
| log(base) | a symbol; log of a power or of a product with positive factors is expanded first |

Equal bases give the same symbol, whatever form they are written in. A symbol that depends on the index of a sum
belongs to that index, so it can never be pulled out of the sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp
from sympy.polys.rings import PolyElement
from sympy.tensor.indexed import Indexed

from theory.phasors import MAGNITUDES, IndexSum
from theory.ratio import NotMoments, Ratio, ring_over, to_ratio


@dataclass(frozen=True)
class _Power:
    """symbol^degree = value."""

    degree: int
    value: sp.Expr


class Flattener:
    """One rewriting, with the symbols and relations it has introduced so far."""

    def __init__(self) -> None:
        self.atoms: dict[sp.Expr, sp.Symbol] = {}
        self.labels: dict[sp.Symbol, object] = {}  # a symbol of one index -> what it stands for, without the index
        self.index_of: dict[sp.Symbol, sp.Symbol] = {}
        self.moments: dict[tuple, sp.Symbol] = {}
        self.relations: dict[sp.Symbol, _Power] = {}  # later ones may use earlier ones
        self.nonnegative: set[sp.Symbol] = set()
        self.opaque: list[tuple[object, sp.Expr, sp.Symbol]] = []  # (kind, base, symbol): roots, powers, logarithms

    def __call__(self, node: sp.Expr) -> sp.Expr:
        """The expression in plain symbols."""
        if isinstance(node, IndexSum):
            return self._sum(node)
        if isinstance(node, Indexed):
            return self._indexed(node)
        if isinstance(node, sp.cos | sp.sin):
            return self._angle(node)
        if isinstance(node, sp.log):
            return self._log(node.args[0])
        if isinstance(node, sp.Pow) and not node.exp.is_Integer:
            return self._power(node.base, node.exp)
        if node.is_Symbol or node.is_Rational or node in (sp.zoo, sp.nan):
            return node
        if isinstance(node, sp.Add | sp.Mul | sp.Pow):
            return node.func(*(self(argument) for argument in node.args))
        raise NotMoments(f"{node.func.__name__} is not a function that the procedure knows: {node}")

    def ratio(self, flat: sp.Expr) -> Ratio:
        """A rewritten expression as one fraction, over its symbols and those of their relations."""
        needed, pending = set(), set(flat.free_symbols)
        while pending:
            needed |= pending
            found = (self.relations[s].value.free_symbols for s in pending if s in self.relations)
            pending = set().union(*found) - needed
        return to_ratio(flat, ring_over(needed))

    def reduce(self, polynomial: PolyElement, index: sp.Symbol | None = None, exact: bool = False) -> PolyElement:
        """The polynomial with every known power replaced, up to a non-zero factor.

        With `exact`, only by relations whose values have no denominators, so that the factor is 1; with `index`, only
        by those of them that relate symbols of that index.
        """
        ring = polynomial.ring
        for symbol, power in reversed(list(self.relations.items())):
            if symbol not in ring.symbols or (index is not None and not self._within(symbol, index)):
                continue
            value = to_ratio(power.value, ring)
            denominator = value.denominator()
            if (exact or index is not None) and denominator != ring.one:
                continue
            at = ring.symbols.index(symbol)
            most = max((monomial[at] // power.degree for monomial in polynomial), default=0)
            reduced = ring.zero
            for monomial, coefficient in polynomial.terms():
                times, rest = divmod(monomial[at], power.degree)
                bare = ring.from_dict({(*monomial[:at], rest, *monomial[at + 1 :]): coefficient})
                reduced += bare * value.numerator**times * denominator ** (most - times)
            polynomial = reduced
        return polynomial

    def equal(self, first: sp.Expr, second: sp.Expr) -> bool:
        """Whether two rewritten expressions are the same function."""
        return self.reduce(self.ratio(first - second).numerator) == 0

    def _within(self, symbol: sp.Symbol, index: sp.Symbol) -> bool:
        return self.index_of.get(symbol) == index and all(
            self.index_of.get(other) == index for other in self.relations[symbol].value.free_symbols
        )

    def _introduce(self, label: object, index: sp.Symbol | None) -> sp.Symbol:
        """The symbol of a label, an object that says what it stands for: two labels that print alike stay two."""
        symbol = _symbol(label, index)
        if index is not None:
            self.index_of[symbol], self.labels[symbol] = index, label
        return symbol

    def _indexed(self, node: Indexed) -> sp.Symbol:
        if node in self.atoms:
            return self.atoms[node]
        if len(node.indices) != 1 or not (node.indices[0].is_Symbol or node.indices[0].is_Integer):
            raise NotMoments(f"{node}: only families with one index, and no shift, are known")
        (index,) = node.indices
        self.atoms[node] = self._introduce(node.base, index)
        if node.is_nonnegative:
            self.nonnegative.add(self.atoms[node])
        for family in MAGNITUDES.values():
            if node.base in (*family.components, family.r):
                *others, last = (component[index] for component in family.components)
                rest = sp.Add(*(self._indexed(other) ** 2 for other in others))
                value = self._indexed(family.r[index]) ** 2 - rest
                self.relations.setdefault(self._indexed(last), _Power(2, value))
        return self.atoms[node]

    def _angle(self, node: sp.Expr) -> sp.Expr:
        expanded = sp.expand_trig(node)
        if expanded != node:
            return self(expanded)
        angle = node.args[0]
        if not isinstance(angle, Indexed):
            raise NotMoments(f"{node}: only angles of single phasors, and their sums and differences, are known")
        if node not in self.atoms:
            for function in (sp.cos, sp.sin):
                self.atoms[function(angle)] = self._introduce((function, angle.base), angle.indices[0])
            self.relations[self.atoms[sp.sin(angle)]] = _Power(2, 1 - self.atoms[sp.cos(angle)] ** 2)
        return self.atoms[node]

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        if not _real_exponent(exponent):
            raise NotMoments(f"{base} to the power {exponent}, which is not known to be real")
        if isinstance(base, sp.Pow) and base.base.is_nonnegative and _real_exponent(base.exp):
            return self(base.base ** sp.expand(base.exp * exponent))
        factors = sp.Mul.make_args(base)
        if len(factors) > 1 and all((f.base if isinstance(f, sp.Pow) else f).is_nonnegative for f in factors):
            return sp.Mul(*(self(factor**exponent) for factor in factors))
        flat, result = self(base), sp.Integer(1)
        for term in sp.Add.make_args(sp.expand(exponent)):
            number, symbolic = term.as_coeff_Mul()
            if symbolic == 1:
                result *= self._root(flat, int(number.q)) ** int(number.p) if number.q != 1 else flat ** int(number)
            else:
                unit, times = (symbolic, int(number)) if number.is_Integer else (term, 1)
                result *= self._opaque(("power", unit), flat) ** times
        return result

    def _root(self, base: sp.Expr, degree: int) -> sp.Expr:
        if degree == 2 and (root := self._root_of_a_square(base)) is not None:
            return root
        symbol = self._opaque(("root", degree), base)
        self.relations.setdefault(symbol, _Power(degree, base))
        return symbol

    def _root_of_a_square(self, base: sp.Expr) -> sp.Expr | None:
        """The root of what reduces to (c r^2 ...)^2 with c and every factor non-negative, such as 4 x^2 + 4 y^2."""
        ratio = self.ratio(base)
        root = sp.Integer(1)
        for polynomial, exponent in ((ratio.numerator, 1), *((f, -e) for f, e in ratio.factors.items())):
            reduced = self.reduce(polynomial, exact=True)
            if len(reduced) != 1:
                return None
            ((powers, coefficient),) = reduced.terms()
            number = sp.sqrt(sp.Rational(coefficient.numerator, coefficient.denominator))
            if not number.is_rational:
                return None
            root *= number**exponent
            for symbol, power in zip(reduced.ring.symbols, powers, strict=True):
                if power % 2 or (power and not (symbol.is_nonnegative or symbol in self.nonnegative)):
                    return None
                root *= symbol ** (exponent * (power // 2))
        return root

    def _log(self, argument: sp.Expr) -> sp.Expr:
        if isinstance(argument, sp.Pow) and argument.base.is_nonnegative and _real_exponent(argument.exp):
            return self(argument.exp) * self._log(argument.base)
        factors = sp.Mul.make_args(argument)
        positive = [factor for factor in factors if factor.is_positive]
        if len(factors) > 1 and positive:
            rest = sp.Mul(*(factor for factor in factors if not factor.is_positive))
            return sp.Add(*(self._log(factor) for factor in positive), self._log(rest) if rest != 1 else 0)
        if argument == 1:
            return sp.Integer(0)
        return self._opaque(("log",), self(argument))

    def _opaque(self, kind: tuple, base: sp.Expr) -> sp.Symbol:
        """The symbol for a function of `base`, the same for every form of the same base."""
        for known, known_base, symbol in self.opaque:
            if known == kind and self.equal(known_base, base):
                return symbol
        indices = {self.index_of[s] for s in base.free_symbols if s in self.index_of}
        bound = {index for index in indices if isinstance(index, sp.Dummy)}
        if bound and (len(indices) > 1 or not base.is_Symbol):
            raise NotMoments(f"{kind[0]} of {base} inside a sum: only powers and logarithms of one symbol are known")
        index = indices.pop() if len(indices) == 1 and base.is_Symbol else None
        symbol = self._introduce((kind, self.labels[base] if index is not None else len(self.opaque)), index)
        self.opaque.append((kind, base, symbol))
        return symbol

    def _sum(self, node: IndexSum) -> sp.Expr:
        if _loose(node.body, node.index):
            raise NotMoments(f"{node}: the index of the sum occurs other than as the index of a family")
        ratio = self.ratio(self(node.body))
        ring = ratio.numerator.ring
        local = [n for n, symbol in enumerate(ring.symbols) if self.index_of.get(symbol) == node.index]
        shift, outside = [0] * len(ring.symbols), sp.Integer(1)
        for factor, exponent in ratio.factors.items():
            monomials = {tuple(monomial[n] for n in local) for monomial in factor}
            if len(monomials) != 1:
                raise NotMoments(f"a sum over phasors divides by {factor.as_expr()}, which is not a monomial")
            for n, power in zip(local, monomials.pop(), strict=True):
                shift[n] += power * exponent
            free = {tuple(0 if n in local else e for n, e in enumerate(m)): c for m, c in factor.terms()}
            outside *= ring.from_dict(free).as_expr() ** exponent
        total: dict[sp.Expr, sp.Expr] = {}
        for monomial, coefficient in self.reduce(ratio.numerator, node.index).terms():
            powers = ((self.labels[ring.symbols[n]], monomial[n] - shift[n]) for n in local)
            moment = self._moment(node.length, frozenset((label, e) for label, e in powers if e))
            free = tuple(0 if n in local else e for n, e in enumerate(monomial))
            total[moment] = total.get(moment, 0) + ring.from_dict({free: coefficient}).as_expr()
        return sp.Add(*(moment * weight for moment, weight in total.items())) / outside

    def _moment(self, length: sp.Expr, powers: frozenset) -> sp.Expr:
        if not powers:
            return length
        return self.moments.setdefault((length, powers), _symbol(("moment", len(self.moments)), None))


def _real_exponent(node: sp.Expr) -> bool:
    """Whether an exponent is real wherever it is defined: a rational expression in real symbols."""
    if isinstance(node, sp.Add | sp.Mul) or (isinstance(node, sp.Pow) and node.exp.is_Integer):
        return all(_real_exponent(argument) for argument in node.args)
    return (node.is_Symbol or node.is_number) and bool(node.is_real)


def _loose(node: sp.Expr, index: sp.Symbol) -> bool:
    """Whether the index occurs anywhere but as the one index of an indexed symbol."""
    if isinstance(node, Indexed):
        return index in node.free_symbols and node.indices != (index,)
    if isinstance(node, IndexSum):
        return _loose(node.body, index) or _loose(node.length, index)
    return node == index or any(_loose(argument, index) for argument in node.args)


@cache
def _symbol(label: object, index: sp.Symbol | None) -> sp.Symbol:
    """One symbol for each label and index, shared by all rewritings: making symbols is what would take the time.

    It carries no assumptions, so that nothing is simplified by one that its meaning does not have.
    """
    parts = label if isinstance(label, tuple) else (label,)
    name = " ".join(getattr(part, "__name__", str(part)) for part in parts)
    return sp.Dummy(f"{name} at {index}" if index is not None else name)
