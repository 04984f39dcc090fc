"""`check`: is a hand-derived formula the derivative of a layer, for every N?

The order is: read the formula; look for a small exact point where it differs from the derivative, which refutes it; if
there is none, compare the two in moment normal form, which proves it. What neither settles is undecided. A refuted
formula is compared with the known mistakes, and named only if it equals one of them for every N.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from theory.analysis import domains, mistakes, truth, witnesses
from theory.analysis.interpret import interpret
from theory.analysis.layers import GRADIENT, LAYERS, Layer
from theory.analysis.opaque import Equality
from theory.analysis.scopes import Symbols
from theory.expressions import parse
from theory.phasors import eps, i, j, substitute
from theory.proof import Outcome as Decision
from theory.proof import Proved, Refuted, Step, Undecided
from theory.syntax import ExpressionError, Node

_SHAPES = {1: "a number", 2: "a vector", 4: "a 2 x 2 matrix: use I and outer(a, b)"}


@dataclass(frozen=True)
class Check:
    """What was found out about one formula.

    `outcome` is `Proved`, `Refuted` (with a witness) or `Undecided`; `mistake` the known mistake that the formula is;
    `conditions` what the formula as written needs beyond what the derivative itself needs, such as "x[i] != 0";
    `expression` its components; `right` the derivative, and `glossary` the definitions, as the user may write them.
    """

    norm: str
    target: str
    formula: str
    outcome: Decision
    mistake: str | None
    conditions: tuple[str, ...]
    expression: tuple[sp.Expr, ...]
    right: str
    glossary: tuple[str, ...]

    @property
    def status(self) -> str:
        """Proved, refuted or undecided, in lower case."""
        return self.outcome.status

    @property
    def scope(self) -> str:
        """For which lengths: every N, or every P."""
        return f"every {LAYERS[self.norm].length}"


def decide(norm: str, target: str, formula: str) -> Check:
    """Decides one formula; see `theory.analysis.check`."""
    layer = LAYERS[norm]
    node = parse(formula, layer.vocabulary(target))
    entries = _entries(layer, target, node)
    same = truth.equality(layer)
    outcome = _decide(layer, target, node, entries, same)
    mistake, needs = None, ()
    if isinstance(outcome, Proved):
        found = domains.conditions(layer, node, same)
        needs = tuple(f"{shown(layer, expr)} {relation}" for expr, relation in found)
    else:

        def is_it(other: Node) -> bool:
            return _equal(layer, target, entries, _entries(layer, target, other), same)

        mistake = mistakes.named(layer, target, node, is_it)
    expression = tuple(shown(layer, entry) for entry in entries)
    right = mistakes.RIGHT[target][norm]
    return Check(norm, target, formula, outcome, mistake, needs, expression, right, tuple(layer.glossary(target)))


def _entries(layer: Layer, target: str, node: Node) -> tuple[sp.Expr, ...]:
    """The components as symbolic expressions, in as many components as the derivative has (or the first of two)."""
    try:
        value = interpret(node, Symbols(layer), {"i": i, "j": j})
    except NotImplementedError as error:
        raise ExpressionError("delta(i, j) under a sum may not be squared or divided by", node.at) from error
    found = tuple(sp.sympify(entry) for entry in mistakes.components(value))
    if any(entry.has(sp.zoo, sp.nan, sp.oo) for entry in found):
        raise ExpressionError("the formula divides by something that is always zero", node.at)
    expected = len(truth.derived(layer.name, target))
    if len(found) != expected and not (target == GRADIENT and len(found) == 1):
        raise ExpressionError(
            f"the formula is {_SHAPES[len(found)].split(':')[0]}; it should be {_SHAPES[expected]}", node.at
        )
    return found


def _decide(layer: Layer, target: str, node: Node, entries: tuple[sp.Expr, ...], same: Equality) -> Decision:
    witness = witnesses.near(layer, target, node)
    if witness is not None:
        return Refuted(witness)
    true = truth.derived(layer.name, target)[: len(entries)]
    steps = tuple(
        Step(title, sp.ImmutableMatrix(form) if len(form) > 1 else form[0])
        for title, form in (("derived", true), ("yours", tuple(shown(layer, entry) for entry in entries)))
    )
    try:
        if _equal(layer, target, entries, true, same):
            return Proved(f"every {layer.length}", steps)
    except ZeroDivisionError:
        witness = witnesses.undefined(layer, target, node)
        if witness is not None:
            return Refuted(witness, steps)
    witness = witnesses.far(layer, target, node)
    if witness is not None:
        return Refuted(witness, steps)
    return Undecided("neither equal in moment normal form nor different at a small exact point", steps)


def _equal(layer: Layer, target: str, mine: tuple, other: tuple, same: Equality) -> bool:
    return all(
        same(a, b)
        for first, second in zip(truth.cases(layer, target, mine), truth.cases(layer, target, other), strict=True)
        for a, b in zip(first, second, strict=False)
    )


def shown(layer: Layer, expr: sp.Expr) -> sp.Expr:
    """The expression in the names that the user types."""
    bases = {family: sp.IndexedBase(name, real=True) for name, family in layer.families.items()}
    renamed = substitute(expr, {family: (lambda k, b=base: b[k]) for family, base in bases.items()})
    return renamed.xreplace({eps: sp.Symbol("eps", nonnegative=True)})
