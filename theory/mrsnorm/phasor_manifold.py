"""phasor-manifold: activations are constrained to a manifold of phasors.

Claim: whatever h is, its normalization lies on one fixed set of phasors, read as the set of mean magnitude 1.

Source: abstract.

For eps = 0 and before the affine weight, (1/P) sum |zhat_k| = 1, and every vector of mean magnitude 1 is reached: it
is its own normalization. The set is one equation for the whole vector, not a circle for each phasor: |zhat_i| is
anything between 0 and P. For eps > 0 there is no equation at all: the image is the open ball (1/P) sum |zhat_k| < 1, in
which w is the image of w eps / (1 - m), m = (1/P) sum |w_k|.
"""

from fractions import Fraction

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, positive, total
from theory.exact import evaluate, point
from theory.norms import mean_magnitude
from theory.phasors import P, eps, gamma, i, index_sum, substitute, z
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

S = mean_magnitude(z)
S_0 = mean_magnitude(z, sp.Integer(0))  # also m, where z itself is the point of the ball


def mean_output(scale: sp.Expr) -> sp.Expr:
    """(1/P) sum |z_k| / S."""
    return index_sum(lambda k: z.r[k] / scale) / P


def derived() -> sp.Expr:
    """The mean magnitude of the normalized phasors at eps = 0, before the affine weight."""
    return mean_output(S_0)


def printed() -> sp.Expr:
    """1."""
    return sp.Integer(1)


def preimage(expr: sp.Expr) -> sp.Expr:
    """An expression in z at z eps / (1 - m), m the mean magnitude of z."""
    factor = eps / (1 - S_0)
    return substitute(expr, {base: (lambda k, b=base: factor * b[k]) for base in (*z.components, z.r)})


_WITH_EPS = Identity("mean magnitude 1 with eps", "", lambda: (mean_output(S), printed()))
_WITH_WEIGHT = Identity(
    "mean magnitude 1 after positive weights", "", lambda: (index_sum(lambda k: gamma[k] * z.r[k] / S_0) / P, printed())
)
_CIRCLES = Identity("every phasor on the unit circle", "", lambda: (z.square(i) / S_0**2, printed()))

CONDITIONS = (
    Condition("eps = 0", lambda: refute(_WITH_EPS, point({eps: 1}, z=[(1, 0)])), lambda at: at[eps] == 0),
    Condition(
        "activations are taken before the affine weight (gamma = 1)",
        lambda: refute(_WITH_WEIGHT, point({eps: 0}, z=[(1, 0)], gamma=[2])),
    ),
    Condition(
        "the manifold is the set of vectors of mean magnitude 1, not a circle for each phasor",
        lambda: refute(_CIRCLES, point({eps: 0}, z=[(3, 4), (21, 28)])),
    ),
)


def _scale() -> Nonneg:
    return plus(over(total(lambda k: known(z.r[k])), known(P)), positive(eps, "eps > 0"))


STATEMENTS = (
    Identity(
        "as printed",
        "the normalized phasors have mean magnitude 1",
        lambda: (derived(), printed()),
        CONDITIONS,
        nonzero=(S_0,),
        adjust=lambda at: at.with_({eps: Fraction(0)}),
    ),
    Identity(
        "all of it is reached",
        "at eps = 0, zhat_i - z_i = z_i (1 - m) / m: a vector of mean magnitude m = 1 is its own normalization",
        lambda: (z[i] / S_0 - z[i], z[i] * (1 - S_0) / S_0),
        nonzero=(S_0,),
    ),
    Inequality(
        "an open ball for eps > 0",
        "the mean magnitude is 1 - eps / S < 1",
        lambda: (mean_output(S), 1),
        lambda: over(positive(eps, "eps > 0"), _scale()),
        hypotheses=(Hypothesis("eps > 0", lambda at: at[eps] > 0),),
        nonzero=(S,),
        strict=True,
    ),
    Identity(
        "all of the ball is reached",
        "for eps > 0 and mean magnitude m < 1, z_i is the normalization of z_i eps / (1 - m)",
        lambda: (list((z[i] / S).applyfunc(preimage)), list(z[i])),
        hypotheses=(
            Hypothesis("m < 1", lambda at: evaluate(S_0, at) < 1),
            Hypothesis("eps > 0", lambda at: at[eps] > 0),
        ),
        nonzero=(1 - S_0, preimage(S)),
    ),
)

MUTANTS = {
    "the number of phasors": lambda: P,
    "one half": lambda: sp.Rational(1, 2),
    "the mean magnitude of the input": lambda: S_0,
}
