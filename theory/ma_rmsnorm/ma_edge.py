"""ma-edge: where the printed formula has a value.

Claim: y = s gamma x / R + alpha W log R is defined for every input.

Source: section 2.2, the formula; no eps is printed.

True for x != 0: N R^2 = x_i^2 + (the other squares) > 0 wherever some x_i != 0. At x = 0 both terms are undefined. With
eps > 0 inside the root R becomes S >= sqrt eps, the output at 0 is alpha W log sqrt eps, and the derivative there is
diag(s gamma) / sqrt eps: 2000 for the printed s = 2 and the customary eps = 10^-6, and the second term adds nothing to
it.
"""

import sympy as sp

from theory.certificate import known, over, plus, positive, square, total, total_except
from theory.exact import point
from theory.magnitude_aware import MEAN, W, alpha, s
from theory.phasors import N, apart, derivative, eps, gamma, h, i, j, on_groups
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

S = sp.sqrt(MEAN + eps)
SOME = "x != 0"


def derived() -> sp.Expr:
    """R^2, the square of what the formula divides by and takes the logarithm of."""
    return MEAN


def printed() -> sp.Expr:
    """What it has to exceed."""
    return sp.Integer(0)


def with_eps() -> sp.Expr:
    """y_i with S = sqrt(mean x^2 + eps) for R."""
    return s * gamma[i] * h[i] / S + alpha * W[i] * sp.log(S)


def at_zero(expr: sp.Expr) -> sp.Expr:
    """The value at x = 0, for every gamma and W."""
    kept = {family: sp.Symbol(f"{family}_i", real=True) for family in (gamma, W)}
    value = on_groups(expr, [(N, {h: 0, **kept})], {i: 0, j: 0})
    return value.xreplace({symbol: family[i] for family, symbol in kept.items()})


def _some(at: object) -> bool:
    return at[h][at.positions[i] - 1] != 0


_EVERYWHERE = Inequality("R > 0 everywhere", "", lambda: (printed(), derived()), strict=True)
NOT_ZERO = Condition(SOME, lambda: refute(_EVERYWHERE, point({N: 2}, h=[0, 0])), _some)

STATEMENTS = (
    Inequality(
        "as printed",
        "R > 0, so that x / R and log R exist",
        lambda: (printed(), derived()),
        lambda: over(
            plus(positive(h[i] ** 2, SOME), total_except(i, lambda k: square(h[k]), N)),
            known(N),
        ),
        (NOT_ZERO,),
        hypotheses=(Hypothesis(SOME, _some),),
        scope="every N",
        strict=True,
    ),
    Inequality(
        "with eps inside the root",
        "eps <= S^2 for every x: the layer is defined everywhere for eps > 0",
        lambda: (eps, S**2),
        lambda: over(total(lambda k: square(h[k]), N), known(N)),
        scope="every N",
    ),
    Identity(
        "the value at x = 0",
        "with eps > 0: y(0) = alpha W log sqrt eps, J(0) = diag(s gamma) / sqrt eps",
        lambda: (
            [at_zero(e) for e in (with_eps(), derivative(with_eps(), h[i]), apart(derivative(with_eps(), h[j])))],
            [alpha * W[i] * sp.log(sp.sqrt(eps)), s * gamma[i] / sp.sqrt(eps), 0],
        ),
        nonzero=(eps, sp.sqrt(eps)),
        scope="every N",
    ),
    Identity(
        "the slope at x = 0 in figures",
        "s = 2, gamma = 1, eps = 10^-6: 2000",
        lambda: (at_zero(derivative(with_eps(), h[i])).subs({s: 2, gamma[i]: 1, eps: sp.Rational(1, 10**6)}), 2000),
        scope="s = 2, eps = 10^-6",
    ),
)

MUTANTS = {
    "R > 1": lambda: sp.Integer(1),
    "R is at least every |x_k|": lambda: h[i] ** 2,
    "R above the other channels": lambda: MEAN - h[j] ** 2 / N + 1,
}
