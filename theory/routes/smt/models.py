"""A model of z3 as an exact point, which counts only if the statement fails there when it is evaluated again.

Nothing of z3 is trusted here: the values become fractions, the point has to lie in the statement's domain by the
statement's own predicates, and both sides are computed by `theory.exact`.
"""

from __future__ import annotations

import random
from fractions import Fraction

import sympy as sp
from sympy.tensor.indexed import IndexedBase

from theory import exact
from theory.exact import Irrational, Point
from theory.phasors import MAGNITUDES
from theory.proof import Refuted
from theory.routes.smt.translate import Translation
from theory.statements import UNDEFINED, Statement, pairs_of, refute

DIGITS = 6


class Mismatch(ValueError):
    """The model is no counterexample: what it says and what was found."""


class WrongModel(RuntimeError):
    """A model, taken over without rounding, is no counterexample: the solver or the translation is wrong.

    It is an error of the tool, not an undecided statement.
    """


class Model:
    """The values of a model as fractions; `rounded` once one of them was irrational and had to be rounded."""

    def __init__(self, model: object) -> None:
        self.model, self.rounded = model, False

    def __call__(self, term: object) -> Fraction:
        """The value of a term."""
        value, exact_value = rational(self.model, term)
        self.rounded |= not exact_value
        return value


def counterexample(statement: Statement, translate: Translation, model: object, free: set[sp.Symbol]) -> Refuted:
    """The refutation by this model; raises `Mismatch` where it does not hold up, `WrongModel` where it should have."""
    value = Model(model)
    at = as_point(translate, value, free)
    try:
        for named in (*statement.conditions, *statement.hypotheses):
            if not named.holds(at):
                raise Mismatch(f"z3's model violates '{named.text}'")
        for divisor in statement.nonzero:
            if not isinstance(divisor, IndexedBase) and exact.evaluate(divisor, at) == 0:
                raise Mismatch(f"at z3's model {divisor} = 0")
        outcome = refute(statement, at)
    except (Irrational, ZeroDivisionError, IndexError) as reason:
        raise Mismatch(f"z3's model gives no rational value: {reason}") from reason
    if not isinstance(outcome, Refuted):
        reason = f"z3's model, evaluated again, is no counterexample: {outcome.reason}"
        if value.rounded or translate.abstract or not _rational(statement, at):
            raise Mismatch(reason)
        raise WrongModel(f"'{statement.name}' ({statement.text}): {reason}")
    if UNDEFINED in outcome.witness.values.values():
        raise Mismatch("at z3's model a side is not defined")
    return outcome


def _rational(statement: Statement, at: Point) -> bool:
    """Whether both sides have rational values there, or none at all."""
    try:
        for pair in pairs_of(statement):
            for side in pair:
                exact.evaluate(side, at)
    except Irrational:
        return False
    except ZeroDivisionError:
        pass
    return True


def as_point(translate: Translation, value: Model, free: set[sp.Symbol]) -> Point:
    """The model as exact inputs; what it leaves open, and families that do not occur, get random rational values."""
    start = exact.random_point(free, translate.length, random.Random(0))
    lists = {base: list(values) for base, values in start.lists.items()}
    for (r, position), (a, b) in translate.square_roots.items():
        a, b = value(a), value(b)
        for component, number in zip(MAGNITUDES[r].components, (a * a - b * b, 2 * a * b), strict=True):
            lists[component][position - 1] = number
    for (base, position), term in translate.entries.items():
        family = translate.vectors.get(base) or translate.family_of.get(base)
        if family is not None and (family.r, position) in translate.square_roots:
            continue
        if family is not None and len(family.components) == 2 and base in translate.family_of:
            for component, number in zip(family.components, _vector(translate, value, family, position), strict=True):
                lists[component][position - 1] = number
            continue
        family = MAGNITUDES.get(base)
        if family is None:
            lists.setdefault(base, [Fraction(0)] * translate.length)[position - 1] = value(term)
        elif base not in translate.vectors:  # a magnitude without coordinates: any vector of that length will do
            for axis, component in enumerate(family.components):
                lists[component][position - 1] = value(term) if axis == 0 else Fraction(0)
    numbers = dict(start.numbers)
    for symbol, term in translate.numbers.items():
        numbers[symbol] = value(term)
    for angle, (a, b) in translate.halves.items():
        if value(a) == 0:
            raise Mismatch("z3's model has an angle of 180 degrees, whose half has no tangent")
        tangent = value(b) / value(a)
        if isinstance(angle, tuple):
            lists.setdefault(angle[0], [Fraction(0)] * translate.length)[angle[1] - 1] = tangent
        else:
            numbers[angle] = tangent
    return Point({base: tuple(values) for base, values in lists.items()}, numbers, dict(translate.positions))


def _vector(translate: Translation, value: Model, family: object, position: int) -> tuple[Fraction, Fraction]:
    """A vector near the model's whose magnitude is rational: r and t = y / (r + x) are rounded, not x and y."""
    x, y = (value(translate.entries[component, position]) for component in family.components)
    r = value(translate.entries[family.r, position])
    if r + x == 0 or y == 0:
        return x, y
    exact_t = y / (r + x)
    t = exact_t.limit_denominator(10**DIGITS)
    value.rounded |= t != exact_t or r * r != x * x + y * y
    return r * (1 - t * t) / (1 + t * t), 2 * r * t / (1 + t * t)


def rational(model: object, term: object) -> tuple[Fraction, bool]:
    """The value of a term in a model, and whether it is exact: an algebraic number is rounded to a fraction."""
    if isinstance(term, Fraction):
        return term, True
    value = model.eval(term, model_completion=True)
    if hasattr(value, "as_fraction"):
        return Fraction(value.as_fraction()), True
    return Fraction(value.approx(DIGITS).as_fraction()).limit_denominator(10**DIGITS), False
