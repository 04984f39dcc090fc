"""Which scales treat every phasor alike in the backward pass: three lemmas, and the scale they leave.

For o_k = gamma_k z_k / S(r) with slopes D_k = dS/dr_k, the input gradient at phasor i contains, beside the direct term,
(D_i / S^2) (sum_k gamma_k g_k . z_k) u_i. Uniform interference therefore means |D_i| = |D_j| = D for all i, j.

Theorem: a positive scale S(r) that is continuously differentiable for r > 0, homogeneous of degree 1, and has uniform
interference, is S(1, ..., 1) times the mean magnitude.

Euler's theorem gives sum r_k D_k = S > 0, so D > 0 everywhere, and each D_k keeps its sign. A negative D_i contradicts
S > 0 where r_i is at least the sum of the others. So all D_k = D, and S is constant along the segment from r to
(m, ..., m), m = mean r: S(r) = m S(1, ..., 1).
"""

import sympy as sp

from theory.certificate import Nonneg, given, known, plus, times, total_except
from theory.exact import Point, evaluate
from theory.kinds.deduction import Deduction
from theory.norms import loss
from theory.phasors import P, derivative, g, gamma, gradient, i, index_sum, scalar_family, z
from theory.statements import Hypothesis, Identity, Inequality

SCALE = sp.Symbol("S", positive=True)  # the value of S(r)
SLOPE = scalar_family("D")  # its slopes dS/dr_k
D = sp.Symbol("D", nonnegative=True)  # their common absolute value


def slope_term(index: sp.Symbol) -> sp.Matrix:
    """gamma_i g_i / S - dL/dz_i, with dL/dz_i by the chain rule through S."""
    outer = loss(z, g, SCALE)
    whole = gradient(outer, z, index) + derivative(outer, SCALE) * SLOPE[index] * z.unit(index)
    return gamma[index] * g[index] / SCALE - whole


def with_slopes(at: Point) -> Point:
    """The point with some slopes, and D the largest absolute value among them."""
    return at.with_({SLOPE: at[gamma], D: max(map(abs, at[gamma]))})


def _excess() -> sp.Expr:
    """r_i less the sum of the other magnitudes."""
    return 2 * z.r[i] - index_sum(lambda k: z.r[k])


def _one_sign() -> Nonneg:
    """-sum r_k D_k = r_i (-D - D_i) + D (r_i - sum_{k != i} r_k) + sum_{k != i} r_k (D - D_k) >= 0."""
    return plus(
        times(known(z.r[i]), given(-D - SLOPE[i], "D_i = -D")),
        times(known(D), given(_excess(), "r_i >= sum of r_k over k != i")),
        total_except(i, lambda k: times(known(z.r[k]), given(D - SLOPE[k], "D_k <= D for every k"))),
    )


def _conclusion() -> sp.Basic:
    scale, dots = sp.Function("S"), sp.Symbol("...")
    return sp.Eq(scale(z.r[1], dots, z.r[P]), index_sum(lambda k: z.r[k]) / P * scale(1, dots, 1), evaluate=False)


LEMMAS = (
    Identity(
        "slopes of a scale",
        "beside the direct term the gradient has (D_i / S^2) (sum gamma_k g_k . z_k) u_i, for any slopes D_k = dS/dr_k",
        lambda: (slope_term(i), SLOPE[i] / SCALE**2 * index_sum(lambda k: gamma[k] * g[k].dot(z[k])) * z.unit(i)),
        nonzero=(SCALE, z.r),
        adjust=with_slopes,
    ),
    Inequality(
        "slopes of one sign",
        "sum r_k D_k <= 0 if D_i = -D, every D_k <= D and r_i >= the sum of the others",
        lambda: (index_sum(lambda k: z.r[k] * SLOPE[k]), 0),
        _one_sign,
        hypotheses=(
            Hypothesis("D_i = -D", lambda at: at[SLOPE][at.positions[i] - 1] == -at[D]),
            Hypothesis("r_i >= sum of r_k over k != i", lambda at: evaluate(_excess(), at) >= 0),
            Hypothesis("D_k <= D for every k", lambda at: all(slope <= at[D] for slope in at[SLOPE])),
        ),
        adjust=with_slopes,
    ),
    Identity(
        "the way to equal magnitudes",
        "with all slopes D, S does not change along r + t (m - r), m = mean r: sum_k D (m - r_k) = 0",
        lambda: (index_sum(lambda k: D * (index_sum(lambda m: z.r[m]) / P - z.r[k])), 0),
    ),
)

UNIQUE = Deduction(
    "as printed",
    "a C^1 scale S(r) > 0 of degree 1 with uniform interference is a multiple of sum r",
    LEMMAS,
    "Euler's theorem (sum r_k D_k = S > 0, so |D_k| = D > 0), the intermediate value theorem (no D_k changes its sign, "
    "so none is negative), the mean value theorem along the segment, and S(m, ..., m) = m S(1, ..., 1)",
    _conclusion,
    "every P, every such scale",
)
