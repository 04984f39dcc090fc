"""Eq. 18 with S as Eq. 11 defines it: the root mean square of the magnitudes.

Claim, for every P = d/2 and eps >= 0: |score| <= d/2.

Source: appendix B, Eq. 18; S from appendix A, Eq. 11.
Route: P^2 S_q^2 S_k^2 - (sum q . k)^2 is Lagrange's remainder plus terms with eps; then a - b >= 0 from a^2 - b^2 >= 0.

Reached only at eps = 0, for instance by every score of a vector with itself.
"""

import sympy as sp

from theory.certificate import Nonneg, cauchy_schwarz, difference, known, over, plus, square, times, total
from theory.mrsnorm.eq16 import POSITIVE_SCALES
from theory.mrsnorm.eq16_rms import S_k, S_q, rational_scales, scales
from theory.norms import rms_magnitude, score
from theory.phasors import P, eps, index_sum, key, q
from theory.statements import Identity, Inequality


def derived() -> sp.Expr:
    """The score of Eq. 12."""
    return score(q, key, S_q, S_k)


def printed() -> sp.Expr:
    """d/2."""
    return P


def _proof() -> list[Nonneg]:
    energies = plus(total(lambda k: square(q.r[k])), total(lambda k: square(key.r[k])))
    offset = plus(times(known(P), known(eps), energies), times(known(P), known(P), known(eps), known(eps)))
    rest = plus(cauchy_schwarz(q, key), offset)
    products = index_sum(lambda k: q[k].dot(key[k]))
    whole = times(known(P), scales())
    return [over(difference(whole, products, rest, sign), scales()) for sign in (-1, 1)]


def _self_score() -> sp.Expr:
    scale = rms_magnitude(q, sp.Integer(0))
    return score(q, q, scale, scale)


STATEMENTS = (
    Inequality(
        "as printed",
        "|score| <= d/2",
        lambda: ([derived(), -derived()], [printed(), printed()]),
        _proof,
        hypotheses=POSITIVE_SCALES,
        nonzero=(S_q, S_k),
        adjust=rational_scales,
    ),
    Identity(
        "the bound is reached",
        "at eps = 0 every non-zero vector has score d/2 with itself",
        lambda: (_self_score(), P),
        nonzero=(rms_magnitude(q, sp.Integer(0)) ** 2,),
    ),
)

MUTANTS = {"d/4": lambda: P / 2, "d/2 - 1": lambda: P - 1, "sqrt(d/2)": lambda: sp.sqrt(P)}
