"""Eq. 1: the scale of MRSNorm.

Claim: S = (1/P) sum_k |z_k| + eps = (1/P) sum_k sqrt(x_k^2 + y_k^2) + eps, and eps keeps it away from zero.

Source: section 3, Eq. 1.

What can be said beyond the definition, for every P: with rms(h)^2 = (1/2P) sum (x_k^2 + y_k^2),

    sqrt(2/P) rms(h) <= S - eps <= sqrt(2) rms(h).

The left remainder is a sum of r_k r_l over pairs: zero exactly when at most one phasor is non-zero. The right one is
a sum of (r_k - r_l)^2: zero exactly when all magnitudes are equal. At P = 1 the two bounds coincide.
"""

import sympy as sp

from theory.certificate import known, over, plus, positive, square, times, total, total_apart
from theory.norms import mean_magnitude
from theory.phasors import P, eps, index_sum, z
from theory.statements import Hypothesis, Identity, Inequality


def derived() -> sp.Matrix:
    """The mean of the phasor magnitudes plus eps, once for each of the two forms printed."""
    return sp.Matrix([mean_magnitude(z)] * 2)


def printed() -> sp.Matrix:
    """Both forms of Eq. 1: through the norm, and through the coordinates."""
    norm = index_sum(lambda k: z.r[k]) / P + eps
    coordinates = index_sum(lambda k: sp.sqrt(z.square(k))) / P + eps
    return sp.Matrix([norm, coordinates])


def _mean_square() -> sp.Expr:
    """rms(h)^2, the mean of the squares of all N = 2P channels."""
    return index_sum(lambda k: z.square(k)) / (2 * P)


def _right(k: sp.Symbol, m: sp.Symbol) -> sp.Expr:
    return z.r[k] - z.r[m]


P_POSITIVE = known(P)

STATEMENTS = (
    Identity("as printed", "S is the mean of the phasor magnitudes plus eps", lambda: (derived(), printed())),
    Inequality(
        "as printed",
        "eps > 0 keeps S positive",
        lambda: (0, printed()[1]),
        lambda: plus(over(total(lambda k: known(z.r[k])), P_POSITIVE), positive(eps, "eps > 0")),
        hypotheses=(Hypothesis("eps > 0", lambda at: at[eps] > 0),),
        strict=True,
    ),
    Inequality(
        "bounds by the RMS",
        "(2/P) rms(h)^2 <= (S - eps)^2 <= 2 rms(h)^2",
        lambda: (
            [2 * _mean_square() / P, (mean_magnitude(z) - eps) ** 2],
            [(mean_magnitude(z) - eps) ** 2, 2 * _mean_square()],
        ),
        lambda: [
            over(total_apart(lambda k, m: times(known(z.r[k]), known(z.r[m]))), times(P_POSITIVE, P_POSITIVE)),
            over(
                total(lambda k: total(lambda m: square(_right(k, m)))),
                times(known(2), P_POSITIVE, P_POSITIVE),
            ),
        ],
    ),
)

MUTANTS = {
    "without 1/P": lambda: sp.Matrix([index_sum(lambda k: z.r[k]) + eps] * 2),
    "eps forgotten": lambda: sp.Matrix([index_sum(lambda k: z.r[k]) / P] * 2),
    "mean of squares": lambda: sp.Matrix([index_sum(lambda k: z.square(k)) / P + eps] * 2),
    "root mean square": lambda: sp.Matrix([sp.sqrt(index_sum(lambda k: z.square(k)) / P) + eps] * 2),
}
