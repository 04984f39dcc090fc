"""Eq. 17: the Cauchy-Schwarz chain for the attention score.

Claim, for every P = d/2 and any positive S_q, S_k:

    |score| <= sum_i r_q,i r_k,i / (S_q S_k) <= sqrt(sum_i r_q,i^2) sqrt(sum_i r_k,i^2) / (S_q S_k).

Source: appendix B, Eq. 17.
Route: r_q r_k +- q . k >= 0 for each phasor, since (r_q r_k)^2 - (q . k)^2 is the square of the cross product; then
Lagrange's identity for the magnitudes.
"""

import sympy as sp

from theory.certificate import Nonneg, cauchy_schwarz, difference, known, over, positive, root, square, times, total
from theory.lemmas import at, lemma
from theory.phasors import VectorFamily, cross, i, index_sum, key, q
from theory.statements import Hypothesis, Inequality

S_q, S_k = sp.symbols("S_q S_k", positive=True)
POSITIVE_SCALES = (Hypothesis("S_q > 0", lambda at: True), Hypothesis("S_k > 0", lambda at: True))


def scales() -> Nonneg:
    """S_q S_k > 0."""
    return times(positive(S_q, "S_q > 0"), positive(S_k, "S_k > 0"))


def aligned(k: sp.Expr, sign: int) -> Nonneg:
    """r_q,k r_k,k - q_k . k_k >= 0 (with `sign=1`: plus), for one phasor."""
    magnitudes = times(known(q.r[k]), known(key.r[k]))
    return difference(magnitudes, q[k].dot(key[k]), square(cross(q[k], key[k])), sign)


def phasor(index: sp.Expr, sign: int) -> Nonneg:
    """The statement "one phasor" as a lemma, for any index and either sign."""
    minus, plus_ = lemma("mrsnorm.eq17", "one phasor")
    return at(plus_ if sign > 0 else minus, index, instead_of=i)


def derived() -> sp.Expr:
    """The score."""
    return index_sum(lambda k: q[k].dot(key[k])) / (S_q * S_k)


def energies() -> sp.Expr:
    """sum r_q r_k / (S_q S_k), the middle of the chain."""
    return index_sum(lambda k: q.r[k] * key.r[k]) / (S_q * S_k)


def printed() -> sp.Expr:
    """The right end of the chain."""
    return sp.sqrt(index_sum(lambda k: q.r[k] ** 2)) * sp.sqrt(index_sum(lambda k: key.r[k] ** 2)) / (S_q * S_k)


def _proof() -> list[Nonneg]:
    ends = times(
        root(total(lambda k: square(q.r[k]))),
        root(total(lambda k: square(key.r[k]))),
    )
    lagrange = cauchy_schwarz(VectorFamily((q.r,), q.r), VectorFamily((key.r,), key.r))
    middle = index_sum(lambda k: q.r[k] * key.r[k])
    return [
        over(total(lambda k: phasor(k, -1)), scales()),
        over(total(lambda k: phasor(k, 1)), scales()),
        over(difference(ends, middle, lagrange), scales()),
    ]


STATEMENTS = (
    Inequality(
        "as printed",
        "|score| <= sum r_q r_k / (S_q S_k) <= sqrt(sum r_q^2 sum r_k^2) / (S_q S_k)",
        lambda: ([derived(), -derived(), energies()], [energies(), energies(), printed()]),
        _proof,
        hypotheses=POSITIVE_SCALES,
        nonzero=(S_q, S_k),
    ),
    Inequality(
        "one phasor",
        "|q_i . k_i| <= r_q,i r_k,i",
        lambda: ([q[i].dot(key[i]), -q[i].dot(key[i])], [q.r[i] * key.r[i]] * 2),
        lambda: [aligned(i, -1), aligned(i, 1)],
    ),
)

_Q, _K = index_sum(lambda k: q.r[k] ** 2), index_sum(lambda k: key.r[k] ** 2)
MUTANTS = {
    "half the bound": lambda: sp.sqrt(_Q) * sp.sqrt(_K) / (2 * S_q * S_k),
    "smallest of the two sums": lambda: _Q / (S_q * S_k),
    "root of the product forgotten": lambda: (_Q + _K) / (4 * S_q * S_k),
}
