"""conformal: the normalization preserves angles on each phasor plane.

Claim: z_i -> o_i = gamma_i z_i / S is conformal: its Jacobian J is a positive multiple of a rotation, or a reflection,
J^T J = lambda I with lambda > 0.

Source: abstract; section 3, after Eq. 3.

True for S held fixed and gamma_i != 0, with lambda = (gamma_i / S)^2. S is not fixed: it contains r_i. The map itself
stretches a phasor along its radius by gamma_i (S - r_i / P) / S^2 and across it by gamma_i / S. The two differ by
gamma_i r_i / (P S^2), so it is conformal at no z_i != 0, whatever P, eps and the weight (unless that is 0).
"""

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, positive, times, total_except
from theory.exact import point
from theory.norms import mean_magnitude
from theory.phasors import P, eps, gamma, i, jacobian, z
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

S = mean_magnitude(z)
x, y = z.components
fixed = sp.Symbol("S", positive=True)  # the scale, held fixed
ACROSS = sp.Matrix([-y[i], x[i]])


def derived() -> sp.Matrix:
    """J^T J for S held fixed, by differentiation."""
    block = jacobian(gamma[i] * z[i] / fixed, z, i)
    return block.T * block


def printed() -> sp.Matrix:
    """A multiple of the identity."""
    return (gamma[i] / fixed) ** 2 * sp.eye(2)


def stretched() -> sp.Matrix:
    """J^T J of the map itself, S depending on z_i, by differentiation."""
    block = jacobian(gamma[i] * z[i] / S, z, i)
    return block.T * block


def stretches() -> tuple[sp.Expr, sp.Expr]:
    """The factors of the map itself along z_i and across it."""
    return gamma[i] * (S - z.r[i] / P) / S**2, gamma[i] / S


def _gap() -> Nonneg:
    """The squared stretch across less that along: (gamma_i / (P S^2))^2 r_i (2 P S - r_i)."""
    radius, weight = positive(z.r[i], "z_i != 0"), positive(gamma[i] ** 2, "gamma_i != 0")
    scale = positive(S, "S > 0")
    room = plus(times(known(P), scale), total_except(i, lambda k: known(z.r[k])), times(known(P), known(eps)))
    return over(times(weight, radius, room), times(known(P), known(P), scale, scale, scale, scale))


_ITSELF = Identity(
    "the map itself is conformal", "", lambda: ([stretched()[0, 0], stretched()[0, 1]], [stretched()[1, 1], 0])
)
_POSITIVE = Inequality("a positive factor", "", lambda: (0, printed()[0, 0]), strict=True)

CONDITIONS = (
    Condition(
        "S is held fixed",
        lambda: refute(_ITSELF, point({eps: 0}, z=[(1, 0), (1, 0)], gamma=[1, 1])),
    ),
    Condition(
        "gamma_i != 0",
        lambda: refute(_POSITIVE, point({fixed: 1}, gamma=[0])),
        lambda at: at[gamma[i]] != 0,
    ),
)
NONZERO_WEIGHT = Hypothesis("gamma_i != 0", CONDITIONS[1].holds)

STATEMENTS = (
    Identity(
        "as printed",
        "J^T J = (gamma_i / S)^2 I",
        lambda: (derived(), printed()),
        CONDITIONS,
        nonzero=(fixed,),
    ),
    Inequality(
        "as printed",
        "the factor (gamma_i / S)^2 is positive",
        lambda: (0, printed()[0, 0]),
        lambda: over(positive(gamma[i] ** 2, "gamma_i != 0"), times(known(fixed), known(fixed))),
        CONDITIONS,
        hypotheses=(NONZERO_WEIGHT,),
        nonzero=(fixed,),
        strict=True,
    ),
    Identity(
        "stretches of the map itself",
        "J^T J z_i = (gamma_i (S - r_i/P) / S^2)^2 z_i and J^T J v = (gamma_i / S)^2 v for v across z_i",
        lambda: (
            [*(stretched() * z[i]), *(stretched() * ACROSS)],
            [*(stretches()[0] ** 2 * z[i]), *(stretches()[1] ** 2 * ACROSS)],
        ),
        nonzero=(S, z.r[i]),
    ),
    Inequality(
        "the map itself is nowhere conformal",
        "for z_i != 0 and gamma_i != 0 the stretch along z_i is smaller than the one across",
        lambda: (stretches()[0] ** 2, stretches()[1] ** 2),
        _gap,
        hypotheses=(
            NONZERO_WEIGHT,
            Hypothesis("z_i != 0", lambda at: at[z.r[i]] != 0),
            Hypothesis("S > 0", lambda at: at[eps] > 0 or any(at[x]) or any(at[y])),
        ),
        nonzero=(S,),
        strict=True,
    ),
)

MUTANTS = {
    "not squared": lambda: gamma[i] / fixed * sp.eye(2),
    "gamma forgotten": lambda: sp.eye(2) / fixed**2,
    "sheared": lambda: (gamma[i] / fixed) ** 2 * sp.Matrix([[1, 1], [1, 1]]),
    "one channel twice as far": lambda: (gamma[i] / fixed) ** 2 * sp.diag(1, 4),
}
