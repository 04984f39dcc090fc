"""radial-open: the radial gradient of a phasor is not blocked, and stays so as P grows.

Claim: the gain u_i^T J_ii u_i of the block of Eq. 8 is (1/S) (1 - r_i / (P S)): positive, and stable as P increases.

Source: section 5.2, after Eq. 8.

For every P, with z_i != 0:

    gain = (sum_{k != i} r_k + P eps) / (P S^2).

It is positive if and only if some other phasor is not 0, or eps is not; P = 1 with eps = 0 is the blockade itself. It
is at least delta / S if and only if r_i <= (1 - delta) P S, so that condition says what "stable" means and nothing
less: an outlier whose share of the sum tends to 1 loses its radial gradient however large P is (with r_i = P^2 among
phasors of magnitude 1, S * gain <= 1/P). At z_i = 0 there is no radius and Eq. 8 has no value; the gain is 1/S in every
direction.

Jointly the picture is different: at eps = 0 the common radial direction of all phasors, h itself, *is* annihilated,
since J h = (eps / S^2) h. Nor is an open radial direction special to MRSNorm: RMSNorm's gain is
(1/S) (1 - r_i^2 / (N S^2)).
"""

import sympy as sp

from theory.certificate import given, known, over, plus, positive, times
from theory.exact import point
from theory.mrsnorm import eq08
from theory.mrsnorm.eq07 import S_RMS
from theory.norms import mean_magnitude
from theory.phasors import P, derivative, eps, i, index_sum, jacobian, on_groups, z
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

S = mean_magnitude(z)
delta = sp.Symbol("delta", nonnegative=True)
x, y = z.components
EXTRA = sp.Symbol("n", integer=True, nonnegative=True)  # P = 1 + n


def derived() -> sp.Expr:
    """u_i^T (d zhat_i / d z_i) u_i, by differentiation."""
    return (z.unit(i).T * jacobian(z[i] / S, z, i) * z.unit(i))[0]


def printed() -> sp.Expr:
    """The gain that Eq. 8 gives: (1/S) (1 - r_i / (P S))."""
    return (1 - z.r[i] / (P * S)) / S


def others() -> sp.Expr:
    """sum_{k != i} r_k + P eps = P S - r_i."""
    return index_sum(lambda k: z.r[k]) - z.r[i] + P * eps


def rms_gain() -> sp.Expr:
    """u_i^T (d (z_i / S_RMS) / d z_i) u_i for RMSNorm over the same 2P channels, by differentiation."""
    block = sp.Matrix([[derivative(entry / S_RMS, v[i]) for v in (x, y)] for entry in z[i]])
    return (z.unit(i).T * block * z.unit(i))[0]


def _outlier_gain() -> sp.Expr:
    """S * gain of a phasor of magnitude P^2 among P - 1 phasors of magnitude 1, at eps = 0, for P = 1 + n."""
    value = on_groups((S * printed()).subs(eps, 0), [(1, {z.r: P**2}), (P - 1, {z.r: 1})], {i: 0})
    return value.subs(P, 1 + EXTRA)


ALIVE = "eps > 0 or some other phasor is not 0"
SHARE = "r_i <= (1 - delta) P S for a delta > 0 that does not depend on P"


def _alive(at: object) -> bool:
    return at[eps] > 0 or any(at.entry(z.r, k) for k in range(1, int(at[P]) + 1) if k != at.positions[i])


_OPEN = Inequality("an open radial direction without the condition", "", lambda: (0, printed()), strict=True)
_STABLE = Inequality("a stable gain without the condition", "", lambda: (delta / S, printed()))

_AT_ZERO = Identity(
    "the gain at z_i = 0 along (1, 0), against u_i . J_ii u_i with Eq. 8 for J_ii",
    "",
    lambda: (eq08.slope_at_zero((1, 0))[0], (z.unit(i).T * eq08.printed() * z.unit(i))[0]),
)

NONZERO = Condition(
    "z_i != 0",
    lambda: refute(_AT_ZERO, point({eps: 1}, z=[(0, 0)])),
    lambda at: at[z.r[i]] != 0,
)
NOT_ALONE = Condition(ALIVE, lambda: refute(_OPEN, point({eps: 0}, z=[(1, 0)])), _alive)
SMALL_SHARE = Condition(
    SHARE,
    lambda: refute(_STABLE, point({eps: 0, delta: sp.Rational(1, 10)}, z=[(100, 0)] + [(1, 0)] * 9)),
    lambda at: at[z.r[i]] <= (1 - at[delta]) * at[P] * _scale_at(at),
)


def _scale_at(at: object) -> object:
    return sum(at.entry(z.r, k) for k in range(1, int(at[P]) + 1)) / at[P] + at[eps]


STATEMENTS = (
    Identity(
        "as printed",
        "the radial gain is (1/S) (1 - r_i / (P S))",
        lambda: (derived(), printed()),
        (NONZERO,),
        nonzero=(S, z.r[i]),
    ),
    Inequality(
        "as printed",
        "the radial gain is positive: it is (sum_{k != i} r_k + P eps) / (P S^2)",
        lambda: (0, printed()),
        lambda: over(positive(others(), ALIVE), times(known(P), positive(S, "S > 0"), positive(S, "S > 0"))),
        (NOT_ALONE,),
        hypotheses=(Hypothesis(ALIVE, _alive), Hypothesis("S > 0", lambda at: _scale_at(at) > 0)),
        nonzero=(S,),
        strict=True,
    ),
    Inequality(
        "as printed",
        "the radial gain is at least delta / S, whatever P is: if and only if r_i <= (1 - delta) P S",
        lambda: (delta / S, printed()),
        lambda: over(
            given((1 - delta) * P * S - z.r[i], SHARE), times(known(P), positive(S, "S > 0"), positive(S, "S > 0"))
        ),
        (SMALL_SHARE,),
        hypotheses=(Hypothesis(SHARE, SMALL_SHARE.holds), Hypothesis("S > 0", lambda at: _scale_at(at) > 0)),
        nonzero=(S,),
    ),
    Identity(
        "the conditions are the conclusions",
        "P S^2 gain = sum_{k != i} r_k + P eps and P S^2 (gain - delta / S) = (1 - delta) P S - r_i: same signs, S > 0",
        lambda: (
            [P * S**2 * printed(), P * S**2 * (printed() - delta / S)],
            [others(), (1 - delta) * P * S - z.r[i]],
        ),
        nonzero=(S,),
    ),
    Inequality(
        "an outlier loses its radial gradient",
        "r_i = P^2 among phasors of magnitude 1 at eps = 0: S * gain <= 1/P, for P = 1 + n",
        lambda: (_outlier_gain(), 1 / (1 + EXTRA)),
        lambda: over(
            plus(known(1), times(known(2), known(EXTRA))),
            times(
                plus(known(1), known(EXTRA)),
                plus(times(plus(known(1), known(EXTRA)), plus(known(1), known(EXTRA))), known(EXTRA)),
            ),
        ),
        nonzero=(1 + EXTRA, (1 + EXTRA) ** 2 + EXTRA, *sp.denom(_outlier_gain()).args),
    ),
    Identity(
        "the common radial direction",
        "J h = (eps / S^2) h: at eps = 0 it is annihilated",
        lambda: (
            [index_sum(lambda k, row=row: (jacobian([row / S], z, k) * z[k])[0]) for row in z[i]],
            list(eps / S**2 * z[i]),
        ),
        nonzero=(S, z.r),
    ),
    Identity(
        "RMSNorm's radial gain",
        "(1/S) (1 - r_i^2 / (N S^2)) with N = 2P",
        lambda: (rms_gain(), (1 - z.r[i] ** 2 / (2 * P * S_RMS**2)) / S_RMS),
        nonzero=(S_RMS, z.r[i]),
    ),
)

MUTANTS = {
    "without 1/P": lambda: (1 - z.r[i] / S) / S,
    "sign flipped": lambda: (1 + z.r[i] / (P * S)) / S,
    "blocked": lambda: sp.Integer(0),
    "eps forgotten": lambda: printed_at_zero(),
}


def printed_at_zero() -> sp.Expr:
    """The gain with eps dropped from S."""
    without = mean_magnitude(z, sp.Integer(0))
    return (1 - z.r[i] / (P * without)) / without
