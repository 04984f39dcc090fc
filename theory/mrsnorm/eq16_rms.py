"""Eq. 16 with S as Eq. 11 defines it: the root mean square of the magnitudes.

Claim, for every P = d/2 and eps >= 0: |P_i| <= r_q,i r_k,i / (S_q S_k) <= d/2.

Source: appendix B, Eqs. 15-16; S from appendix A, Eq. 11.
Route: P S_q^2 - r_q,i^2 is the sum of the other r_q,k^2 plus P eps; the product of two such bounds, and then a - b >= 0
from a^2 - b^2 >= 0.

Reached at eps = 0 by a single non-zero phasor.
"""

import sympy as sp

from theory.certificate import Nonneg, difference, known, over, plus, positive, square, times, total, total_except
from theory.exact import Point, evaluate, next_square
from theory.mrsnorm.eq16 import POSITIVE_SCALES
from theory.mrsnorm.eq17 import phasor
from theory.norms import rms_magnitude
from theory.phasors import P, VectorFamily, eps, i, index_sum, key, on_groups, q
from theory.statements import Identity, Inequality

S_q, S_k = rms_magnitude(q), rms_magnitude(key)


def derived() -> sp.Expr:
    """P_i, the contribution of phasor i to the score."""
    return q[i].dot(key[i]) / (S_q * S_k)


def energy() -> sp.Expr:
    """r_q,i r_k,i / (S_q S_k), the middle of the chain."""
    return q.r[i] * key.r[i] / (S_q * S_k)


def printed() -> sp.Expr:
    """d/2."""
    return P


def scales() -> Nonneg:
    """S_q S_k > 0."""
    return times(positive(S_q, "S_q > 0"), positive(S_k, "S_k > 0"))


def mean_square(family: VectorFamily) -> Nonneg:
    """P S^2 = sum r_k^2 + P eps >= 0."""
    return plus(total(lambda k: square(family.r[k])), times(known(P), known(eps)))


def rational_scales(at: Point) -> Point:
    """The point with k = q and eps moved so that S_q = S_k is rational."""
    mean_square = evaluate(index_sum(lambda k: q.r[k] ** 2) / P, at)
    copied = {to: at[of] for of, to in zip(q.components, key.components, strict=True)}
    return at.with_({**copied, eps: next_square(mean_square) - mean_square})


def _proof() -> list[Nonneg]:
    others = {f: plus(total_except(i, lambda k, f=f: square(f.r[k])), times(known(P), known(eps))) for f in (q, key)}
    rest = plus(times(others[q], mean_square(key)), times(square(q.r[i]), others[key]))
    whole = times(known(P), scales())
    return [
        *(over(phasor(i, sign), scales()) for sign in (-1, 1)),
        over(difference(whole, q.r[i] * key.r[i], rest), scales()),
    ]


ONE_HOT = [(1, {q.r: 1, key.r: 1}), (P - 1, {q.r: 0, key.r: 0})]

STATEMENTS = (
    Inequality(
        "as printed",
        "|P_i| <= r_q r_k / (S_q S_k) <= d/2",
        lambda: ([derived(), -derived(), energy()], [energy(), energy(), printed()]),
        _proof,
        hypotheses=POSITIVE_SCALES,
        nonzero=(S_q, S_k),
        adjust=rational_scales,
    ),
    Identity(
        "the bound is reached",
        "at eps = 0 a single non-zero phasor gives d/2",
        lambda: (on_groups(energy().subs(eps, 0), ONE_HOT, {i: 0}), P),
    ),
)

MUTANTS = {"d/4": lambda: P / 2, "d/2 - 1": lambda: P - 1, "1": lambda: sp.Integer(1)}
