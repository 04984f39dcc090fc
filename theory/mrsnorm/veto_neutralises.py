"""veto-neutralises: a spike with an orthogonal phase has no effect on the score.

Claim: however large the magnitude A of phasor i of q grows, its surge is "completely neutralized" if q_i is orthogonal
to k_i.

Source: appendix B, after Eq. 15.

False. The spike adds nothing itself, but it enters S_q, which divides what all the others add. With
W = sum_{k != i} r_q,k + P eps, for every P and every S_k,

    score = score(A = 0) W / (W + A):

a hyperbola. The whole score falls as 1/A; A |score| <= W |score(A = 0)|, with equality in the limit. For d = 8,
eps = 0, keys of magnitude 1 and a query of ones but for the spike, a score of 4 becomes 12/1003 at A = 1000. An aligned
token is hidden by one outlier: the opposite of a safeguard. RMSNorm's scale does the same, as sqrt(E / (E + A^2)).
"""

from fractions import Fraction

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, square, times
from theory.exact import Point, point
from theory.norms import mean_magnitude
from theory.phasors import P, eps, i, index_sum, key, q
from theory.proof import Step
from theory.statements import Hypothesis, Identity, Inequality

S_k = sp.Symbol("S_k", positive=True)
S_q = mean_magnitude(q)
OTHERS = index_sum(lambda k: q[k].dot(key[k])) - q[i].dot(key[i])  # sum_{k != i} q_k . k_k
W = index_sum(lambda k: q.r[k]) - q.r[i] + P * eps
ORTHOGONAL = Hypothesis("q_i . k_i = 0", lambda at: _inner_product(at) == 0)
before = sp.Symbol("score_0", real=True)
w, spike = sp.symbols("W A", positive=True)


def _inner_product(at: Point) -> Fraction:
    place = at.positions[i]
    pairs = zip(q.components, key.components, strict=True)
    return sum((at.entry(a, place) * at.entry(b, place) for a, b in pairs), Fraction(0))


def derived() -> sp.Expr:
    """The score, where q_i . k_i = 0: the other phasors' inner products over the whole scale."""
    return OTHERS / (S_q * S_k)


def without_spike() -> sp.Expr:
    """The score at A = 0: the same, over the scale without r_i."""
    return OTHERS / (W / P * S_k)


def printed() -> sp.Expr:
    """The score is what it would be without the spike."""
    return without_spike()


def corrected() -> sp.Expr:
    """The score falls along a hyperbola in A = r_i."""
    return without_spike() * W / (W + q.r[i])


def turned_away(at: Point) -> Point:
    """The point with q_i orthogonal to k_i."""
    place = at.positions[i] - 1
    (x_q, y_q), (x_k, y_k) = q.components, key.components
    values = {x_q: list(at[x_q]), y_q: list(at[y_q])}
    values[x_q][place], values[y_q][place] = -at[y_k][place], at[x_k][place]
    return at.with_({base: tuple(entries) for base, entries in values.items()})


def rms_others() -> tuple[sp.Expr, sp.Expr]:
    """RMSNorm: S^2 with the spike, and S^2 without it plus A^2 / N."""
    whole = index_sum(lambda k: q.r[k] ** 2) / (2 * P) + eps
    without = (index_sum(lambda k: q.r[k] ** 2) - q.r[i] ** 2) / (2 * P) + eps
    return whole, without + q.r[i] ** 2 / (2 * P)


EXAMPLE = point({eps: 0, S_k: 1}, q=[(0, 1000), (1, 0), (1, 0), (1, 0)], key=[(1, 0), (1, 0), (1, 0), (1, 0)])
STATEMENTS = (
    Identity(
        "as printed",
        "a spike with q_i . k_i = 0 leaves the score as it would be without it",
        lambda: (derived(), printed()),
        hypotheses=(ORTHOGONAL,),
        nonzero=(S_q, S_k, W, W + q.r[i]),
        counterexample=EXAMPLE,
        adjust=turned_away,
        expects="refuted",
    ),
    Identity(
        "corrected",
        "score = score(A = 0) W / (W + A), W = sum_{k != i} r_k + P eps: the whole score falls as 1/A",
        lambda: (derived(), corrected()),
        hypotheses=(ORTHOGONAL,),
        nonzero=(S_q, S_k, W, W + q.r[i]),
        adjust=turned_away,
        derivation=lambda: [Step("what the other phasors add", OTHERS), Step("P S_q = W + A", W + q.r[i])],
    ),
    Inequality(
        "falls as 1/A",
        "(A score)^2 <= (W score(A = 0))^2 for every A",
        lambda: ((spike * before * w / (w + spike)) ** 2, (w * before) ** 2),
        lambda: _hyperbola(),
        nonzero=(w + spike,),
    ),
    Identity(
        "the limit",
        "A score -> W score(A = 0) as A grows: the difference is W^2 score(A = 0) / (W + A)",
        lambda: (w * before - spike * before * w / (w + spike), w**2 * before / (w + spike)),
        nonzero=(w + spike,),
    ),
    Identity(
        "RMSNorm's scale grows with the spike as well",
        "S_RMS^2 = S_RMS(A = 0)^2 + A^2 / N",
        rms_others,
    ),
)


def _hyperbola() -> Nonneg:
    """(W s)^2 - (A s W / (W + A))^2 = (W s)^2 (W^2 + 2 W A) / (W + A)^2."""
    whole = plus(known(w), known(spike))
    rest = plus(times(known(w), known(w)), times(known(2), known(w), known(spike)))
    return over(times(square(w * before), rest), times(whole, whole))


MUTANTS = {
    "the hyperbola": lambda: without_spike() * W / (W + q.r[i]),
    "over the whole scale": lambda: OTHERS / (S_q * S_k),
}
CORRECTED_MUTANTS = {
    "twice the spike": lambda: without_spike() * W / (W + 2 * q.r[i]),
    "falls as 1/A^2": lambda: without_spike() * W**2 / (W + q.r[i]) ** 2,
    "the spike over P": lambda: without_spike() * W / (W + q.r[i] / P),
    "eps forgotten": lambda: without_spike() * (W - P * eps) / (W - P * eps + q.r[i]),
    "no effect": without_spike,
}
