"""ma-recover: does the second term restore the magnitude that RMSNorm loses?

Claim: from y = s gamma xhat + alpha W log R the magnitude R of x can be had back: equal outputs, equal magnitudes.

Source: sections 1 and 2.2; the heading and the text of section 3.2.

False for every N. With v = alpha G^-1 W, gamma_k != 0 and v != 0, the output of (xhat, l), l = log R, is also that of

    l' = l + 2 s <xhat, v> / |v|^2,      xhat' = xhat - 2 (<xhat, v> / |v|^2) v,

xhat' being xhat reflected in the hyperplane orthogonal to v (a Householder reflection). There is no third: a preimage
at level t needs |y / gamma - v t|^2 = s^2 N, a quadratic equation with the roots l and l'. They are the same exactly
on the fold <xhat, v> = 0, and <xhat', v> = -<xhat, v>, so the layer is one to one on either side of the fold and two to
one across it. Smallest case: N = 1, gamma = W = 1, s = 2, alpha = 1/10: MA(1) = MA(-e^40) = 2.

A channel with gamma_k = 0 and W_k != 0 gives l away, at the price of that channel's direction up to sign.
"""

import sympy as sp

from theory.exact import Point, point
from theory.magnitude_aware import W, alignment, alpha, log_R, polar, s, slant, xhat
from theory.phasors import N, gamma, i, index_sum
from theory.proof import Step
from theory.statements import Identity

t = sp.Symbol("t", real=True)  # any level, log RMS of a candidate


def along() -> sp.Expr:
    """<xhat, v>."""
    return alignment(lambda k: xhat[k])


def slant_square() -> sp.Expr:
    """|v|^2."""
    return index_sum(lambda k: slant(k) ** 2, N)


def example() -> Point:
    """N = 1, x = 1, gamma = W = 1, s = 2, alpha = 1/10."""
    at = point({N: 1, s: 2, alpha: sp.Rational(1, 10), log_R: 0}, gamma=[1])
    return at.with_({W: at[gamma], xhat: at[gamma]})


def reflected(k: sp.Expr) -> sp.Expr:
    """xhat'_k."""
    return xhat[k] - 2 * along() / slant_square() * slant(k)


def other_level() -> sp.Expr:
    """l'."""
    return log_R + 2 * s * along() / slant_square()


def other_output(k: sp.Expr) -> sp.Expr:
    """The output of (xhat', l')."""
    return s * gamma[k] * reflected(k) + alpha * W[k] * other_level()


def derived() -> sp.Expr:
    """The level of the second input with the output of the first."""
    return other_level()


def printed() -> sp.Expr:
    """What the claim makes of it: the level of the first."""
    return log_R


def corrected() -> list[sp.Expr]:
    """The two levels that an output leaves."""
    return [log_R, other_level()]


def misfit() -> sp.Expr:
    """|y / gamma - v t|^2 - s^2 |xhat|^2: zero where some direction as long as xhat gives y at the level t."""
    return index_sum(lambda k: (polar(k) / gamma[k] - slant(k) * t) ** 2, N) - s**2 * index_sum(
        lambda k: xhat[k] ** 2, N
    )


def one_channel(x: sp.Expr) -> sp.Expr:
    """MA(x) for N = 1, gamma = W = 1, s = 2, alpha = 1/10."""
    size = sp.sqrt(x**2)
    return 2 * x / size + sp.log(size) / 10


NONZERO = (gamma, slant_square())

STATEMENTS = (
    Identity(
        "as printed",
        "two inputs with the same output have the same magnitude",
        lambda: ([other_output(i), derived()], [polar(i), printed()]),
        nonzero=NONZERO,
        counterexample=example(),
        scope="every N",
        expects="refuted",
    ),
    Identity(
        "corrected",
        "the output leaves two magnitudes, log R = l and l' = l + 2 s <xhat, v>/|v|^2, equal only on <x, G^-1 W> = 0",
        lambda: (misfit(), slant_square() * sp.Mul(*(t - root for root in corrected()))),
        nonzero=NONZERO,
        scope="every N, gamma_k != 0, alpha W != 0, s != 0",
        derivation=lambda: [Step("|y / gamma - v t|^2 - s^2 |xhat|^2, at a level t", misfit())],
    ),
    Identity(
        "the second preimage",
        "xhat' = xhat reflected in v is as long, gives the same output at l', and lies across the fold",
        lambda: (
            [
                index_sum(lambda k: reflected(k) ** 2, N),
                other_output(i),
                index_sum(lambda k: reflected(k) * slant(k), N),
            ],
            [index_sum(lambda k: xhat[k] ** 2, N), polar(i), -along()],
        ),
        nonzero=NONZERO,
        scope="every N, gamma_k != 0, alpha W != 0",
    ),
    Identity(
        "the smallest counterexample",
        "N = 1, gamma = W = 1, s = 2, alpha = 1/10: MA(1) = MA(-e^40) = 2",
        lambda: ([one_channel(sp.Integer(1)), one_channel(-sp.exp(40))], [2, 2]),
        scope="N = 1",
    ),
    Identity(
        "a channel without weight",
        "gamma_i = 0 and W_i != 0: l = y_i / (alpha W_i)",
        lambda: (polar(i).subs(gamma[i], 0) / (alpha * W[i]), log_R),
        nonzero=(alpha, W),
        scope="every N",
    ),
)

MUTANTS = {"the level of the second input": other_level}
CORRECTED_MUTANTS = {
    "one magnitude": lambda: [log_R, log_R],
    "half the distance": lambda: [log_R, log_R + s * along() / slant_square()],
    "s forgotten": lambda: [log_R, log_R + 2 * along() / slant_square()],
    "sign flipped": lambda: [log_R, log_R - 2 * s * along() / slant_square()],
    "not divided by |v|^2": lambda: [log_R, log_R + 2 * s * along()],
}
