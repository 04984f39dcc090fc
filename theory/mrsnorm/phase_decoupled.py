"""phase-decoupled: subtracting a vector parallel to a phasor changes its amplitude and never its phase.

Claim: after a step along the subtracted term, z_i + eta (Omega / S) u_i, the phasor has the phase it had.

Source: section 5.1, second of the three insights.

The step keeps z_i on its line. It keeps its phase, too, unless it points inward and is at least r_i long: an equally
long one leaves 0, which has no phase, and a longer one turns the phase by pi. The signed amplitude becomes
r_i + eta Omega / S, and z_i times the new phasor is r_i times that: the condition under which the claim holds is
necessary as well as sufficient, the claim itself in other words.

The *whole* gradient is another matter: it has the tangential part of gamma_i g_i / S, so a step of gradient descent
does turn the phase.
"""

import sympy as sp

from theory.certificate import positive, times
from theory.exact import evaluate, point
from theory.mrsnorm import eq05, eq06
from theory.norms import loss
from theory.phasors import cross, eps, g, gamma, gradient, i, z
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

S = eq05.S
eta = sp.Symbol("eta", real=True)  # the learning rate; a negative one ascends


def derived() -> sp.Matrix:
    """z_i after the step, the subtracted term taken from the derivative."""
    return z[i] + eta * eq06.interference()


def printed() -> sp.Matrix:
    """A vector with the phase the paper says it has: z_i."""
    return z[i]


def amplitude() -> sp.Expr:
    """r_i + eta Omega / S, the signed length after the step."""
    return z.r[i] + eta * eq05.omega() / S


def _aligned() -> tuple[sp.Expr, sp.Expr]:
    return sp.Integer(0), derived().dot(printed())


SHORT = "the step is not an inward one of length r_i or more (r_i + eta Omega / S > 0)"
_SAME_WAY = Inequality("the phase without the condition", "", _aligned, strict=True)

CONDITIONS = (
    Condition(
        SHORT,
        lambda: refute(_SAME_WAY, point({eps: 1, eta: 8}, z=[(1, 0)], g=[(-1, 0)], gamma=[1])),
        lambda at: evaluate(amplitude(), at) > 0,
    ),
    Condition(
        "z_i != 0",
        lambda: refute(_SAME_WAY, point({eps: 1, eta: 1}, z=[(0, 0), (1, 0)], g=[(0, 0), (1, 0)], gamma=[1, 1])),
        lambda at: at[z.r[i]] != 0,
    ),
)
HYPOTHESES = tuple(Hypothesis(condition.text, condition.holds) for condition in reversed(CONDITIONS))

STATEMENTS = (
    Identity(
        "as printed",
        "z_i + eta (Omega / S) u_i is parallel to z_i",
        lambda: (cross(derived(), printed()), 0),
        CONDITIONS,
        nonzero=(S, z.r[i]),
    ),
    Inequality(
        "as printed",
        "z_i + eta (Omega / S) u_i points the same way as z_i: if and only if r_i + eta Omega / S > 0",
        _aligned,
        lambda: times(positive(z.r[i], "z_i != 0"), positive(amplitude(), SHORT)),
        CONDITIONS,
        hypotheses=HYPOTHESES,
        nonzero=(S, z.r[i]),
        strict=True,
    ),
    Identity(
        "the condition is the conclusion",
        "z_i . (z_i + eta (Omega / S) u_i) = r_i (r_i + eta Omega / S): for z_i != 0 both have the same sign",
        lambda: (derived().dot(z[i]), z.r[i] * amplitude()),
        nonzero=(S, z.r[i]),
    ),
    Identity(
        "the amplitude after the step",
        "|z_i + eta (Omega / S) u_i| = |r_i + eta Omega / S|",
        lambda: (derived().dot(derived()), amplitude() ** 2),
        nonzero=(S, z.r[i]),
    ),
    Identity(
        "the whole gradient turns the phase",
        "z_i x dL/dz_i = gamma_i (z_i x g_i) / S: the tangential part of the direct term",
        lambda: (cross(z[i], gradient(loss(z, g, S), z, i)), gamma[i] * cross(z[i], g[i]) / S),
        nonzero=(S, z.r[i]),
    ),
)

MUTANTS = {
    "turned by pi": lambda: -z[i],
    "turned by pi/2": lambda: sp.Matrix([-z[i][1], z[i][0]]),
    "the upstream gradient's phase": lambda: g[i],
    "conjugated": lambda: sp.Matrix([z[i][0], -z[i][1]]),
}
