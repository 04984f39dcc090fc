"""power-mean-logit: how large an attention score can be when S is a power mean of the magnitudes.

Theorem, for every P = d/2, S_p = (mean r^p)^(1/p), eps = 0, and all q, k != 0:

    |score(q, k)| <= P^(2/p) for 0 < p <= 2,   |score(q, k)| <= P = d/2 for p >= 2.

Both are reached: the first by q = k with a single non-zero phasor, the second by q = k with equal magnitudes. p = 1 is
MRSNorm's (d/2)^2 (`mrsnorm.eq18`), p = 2 the d/2 of its appendix (`mrsnorm.eq18_rms`).

Route, with n_p = P^(1/p) S_p: for p <= 2, sum r^2 <= n_p^2, so (n_p(q) n_p(k))^2 - (q . k)^2 is a sum of (n_p(q)^2 -
sum r_q^2) n_p(k)^2, of sum r_q^2 (n_p(k)^2 - sum r_k^2) and of Lagrange's squares. For p >= 2 the same with the mean of
r^2 <= S_p^2 in place of the sum.
"""

from fractions import Fraction

import sympy as sp

from theory.certificate import (
    Nonneg,
    cauchy_schwarz,
    difference,
    given,
    known,
    over,
    plus,
    positive,
    square,
    times,
    total,
)
from theory.exact import Point
from theory.norms import score
from theory.phasors import P, VectorFamily, index_sum, key, on_groups, q
from theory.power_means import mean_below, norm, p, power_mean, squared_magnitudes, sum_below
from theory.statements import Hypothesis, Identity, Inequality

S_q, S_k = power_mean(q), power_mean(key)
AT_MOST_TWO = Hypothesis("p <= 2", lambda at: at[p] <= 2)
AT_LEAST_TWO = Hypothesis("p >= 2", lambda at: at[p] >= 2)
NON_ZERO = {
    family: Hypothesis(f"{name} != 0", lambda at, f=family: any(any(at[base]) for base in f.components))
    for name, family in (("q", q), ("k", key))
}


def derived() -> sp.Expr:
    """The score at eps = 0."""
    return score(q, key, S_q, S_k)


def printed() -> tuple[sp.Expr, sp.Expr]:
    """The bounds for 0 < p <= 2 and for p >= 2."""
    return P ** (2 / p), P


def scales() -> Nonneg:
    """S_q S_k > 0."""
    return times(positive(S_q, NON_ZERO[q].text), positive(S_k, NON_ZERO[key].text))


def _inner(bounds: tuple[Nonneg, Nonneg], gaps: tuple[Nonneg, Nonneg], weight: Nonneg, sign: int) -> Nonneg:
    """a b - sign w (q . k) >= 0 from a^2 - w sum r_q^2 >= 0 and b^2 - w sum r_k^2 >= 0."""
    energy = times(weight, total(lambda k: square(q.r[k])))
    rest = plus(
        times(gaps[0], square(bounds[1].expr)),
        times(energy, gaps[1]),
        times(weight, weight, cauchy_schwarz(q, key)),
    )
    inner = weight.expr * index_sum(lambda k: q[k].dot(key[k]))
    return difference(times(*bounds), inner, rest, sign)


def _below_two() -> list[Nonneg]:
    """P^(2/p) -+ score = P^(2/p) (n_q n_k -+ q . k) / (n_q n_k)."""
    excess = given(2 - p, AT_MOST_TWO.text)
    gaps = (sum_below(q, excess), sum_below(key, excess))
    inner = [_inner((norm(q), norm(key)), gaps, known(sp.Integer(1)), sign) for sign in (-1, 1)]
    return [over(part, scales()) for part in inner]


def _above_two() -> list[Nonneg]:
    """P -+ score = P (S_q S_k -+ (q . k)/P) / (S_q S_k)."""
    exponent, room = over(known(2), known(p)), over(given(p - 2, AT_LEAST_TWO.text), known(2))
    gaps = tuple(mean_below(family, exponent, room, NON_ZERO[family].text) for family in (q, key))
    bounds = tuple(positive(power_mean(family), NON_ZERO[family].text) for family in (q, key))
    inner = [_inner(bounds, gaps, over(known(1), known(P)), sign) for sign in (-1, 1)]
    return [over(times(known(P), part), scales()) for part in inner]


def at_equal_pairs(count: sp.Expr) -> sp.Expr:
    """The score of q = k with `count` phasors (1, 0) and P - count zeros."""
    (x_q, y_q), (x_k, y_k) = q.components, key.components
    one = {x_q: 1, y_q: 0, q.r: 1, x_k: 1, y_k: 0, key.r: 1}
    return on_groups(derived(), [(count, one), (P - count, dict.fromkeys(one, 0))])


def _both_signs(bound: sp.Expr) -> tuple[list[sp.Expr], list[sp.Expr]]:
    return [derived(), -derived()], [bound, bound]


def rational_scales(at: Point) -> Point:
    """The point with p = 2, where S is rational for equal magnitudes."""
    return at.with_({p: Fraction(2)})


def _nonzero(family: VectorFamily) -> sp.Expr:
    return index_sum(lambda k: family.r[k] ** p)


NONZERO = (p, _nonzero(q), _nonzero(key))
STATEMENTS = (
    Inequality(
        "as printed",
        "|score| <= P^(2/p) = (d/2)^(2/p) for 0 < p <= 2",
        lambda: _both_signs(printed()[0]),
        _below_two,
        hypotheses=(AT_MOST_TWO, *NON_ZERO.values()),
        nonzero=NONZERO,
        adjust=squared_magnitudes,
    ),
    Inequality(
        "as printed",
        "|score| <= P = d/2 for p >= 2",
        lambda: _both_signs(printed()[1]),
        _above_two,
        hypotheses=(AT_LEAST_TWO, *NON_ZERO.values()),
        nonzero=NONZERO,
        adjust=rational_scales,
    ),
    Identity(
        "as printed",
        "the first bound is reached by q = k with a single non-zero phasor",
        lambda: (at_equal_pairs(sp.Integer(1)), printed()[0]),
        nonzero=(p,),
    ),
    Identity(
        "as printed",
        "the second bound is reached by q = k with equal magnitudes",
        lambda: (at_equal_pairs(P), printed()[1]),
        nonzero=(p,),
    ),
)

MUTANTS = {
    "d/2 for every p": lambda: (P, P),
    "P^(1/p)": lambda: (P ** (1 / p), P),
    "P^p": lambda: (P**p, P),
    "half of the second": lambda: (P ** (2 / p), P / 2),
    "the first for every p": lambda: (P ** (2 / p), P ** (2 / p)),
    "twice the first": lambda: (2 * P ** (2 / p), P),
}
