"""Eq. 11: the scale that appendix A calls MRSNorm's.

Claim: S_q is sqrt((1/P) sum r_q,k^2 + eps), the root mean square of the magnitudes.

Source: appendix A, Eq. 11, against section 3, Eq. 1.

It contradicts Eq. 1, the mean of the magnitudes: for magnitudes (5, 35) they are 25 and 20. Eq. 1 is never the larger
(at eps = 0), and they agree exactly when all magnitudes are equal.

What Eq. 11 defines instead is RMSNorm's scale up to a constant: sum r_k^2 = sum x_k^2 over channels, so S_q^2 is twice
RMSNorm's mean square, with eps / 2 for RMSNorm's eps. The score is then half of QK-RMSNorm's, if that has eps / 2 in
its roots (or both have none). If both have the same eps, each of q and k contributes a factor
sqrt((m + eps) / (2 m + eps)), m the mean square of its channels, and the ratio lies strictly between 1/2 and 1. Against
QK-RMSNorm, nothing but a temperature is left.
"""

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, positive, square, times, total, total_except
from theory.exact import point
from theory.norms import mean_magnitude, rms_magnitude
from theory.phasors import P, VectorFamily, eps, i, index_sum, j, key, on_groups, q
from theory.statements import Hypothesis, Identity, Inequality


def derived() -> sp.Expr:
    """S_q as Eq. 1 defines it."""
    return mean_magnitude(q)


def printed() -> sp.Expr:
    """S_q as Eq. 11 defines it."""
    return rms_magnitude(q)


def channel_scale(family: VectorFamily, offset: sp.Expr) -> sp.Expr:
    """RMSNorm's scale over the 2P channels of a vector read as phasors."""
    return sp.sqrt(index_sum(lambda k: family.square(k)) / (2 * P) + offset)


def corrected() -> sp.Expr:
    """(S_q S_k)^2 in terms of RMSNorm's scales with eps / 2."""
    return 4 * (channel_scale(q, eps / 2) * channel_scale(key, eps / 2)) ** 2


m = sp.Symbol("m", positive=True)  # the mean square of the channels of q
RATIO = (m + eps) / (2 * m + eps)
HYPOTHESES = (Hypothesis("m > 0", lambda at: at[m] > 0), Hypothesis("eps > 0", lambda at: at[eps] > 0))


DIFFERENT = Hypothesis("r_i != r_j", lambda at: at[q.r[i]] != at[q.r[j]])
magnitude = sp.Symbol("r", positive=True)  # of every phasor, where all have the same


def spread(strict: bool = False) -> Nonneg:
    """sum over k, l of (r_k - r_l)^2 = 2 (P sum r^2 - (sum r)^2) for q: > 0 if two magnitudes differ."""
    if not strict:
        return total(lambda k: total(lambda n: square(q.r[k] - q.r[n])))
    pair = positive((q.r[i] - q.r[j]) ** 2, DIFFERENT.text)
    own = plus(pair, total_except(j, lambda n: square(q.r[i] - q.r[n])))
    return plus(own, total_except(i, lambda k: total(lambda n: square(q.r[k] - q.r[n]))))


def _squares() -> tuple[sp.Expr, sp.Expr]:
    """The squares of both scales at eps = 0."""
    return mean_magnitude(q, sp.Integer(0)) ** 2, rms_magnitude(q, sp.Integer(0)) ** 2


def _ratio_proof() -> list[Nonneg]:
    mean, offset = positive(m, "m > 0"), positive(eps, "eps > 0")
    whole = plus(times(known(2), mean), offset)
    return [over(offset, times(known(2), whole)), over(mean, whole)]


STATEMENTS = (
    Identity(
        "as printed",
        "the mean of the magnitudes (Eq. 1) is their root mean square (Eq. 11)",
        lambda: (derived(), printed()),
        counterexample=point({eps: 0}, q=[(3, 4), (21, 28)]),
        expects="refuted",
    ),
    Identity(
        "corrected",
        "under Eq. 11 (S_q S_k)^2 is 4 times RMSNorm's with eps / 2, so the score is half of QK-RMSNorm's",
        lambda: ((rms_magnitude(q) * rms_magnitude(key)) ** 2, corrected()),
    ),
    Inequality(
        "Eq. 1 is never larger",
        "at eps = 0, (mean r)^2 <= mean r^2",
        _squares,
        lambda: over(spread(), times(known(2), known(P), known(P))),
    ),
    Inequality(
        "smaller where magnitudes differ",
        "at eps = 0, (mean r)^2 < mean r^2 if two magnitudes differ",
        _squares,
        lambda: over(spread(strict=True), times(known(2), known(P), known(P))),
        hypotheses=(DIFFERENT,),
        strict=True,
    ),
    Identity(
        "the same where magnitudes are equal",
        "at eps = 0, both scales are r if all magnitudes are r",
        lambda: ([on_groups(side, [(P, {q.r: magnitude})]) for side in _squares()], [magnitude**2] * 2),
    ),
    Inequality(
        "the same eps in both roots",
        "then each vector contributes a factor whose square, (m + eps) / (2m + eps), is strictly between 1/2 and 1",
        lambda: ([sp.Rational(1, 2), RATIO], [RATIO, 1]),
        _ratio_proof,
        hypotheses=HYPOTHESES,
        nonzero=(2 * m + eps,),
        strict=True,
    ),
)

MUTANTS = {
    "Eq. 1 itself": lambda: mean_magnitude(q),
    "Eq. 1 in coordinates": lambda: index_sum(lambda k: sp.sqrt(q.square(k))) / P + eps,
}
CORRECTED_MUTANTS = {
    "the same eps": lambda: 4 * (channel_scale(q, eps) * channel_scale(key, eps)) ** 2,
    "no factor": lambda: (channel_scale(q, eps / 2) * channel_scale(key, eps / 2)) ** 2,
    "a factor 2": lambda: 2 * (channel_scale(q, eps / 2) * channel_scale(key, eps / 2)) ** 2,
}
