"""eps-at-zero: adding eps to the mean magnitude makes the layer numerically stable.

Claim: with eps > 0, S is never 0, and input gradients stay within the range of the number format, the worst place for
both being h = 0.

Source: section 3, Eq. 1; appendix C, with eps = 10^-6.

S >= eps > 0 for every h. At h = 0 the layer is differentiable, since L - (1/eps) sum gamma_k g_k . z_k is a product of
two quantities of first order in h, and dL/dz_i = gamma_i g_i / eps there. Nowhere is the gradient larger than that:
(2 - eps/S) M / S = (M / eps) (1 - (1 - eps/S)^2). So gradients fit a format with largest number R if, and at h = 0 only
if, M <= R eps: in fp16, 65504 times 10^-6 = 0.0655. RMSNorm has its eps inside the root, and gamma_k d_k / sqrt(eps) in
the same place: a thousand times smaller at eps = 10^-6.
"""

import sympy as sp

from theory.certificate import Nonneg, given, known, over, plus, positive, square, times, total
from theory.exact import Point, point
from theory.lemmas import lemma
from theory.mrsnorm import homogeneity
from theory.mrsnorm.homogeneity import M
from theory.norms import loss, mean_magnitude, root_mean_square
from theory.phasors import N, P, e, eps, g, gamma, h, i, index_sum, z
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

S = mean_magnitude(z)
S_RMS = root_mean_square(h)
R = sp.Symbol("R", positive=True)  # the largest number of the format


def derived() -> tuple[sp.Expr, sp.Expr]:
    """S, and |dL/dz_i|^2 by differentiation."""
    return S, homogeneity.derived()


def printed() -> tuple[sp.Expr, sp.Expr]:
    """What S exceeds, 0, and what |dL/dz_i|^2 does not, R^2."""
    return sp.Integer(0), R**2


def at_zero() -> sp.Expr:
    """|dL/dz_i|^2 at h = 0, |gamma_i g_i / eps|^2 (`the gradient at h = 0` proves it)."""
    return gamma[i] ** 2 * g.square(i) / eps**2


POSITIVE = "eps > 0"
RANGE = "M = max |gamma_k| |g_k| <= R eps, R the largest number of the format (fp16, eps = 10^-6: M <= 0.0655)"
_IN_RANGE = Inequality("a gradient in range", "", lambda: (derived()[1], printed()[1]))
SMALL = {eps: sp.Rational(1, 10**6), R: 65504}  # appendix C in fp16
CONDITIONS = (
    Condition(
        RANGE,
        lambda: refute(_IN_RANGE, point(SMALL, z=[(sp.Rational(1, 10**9), 0)], g=[(0, 1)], gamma=[1])),
        lambda at: at[M] <= at[R] * at[eps],
    ),
    Condition(
        "z_i != 0 (or h = 0)",
        lambda: refute(_IN_RANGE, point(SMALL, z=[(0, 0), (1, 0)], g=[(0, 0), (sp.Rational(1, 100), 0)], gamma=[1, 1])),
        lambda at: at[z.r[i]] != 0,
    ),
)
BOUND = homogeneity.STATEMENTS[1]  # |dL/dz_i| <= (2 - eps/S) M / S, the third of its inequalities
HYPOTHESES = (Hypothesis(POSITIVE, lambda at: at[eps] > 0), Hypothesis(RANGE, CONDITIONS[0].holds), *BOUND.hypotheses)


def _in_range() -> Nonneg:
    """R^2 - |dL/dz_i|^2, through M / eps and (2 - eps/S) M / S, which is (M / eps) (1 - (1 - eps/S)^2)."""
    scale, offset = positive(S, "S > 0"), positive(eps, POSITIVE)
    part = over(over(total(lambda k: known(z.r[k])), known(P)), scale)  # 1 - eps/S
    share = over(offset, scale)  # eps/S
    below = times(square(M / eps), square(part.expr), plus(known(1), share, times(share, part)))
    return plus(_room(), below, lemma("mrsnorm.homogeneity", "corrected")[2])


def _room() -> Nonneg:
    """R^2 - (M / eps)^2."""
    offset = positive(eps, POSITIVE)
    gap = given(R * eps - M, RANGE)
    return over(times(gap, plus(times(known(R), offset), known(M))), times(offset, offset))


def remainder() -> tuple[sp.Expr, sp.Expr]:
    """L less its linear part at h = 0, and that as a product of two quantities of first order over S eps."""
    linear = index_sum(lambda k: gamma[k] * g[k].dot(z[k]))
    return loss(z, g, S) - linear / eps, -linear * index_sum(lambda k: z.r[k]) / P / (S * eps)


def rms_remainder() -> tuple[sp.Expr, sp.Expr]:
    """The same for RMSNorm: a quantity of first order times one of second order."""
    linear, root = index_sum(lambda k: gamma[k] * e[k] * h[k], N), sp.sqrt(eps)
    mean_square = index_sum(lambda k: h[k] ** 2, N) / N
    return linear / S_RMS - linear / root, -linear * mean_square / (S_RMS * root * (S_RMS + root))


def _tight(at: Point) -> Point:
    """The point with the least R that the condition allows."""
    return at.with_({R: at[M] / at[eps]})


STATEMENTS = (
    Inequality(
        "as printed",
        "S > 0 for every h",
        lambda: (printed()[0], derived()[0]),
        lambda: plus(over(total(lambda k: known(z.r[k])), known(P)), positive(eps, POSITIVE)),
        hypotheses=HYPOTHESES[:1],
        strict=True,
    ),
    Inequality(
        "as printed",
        "input gradients stay in the range of the format: |dL/dz_i| <= M / eps <= R for every h",
        lambda: (derived()[1], printed()[1]),
        _in_range,
        CONDITIONS,
        hypotheses=HYPOTHESES,
        nonzero=(S, z.r[i]),
        adjust=lambda at: _tight(homogeneity.largest_weight(at)),
    ),
    Inequality(
        "as printed",
        "so they do at h = 0: |dL/dz_i| = |gamma_i g_i| / eps <= R",
        lambda: (at_zero(), printed()[1]),
        lambda: plus(
            _room(),
            over(
                given(M**2 - gamma[i] ** 2 * g.square(i), homogeneity.WEIGHTS),
                times(positive(eps, POSITIVE), positive(eps, POSITIVE)),
            ),
        ),
        CONDITIONS[:1],
        hypotheses=HYPOTHESES,
        nonzero=(eps,),
        adjust=lambda at: _tight(homogeneity.largest_weight(at)),
    ),
    Identity(
        "the gradient at h = 0",
        "L - (1/eps) sum gamma_k g_k . z_k = -(sum gamma_k g_k . z_k) (mean r) / (eps S): of second order, so dL/dz_i "
        "= gamma_i g_i / eps at h = 0",
        remainder,
        nonzero=(eps, S),
    ),
    Identity(
        "RMSNorm's gradient at h = 0",
        "L - (1/sqrt(eps)) sum gamma_k d_k x_k is of third order, so dL/dx_i = gamma_i d_i / sqrt(eps) at h = 0",
        rms_remainder,
        nonzero=(sp.sqrt(eps), S_RMS, S_RMS + sp.sqrt(eps)),
        scope="every N",
    ),
)

MUTANTS = {
    "half the range": lambda: (sp.Integer(0), R**2 / 4),
    "S at least 1": lambda: (sp.Integer(1), R**2),
}
