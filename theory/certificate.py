"""Inequalities for every P, by certificate: a term that is non-negative because of how it is built.

`Nonneg` objects can only be made by the rules below, so holding one is holding a proof. An inequality left <= right
is then proved by a `Nonneg` whose expression the decision procedure of `theory.moments` finds equal to right - left.

| rule | gives |
|---|---|
| `square(e)` | e^2 >= 0 |
| `known(s)` | a symbol declared non-negative (r_k, eps, P) |
| `given(e, text)` | a hypothesis of the theorem, recorded under its text |
| `plus`, `times`, `over`, `root` | sums, products, quotients by something positive, square roots |
| `total(body)`, `total_except(i, body)`, `total_apart(body)` | sums over k, over k != i, over pairs k != l |
| `difference(a, b, rest)` | a - b >= 0 and a + b >= 0, from a >= 0 and a^2 - b^2 = rest >= 0 |
| `power`, `monotone`, `bernoulli` | real powers: non-negative, monotone, above their tangent at 1 |
| `positive(e, text)` | a hypothesis e > 0, by which `over` may divide |

Two theorems used again and again are derived from them: `cauchy_schwarz` (Lagrange's identity) and `triangle`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import sympy as sp

from theory.moments import vanishes
from theory.phasors import IndexSum, P, VectorFamily, cross, index_sum


class NotProved(ValueError):
    """A rule was applied where its premises do not hold."""


_RULES = object()


@dataclass(frozen=True, eq=False)
class Nonneg:
    """A proof that `expr` >= 0 (> 0 where `strict`): the rule that gave it, and the proofs it was given.

    `data` holds what the rule was given beside them: an exponent, the index of a sum and its length, ...
    """

    expr: sp.Expr
    rule: str
    parts: tuple[Nonneg, ...] = ()
    strict: bool = False
    hypothesis: str | None = None
    token: object = None
    data: tuple[sp.Expr, ...] = ()

    def __post_init__(self) -> None:
        if self.token is not _RULES:
            raise NotProved("a certificate is built by the rules of theory.certificate, not by hand")

    def walk(self) -> Iterator[Nonneg]:
        """This proof and every proof inside it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """What the proof assumes, in order of first use."""
        return tuple(dict.fromkeys(node.hypothesis for node in self.walk() if node.hypothesis))


def _make(
    expr: sp.Expr,
    rule: str,
    *parts: Nonneg,
    strict: bool = False,
    hypothesis: str | None = None,
    data: tuple[sp.Expr, ...] = (),
) -> Nonneg:
    return Nonneg(expr, rule, parts, strict, hypothesis, _RULES, tuple(map(sp.sympify, data)))


def _require_real(expr: sp.Expr) -> None:
    if not _is_real(sp.sympify(expr)):
        raise NotProved(f"{expr} is not known to be real")


def _is_real(node: sp.Expr) -> bool:
    """Real wherever it is defined, by the way it is built; what is not listed here is not known to be real."""
    if node.is_Symbol or node.is_number or isinstance(node, sp.Indexed):
        return bool(node.is_real)
    if isinstance(node, IndexSum):
        return _is_real(node.body)
    if isinstance(node, sp.Pow):
        rooted = not node.exp.is_integer and not node.base.is_nonnegative
        return bool(node.exp.is_real) and _is_real(node.base) and not rooted
    if isinstance(node, sp.log):
        return bool(node.args[0].is_nonnegative)
    return isinstance(node, sp.Add | sp.Mul | sp.cos | sp.sin | sp.exp) and all(_is_real(part) for part in node.args)


def square(expr: sp.Expr) -> Nonneg:
    """e^2 >= 0 for real e."""
    _require_real(expr)
    return _make(sp.sympify(expr) ** 2, "a square", data=(expr,))


def known(expr: sp.Expr) -> Nonneg:
    """A number, or a symbol declared non-negative."""
    expr = sp.sympify(expr)
    if not (expr.is_number or expr.is_Symbol or isinstance(expr, sp.Indexed)) or not expr.is_nonnegative:
        raise NotProved(f"{expr} is not declared non-negative")
    return _make(expr, "declared", strict=bool(expr.is_positive))


def given(expr: sp.Expr, text: str) -> Nonneg:
    """A hypothesis expr >= 0; the theorem has to name it."""
    return _hypothesis(expr, text, strict=False)


def positive(expr: sp.Expr, text: str) -> Nonneg:
    """A hypothesis expr > 0; the theorem has to name it."""
    return _hypothesis(expr, text, strict=True)


def _hypothesis(expr: sp.Expr, text: str, strict: bool) -> Nonneg:
    if not text.strip():
        raise NotProved(f"the hypothesis about {expr} has no name")
    return _make(sp.sympify(expr), "hypothesis", strict=strict, hypothesis=text)


def plus(*parts: Nonneg) -> Nonneg:
    """A sum of non-negative terms, positive if one of them is."""
    return _make(sp.Add(*(p.expr for p in parts)), "a sum", *parts, strict=any(p.strict for p in parts))


def times(*parts: Nonneg) -> Nonneg:
    """A product of non-negative factors, positive if all of them are."""
    return _make(sp.Mul(*(p.expr for p in parts)), "a product", *parts, strict=all(p.strict for p in parts))


def over(part: Nonneg, divisor: Nonneg) -> Nonneg:
    """A quotient by something positive."""
    if not divisor.strict:
        raise NotProved(f"cannot divide by {divisor.expr}: it may vanish")
    return _make(part.expr / divisor.expr, "a quotient", part, divisor, strict=part.strict)


def total(body: Callable[[sp.Symbol], Nonneg], length: sp.Expr = P) -> Nonneg:
    """sum_k of non-negative terms."""
    part, index = _term(body, length)
    return _make(
        index_sum(lambda k: part.expr.xreplace({index: k}), length), "a sum over k", part, data=(index, length)
    )


def total_except(which: sp.Symbol, body: Callable[[sp.Symbol], Nonneg], length: sp.Expr = P) -> Nonneg:
    """sum over k != which, written as the whole sum less its own term (1 <= which <= P)."""
    part, index = _term(body, length)
    whole = index_sum(lambda k: part.expr.xreplace({index: k}), length)
    own = part.expr.xreplace({index: which})
    return _make(whole - own, f"a sum over k != {which}", part, data=(index, length, which))


def total_apart(body: Callable[[sp.Symbol, sp.Symbol], Nonneg], length: sp.Expr = P) -> Nonneg:
    """sum over ordered pairs k != l, written as the double sum less its diagonal."""
    second = sp.Dummy("l", integer=True)
    part, first = _term(lambda k: body(k, second), length)
    double = index_sum(lambda k: index_sum(lambda m: part.expr.xreplace({first: k, second: m}), length), length)
    diagonal = index_sum(lambda k: part.expr.xreplace({first: k, second: k}), length)
    return _make(double - diagonal, "a sum over pairs k != l", part, data=(first, second, length))


def _term(body: Callable[[sp.Symbol], Nonneg], length: sp.Expr) -> tuple[Nonneg, sp.Symbol]:
    """The proof of one term, and its index; every sum is made of instances of this one term."""
    length = sp.sympify(length)
    if not (length.is_integer and length.is_positive):
        raise NotProved(f"a sum of length {length}, which is not known to be a positive integer")
    index = sp.Dummy("k", integer=True)
    return body(index), index


def root(part: Nonneg) -> Nonneg:
    """The square root of something non-negative."""
    return _make(sp.sqrt(part.expr), "a square root", part, strict=part.strict)


def power(part: Nonneg, exponent: sp.Expr) -> Nonneg:
    """A real power of something non-negative (of something positive where the exponent may be negative)."""
    exponent = sp.sympify(exponent)
    if not exponent.is_real:
        raise NotProved(f"the exponent {exponent} is not known to be real")
    if not exponent.is_nonnegative and not part.strict:
        raise NotProved(f"{part.expr} may vanish and the exponent {exponent} may be negative")
    return _make(part.expr**exponent, "a power", part, strict=part.strict, data=(exponent,))


def monotone(gap: Nonneg, smaller: Nonneg, exponent: Nonneg) -> Nonneg:
    """a^t - b^t >= 0 from a - b >= 0 (`gap`), b >= 0 and t >= 0; > 0 where a > b and t > 0: powers are monotone."""
    larger = gap.expr + smaller.expr
    difference = larger**exponent.expr - smaller.expr**exponent.expr
    strict = gap.strict and exponent.strict
    return _make(difference, "a power of the larger less that of the smaller", gap, smaller, exponent, strict=strict)


def bernoulli(base: Nonneg, excess: Nonneg) -> Nonneg:
    """t^a - 1 - a (t - 1) >= 0 for t >= 0 and a = 1 + excess >= 1: t^a lies above its tangent at 1."""
    exponent = 1 + excess.expr
    gap = base.expr**exponent - 1 - exponent * (base.expr - 1)
    return _make(gap, "a convex power above its tangent at 1", base, excess)


def difference(larger: Nonneg, other: sp.Expr, rest: Nonneg, sign: int = -1) -> Nonneg:
    """larger - other >= 0 (with `sign=1`: larger + other), because larger >= 0 and larger^2 - other^2 = rest >= 0."""
    if sign not in (1, -1):
        raise NotProved(f"sign is {sign}; accepted: 1 or -1")
    if not vanishes(larger.expr**2 - other**2 - rest.expr):
        raise NotProved(f"({larger.expr})^2 - ({other})^2 is not {rest.expr}")
    _require_real(other)
    return _make(larger.expr + sign * other, "|b| <= a, from a^2 - b^2 >= 0", larger, rest, data=(other, sign))


def instance(part: Nonneg, index: sp.Expr, instead_of: sp.Symbol) -> Nonneg:
    """The same for another index: `part` holds for every value of the free index `instead_of`.

    A hypothesis about that index does not carry over to another one, and is refused.
    """
    if part.hypothesis and instead_of in part.expr.free_symbols:
        raise NotProved(f"'{part.hypothesis}' is assumed of index {instead_of} only")
    parts = tuple(instance(inner, index, instead_of) for inner in part.parts)
    moved = part.expr.xreplace({instead_of: index})
    data = tuple(entry.xreplace({instead_of: index}) for entry in part.data)
    return _make(moved, part.rule, *parts, strict=part.strict, hypothesis=part.hypothesis, data=data)


def same(part: Nonneg, expr: sp.Expr) -> Nonneg:
    """The same non-negative quantity in another form."""
    if not vanishes(part.expr - expr):
        raise NotProved(f"{part.expr} is not {expr}")
    return _make(expr, "an equal form", part, strict=part.strict)


def cauchy_schwarz(a: VectorFamily, b: VectorFamily, length: sp.Expr = P) -> Nonneg:
    """(sum |a_k|^2)(sum |b_k|^2) - (sum a_k . b_k)^2 >= 0, by Lagrange's identity over all pairs of coordinates."""
    half = known(sp.Rational(1, 2))
    squares = [
        total(lambda k, s=s, t=t: total(lambda m: square(s[0][k] * t[1][m] - t[0][m] * s[1][k]), length), length)
        for s in zip(a.components, b.components, strict=True)
        for t in zip(a.components, b.components, strict=True)
    ]
    return times(half, plus(*squares))


def triangle(a: sp.Matrix, a_bound: Nonneg, a_slack: Nonneg, b: sp.Matrix, b_bound: Nonneg, b_slack: Nonneg) -> Nonneg:
    """(A + B)^2 - |a - b|^2 >= 0, from A, B >= 0, A^2 - |a|^2 >= 0 (`a_slack`) and B^2 - |b|^2 >= 0 (`b_slack`)."""
    aa, bb = sp.Add(*(e**2 for e in a)), sp.Add(*(e**2 for e in b))
    for bound, size, slack in ((a_bound, aa, a_slack), (b_bound, bb, b_slack)):
        if not vanishes(bound.expr**2 - size - slack.expr):
            raise NotProved(f"({bound.expr})^2 - ({size}) is not {slack.expr}")
    rest = plus(
        times(square(a_bound.expr), b_slack),
        times(plus(*(square(e) for e in b)), a_slack),
        square(cross(a, b)),
    )
    inner = difference(times(a_bound, b_bound), a.dot(b), rest, sign=1)
    return plus(a_slack, b_slack, times(known(2), inner))
