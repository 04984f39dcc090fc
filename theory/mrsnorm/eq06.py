"""Eq. 6: the interference vector has the same norm for every phasor.

Claim, for every P and z_i != 0: the term that Eq. 5 subtracts, (Omega / S) u_i, has norm |Omega| / S.

Source: section 5.1, Eq. 6.
Route: the interference is what differentiation leaves beside the direct term, gamma_i g_i / S - dL/dz_i; its square
is compared with (Omega / S)^2, and its values at two phasors with each other.

The paper says "unconditionally". At z_i = 0 there is no u_i and, unless Omega = 0, no gradient (see eq05).
"""

import sympy as sp

from theory.exact import point
from theory.mrsnorm import eq05
from theory.norms import loss
from theory.phasors import P, apart, eps, g, gamma, gradient, i, j, z
from theory.statements import Condition, Identity, refute

S = eq05.S


def interference(index: sp.Symbol = i) -> sp.Matrix:
    """gamma_i g_i / S - dL/dz_i, by differentiation."""
    return gamma[index] * g[index] / S - gradient(loss(z, g, S), z, index)


def derived(index: sp.Symbol = i) -> sp.Expr:
    """The squared norm of the interference at a phasor."""
    vector = interference(index)
    return vector.dot(vector)


def printed() -> sp.Expr:
    """(|Omega| / S)^2."""
    return (eq05.omega() / S) ** 2


_ANYWHERE = Identity("Eq. 6 without the condition", "", lambda: (derived(), printed()))
CONDITIONS = (
    Condition(
        "z_i != 0",
        lambda: refute(_ANYWHERE, point({eps: 0}, z=[(0, 0), (1, 0)], g=[(0, 0), (1, 0)], gamma=[1, 1])),
        lambda at: at[z.r[i]] != 0,
    ),
)

STATEMENTS = (
    Identity(
        "as printed",
        "|(Omega / S) u_i| = |Omega| / S",
        lambda: (derived(), printed()),
        CONDITIONS,
        nonzero=(S, z.r[i]),
    ),
    Identity(
        "the same for every phasor",
        "the interference has the same norm at phasors i and j",
        lambda: (derived(i), apart(derived(j))),
        nonzero=(S, z.r[i], z.r[j]),
    ),
)

MUTANTS = {
    "sum for mean": lambda: (P * eq05.omega() / S) ** 2,
    "not divided by S": lambda: eq05.omega() ** 2,
    "scaled by the magnitude": lambda: (eq05.omega() * z.r[i] / S) ** 2,
    "scaled by gamma_i": lambda: (gamma[i] * eq05.omega() / S) ** 2,
}
