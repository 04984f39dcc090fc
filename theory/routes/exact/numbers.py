"""Numbers: rationals, and polynomials over them in the roots and logarithms that one point needs.

The root of a rational number that is no perfect power becomes a letter t with t^n = a, the logarithm of one a letter of
its own; a value is then a polynomial in these letters with rational coefficients (`Mixed`). If all coefficients are
zero, so is the number: replacing each letter by what it stands for is a ring homomorphism into the reals. If they are
not, the number is enclosed between rationals ever closer, and counts as non-zero only where zero is excluded. Nothing
is rounded, and no floating point number occurs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product

from theory.routes.exact.enclosures import Bounds, log_bounds, perfect_root, root_bounds, times

PRECISIONS = (128, 512, 2048)  # bits, for the sign of what is not rational
SMALL = (1, -1, 2, -2)


class Unknown(ValueError):
    """A value that this route has no means to compute."""


@dataclass
class Letter:
    """t > 0 with t^degree = value; without a degree, the logarithm of the value."""

    degree: int | None
    value: Fraction | Mixed


@dataclass
class Field:
    """The letters of one point, in the order in which they were needed."""

    letters: list[Letter] = field(default_factory=list)
    roots: dict[tuple[Fraction, int], object] = field(default_factory=dict)

    def root(self, value: object, degree: int) -> object:
        """The root of a value >= 0."""
        if isinstance(value, Mixed):
            return self._root_of_mixed(value, degree)
        if (value, degree) not in self.roots:
            self.roots[value, degree] = self._root_of_rational(value, degree)
        return self.roots[value, degree]

    def _root_of_rational(self, value: Fraction | int, degree: int) -> object:
        if value < 0:
            raise Unknown("the root of a negative number")
        if (perfect := perfect_root(value, degree)) is not None:
            return perfect
        same = [n for n, letter in enumerate(self.letters) if letter.degree == degree and rational(letter.value)]
        for exponents in product(range(degree), repeat=min(len(same), 3)):
            factor = Fraction(1)
            for n, exponent in zip(same, exponents, strict=False):
                factor *= self.letters[n].value ** exponent
            if (perfect := perfect_root(value * factor, degree)) is not None:
                result: object = perfect  # a product of earlier letters: value * factor is a perfect power
                for n, exponent in zip(same, exponents, strict=False):
                    result = result * inverse(self._letter(n) ** exponent)
                return result
        return self._new(Letter(degree, Fraction(value)))

    def log(self, value: object) -> object:
        """The logarithm of a value > 0; that of a product of earlier arguments is a sum of their letters."""
        if isinstance(value, Mixed):
            ((powers, coefficient),) = _one_term(value)
            result = self.log(coefficient)
            for n, exponent in powers:
                letter = self.letters[n]
                if letter.degree is None:
                    raise Unknown("the logarithm of a logarithm")
                result = result + Fraction(exponent, letter.degree) * self.log(letter.value)
            return result
        if value <= 0:
            raise Unknown("the logarithm of a number that is not positive") if value else ZeroDivisionError
        if value == 1:
            return 0
        known = [n for n, letter in enumerate(self.letters) if letter.degree is None]
        for exponents in product((0, *SMALL), repeat=min(len(known), 3)):
            factor = Fraction(1)
            for n, exponent in zip(known, exponents, strict=False):
                factor *= self.letters[n].value ** exponent
            for power in (1, 2):  # value^power is the product
                if factor != 1 and value**power == factor:
                    pairs = zip(known, exponents, strict=False)
                    return sum((Fraction(exponent, power) * self._letter(n) for n, exponent in pairs), 0)
        return self._new(Letter(None, Fraction(value)))

    def _new(self, letter: Letter) -> Mixed:
        self.letters.append(letter)
        return self._letter(len(self.letters) - 1)

    def _letter(self, n: int) -> Mixed:
        return Mixed(self, {((n, 1),): Fraction(1)})

    def _root_of_mixed(self, value: Mixed, degree: int) -> object:
        if len(value.terms) > 1:
            if value.sign() < 0:
                raise Unknown("the root of a negative number")
            return self._new(Letter(degree, value))
        ((powers, coefficient),) = value.terms.items()
        result = self.root(coefficient, degree)
        for n, exponent in powers:
            letter = self.letters[n]
            if letter.degree is None:
                raise Unknown("the root of a logarithm")
            whole, rest = divmod(exponent, degree)
            result = result * self._letter(n) ** whole
            result = result * self.root(letter.value, letter.degree * degree) ** rest if rest else result
        return result


class Mixed:
    """A polynomial in the letters of a field: {((letter, exponent), ...): coefficient}, no coefficient zero."""

    __slots__ = ("field", "terms")

    def __init__(self, owner: Field, terms: dict) -> None:
        self.field, self.terms = owner, terms

    def __add__(self, other: object) -> object:
        terms = dict(self.terms)
        for powers, coefficient in _terms(other):
            total = terms.get(powers, 0) + coefficient
            if total:
                terms[powers] = total
            else:
                terms.pop(powers, None)
        return _settled(self.field, terms)

    __radd__ = __add__

    def __neg__(self) -> object:
        return self * -1

    def __sub__(self, other: object) -> object:
        return self + -1 * other

    def __rsub__(self, other: object) -> object:
        return other + -1 * self

    def __mul__(self, other: object) -> object:
        if rational(other):
            return _settled(self.field, {p: c * other for p, c in self.terms.items()} if other else {})
        result: object = 0
        for (first, a), (second, b) in product(self.terms.items(), other.terms.items()):
            result = result + self._monomial(first, second) * (a * b)
        return result

    __rmul__ = __mul__

    def _monomial(self, first: tuple, second: tuple) -> object:
        powers, factor = dict(first), Fraction(1)
        for n, exponent in second:
            powers[n] = powers.get(n, 0) + exponent
            degree = self.field.letters[n].degree
            if degree is not None and powers[n] >= degree:
                powers[n] -= degree
                factor = factor * self.field.letters[n].value
        left = tuple(sorted((n, exponent) for n, exponent in powers.items() if exponent))
        return (Mixed(self.field, {left: Fraction(1)}) if left else 1) * factor

    def __pow__(self, exponent: int) -> object:
        result: object = 1
        for _ in range(exponent):
            result = result * self
        return result

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Mixed) and self.terms == other.terms)

    __hash__ = None

    def inverse(self) -> object:
        """1 / self, by the conjugate where the last letter is a square root, by powers where there is one term."""
        last = max(n for powers in self.terms for n, _ in powers)
        letter = self.field.letters[last]
        if letter.degree is None:
            raise Unknown("division by a logarithm")
        if letter.degree == 2:
            flipped = {p: -c if last in dict(p) else c for p, c in self.terms.items()}
            conjugate = Mixed(self.field, flipped)
            return conjugate * inverse(self * conjugate)
        ((powers, coefficient),) = _one_term(self)
        result: object = 1 / coefficient
        for n, exponent in powers:
            letter = self.field.letters[n]
            rest = Mixed(self.field, {((n, letter.degree - exponent),): Fraction(1)})
            result = result * rest * inverse(letter.value)
        return result

    def sign(self) -> int:
        """1 or -1; `Unknown` where no precision excludes zero."""
        for bits in PRECISIONS:
            low, high = enclosure(self, bits)
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
        raise Unknown("whether a number that is not rational is zero")

    def __str__(self) -> str:
        low, high = enclosure(self, PRECISIONS[0])
        return f"between {float(low):.12g} and {float(high):.12g}" if low != high else str(low)


def rational(value: object) -> bool:
    """Whether a value is an `int` or a `Fraction`."""
    return not isinstance(value, Mixed)


def inverse(value: object) -> object:
    """1 / value; `ZeroDivisionError` at zero."""
    return 1 / Fraction(value) if rational(value) else value.inverse()


def sign(value: object) -> int:
    """-1, 0 or 1, exactly; `Unknown` where it cannot be told."""
    return (value > 0) - (value < 0) if rational(value) else value.sign()


def enclosure(value: object, bits: int) -> Bounds:
    """(low, high) around a value, from bounds on its letters."""
    if rational(value):
        return Fraction(value), Fraction(value)
    low = high = Fraction(0)
    for powers, coefficient in value.terms.items():
        bounds = (coefficient, coefficient)
        for n, exponent in powers:
            for _ in range(exponent):
                bounds = times(bounds, _letter_bounds(value.field.letters[n], bits))
        low, high = low + bounds[0], high + bounds[1]
    return low, high


def _letter_bounds(letter: Letter, bits: int) -> Bounds:
    if letter.degree is None:
        return log_bounds(letter.value, bits)
    low, high = enclosure(letter.value, bits)
    if low < 0:
        raise Unknown("the root of what may be negative")
    return root_bounds(low, high, letter.degree, bits)


def _terms(value: object) -> list:
    if isinstance(value, Mixed):
        return list(value.terms.items())
    return [((), Fraction(value))] if value else []


def _settled(owner: Field, terms: dict) -> object:
    if not terms:
        return 0
    if len(terms) == 1 and () in terms:
        return terms[()]
    return Mixed(owner, terms)


def _one_term(value: Mixed) -> list:
    if len(value.terms) != 1:
        raise Unknown("a function of a sum of roots")
    return list(value.terms.items())
