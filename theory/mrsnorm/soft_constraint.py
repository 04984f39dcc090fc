"""soft-constraint: dividing by the scale of the whole vector is a soft constraint.

Claim: each block is divided by the scale of all of them, not by its own magnitude; this "soft constraint" is what sets
the method apart from a strict L2 projection.

Source: appendix A.2, after Eq. 11.

True against the projection of *each block* onto its own circle: the ratios of the magnitudes survive,
|qhat_i| / |qhat_j| = r_i / r_j, where the projection makes all of them 1. Against the L2 projection of *the whole
vector* it is false at eps = 0: with Eq. 11, qhat = sqrt(d/2) q / |q|, the strict projection onto a sphere, and with
Eq. 1 the mean of the |qhat_k| is 1, a strict projection too, onto the sphere of another norm. For eps > 0 both are
inside their sphere, as far as eps is from 0 beside the magnitudes.
"""

import sympy as sp

from theory.certificate import known, over, plus, positive, square, times, total
from theory.exact import point
from theory.norms import mean_magnitude, rms_magnitude
from theory.phasors import P, eps, i, index_sum, j, q
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

S = rms_magnitude(q)
S_ZERO = rms_magnitude(q, sp.Integer(0))
SUM_OF_SQUARES = index_sum(lambda k: q.square(k))
NON_ZERO = Hypothesis("q != 0", lambda at: any(at[q.components[0]]) or any(at[q.components[1]]))


def block(k: sp.Symbol) -> sp.Matrix:
    """qhat_k = q_k / S_q, with Eq. 11."""
    return q[k] / S


def derived() -> sp.Expr:
    """|qhat_i|^2 r_j^2."""
    return block(i).dot(block(i)) * q.r[j] ** 2


def printed() -> sp.Expr:
    """|qhat_j|^2 r_i^2, which is the same if the ratio of the magnitudes is kept."""
    return block(j).dot(block(j)) * q.r[i] ** 2


def projected(k: sp.Symbol) -> sp.Matrix:
    """Block k of sqrt(d/2) q / |q|, the L2 projection of the whole vector."""
    return sp.sqrt(P / SUM_OF_SQUARES) * q[k]


def _distance() -> sp.Expr:
    """How far qhat_i is from the whole vector's projection, squared."""
    gap = q[i] / S - projected(i)
    return gap.dot(gap)


_DIFFERS = Inequality("differs from the L2 projection of the whole vector", "", lambda: (0, _distance()), strict=True)

CONDITIONS = (
    Condition(
        "compared with the projection of each block onto its own circle, not with that of the whole vector",
        lambda: refute(_DIFFERS, point({eps: 0}, q=[(3, 4), (5, 0), (1, 0), (7, 0)])),
    ),
)

STATEMENTS = (
    Identity(
        "as printed",
        "|qhat_i| : |qhat_j| = r_i : r_j, for blocks divided by the scale of the whole vector",
        lambda: (derived(), printed()),
        CONDITIONS,
        nonzero=(S**2,),
    ),
    Identity(
        "the projection of each block",
        "q_k / r_k has the magnitude 1 for every k: no ratio is kept",
        lambda: ([q.unit(i).dot(q.unit(i)), q.unit(j).dot(q.unit(j))], [1, 1]),
        nonzero=(q.r[i], q.r[j]),
    ),
    Identity(
        "Eq. 11 is the L2 projection of the whole vector",
        "at eps = 0: qhat_i = sqrt(d/2) q_i / |q|, and sum |qhat_k|^2 = d/2",
        lambda: (
            [*(q[i] * sp.sqrt(1 / S_ZERO**2)), SUM_OF_SQUARES / S_ZERO**2],
            [*projected(i), P],
        ),
        nonzero=(S_ZERO**2, SUM_OF_SQUARES),
    ),
    Identity(
        "Eq. 1 is a projection as well",
        "at eps = 0 the mean of the |qhat_k| = r_k / S is 1",
        lambda: (index_sum(lambda k: q.r[k] / mean_magnitude(q, sp.Integer(0))) / P, 1),
        nonzero=(mean_magnitude(q, sp.Integer(0)),),
    ),
    Inequality(
        "inside the sphere for eps > 0",
        "sum |qhat_k|^2 < d/2 for every q, wherever eps > 0",
        lambda: (SUM_OF_SQUARES / S**2, P),
        lambda: over(
            times(known(P), positive(eps, "eps > 0")),
            plus(over(total(lambda k: square(q.r[k])), known(P)), positive(eps, "eps > 0")),
        ),
        hypotheses=(Hypothesis("eps > 0", lambda at: at[eps] > 0),),
        nonzero=(S**2,),
        strict=True,
    ),
)

MUTANTS = {
    "each block on its own circle": lambda: q.r[i] ** 2,
    "every block of the same magnitude": lambda: block(j).dot(block(j)) * q.r[j] ** 2,
    "S forgotten": lambda: q[j].dot(q[j]) * q.r[i] ** 2,
}
