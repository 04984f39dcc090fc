"""interference-broadcast: an outlier cannot monopolise the backward signal, since the subtracted term is uniform.

Claim: what the error at an outlier j adds to the gradient of another phasor i is no larger than under RMSNorm.

Source: follows from section 5.1, Eq. 5 and the reading that the paper gives it.

False: uniform means that everybody gets it. With an upstream gradient at phasor j alone, MRSNorm subtracts at *every*
phasor a vector of length

    |Omega| / S,   Omega = gamma_j (g_j . u_j) r_j / (P S),

the radial error of phasor j times its share of the sum, which tends to 1 for an outlier. RMSNorm subtracts, at phasor
i, a vector in proportion to r_i. At eps = 0, with equal weights in the pair, T = sum r and A = r_j, the ratio of the
two is between sqrt(N)/2 (A/T)^2 A/r_i and sqrt(N)/2 (T/A) A/r_i: it tends to (sqrt(N)/2) A/r_i as A outgrows the rest.
(Read channel by channel: to (sqrt(N)/2) A/|x_i|.)
"""

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, positive, square, times, total, total_except
from theory.exact import point
from theory.mrsnorm.ellipse import rational_root
from theory.mrsnorm.eq05 import S
from theory.mrsnorm.eq07 import S_RMS
from theory.norms import mean_magnitude
from theory.phasors import P, apart, eps, g, gamma, gradient, i, index_sum, j, z
from theory.statements import Hypothesis, Identity, Inequality

T = index_sum(lambda k: z.r[k])
Q = index_sum(lambda k: z.r[k] ** 2)
ERROR = gamma[j] * g[j].dot(z[j])  # gamma_j g_j . z_j, r_j times the weighted radial error


def reaches(scale: sp.Expr) -> sp.Expr:
    """Squared length of what an upstream gradient at phasor j alone adds at phasor i != j, by differentiation."""
    vector = apart(gradient(ERROR / scale, z, i))
    return vector.dot(vector)


def own() -> sp.Expr:
    """Squared length of what MRSNorm subtracts at phasor j itself."""
    vector = gamma[j] * g[j] / S - gradient(ERROR / S, z, j)
    return vector.dot(vector)


def derived() -> sp.Expr:
    """The squared length under MRSNorm."""
    return reaches(S)


def printed() -> sp.Expr:
    """The squared length under RMSNorm with weight gamma_j on both channels of phasor j."""
    return reaches(S_RMS)


def corrected() -> tuple[sp.Expr, sp.Expr]:
    """Bounds of the squared ratio of the two, times (r_i / A)^2, at eps = 0."""
    share = z.r[j] / T
    return P / 2 * share**4, P / 2 / share**2


def _bounds() -> tuple[list[sp.Expr], list[sp.Expr]]:
    low, high = corrected()
    mrs = derived().subs(eps, 0) * z.r[i] ** 2
    rms = printed().subs(eps, 0) * z.r[j] ** 2
    return [low * rms, mrs], [mrs, high * rms]


OUTLIER = "r_j > 0"


def _proof() -> list[Nonneg]:
    """(error r_i P)^2 times (Q^3 - A^6) / (T^4 Q^3) and times (T^6 - Q^3) / (T^4 Q^3), with A^2 <= Q <= T^2."""
    outlier = positive(z.r[j], OUTLIER)
    others = total_except(j, lambda k: square(z.r[k]))  # Q - A^2
    pairs = total(lambda k: times(known(z.r[k]), total_except(k, lambda m: known(z.r[m]))))  # T^2 - Q
    energy = plus(times(outlier, outlier), others)
    whole = plus(outlier, total_except(j, lambda k: known(z.r[k])))
    common = over(
        times(square(ERROR), square(z.r[i]), known(P), known(P)),
        times(whole, whole, whole, whole, energy, energy, energy),
    )
    low = times(others, plus(times(energy, energy), times(energy, square(z.r[j])), square(z.r[j] ** 2)))
    square_t = times(whole, whole)
    high = times(pairs, plus(times(square_t, square_t), times(square_t, energy), times(energy, energy)))
    return [times(common, low), times(common, high)]


S_0, S_RMS_0 = mean_magnitude(z, sp.Integer(0)), S_RMS.subs(eps, 0)

STATEMENTS = (
    Inequality(
        "as printed",
        "the error at phasor j reaches phasor i no more strongly than under RMSNorm",
        lambda: (derived(), printed()),
        nonzero=(S, S_RMS, z.r[i]),
        counterexample=point({eps: 0}, z=[(20, 0), (99, 0)], g=[(0, 0), (1, 0)], gamma=[1, 1]),
        expects="refuted",
    ),
    Identity(
        "every phasor gets the same",
        "the error at phasor j is subtracted at every phasor, j included, with length |Omega| / S",
        lambda: ([derived(), own()], [(ERROR / (P * S) / S) ** 2] * 2),
        nonzero=(S, z.r[i], z.r[j]),
    ),
    Identity(
        "what RMSNorm subtracts",
        "the error at phasor j is subtracted at phasor i with length r_i |gamma_j g_j . z_j| / (N S_RMS^3)",
        lambda: (printed(), (z.r[i] * ERROR / (2 * P * S_RMS**3)) ** 2),
        nonzero=(S_RMS,),
        adjust=rational_root,
    ),
    Inequality(
        "corrected",
        "at eps = 0 MRSNorm's interference is RMSNorm's times a factor between (sqrt(N)/2) (A/sum r)^2 A/r_i and "
        "(sqrt(N)/2) (sum r/A) A/r_i, A = r_j: for an outlier it tends to (sqrt(N)/2) A/r_i",
        _bounds,
        _proof,
        hypotheses=(Hypothesis(OUTLIER, lambda at: at[z.r[j]] > 0),),
        nonzero=(S_0, S_RMS_0**2, Q, T, z.r[i], z.r[j]),
    ),
)

MUTANTS = {"MRSNorm's own": lambda: reaches(S)}
CORRECTED_MUTANTS = {
    "half the factor": lambda: (P / 8 * (z.r[j] / T) ** 4, P / 8 * (T / z.r[j]) ** 2),
    "without the share": lambda: (P / 2, P / 2),
    "twice the factor": lambda: (2 * P * (z.r[j] / T) ** 4, 2 * P * (T / z.r[j]) ** 2),
}
