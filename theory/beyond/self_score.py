"""self-score: under Eq. 1 the printed logit bound is a lower bound for the score of a vector with itself.

Theorem, for every P = d/2, eps = 0 and q != 0: score(q, q) >= d/2, with equality exactly when all magnitudes are equal.
For eps > 0: score(q, q) - d/2 has the sign of rms(r)^2 - S^2.

Route: score(q, q) - P = sum over pairs of (r_k - r_l)^2 / (2 P S^2).
"""

import sympy as sp

from theory.certificate import known, over, positive, square, times, total
from theory.norms import mean_magnitude, rms_magnitude, score
from theory.phasors import P, q
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


STATEMENTS = (
    Inequality(
        "as printed",
        "score(q, q) >= d/2 at eps = 0 for every q != 0, with equality iff all magnitudes are equal",
        lambda: (printed(), derived()),
        lambda: over(
            total(lambda k: total(lambda m: square(q.r[k] - q.r[m]))),
            times(known(2), known(P), positive(S, "S > 0"), positive(S, "S > 0")),
        ),
        hypotheses=(NON_ZERO,),
        nonzero=(S,),
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
