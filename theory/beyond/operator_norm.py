"""operator-norm: how much a layer that divides by a power mean can amplify, in the 2-norm.

Theorem, for every P, S_p = (mean r^p)^(1/p), p > 0, eps = 0, gamma = 1 and every z_k != 0: the Jacobian J of
h -> h / S_p, a matrix of size 2P, has the operator norm

    |J|_2 = kappa_p / S_p,   kappa_p = rms(r) rms(r^(p-1)) / mean(r^p) >= 1.

kappa_p = 1 iff p = 2 or all magnitudes are equal. kappa_p <= P^|1/p - 1/2| for p >= 1. For p > 1, kappa_p at r is
kappa_q at r^(p-1), q = p/(p-1): conjugate exponents have the same values, though not at the same r. For p < 1 there is
no bound at any P >= 2: p = 1 - w/2, one phasor (1, 0) and P - 1 phasors (t, 0) with t = C^(-1/w) have kappa_p^2 >=
C (P-1)/P^2, for every C >= 1.

Route: J = (I - z v^T) / S_p with |z| |v| = kappa_p (`theory.power_mean_jacobian`); where a = v - z/|z|^2 is not 0 it is
amplified by kappa_p / S_p, and where it is 0 the norm is 1/S_p. kappa_p >= 1, with its cases of equality, is the
Cauchy-Schwarz inequality for r and r^(p-1). The bounds for p >= 1 are those of `theory.power_means`.
"""

import sympy as sp

from theory.beyond import power_mean as power_mean_claim
from theory.certificate import (
    Nonneg,
    given,
    known,
    monotone,
    over,
    plus,
    positive,
    power,
    same,
    square,
    times,
    total,
    total_apart,
    total_except,
)
from theory.exact import point
from theory.phasors import P, i, index_sum, j, on_groups, substitute, z
from theory.power_mean_jacobian import ANY, SQUARES, TOTAL, S, a, differentiated, energy, image, turned, upper, v
from theory.power_means import mean_below, mean_power, p, squared_magnitudes, sum_below
from theory.statements import Hypothesis, Identity, Inequality

NONZERO = (p, TOTAL, SQUARES, z.r)
C = sp.Symbol("C", positive=True)
w = sp.Symbol("w", positive=True)  # p = 1 - w/2
EXTRA = sp.Symbol("n", integer=True, nonnegative=True)  # P = 1 + n

EVERY, LARGER = power_mean_claim.EVERY, power_mean_claim.LARGER
ABOVE_TWO = Hypothesis("p > 2", lambda at: at[p] > 2)
BELOW_TWO = Hypothesis("p < 2", lambda at: at[p] < 2)
AT_LEAST_TWO = Hypothesis("p >= 2", lambda at: at[p] >= 2)
AT_MOST_TWO = Hypothesis("p <= 2", lambda at: at[p] <= 2)
ABOVE_ONE = Hypothesis("p > 1", lambda at: at[p] > 1)


def derived() -> sp.Matrix:
    """(J b)_i for any b, by differentiation."""
    return differentiated()


def printed(exponent: sp.Expr = p) -> sp.Expr:
    """kappa^2 = mean r^2 mean r^(2p-2) / (mean r^p)^2."""
    other = mean_power(z, sp.cancel(2 * exponent - 2))
    return mean_power(z, sp.Integer(2)) * other / mean_power(z, exponent) ** 2


def _pairs(k: sp.Expr, m: sp.Expr) -> sp.Expr:
    return z.r[k] * z.r[m] ** (p - 1) - z.r[m] * z.r[k] ** (p - 1)


def _at_least_one(strict: Nonneg | None = None) -> Nonneg:
    """kappa^2 - 1 = (1/2) sum over k, l of (r_k r_l^(p-1) - r_l r_k^(p-1))^2 / (sum r^p)^2.

    `strict` proves that the square for k = i, l = j is positive; it is then taken out of the double sum.
    """
    whole = positive(TOTAL, EVERY.text)
    if strict is None:
        squares = total(lambda k: total(lambda m: square(_pairs(k, m))))
    else:
        own = plus(strict, total_except(j, lambda m: square(_pairs(i, m))))
        squares = plus(own, total_except(i, lambda k: total(lambda m: square(_pairs(k, m)))))
    return over(squares, times(known(2), whole, whole))


def _unequal(exponent: Nonneg) -> Nonneg:
    """(r_i r_j^(p-1) - r_j r_i^(p-1))^2 > 0 for r_i > r_j > 0 and p - 2 = +-exponent."""
    small = positive(z.r[j], EVERY.text)
    powers = monotone(positive(z.r[i] - z.r[j], LARGER.text), small, exponent)
    product = times(plus(positive(z.r[i] - z.r[j], LARGER.text), small), small)
    factor = power(product, p - 1 if exponent.expr == 2 - p else sp.Integer(1))
    return same(times(factor, factor, powers, powers), _pairs(i, j) ** 2)


def _above_two() -> Nonneg:
    """P^(1-2/p) - kappa^2, from mean r^2 <= S^2 and sum r^(2p-2) <= n^(2p-2)."""
    excess = given(p - 2, AT_LEAST_TWO.text)
    gap = mean_below(z, over(known(2), known(p)), over(excess, known(2)), EVERY.text)
    return _bound(gap, power(known(P), 1 - 2 / p), 2 * p - 2, sp.Integer(2), sum_below(z, excess))


def _below_two() -> Nonneg:
    """P^(2/p-1) - kappa^2, from mean r^(2p-2) <= S^(2p-2) and sum r^2 <= n^2."""
    excess, above = given(2 - p, AT_MOST_TWO.text), times(known(2), positive(p - 1, ABOVE_ONE.text))
    gap = mean_below(z, over(above, known(p)), over(excess, above), EVERY.text, lambda r: positive(r, EVERY.text))
    return _bound(gap, power(known(P), 2 / p - 1), sp.Integer(2), 2 * p - 2, sum_below(z, excess))


def _bound(gap: Nonneg, limit: Nonneg, other: sp.Expr, exponent: sp.Expr, rest: Nonneg) -> Nonneg:
    """(limit S^other (S^e - mean r^e) + mean r^e (n^other - sum r^other)/P) / (mean r^p)^2 >= 0, e = `exponent`."""
    scale, mean = positive(S, EVERY.text), positive(mean_power(z), EVERY.text)
    lower = over(total(lambda k: power(positive(z.r[k], EVERY.text), exponent)), known(P))
    whole = plus(times(gap, limit, power(scale, other)), times(lower, over(rest, known(P))))
    return over(whole, times(mean, mean))


def _at_one() -> Nonneg:
    """P - kappa^2 for p = 1: (sum r)^2 - sum r^2 is a sum over pairs."""
    whole = positive(index_sum(lambda k: z.r[k]), EVERY.text)
    return over(times(known(P), total_apart(lambda k, m: times(known(z.r[k]), known(z.r[m])))), times(whole, whole))


def _one_among(exponent: sp.Expr, small: sp.Expr) -> sp.Expr:
    """kappa^2 at a magnitude 1 among P - 1 magnitudes `small`, for P = 1 + n."""
    return on_groups(printed(exponent), [(1, {z.r: 1}), (P - 1, {z.r: small})]).subs(P, 1 + EXTRA)


SMALL = C ** (-1 / w)


def _unbounded() -> Nonneg:
    """kappa^2 - C n/P^2 = (1 + n t^2 (1 + n C)) / D^2 + n C (P^2 - D^2) / (P D)^2, D = 1 + n t^p <= P."""
    n, count = known(EXTRA), plus(known(1), known(EXTRA))
    exponent = over(known(1), known(w))
    gap = over(monotone(given(C - 1, "C >= 1"), known(1), exponent), power(known(C), exponent.expr))
    gap = same(gap, 1 - SMALL)
    below = monotone(gap, power(known(C), -1 / w), over(given(2 - w, "w < 2"), known(2)))
    inside = plus(known(1), times(n, power(power(known(C), -1 / w), 1 - w / 2)))
    difference = times(n, below, plus(count, inside))
    first = plus(known(1), times(n, square(SMALL), plus(known(1), times(n, known(C)))))
    return plus(
        over(first, times(inside, inside)),
        over(times(n, known(C), difference), times(count, count, inside, inside)),
    )


STATEMENTS = (
    Identity(
        "as printed",
        "kappa_p = rms(r) rms(r^(p-1)) / mean(r^p) is |z| |v|, v_k = r_k^(p-1) u_k / sum r^p",
        lambda: (SQUARES * energy(v), printed()),
        hypotheses=(EVERY,),
        nonzero=NONZERO,
        adjust=squared_magnitudes,
    ),
    Identity(
        "as printed",
        "J b = (b - z (v . b)) / S_p for every b",
        lambda: (derived(), image(ANY)(i)),
        hypotheses=(EVERY,),
        nonzero=NONZERO,
        adjust=squared_magnitudes,
    ),
    Inequality(
        "as printed",
        "|J b| <= (kappa_p / S_p) |b| for every b",
        lambda: (energy(image(ANY)), printed() / S**2 * energy(ANY)),
        lambda: upper(EVERY.text),
        hypotheses=(EVERY,),
        nonzero=NONZERO,
    ),
    Identity(
        "as printed",
        "that is reached: |J a| = (kappa_p / S_p) |a| for a = v - z/|z|^2",
        lambda: (energy(image(a)), printed() / S**2 * energy(a)),
        hypotheses=(EVERY,),
        nonzero=NONZERO,
    ),
    Identity(
        "as printed",
        "where a = 0, kappa_p = 1: |a|^2 |z|^2 = kappa_p^2 - 1",
        lambda: (energy(a) * SQUARES, printed() - 1),
        hypotheses=(EVERY,),
        nonzero=NONZERO,
        adjust=squared_magnitudes,
    ),
    Identity(
        "as printed",
        "and 1/S_p is reached as well: by z turned by 90 degrees",
        lambda: (energy(image(turned)), energy(turned) / S**2),
        hypotheses=(EVERY,),
        nonzero=NONZERO,
    ),
    Inequality(
        "as printed",
        "kappa_p >= 1",
        lambda: (1, printed()),
        _at_least_one,
        hypotheses=(EVERY,),
        nonzero=NONZERO,
        adjust=squared_magnitudes,
    ),
    Identity(
        "as printed",
        "kappa_p = 1 for p = 2, and where all magnitudes are equal",
        lambda: ([printed(sp.Integer(2)), on_groups(printed(), [(P, {z.r: C})])], [1, 1]),
        nonzero=(SQUARES, C, C**p),
    ),
    Inequality(
        "as printed",
        "kappa_p > 1 for p > 2 and two different magnitudes",
        lambda: (1, printed()),
        lambda: _at_least_one(_unequal(positive(p - 2, ABOVE_TWO.text))),
        hypotheses=(ABOVE_TWO, LARGER, EVERY),
        nonzero=NONZERO,
        strict=True,
    ),
    Inequality(
        "as printed",
        "kappa_p > 1 for p < 2 and two different magnitudes",
        lambda: (1, printed()),
        lambda: _at_least_one(_unequal(positive(2 - p, BELOW_TWO.text))),
        hypotheses=(BELOW_TWO, LARGER, EVERY),
        nonzero=NONZERO,
        adjust=squared_magnitudes,
        strict=True,
    ),
    Inequality(
        "as printed",
        "kappa_p <= P^(1/2 - 1/p) for p >= 2",
        lambda: (printed(), P ** (1 - 2 / p)),
        _above_two,
        hypotheses=(AT_LEAST_TWO, EVERY),
        nonzero=NONZERO,
    ),
    Inequality(
        "as printed",
        "kappa_p <= P^(1/p - 1/2) for 1 < p <= 2",
        lambda: (printed(), P ** (2 / p - 1)),
        _below_two,
        hypotheses=(AT_MOST_TWO, ABOVE_ONE, EVERY),
        nonzero=NONZERO,
    ),
    Inequality(
        "as printed",
        "kappa_1 <= P^(1/2)",
        lambda: (printed(sp.Integer(1)), P),
        _at_one,
        hypotheses=(EVERY,),
        nonzero=(index_sum(lambda k: z.r[k]),),
    ),
    Identity(
        "as printed",
        "kappa_q at r^(p-1) is kappa_p at r, for q = p/(p-1), p > 1",
        lambda: (substitute(printed(p / (p - 1)), {z.r: lambda k: z.r[k] ** (p - 1)}), printed()),
        hypotheses=(ABOVE_ONE, EVERY),
        nonzero=(*NONZERO, p - 1),
    ),
    Inequality(
        "as printed",
        "p = 1 - w/2 < 1: magnitudes 1 and n = P - 1 times C^(-1/w) have kappa_p^2 >= C n/P^2, for every C >= 1",
        lambda: (C * EXTRA / (1 + EXTRA) ** 2, _one_among(1 - w / 2, SMALL)),
        _unbounded,
        hypotheses=(Hypothesis("C >= 1", lambda at: at[C] >= 1), Hypothesis("w < 2", lambda at: at[w] < 2)),
        nonzero=(1 + EXTRA, 1 + EXTRA * SMALL ** (1 - w / 2), w),
    ),
    Identity(
        "conjugate exponents at the same r",
        "kappa_p and kappa_q, q = p/(p-1), agree at every r",
        lambda: (printed(sp.Integer(3)), printed(sp.Rational(3, 2))),
        hypotheses=(EVERY,),
        nonzero=(index_sum(lambda k: z.r[k] ** 3), index_sum(lambda k: z.r[k] ** sp.Rational(3, 2))),
        counterexample=point(z=[(1, 0), (4, 0)]),
        expects="refuted",
    ),
)

MUTANTS = {
    "rms(r) / mean(r) for every p": lambda e=p: mean_power(z, sp.Integer(2)) / mean_power(z, sp.Integer(1)) ** 2,
    "no amplification": lambda e=p: sp.Integer(1),
    "mean for rms": lambda e=p: (mean_power(z, sp.Integer(1)) * mean_power(z, e - 1) / mean_power(z, e)) ** 2,
    "the power p": lambda e=p: mean_power(z, sp.Integer(2)) * mean_power(z, 2 * e) / mean_power(z, e + 1) ** 2,
    "P for the supremum": lambda e=p: P ** sp.Abs(2 / e - 1),
}
