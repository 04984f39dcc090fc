"""ellipse: RMSNorm, which scales both coordinates independently, turns the circle into an ellipse.

Claim: where the affine weights of a pair of channels differ, gamma_x != gamma_y, a circle of inputs z_i becomes an
ellipse, and phases change.

Source: section 5.1, second of the three insights.

Only the weights do that: S_RMS is constant on the circle. The image has the semi-axes r_i |gamma_x| / S_RMS and r_i
|gamma_y| / S_RMS. So it is an ellipse, and no circle, if and only if |gamma_x| != |gamma_y| and neither is 0 (which
leaves a segment). The weights (1, -1) differ and keep the circle; the phase of z_i is reflected by them. A phase off
the axes is corrupted if and only if gamma_x != gamma_y.
"""

import sympy as sp

from theory.certificate import Nonneg, over, positive, times
from theory.exact import Point, evaluate, next_square, point
from theory.mrsnorm.eq07 import S_RMS
from theory.phasors import P, cross, eps, i, index_sum, phi, substitute, z
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

x, y = z.components
weight_x, weight_y = sp.symbols("gamma_x gamma_y", real=True)  # the weights of the two channels of phasor i


def derived() -> sp.Matrix:
    """RMSNorm's output at the channels of phasor i."""
    return sp.Matrix([weight_x * x[i], weight_y * y[i]]) / S_RMS


def printed() -> tuple[sp.Expr, sp.Expr]:
    """The squared semi-axes of the image of the circle r_i = 1."""
    return (weight_x / S_RMS) ** 2, (weight_y / S_RMS) ** 2


def ellipse() -> tuple[sp.Expr, sp.Expr]:
    """The equation o_x^2 b + o_y^2 a = r_i^2 a b of an ellipse with squared semi-axes r_i^2 a and r_i^2 b."""
    (o_x, o_y), (a, b) = derived(), printed()
    return o_x**2 * b + o_y**2 * a, z.square(i) * a * b


def _no_circle() -> tuple[list[sp.Expr], list[sp.Expr]]:
    a, b = printed()
    return [sp.Integer(0)] * 2, [(a - b) ** 2, a * b]


def turned(expr: sp.Expr) -> sp.Expr:
    """The expression with every z_k turned by its own angle phi_k."""
    cos, sin = (lambda k: sp.cos(phi[k])), (lambda k: sp.sin(phi[k]))
    return substitute(expr, {x: lambda k: cos(k) * x[k] - sin(k) * y[k], y: lambda k: sin(k) * x[k] + cos(k) * y[k]})


def rational_root(at: Point) -> Point:
    """The point with eps moved so that S_RMS is rational."""
    mean_square = evaluate(index_sum(lambda k: z.square(k)) / (2 * P), at)
    return at.with_({eps: next_square(mean_square) - mean_square})


UNEQUAL, PRESENT, SCALE = "|gamma_x| != |gamma_y|", "gamma_x gamma_y != 0", "S_RMS > 0"
_NO_CIRCLE = Inequality("two different semi-axes", "", _no_circle, strict=True)

CONDITIONS = (
    Condition(
        UNEQUAL,
        lambda: refute(_NO_CIRCLE, point({eps: 0, weight_x: 1, weight_y: -1}, z=[(1, 1)])),
        lambda at: abs(at[weight_x]) != abs(at[weight_y]),
    ),
    Condition(
        PRESENT,
        lambda: refute(_NO_CIRCLE, point({eps: 0, weight_x: 1, weight_y: 0}, z=[(1, 1)])),
        lambda at: at[weight_x] * at[weight_y] != 0,
    ),
)


def _proof() -> list[Nonneg]:
    scale = times(*[positive(S_RMS, SCALE)] * 4)
    differ = positive((weight_x**2 - weight_y**2) ** 2, UNEQUAL)
    return [over(part, scale) for part in (differ, positive((weight_x * weight_y) ** 2, PRESENT))]


HYPOTHESES = (
    *(Hypothesis(condition.text, condition.holds) for condition in CONDITIONS),
    Hypothesis(SCALE, lambda at: evaluate(S_RMS**2, at) > 0),
)

STATEMENTS = (
    Identity(
        "as printed",
        "the outputs of the circle |z_i| = r_i satisfy (o_x S_RMS / gamma_x)^2 + (o_y S_RMS / gamma_y)^2 = r_i^2, "
        "without denominators",
        ellipse,
        CONDITIONS,
        nonzero=(S_RMS, weight_x, weight_y),
        adjust=rational_root,
    ),
    Inequality(
        "as printed",
        "the semi-axes of that ellipse differ, and neither is 0",
        _no_circle,
        _proof,
        CONDITIONS,
        hypotheses=HYPOTHESES,
        nonzero=(S_RMS, weight_x, weight_y),
        adjust=rational_root,
        strict=True,
    ),
    Identity(
        "the scale is the same all round the circle",
        "turning phasors by any angles leaves S_RMS unchanged",
        lambda: (turned(S_RMS**2), S_RMS**2),
    ),
    Identity(
        "what happens to the phase",
        "o_i x z_i = (gamma_x - gamma_y) x_i y_i / S_RMS: off the axes the phase is kept iff the weights are equal, up "
        "to pi",
        lambda: (cross(derived(), z[i]), (weight_x - weight_y) * x[i] * y[i] / S_RMS),
        nonzero=(S_RMS,),
        adjust=rational_root,
    ),
    Identity(
        "opposite weights reflect",
        "gamma_y = -gamma_x keeps the circle, |o_i| = |gamma_x| r_i / S_RMS, and o_i is parallel to (x_i, -y_i)",
        lambda: (
            [
                e.subs(weight_y, -weight_x)
                for e in (derived().dot(derived()), cross(derived(), sp.Matrix([x[i], -y[i]])))
            ],
            [(weight_x * z.r[i] / S_RMS) ** 2, 0],
        ),
        nonzero=(S_RMS,),
        adjust=rational_root,
    ),
)

MUTANTS = {
    "axes swapped": lambda: ((weight_y / S_RMS) ** 2, (weight_x / S_RMS) ** 2),
    "not squared": lambda: (weight_x / S_RMS, weight_y / S_RMS),
    "a circle": lambda: ((weight_x / S_RMS) ** 2, (weight_x / S_RMS) ** 2),
    "not divided by the scale": lambda: (weight_x**2, weight_y**2),
}
