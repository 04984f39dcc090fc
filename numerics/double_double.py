"""Double-double arithmetic: the truth that errors in fp64 are measured against, batched.

A number is an unevaluated sum hi + lo of two fp64 numbers, |lo| <= ulp(hi)/2. Every operation below is accurate to a
small multiple of 2^-104 of its result, as long as no part over- or underflows (Joldes, Muller and Popescu, Tight and
rigorous error bounds for basic building blocks of double-word arithmetic, 2017): 2^50 times finer than fp64, so that a
few thousand roundings here do not show in an error of one rounding there.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

SPLITTER = 2.0**27 + 1  # Dekker's, for products without a fused multiply-add
LN2 = (0.6931471805599453, 2.3190468138462996e-17)  # log 2 as such a sum
HALVINGS, TERMS = 9, 10  # of the argument of exp, and of its Taylor series: 0.35 / 2^9 to the 11th over 11! < 2^-140


def _two_sum(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """a + b rounded, and what rounding lost, exactly."""
    s = a + b
    other = s - a
    return s, (a - (s - other)) + (b - other)


def _fast_two_sum(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The same for |a| >= |b|."""
    s = a + b
    return s, b - (s - a)


def _split(a: Tensor) -> tuple[Tensor, Tensor]:
    c = SPLITTER * a
    high = c - (c - a)
    return high, a - high


def _two_product(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The product rounded, and what rounding lost, exactly."""
    p = a * b
    (a_high, a_low), (b_high, b_low) = _split(a), _split(b)
    return p, ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low


@dataclass(frozen=True)
class DoubleDouble:
    """hi + lo, two fp64 tensors of one shape; operands may also be fp64 tensors or numbers, which are exact."""

    hi: Tensor
    lo: Tensor

    def __add__(self, other: DoubleDouble | Tensor | float) -> DoubleDouble:
        """The sum, accurate under cancellation too."""
        other = exact(other, self.hi)
        s, s_lost = _two_sum(self.hi, other.hi)
        t, t_lost = _two_sum(self.lo, other.lo)
        s, s_lost = _fast_two_sum(s, s_lost + t)
        return DoubleDouble(*_fast_two_sum(s, s_lost + t_lost))

    def __neg__(self) -> DoubleDouble:
        """The negative."""
        return DoubleDouble(-self.hi, -self.lo)

    def __sub__(self, other: DoubleDouble | Tensor | float) -> DoubleDouble:
        """The difference."""
        return self + -exact(other, self.hi)

    def __mul__(self, other: DoubleDouble | Tensor | float) -> DoubleDouble:
        """The product."""
        other = exact(other, self.hi)
        p, lost = _two_product(self.hi, other.hi)
        return DoubleDouble(*_fast_two_sum(p, lost + (self.hi * other.lo + self.lo * other.hi)))

    def __truediv__(self, other: DoubleDouble | Tensor | float) -> DoubleDouble:
        """The quotient: that of fp64, then one step of Newton's method."""
        other = exact(other, self.hi)
        first = self.hi / other.hi
        rest = self - other * first
        return DoubleDouble(*_fast_two_sum(first, rest.double() / other.hi))

    def sqrt(self) -> DoubleDouble:
        """The square root, 0 at 0."""
        first = self.hi.sqrt()
        rest = self - DoubleDouble(*_two_product(first, first))
        step = torch.where(first == 0, torch.zeros_like(first), rest.double() / (2 * first))
        return DoubleDouble(*_fast_two_sum(first, step))

    def sum(self) -> DoubleDouble:
        """The sum over the last axis, by halves."""
        total = self
        while (terms := total.hi.shape[-1]) > 1:
            half = terms // 2
            rest = total[..., 2 * half :]
            total = total[..., :half] + total[..., half : 2 * half]
            if terms % 2:
                total = DoubleDouble(torch.cat((total.hi, rest.hi), -1), torch.cat((total.lo, rest.lo), -1))
        return total[..., 0]

    def log(self) -> DoubleDouble:
        """The natural logarithm: y + (x e^-y - 1), with y that of fp64, to second order."""
        first = DoubleDouble(self.hi.log(), torch.zeros_like(self.hi))
        off = self * (-first).exp() - 1.0
        return first + (off - off * off * 0.5)

    def exp(self) -> DoubleDouble:
        """The exponential, of arguments of at most a few hundred."""
        power = (self.hi / LN2[0]).round()
        ln2 = DoubleDouble(torch.full_like(self.hi, LN2[0]), torch.full_like(self.hi, LN2[1]))
        small = (self - ln2 * power) * 2.0**-HALVINGS
        series = small * 0.0 + 1.0
        for term in range(TERMS, 1, -1):  # (e^x - 1) / x by Horner's scheme
            series = series * small / float(term) + 1.0
        grown = series * small
        for _ in range(HALVINGS):
            grown = grown * 2.0 + grown * grown  # (1 + p)^2 - 1
        return (grown + 1.0) * 2.0**power

    def double(self) -> Tensor:
        """The nearest fp64 number."""
        return self.hi + self.lo

    def distance(self, measured: Tensor) -> Tensor:
        """|measured - this|, rounded to fp64; shapes broadcast."""
        return ((measured.double() - self.hi) - self.lo).abs()

    def __getitem__(self, place: object) -> DoubleDouble:
        """A part, indexed as a tensor."""
        return DoubleDouble(self.hi[place], self.lo[place])


def exact(value: DoubleDouble | Tensor | float, like: Tensor | None = None) -> DoubleDouble:
    """A number or an fp64 tensor as it is; a plain number takes shape and device from `like`."""
    if isinstance(value, DoubleDouble):
        return value
    if not isinstance(value, Tensor):
        value = torch.full_like(like, value)
    return DoubleDouble(value, torch.zeros_like(value))
