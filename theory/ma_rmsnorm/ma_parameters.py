"""ma-parameters: how many parameters the second term adds.

Claim: D = N for each norm, RMSNorm being the baseline.

Source: section 2.3, the table; section 2.2 calls W a learnable projection matrix.

True if W is a vector with one number a channel, which the count implies, and s and alpha are constants, as printed. A
matrix has N^2. Nothing would be gained by learning s and alpha: they are absorbed by gamma and W, so the layer with
s = alpha = 1 has the same functions.
"""

import sympy as sp

from theory.exact import point
from theory.magnitude_aware import MEAN, R, W, alpha, output, s
from theory.phasors import N, gamma, i, substitute
from theory.statements import Condition, Identity, refute

RMSNORM = N  # gamma, one a channel
VECTOR = N  # W, one a channel
MATRIX = N**2


def derived() -> sp.Expr:
    """The parameters of MA-RMSNorm less those of RMSNorm."""
    return (RMSNORM + VECTOR) - RMSNORM


def printed() -> sp.Expr:
    """D."""
    return N


def absorbed() -> sp.Expr:
    """The output of the layer with s = alpha = 1, s gamma for gamma and alpha W for W."""
    plain = output(i).xreplace({s: sp.Integer(1), alpha: sp.Integer(1)})
    return substitute(plain, {gamma: lambda k: s * gamma[k], W: lambda k: alpha * W[k]})


_MATRIX = Identity("W as a matrix", "", lambda: ((RMSNORM + MATRIX) - RMSNORM, printed()))
CONDITIONS = (
    Condition("W is a vector with one number a channel, not a matrix", lambda: refute(_MATRIX, point({N: 2}))),
)

STATEMENTS = (
    Identity("as printed", "W adds N parameters", lambda: (derived(), printed()), CONDITIONS, scope="every N"),
    Identity(
        "s and alpha are redundant",
        "the layer with s = alpha = 1, s gamma for gamma and alpha W for W is the same function",
        lambda: (output(i), absorbed()),
        nonzero=(R, MEAN),
        scope="every N",
    ),
)

MUTANTS = {"none": lambda: sp.Integer(0), "2 D": lambda: 2 * N, "D^2": lambda: N**2, "D and two scalars": lambda: N + 2}
