"""ma-p99: does s = 5 make the range of the activations five times as expressive?

Claim: with s = 5 the 99th percentile of the activations rises from 4.1 to 20.6, five-fold, so that the layer can
express more.

Source: introduction; section 2.3, the table; section 3.1.

The five is a tautology: an order statistic, and any interpolation between two of them, is multiplied by s > 0 when
every value is (20.6 / 5 = 4.12 rounds to 4.1). Nothing is gained by it, because gamma absorbs s: the layer with s = 1
and s gamma is the same function, so no output is reached that was not reached before. The 4.1 itself belongs to the
author's data: a standard normal has 2.33, its absolute value 2.58.
"""

from fractions import Fraction

import sympy as sp

from theory.certificate import given, positive, times
from theory.exact import Point
from theory.magnitude_aware import MEAN, R, W, alpha, log_R, output, polar, s, xhat
from theory.phasors import gamma, i, substitute
from theory.statements import Hypothesis, Identity, Inequality

factor = sp.Symbol("s", positive=True)
t, below, above = sp.symbols("t Y_a Y_b", real=True)  # two neighbouring order statistics, and where between them
ORDERED = "Y_a <= Y_b"
STRETCHED = Point(
    {gamma: (Fraction(1), Fraction(2)), W: (Fraction(1), Fraction(-1)), xhat: (Fraction(7, 5), Fraction(1, 5))},
    {alpha: Fraction(1, 10), log_R: Fraction(1)},
)


def derived() -> sp.Expr:
    """y_i with s = 5."""
    return polar(i).xreplace({s: sp.Integer(5)})


def printed() -> sp.Expr:
    """What the claim puts below it: y_i of a layer with s = 1, here the one with 5 gamma for gamma."""
    return substitute(polar(i).xreplace({s: sp.Integer(1)}), {gamma: lambda k: 5 * gamma[k]})


def quantile(low: sp.Expr, high: sp.Expr) -> sp.Expr:
    """The quantile between two neighbouring order statistics, interpolated linearly."""
    return (1 - t) * low + t * high


def corrected() -> sp.Expr:
    """The quantile of s Y."""
    return factor * quantile(below, above)


STATEMENTS = (
    Inequality(
        "as printed",
        "an output of the layer with s = 5 is larger than those of every layer with s = 1",
        lambda: (printed() ** 2, derived() ** 2),
        counterexample=STRETCHED,
        scope="every N",
        strict=True,
        expects="refuted",
    ),
    Identity(
        "corrected",
        "the quantile of s Y is s times the quantile of Y",
        lambda: (quantile(factor * below, factor * above), corrected()),
        scope="every s > 0",
    ),
    Inequality(
        "the order stays",
        "Y_a <= Y_b gives s Y_a <= s Y_b for s > 0, so the order statistics of s Y are those of Y times s",
        lambda: (factor * below, factor * above),
        lambda: times(positive(factor, "s > 0"), given(above - below, ORDERED)),
        hypotheses=(
            Hypothesis(ORDERED, lambda at: at[below] <= at[above]),
            Hypothesis("s > 0", lambda at: at[factor] > 0),
        ),
        scope="every s > 0",
    ),
    Identity(
        "gamma absorbs s",
        "the layer with s = 1 and s gamma for gamma is the layer with s and gamma",
        lambda: (
            output(i),
            substitute(output(i).xreplace({s: sp.Integer(1)}), {gamma: lambda k: s * gamma[k]}),
        ),
        nonzero=(R, MEAN),
        scope="every N",
    ),
)

MUTANTS = {
    "half of it": lambda: derived() / 2,
    "a hundredth less": lambda: sp.Rational(99, 100) * derived(),
    "nothing": lambda: sp.Integer(0),
}
CORRECTED_MUTANTS = {
    "unchanged": lambda: quantile(below, above),
    "s squared": lambda: factor**2 * quantile(below, above),
    "shifted by s": lambda: quantile(below, above) + factor,
}
