"""Eq. 18: the logit bound d/2, with S as Eq. 1 defines it.

Claim: |score| <= d/2, for every d.

Source: appendix B, Eq. 18; S from section 3, Eq. 1 (the operator the paper defines and ships).

False for every d >= 4 and every eps >= 0. The proof in the paper uses sum r^2 = (d/2) S^2, which Eq. 1 does not
satisfy. What holds is |score| <= (d/2)^2, reached at eps = 0 when one phasor carries everything. It is not a corner
case: at eps = 0 the score of any non-zero q with itself is at least d/2 (see `beyond.self_score`).

Route of the corrected bound: P^2 S_q S_k -+ sum q . k is a sum of r_q r_k -+ q . k over phasors, of r_q,k r_k,l over
pairs k != l, and of terms with eps, all non-negative.

`eq18_rms` decides the same statement for the S that appendix A switches to.
"""

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, times, total, total_apart
from theory.mrsnorm.eq16 import EXTRA, POSITIVE_SCALES, WITNESS, S_k, S_q, scales
from theory.mrsnorm.eq17 import phasor
from theory.norms import score
from theory.phasors import P, eps, key, on_groups, q
from theory.statements import Identity, Inequality


def derived() -> sp.Expr:
    """The score of Eq. 12."""
    return score(q, key, S_q, S_k)


def printed() -> sp.Expr:
    """d/2."""
    return P


def corrected() -> sp.Expr:
    """(d/2)^2 = d^2/4."""
    return P**2


def _corrected_proof() -> list[Nonneg]:
    pairs = total_apart(lambda k, m: times(known(q.r[k]), known(key.r[m])))
    magnitudes = plus(total(lambda k: known(q.r[k])), total(lambda k: known(key.r[k])))
    offset = plus(times(known(P), known(eps), magnitudes), times(known(P), known(P), known(eps), known(eps)))
    return [over(plus(total(lambda k, s=s: phasor(k, s)), pairs, offset), scales()) for s in (-1, 1)]


def _single_phasor(magnitude: sp.Expr) -> sp.Expr:
    """The score at q = k with one phasor (magnitude, 0) and P - 1 zeros."""
    (x_q, y_q), (x_k, y_k) = q.components, key.components
    values = {x_q: magnitude, y_q: 0, q.r: magnitude, x_k: magnitude, y_k: 0, key.r: magnitude}
    return on_groups(derived(), [(1, values), (P - 1, dict.fromkeys(values, 0))])


def _both_signs(bound: sp.Expr) -> tuple[list[sp.Expr], list[sp.Expr]]:
    return [derived(), -derived()], [bound, bound]


STATEMENTS = (
    Inequality(
        "as printed",
        "|score| <= d/2",
        lambda: _both_signs(printed()),
        hypotheses=POSITIVE_SCALES,
        nonzero=(S_q, S_k),
        counterexample=WITNESS,
        expects="refuted",
    ),
    Inequality(
        "corrected",
        "|score| <= (d/2)^2 = d^2/4",
        lambda: _both_signs(corrected()),
        _corrected_proof,
        hypotheses=POSITIVE_SCALES,
        nonzero=(S_q, S_k),
    ),
    Identity(
        "the corrected bound is reached",
        "at eps = 0, q = k with a single non-zero phasor has score (d/2)^2",
        lambda: (_single_phasor(sp.Integer(1)).subs(eps, 0), P**2),
    ),
    Inequality(
        "fails for every d >= 4 and eps > 0",
        "q = k with one phasor of magnitude 4 P eps has score 16 P^2 / 25 > P = d/2, for P = 2 + n",
        lambda: (2 + EXTRA, _single_phasor(4 * P * eps).subs(P, 2 + EXTRA)),
        lambda: times(
            known(sp.Rational(1, 25)),
            plus(known(2), known(EXTRA)),
            plus(known(7), times(known(16), known(EXTRA))),
        ),
        strict=True,
        scope="every P >= 2, every eps > 0",
    ),
    Inequality(
        "fails for every d >= 4 at eps = 0",
        "q = k with a single non-zero phasor has score P^2 > P = d/2, for P = 2 + n",
        lambda: (2 + EXTRA, _single_phasor(sp.Integer(1)).subs(eps, 0).subs(P, 2 + EXTRA)),
        lambda: times(plus(known(2), known(EXTRA)), plus(known(1), known(EXTRA))),
        strict=True,
        scope="every P >= 2, eps = 0",
    ),
)

MUTANTS = {"the true bound": lambda: P**2, "d^2": lambda: 4 * P**2}
CORRECTED_MUTANTS = {"d^2/8": lambda: P**2 / 2, "d/2": lambda: P, "d^2/4 - 1": lambda: P**2 - 1}
