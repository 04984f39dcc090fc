"""softmax-collapse: the bound on the scores keeps the softmax from collapsing to one key.

Claim: with |score| <= d/2 (Eq. 18) attention cannot be driven into a one-hot state by magnitudes.

Source: section 5.3; appendix B, last paragraph.

Logits score / sqrt(d) with |score| <= B differ by at most D = 2 B / sqrt(d); B = d/2 gives D = sqrt(d). For n keys,
with t = e^-D, whatever the logits are,

    largest weight <= 1 / (1 + (n - 1) t),

reached when one key is at the top and all others are D below it. With D = sqrt(d), which |score| <= d/2 gives, that is
less than 1 whatever the magnitudes are: the claim holds for the S that Eq. 18 needs, Eq. 11's. Under Eq. 1 the weight
is not kept below that: with keys q and -q it exceeds it if score(q, q) > d/2. There B = d^2/4 (`eq18`) and
D = d^(3/2) / 2, 256 at d = 64: nothing is kept from anything. Even with Eq. 11 the protection is weak: a weight of at
most 1/2 is guaranteed only for n >= 1 + e^sqrt(d), from 2,982 keys on at d = 64 and from 81,939 on at d = 128.
QK-RMSNorm has a bound of the same kind, with B = d.

The entropy H of the weights is smallest when m keys are at the top and n - m at the bottom: the slope of H in one logit
a_i has the sign of (mean logit) - a_i, the mean taken with the weights, which falls as a_i rises; so H rises, then
falls, and its minimum over an interval is at an end. One logit at a time leads to a corner, where

    H = log Q + D (n - m) t / Q,   Q = m + (n - m) t,     minimum over 1 <= m < n.

Simpler and weaker: H >= log n - min(D, D^2/8). With logits s a_k the loss log n - H has the slope s V(s), V the
variance of the logits under the weights, and V <= D^2/4 (Popoviciu), so the loss is at most D^2/8 at s = 1. And
H - log n + D is the mean of D - (a_k - lowest) plus the log of a mean of numbers that are at least 1.

The lemmas are decided for every n (`theory.softmax`); the calculus that joins them is cited, as each says.
"""

from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from theory.certificate import Nonneg, given, over, positive, times, total_except
from theory.exact import Point
from theory.kinds.computed import Computed
from theory.kinds.deduction import Deduction
from theory.kinds.enclosure import exp_bounds, sqrt_bounds
from theory.mrsnorm import eq18
from theory.mrsnorm.eq16 import WITNESS, S_k, S_q
from theory.phasors import P, i, on_groups
from theory.softmax import (
    FALLING,
    LOSS,
    MEAN_LOGIT,
    POPOVICIU,
    SLOPE,
    SMALLEST_MEAN,
    SOME,
    D,
    a,
    mean,
    n,
    total_weight,
    w,
)
from theory.statements import Condition, Hypothesis, Identity, Inequality, refute

t = sp.Symbol("t", positive=True)  # e^-D
H, log_q = sp.symbols("H log(Q)", real=True)
m = sp.Symbol("m", integer=True, positive=True)  # keys at the top

BELOW = "w_k >= t w_i for every k"
TOP = Hypothesis(BELOW, lambda at: all(v >= at[t] * at[w][at.positions[i] - 1] for v in at[w]))


def derived() -> sp.Expr:
    """The weight of key i, for logits with exponentials w."""
    return w[i] / total_weight()


def printed() -> sp.Expr:
    """The bound on it: below 1 for n >= 2."""
    return 1 / (1 + (n - 1) * t)


def _weight_proof() -> Nonneg:
    """1/(1 + (n-1) t) - w_i / W = sum_{k != i} (w_k - t w_i) / (W (1 + (n-1) t))."""
    others = total_except(i, lambda k: given(w[k] - t * w[i], BELOW), n)
    return over(others, times(positive(total_weight(), SOME.text), positive(1 + (n - 1) * t, "n >= 1")))


def corner() -> sp.Expr:
    """H where m keys have exponential 1 and n - m have t: log Q less the mean logit."""
    groups: list[tuple[sp.Expr, Mapping]] = [(m, {w: 1, a: 0}), (n - m, {w: t, a: -D})]
    return log_q - on_groups(mean(lambda k: a[k]), groups)


def corner_formula() -> sp.Expr:
    """log Q + D (n - m) t / Q."""
    return log_q + D * (n - m) * t / (m + (n - m) * t)


def threshold(width: int) -> int:
    """The fewest keys for which the bound guarantees a weight of at most 1/2: the least integer >= 1 + e^sqrt(d)."""
    low, high = exp_bounds(*sqrt_bounds(width))
    if int(low) != int(high) or low.denominator == 1:
        raise ValueError(f"e^sqrt({width}) is not enclosed between two integers")
    return int(low) + 2


def heaviest(keys: int, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds on 1 / (1 + (n - 1) e^-D) for low <= e^D <= high."""
    return 1 / (1 + (keys - 1) / low), 1 / (1 + (keys - 1) / high)


def with_weights(at: Point) -> Point:
    """The point with exponentials t, 1, t, ... for its n keys."""
    count = int(at.numbers.get(n, 2))
    ratio = Fraction(1, 3)
    entries = tuple(Fraction(1) if k == at.positions[i] - 1 else ratio for k in range(count))
    return at.with_({w: entries, t: ratio, n: Fraction(count)})


SPREAD = Inequality(
    "the same bound under Eq. 1",
    "of keys q and -q the first weighs at most 1/(1 + e^-sqrt(d)) under Eq. 1: score(q, q) - score(q, -q) <= d",
    lambda: (2 * eq18.derived(), 2 * P),
    nonzero=(S_q, S_k),
    counterexample=WITNESS,
    expects="refuted",
)
CONDITIONS = (
    Condition(
        "S is the root mean square of Eq. 11, not the mean of Eq. 1",
        lambda: refute(SPREAD, WITNESS),
    ),
)


WEIGHT = Inequality(
    "as printed",
    "the largest weight is at most 1/(1 + (n-1) t), where t = e^-D and the logits differ by at most D",
    lambda: (derived(), printed()),
    _weight_proof,
    hypotheses=(TOP, SOME, Hypothesis("n >= 1", lambda at: at[n] >= 1)),
    nonzero=(total_weight(), 1 + (n - 1) * t),
    adjust=with_weights,
    scope="every n, every logits",
)
BOUNDED = "mrsnorm.eq18_rms: as printed"  # |score| <= d/2

STATEMENTS = (
    Deduction(
        "as printed",
        "the largest weight of any query and keys is at most 1/(1 + (n-1) e^-sqrt(d)), as |score| <= d/2",
        (BOUNDED, WEIGHT),
        "arithmetic and monotonicity of exp: scores of at most d/2 in size differ by at most d, logits by at most "
        "D = d / sqrt(d) = sqrt(d), so w_k >= e^-sqrt(d) w_i",
        lambda: sp.LessThan(derived(), printed().subs(t, sp.exp(-sp.sqrt(2 * P))), evaluate=False),
        "every d, every n, every q and keys",
        CONDITIONS,
    ),
    WEIGHT,
    Identity(
        "as printed",
        "the bound is reached: one key at the top, n - 1 keys D below it",
        lambda: (on_groups(derived(), [(1, {w: 1}), (n - 1, {w: t})], {i: 0}), printed()),
        nonzero=(1 + (n - 1) * t,),
        scope="every n",
    ),
    Deduction(
        "the spread of the logits under Eq. 11",
        "logits score / sqrt(d) of one query differ by at most D = sqrt(d)",
        (BOUNDED,),
        "arithmetic: numbers of size at most d/2 differ by at most d, and d / sqrt(d) = sqrt(d)",
        lambda: sp.LessThan(D, sp.sqrt(2 * P), evaluate=False),
        "every d",
    ),
    SPREAD,
    Identity(
        "the entropy of a corner",
        "m keys at the top, n - m at the bottom: H = log Q + D (n - m) t / Q, Q = m + (n - m) t",
        lambda: (corner(), corner_formula()),
        nonzero=(m + (n - m) * t,),
        scope="every n and m",
    ),
    SLOPE,
    FALLING,
    Deduction(
        "minimum entropy",
        "H >= min over 1 <= m < n of log Q + D (n - m) e^-D / Q, Q = m + (n - m) e^-D",
        (SLOPE, FALLING),
        "calculus: what rises and then falls is smallest at an end of an interval; one logit after the other moves to "
        "an end, which leads to a corner",
        lambda: sp.LessThan(sp.Function("min_m")(corner_formula()), H, evaluate=False),
        "every n >= 2, every logits within D",
    ),
    LOSS,
    POPOVICIU,
    Deduction(
        "entropy, for small D",
        "H >= log n - D^2/8",
        (LOSS, POPOVICIU),
        "integration of the slope s V(s) <= s D^2/4 from 0, where the loss is 0, to 1",
        lambda: sp.LessThan(sp.log(n) - D**2 / 8, H, evaluate=False),
        "every n, every logits within D",
    ),
    MEAN_LOGIT,
    SMALLEST_MEAN,
    Deduction(
        "entropy, for large D",
        "H >= log n - D",
        (MEAN_LOGIT, SMALLEST_MEAN),
        "H = log n + log((1/n) sum e^(a_k)) - mean logit, with the lowest logit at 0; log increases from log 1 = 0",
        lambda: sp.LessThan(sp.log(n) - D, H, evaluate=False),
        "every n, every logits within D",
    ),
    Computed(
        "keys for a weight of 1/2",
        "guaranteed from n = 2982 at d = 64 and from n = 81939 at d = 128, for D = sqrt(d)",
        lambda: [(threshold(64), 2982), (threshold(128), 81939)],
        scope="d = 64 and 128, e^sqrt(d) enclosed in rationals",
    ),
    Computed(
        "what one key may still weigh",
        "at d = 64 and n = 1024 between 0.744 and 0.745 with Eq. 11; with Eq. 1's D = 256, 1 - 1e-100 of 10^11 keys",
        lambda: [
            (Fraction(744, 1000), heaviest(1024, *exp_bounds(8))[0]),
            (heaviest(1024, *exp_bounds(8))[1], Fraction(745, 1000)),
            (10 ** (11 + 100), exp_bounds(32)[0] ** 8),
        ],
        scope="d = 64, e^D enclosed in rationals",
        relation="<",
    ),
    Computed(
        "m = 1 is not always minimal",
        "e^-D = 1/2, n = 4: log 3 + (1/3) log 2 at m = 2 is below log(5/2) + (3/5) log 2 at m = 1 (as powers)",
        lambda: [(3**15 * 2**5, Fraction(5, 2) ** 15 * 2**9)],
        scope="one exact example",
        relation="<",
    ),
)

MUTANTS = {
    "n for n - 1": lambda: 1 / (1 + n * t),
    "t squared": lambda: 1 / (1 + (n - 1) * t**2),
    "as if all were equal": lambda: 1 / n,
    "a half of it": lambda: 1 / (2 + 2 * (n - 1) * t),
    "t forgotten": lambda: t / (1 + (n - 1) * t),
}
