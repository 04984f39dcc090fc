"""energy-identity: sum r_k^2 = (d/2) S^2.

Claim: sum_k r_q,k^2 = (d/2) S_q^2, said to be what defines S_q. The step from Eq. 17 to Eq. 18.

Source: appendix B, between Eqs. 17 and 18.

True for Eq. 11 at eps = 0, where it is the definition. With eps it is sum r^2 = (d/2) (S^2 - eps), so "<" for eps > 0,
the direction that Eq. 18 needs. With Eq. 1 it is false: at eps = 0, (d/2) S^2 <= sum r^2, the *other* direction, with
equality only where all magnitudes are equal; for magnitudes (5, 35) it says 1250 = 800.
"""

import sympy as sp

from theory.certificate import known, over, positive, times
from theory.exact import point
from theory.mrsnorm import eq11
from theory.norms import mean_magnitude, rms_magnitude
from theory.phasors import P, eps, index_sum, on_groups, q
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute


def derived() -> sp.Expr:
    """sum r_k^2."""
    return index_sum(lambda k: q.r[k] ** 2)


def printed(scale: sp.Expr) -> sp.Expr:
    """(d/2) S^2."""
    return P * scale**2


def _under_eq_1() -> tuple[sp.Expr, sp.Expr]:
    """(d/2) S^2 with Eq. 1 at eps = 0, and sum r_k^2."""
    return P * mean_magnitude(q, sp.Integer(0)) ** 2, derived()


def _without(scale: sp.Expr) -> Identity:
    return Identity("with another S", "", lambda: (derived(), printed(scale)))


CONDITIONS = (
    Condition(
        "S is the root mean square of Eq. 11, not the mean of Eq. 1",
        lambda: refute(_without(mean_magnitude(q)), point({eps: 0}, q=[(3, 4), (21, 28)])),
    ),
    Condition(
        "eps = 0",
        lambda: refute(_without(rms_magnitude(q)), point({eps: 11}, q=[(3, 4)])),
        lambda at: at[eps] == 0,
    ),
)

STATEMENTS = (
    Identity(
        "as printed",
        "sum r_k^2 = (d/2) S^2",
        lambda: (derived(), printed(rms_magnitude(q, sp.Integer(0)))),
        CONDITIONS,
        adjust=lambda at: at.with_({eps: 0}),
    ),
    Identity(
        "with eps",
        "Eq. 11 gives sum r_k^2 = (d/2) (S^2 - eps)",
        lambda: (derived(), P * (rms_magnitude(q) ** 2 - eps)),
    ),
    Inequality(
        "eps > 0",
        "Eq. 11 gives sum r_k^2 < (d/2) S^2 wherever eps > 0",
        lambda: (derived(), P * rms_magnitude(q) ** 2),
        lambda: times(known(P), positive(eps, "eps > 0")),
        hypotheses=(Hypothesis("eps > 0", lambda at: at[eps] > 0),),
        strict=True,
    ),
    Inequality(
        "Eq. 1 turns it round",
        "Eq. 1 gives (d/2) S^2 <= sum r_k^2 at eps = 0",
        _under_eq_1,
        lambda: over(eq11.spread(), times(known(2), known(P))),
    ),
    Inequality(
        "strictly, where magnitudes differ",
        "Eq. 1 gives (d/2) S^2 < sum r_k^2 at eps = 0 if two magnitudes differ",
        _under_eq_1,
        lambda: over(eq11.spread(strict=True), times(known(2), known(P))),
        hypotheses=(eq11.DIFFERENT,),
        strict=True,
    ),
    Identity(
        "equal magnitudes",
        "Eq. 1 gives (d/2) S^2 = sum r_k^2 at eps = 0 if all magnitudes are equal",
        lambda: tuple(on_groups(side, [(P, {q.r: eq11.magnitude})]) for side in _under_eq_1()),
    ),
)

MUTANTS = {
    "d for d/2": lambda scale: 2 * P * scale**2,
    "S for its square": lambda scale: P * scale,
    "without d/2": lambda scale: scale**2,
    "Eq. 1": lambda scale: P * mean_magnitude(q, sp.Integer(0)) ** 2,
}
