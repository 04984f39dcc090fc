"""unit-direction: u_i is a unit vector.

Claim: |u_i|^2 = cos^2 theta_i + sin^2 theta_i = 1, printed as holding unconditionally.

Source: section 5.1, before Eq. 6.

True wherever there is a direction. At z_i = 0 the vector z_i / r_i does not exist; a convention such as u_i := 0 (the
subgradient that automatic differentiation of a vector norm picks) has norm 0, and then Eq. 6 fails there as well.
"""

import sympy as sp

from theory.exact import point
from theory.phasors import eps, i, theta_q, z
from theory.statements import Condition, Identity, refute


def derived() -> sp.Expr:
    """|z_i / r_i|^2, from the coordinates."""
    return z.unit(i).dot(z.unit(i))


def printed() -> sp.Expr:
    """1."""
    return sp.Integer(1)


_ANYWHERE = Identity("unit length at z_i = 0", "", lambda: (derived(), printed()))
CONDITIONS = (
    Condition(
        "z_i != 0",
        lambda: refute(_ANYWHERE, point({eps: 0}, z=[(0, 0)])),
        lambda at: at[z.r[i]] != 0,
    ),
)

STATEMENTS = (
    Identity("as printed", "|u_i| = 1", lambda: (derived(), printed()), CONDITIONS, nonzero=(z.r[i],)),
    Identity(
        "the Pythagorean identity",
        "cos^2 + sin^2 = 1 at every angle",
        lambda: (sp.cos(theta_q[i]) ** 2 + sp.sin(theta_q[i]) ** 2, 1),
    ),
)

MUTANTS = {"length 2": lambda: sp.Integer(4), "the magnitude": lambda: z.r[i] ** 2, "zero": lambda: sp.Integer(0)}
