"""Eq. 9: the attention score is a sum of energy-weighted cosines.

Claim, for every P = d/2 and any positive S_q, S_k:

    score = sum_i q_i . k_i / (S_q S_k) = sum_i (r_q,i r_k,i / (S_q S_k)) cos(theta_q,i - theta_k,i).

Source: section 5.3, Eq. 9; appendix A, Eqs. 10 and 12-14.
Route: the blocks are written in polar form (Eq. 10), the cosine of a difference is expanded, and cos^2 + sin^2 = 1 is
the only relation used. No magnitude is divided by, so phasors of magnitude 0 are included.
"""

import sympy as sp

from theory.phasors import index_sum, key, q, theta_k, theta_q
from theory.statements import Identity

S_q, S_k = sp.symbols("S_q S_k", positive=True)


def _query(k: sp.Symbol) -> sp.Matrix:
    return q.r[k] * sp.Matrix([sp.cos(theta_q[k]), sp.sin(theta_q[k])])


def _key(k: sp.Symbol) -> sp.Matrix:
    return key.r[k] * sp.Matrix([sp.cos(theta_k[k]), sp.sin(theta_k[k])])


def _weighted(angular: object) -> sp.Expr:
    return index_sum(lambda k: q.r[k] * key.r[k] / (S_q * S_k) * angular(k))


def derived() -> sp.Expr:
    """The dot product of the normalized vectors (Eq. 12), blocks in polar form (Eq. 10)."""
    return index_sum(lambda k: (_query(k) / S_q).dot(_key(k) / S_k))


def printed() -> sp.Expr:
    """Eq. 9."""
    return _weighted(lambda k: sp.cos(theta_q[k] - theta_k[k]))


STATEMENTS = (
    Identity(
        "as printed",
        "score = sum (r_q r_k / (S_q S_k)) cos(theta_q - theta_k), for any positive S_q and S_k",
        lambda: (derived(), printed()),
        nonzero=(S_q, S_k),
    ),
)

MUTANTS = {
    "sum of the angles": lambda: _weighted(lambda k: sp.cos(theta_q[k] + theta_k[k])),
    "sine for cosine": lambda: _weighted(lambda k: sp.sin(theta_q[k] - theta_k[k])),
    "energies forgotten": lambda: index_sum(lambda k: sp.cos(theta_q[k] - theta_k[k])) / (S_q * S_k),
    "S_k forgotten": lambda: _weighted(lambda k: S_k * sp.cos(theta_q[k] - theta_k[k])),
}
