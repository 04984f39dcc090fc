"""Programs: an expression as a graph of sums, products, powers and functions, each node made once.

| kind | data | value |
|---|---|---|
| `number` | a `Fraction` | itself |
| `symbol` | a plain symbol | its number |
| `entry` | (family, index) | the entry of the family at that index |
| `delta` | (index, index) | 1 if the two positions are equal, 0 if not |
| `add`, `mul` | | sum and product of the parts |
| `power` | | first part to the power of the second |
| `log`, `cos`, `sin`, `exp` | | of the one part |
| `total` | (index, length) | sum of the part over index = 1..length |

A total is kept as small as it can be, by the distributive law: what does not depend on the index is taken out of it,
and a delta picks its one term. That is what makes P = 64 cheap. `indices` says which indices the value of a node
depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

import sympy as sp

MOST_TERMS = 512  # a product under a sum is multiplied out only up to here


class Node:
    """One operation; `parts` are the nodes it is applied to."""

    __slots__ = ("data", "indices", "kind", "number", "parts")

    def __init__(self, kind: str, parts: tuple[Node, ...], data: object, indices: frozenset, number: int) -> None:
        self.kind, self.parts, self.data, self.indices, self.number = kind, parts, data, indices, number


class Program:
    """The nodes of one statement."""

    def __init__(self) -> None:
        self.nodes: dict[tuple, Node] = {}
        self.zero, self.one = self.constant(0), self.constant(1)

    def _node(self, kind: str, parts: tuple[Node, ...] = (), data: object = None, own: Iterable = ()) -> Node:
        key = (kind, data, *(part.number for part in parts))
        node = self.nodes.get(key)
        if node is None:
            indices = frozenset(own).union(*(part.indices for part in parts))
            if kind == "total":
                indices -= {data[0]}
            node = self.nodes[key] = Node(kind, parts, data, indices, len(self.nodes))
        return node

    def constant(self, value: Fraction | int) -> Node:
        """A rational number."""
        return self._node("number", data=Fraction(value))

    def symbol(self, symbol: sp.Symbol) -> Node:
        """A plain symbol."""
        return self._node("symbol", data=symbol)

    def entry(self, family: object, index: object) -> Node:
        """The entry of a family at a symbolic index, or at a position."""
        return self._node("entry", data=(family, index), own=[index] if isinstance(index, sp.Symbol) else ())

    def delta(self, first: object, second: object) -> Node:
        """Kronecker's delta of two indices."""
        pair = tuple(sorted((first, second), key=lambda index: (str(index), hash(index))))
        if pair[0] == pair[1]:
            return self.one
        return self._node("delta", data=pair, own=[index for index in pair if isinstance(index, sp.Symbol)])

    def function(self, name: str, part: Node) -> Node:
        """log, cos, sin or exp of a node."""
        return self._node(name, (part,))

    def add(self, *terms: Node) -> Node:
        """A sum, flattened; numbers are collected, and so are equal terms."""
        constant, counts = Fraction(0), {}
        for term in _flat("add", terms):
            factor, rest = _split(term)
            if rest is None:
                constant += factor
            else:
                counts[rest] = counts.get(rest, 0) + factor
        parts = [
            self._scaled(factor, rest) for rest, factor in sorted(counts.items(), key=_parts_number) if factor != 0
        ]
        if constant or not parts:
            parts.append(self.constant(constant))
        return parts[0] if len(parts) == 1 else self._node("add", tuple(parts))

    def _scaled(self, factor: Fraction, rest: tuple[Node, ...]) -> Node:
        parts = rest if factor == 1 else (self.constant(factor), *rest)
        return parts[0] if len(parts) == 1 else self._node("mul", parts)

    def mul(self, *factors: Node) -> Node:
        """A product, flattened; numbers are collected."""
        constant, parts = Fraction(1), []
        for factor in _flat("mul", factors):
            if factor.kind == "number":
                constant *= factor.data
            elif factor.kind == "power" and factor.parts[0].kind == "number" and factor.parts[0].data:
                base, exponent = factor.parts[0].data, factor.parts[1].data
                integer = isinstance(exponent, Fraction) and exponent.denominator == 1
                constant, parts = (constant * base ** int(exponent), parts) if integer else (constant, [*parts, factor])
            else:
                parts.append(factor)
        if constant == 0:
            return self.zero
        parts.sort(key=lambda node: node.number)
        return self._scaled(constant, tuple(parts)) if parts else self.constant(constant)

    def power(self, base: Node, exponent: Node | int | Fraction) -> Node:
        """A power; integer powers of a product are taken factor by factor."""
        exponent = exponent if isinstance(exponent, Node) else self.constant(exponent)
        if exponent is self.one:
            return base
        if exponent is self.zero:
            return self.one
        if base.kind == "mul" and exponent.kind == "number" and exponent.data.denominator == 1:
            return self.mul(*(self.power(factor, exponent) for factor in base.parts))
        return self._node("power", (base, exponent))

    def total(self, index: sp.Symbol, length: Node, body: Node) -> Node:
        """The sum of `body` over index = 1..length."""
        if index not in body.indices:
            return self.mul(length, body)
        terms = self._terms(index, body)
        if len(terms) > 1:
            return self.add(*(self.total(index, length, term) for term in terms))
        factors = body.parts if body.kind == "mul" else (body,)
        for factor in factors:
            if factor.kind == "delta" and index in factor.data:  # sum_k delta_ki f(k) = f(i), as 1 <= i <= length
                (other,) = (place for place in factor.data if place != index)
                rest = self.mul(*(others for others in factors if others is not factor))
                return self.substitute(rest, {("index", index): other})
        inner = [factor for factor in factors if index in factor.indices]
        outer = [factor for factor in factors if index not in factor.indices]
        return self.mul(*outer, self._node("total", (self.mul(*inner), length), (index, length.number)))

    def _terms(self, index: sp.Symbol, body: Node) -> list[Node]:
        """The terms of a body: those of a sum, and those of a product whose sums hold something to take out."""
        if body.kind == "add":
            return list(body.parts)
        factors = [base for factor in (body.parts if body.kind == "mul" else (body,)) for base in _unsquared(factor)]
        mixed = [factor for factor in factors if factor.kind == "add" and _takes_out(index, factor)]
        if not mixed:
            return [body]
        terms = [self.mul(*(factor for factor in factors if factor not in mixed))]
        for factor in mixed:
            if len(terms) * len(factor.parts) > MOST_TERMS:
                return [body]
            terms = [self.mul(term, part) for term in terms for part in factor.parts]
        return terms

    def substitute(self, node: Node, rule: Mapping[object, object], memo: dict | None = None) -> Node:
        """The node with symbols, entries, deltas and indices replaced, all at once.

        Keys are ("symbol", s), ("entry", family, index or None for every index), ("delta", i, j) or ("index", i);
        values are nodes, functions from an index to a node, or indices.
        """
        memo = {} if memo is None else memo
        if node in memo:
            return memo[node]
        result = memo[node] = self._substituted(node, rule, memo)
        return result

    def _substituted(self, node: Node, rule: Mapping, memo: dict) -> Node:
        kind, data = node.kind, node.data
        if kind == "symbol":
            return rule.get((kind, data), node)
        if kind == "entry":
            family, index = data
            if (kind, family, index) in rule:
                return rule[kind, family, index]
            index = rule.get(("index", index), index)
            every = rule.get((kind, family, None))
            return every(index) if every is not None else self.entry(family, index)
        if kind == "delta":
            return rule.get((kind, *data)) or self.delta(*(rule.get(("index", index), index) for index in data))
        if kind == "total":
            return self._substituted_total(node, rule, memo)
        return self.rebuilt(node, [self.substitute(part, rule, memo) for part in node.parts])

    def _substituted_total(self, node: Node, rule: Mapping, memo: dict) -> Node:
        """Index symbols that the rule brings in are not captured: the index of the sum is renamed before."""
        if all(key[0] == "index" and key[1] not in node.indices for key in rule):
            return node
        (body, length), index = node.parts, node.data[0]
        brought = (new.indices if isinstance(new, Node) else (new,) for new in rule.values())
        if ("index", index) in rule or any(index in indices for indices in brought):
            fresh = sp.Dummy(index.name, integer=True)
            body, index = self.substitute(body, {("index", index): fresh}), fresh
        return self.total(index, self.substitute(length, rule, memo), self.substitute(body, rule, memo))

    def rebuilt(self, node: Node, parts: list[Node]) -> Node:
        """The same operation on other parts (not for totals)."""
        if node.kind in ("number", "symbol", "entry", "delta"):
            return node
        if node.kind in ("add", "mul", "power"):
            return getattr(self, node.kind)(*parts)
        return self.function(node.kind, *parts)


def _flat(kind: str, nodes: Iterable[Node]) -> Iterable[Node]:
    for node in nodes:
        if node.kind == kind:
            yield from node.parts
        else:
            yield node


def _split(term: Node) -> tuple[Fraction, tuple[Node, ...] | None]:
    """A term as a number times the rest."""
    if term.kind == "number":
        return term.data, None
    if term.kind == "mul" and term.parts[0].kind == "number":
        return term.parts[0].data, term.parts[1:]
    return Fraction(1), term.parts if term.kind == "mul" else (term,)


def _unsquared(factor: Node) -> tuple[Node, ...]:
    """The square of a sum as two factors."""
    if factor.kind == "power" and factor.parts[0].kind == "add" and factor.parts[1].data == 2:
        return factor.parts[0], factor.parts[0]
    return (factor,)


def _parts_number(item: tuple[tuple[Node, ...], Fraction]) -> list[int]:
    return [part.number for part in item[0]]


def _takes_out(index: sp.Symbol, factor: Node) -> bool:
    """Whether some term of a sum has a factor, other than a number, that does not depend on the index."""
    for term in factor.parts:
        pieces = term.parts if term.kind == "mul" else (term,)
        if any(index not in piece.indices and piece.kind != "number" for piece in pieces):
            return index in factor.indices
    return False
