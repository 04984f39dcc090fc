"""scale-invariance: the scale of the gradient does not depend on the magnitudes of the coordinates.

Claim: multiplying every coordinate by c > 0 leaves |dL/dz_i| as it is.

Source: section 2.3.

False: the gradient of anything that normalizes is inversely proportional to the scale of what it normalizes. Exactly,
dL/dz_i at c h with c eps is 1/c times dL/dz_i at h with eps, and so is the interference |Omega| / S alone; at eps = 0
that is a statement about the layer itself. (Its *output* is invariant at eps = 0, see eq02.)
"""

import sympy as sp

from theory.exact import point
from theory.mrsnorm.eq05 import S, omega
from theory.norms import loss
from theory.phasors import eps, g, gradient, i, substitute, z
from theory.statements import Identity

c = sp.Symbol("c", positive=True)


def scaled(expr: sp.Expr, offset: sp.Expr = eps) -> sp.Expr:
    """The expression at c z, with `offset` for eps."""
    factors = {base: (lambda k, b=base: c * b[k]) for base in (*z.components, z.r)}
    return substitute(expr.xreplace({eps: offset}), factors)


def input_gradient() -> sp.Matrix:
    """dL/dz_i, by differentiation."""
    return gradient(loss(z, g, S), z, i)


def derived() -> sp.Expr:
    """|dL/dz_i|^2 at c z."""
    return scaled(input_gradient().dot(input_gradient()))


def printed() -> sp.Expr:
    """|dL/dz_i|^2 at z."""
    return input_gradient().dot(input_gradient())


def corrected() -> sp.Matrix:
    """dL/dz_i at c z with c eps, and the interference Omega / S there: 1/c of what they are at z with eps."""
    return sp.Matrix([*input_gradient(), omega() / S]) / c


STATEMENTS = (
    Identity(
        "as printed",
        "|dL/dz_i| is the same at c h as at h",
        lambda: (derived(), printed()),
        nonzero=(S, scaled(S), z.r[i]),
        counterexample=point({eps: 0, c: 2}, z=[(1, 0), (1, 0)], g=[(0, 1), (0, 0)], gamma=[1, 1]),
        expects="refuted",
    ),
    Identity(
        "the interference alone",
        "|Omega| / S is the same at c h as at h",
        lambda: (scaled((omega() / S) ** 2), (omega() / S) ** 2),
        nonzero=(S, scaled(S)),
        counterexample=point({eps: 0, c: 2}, z=[(1, 0)], g=[(1, 0)], gamma=[1]),
        expects="refuted",
    ),
    Identity(
        "corrected",
        "dL/dz_i, and Omega / S, at c h with c eps are 1/c times those at h with eps: they scale as 1/S",
        lambda: ([*(scaled(entry, c * eps) for entry in [*input_gradient(), omega() / S])], corrected()),
        nonzero=(S, scaled(S, c * eps), c, z.r[i]),
    ),
)

MUTANTS = {"at c h as well": lambda: scaled(input_gradient().dot(input_gradient()))}
CORRECTED_MUTANTS = {
    "unchanged": lambda: sp.Matrix([*input_gradient(), omega() / S]),
    "growing with c": lambda: sp.Matrix([*input_gradient(), omega() / S]) * c,
    "1/c^2": lambda: sp.Matrix([*input_gradient(), omega() / S]) / c**2,
    "unchanged interference": lambda: sp.Matrix([*(input_gradient() / c), omega() / S]),
}
