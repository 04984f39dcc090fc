"""clipping-distorts: clipping a gradient by its magnitude distorts its direction.

Claim: where the norm of a gradient v exceeds the threshold C, clipping turns v: cos^2 of the angle between v and its
clipped form c is less than 1.

Source: section 2.3; clipping by norm is that of "On the difficulty of training recurrent neural networks" (Pascanu,
Mikolov, Bengio 2013), which the paper cites for it.

False for clipping one whole gradient by its norm, in any number N of coordinates: where it acts it multiplies v by C /
|v| > 0, so (3, 4) becomes (3/5, 4/5) at C = 1. It is true of other ways to clip: each part of the gradient by its own
norm (each tensor; or by value, where the parts are single numbers), and each example's gradient before averaging,
which is what the other work cited there is about.
"""

import sympy as sp

from theory.exact import Point, point
from theory.phasors import N, cross, e, i, index_sum, j, key, q
from theory.statements import Identity, Inequality

C = sp.Symbol("C", positive=True)
NORM = sp.sqrt(index_sum(lambda k: e[k] ** 2, N))


def clipped(k: sp.Symbol) -> sp.Expr:
    """Coordinate k of v clipped by its norm, where |v| >= C."""
    return C / NORM * e[k]


def projection() -> sp.Expr:
    """v . c."""
    return index_sum(lambda k: e[k] * clipped(k), N)


def energy() -> sp.Expr:
    """|c|^2."""
    return index_sum(lambda k: clipped(k) ** 2, N)


def derived() -> sp.Expr:
    """(v . c)^2 = |v|^2 |c|^2 cos^2."""
    return projection() ** 2


def printed() -> sp.Expr:
    """What it would fall short of: |v|^2 |c|^2."""
    return NORM**2 * energy()


def corrected() -> tuple[sp.Expr, sp.Expr]:
    """v . c and |c|^2 where clipping acts: |v| C and C^2, so that cos = 1."""
    return NORM * C, C**2


def turn_of_parts() -> sp.Expr:
    """The cross product of v and its clipped form in the plane of two parts, each clipped by its own norm.

    The parts are single numbers, the first components of two q_k = (v_k, 0): that is clipping by value.
    """
    size = q.r
    part = q.components[0]
    return part[i] * (C / size[j] * part[j]) - part[j] * (C / size[i] * part[i])


def turn_of_examples() -> sp.Expr:
    """The cross product of the mean of two examples' gradients, q_i and k_i, and the mean of their clipped forms."""
    return cross(q[i] + key[i], C / q.r[i] * q[i] + C / key.r[i] * key[i]) / 4


def rational_norm(at: Point) -> Point:
    """The point with as many equal coordinates as make its norm rational: one."""
    first = at.lists[e][0]
    return at.with_({e: (first, *(first * 0 for _ in at.lists[e][1:]))})


STATEMENTS = (
    Inequality(
        "as printed",
        "(v . c)^2 < |v|^2 |c|^2: clipping by the norm of the whole gradient turns it",
        lambda: (derived(), printed()),
        nonzero=(NORM,),
        counterexample=point({N: 2, C: 1}, e=[3, 4]),
        strict=True,
        scope="every N",
        expects="refuted",
    ),
    Identity(
        "corrected",
        "where it acts, clipping by the norm of the whole gradient has v . c = |v| |c| and |c| = C: only the length "
        "changes",
        lambda: ([projection(), energy()], corrected()),
        nonzero=(NORM,),
        adjust=rational_norm,
        scope="every N",
    ),
    Identity(
        "clipping by value, or each tensor by itself, keeps the direction",
        "v and its clipped form are parallel where each part is clipped by its own norm",
        lambda: (turn_of_parts(), 0),
        nonzero=(q.r[i], q.r[j]),
        counterexample=point({C: 1}, q=[(3, 0), (4, 0)]),
        expects="refuted",
    ),
    Identity(
        "clipping each example before averaging keeps the direction",
        "the mean of the clipped gradients is parallel to the mean of the gradients",
        lambda: (turn_of_examples(), 0),
        nonzero=(q.r[i], key.r[i]),
        counterexample=point({C: 1}, q=[(3, 0)], key=[(0, 1)]),
        expects="refuted",
    ),
)

MUTANTS = {
    "as if c were twice as long": lambda: 4 * NORM**2 * energy(),
    "with room to spare": lambda: NORM**2 * energy() + C**2,
}
CORRECTED_MUTANTS = {
    "turned by 60 degrees": lambda: (NORM * C / 2, C**2),
    "not shortened": lambda: (NORM**2, NORM**2),
    "reversed": lambda: (-NORM * C, C**2),
}
