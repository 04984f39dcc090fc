"""The decision procedure: an identity between sums of symbolic length holds for every P, or it does not.

Every quantity here is a rational function of a few singled-out phasors and of **moments**, sums over k of a monomial
in the per-phasor symbols (sum r_k, sum gamma_k a_k x_k, ...). To decide whether an expression vanishes:

1. each sum is expanded into moments, its monomials reduced by r_k^2 = x_k^2 + y_k^2 (y_k occurs at most once), and
   a constant monomial contributes the length P;
2. each square root becomes a symbol R with R^2 known, sin and cos of an angle a pair with sin^2 = 1 - cos^2;
3. everything is brought to one fraction and the numerator reduced by those relations. It vanishes or it does not.

Why zero means "for every P": each step is an equality that holds for every P.

Why non-zero means "not for every P" (so that the procedure is complete, not a hope): let f_1 .. f_n be the reduced
monomials that occur; together with 1 they are linearly independent functions of one phasor. If the differentials of
the moments M_a = sum_k f_a(z_k) were dependent at every configuration of P >= n phasors, a configuration of maximal
rank would give one combination sum_a c_a f_a with vanishing gradient everywhere, hence constant, against
independence. So the moments are algebraically independent for every P >= n, a numerator that is not the zero
polynomial in them and P vanishes identically for at most finitely many P >= n, and the identity fails.

Dividing is recorded: `denominators` lists what an expression divides by, and a proof has to name each as non-zero.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp
from sympy.polys.rings import PolyElement, PolyRing
from sympy.tensor.indexed import Indexed

from theory.phasors import MAGNITUDES, IndexSum


class NotMoments(ValueError):
    """The expression is not a rational function of moments: a sum's body has a denominator that is not a monomial."""


def vanishes(expr: sp.Expr) -> bool:
    """Whether `expr` is zero for every P and all values of its symbols (where its denominators are not zero).

    Raises `NotMoments` where the procedure does not apply; that is undecided, not false.
    """
    flat = _Flattener()
    ratio = flat.ratio(flat(expr))
    return flat.reduce(ratio.numerator) == 0


def denominators(*expressions: sp.Expr) -> list[sp.Expr]:
    """Everything the expressions divide by, as written: S, r[i], P, ..."""
    found: dict[sp.Expr, None] = {}
    for expr in expressions:
        for node in sp.preorder_traversal(expr):
            if isinstance(node, sp.Pow) and node.exp.is_number and node.exp.is_negative:
                found.update(dict.fromkeys(f for f in sp.Mul.make_args(node.base) if not f.is_number))
    return list(found)


class _Ratio:
    """numerator / product of factor^exponent, with polynomial numerator; nothing is cancelled."""

    def __init__(self, numerator: PolyElement, factors: dict[PolyElement, int] | None = None) -> None:
        self.numerator = numerator
        self.factors = factors or {}

    def __add__(self, other: _Ratio) -> _Ratio:
        common = {f: max(self.factors.get(f, 0), other.factors.get(f, 0)) for f in self.factors | other.factors}
        return _Ratio(self._over(common) + other._over(common), common)

    def __mul__(self, other: _Ratio) -> _Ratio:
        factors = dict(self.factors)
        for factor, exponent in other.factors.items():
            factors[factor] = factors.get(factor, 0) + exponent
        return _Ratio(self.numerator * other.numerator, factors)

    def __pow__(self, exponent: int) -> _Ratio:
        if exponent >= 0:
            return _Ratio(self.numerator**exponent, {f: e * exponent for f, e in self.factors.items()})
        if self.numerator == 0:
            raise ZeroDivisionError("division by an expression that vanishes identically")
        return _Ratio(self.denominator() ** -exponent, {self.numerator: -exponent})

    def denominator(self) -> PolyElement:
        """The product of the factors."""
        product = self.numerator.ring.one
        for factor, exponent in self.factors.items():
            product *= factor**exponent
        return product

    def _over(self, common: dict[PolyElement, int]) -> PolyElement:
        numerator = self.numerator
        for factor, exponent in common.items():
            missing = exponent - self.factors.get(factor, 0)
            if missing:
                numerator = numerator * factor**missing
        return numerator


class _Flattener:
    """Rewrites an expression without sums, roots and indexed symbols, and remembers the relations it introduced."""

    def __init__(self) -> None:
        self.atoms: dict[sp.Expr, sp.Symbol] = {}  # indexed symbol, cos or sin -> plain symbol
        self.index_of: dict[sp.Symbol, sp.Symbol] = {}
        self.moments: dict[tuple, sp.Symbol] = {}
        self.roots: dict[sp.Symbol, sp.Expr] = {}
        self.squares: dict[sp.Symbol, sp.Expr] = {}  # symbol -> its square; later ones may use earlier ones

    def __call__(self, node: sp.Expr) -> sp.Expr:
        if isinstance(node, IndexSum):
            return self._sum(node)
        if isinstance(node, Indexed):
            return self._indexed(node)
        if isinstance(node, sp.cos | sp.sin):
            return self._angle(node)
        if isinstance(node, sp.Pow) and not node.exp.is_integer:
            return self._root(node)
        if not node.args:
            return node
        return node.func(*(self(argument) for argument in node.args))

    def ratio(self, flat: sp.Expr) -> _Ratio:
        """The flattened expression as one fraction of polynomials."""
        needed, pending = set(), set(flat.free_symbols)
        while pending:
            needed |= pending
            pending = set().union(*(self.squares[s].free_symbols for s in pending if s in self.squares)) - needed
        symbols = sorted(needed, key=str)
        ring = PolyRing(symbols, sp.QQ) if symbols else PolyRing([sp.Dummy("one")], sp.QQ)
        return _to_ratio(flat, ring, dict(zip(symbols, ring.gens, strict=False)))

    def reduce(self, polynomial: PolyElement) -> PolyElement:
        """The polynomial with every known square replaced, up to a non-zero factor."""
        ring = polynomial.ring
        names = dict(zip(ring.symbols, ring.gens, strict=True))
        for symbol, square in reversed(list(self.squares.items())):
            if symbol not in names:
                continue
            value = _to_ratio(square, ring, names)
            denominator = value.denominator()
            position = ring.symbols.index(symbol)
            halves = max((monomial[position] // 2 for monomial in polynomial), default=0)
            reduced = ring.zero
            for monomial, coefficient in polynomial.terms():
                half, rest = divmod(monomial[position], 2)
                bare = ring.from_dict({(*monomial[:position], rest, *monomial[position + 1 :]): coefficient})
                reduced += bare * value.numerator**half * denominator ** (halves - half)
            polynomial = reduced
        return polynomial

    def _indexed(self, node: Indexed) -> sp.Symbol:
        if node not in self.atoms:
            self._name(node, f"{node.base}_{node.indices[0]}", node.indices[0])
            for family in MAGNITUDES.values():
                if node.base in (*family.components, family.r):
                    *others, last = (component[node.indices[0]] for component in family.components)
                    magnitude = self._indexed(family.r[node.indices[0]])
                    rest = sp.Add(*(self._indexed(other) ** 2 for other in others))
                    self.squares.setdefault(self._indexed(last), magnitude**2 - rest)
        return self.atoms[node]

    def _angle(self, node: sp.Expr) -> sp.Expr:
        expanded = sp.expand_trig(node)
        if expanded != node:
            return self(expanded)
        angle = node.args[0]
        if not isinstance(angle, Indexed):
            raise NotMoments(f"{node}: only angles of single phasors, and their sums and differences, are known")
        if node not in self.atoms:
            cosine, sine = sp.cos(angle), sp.sin(angle)
            self._name(cosine, f"cos {angle}", angle.indices[0])
            self._name(sine, f"sin {angle}", angle.indices[0])
            self.squares[self.atoms[sine]] = 1 - self.atoms[cosine] ** 2
        return self.atoms[node]

    def _root(self, node: sp.Pow) -> sp.Expr:
        if node.exp.q != 2:
            raise NotMoments(f"{node}: only square roots are decided")
        base = self(node.base)
        root = self._known_root(base)
        if root is None:
            root = sp.Dummy(f"root{len(self.roots)}", nonnegative=True)
            self.roots[root] = self.squares[root] = base
        return root**node.exp.p

    def _known_root(self, base: sp.Expr) -> sp.Symbol | None:
        for family in MAGNITUDES.values():
            for atom in [a for a in self.atoms if isinstance(a, Indexed) and a.base == family.components[-1]]:
                magnitude = self._indexed(family.r[atom.indices[0]])
                if self.reduce(self.ratio(base - magnitude**2).numerator) == 0:
                    return magnitude
        for symbol, square in self.roots.items():
            if self.reduce(self.ratio(base - square).numerator) == 0:
                return symbol
        return None

    def _name(self, node: sp.Expr, name: str, index: sp.Symbol) -> None:
        symbol = sp.Dummy(name, real=True)
        self.atoms[node] = symbol
        self.index_of[symbol] = index

    def _sum(self, node: IndexSum) -> sp.Expr:
        body = self(node.body)
        ratio = self.ratio(body)
        numerator = self._reduce_local(ratio.numerator, node.index)
        ring = numerator.ring
        local = [n for n, symbol in enumerate(ring.symbols) if self.index_of.get(symbol) == node.index]
        shift, outside = [0] * len(ring.symbols), sp.Integer(1)
        for factor, exponent in ratio.factors.items():
            monomials = {tuple(monomial[n] for n in local) for monomial in factor}
            if len(monomials) != 1:
                raise NotMoments(f"a sum over phasors divides by {factor.as_expr()}, which is not a monomial")
            for n, power in zip(local, next(iter(monomials)), strict=True):
                shift[n] += power * exponent
            free = {tuple(0 if n in local else e for n, e in enumerate(m)): c for m, c in factor.terms()}
            outside *= ring.from_dict(free).as_expr() ** exponent
        total: dict[sp.Expr, sp.Expr] = {}
        for monomial, coefficient in numerator.terms():
            powers = tuple((self._family(ring.symbols[n]), monomial[n] - shift[n]) for n in local)
            moment = self._moment(node.length, tuple(sorted((f, e) for f, e in powers if e)))
            free = tuple(0 if n in local else e for n, e in enumerate(monomial))
            total[moment] = total.get(moment, 0) + ring.from_dict({free: coefficient}).as_expr()
        return sp.Add(*(moment * weight for moment, weight in total.items())) / outside

    def _reduce_local(self, polynomial: PolyElement, index: sp.Symbol) -> PolyElement:
        """Reduce only by relations of the phasor that is being summed over; their squares are polynomials."""
        kept = self.squares
        self.squares = {s: v for s, v in kept.items() if self.index_of.get(s) == index}
        try:
            return self.reduce(polynomial)
        finally:
            self.squares = kept

    def _family(self, symbol: sp.Symbol) -> str:
        node = next(node for node, name in self.atoms.items() if name == symbol)
        return str(node.base) if isinstance(node, Indexed) else f"{node.func.__name__} {node.args[0].base}"

    def _moment(self, length: sp.Expr, powers: tuple) -> sp.Expr:
        if not powers:
            return length
        return self.moments.setdefault((length, powers), sp.Dummy(f"m{len(self.moments)}", real=True))


def _to_ratio(node: sp.Expr, ring: PolyRing, names: dict[sp.Symbol, PolyElement]) -> _Ratio:
    if node.is_Rational:
        return _Ratio(ring(sp.QQ(node.p, node.q)))
    if node in names:
        return _Ratio(names[node])
    if isinstance(node, sp.Add | sp.Mul):
        parts = [_to_ratio(argument, ring, names) for argument in node.args]
        result = parts[0]
        for part in parts[1:]:
            result = result + part if isinstance(node, sp.Add) else result * part
        return result
    if isinstance(node, sp.Pow) and node.exp.is_Integer:
        return _to_ratio(node.base, ring, names) ** int(node.exp)
    if node in (sp.zoo, sp.nan):
        raise ZeroDivisionError("division by an expression that vanishes identically")
    raise NotMoments(f"{node} is not a rational function of moments")


def moment_terms(expr: sp.Expr) -> Iterator[tuple[str, str]]:
    """(symbol, meaning) for every moment that deciding `expr` introduces, for display."""
    flat = _Flattener()
    flat(expr)
    for (length, powers), symbol in flat.moments.items():
        body = " ".join(f"{family}^{power}" if power != 1 else family for family, power in powers)
        yield str(symbol), f"sum over {length} of {body}"
