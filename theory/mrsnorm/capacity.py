"""capacity: with half of the affine parameters the layer represents everything that RMSNorm represents.

Claim: whatever RMSNorm's weights are, some weights of MRSNorm give the same output.

Source: section 5.1.

False. Every output phasor of MRSNorm is parallel to the input phasor. RMSNorm's is not: with weights (gamma_x, gamma_y)
on the channels of phasor i, the cross product of its output and z_i is (gamma_x - gamma_y) x_i y_i / S_RMS. The weights
(1, 2) take (1, 1) to (1, 2), which no MRSNorm over two channels does.

The layers of RMSNorm that MRSNorm can follow are those with equal weights in each pair, and these only up to the factor
S / S_RMS, one number for the whole vector. A linear map after the layer would absorb any weights, but not that factor:
it is the same for all vectors only if P = 1 (and eps = 0).
"""

import sympy as sp

from theory.exact import point
from theory.mrsnorm.ellipse import rational_root
from theory.mrsnorm.eq07 import S_RMS
from theory.norms import mean_magnitude
from theory.phasors import P, VectorFamily, cross, eps, gamma, i, index_sum, q, z
from theory.statements import Identity

S = mean_magnitude(z)
x, y = z.components
weight_x, weight_y = sp.symbols("gamma_x gamma_y", real=True)  # RMSNorm's weights of the two channels of phasor i


def rms_output() -> sp.Matrix:
    """RMSNorm's output at the channels of phasor i."""
    return sp.Matrix([weight_x * x[i], weight_y * y[i]]) / S_RMS


def mrs_output() -> sp.Matrix:
    """MRSNorm's output at phasor i."""
    return gamma[i] * z[i] / S


def derived() -> sp.Expr:
    """How far RMSNorm's output leaves the line through z_i: their cross product."""
    return cross(rms_output(), z[i])


def printed() -> sp.Expr:
    """How far an output of MRSNorm does, whatever its weight."""
    return cross(mrs_output(), z[i])


def corrected() -> sp.Expr:
    """(gamma_x - gamma_y) x_i y_i / S_RMS: zero for every z_i iff the two weights are equal."""
    return (weight_x - weight_y) * x[i] * y[i] / S_RMS


def squared_ratio(family: VectorFamily, others: VectorFamily) -> sp.Expr:
    """S(a)^2 S_RMS(b)^2 at eps = 0: symmetric in a and b if S / S_RMS is one number for all vectors."""
    mean_square = index_sum(lambda k: others.square(k)) / (2 * P)
    return mean_magnitude(family, sp.Integer(0)) ** 2 * mean_square


def _tied(expr: sp.Expr) -> sp.Expr:
    return expr.xreplace({weight_x: gamma[i], weight_y: gamma[i]})


STATEMENTS = (
    Identity(
        "as printed",
        "RMSNorm's output is parallel to z_i, as every output of MRSNorm is",
        lambda: (derived(), printed()),
        nonzero=(S, S_RMS),
        counterexample=point({eps: 0, weight_x: 1, weight_y: 2}, z=[(1, 1)], gamma=[1]),
        expects="refuted",
    ),
    Identity(
        "corrected",
        "RMSNorm's output leaves the line of MRSNorm's by (gamma_x - gamma_y) x_i y_i / S_RMS: only its layers with "
        "equal weights in each pair stay on it",
        lambda: (derived(), corrected()),
        nonzero=(S_RMS,),
        adjust=rational_root,
    ),
    Identity(
        "corrected",
        "with equal weights in each pair, RMSNorm's output is MRSNorm's times S / S_RMS",
        lambda: (rms_output().applyfunc(_tied), S / S_RMS * mrs_output()),
        nonzero=(S, S_RMS),
        adjust=rational_root,
    ),
    Identity(
        "a linear map after the layer makes them equal",
        "S / S_RMS is the same for all vectors",
        lambda: (squared_ratio(z, q), squared_ratio(q, z)),
        counterexample=point({eps: 0}, z=[(1, 0), (0, 0)], q=[(1, 0), (1, 0)]),
        expects="refuted",
    ),
)

MUTANTS = {"the true deviation": corrected}
CORRECTED_MUTANTS = {
    "zero": lambda: sp.Integer(0),
    "sign flipped": lambda: (weight_y - weight_x) * x[i] * y[i] / S_RMS,
    "the weights added": lambda: (weight_x + weight_y) * x[i] * y[i] / S_RMS,
    "MRSNorm's scale": lambda: (weight_x - weight_y) * x[i] * y[i] / S,
}
