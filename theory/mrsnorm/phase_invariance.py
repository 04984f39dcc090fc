"""phase-invariance: the norm of the interference does not depend on the phase of a phasor.

Claim: |Omega| / S is unchanged if phasors are turned, z_k -> R(phi_k) z_k.

Source: section 5.1, below Eq. 6.

False at a fixed upstream gradient: Omega contains g_k . z_k. With P = 1, eps = 0 and g = (1, 0), it is 1 at z = (1, 0)
and 0 at z = (0, 1). In general each term turns as

    g_k . R(phi_k) z_k = cos(phi_k) g_k . z_k + sin(phi_k) (z_k x g_k).

It is true if each g_k is turned along with its z_k. What does not depend on the phase is the length of u_i, and with it
the norm of the interference *for a given Omega*; that is Eq. 6.
"""

import sympy as sp

from theory.exact import point
from theory.mrsnorm.eq05 import S, omega
from theory.phasors import P, VectorFamily, cross, eps, g, gamma, index_sum, phi, substitute, z
from theory.statements import Identity


def _turn(family: VectorFamily, k: sp.Expr) -> sp.Matrix:
    return sp.Matrix([[sp.cos(phi[k]), -sp.sin(phi[k])], [sp.sin(phi[k]), sp.cos(phi[k])]]) * family[k]


def turned(expr: sp.Expr, *families: VectorFamily) -> sp.Expr:
    """The expression with every vector of the families turned by its angle phi_k; magnitudes stay (see eq02)."""
    return substitute(
        expr,
        {
            base: (lambda k, family=family, axis=axis: _turn(family, k)[axis])
            for family in families
            for axis, base in enumerate(family.components)
        },
    )


def derived() -> sp.Expr:
    """(|Omega| / S)^2 after the phasors are turned, the upstream gradient as it was."""
    return turned((omega() / S) ** 2, z)


def printed() -> sp.Expr:
    """(|Omega| / S)^2 before."""
    return (omega() / S) ** 2


def corrected() -> sp.Expr:
    """What (|Omega| / S)^2 is after phasors and upstream gradients are turned together: the same as before."""
    return (omega() / S) ** 2


def omega_after_turn() -> sp.Expr:
    """Omega after the phasors alone are turned."""
    return (
        index_sum(
            lambda k: gamma[k] * (sp.cos(phi[k]) * g[k].dot(z[k]) + sp.sin(phi[k]) * cross(z[k], g[k])) / S,
        )
        / P
    )


STATEMENTS = (
    Identity(
        "as printed",
        "|Omega| / S is the same after every phasor is turned by an angle of its own",
        lambda: (derived(), printed()),
        nonzero=(S,),
        counterexample=point({eps: 0}, z=[(1, 0)], g=[(1, 0)], gamma=[1], phi=[1]),  # tan(phi / 2) = 1
        expects="refuted",
    ),
    Identity(
        "corrected",
        "|Omega| / S is the same if every g_k is turned along with its z_k",
        lambda: (turned((omega() / S) ** 2, z, g), corrected()),
        nonzero=(S,),
    ),
    Identity(
        "how Omega turns",
        "g_k . z_k becomes cos(phi_k) g_k . z_k + sin(phi_k) (z_k x g_k)",
        lambda: (turned(omega(), z), omega_after_turn()),
        nonzero=(S,),
    ),
)

MUTANTS = {"Omega turned as well": lambda: (omega_after_turn() / S) ** 2}
CORRECTED_MUTANTS = {
    "cosines of the angles": lambda: (omega_after_turn() / S) ** 2,
    "sign lost": lambda: omega() * turned(omega(), z) / S**2,
    "not divided by S": lambda: omega() ** 2,
}
