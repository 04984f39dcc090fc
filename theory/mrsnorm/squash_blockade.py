"""squash-blockade: the squashing function of capsule networks has a Jacobian that is singular along the radius.

Claim: for v = (r^2 / (1 + r^2)) u, u = z / r, the Jacobian J maps the radial direction to 0.

Source: section 2.2; the function is Eq. 1 of "Dynamic routing between capsules" (Sabour, Frosst, Hinton 2017).

False for every r > 0: J u = 2r / (1 + r^2)^2 u, which is 1/2 at r = 1. Across the radius J stretches by r / (1 + r^2),
so J is invertible, with determinant 2 r^2 / (1 + r^2)^3 in the plane. Long and short vectors lose their radial
gradient only gradually: the factor is at most 2r and at most 2 / r^3. (The unit-norm projection, named in the same
breath, is singular: see projection-blockade.)
"""

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, positive, times
from theory.exact import point
from theory.phasors import eps, i, jacobian, z
from theory.statements import Hypothesis, Identity, Inequality

r = z.r[i]
ACROSS = sp.Matrix([-z[i][1], z[i][0]]) / r


def squash() -> sp.Matrix:
    """(r^2 / (1 + r^2)) z / r."""
    return r**2 / (1 + r**2) * z.unit(i)


def derived() -> sp.Matrix:
    """J u, by differentiation."""
    return jacobian(squash(), z, i) * z.unit(i)


def printed() -> sp.Matrix:
    """0."""
    return sp.zeros(2, 1)


def corrected() -> sp.Matrix:
    """2r / (1 + r^2)^2 u."""
    return 2 * r / (1 + r**2) ** 2 * z.unit(i)


NONZERO = "z_i != 0"


def determinant() -> sp.Expr:
    """det J in the plane."""
    (a, b), (c, d) = jacobian(squash(), z, i).tolist()
    return a * d - b * c


def _factor() -> sp.Expr:
    return derived().dot(z.unit(i))


def _proof() -> list[Nonneg]:
    """2r/(1+r^2)^2, then 2r - 2r/(1+r^2)^2 and 2/r^3 - 2r/(1+r^2)^2 over their common denominators."""
    radius, two = positive(r, NONZERO), known(2)
    square = times(radius, radius)
    below = plus(known(1), square)
    lost = over(times(two, radius, square, plus(two, square)), times(below, below))
    gained = over(times(two, plus(known(1), times(two, square))), times(radius, square, below, below))
    return [over(times(two, radius), times(below, below)), lost, gained]


STATEMENTS = (
    Identity(
        "as printed",
        "J u = 0 for the squashing function",
        lambda: (derived(), printed()),
        nonzero=(r, 1 + r**2),
        counterexample=point({eps: 0}, z=[(1, 0)]),
        expects="refuted",
    ),
    Identity(
        "corrected",
        "J u = 2r / (1 + r^2)^2 u, not 0 at any z_i != 0",
        lambda: (derived(), corrected()),
        nonzero=(r, 1 + r**2),
    ),
    Inequality(
        "the radial factor",
        "0 < 2r / (1 + r^2)^2 < 2r and 2 / r^3: it vanishes only as r tends to 0 or grows beyond bound",
        lambda: ([0, _factor(), _factor()], [_factor(), 2 * r, 2 / r**3]),
        _proof,
        hypotheses=(Hypothesis(NONZERO, lambda at: at[r] > 0),),
        nonzero=(r, 1 + r**2),
        strict=True,
    ),
    Identity(
        "the whole Jacobian is invertible",
        "J stretches by r / (1 + r^2) across the radius; det J = 2 r^2 / (1 + r^2)^3",
        lambda: (
            [*(jacobian(squash(), z, i) * ACROSS), determinant()],
            [*(r / (1 + r**2) * ACROSS), 2 * r**2 / (1 + r**2) ** 3],
        ),
        nonzero=(r, 1 + r**2),
    ),
)

MUTANTS = {"the true factor": lambda: corrected()}
CORRECTED_MUTANTS = {
    "one power less": lambda: 2 * r / (1 + r**2) * z.unit(i),
    "without the 2": lambda: r / (1 + r**2) ** 2 * z.unit(i),
    "the factor across": lambda: r / (1 + r**2) * z.unit(i),
    "zero": lambda: sp.zeros(2, 1),
}
