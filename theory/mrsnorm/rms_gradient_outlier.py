"""rms-gradient-outlier: under RMSNorm the gradient at a channel grows with its value and collapses near 0.

Claim: dL/dx_i is proportional to xhat_i, so that dL/dx_i x_j = dL/dx_j x_i.

Source: section 5.1, first of the three insights.

Only the subtracted term is: gamma_i d_i / S - dL/dx_i = xhat_i Omega / S. The direct term gamma_i d_i / S does not
contain x_i, so nothing collapses where x_i = 0, and an outlier does not get the largest gradient: at x = (2, 0, 0, 0),
unit weights, eps = 0 and upstream gradient (1, 1, 0, 0) the gradient is (0, 1, 0, 0). Nor is the multiplier unbounded:
|xhat_i| <= sqrt(N).
"""

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, positive, square, times, total_except
from theory.exact import evaluate, point
from theory.mrsnorm.eq04 import S, rational_root
from theory.phasors import N, derivative, e, eps, gamma, h, i, index_sum, j
from theory.statements import Hypothesis, Identity, Inequality

LOSS = index_sum(lambda k: e[k] * gamma[k] * h[k], N) / S
AT_OUTLIER = point({N: 4, eps: 0}, {i: 2, j: 1}, h=[2, 0, 0, 0], e=[1, 1, 0, 0], gamma=[1, 1, 1, 1])


def derived() -> sp.Expr:
    """dL/dx_i times x_j, by differentiation."""
    return derivative(LOSS, h[i]) * h[j]


def printed() -> sp.Expr:
    """dL/dx_j times x_i: the same, if gradients were proportional to the values."""
    return derivative(LOSS, h[j]) * h[i]


def subtracted() -> sp.Expr:
    """The direct term less the gradient, by differentiation."""
    return gamma[i] * e[i] / S - derivative(LOSS, h[i])


def interference(multiplier: sp.Expr) -> sp.Expr:
    """A multiplier of Omega / S."""
    return multiplier * index_sum(lambda k: gamma[k] * e[k] * h[k] / S, N) / N / S


def with_direct_terms() -> sp.Expr:
    """What dL/dx_i x_j is: dL/dx_j x_i but for the direct terms."""
    return derivative(LOSS, h[j]) * h[i] + (gamma[i] * e[i] * h[j] - gamma[j] * e[j] * h[i]) / S


def corrected() -> sp.Expr:
    """xhat_i Omega / S."""
    return interference(h[i] / S)


def _room() -> Nonneg:
    """N - xhat_i^2 = (sum_{k != i} x_k^2 + N eps) / S^2."""
    scale = positive(S, "S > 0")
    return over(plus(total_except(i, lambda k: square(h[k]), N), times(known(N), known(eps))), times(scale, scale))


STATEMENTS = (
    Identity(
        "as printed",
        "dL/dx_i x_j = dL/dx_j x_i: the gradient is proportional to the value of the channel",
        lambda: (derived(), printed()),
        nonzero=(S,),
        counterexample=AT_OUTLIER,
        scope="every N",
        expects="refuted",
    ),
    Inequality(
        "the outlier gets the largest gradient",
        "|dL/dx_i| <= |dL/dx_j|, where x_j is an outlier",
        lambda: (derivative(LOSS, h[i]) ** 2, derivative(LOSS, h[j]) ** 2),
        nonzero=(S,),
        counterexample=AT_OUTLIER,
        expects="refuted",
    ),
    Identity(
        "corrected",
        "only the subtracted term is proportional to the value: gamma_i d_i / S - dL/dx_i = xhat_i Omega / S",
        lambda: (subtracted(), corrected()),
        nonzero=(S,),
        adjust=rational_root,
        scope="every N",
    ),
    Inequality(
        "corrected",
        "and its multiplier is bounded: |xhat_i| <= sqrt(N)",
        lambda: ((h[i] / S) ** 2, N),
        _room,
        hypotheses=(Hypothesis("S > 0", lambda at: evaluate(S**2, at) > 0),),
        nonzero=(S,),
        adjust=rational_root,
        scope="every N",
    ),
)

MUTANTS = {
    "the same product": lambda: derivative(LOSS, h[i]) * h[j],
    "the direct terms kept": with_direct_terms,
}
CORRECTED_MUTANTS = {
    "without 1/N": lambda: N * interference(h[i] / S),
    "sign flipped": lambda: -interference(h[i] / S),
    "x for xhat": lambda: interference(h[i]),
    "the sign of x, as under MRSNorm": lambda: interference(sp.Integer(1)),
}
