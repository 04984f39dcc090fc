"""quadratic-outlier: a sum of squares lets one outlier dominate the denominator, a mean of magnitudes does not.

Claim: in S, no single phasor outweighs all the others together.

Source: section 1; section 2.1.

False: the mean of the magnitudes is dominated too. If phasor i grows and the others stay, its share r_i / (P S) tends
to 1, and S grows like r_i / P = 2 r_i / N, as S_RMS does like r_i / sqrt(N): both linearly. What there is, is a factor.
For every vector, with T = sum r and eps = 0,

    0 <= N/4 - (S_RMS / S)^2 <= (N/4) ((T / r_i)^2 - 1),

strictly on the left if another phasor is non-zero. So S_RMS / S < sqrt(N)/2, a supremum that is approached as one
phasor outgrows the rest (in one channel or in both), and above 1 only for N > 4; k equal outliers approach
sqrt(N/k)/2. Vectors of equal magnitudes already have S_RMS / S = 1/sqrt(2), which the affine weight absorbs: the relief
that an outlier brings is at most a factor sqrt(P).
"""

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, positive, square, times, total_except
from theory.exact import evaluate, point
from theory.norms import mean_magnitude
from theory.phasors import P, i, index_sum, on_groups, z
from theory.statements import Hypothesis, Identity, Inequality

S = mean_magnitude(z, sp.Integer(0))
TOTAL = index_sum(lambda k: z.r[k])
k_outliers = sp.Symbol("k", integer=True, positive=True)
A = sp.Symbol("A", positive=True)
common = sp.Symbol("r", nonnegative=True)  # the magnitude of every phasor that is no outlier


def derived() -> sp.Expr:
    """What phasor i contributes to P S at eps = 0."""
    return z.r[i]


def printed() -> sp.Expr:
    """What all the others contribute."""
    return TOTAL - z.r[i]


def others() -> sp.Expr:
    """T - r_i, the sum of the magnitudes of all the other phasors."""
    return TOTAL - z.r[i]


def squared_ratio() -> sp.Expr:
    """(S_RMS / S)^2 at eps = 0, S_RMS over the 2P channels."""
    return index_sum(lambda k: z.square(k)) / (2 * P) / S**2


def corrected() -> tuple[sp.Expr, sp.Expr]:
    """The supremum of (S_RMS / S)^2, N/4, and a bound on how far below it the ratio is."""
    return P / 2, P / 2 * ((TOTAL / z.r[i]) ** 2 - 1)


OUTLIER = "r_i > 0"
OTHERS = "another phasor is non-zero"


def _pairs() -> Nonneg:
    """T^2 - sum r^2 = sum_k r_k (T - r_k) > 0: its term k = i is r_i (T - r_i)."""
    own = times(positive(z.r[i], OUTLIER), positive(others(), OTHERS))
    rest = total_except(i, lambda k: times(known(z.r[k]), total_except(k, lambda m: known(z.r[m]))))
    return plus(own, rest)


def _room() -> Nonneg:
    """N/4 - (S_RMS / S)^2 = (P/2) (T^2 - sum r^2) / T^2."""
    whole = plus(positive(z.r[i], OUTLIER), positive(others(), OTHERS))
    return over(times(known(P), _pairs()), times(known(2), whole, whole))


def _rate() -> Nonneg:
    """(T/r_i)^2 - 1 - (1 - sum r^2 / T^2) = (T/r_i - r_i/T)^2 + (sum r^2 - r_i^2) / T^2."""
    whole = plus(positive(z.r[i], OUTLIER), positive(others(), OTHERS))
    rest = over(total_except(i, lambda k: square(z.r[k])), times(whole, whole))
    return times(over(known(P), known(2)), plus(square(TOTAL / z.r[i] - z.r[i] / TOTAL), rest))


def _grouped(expr: sp.Expr, count: sp.Expr, large: sp.Expr, small: sp.Expr) -> sp.Expr:
    """The value at `count` phasors of one magnitude on the x axis and P - count of another."""
    x, y = z.components
    return on_groups(expr, [(count, {x: large, y: 0, z.r: large}), (P - count, {x: small, y: 0, z.r: small})])


def _outliers() -> tuple[sp.Expr, sp.Expr]:
    a, b = (P - k_outliers) * common, (P - k_outliers) * common**2
    off = P * (k_outliers * b - 2 * k_outliers * A * a - a**2) / (2 * k_outliers * (k_outliers * A + a) ** 2)
    return _grouped(squared_ratio(), k_outliers, A, common) - P / (2 * k_outliers), off


HYPOTHESES = (
    Hypothesis(OUTLIER, lambda at: at[z.r[i]] > 0),
    Hypothesis(OTHERS, lambda at: evaluate(others(), at) > 0),
)

STATEMENTS = (
    Inequality(
        "as printed",
        "r_i <= sum of r_k over k != i: no phasor outweighs all the others in S",
        lambda: (derived(), printed()),
        counterexample=point(z=[(3, 4), (21, 28)], positions={i: 2}),
        expects="refuted",
    ),
    Inequality(
        "pairs of phasors",
        "sum r^2 < (sum r)^2 if two phasors are non-zero",
        lambda: (index_sum(lambda k: z.r[k] ** 2), TOTAL**2),
        _pairs,
        hypotheses=HYPOTHESES,
        strict=True,
    ),
    Inequality(
        "corrected",
        "S_RMS / S < sqrt(N)/2 at eps = 0, if two phasors are non-zero",
        lambda: (squared_ratio(), corrected()[0]),
        _room,
        hypotheses=HYPOTHESES,
        nonzero=(S, TOTAL),
        strict=True,
    ),
    Inequality(
        "corrected",
        "that is the supremum: N/4 - (S_RMS / S)^2 <= (N/4) ((sum r / r_i)^2 - 1), which tends to 0 as phasor i "
        "outgrows the others",
        lambda: (P / 2 - squared_ratio(), corrected()[1]),
        _rate,
        hypotheses=HYPOTHESES,
        nonzero=(S, TOTAL, z.r[i]),
    ),
    Identity(
        "one phasor alone",
        "a single non-zero phasor has (S_RMS / S)^2 = N/4",
        lambda: (_grouped(squared_ratio(), sp.Integer(1), A, sp.Integer(0)), P / 2),
        nonzero=(A,),
    ),
    Identity(
        "k equal outliers",
        "k phasors of magnitude A among P - k of magnitude r have (S_RMS / S)^2 = N/(4k) + O(1/A)",
        _outliers,
        nonzero=(k_outliers, k_outliers * A + (P - k_outliers) * common, A * k_outliers + common * (P - k_outliers)),
    ),
    Identity(
        "net relief",
        "(S_RMS / S)^2 for one phasor alone is P times that of equal magnitudes, which is 1/2",
        lambda: (
            [
                _grouped(squared_ratio(), sp.Integer(1), A, sp.Integer(0)),
                _grouped(squared_ratio(), P, A, sp.Integer(0)),
            ],
            [P * _grouped(squared_ratio(), P, A, sp.Integer(0)), sp.Rational(1, 2)],
        ),
        nonzero=(A,),
    ),
)

MUTANTS = {"all phasors together": lambda: TOTAL, "P times the others": lambda: P * TOTAL}
RATE = P / 2 * ((TOTAL / z.r[i]) ** 2 - 1)
CORRECTED_MUTANTS = {
    "sqrt(N/8)": lambda: (P / 4, RATE),
    "1/sqrt(2), as for equal magnitudes": lambda: (sp.Rational(1, 2), RATE),
    "half the distance": lambda: (P / 2, RATE / 2),
    "the first power": lambda: (P / 2, P / 2 * (TOTAL / z.r[i] - 1)),
}
