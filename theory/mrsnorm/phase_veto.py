"""phase-veto: orthogonal phases cancel any spike, as they would not under RMSNorm.

Claim: P_i = (r_q,i r_k,i / (S_q S_k)) cos(Delta_i) vanishes for orthogonal phases, however large the magnitudes are;
under QK-RMSNorm, which only knows magnitudes and signs, the spike of a channel bypasses every such filter.

Source: appendix B, Eq. 15 and the paragraphs around it.

The first half is true, and no difference. Under QK-RMSNorm the two channels of a pair add

    q_i . k_i / (S_q S_k) = (r_q,i r_k,i / (S_q S_k)) cos(Delta_i)

with RMSNorm's scales: the same inner product, the same cosine, and 0 for the same queries and keys. A single channel,
x_q x_k / (S_q S_k), knows only magnitudes and signs under either norm.
"""

from fractions import Fraction

import sympy as sp

from theory.exact import point
from theory.phasors import VectorFamily, i, key, q, theta_k, theta_q
from theory.statements import Identity

S_q, S_k, R_q, R_k = sp.symbols("S_q S_k R_q R_k", positive=True)  # the scales of MRSNorm and of RMSNorm


def polar(family: VectorFamily, angle: sp.IndexedBase) -> sp.Matrix:
    """Phasor i in polar form (Eq. 10)."""
    return family.r[i] * sp.Matrix([sp.cos(angle[i]), sp.sin(angle[i])])


def derived() -> sp.Expr:
    """What the two channels of pair i add to the score under RMSNorm, before the scales divide it."""
    return sum(a * b for a, b in zip(polar(q, theta_q), polar(key, theta_k), strict=True))


def printed() -> sp.Expr:
    """What they add if only magnitudes count: r_q,i r_k,i whatever the phases are."""
    return q.r[i] * key.r[i]


def corrected() -> sp.Expr:
    """What they add: the same cosine as under MRSNorm."""
    return q.r[i] * key.r[i] * sp.cos(theta_q[i] - theta_k[i])


def _mrs_contribution() -> sp.Expr:
    return polar(q, theta_q).dot(polar(key, theta_k)) / (S_q * S_k)


STATEMENTS = (
    Identity(
        "as printed",
        "under MRSNorm a pair adds (r_q r_k / (S_q S_k)) cos(Delta): nothing, if its phases are orthogonal",
        lambda: (_mrs_contribution(), q.r[i] * key.r[i] / (S_q * S_k) * sp.cos(theta_q[i] - theta_k[i])),
        nonzero=(S_q, S_k),
    ),
    Identity(
        "as printed",
        "under RMSNorm a pair adds r_q r_k / (S_q S_k), whatever its phases are",
        lambda: (derived() / (R_q * R_k), printed() / (R_q * R_k)),
        nonzero=(R_q, R_k),
        counterexample=point(
            {R_q: 1, R_k: 1}, q=[(3, 4)], key=[(-4, 3)], theta_q=[Fraction(1, 2)], theta_k=[3]
        ),  # an angle is given by the tangent of its half
        expects="refuted",
    ),
    Identity(
        "corrected",
        "under RMSNorm a pair adds (r_q r_k / (S_q S_k)) cos(Delta), with RMSNorm's scales: the same cosine",
        lambda: (derived() / (R_q * R_k), corrected() / (R_q * R_k)),
        nonzero=(R_q, R_k),
    ),
)

MUTANTS = {
    "with the cosine": lambda: q.r[i] * key.r[i] * sp.cos(theta_q[i] - theta_k[i]),
    "in coordinates": lambda: sum(a * b for a, b in zip(polar(q, theta_q), polar(key, theta_k), strict=True)),
}
CORRECTED_MUTANTS = {
    "the sum of the angles": lambda: q.r[i] * key.r[i] * sp.cos(theta_q[i] + theta_k[i]),
    "sine for cosine": lambda: q.r[i] * key.r[i] * sp.sin(theta_q[i] - theta_k[i]),
    "half of it": lambda: q.r[i] * key.r[i] * sp.cos(theta_q[i] - theta_k[i]) / 2,
    "without the cosine": lambda: q.r[i] * key.r[i],
}
