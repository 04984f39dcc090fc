"""Eq. 16: the contribution of one phasor to the score, with S as Eq. 1 defines it.

Claim: |P_i| <= r_q,i r_k,i / (S_q S_k) <= d/2 for every block i, with P_i = q_i . k_i / (S_q S_k).

Source: appendix B, Eqs. 15-16; S from section 3, Eq. 1 (the operator the paper defines and ships).

False for d >= 4. The mean of the magnitudes only bounds the largest of them by P times itself, r_i <= P (S - eps), so
the bound is P^2 = (d/2)^2, and a vector with a single non-zero phasor reaches it at eps = 0. For every P >= 2 and
eps > 0, one phasor of magnitude 4 P eps already gives 16 P^2 / 25 > P. At d = 2 the two bounds coincide.

`eq16_rms` decides the same statement for the S that appendix A switches to.
"""

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, positive, times, total, total_except
from theory.exact import point
from theory.mrsnorm.eq17 import phasor
from theory.norms import mean_magnitude
from theory.phasors import P, eps, i, key, on_groups, q
from theory.statements import Hypothesis, Identity, Inequality

S_q, S_k = mean_magnitude(q), mean_magnitude(key)
POSITIVE_SCALES = (
    Hypothesis("S_q > 0", lambda at: at[eps] > 0 or any(at[q.components[0]]) or any(at[q.components[1]])),
    Hypothesis("S_k > 0", lambda at: at[eps] > 0 or any(at[key.components[0]]) or any(at[key.components[1]])),
)
WITNESS = point({eps: 0}, {i: 2}, q=[(3, 4), (21, 28)], key=[(3, 4), (21, 28)])
EXTRA = sp.Symbol("n", integer=True, nonnegative=True)  # P = 2 + n


def derived() -> sp.Expr:
    """P_i, the contribution of phasor i to the score."""
    return q[i].dot(key[i]) / (S_q * S_k)


def energy() -> sp.Expr:
    """r_q,i r_k,i / (S_q S_k), the middle of the chain."""
    return q.r[i] * key.r[i] / (S_q * S_k)


def printed() -> sp.Expr:
    """d/2."""
    return P


def corrected() -> sp.Expr:
    """(d/2)^2."""
    return P**2


def scales() -> Nonneg:
    """S_q S_k > 0."""
    return times(positive(S_q, "S_q > 0"), positive(S_k, "S_k > 0"))


def _share(family: object, scale: sp.Expr) -> Nonneg:
    """P S - r_i = sum_{k != i} r_k + P eps >= 0."""
    return plus(total_except(i, lambda k: known(family.r[k])), times(known(P), known(eps)))


def _corrected_proof() -> list[Nonneg]:
    """P^2 S_q S_k - r_q r_k = (P S_q - r_q) P S_k + r_q (P S_k - r_k)."""
    largest = plus(
        times(_share(q, S_q), plus(total(lambda k: known(key.r[k])), times(known(P), known(eps)))),
        times(known(q.r[i]), _share(key, S_k)),
    )
    return [*chain(), over(largest, scales())]


def chain() -> list[Nonneg]:
    """|P_i| <= r_q,i r_k,i / (S_q S_k), both signs."""
    return [over(phasor(i, sign), scales()) for sign in (-1, 1)]


def _single_phasor(magnitude: sp.Expr) -> sp.Expr:
    """The middle of the chain at q = k with one phasor of this magnitude and P - 1 zeros."""
    values = {q.r: magnitude, key.r: magnitude}
    return on_groups(energy(), [(1, values), (P - 1, dict.fromkeys(values, 0))], {i: 0})


def _at_least_two(expr: sp.Expr) -> sp.Expr:
    return sp.sympify(expr).subs(P, 2 + EXTRA)


STATEMENTS = (
    Inequality(
        "as printed",
        "|P_i| <= r_q r_k / (S_q S_k) <= d/2",
        lambda: ([derived(), -derived(), energy()], [energy(), energy(), printed()]),
        hypotheses=POSITIVE_SCALES,
        nonzero=(S_q, S_k),
        counterexample=WITNESS,
        expects="refuted",
    ),
    Inequality(
        "corrected",
        "|P_i| <= r_q r_k / (S_q S_k) <= (d/2)^2",
        lambda: ([derived(), -derived(), energy()], [energy(), energy(), corrected()]),
        _corrected_proof,
        hypotheses=POSITIVE_SCALES,
        nonzero=(S_q, S_k),
    ),
    Identity(
        "the corrected bound is reached",
        "at eps = 0 a single non-zero phasor gives (d/2)^2",
        lambda: (_single_phasor(sp.Integer(1)).subs(eps, 0), P**2),
    ),
    Inequality(
        "fails for every d >= 4 and eps > 0",
        "one phasor of magnitude 4 P eps gives 16 P^2 / 25 > P = d/2, for P = 2 + n",
        lambda: (_at_least_two(P), _at_least_two(_single_phasor(4 * P * eps))),
        lambda: times(
            known(sp.Rational(1, 25)),
            plus(known(2), known(EXTRA)),
            plus(known(7), times(known(16), known(EXTRA))),
        ),
        strict=True,
        scope="every P >= 2, every eps > 0",
    ),
)

MUTANTS = {"the true bound": lambda: P**2, "d^2": lambda: 4 * P**2}
CORRECTED_MUTANTS = {"d^2/8": lambda: P**2 / 2, "d/2": lambda: P, "(d/2)^2 - 1": lambda: P**2 - 1}
