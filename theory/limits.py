"""How large a formula may grow when it is computed: refuses those built to exhaust time or memory.

Nothing is computed to find out. For each part of the tree three sizes are bounded from above: the bits of an exact
constant, the magnitude of any other constant, and the number of monomials of the numerator and the denominator that
the part would have when multiplied out, with their degree. `9**9**9**9`, `exp(exp(exp(9)))` and
`(x[i] + y[i])**60 / (x[i] - y[i])**60` are each stopped by one of them.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from fractions import Fraction

from theory.syntax import Add, Call, Entry, ExpressionError, Mul, Name, Node, Number, Power, Total

MOST_BITS = 512
LARGEST, SMALLEST = 1e60, 1e-60
LARGEST_EXPONENT = 64
MOST_MONOMIALS = 2000
HIGHEST_DEGREE = 64
MOST_NODES = 600
MOST_SUMS = 3

_FUNCTIONS = {"sqrt": cmath.sqrt, "log": cmath.log, "exp": cmath.exp, "Abs": abs}
_REAL_FUNCTIONS = {"Max": max, "Min": min}


@dataclass(frozen=True)
class _Size:
    """What a part amounts to; `exact` and `about` are its value where it is a constant."""

    numerator: int = 1
    denominators: frozenset[tuple[Node, int]] = frozenset()
    degree: int = 0
    exact: Fraction | None = None
    about: complex | None = None
    nodes: int = 1
    sums: int = 0

    @property
    def denominator(self) -> int:
        return math.prod(monomials for _, monomials in self.denominators)


def check_size(node: Node) -> None:
    """Nothing, if the formula is small enough.

    Raises:
        ExpressionError: a part of it would be too large, or divides by zero.
    """
    _size(node)


def _size(node: Node) -> _Size:
    if isinstance(node, Number):
        return _constant(node, node.value, complex(node.value), 1)
    if isinstance(node, Name | Entry):
        return _Size(degree=1)
    if isinstance(node, Add):
        return _add(node)
    if isinstance(node, Mul):
        return _mul(node)
    if isinstance(node, Power):
        return _power(node)
    if isinstance(node, Total):
        body = _size(node.body)
        if body.sums + 1 > MOST_SUMS:
            raise ExpressionError(f"sums are nested at most {MOST_SUMS} deep", node.at)
        inner = _Size(body.numerator, body.denominators, max(body.degree, 1), nodes=body.nodes, sums=body.sums)
        return _checked(node, inner, sums=inner.sums + 1)
    if isinstance(node, Call):
        return _call(node)
    raise TypeError(f"not a node: {node!r}")


def _add(node: Add) -> _Size:
    sizes = [_size(term) for _, term in node.terms]
    common = frozenset().union(*(size.denominators for size in sizes))
    whole = math.prod(monomials for _, monomials in common)
    signs = [-1 if negative else 1 for negative, _ in node.terms]
    joined = _join(
        sizes,
        sum(size.numerator * (whole // size.denominator) for size in sizes),
        common,
        max(size.degree for size in sizes),
    )
    return _folded(
        node,
        joined,
        sizes,
        lambda values: sum(sign * value for sign, value in zip(signs, values, strict=True)),
    )


def _mul(node: Mul) -> _Size:
    sizes = [_size(factor) for _, factor in node.factors]
    numerator, denominators = 1, frozenset()
    for (inverse, factor), size in zip(node.factors, sizes, strict=True):
        if inverse and size.about == 0:
            raise ExpressionError("division by zero", factor.at)
        numerator *= size.denominator if inverse else size.numerator
        denominators |= {(factor, size.numerator)} if inverse else size.denominators
    joined = _join(sizes, numerator, denominators, sum(size.degree for size in sizes))
    inverses = [inverse for inverse, _ in node.factors]

    def product(values: list) -> object:
        result = Fraction(1)
        for inverse, value in zip(inverses, values, strict=True):
            result = result / value if inverse else result * value
        return result

    return _folded(node, joined, sizes, product)


def _power(node: Power) -> _Size:
    base, exponent = _size(node.base), _size(node.exponent)
    nodes, sums = base.nodes + exponent.nodes, max(base.sums, exponent.sums)
    if exponent.about is None:
        return _checked(node, _Size(degree=1, nodes=nodes, sums=sums))
    power = exponent.exact
    if power is None:
        if abs(exponent.about) > LARGEST_EXPONENT:
            raise ExpressionError(f"an exponent is at most {LARGEST_EXPONENT} in magnitude", node.exponent.at)
        about = None if base.about is None else _about(node, lambda: base.about**exponent.about)
        return _checked(node, _Size(degree=1, about=about, nodes=nodes, sums=sums))
    if abs(power) > LARGEST_EXPONENT or power.denominator > LARGEST_EXPONENT:
        accepted = f"at most {LARGEST_EXPONENT} in magnitude, and so is its denominator"
        raise ExpressionError(f"an exponent is {accepted}", node.exponent.at)
    if base.about == 0 and power < 0:
        raise ExpressionError("division by zero", node.at)
    exact = about = None
    if base.about is not None:
        if base.exact is not None and power.denominator == 1:
            _limit_bits(node, base.exact, abs(int(power)))
            exact = base.exact ** int(power)
        about = _about(node, lambda: base.about ** float(power))
    if power.denominator != 1:
        degree = max(1, math.ceil(base.degree * abs(power)))
        return _checked(node, _Size(degree=degree, about=about, nodes=nodes, sums=sums))
    times = abs(int(power))
    top, bottom = (math.comb(count + times - 1, times) if count else 1 for count in (base.numerator, base.denominator))
    if power < 0:
        top, bottom = bottom, top
    below = frozenset({(node, bottom)}) if bottom > 1 or power < 0 else frozenset()
    return _checked(node, _Size(top, below, base.degree * times, exact, about, nodes, sums))


def _call(node: Call) -> _Size:
    if node.function == "delta":
        return _Size()
    sizes = [_size(argument) for argument in node.arguments]
    nodes, sums = sum(size.nodes for size in sizes), max(size.sums for size in sizes)
    about = None
    if all(size.about is not None for size in sizes) and node.function in (*_FUNCTIONS, *_REAL_FUNCTIONS):
        values = [size.about for size in sizes]
        if node.function == "log" and values[0] == 0:
            raise ExpressionError("the logarithm of 0", node.at)
        if node.function in _REAL_FUNCTIONS:
            about = _about(node, lambda: _REAL_FUNCTIONS[node.function](value.real for value in values))
        else:
            about = _about(node, lambda: _FUNCTIONS[node.function](*values))
    if node.function in ("dot", "outer"):
        product = math.prod(size.numerator for size in sizes)
        common = frozenset().union(*(size.denominators for size in sizes))
        return _checked(node, _Size(2 * product, common, sum(size.degree for size in sizes), nodes=nodes, sums=sums))
    return _checked(node, _Size(degree=max(1, *(size.degree for size in sizes)), about=about, nodes=nodes, sums=sums))


def _join(sizes: list[_Size], numerator: int, denominators: frozenset, degree: int) -> _Size:
    nodes, sums = 1 + sum(size.nodes for size in sizes), max(size.sums for size in sizes)
    return _Size(numerator, denominators, degree, nodes=nodes, sums=sums)


def _folded(node: Node, joined: _Size, sizes: list[_Size], fold: object) -> _Size:
    """The size with the value of the constant, where every part is one."""
    if all(size.about is not None for size in sizes):
        if all(size.exact is not None for size in sizes):
            exact = fold([size.exact for size in sizes])
            return _constant(node, exact, complex(float(exact)), joined.nodes)
        about = _about(node, lambda: fold([complex(size.about) for size in sizes]))
        return _checked(node, _Size(1, frozenset(), 0, None, about, joined.nodes, joined.sums))
    return _checked(node, joined)


def _constant(node: Node, exact: Fraction, about: complex, nodes: int) -> _Size:
    _limit_bits(node, exact, 1)
    return _checked(node, _Size(exact=exact, about=about, nodes=nodes))


def _limit_bits(node: Node, value: Fraction, times: int) -> None:
    if times * max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise ExpressionError(f"a number of more than {MOST_BITS} bits", node.at)


def _about(node: Node, compute: object) -> complex:
    try:
        value = complex(compute())
    except (OverflowError, ZeroDivisionError, ValueError) as error:
        raise ExpressionError("a constant that is too large or has no value", node.at) from error
    underflow = value == 0 and isinstance(node, Call) and node.function == "exp"
    if not cmath.isfinite(value) or abs(value) > LARGEST or 0 < abs(value) < SMALLEST or underflow:
        raise ExpressionError("a constant that is too large or too small", node.at)
    return value


def _checked(node: Node, size: _Size, sums: int | None = None) -> _Size:
    if max(size.numerator, size.denominator) > MOST_MONOMIALS or size.degree > HIGHEST_DEGREE:
        limits = f"{MOST_MONOMIALS} monomials of degree {HIGHEST_DEGREE}"
        raise ExpressionError(f"multiplied out, this part has more than {limits}", node.at)
    if size.nodes > MOST_NODES:
        raise ExpressionError(f"more than {MOST_NODES} numbers, names and operations", node.at)
    if sums is None:
        return size
    return _Size(size.numerator, size.denominators, size.degree, size.exact, size.about, size.nodes, sums)
