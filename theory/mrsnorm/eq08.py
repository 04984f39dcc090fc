"""Eq. 8: the block of the Jacobian that maps phasor i to its own output.

Claim, for every P and eps >= 0, z_i != 0: d zhat_i / d z_i = (1/S) (I - u_i zhat_i^T / P), with zhat_i = z_i / S.

Source: section 5.2, Eq. 8.

With the affine weight (zhat_i as Eq. 2 defines it) a factor gamma_i is missing. The blocks off the diagonal, which
the paper does not mention, are -(1/(P S)) zhat_i u_j^T: they are what couples the phasors.

At z_i = 0 the formula has no value, since u_i has none, but the block exists and is I / S: zhat_i vanishes there, so
any vector put for u_i gives the right answer. The blocks d zhat_j / d z_i of the other phasors do not exist there.
"""

import sympy as sp

from theory.exact import point
from theory.norms import mean_magnitude
from theory.phasors import P, apart, derivative, eps, gamma, i, index_sum, j, jacobian, z
from theory.statements import Condition, Identity, refute

S = mean_magnitude(z)


def derived() -> sp.Matrix:
    """The 2 x 2 block d(z_i / S)/dz_i, by differentiation."""
    return jacobian(z[i] / S, z, i)


def printed() -> sp.Matrix:
    """Eq. 8 with zhat_i = z_i / S."""
    return (sp.eye(2) - z.unit(i) * (z[i] / S).T / P) / S


def with_weight() -> sp.Matrix:
    """d(gamma_i z_i / S)/dz_i, the block of the layer with its affine weight."""
    return jacobian(gamma[i] * z[i] / S, z, i)


def cross_block() -> sp.Matrix:
    """d(z_i / S)/dz_j for j != i, by differentiation."""
    return apart(jacobian(z[i] / S, z, j))


def slope_at_zero(direction: tuple[int, int]) -> sp.Matrix:
    """The one-sided derivative of z_i / S at z_i = 0 along z_i = t d, t >= 0, |d| = 1."""
    t = sp.Symbol("t", nonnegative=True)
    output = t * sp.Matrix(direction) / ((index_sum(lambda k: z.r[k]) + t) / P + eps)
    return output.applyfunc(lambda entry: derivative(entry, t).subs(t, 0))


def block_at_zero() -> sp.Matrix:
    """The block at z_i = 0, column by column (`own block at z_i = 0` shows that the slopes make up a matrix)."""
    return sp.Matrix.hstack(slope_at_zero((1, 0)), slope_at_zero((0, 1)))


_WITH_WEIGHT = Identity("Eq. 8 with the affine weight", "", lambda: (with_weight(), _post_affine()))
_AT_ZERO = Identity("Eq. 8 at z_i = 0", "", lambda: (block_at_zero(), printed()))


def _post_affine() -> sp.Matrix:
    return (sp.eye(2) - z.unit(i) * (gamma[i] * z[i] / S).T / P) / S


CONDITIONS = (
    Condition(
        "zhat_i is taken before the affine weight (z_i / S)",
        lambda: refute(_WITH_WEIGHT, point({eps: 0}, z=[(1, 0), (1, 0)], gamma=[2, 1])),
    ),
    Condition(
        "z_i != 0",
        lambda: refute(_AT_ZERO, point({eps: 0}, z=[(0, 0), (1, 0)])),
        lambda at: at[z.r[i]] != 0,
    ),
)

STATEMENTS = (
    Identity(
        "as printed",
        "d zhat_i / d z_i = (I - u_i zhat_i^T / P) / S",
        lambda: (derived(), printed()),
        CONDITIONS,
        nonzero=(S, z.r[i]),
    ),
    Identity(
        "with the affine weight",
        "d o_i / d z_i = (gamma_i / S) (I - u_i z_i^T / (P S))",
        lambda: (with_weight(), gamma[i] * (sp.eye(2) - z.unit(i) * z[i].T / (P * S)) / S),
        nonzero=(S, z.r[i]),
    ),
    Identity(
        "blocks off the diagonal",
        "d zhat_i / d z_j = -zhat_i u_j^T / (P S) for j != i",
        lambda: (cross_block(), -(z[i] / S) * z.unit(j).T / (P * S)),
        nonzero=(S, z.r[j]),
    ),
    Identity(
        "own block at z_i = 0",
        "the slopes of zhat_i at z_i = 0 along d and -d are d / S and -d / S: the block exists and is I / S",
        lambda: (
            [*slope_at_zero((1, 0)), *slope_at_zero((-1, 0)), *slope_at_zero((0, 1)), *slope_at_zero((0, -1))],
            [entry / S for entry in (1, 0, -1, 0, 0, 1, 0, -1)],
        ),
        nonzero=(S,),
    ),
)

MUTANTS = {
    "without 1/P": lambda: (sp.eye(2) - z.unit(i) * (z[i] / S).T) / S,
    "zhat for u": lambda: (sp.eye(2) - (z[i] / S) * (z[i] / S).T / P) / S,
    "u for zhat": lambda: (sp.eye(2) - z.unit(i) * z.unit(i).T / P) / S,
    "sign flipped": lambda: (sp.eye(2) + z.unit(i) * (z[i] / S).T / P) / S,
    "not divided by S": lambda: sp.eye(2) - z.unit(i) * (z[i] / S).T / P,
}
