"""The steps of a certificate, each as a query of its own, at a fixed number of phasors.

A certificate of `theory.certificate` is a tree: every node says by which rule its expression is not negative, from
which parts. Two things are asked of z3 for each node, with every sum written out:

    the form    the node's expression is what its rule makes of its parts, an identity with z_k as complex squares
    the rule    what the rule concludes follows from its premises, for free variables in place of the parts

so a proof is accepted only if z3 has accepted every node of it. That its root is right - left is asked by the caller.
Hypotheses are the leaves that are assumed; `hypotheses` lists them at every index they are used for, which is their
symbolic form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import sympy as sp

from theory.certificate import Nonneg
from theory.routes.smt.solver import Ratio, Solver
from theory.routes.smt.translate import POSITIONS, Inexpressible, Translation

Where = Mapping[sp.Symbol, int]
SUM, PAIRS, SAME = "a sum over k", "a sum over pairs k != l", "an equal form"
SMALLER = "|b| <= a, from a^2 - b^2 >= 0"
MONOTONE, TANGENT = "a power of the larger less that of the smaller", "a convex power above its tangent at 1"


def instances(node: Nonneg, length: int, where: Where) -> list[tuple[Nonneg, Where]]:
    """The parts of a node, one for each index that its sum runs over, with the value of the index."""
    if not node.rule.startswith("a sum over"):
        return [(part, where) for part in node.parts]
    (part,) = node.parts
    bound = sorted(_dummies(part) - _dummies(node) - set(where), key=lambda symbol: symbol.dummy_index)
    numbers = range(1, length + 1)
    if node.rule == PAIRS:
        if len(bound) != 2:
            raise Inexpressible(f"a sum over pairs with {len(bound)} indices")
        return [(part, {**where, bound[0]: k, bound[1]: m}) for k in numbers for m in numbers if k != m]
    if len(bound) > 1:
        raise Inexpressible(f"a sum with {len(bound)} indices")
    left_out = None if node.rule == SUM else _left_out(node, where)
    return [(part, {**where, **dict.fromkeys(bound, k)}) for k in numbers if k != left_out]


def _dummies(node: Nonneg) -> set[sp.Symbol]:
    return {symbol for symbol in node.expr.free_symbols if isinstance(symbol, sp.Dummy)}


def _left_out(node: Nonneg, where: Where) -> int:
    """The index that "a sum over k != i" leaves out, which the rule names; private indices print alike."""
    name = node.rule.removeprefix("a sum over k != ")
    known = {**POSITIONS, **where}
    values = {n for symbol, n in known.items() if str(symbol) == name and symbol in node.expr.free_symbols}
    values = values or {n for symbol, n in known.items() if str(symbol) == name}
    if len(values) != 1:
        raise Inexpressible(f"which phasor '{node.rule}' leaves out")
    return values.pop()


def hypotheses(node: Nonneg, translate: Translation, where: Where | None = None) -> Iterator[tuple[Ratio, bool]]:
    """(expression, strict) of every hypothesis a certificate assumes, at every index it assumes it for."""
    where = where or {}
    if node.hypothesis:
        yield translate(node.expr, where), node.strict
    elif node.hypotheses:
        for part, at in instances(node, translate.length, where):
            yield from hypotheses(part, translate, at)


class Steps:
    """Checks certificates; `refused` says what z3 did not accept, `count` how many nodes it did."""

    def __init__(self, solver: Solver, translate: Translation, assumed: list[object]) -> None:
        self.solver, self.translate, self.assumed = solver, translate, assumed
        self.count = 0
        self.refused = ""
        self._done: set[tuple] = set()
        self._rules: dict[tuple, bool] = {}

    def accept(self, node: Nonneg, where: Where | None = None) -> bool:
        """Whether z3 accepts this node and every node below it."""
        where = where or {}
        key = (id(node), frozenset(where.items()))
        if node.hypothesis or key in self._done:
            return True
        parts = instances(node, self.translate.length, where)
        if not all(self.accept(part, at) for part, at in parts):
            return False
        if not self._node(node, parts, where):
            self.refused = self.refused or f"z3 does not accept the step '{node.rule}'"
            return False
        self.count += 1
        self._done.add(key)
        return True

    def equal(self, left: Ratio, right: Ratio) -> bool:
        """Whether z3 finds two values equal."""
        return self.solver.is_zero(left - right, self.translate)[0] == "unsat"

    def _node(self, node: Nonneg, parts: list[tuple[Nonneg, Where]], where: Where) -> bool:
        whole = self.translate(node.expr, where)
        if node.rule == "declared":
            return self._not_negative(whole, node.strict, self.translate.bounds())
        if node.rule in ("a square", "a power") and not _is_plain(node):
            return self._not_negative(whole, node.strict, [*self.translate.known(), *self.assumed])
        if node.rule == "a square":
            variable = self.solver.real("v")
            return self._not_negative(Ratio(self.solver, variable * variable), node.strict, [])
        values = [self.translate(part.expr, at) for part, at in parts]
        exponents = self._exponents(node)
        if node.rule == SAME:
            return self.equal(whole, values[0]) and (node.parts[0].strict or not node.strict)
        if node.rule == SMALLER:
            other = whole - values[0]
            form = self.equal(values[0] * values[0] - other * other, values[1])
        else:
            form = self.equal(whole, _made(node.rule, values, exponents, self.translate))
        return form and self._rule(node, tuple(part.strict for part, _ in parts), exponents)

    def _exponents(self, node: Nonneg) -> tuple[Fraction, ...]:
        """The exponents of a rule about powers, which have to be numbers."""
        if node.rule == "a power":
            return (self.translate.constant(node.expr.exp),)
        if node.rule == MONOTONE:
            return (self.translate.constant(node.parts[2].expr),)
        if node.rule == TANGENT:
            return (1 + self.translate.constant(node.parts[1].expr),)
        return ()

    def _rule(self, node: Nonneg, strict: tuple[bool, ...], exponents: tuple[Fraction, ...]) -> bool:
        """The rule for free variables; asked once for each combination of strict parts."""
        key = (node.rule, strict, node.strict, exponents)
        if key not in self._rules:
            free = Translation(self.solver, 1, (), ())
            parts = [free.ratio(self.solver.real("v")) for _ in strict]
            premises = [part.num > 0 if s else part.num >= 0 for part, s in zip(parts, strict, strict=True)]
            if node.rule == SMALLER:
                other = free.ratio(self.solver.real("b"))
                premises.append((parts[0] * parts[0] - other * other - parts[1]).num == 0)
                value = parts[0] + other
            else:
                value = _made(node.rule, parts, exponents, free)
            self._rules[key] = self._not_negative(value, node.strict, [*premises, *free.known()])
        return self._rules[key]

    def _not_negative(self, value: Ratio, strict: bool, known: list[object]) -> bool:
        term = self.solver.term(value.numerator_with_sign())
        return self.solver.ask(term <= 0 if strict else term < 0, *known)[0] == "unsat"


def _is_plain(node: Nonneg) -> bool:
    """Whether a square is written as one, or a power as one of its part; SymPy may have rewritten it."""
    if not isinstance(node.expr, sp.Pow):
        return False
    return node.expr.base == node.parts[0].expr if node.parts else node.expr.exp == 2


def _made(rule: str, parts: Sequence[Ratio], exponents: tuple[Fraction, ...], translate: Translation) -> Ratio:
    """What a rule makes of its parts."""
    one = translate.ratio(1)
    if rule.startswith("a sum"):
        return translate.total(parts)
    if rule == "a product":
        product = one
        for part in parts:
            product = product * part
        return product
    if rule == "a quotient":
        return parts[0] * translate.power(parts[1], Fraction(-1))
    if rule == "a square root":
        return translate.power(parts[0], Fraction(1, 2))
    if rule == "a power":
        return translate.power(parts[0], *exponents)
    if rule == MONOTONE:
        return translate.power(parts[0] + parts[1], *exponents) - translate.power(parts[1], *exponents)
    if rule == TANGENT:
        return translate.power(parts[0], *exponents) - one - translate.ratio(exponents[0]) * (parts[0] - one)
    raise Inexpressible(f"the rule '{rule}'")
