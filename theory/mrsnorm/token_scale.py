"""token-scale: a token whose magnitude grows as a whole does not dominate the scores.

Claim: score(c q, k) = score(q, k) for every c > 0.

Source: section 5.3.

True if and only if eps = 0. With eps, for every P and c > 0, with m = S - eps the mean magnitude of q,

    score(c q, k) = c (m + eps) / (c m + eps) score(q, k):

the factor grows with c, from 0 towards S / m, and differs from 1 by (c - 1) eps / (c m + eps). So the growth is
bounded, as it is for RMSNorm, whose scores at eps = 0 are unchanged as well: it is no difference between the two.
"""

import sympy as sp

from theory.certificate import known, over, plus, positive, times
from theory.exact import point
from theory.norms import mean_magnitude, root_mean_square, score
from theory.phasors import N, P, eps, h, i, index_sum, key, q, substitute
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

c = sp.Symbol("c", positive=True)
S_k = sp.Symbol("S_k", positive=True)  # the scale of the key plays no part
x_q, y_q = q.components
S = mean_magnitude(q)
S_ZERO = mean_magnitude(q, sp.Integer(0))
MEAN = index_sum(lambda k: q.r[k]) / P


def scaled(expr: sp.Expr) -> sp.Expr:
    """The expression for c q in place of q; the magnitudes are then c r_q."""
    return substitute(expr, {base: lambda k, base=base: c * base[k] for base in (x_q, y_q, q.r)})


def derived(offset: sp.Expr = eps) -> sp.Expr:
    """score(c q, k) under Eq. 1, eps = `offset`."""
    return scaled(score(q, key, mean_magnitude(q, offset), S_k))


def printed(offset: sp.Expr = eps) -> sp.Expr:
    """score(q, k)."""
    return score(q, key, mean_magnitude(q, offset), S_k)


NO_EPS = Condition(
    "eps = 0",
    lambda: refute(
        Identity("the score of c q with eps", "", lambda: (derived(), printed())),
        point({eps: 1, c: 2, S_k: 1}, q=[(3, 4)], key=[(1, 0)]),
    ),
    lambda at: at[eps] == 0,
)
NON_ZERO = Hypothesis("S - eps > 0", lambda at: any(at[x_q]) or any(at[y_q]))


def factor() -> sp.Expr:
    """What eps leaves: score(c q, k) / score(q, k)."""
    return c * (MEAN + eps) / (c * MEAN + eps)


STATEMENTS = (
    Identity(
        "as printed",
        "score(c q, k) = score(q, k) for every c > 0",
        lambda: (derived(sp.Integer(0)), printed(sp.Integer(0))),
        (NO_EPS,),
        nonzero=(S_ZERO, scaled(S_ZERO), S_k),
        adjust=lambda at: at.with_({eps: 0}),
    ),
    Identity(
        "the magnitude of c z",
        "|c q_i|^2 = (c r_i)^2 and c r_i >= 0, as the substitution has it",
        lambda: (scaled(q.square(i)), scaled(q.r[i]) ** 2),
    ),
    Identity(
        "with eps",
        "score(c q, k) = c S / (c (S - eps) + eps) score(q, k)",
        lambda: (derived(), factor() * printed()),
        nonzero=(S, scaled(S), c * MEAN + eps, S_k),
    ),
    Identity(
        "only eps = 0",
        "the factor less 1 is (c - 1) eps / (c (S - eps) + eps): zero for c != 1 iff eps = 0",
        lambda: (factor() - 1, (c - 1) * eps / (c * MEAN + eps)),
        nonzero=(c * MEAN + eps,),
    ),
    Inequality(
        "the growth is bounded",
        "the factor is below S / (S - eps), for every c, wherever eps > 0",
        lambda: (factor(), (MEAN + eps) / MEAN),
        lambda: over(
            times(plus(positive(MEAN, NON_ZERO.text), known(eps)), positive(eps, "eps > 0")),
            times(positive(MEAN, NON_ZERO.text), plus(times(known(c), positive(MEAN, NON_ZERO.text)), known(eps))),
        ),
        hypotheses=(NON_ZERO, Hypothesis("eps > 0", lambda at: at[eps] > 0)),
        nonzero=(c * MEAN + eps, MEAN),
        strict=True,
    ),
    Identity(
        "RMSNorm",
        "at eps = 0 RMSNorm does the same: S_RMS(c x)^2 = c^2 S_RMS(x)^2, so c x_k / S_RMS(c x) = x_k / S_RMS(x)",
        lambda: (
            substitute(root_mean_square(h, sp.Integer(0)) ** 2, {h: lambda k: c * h[k]}),
            c**2 * root_mean_square(h, sp.Integer(0)) ** 2,
        ),
        nonzero=(N,),
    ),
)

MUTANTS = {
    "grows with c": lambda offset=eps: c * score(q, key, mean_magnitude(q, offset), S_k),
    "shrinks with c": lambda offset=eps: score(q, key, mean_magnitude(q, offset), S_k) / c,
    "S held constant": lambda offset=eps: scaled(score(q, key, S_k, S_k)),
}
