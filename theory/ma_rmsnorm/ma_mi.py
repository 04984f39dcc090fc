"""ma-mi: does the output carry information on the magnitude?

Claim: the mutual information I(l; y) of l = log RMS(x) and the output is 0 for RMSNorm and positive for MA-RMSNorm.

Source: section 3.2.

True if magnitude and direction are independent and alpha W != 0. RMSNorm's output is a function of the direction alone,
so it is then independent of l; where direction and magnitude go together it is not (if x is 1 or -2, equally likely,
RMSNorm puts out 1 or -1 and thereby tells which: log 2 of information). MA-RMSNorm's output has
E(y | l) = s G E(xhat) + alpha W l, which differs between any two magnitudes, so y and l are dependent.

How much: an output leaves at most two magnitudes (`ma_recover`), so H(l | y) <= log 2, and for a continuous l the
information is infinite in exact arithmetic, whatever s. What a *linear* readout <w, y> gets of it is finite. With the
covariance of xhat that of a uniform direction, the identity, its signal is alpha <w, W> sigma_l, its noise s |G w|; the
ratio is at most alpha |G^-1 W| sigma_l / s, reached at w = G^-2 W, and falls as s grows. For a Gaussian signal and
noise that is 1/2 log(1 + alpha^2 |G^-1 W|^2 sigma_l^2 / s^2): a larger s hides the magnitude.
"""

from fractions import Fraction

import sympy as sp

from theory.certificate import known, over, plus, positive, square, times, total
from theory.exact import Point, evaluate, point
from theory.kinds.computed import Computed
from theory.magnitude_aware import MEAN, R, W, alpha, c, direction, log_R, polar, rational_scale, s
from theory.phasors import N, e, gamma, h, i, index_sum, substitute
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

other = sp.Symbol("log_R'", real=True)
sigma = sp.Symbol("sigma_l", positive=True)
low, step = sp.symbols("s delta", positive=True)
TOGETHER = (1, -2)  # x of one channel, equally likely: its direction tells its magnitude
INDEPENDENT = "magnitude and direction are independent"
INJECTED = "alpha W != 0"
VARIES = "the magnitude varies: l' != l"


def rms_output() -> sp.Expr:
    """RMSNorm(c x)_i, gamma_i c x_i / RMS(c x)."""
    return gamma[i] * c * h[i] / sp.sqrt(c**2 * MEAN)


def derived() -> list[sp.Expr]:
    """How E(y_i | l) differs between two magnitudes l' and l, for RMSNorm and for MA-RMSNorm.

    The direction is drawn independently of the magnitude, so the same xhat stands in both terms and the mean over it
    may be taken of the difference.
    """
    plain = gamma[i] * h[i] / R
    return [rms_output() - plain, polar(i, other) - polar(i)]


def printed() -> list[sp.Expr]:
    """The same two differences as claimed."""
    return [sp.Integer(0), alpha * W[i] * (other - log_R)]


def shift() -> sp.Expr:
    """sum_i (E(y_i | l') - E(y_i | l))^2, from the claimed differences."""
    entry = printed()[1]
    return index_sum(lambda k: substitute(entry, {W: lambda _: W[k]}) ** 2, N)


def conditional() -> list[tuple[Fraction, Fraction]]:
    """P(|x| = m | y) and P(|x| = m), for every m and every output y of RMSNorm over one channel with x from `TOGETHER`.

    All pairs are equal if and only if the output carries no information on the magnitude.
    """
    joint = [(abs(x), evaluate(direction(i), point({N: 1}, h=[x])), Fraction(1, len(TOGETHER))) for x in TOGETHER]
    found = []
    for y in sorted({output for _, output, _ in joint}):
        mass = sum(p for _, output, p in joint if output == y)
        for size in sorted({size for size, _, _ in joint}):
            both = sum((p for m, output, p in joint if (m, output) == (size, y)), Fraction(0))
            found.append((both / mass, sum((p for m, _, p in joint if m == size), Fraction(0))))
    return found


def _injected(at: Point) -> bool:
    return at.numbers.get(alpha, 1) != 0 and any(at[W])


def _varies(at: Point) -> bool:
    return at.numbers.get(other, 1) != at.numbers.get(log_R, 0)


_NO_INFORMATION = Computed(
    "no information in RMSNorm's output",
    "P(|x| = m | y) = P(|x| = m): magnitude 1 goes with direction 1 and magnitude 2 with direction -1",
    conditional,
    scope="one distribution",
    inputs=lambda: {"x, equally likely": [*TOGETHER], "gamma": 1},
)
_ALWAYS = Inequality("a shift without the second term", "", lambda: (0, shift()), strict=True)

CONDITIONS = (Condition(INDEPENDENT, _NO_INFORMATION.decide),)
LEVEL = Condition(
    INJECTED,
    lambda: refute(_ALWAYS, point({N: 1, alpha: 1, log_R: 0, other: 1}).with_({W: (Fraction(0),)})),
    _injected,
)


def signal(k: sp.Expr) -> sp.Expr:
    """Entries of alpha sigma_l G^-1 W, the signal in units of the noise of each channel."""
    return alpha * sigma * W[k] / gamma[k]


def noise(k: sp.Expr) -> sp.Expr:
    """Entries of G w for the readout w, here called e."""
    return gamma[k] * e[k]


def best() -> sp.Expr:
    """The largest squared signal-to-noise ratio of a linear readout, times s^2."""
    return index_sum(lambda k: signal(k) ** 2, N)


STATEMENTS = (
    Identity(
        "as printed",
        "RMSNorm's output is the same at every magnitude; MA-RMSNorm's mean output differs by alpha W (l' - l)",
        lambda: ([substitute(MEAN, {h: lambda k: c * h[k]}), *derived()], [c**2 * MEAN, *printed()]),
        CONDITIONS,
        nonzero=(R, MEAN, c),
        adjust=rational_scale,
        scope="every N",
    ),
    Inequality(
        "as printed",
        "that difference is not 0, so y depends on l and I(l; y) > 0",
        lambda: (0, shift()),
        lambda: times(
            positive((other - log_R) ** 2, VARIES), positive(index_sum(lambda k: (alpha * W[k]) ** 2, N), INJECTED)
        ),
        (LEVEL,),
        hypotheses=(
            Hypothesis(VARIES, _varies),
            Hypothesis(INJECTED, _injected),
        ),
        scope="every N",
        strict=True,
    ),
    Inequality(
        "the best linear readout",
        "(alpha sigma_l <w, W>)^2 <= (alpha sigma_l |G^-1 W|)^2 |G w|^2, by Lagrange's identity",
        lambda: (
            index_sum(lambda k: alpha * sigma * e[k] * W[k], N) ** 2,
            best() * index_sum(lambda k: noise(k) ** 2, N),
        ),
        lambda: times(
            known(sp.Rational(1, 2)),
            total(lambda k: total(lambda m: square(signal(k) * noise(m) - signal(m) * noise(k)), N), N),
        ),
        nonzero=(gamma,),
        scope="every N",
    ),
    Identity(
        "it is reached",
        "by w = G^-2 W",
        lambda: tuple(
            substitute(side, {e: lambda k: W[k] / gamma[k] ** 2})
            for side in (
                index_sum(lambda k: alpha * sigma * e[k] * W[k], N) ** 2,
                best() * index_sum(lambda k: noise(k) ** 2, N),
            )
        ),
        nonzero=(gamma,),
        scope="every N",
    ),
    Inequality(
        "a larger s hides the magnitude",
        "alpha^2 sigma_l^2 |G^-1 W|^2 / s^2 is smaller at s + delta than at s, for s, delta > 0",
        lambda: (best() / (low + step) ** 2, best() / low**2),
        lambda: over(
            times(positive(best(), INJECTED), known(step), plus(known(low), known(low), known(step))),
            times(known(low), known(low), plus(known(low), known(step)), plus(known(low), known(step))),
        ),
        hypotheses=(Hypothesis(INJECTED, _injected),),
        nonzero=(gamma, low, low + step),
        scope="every N",
        strict=True,
    ),
)

MUTANTS = {
    "none in either": lambda: [sp.Integer(0), sp.Integer(0)],
    "s on the second term": lambda: [sp.Integer(0), s * alpha * W[i] * (other - log_R)],
    "W forgotten": lambda: [sp.Integer(0), alpha * (other - log_R)],
    "RMSNorm's scales along": lambda: [(c - 1) * gamma[i] * h[i] / R, alpha * W[i] * (other - log_R)],
}
