"""Eq. 3: the phase of every phasor is preserved.

Claim: theta(o_i) = theta(z_i), printed as arctan(y_i / x_i).

Source: section 3, Eq. 3.

A phase is a direction: two non-zero vectors have the same phase exactly when their cross product vanishes and their
dot product is positive. For o_i = gamma_i z_i / S the dot product is gamma_i r_i^2 / S, so the claim needs
gamma_i > 0 (a negative weight turns the phase by pi) and z_i != 0 (0 has no phase).

The printed arctan(y/x) is the polar angle of Eq. 10 only for x > 0. Read literally, u_i = (cos, sin)(arctan(y/x))
points the other way for x < 0, where what Eq. 5 subtracts would have to be added.
"""

import sympy as sp

from theory.certificate import over, positive, times
from theory.exact import point
from theory.mrsnorm import eq05
from theory.norms import mean_magnitude
from theory.phasors import cross, eps, g, gamma, i, z
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

S = mean_magnitude(z)
x, y = z.components


def derived() -> sp.Matrix:
    """The output phasor o_i, by Eq. 2."""
    return gamma[i] * z[i] / S


def printed() -> sp.Matrix:
    """A vector with the phase the paper says o_i has: that of z_i."""
    return z[i]


def literal_unit() -> sp.Matrix:
    """(cos, sin) of the printed arctan(y_i / x_i): the cosine of an arctangent is never negative."""
    slope = y[i] / x[i]
    return sp.Matrix([1, slope]) / sp.sqrt(1 + slope**2)


def _aligned() -> tuple[sp.Expr, sp.Expr]:
    return sp.Integer(0), derived().dot(printed())


_DIRECTION = Inequality("the phase without the condition", "", _aligned, strict=True)

CONDITIONS = (
    Condition(
        "gamma_i > 0",
        lambda: refute(_DIRECTION, point({eps: 0}, z=[(1, 0)], gamma=[-1])),
        lambda at: at[gamma[i]] > 0,
    ),
    Condition(
        "z_i != 0",
        lambda: refute(_DIRECTION, point({eps: 1}, z=[(0, 0)], gamma=[1])),
        lambda at: at[z.r[i]] != 0,
    ),
)
HYPOTHESES = (
    Hypothesis("gamma_i > 0", CONDITIONS[0].holds),
    Hypothesis("z_i != 0", CONDITIONS[1].holds),
    Hypothesis("S > 0", lambda at: at[eps] > 0 or at[z.r[i]] > 0),
)

STATEMENTS = (
    Identity(
        "as printed",
        "o_i is parallel to z_i",
        lambda: (cross(derived(), printed()), 0),
        CONDITIONS,
        nonzero=(S,),
    ),
    Inequality(
        "as printed",
        "o_i points the same way as z_i",
        _aligned,
        lambda: over(
            times(positive(gamma[i], "gamma_i > 0"), positive(z.r[i], "z_i != 0"), positive(z.r[i], "z_i != 0")),
            positive(S, "S > 0"),
        ),
        CONDITIONS,
        hypotheses=HYPOTHESES,
        nonzero=(S,),
        strict=True,
    ),
    Identity(
        "arctan(y/x) is the polar angle",
        "(cos, sin)(arctan(y_i / x_i)) = z_i / r_i wherever x_i != 0",
        lambda: (literal_unit(), z.unit(i)),
        nonzero=(x[i], z.r[i]),
        counterexample=point(z=[(-1, 0)]),
        expects="refuted",
    ),
    Identity(
        "Eq. 5 with the literal arctan",
        "Eq. 5 holds with u_i = (cos, sin)(arctan(y_i / x_i))",
        lambda: (eq05.derived(), (gamma[i] * g[i] - literal_unit() * eq05.omega()) / S),
        nonzero=(x[i], z.r[i], S),
        counterexample=point({eps: 0}, z=[(-1, 0)], g=[(1, 0)], gamma=[1]),
        expects="refuted",
    ),
)

MUTANTS = {
    "turned by pi": lambda: -z[i],
    "conjugated": lambda: sp.Matrix([x[i], -y[i]]),
    "turned by pi/2": lambda: sp.Matrix([-y[i], x[i]]),
    "one weight a channel": lambda: sp.Matrix([x[i], 2 * y[i]]),
}
