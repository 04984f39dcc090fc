"""Statements: what a claim's file says, and how each is decided.

| statement | says | proved by | refuted by |
|---|---|---|---|
| `Identity` | left = right, component by component | the moment normal form | an exact point |
| `Inequality` | left <= right, pair by pair | a certificate for right - left | an exact point |

Both are decided in the same order: a counterexample, if the file names one, is evaluated; then the proof is tried;
then random rational points are. What none of them settles is `Undecided`.

Dividing needs permission: a proof is accepted only if everything it divides by is among the statement's `nonzero`
(an `IndexedBase` there means: for every index; P itself needs none), and if what its certificate assumes is among its
`hypotheses`. The random points are drawn inside the same domain, so that a point outside it is never mistaken for a
refutation; `adjust` moves a random point to where the hypotheses hold or a square root is rational.

`expects` is what the regression suite expects of the statement: most are theorems, some are printed sentences that a
witness refutes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy as sp
from sympy.tensor.indexed import IndexedBase

from theory import exact
from theory.certificate import Nonneg, NotProved
from theory.exact import Irrational, Point
from theory.lemmas import recording
from theory.moments import NotMoments, denominators, vanishes
from theory.phasors import N, P, i, j
from theory.proof import EVERY_P, Outcome, Proved, Refuted, Step, Undecided, Witness

UNDEFINED = "undefined"
Sides = Callable[[], tuple[object, object]]
Pairs = list[tuple[sp.Expr, sp.Expr]]


@dataclass(frozen=True)
class Condition:
    """A condition the paper does not state, with the refutation of the claim without it."""

    text: str
    necessity: Callable[[], Outcome]
    holds: Callable[[Point], bool] = lambda point: True


@dataclass(frozen=True)
class Hypothesis:
    """Something the theorem assumes, and whether a point satisfies it."""

    text: str
    holds: Callable[[Point], bool]


@dataclass(frozen=True)
class Identity:
    """left = right for every P, where everything in `nonzero` is non-zero and every condition holds."""

    name: str
    text: str
    sides: Sides
    conditions: tuple[Condition, ...] = ()
    nonzero: tuple[sp.Expr, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    counterexample: Point | None = None
    derivation: Callable[[], Iterable[Step]] = lambda: ()
    adjust: Callable[[Point], Point] = lambda point: point
    scope: str = EVERY_P
    expects: str = "proved"

    relation = "="

    def decide(self) -> Outcome:
        """Proved, refuted by an exact point, or undecided."""
        return _decide(self, _prove_identity)

    def formula(self) -> sp.Basic:
        """The statement as an unevaluated equation."""
        left, right = (_shown(side) for side in self.sides())
        return sp.Eq(left, right, evaluate=False)


@dataclass(frozen=True)
class Inequality:
    """left <= right for every P (each component), under named hypotheses, by one certificate a component."""

    name: str
    text: str
    sides: Sides
    proof: Callable[[], Nonneg | Sequence[Nonneg]] | None = None
    conditions: tuple[Condition, ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    nonzero: tuple[sp.Expr, ...] = ()
    counterexample: Point | None = None
    derivation: Callable[[], Iterable[Step]] = lambda: ()
    adjust: Callable[[Point], Point] = lambda point: point
    scope: str = EVERY_P
    expects: str = "proved"
    strict: bool = False

    @property
    def relation(self) -> str:
        """How the left side compares: <= or <."""
        return "<" if self.strict else "<="

    def decide(self) -> Outcome:
        """Proved, refuted by an exact point, or undecided."""
        return _decide(self, _prove_inequality)

    def formula(self) -> sp.Basic:
        """The statement as an unevaluated inequality (a conjunction where it has several components)."""
        relation = sp.StrictLessThan if self.strict else sp.LessThan
        parts = [relation(left, right, evaluate=False) for left, right in pairs_of(self)]
        return parts[0] if len(parts) == 1 else sp.And(*parts, evaluate=False)


Statement = Identity | Inequality


def refute(statement: Statement, at: Point) -> Refuted | Undecided:
    """A refutation of the statement by this point, if the point is one; a side without a value there refutes too."""
    return _refute(statement.relation, pairs_of(statement), at)


def _refute(relation: str, sides: Pairs, at: Point, defined: bool = False) -> Refuted | Undecided:
    """The same for sides computed already; with `defined`, a side that has no value at the point decides nothing."""
    outside = at.outside()
    if outside:
        return Undecided(f"the point is no point of the domain: {outside}")

    def values() -> dict[str, Fraction | str]:
        found: dict[str, Fraction | str] = {}
        for number, (left, right) in enumerate(sides):
            mark = f" {number + 1}" if len(sides) > 1 else ""
            found[f"left{mark}"], found[f"right{mark}"] = _value(left, at), _value(right, at)
        return found

    try:
        first = values()
    except (Irrational, IndexError) as reason:
        return Undecided(f"the point gives no rational value: {reason}")
    entries = list(first.values())
    if defined and UNDEFINED in entries:
        return Undecided("a side has no value at the point")
    if all(_satisfied(relation, a, b) for a, b in zip(entries[::2], entries[1::2], strict=True)):
        return Undecided("the statement holds at the point named as its counterexample")
    return Refuted(Witness(at.data(side for pair in sides for side in pair), first, relation, values))


def necessary(statement: Statement, at: Point) -> Callable[[], Outcome]:
    """For `Condition.necessity`: the statement, without the condition, fails at this point."""
    return lambda: refute(statement, at)


def _decide(statement: Statement, prove: Callable[[Statement, Pairs], Proved | Undecided]) -> Outcome:
    sides = pairs_of(statement)
    at = statement.counterexample
    if at is not None and all(hypothesis.holds(at) for hypothesis in statement.hypotheses):
        outcome = _refute(statement.relation, sides, at)
        if isinstance(outcome, Refuted):
            return outcome
    try:
        with recording() as used:
            outcome = prove(statement, sides)
    except (NotProved, NotMoments) as reason:
        outcome = Undecided(str(reason))
    if isinstance(outcome, Proved):
        return replace(outcome, uses=tuple(used))
    tried = (_refute(statement.relation, sides, at, defined=True) for at in _points(statement, sides))
    return next((found for found in tried if isinstance(found, Refuted)), outcome)


def _prove_identity(statement: Identity, sides: Pairs) -> Proved | Undecided:
    entries = [entry for pair in sides for entry in pair]
    problem = _undeclared(statement, entries)
    if problem:
        return problem
    left, right = statement.sides()
    steps = (*statement.derivation(), Step("derived", _shown(left)), Step("stated", _shown(right)))
    if not all(vanishes(a - b) for a, b in sides):
        return Undecided("the difference of the two sides is not zero in moment normal form", steps)
    steps += (Step("the difference of the two sides is zero in moment normal form"),)
    return Proved(statement.scope, steps, tuple(denominators(*entries)))


def _prove_inequality(statement: Inequality, sides: Pairs) -> Proved | Undecided:
    if statement.proof is None:
        return Undecided("no certificate is given")
    certificates = statement.proof()
    certificates = [certificates] if isinstance(certificates, Nonneg) else list(certificates)
    if len(certificates) != len(sides):
        return Undecided(f"{len(certificates)} certificates for {len(sides)} inequalities")
    entries = [entry for pair in sides for entry in pair]
    problem = _undeclared(statement, entries)
    if problem:
        return problem
    steps = list(statement.derivation())
    named = {hypothesis.text for hypothesis in statement.hypotheses}
    for (left, right), certificate in zip(sides, certificates, strict=True):
        unnamed = [text for text in certificate.hypotheses if text not in named]
        if unnamed:
            return Undecided(f"the certificate assumes {', '.join(unnamed)}, which the statement does not name")
        if statement.strict and not certificate.strict:
            return Undecided("the certificate shows >= 0, not > 0")
        if not vanishes(right - left - certificate.expr):
            return Undecided("the certificate is not the difference of the two sides", tuple(steps))
        steps.append(Step(f"right - left, {certificate.rule}", certificate.expr))
    return Proved(statement.scope, tuple(steps), tuple(denominators(*entries)), tuple(certificates))


def _undeclared(statement: Statement, entries: list[sp.Expr]) -> Undecided | None:
    factors = {factor for e in (P, N, *statement.nonzero) for factor in (e, *sp.Mul.make_args(e))}
    allowed = factors | {factor.base for factor in factors if isinstance(factor, sp.Pow)}
    missing = [d for d in denominators(*entries) if d not in allowed and getattr(d, "base", None) not in allowed]
    if missing:
        return Undecided(f"divides by {', '.join(map(str, missing))} without saying that it is not zero")
    return None


def _points(statement: Statement, sides: Pairs) -> Iterator[Point]:
    """Random exact points inside the statement's domain."""
    rng = random.Random(0)
    entries = [entry for pair in sides for entry in pair]
    entries += [expr for expr in statement.nonzero if not isinstance(expr, IndexedBase)]
    symbols = {s for entry in entries for s in entry.free_symbols if s.is_Symbol and s not in (i, j)}
    symbols -= {node.base.label for entry in entries for node in entry.atoms(sp.Indexed)}
    for length in (2, 1, 3, 4):
        for structure in ("generic", "one-hot", "equal", "axis", "generic"):
            at = exact.random_point(symbols, length, rng, structure)
            try:
                at = statement.adjust(at)
                if _inside(statement, at):
                    yield at
            except (Irrational, IndexError):
                continue


def _inside(statement: Statement, at: Point) -> bool:
    if not all(condition.holds(at) for condition in (*statement.conditions, *statement.hypotheses)):
        return False
    divisors = [expr for expr in statement.nonzero if not isinstance(expr, IndexedBase)]
    return all(_value(expr, at) not in (0, UNDEFINED) for expr in divisors)


def pairs_of(statement: Statement) -> Pairs:
    """The sides of a statement, component by component; ValueError where they have different numbers of them."""
    left, right = statement.sides()
    lefts, rights = entries_of(left), entries_of(right)
    if len(lefts) != len(rights):
        raise ValueError(f"{statement.name}: {len(lefts)} entries on the left, {len(rights)} on the right")
    return list(zip(lefts, rights, strict=True))


def entries_of(side: object) -> list[sp.Expr]:
    """The components of one side of a statement: the entries of a vector, or the expression itself."""
    if isinstance(side, sp.MatrixBase | Sequence):
        return [sp.sympify(entry) for entry in side]
    return [sp.sympify(side)]


def _shown(side: object) -> sp.Basic:
    entries = entries_of(side)
    return sp.ImmutableMatrix(side) if isinstance(side, sp.MatrixBase | Sequence) else entries[0]


def _value(expr: sp.Expr, at: Point) -> Fraction | str:
    try:
        return exact.evaluate(expr, at)
    except ZeroDivisionError:
        return UNDEFINED


def _satisfied(relation: str, left: Fraction | str, right: Fraction | str) -> bool:
    if UNDEFINED in (left, right):
        return False
    return {"=": left == right, "<=": left <= right, "<": left < right}[relation]
