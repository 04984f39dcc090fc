"""How likely a false identity is to pass: a rigorous bound on degrees, and the lemma of Schwartz and Zippel.

The difference of the two sides is a rational function of the integers drawn, and of roots of such functions. `bound`
gives n, d such that it can be written as a numerator of degree at most n over a denominator of degree at most d:

    sum      (max(n1 + d2, n2 + d1), d1 + d2)          product   (n1 + n2, d1 + d2)          1/f   (d, n)
    root     (n d^(q-1))^(1/q) / d, of weight ((n + (q-1) d)/q, d)        sum of m like terms   (n + (m-1) d, m d)

Each root is a letter of that weight with t^q known. If the difference is not zero, the product of its numerator with
all its conjugates (t replaced by the other roots, q for each letter) is a polynomial in the integers drawn alone, not
zero either, of degree at most n times the number of conjugates. It vanishes wherever the difference does, hence

    P(a false identity holds at a sample) <= degree / 2^bits,    degree = n * conjugates,

if the integers are drawn from 2^bits of them. Logarithms count as letters without a relation: an identity between
functions holds for their coefficients. Two roots that differ by a sign only, such as |a| and a, are conjugates: which
of them is meant is decided by the signs at the sample, so the bound is that for the signs drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from theory.phasors import MAGNITUDES
from theory.routes.exact.nodes import Node
from theory.routes.exact.numbers import Unknown
from theory.routes.exact.samples import Inputs

Degree = tuple[int, int]


@dataclass(frozen=True)
class Size:
    """The degree of a cleared difference: `numerator` times 2^`doublings` at most, for all its conjugates."""

    numerator: int
    doublings: int

    def bits(self, exponent: int) -> int:
        """How many bits to draw from, for a chance of at most 2^-exponent."""
        return exponent + self.doublings + max(self.numerator, 1).bit_length()


class Degrees:
    """Degree bounds of nodes for one length and one value of the exponents."""

    def __init__(self, inputs: Inputs, length: int, exponent: Fraction, free: frozenset) -> None:
        self.inputs, self.length, self.exponent, self.free = inputs, length, exponent, free
        self.known: dict[Node, Degree] = {}
        self.roots: dict[tuple[Node, int], int] = {}

    def __call__(self, node: Node) -> Degree:
        """(n, d) of a node."""
        if node not in self.known:
            self.known[node] = self._degree(node)
        return self.known[node]

    def size(self, node: Node) -> Size:
        """The degree of a node's numerator, and how many conjugates it has."""
        numerator, _ = self(node)
        return Size(numerator, sum(self.roots.values()))

    def _degree(self, node: Node) -> Degree:
        match node.kind:
            case "number" | "delta":
                return 0, 0
            case "symbol":
                fixed = node.data in self.inputs.lengths or node.data in self.inputs.exponents
                return int(not fixed), 0
            case "entry":
                return self.inputs.weight(node.data[0]), 0
            case "add":
                return _sum([self(part) for part in node.parts])
            case "mul":
                degrees = [self(part) for part in node.parts]
                return sum(n for n, _ in degrees), sum(d for _, d in degrees)
            case "total":
                n, d = self(node.parts[0])
                return n + (self.length - 1) * d, self.length * d
            case "power":
                return self._power(node.parts[0], self._constant(node.parts[1]))
            case "cos" | "sin":
                return self._angle(node.parts[0])
            case "log":
                self(node.parts[0])
                return 0, 0
        raise Unknown(f"the degree of {node.kind}")

    def _power(self, base: Node, value: Fraction) -> Degree:
        """base^value; the root of a product is the product of the roots, and that of a power a power."""
        if base.kind == "number":
            return 0, 0
        if base.kind == "power":
            return self._power(base.parts[0], value * self._constant(base.parts[1]))
        if base.kind == "mul":
            degrees = [self._power(part, value) for part in base.parts]
            return sum(n for n, _ in degrees), sum(d for _, d in degrees)
        n, d = self(base)
        if value < 0:
            n, d, value = d, n, -value
        if value.denominator != 1:
            q = value.denominator
            if not self._square_entry(base, q):
                copies = self.length ** len(base.indices - self.free)
                self.roots[base, q] = (q - 1).bit_length() * copies
            n = -(-(n + (q - 1) * d) // q)
        return n * value.numerator, d * value.numerator

    def _square_entry(self, base: Node, degree: int) -> bool:
        """Whether the base is a magnitude that is drawn as a square."""
        drawn_square = bool(self.inputs.exponents) and base.kind == "entry" and base.data[0] in MAGNITUDES
        return drawn_square and degree == 2

    def _constant(self, node: Node) -> Fraction:
        """The value of an exponent: numbers, and symbols that occur in exponents only."""
        match node.kind:
            case "number":
                return node.data
            case "symbol" if node.data in self.inputs.exponents:
                value = self.exponent
                return Fraction(-(-value.numerator // value.denominator)) if node.data.is_integer else value
            case "symbol" if node.data in self.inputs.lengths:
                return Fraction(self.length)
            case "add":
                return sum((self._constant(part) for part in node.parts), Fraction(0))
            case "mul":
                product = Fraction(1)
                for part in node.parts:
                    product *= self._constant(part)
                return product
            case "power":
                value = self._constant(node.parts[0]) ** self._constant(node.parts[1])
                if isinstance(value, Fraction):
                    return value
        raise Unknown("an exponent that is not rational")

    def _angle(self, node: Node) -> Degree:
        match node.kind:
            case "entry" | "symbol":
                return 2, 2
            case "add":
                degrees = [self._angle(part) for part in node.parts]
                return sum(n for n, _ in degrees), sum(d for _, d in degrees)
            case "mul" if node.parts[0].kind == "number":
                n, d = self._angle(node.parts[1])
                return n * abs(node.parts[0].data.numerator), d * abs(node.parts[0].data.numerator)
        return 0, 0


def _sum(degrees: list[Degree]) -> Degree:
    n, d = degrees[0]
    for other, below in degrees[1:]:
        n, d = max(n + below, other + d), d + below
    return n, d
