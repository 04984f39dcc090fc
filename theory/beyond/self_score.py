"""self-score: under Eq. 1 the printed logit bound is a lower bound for the score of a vector with itself.

Theorem, for every P = d/2 and q != 0, eps being 0: a vector scores d/2 or more with itself, and d/2 exactly when its
phasors are equally long. With eps, score(q, q) less d/2 has the sign of rms(r)^2 - S^2.

Route: score(q, q) - P = sum over pairs of (r_k - r_l)^2 / (2 P S^2).
"""

import sympy as sp

from theory.certificate import Nonneg, known, over, positive, times
from theory.mrsnorm import eq11
from theory.norms import mean_magnitude, rms_magnitude, score
from theory.phasors import P, on_groups, q
from theory.statements import Hypothesis, Identity, Inequality

S = mean_magnitude(q, sp.Integer(0))
S_EPS = mean_magnitude(q)
NON_ZERO = Hypothesis("S > 0", lambda at: any(at[q.components[0]]) or any(at[q.components[1]]))


def derived() -> sp.Expr:
    """score(q, q) under Eq. 1 at eps = 0."""
    return score(q, q, S, S)


def printed() -> sp.Expr:
    """d/2, here as a lower bound."""
    return P


def _by_magnitudes() -> sp.Expr:
    """P mean(r^2) / S^2."""
    return P * rms_magnitude(q, sp.Integer(0)) ** 2 / S**2


def _divisor() -> Nonneg:
    """2 P S^2 > 0."""
    return times(known(2), known(P), positive(S, NON_ZERO.text), positive(S, NON_ZERO.text))


STATEMENTS = (
    Inequality(
        "as printed",
        "score(q, q) >= d/2 at eps = 0 for every q != 0",
        lambda: (printed(), derived()),
        lambda: over(eq11.spread(), _divisor()),
        hypotheses=(NON_ZERO,),
        nonzero=(S,),
    ),
    Inequality(
        "as printed",
        "score(q, q) > d/2 at eps = 0 if two magnitudes differ",
        lambda: (printed(), derived()),
        lambda: over(eq11.spread(strict=True), _divisor()),
        hypotheses=(NON_ZERO, eq11.DIFFERENT),
        nonzero=(S,),
        strict=True,
    ),
    Identity(
        "as printed",
        "score(q, q) = P mean(r^2) / S^2 = d/2 at eps = 0 if all magnitudes are equal",
        lambda: (
            [derived(), on_groups(_by_magnitudes(), [(P, {q.r: eq11.magnitude})])],
            [_by_magnitudes(), printed()],
        ),
        nonzero=(S, eq11.magnitude),
    ),
    Identity(
        "with eps",
        "score(q, q) - d/2 = P (rms(r)^2 - S^2) / S^2: at least d/2 iff rms(r) >= S",
        lambda: (
            score(q, q, S_EPS, S_EPS) - P,
            P * (rms_magnitude(q, sp.Integer(0)) ** 2 - S_EPS**2) / S_EPS**2,
        ),
        nonzero=(S_EPS,),
    ),
)

MUTANTS = {"d": lambda: 2 * P, "d^2/4": lambda: P**2, "d/2 + 1": lambda: P + 1}
