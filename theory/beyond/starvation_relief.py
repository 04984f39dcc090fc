"""starvation-relief: how much larger the scale of RMSNorm is than MRSNorm's, where an outlier inflates both.

Theorem, for every N = 2P and eps = 0, with S_RMS over the N channels and S over the P phasors of one h != 0:

    1/sqrt(2) <= S_RMS / S <= sqrt(N)/2.

The left side is met iff all magnitudes are equal, the right side iff a single phasor is non-zero (in one channel or in
both). It is a supremum where more are non-zero: S_RMS / S tends to it as one phasor outgrows the rest, at a known rate:

    (1 - delta) N/4 <= (S_RMS / S)^2   if sum_{k != i} r_k <= (delta/2) r_i.

With k equal outliers among other phasors of one magnitude the limit is sqrt(N/k)/2. Relative to equal magnitudes, whose
1/sqrt(2) the affine weight absorbs, the relief is therefore a factor of at most sqrt(P), also a supremum.

`mrsnorm.quadratic_outlier` decides the sentence that this replaces.
"""

from fractions import Fraction

import sympy as sp

from theory.certificate import Nonneg, given, known, over, plus, positive, square, times, total, total_except
from theory.exact import Point, evaluate
from theory.lemmas import lemma
from theory.mrsnorm import quadratic_outlier
from theory.norms import mean_magnitude
from theory.phasors import P, i, index_sum, j, on_groups, z
from theory.statements import Hypothesis, Identity, Inequality

S = mean_magnitude(z, sp.Integer(0))
TOTAL = index_sum(lambda k: z.r[k])
delta = sp.Symbol("delta", nonnegative=True)
count = sp.Symbol("k", integer=True, positive=True)
large, small = sp.symbols("A r", positive=True)

SOME = Hypothesis("some z_k != 0", lambda at: evaluate(TOTAL, at) > 0)
DIFFERENT = Hypothesis("r_i != r_j", lambda at: at[z.r[i]] != at[z.r[j]])
OUTGROWS = Hypothesis(
    "sum of r_k over k != i <= (delta/2) r_i",
    lambda at: evaluate(TOTAL, at) - at[z.r[i]] <= at[delta] / 2 * at[z.r[i]],
)


def derived() -> sp.Expr:
    """(S_RMS / S)^2 at eps = 0, S_RMS over the 2P channels."""
    return index_sum(lambda k: z.square(k)) / (2 * P) / S**2


def printed() -> tuple[sp.Expr, sp.Expr]:
    """The least value of (S_RMS / S)^2 and its supremum: 1/2 and N/4."""
    return sp.Rational(1, 2), P / 2


def whole() -> Nonneg:
    """sum r > 0."""
    return positive(TOTAL, SOME.text)


def _spread(strict: bool = False) -> Nonneg:
    """(S_RMS / S)^2 - 1/2 = sum over k, l of (r_k - r_l)^2 / (4 (sum r)^2)."""
    if strict:
        pair = positive((z.r[i] - z.r[j]) ** 2, DIFFERENT.text)
        own = plus(pair, total_except(j, lambda m: square(z.r[i] - z.r[m])))
        squares = plus(own, total_except(i, lambda k: total(lambda m: square(z.r[k] - z.r[m]))))
    else:
        squares = total(lambda k: total(lambda m: square(z.r[k] - z.r[m])))
    return over(squares, times(known(4), whole(), whole()))


def _others(k: sp.Expr) -> Nonneg:
    """sum r - r_k >= 0."""
    return total_except(k, lambda m: known(z.r[m]))


def _room() -> Nonneg:
    """N/4 - (S_RMS / S)^2 = (P/2) sum_k r_k (sum r - r_k) / (sum r)^2."""
    products = total(lambda k: times(known(z.r[k]), _others(k)))
    return over(times(known(P), products), times(known(2), whole(), whole()))


def _strict_room() -> Nonneg:
    """The same, positive where two phasors are non-zero."""
    products = lemma("mrsnorm.quadratic_outlier", "pairs of phasors")
    return over(times(known(P), *products), times(known(2), whole(), whole()))


def _near() -> Nonneg:
    """(S_RMS / S)^2 - (1 - delta) N/4, with T = sum r: (P/2) (sum r^2 - (1 - delta) T^2) / T^2.

    sum r^2 - (1 - delta) T^2 = sum_{k != i} r_k^2 + 2 r_i (delta r_i / 2 - R) + R (2 delta r_i - (1 - delta) R) with
    R = T - r_i, and the last bracket is delta r_i / 2 - R + delta (3 r_i / 2 + R).
    """
    gap = given(delta / 2 * z.r[i] - (TOTAL - z.r[i]), OUTGROWS.text)
    rest = _others(i)
    own = known(z.r[i])
    parts = plus(
        total_except(i, lambda k: square(z.r[k])),
        times(known(2), own, gap),
        times(rest, plus(gap, times(known(delta), plus(times(known(sp.Rational(3, 2)), own), rest)))),
    )
    return over(times(known(P), parts), times(known(2), whole(), whole()))


def grouped(number: sp.Expr, first: sp.Expr, second: sp.Expr) -> sp.Expr:
    """(S_RMS / S)^2 at `number` phasors of one magnitude and P - number of another."""
    x, y = z.components
    return on_groups(derived(), [(n, {x: v, y: 0, z.r: v}) for n, v in ((number, first), (P - number, second))])


def _distance() -> sp.Expr:
    """N/(4k) - (S_RMS / S)^2 for k outliers of magnitude A among P - k phasors of magnitude r."""
    rest = (P - count) * small
    return P * (2 * count * large * rest + rest**2 - count * rest * small) / (2 * count * (count * large + rest) ** 2)


def outgrowing(at: Point) -> Point:
    """The point with a delta that phasor i is large enough for."""
    others = evaluate(TOTAL, at) - at[z.r[i]]
    return at.with_({delta: 2 * others / at[z.r[i]] if at[z.r[i]] else Fraction(0)})


STATEMENTS = (
    Inequality(
        "as printed",
        "1/sqrt(2) <= S_RMS / S <= sqrt(N)/2 at eps = 0",
        lambda: ([printed()[0], derived()], [derived(), printed()[1]]),
        lambda: [_spread(), _room()],
        hypotheses=(SOME,),
        nonzero=(S, TOTAL),
    ),
    Inequality(
        "as printed",
        "S_RMS / S > 1/sqrt(2) if two magnitudes differ",
        lambda: (printed()[0], derived()),
        lambda: _spread(strict=True),
        hypotheses=(SOME, DIFFERENT),
        nonzero=(S, TOTAL),
        strict=True,
    ),
    Inequality(
        "as printed",
        "S_RMS / S < sqrt(N)/2 if two phasors are non-zero",
        lambda: (derived(), printed()[1]),
        _strict_room,
        hypotheses=(SOME, *quadratic_outlier.HYPOTHESES),
        nonzero=(S, TOTAL),
        strict=True,
    ),
    Inequality(
        "as printed",
        "it is the supremum: (S_RMS / S)^2 >= (1 - delta) N/4 if the other magnitudes add up to at most (delta/2) r_i",
        lambda: ((1 - delta) * printed()[1], derived()),
        _near,
        hypotheses=(SOME, OUTGROWS),
        nonzero=(S, TOTAL),
        adjust=outgrowing,
    ),
    Identity(
        "as printed",
        "equal magnitudes have 1/sqrt(2), a phasor alone sqrt(N)/2: the relief is a factor sqrt(P)",
        lambda: (
            [grouped(P, large, sp.Integer(0)), grouped(sp.Integer(1), large, sp.Integer(0)), P * printed()[0]],
            [printed()[0], printed()[1], printed()[1]],
        ),
        nonzero=(large,),
    ),
    Identity(
        "k equal outliers",
        "k phasors of magnitude A among P - k of magnitude r have (S_RMS / S)^2 = N/(4k) - O(1/A)",
        lambda: (P / (2 * count) - grouped(count, large, small), _distance()),
        nonzero=(
            count,
            count * large + (P - count) * small,
            (count * large + (P - count) * small) / P,
        ),
    ),
)

MUTANTS = {
    "sqrt(N/8)": lambda: (sp.Rational(1, 2), P / 4),
    "as for channels: sqrt(N)": lambda: (sp.Rational(1, 2), 2 * P),
    "1 for the least value": lambda: (sp.Integer(1), P / 2),
    "a relief of P": lambda: (sp.Rational(1, 2), P**2 / 2),
    "nothing for the least value": lambda: (sp.Integer(0), P / 2),
}
