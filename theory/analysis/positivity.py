"""Whether S = psi(mean phi(r)) is positive for every input that is not zero.

| outcome | how |
|---|---|
| refused | at a point that is named, phi or psi is not real, or S is negative or zero |
| positive | the signs of the parts show it, or phi (psi) starts at a value >= 0 and increases |
| assumed | neither: the analysis says so |

Points are tried in complex floating point over fifteen decades, with one magnitude and with two, and with several
values of the parameters; zero is only believed where exact arithmetic gives it, or where a polynomial is shown to have
a positive root by Sturm's theorem.
"""

from __future__ import annotations

import cmath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import sympy as sp

from theory.analysis.floats import evaluate
from theory.analysis.interpret import interpret
from theory.exact import Irrational, rational_sqrt
from theory.syntax import Node

_DECADES = [Fraction(2) ** n for n in range(-24, 27, 3)]
_NEARBY = [Fraction(n, 6) for n in range(1, 25)] + [Fraction(n) for n in (5, 6, 7, 10, 20)]
_GRID = sorted(
    {*_DECADES, *_NEARBY}, key=lambda value: (value.numerator + value.denominator, value)
)  # simple ones first
_COARSE = sorted((Fraction(2) ** n for n in range(-12, 15, 3)), key=lambda value: value.numerator + value.denominator)
_SAMPLES = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3))
_MARGIN = 1e-9
_LARGEST_DEGREE = 16


r = sp.Symbol("r", positive=True)  # derivatives in a magnitude are taken where it is not zero


class FormulaError(ValueError):
    """phi or psi cannot be used: `which` of them, the formula, the reason, and its position if it has one."""

    def __init__(self, which: str, formula: str, reason: str, position: int | None = None) -> None:
        where = f" (at character {position})" if position is not None else ""
        super().__init__(f"{which} = {formula!r}: {reason}{where}")
        self.which, self.formula, self.reason, self.position = which, formula, reason, position


class Sign(Enum):
    """What is known about S for an input that is not zero."""

    POSITIVE = "positive"
    ASSUMED = "assumed"


def range_symbol(phi: sp.Expr) -> sp.Symbol:
    """m, with what phi says about its sign."""
    if phi.is_positive or _rises(phi, r):
        return sp.Symbol("m", positive=True)
    return sp.Symbol("m", nonnegative=True) if phi.is_nonnegative else sp.Symbol("m", real=True)


def settle(
    formulas: tuple[str, str],
    trees: tuple[Node, Node],
    expressions: tuple[sp.Expr, sp.Expr],
    m: sp.Symbol,
    parameters: Mapping[str, Fraction | None],
) -> Sign:
    """The sign of S.

    Raises:
        FormulaError: S is not positive at a point.
    """
    for values in _parameter_values(parameters):
        _refuse_point(formulas, trees, values)
    _refuse_root(formulas, trees, expressions[0], parameters)
    psi = expressions[1]
    if m.is_positive or not m.is_nonnegative:
        return Sign.POSITIVE if psi.is_positive or _rises(psi, m) else Sign.ASSUMED
    return Sign.POSITIVE if psi.is_positive else Sign.ASSUMED


def _rises(expr: sp.Expr, variable: sp.Symbol) -> bool:
    """Whether expr > 0 for variable > 0, because it starts at a value >= 0 and its derivative is positive."""
    start = at_zero(expr, variable) if variable.is_positive else None
    return bool(start is not None and start.is_nonnegative and expr.diff(variable).is_positive)


def at_zero(expr: sp.Expr, variable: sp.Symbol) -> sp.Expr | None:
    """The value at 0, None where there is none or it is too large to write down."""
    symbols = dict.fromkeys(expr.free_symbols, 1.0) | {variable: 0.0}
    try:
        finite = cmath.isfinite(complex(evaluate(expr, symbols)))
        value = expr.xreplace({variable: sp.Integer(0)}) if finite else None
    except (TypeError, ValueError):  # SymPy's Max and Min refuse what is not real
        return None
    return value if value is not None and value.is_finite else None


def _parameter_values(parameters: Mapping[str, Fraction | None]) -> Iterator[dict[str, Fraction]]:
    free = [name for name, value in parameters.items() if value is None]
    known = {name: value for name, value in parameters.items() if value is not None}
    for values in product(_SAMPLES, repeat=min(len(free), 2)):
        chosen = dict(zip(free, values, strict=False))
        yield {**known, **dict.fromkeys(free, Fraction(1)), **chosen}


def _refuse_point(formulas: tuple[str, str], trees: tuple[Node, Node], values: dict[str, Fraction]) -> None:
    given = "".join(f", {name} = {value}" for name, value in values.items())
    means: list[tuple[str, complex]] = []
    for magnitude in _GRID:
        where = f"at r = {magnitude}{given}"
        value = _complex(trees[0], {"r": magnitude, **values})
        if value is not None and abs(value.imag) > _MARGIN * abs(value):
            raise FormulaError("phi", formulas[0], f"{where} it is not real")
        if value is not None:
            means.append((f"with every magnitude {magnitude}{given}", value.real))
    pairs = [
        (a, b, _complex(trees[0], {"r": a, **values}), _complex(trees[0], {"r": b, **values})) for a, b in _pairs()
    ]
    means += [
        (f"with the magnitudes {a} and {b}{given}", (first.real + second.real) / 2)
        for a, b, first, second in pairs
        if first is not None and second is not None
    ]
    for where, mean in means:
        value = _complex(trees[1], {"m": mean, **values})
        if value is None:
            continue
        if abs(value.imag) > _MARGIN * abs(value):
            raise FormulaError("psi", formulas[1], f"{where}, m = {mean:.6g} and S is not real")
        if value.real < -_MARGIN * (1 + abs(mean)):
            raise FormulaError(
                "psi", formulas[1], f"{where}, m = {mean:.6g} and S = {value.real:.6g} + eps is negative"
            )
    for magnitude in _GRID:
        mean = _exact(trees[0], {"r": magnitude, **values})
        if mean is not None and _exact(trees[1], {"m": mean, **values}) == 0:
            raise FormulaError("phi", formulas[0], f"with every magnitude {magnitude}{given}, S vanishes (m = {mean})")


def _refuse_root(
    formulas: tuple[str, str], trees: tuple[Node, Node], phi: sp.Expr, parameters: Mapping[str, Fraction | None]
) -> None:
    """A polynomial phi with a positive root makes S vanish there if psi(0) = 0."""
    known = {name: value for name, value in parameters.items() if value is not None}
    if (
        len(known) < len(parameters)
        or phi.free_symbols != {r}
        or _exact(trees[1], {"m": Fraction(0), **known}) != 0
        or not phi.is_polynomial(r)
    ):
        return
    polynomial = sp.Poly(phi, r, domain=sp.QQ) if all(c.is_Rational for c in sp.Poly(phi, r).coeffs()) else None
    if polynomial is None or polynomial.degree() > _LARGEST_DEGREE:
        return
    while polynomial.eval(0) == 0:
        polynomial = polynomial.quo(sp.Poly(r, r, domain=sp.QQ))
    if polynomial.count_roots(0, None):
        raise FormulaError("phi", formulas[0], "it has a positive root, and S vanishes if every magnitude is that root")


def _pairs() -> Iterator[tuple[Fraction, Fraction]]:
    return ((a, b) for a, b in combinations(_COARSE, 2))


def _complex(tree: Node, names: Mapping[str, Any]) -> complex | None:
    try:
        value = complex(interpret(tree, _Complex(names), {}))
    except (ArithmeticError, ValueError, TypeError):
        return None
    return value if cmath.isfinite(value) else None


def _exact(tree: Node, names: Mapping[str, Fraction]) -> Fraction | None:
    try:
        return interpret(tree, _Exact(names), {})
    except (ArithmeticError, Irrational):
        return None


@dataclass(frozen=True)
class _Complex:
    """Formulas in complex floating point."""

    names: Mapping[str, Any]
    probe: Any = None

    def number(self, value: Fraction) -> complex:
        return complex(value)

    def name(self, name: str) -> complex:
        return complex(self.names[name])

    def function(self, name: str, arguments: list[complex]) -> complex:
        if name in ("Min", "Max"):
            return complex((min if name == "Min" else max)(value.real for value in arguments))
        return {"sqrt": cmath.sqrt, "log": cmath.log, "exp": cmath.exp, "Abs": abs}[name](arguments[0])

    def power(self, base: complex, exponent: complex) -> complex:
        return base**exponent


@dataclass(frozen=True)
class _Exact:
    """Formulas in rational numbers of moderate size; `Irrational` for anything else."""

    names: Mapping[str, Fraction]
    probe: Any = None

    def number(self, value: Fraction) -> Fraction:
        return value

    def name(self, name: str) -> Fraction:
        return self.names[name]

    def function(self, name: str, arguments: list[Fraction]) -> Fraction:
        if name == "sqrt":
            return rational_sqrt(arguments[0])
        if name == "log" and arguments[0] == 1:
            return Fraction(0)
        if name == "exp" and arguments[0] == 0:
            return Fraction(1)
        if name in ("log", "exp"):
            raise Irrational(name)
        return {"Abs": abs, "Min": min, "Max": max}[name](*arguments)

    def power(self, base: Fraction, exponent: Fraction) -> Fraction:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if abs(exponent) * bits > 10_000:
            raise Irrational("a power that is too long")
        if exponent.denominator == 2:
            base, exponent = rational_sqrt(base), exponent * 2
        if exponent.denominator != 1:
            raise Irrational("a power that is not rational")
        return base ** int(exponent)
