"""ma-entropy: how much of log n the entropy of attention keeps when s grows.

Claim: up to s = 8 the entropy of attention stays above 99.5 % of its maximum log n, where RMSNorm has collapsed.

Source: section 3.3; section 2.3, the table.

Both halves are false. What is guaranteed depends on the range D of a query's logits alone:

    H >= log n - min(D, D^2 / 8),

and the logits grow with s^2 where queries and keys are both normalized, so at s = 8 little is guaranteed unless the
projections are close to 0. Exact case: one channel, keys x = 1 and -1, so that log R = 0 and the second term with it,
query 1, product of the projections log 3 / 128. At s = 8 the weights are 3/4 and 1/4, 81 % of log 2; all of them are
computed from the layer. And since the entropy of logits t z falls as t grows, unless all z are equal, RMSNorm (s = 1)
has *more* of it than any s > 1.

Route. The lemmas of `theory.softmax`: the loss log n - H of logits s a_k has the slope s V(s), and V <= D^2/4; for the
linear bound, the mean logit and the mean of the exponentials. The least entropy of all logits with range D is at a
corner, some keys at the top and the rest at the bottom; with n = 64 that decides from which range on 99.5 % may be
missed: between 0.4083 and 0.4084.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, factorial, floor, prod

import sympy as sp

from theory.certificate import Nonneg, given, known, over, positive, times, total
from theory.exact import Point, evaluate, point
from theory.kinds.computed import Computed
from theory.kinds.deduction import Deduction
from theory.kinds.enclosure import exp_bounds
from theory.magnitude_aware import W, alpha, output
from theory.phasors import N, i, index_sum
from theory.softmax import (
    FALLING,
    INSIDE,
    LOSS,
    POPOVICIU,
    RANGE,
    SLOPE,
    SMALLEST_MEAN,
    SOME,
    D,
    a,
    mean,
    n,
    s,
    total_weight,
    variance,
    w,
)
from theory.statements import Hypothesis, Identity, Inequality

INPUTS = (1, -1)  # x of the two keys; the query is the first of them
CASE = {"level": 8, "base": 3, "factor": Fraction(1, 128)}  # s, and the product of the projections: factor * log(base)
BEFORE, AFTER = ({"level": level, "base": 2, "factor": Fraction(1, 2)} for level in (1, 2))
KEYS, TOP, ENOUGH, TOO_MUCH = 64, 28, Fraction(4083, 10000), Fraction(4084, 10000)


def exp_entropy(weights: tuple[Fraction, ...], power: int) -> Fraction:
    """e^(power H) = prod p_k^(-power p_k), rational where every power p_k is an integer (else `ValueError`)."""
    if any((power * p).denominator != 1 for p in weights):
        raise ValueError(f"{power} times {weights} are not integers")
    return prod((p ** -int(power * p) for p in weights), start=Fraction(1))


def attention(level: int, base: int, factor: Fraction) -> tuple[Fraction, ...]:
    """The weights of attention over one channel after MA-RMSNorm with s = level: exact powers of the base.

    The logits are factor * log(base) * y_q * y_k, with factor * log(base) the product of the projections of queries
    and keys; raises `ValueError` where two of them do not differ by an integer multiple of log(base).
    """
    layer = {N: 1, s: level, alpha: 1}
    outputs = [evaluate(output(i), point(layer, h=[x], gamma=[1]).with_({W: (Fraction(1),)})) for x in INPUTS]
    exponents = [factor * outputs[0] * key for key in outputs]
    gaps = [exponent - min(exponents) for exponent in exponents]
    if any(gap.denominator != 1 for gap in gaps):
        raise ValueError(f"log({base}) times {gaps}: not whole multiples")
    parts = [Fraction(base) ** int(gap) for gap in gaps]
    return tuple(part / sum(parts) for part in parts)


def _shown_inputs(case: Mapping) -> dict[str, object]:
    """The layer and what the weights come out as."""
    projections = f"{case['factor']} log({case['base']})"
    named = {"s": case["level"], "alpha": 1, "W": 1, "x of the keys": [*INPUTS], "x of the query": INPUTS[0]}
    return named | {"product of projections": projections, "weights": [*attention(**case)]}


def derived() -> Fraction:
    """e^(200 H) of the exact case."""
    return exp_entropy(attention(**CASE), 200)


def printed() -> Fraction:
    """e^(200 x 0.995 log n), which it is claimed not to fall below, for n = 2."""
    return Fraction(2) ** 199


def corrected() -> list[sp.Expr]:
    """The bounds on log n - H for logits s a_k, quadratic in their range, and for a_k, linear."""
    return [D**2 * s**2 / 8, D]


GROWING = Hypothesis("s >= 0", lambda at: at[s] >= 0)
DIFFERENT = Hypothesis("two logits differ", lambda at: len(set(at[a])) > 1)


def _linear() -> Nonneg:
    inside = total(lambda k: times(known(w[k]), given(D - a[k], RANGE)), n)
    return over(inside, positive(total_weight(), SOME.text))


def _variance() -> Nonneg:
    """V = sum over pairs of w_k w_l (a_k - a_l)^2 / (2 W^2), W the sum of all w."""
    pairs = index_sum(lambda k: index_sum(lambda m: w[k] * w[m] * (a[k] - a[m]) ** 2, n), n)
    whole = positive(total_weight(), SOME.text)
    return over(positive(pairs, DIFFERENT.text), times(known(2), whole, whole))


def logits(at: Point) -> Point:
    """The point with logits 0, D, 0, ... for its n keys, D and s at least 0 and positive exponentials."""
    top, count = abs(at.numbers.get(D, Fraction(1))), int(at.numbers.get(n, 2))
    entries = tuple(top if k % 2 else Fraction(0) for k in range(count))
    return at.with_({a: entries, w: (Fraction(1),) * count, D: top, s: abs(at.numbers.get(s, Fraction(1)))})


START = Identity("the bound at s = 0", "it is 0, as the loss is", lambda: (corrected()[0].subs(s, 0), 0))
STEEPER = Inequality(
    "the slope of the bound",
    "s V <= d/ds (D^2 s^2 / 8)",
    lambda: (s * variance(), sp.diff(corrected()[0], s)),
    lambda: times(given(s, GROWING.text), POPOVICIU.proof()),
    hypotheses=(INSIDE, SOME, GROWING),
    nonzero=(total_weight(),),
    adjust=logits,
    scope="every n",
)
MEAN_LOGIT = Inequality(
    "the mean logit",
    "it is at most D, the lowest logit being 0",
    lambda: (mean(lambda k: a[k]), corrected()[1]),
    _linear,
    hypotheses=(INSIDE, SOME),
    nonzero=(total_weight(),),
    adjust=logits,
    scope="every n",
)
POSITIVE = Inequality(
    "the variance of the logits is positive",
    "0 < V where two logits differ",
    lambda: (0, variance()),
    _variance,
    hypotheses=(SOME, DIFFERENT),
    nonzero=(total_weight(),),
    adjust=logits,
    scope="every n",
    strict=True,
)


def _decimal(value: Fraction, towards: Callable[[Fraction], int], digits: int = 15) -> Fraction:
    """The next number with so many decimals below (`floor`) or above (`ceil`)."""
    return Fraction(towards(value * 10**digits), 10**digits)


def _exponent(top: int, gap: Fraction, factor: Fraction) -> tuple[Fraction, Fraction]:
    """Q / n and H - log Q at the corner with `top` keys at 0 and the others at -gap, for e^-gap = factor.

    H = log Q + gap (n - top) e^-gap / Q with Q = top + (n - top) e^-gap; both parts increase with the factor.
    """
    q = top + (KEYS - top) * factor
    return q / KEYS, gap * (KEYS - top) * factor / q


def guaranteed() -> list[tuple[Fraction, Fraction]]:
    """1 against n (e^H / n)^200 from below, at every corner: at least 1 means H >= 0.995 log n."""
    factor = _decimal(1 / exp_bounds(ENOUGH)[1], floor)
    found = []
    for top in range(1, KEYS):
        part, exponent = (_decimal(value, floor) for value in _exponent(top, ENOUGH, factor))
        series = sum(exponent**k / factorial(k) for k in range(8))  # below e^exponent
        found.append((Fraction(1), _decimal(KEYS * _decimal(part * series, floor) ** 200, floor)))
    return found


def missed() -> list[tuple[Fraction, Fraction]]:
    """n (e^H / n)^200 from above at one corner, against 1: less than 1 means H < 0.995 log n."""
    factor = _decimal(1 / exp_bounds(TOO_MUCH)[0], ceil)
    part, exponent = (_decimal(value, ceil) for value in _exponent(TOP, TOO_MUCH, factor))
    return [(_decimal(KEYS * _decimal(part * exp_bounds(exponent)[1], ceil) ** 200, ceil), Fraction(1))]


GUARANTEED = Computed(
    "corners of range 0.4083",
    "n = 64: H >= 0.995 log n at every corner, as 1 <= n (e^H / n)^200",
    guaranteed,
    scope="n = 64, every corner, exponentials enclosed in rationals",
    relation="<=",
)

STATEMENTS = (
    Computed(
        "as printed",
        "H >= 0.995 log n at s = 8, as n^199 <= e^(200 H)",
        lambda: [(printed(), derived())],
        scope="n = 2",
        relation="<=",
        inputs=lambda: _shown_inputs(CASE),
        expects="refuted",
    ),
    Computed(
        "as printed",
        "RMSNorm (s = 1) has less entropy than s = 2, as powers e^(51 H)",
        lambda: [(exp_entropy(attention(**BEFORE), 51), exp_entropy(attention(**AFTER), 51))],
        scope="n = 2",
        relation="<",
        inputs=lambda: _shown_inputs(BEFORE) | {"weights at s = 2": [*attention(**AFTER)]},
        expects="refuted",
    ),
    Deduction(
        "corrected",
        "H >= log n - D^2/8, D the range of the logits",
        (LOSS, START, STEEPER),
        "integration of both slopes from s = 0 to 1",
        lambda: sp.LessThan(sp.Symbol("log n - H"), corrected()[0].subs(s, 1), evaluate=False),
        "every n, every logits within D",
    ),
    Deduction(
        "corrected",
        "H >= log n - D",
        (MEAN_LOGIT, SMALLEST_MEAN),
        "H = log n + log((1/n) sum e^(a_k)) - mean logit, the lowest logit being 0; log increases from log 1 = 0",
        lambda: sp.LessThan(sp.Symbol("log n - H"), corrected()[1], evaluate=False),
        "every n, every logits within D",
    ),
    Deduction(
        "entropy falls as s grows",
        "for logits t z, t = s^2 > 0, not all equal, dH/dt = -t V < 0: RMSNorm (s = 1) has more than s > 1",
        (LOSS, POSITIVE),
        "monotonicity: H = log n - loss has a negative slope",
        lambda: sp.StrictLessThan(-s * variance(), 0, evaluate=False),
        "every n",
    ),
    Deduction(
        "the range that guarantees 99.5 %",
        "n = 64: H >= 0.995 log n for all logits of range 0.4083",
        (SLOPE, FALLING, GUARANTEED),
        "calculus: what rises and then falls is least at an end; one logit after the other leads to a corner",
        lambda: GUARANTEED.formula(),
        "n = 64",
    ),
    Computed(
        "the range that may miss 99.5 %",
        "n = 64: H < 0.995 log n with 28 keys at the top and 36 at 0.4084 below, as n (e^H / n)^200 < 1",
        missed,
        scope="n = 64, exponentials enclosed in rationals",
        relation="<",
    ),
)

MUTANTS = {"80 %": lambda: Fraction(2) ** 160, "half": lambda: Fraction(2) ** 100}
CORRECTED_MUTANTS = {
    "D^2 / 16": lambda: [D**2 * s**2 / 16, D],
    "half the range": lambda: [D**2 * s**2 / 8, D / 2],
    "less 1": lambda: [D**2 * s**2 / 8 - 1, D],
    "linear in s": lambda: [D**2 * s / 8, D],
}
