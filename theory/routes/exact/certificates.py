"""Checks a certificate anew: its value is computed from its leaves by the rules; what it says about itself is not used.

A certificate is a tree of rules (`theory.certificate`). `Recheck` turns it into the node that the rules make of the
leaves: squares, declared symbols and hypotheses. What the tree says its terms are is compared with that afterwards, and
so is every equality that a rule rests on, at exact points; what a rule requires besides is checked here, by a second
implementation of the rules that decides no identity by SymPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from theory.certificate import Nonneg
from theory.routes.exact.identities import STATED
from theory.routes.exact.nodes import Node, Program
from theory.routes.exact.reading import Reader, index


class Rejected(ValueError):
    """A rule applied where its premises do not hold."""


@dataclass
class Assumption:
    """A leaf that is assumed to be >= 0 (> 0 where `strict`) under a name, but for the pairs of equal indices."""

    text: str
    value: Node
    strict: bool
    apart: tuple[tuple[object, object], ...]


@dataclass
class Recheck:
    """The equalities that certificates rest on, as (what for, node that has to be zero), and what they assume."""

    program: Program
    reader: Reader
    equalities: list[tuple[str, Node]] = field(default_factory=list)
    assumptions: list[Assumption] = field(default_factory=list)
    rules: int = 0

    def value(self, proof: Nonneg, apart: tuple = ()) -> Node:
        """What the rules make of the leaves; raises `Rejected` where a rule does not apply."""
        self.rules += 1
        rule = next((known for known in RULES if proof.rule.startswith(known)), None)
        if rule is None:
            raise Rejected(f"the rule '{proof.rule}' is not known")
        count, check = RULES[rule]
        if count is not None and len(proof.parts) != count:
            raise Rejected(f"'{proof.rule}' with {len(proof.parts)} premises")
        if rule == OTHERS:
            apart = (*apart, (proof.data[0], proof.data[2]))
        elif rule == PAIRS:
            apart = (*apart, (proof.data[0], proof.data[1]))
        node, strict = check(self, proof, [self.value(part, apart) for part in proof.parts])
        if proof.strict and not strict:
            raise Rejected(f"'{proof.rule}' does not give > 0")
        if rule == HYPOTHESIS:
            self.assumptions.append(Assumption(proof.hypothesis, node, proof.strict, apart))
        self.equal(STATED, node, self.reader(proof.expr))
        return node

    def equal(self, purpose: str, left: Node, right: Node) -> None:
        """Two nodes that have to be equal."""
        difference = self.program.add(left, self.negative(right))
        if difference is not self.program.zero:
            self.equalities.append((purpose, difference))

    def negative(self, node: Node) -> Node:
        """-node."""
        return self.program.mul(self.program.constant(-1), node)


Made = tuple[Node, bool]  # the value, and whether it is known to be > 0
Rule = Callable[[Recheck, Nonneg, list[Node]], Made]
HYPOTHESIS, OTHERS, PAIRS = "hypothesis", "a sum over k != ", "a sum over pairs k != l"


def _square(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    return check.program.power(check.reader(proof.data[0]), 2), False


def _declared(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    if not (proof.expr.is_Rational or proof.expr.is_Symbol or proof.expr.is_Indexed) or not proof.expr.is_nonnegative:
        raise Rejected(f"{proof.expr} is not declared non-negative")
    return check.reader(proof.expr), bool(proof.expr.is_positive)


def _hypothesis(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    if not (proof.hypothesis or "").strip():
        raise Rejected(f"the hypothesis about {proof.expr} has no name")
    return check.reader(proof.expr), True


def _sum(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    return check.program.add(*parts), any(part.strict for part in proof.parts)


def _product(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    return check.program.mul(*parts), all(part.strict for part in proof.parts)


def _quotient(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    if not proof.parts[1].strict:
        raise Rejected("a quotient by what may vanish")
    return check.program.mul(parts[0], check.program.power(parts[1], -1)), proof.parts[0].strict


def _total(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    bound, length = proof.data
    return check.program.total(bound, check.reader(length), parts[0]), False


def _others(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    bound, length, which = proof.data
    own = check.program.substitute(parts[0], {("index", bound): index([which])})
    return check.program.add(check.program.total(bound, check.reader(length), parts[0]), check.negative(own)), False


def _pairs(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    first, second, length = proof.data
    program, count = check.program, check.reader(length)
    diagonal = program.substitute(parts[0], {("index", second): first})
    double = program.total(first, count, program.total(second, count, parts[0]))
    return program.add(double, check.negative(program.total(first, count, diagonal))), False


def _root(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    return check.program.power(parts[0], Fraction(1, 2)), proof.parts[0].strict


def _power(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    (exponent,) = proof.data
    if not exponent.is_real or not (exponent.is_nonnegative or proof.parts[0].strict):
        raise Rejected(f"the power {exponent} of what may vanish")
    return check.program.power(parts[0], check.reader(exponent)), proof.parts[0].strict


def _monotone(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    gap, smaller, exponent = parts
    program = check.program
    larger = program.add(gap, smaller)
    value = program.add(program.power(larger, exponent), check.negative(program.power(smaller, exponent)))
    return value, proof.parts[0].strict and proof.parts[2].strict


def _tangent(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    base, excess = parts
    program = check.program
    exponent = program.add(program.one, excess)
    slope = program.mul(exponent, program.add(base, program.constant(-1)))
    return program.add(program.power(base, exponent), program.constant(-1), check.negative(slope)), False


def _difference(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    larger, rest = parts
    other, sign = check.reader(proof.data[0]), check.reader(proof.data[1])
    program = check.program
    if sign not in (program.one, program.constant(-1)):
        raise Rejected(f"the sign {proof.data[1]}")
    squares = program.add(program.power(larger, 2), check.negative(program.power(other, 2)))
    check.equal("a^2 - b^2", squares, rest)
    return program.add(larger, program.mul(sign, other)), False


def _same(check: Recheck, proof: Nonneg, parts: list[Node]) -> Made:
    stated = check.reader(proof.expr)
    check.equal("an equal form", parts[0], stated)
    return stated, proof.parts[0].strict


RULES: dict[str, tuple[int | None, Rule]] = {  # the longer of two names with one beginning first
    "a square root": (1, _root),
    "a square": (0, _square),
    "declared": (0, _declared),
    HYPOTHESIS: (0, _hypothesis),
    PAIRS: (1, _pairs),
    OTHERS: (1, _others),
    "a sum over k": (1, _total),
    "a sum": (None, _sum),
    "a product": (None, _product),
    "a quotient": (2, _quotient),
    "a power of the larger": (3, _monotone),
    "a power": (1, _power),
    "a convex power": (2, _tangent),
    "|b| <= a": (2, _difference),
    "an equal form": (1, _same),
}
