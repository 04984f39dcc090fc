"""A normalizer S = psi(mean phi(r)) + eps, read from two formulas, or refused with the reason.

`Normalizer` holds what was read; `read` also decides whether S is positive, as `theory.analysis.positivity` describes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from theory.analysis.general import CHANNELS, PHASORS, General, Phi, PhiPrime, Psi, PsiPrime
from theory.analysis.interpret import interpret
from theory.analysis.layers import FUNCTIONS
from theory.analysis.positivity import FormulaError, Sign, r, range_symbol, settle
from theory.analysis.scopes import symbolic_function, symbolic_power
from theory.expressions import MOST_DIGITS, parse
from theory.syntax import ExpressionError, Node, Vocabulary

RESERVED = {"r", "m", "eps", "S", "P", "N", "Omega", "sum", *FUNCTIONS}
OUTSIDE, INSIDE = "outside", "inside"
MOST_PARAMETERS = 4


class ArgumentError(ValueError):
    """An argument that is not accepted: its name, what was given, and what is accepted."""

    def __init__(self, argument: str, given: object, accepted: str) -> None:
        super().__init__(f"{argument}: got {given!r}, accepts {accepted}")
        self.argument, self.given, self.accepted = argument, given, accepted


@dataclass(frozen=True)
class Normalizer:
    """phi as an expression in `r`, psi in `m` (an assumption about its sign included), and how eps enters.

    `trees` are the formulas as read; `positive` says whether S > 0 is proved or only assumed; `parameters` are the
    declared names that have no value.
    """

    phi: sp.Expr
    psi: sp.Expr
    m: sp.Symbol
    over: str
    inside: bool
    parameters: tuple[sp.Symbol, ...]
    trees: tuple[Node, Node]
    positive: bool

    @property
    def dphi(self) -> sp.Expr:
        """phi'(r)."""
        return self.phi.diff(r)

    @property
    def dpsi(self) -> sp.Expr:
        """psi'(m)."""
        return self.psi.diff(self.m)

    @property
    def general(self) -> General:
        """The general normalizer that this one is an instance of."""
        return General(self.over, self.inside)

    @property
    def functions(self) -> dict[type, sp.Lambda]:
        """What to put for the unknown functions of the general normalizer."""
        return {
            Phi: sp.Lambda(r, self.phi),
            PhiPrime: sp.Lambda(r, self.dphi),
            Psi: sp.Lambda(self.m, self.psi),
            PsiPrime: sp.Lambda(self.m, self.dpsi),
        }


def read(
    phi: str, psi: str, over: str = PHASORS, eps: str = OUTSIDE, parameters: Iterable[str] | Mapping[str, Any] = ()
) -> Normalizer:
    """The normalizer of two formulas.

    Raises:
        FormulaError: phi or psi is not a formula in its variable, or makes S vanish, negative or complex.
        ArgumentError: another argument is not accepted.
    """
    if over not in (PHASORS, CHANNELS):
        raise ArgumentError("over", over, f"{PHASORS} or {CHANNELS}")
    if eps not in (OUTSIDE, INSIDE):
        raise ArgumentError("eps", eps, f"{OUTSIDE} or {INSIDE}")
    values = declared(parameters)
    symbols = {name: sp.Symbol(name, positive=True) for name, value in values.items() if value is None}
    known = {name: sp.Rational(v.numerator, v.denominator) for name, v in values.items() if v is not None}
    inner, tree = _read("phi", phi, {"r": r, **symbols, **known})
    m = range_symbol(inner)
    outer, outer_tree = _read("psi", psi, {"m": m, **symbols, **known})
    for which, formula, expr, variable in (("phi", phi, inner, r), ("psi", psi, outer, m)):
        if variable not in expr.free_symbols:
            raise FormulaError(which, formula, "S would not depend on the input")
    sign = settle((phi, psi), (tree, outer_tree), (inner, outer), m, values)
    return Normalizer(
        inner, outer, m, over, eps == INSIDE, tuple(symbols.values()), (tree, outer_tree), sign is Sign.POSITIVE
    )


def declared(parameters: Iterable[str] | Mapping[str, Any]) -> dict[str, Fraction | None]:
    """The parameters by name, each with its value or None.

    Raises:
        ArgumentError: a name is taken or no name, or a value is not a positive rational number of ordinary size.
    """
    given = dict(parameters) if isinstance(parameters, Mapping) else dict.fromkeys(parameters)
    if len(given) > MOST_PARAMETERS:
        raise ArgumentError("parameters", f"{len(given)} names", f"at most {MOST_PARAMETERS}")
    values: dict[str, Fraction | None] = {}
    for name, value in given.items():
        if not re.fullmatch("[A-Za-z_][A-Za-z_0-9]{0,19}", name) or name in RESERVED:
            raise ArgumentError("parameters", name[:60], f"a name other than {', '.join(sorted(RESERVED))}")
        values[name] = None if value is None else _value(name, str(value).strip())
    return values


def _value(name: str, text: str) -> Fraction:
    short = re.fullmatch(rf"[0-9.]{{1,{MOST_DIGITS}}}(/[0-9]{{1,{MOST_DIGITS}}})?", text)
    try:
        value = Fraction(text) if short else Fraction(0)
    except (ValueError, ZeroDivisionError):
        value = Fraction(0)
    if value <= 0:
        raise ArgumentError("parameters", f"{name}={text[:60]}", f"a positive number such as {name}=3/2")
    return value


def _read(which: str, formula: str, names: dict[str, sp.Expr]) -> tuple[sp.Expr, Node]:
    try:
        node = parse(formula, Vocabulary(frozenset(names), functions=FUNCTIONS))
        expr = interpret(node, _Symbolic(names), {})
    except ExpressionError as error:
        raise FormulaError(which, formula, error.message, error.position) from error
    if expr.has(sp.I, sp.zoo, sp.nan, sp.oo):
        raise FormulaError(which, formula, "it is not real")
    return expr, node


@dataclass(frozen=True)
class _Symbolic:
    """Formulas of plain symbols."""

    names: Mapping[str, sp.Expr]
    probe: Any = None

    def number(self, value: Fraction) -> sp.Expr:
        return sp.Rational(value.numerator, value.denominator)

    def name(self, name: str) -> sp.Expr:
        return self.names[name]

    def entry(self, name: str, index: Any) -> sp.Expr:
        raise TypeError(f"{name} has no index")

    def function(self, name: str, arguments: list[sp.Expr]) -> sp.Expr:
        return symbolic_function(name, arguments)

    def power(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        return symbolic_power(base, exponent)

    def delta(self, first: Any, second: Any) -> sp.Expr:
        raise TypeError("there are no indices")

    def total(self, body: Callable[[Any], sp.Expr]) -> sp.Expr:
        raise TypeError("there are no sums")
