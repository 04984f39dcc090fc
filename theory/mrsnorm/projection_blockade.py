"""projection-blockade: dividing each phasor by its own magnitude annihilates the radial gradient.

Claim, for z_i != 0: the Jacobian of z_i / |z_i| is (I - u_i u_i^T) / r_i; I - u_i u_i^T is a projector of rank 1; it
maps u_i to 0.

Source: section 5.2.
Route: differentiation for the Jacobian; a projector is an idempotent, and its rank is its trace.
"""

import sympy as sp

from theory.exact import point
from theory.phasors import eps, i, jacobian, z
from theory.statements import Condition, Identity, refute


def derived() -> sp.Matrix:
    """d(z_i / r_i)/dz_i, by differentiation."""
    return jacobian(z.unit(i), z, i)


def projector() -> sp.Matrix:
    """I - u_i u_i^T."""
    return sp.eye(2) - z.unit(i) * z.unit(i).T


def printed() -> sp.Matrix:
    """(I - u_i u_i^T) / r_i."""
    return projector() / z.r[i]


_ANYWHERE = Identity("the Jacobian at z_i = 0", "", lambda: (derived(), printed()))
CONDITIONS = (
    Condition(
        "z_i != 0",
        lambda: refute(_ANYWHERE, point({eps: 0}, z=[(0, 0)])),
        lambda at: at[z.r[i]] != 0,
    ),
)

STATEMENTS = (
    Identity(
        "as printed",
        "the Jacobian of z_i / |z_i| is (I - u_i u_i^T) / r_i",
        lambda: (derived(), printed()),
        CONDITIONS,
        nonzero=(z.r[i],),
    ),
    Identity(
        "as printed",
        "that Jacobian maps u_i to 0",
        lambda: (printed() * z.unit(i), [0, 0]),
        CONDITIONS,
        nonzero=(z.r[i],),
    ),
    Identity(
        "rank 1 projector",
        "I - u_i u_i^T is idempotent, symmetric and of trace 1",
        lambda: (
            [*(projector() ** 2), *projector().T, projector().trace()],
            [*projector(), *projector(), 1],
        ),
        nonzero=(z.r[i],),
    ),
)

MUTANTS = {
    "sign flipped": lambda: (sp.eye(2) + z.unit(i) * z.unit(i).T) / z.r[i],
    "not divided by r": projector,
    "projector on u": lambda: z.unit(i) * z.unit(i).T / z.r[i],
    "z for u": lambda: (sp.eye(2) - z[i] * z[i].T) / z.r[i],
}
