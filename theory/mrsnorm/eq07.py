"""Eq. 7: the subtracted term is parallel to the phasor itself.

Claim, for every P and z_i != 0: gamma_i g_i / S - dL/dz_i is a multiple of z_i.

Source: section 5.1, Eq. 7.
Route: the interference, taken from the derivative, equals its own projection on z_i.

It sets nothing apart: the term that RMSNorm subtracts, read in the same pairs of channels, is parallel to z_i too,
whatever its 2P separate weights are.
"""

import sympy as sp

from theory.exact import point
from theory.mrsnorm import eq06
from theory.phasors import P, cross, derivative, eps, g, gamma, i, index_sum, z
from theory.statements import Condition, Identity, refute

S = eq06.S
x, y = z.components
S_RMS = sp.sqrt(index_sum(lambda k: z.square(k)) / (2 * P) + eps)


def derived() -> sp.Matrix:
    """The interference at phasor i, by differentiation."""
    return eq06.interference()


def printed() -> sp.Matrix:
    """The direction the paper gives it: z_i."""
    return z[i]


def projection() -> sp.Matrix:
    """The part of the interference along the printed direction."""
    return printed() * derived().dot(printed()) / printed().dot(printed())


def rms_interference() -> sp.Matrix:
    """What RMSNorm over 2P channels, with its own weight on each, subtracts at the channels of phasor i.

    The weights of the two channels of phasor k are gamma_k and G_k, both arbitrary.
    """
    loss = index_sum(lambda k: gamma[k] * g[k][0] * x[k] + g.r[k] * g[k][1] * y[k]) / S_RMS
    direct = sp.Matrix([gamma[i] * g[i][0], g.r[i] * g[i][1]]) / S_RMS
    return direct - sp.Matrix([derivative(loss, x[i]), derivative(loss, y[i])])


_ANYWHERE = Identity("Eq. 7 without the condition", "", lambda: (derived(), projection()))
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
        "gamma_i g_i / S - dL/dz_i is parallel to z_i",
        lambda: (derived(), projection()),
        CONDITIONS,
        nonzero=(S, z.r[i], printed().dot(printed())),
    ),
    Identity(
        "RMSNorm does the same",
        "the term RMSNorm subtracts, read in pairs, is parallel to z_i",
        lambda: (cross(rms_interference(), z[i]), 0),
        nonzero=(S_RMS,),
    ),
)

MUTANTS = {
    "perpendicular": lambda: sp.Matrix([-y[i], x[i]]),
    "parallel to the upstream gradient": lambda: g[i],
    "conjugated": lambda: sp.Matrix([x[i], -y[i]]),
}
