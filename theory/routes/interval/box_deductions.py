"""Conclusions of deductions on boxes: what a cited theorem draws from the premises, checked directly for small cases.

A deduction has no sides, and its inference is not checked by machine. Here its conclusion is written down from the
definitions, for two or three keys or phasors, and enclosed on a box: scores as sums of r_q r_k cos / (S_q S_k),
entropies of softmax weights, interference as what differentiation of the loss leaves beside the direct term.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from theory.routes.interval.balls import ball, flint, real_power, whole_power
from theory.routes.interval.boxes import Box, Pairs, Values

SOFTMAX, ENTROPY = "mrsnorm.softmax_collapse", "ma_rmsnorm.ma_entropy"
POWER, TRADE = "beyond.power_mean", "beyond.trade_off"


def _entropy(logits: Sequence) -> object:
    """log Q less the mean logit, for the logits less the first of them."""
    gaps = [logits[0] - logit for logit in logits[1:]]
    parts = [(-gap).exp() for gap in gaps]
    whole = sum(parts, ball(1))
    return whole.log() + sum((gap * part for gap, part in zip(gaps, parts, strict=True)), ball(0)) / whole


def _cosines(at: Values) -> Pairs:
    """d = 2, one phasor: scores are cosines, logits cosines / sqrt 2; the first key's weight and the bound."""
    root = ball(2).sqrt()
    others = sum((((at[name] - at["c1"]) / root).exp() for name in ("c2", "c3")), ball(1))
    return [(1 / others, 1 / (1 + 2 * (-root).exp()))]


def _two_scores(at: Values) -> tuple[object, object]:
    """Eq. 11 at P = 2, eps = 0: the scores of q = (1, a) with k = (1, c) and with -(1, e)."""

    def scale(other: object) -> object:
        return ((1 + whole_power(other, 2)) / 2).sqrt()

    def score(other: object) -> object:
        return (1 + at["a"] * other) / (scale(at["a"]) * scale(other))

    return score(at["c"]), -score(at["e"])


def _first_of_two(at: Values) -> Pairs:
    first, second = _two_scores(at)
    return [(1 / (1 + ((second - first) / 2).exp()), 1 / (1 + ball(-2).exp()))]


def _spread(at: Values) -> Pairs:
    first, second = _two_scores(at)
    return [((first - second) / 2, ball(2))]


def _corners(at: Values) -> Pairs:
    """n = 3: the less of the two corners, and H with one logit between."""
    gap, zero = at["D"], ball(0)
    corners = [_entropy([zero, -gap, -gap]), _entropy([zero, zero, -gap])]
    return [(corners[0].min(corners[1]), _entropy([zero, -at["x"] * gap, -gap]))]


def _bound(loss: Callable[[object], object], keys: int) -> Callable[[Values], Pairs]:
    """log n - loss(D) against H, for 2 keys D apart or a third one between."""

    def pairs(at: Values) -> Pairs:
        gap = at["D"]
        logits = [ball(0), -gap] if keys == 2 else [ball(0), -at["x"] * gap, -gap]
        return [(ball(keys).log() - loss(gap), _entropy(logits))]

    return pairs


def _quadratic(gap: object) -> object:
    return whole_power(gap, 2) / 8


def _linear(gap: object) -> object:
    return gap


def _sharper(middle: Fraction) -> Callable[[Values], Pairs]:
    """H for logits s^2 z and for z = (0, middle D, D)."""

    def pairs(at: Values) -> Pairs:
        logits = [ball(0), -ball(middle) * at["D"], -at["D"]]
        factor = whole_power(at["s"], 2)
        return [(_entropy([factor * logit for logit in logits]), _entropy(logits))]

    return pairs


def _interference(at: Values) -> tuple[object, object]:
    """|g_i / S - dL/dx_i| for z = g = ((2, 0), (1, 0)) and S = S_p, by power series in x_i."""
    series, p = flint().arb_series, at["p"]
    found = []
    for moved in range(2):
        x = [series([2, int(moved == 0)], 2), series([1, int(moved == 1)], 2)]
        mean = ((x[0].log() * p).exp() + (x[1].log() * p).exp()) / 2
        scale = (mean.log() / p).exp()
        slope = ((2 * x[0] + x[1]) / scale)[1]
        found.append(abs((2, 1)[moved] / scale[0] - slope))
    return found[0], found[1]


def _longer(at: Values) -> Pairs:
    first, second = _interference(at)
    return [(second, first)]


def _shorter(at: Values) -> Pairs:
    return [(left, right) for right, left in _longer(at)]


def _one_hot(at: Values) -> Pairs:
    """P = 2 against the score of q = k = (1, 0) under S_p."""
    scale = real_power(ball("1/2"), 1 / at["p"])
    return [(ball(2), 1 / whole_power(scale, 2))]


def _entropy_boxes(claim: str, small: str, large: str) -> tuple[Box, ...]:
    """The two bounds on the loss of entropy, which two claims state."""
    return (
        Box(
            claim,
            small,
            {"D": ("1/4", 6)},
            "n = 2, logits D apart; D < 1/4, where both tend to log 2, left out",
            formulas=(_bound(_quadratic, 2),),
        ),
        Box(
            claim,
            small,
            {"D": (1, 5), "x": (0, 1)},
            "n = 3, logits 0, -x D, -D",
            formulas=(_bound(_quadratic, 3),),
            tightened=Fraction(97, 100),
        ),
        Box(
            claim,
            large,
            {"D": ("1/4", 6), "x": (0, 1)},
            "n = 3, logits 0, -x D, -D; D < 1/4, where both tend to log 3, left out",
            formulas=(_bound(_linear, 3),),
            tightened=Fraction(3, 4),
        ),
    )


UNIFORM = "for P >= 2 the interference is uniform for every h only if p = 1"
BOTH = "no p > 0 has both uniform interference and |score| <= d/2"
PAIR = "P = 2, z = g = ((2, 0), (1, 0)), gamma = 1: the interference differs between the two phasors"

BOXES = (
    Box(
        SOFTMAX,
        "the largest weight of any query and keys is at most 1/(1 + (n-1) e^-sqrt(d)), as |score| <= d/2",
        {"c1": (-1, "49/50"), "c2": (-1, 1), "c3": (-1, 1)},
        "d = 2, n = 3, scores c1, c2, c3 under Eq. 11 at eps = 0, which are cosines; c1 > 49/50 left out",
        formulas=(_cosines,),
    ),
    Box(
        SOFTMAX,
        "the largest weight of any query and keys is at most 1/(1 + (n-1) e^-sqrt(d)), as |score| <= d/2",
        {"a": (0, "1/2"), "c": (-1, 1), "e": ("3/4", 1)},
        "d = 4, n = 2, Eq. 11 at eps = 0, q = (1, a), keys (1, c) and -(1, e) on one axis; e near a left out",
        formulas=(_first_of_two,),
    ),
    Box(
        SOFTMAX,
        "logits score / sqrt(d) of one query differ by at most D = sqrt(d)",
        {"a": (0, "1/2"), "c": (-1, "1/2"), "e": ("3/4", 1)},
        "d = 4, Eq. 11 at eps = 0, q = (1, a), keys (1, c) and -(1, e) on one axis; e near a left out",
        formulas=(_spread,),
        tightened=Fraction(97, 100),
    ),
    Box(
        SOFTMAX,
        "H >= min over 1 <= m < n of log Q + D (n - m) e^-D / Q, Q = m + (n - m) e^-D",
        {"D": (1, 4), "x": ("1/10", "9/10")},
        "n = 3, logits 0, -x D, -D; x near 0 and 1, which are the corners, left out",
        formulas=(_corners,),
        tightened=Fraction(97, 100),
    ),
    *_entropy_boxes(SOFTMAX, "H >= log n - D^2/8", "H >= log n - D"),
    *_entropy_boxes(ENTROPY, "H >= log n - D^2/8, D the range of the logits", "H >= log n - D"),
    Box(
        ENTROPY,
        "for logits t z, t = s^2 > 0, not all equal, dH/dt = -t V < 0: RMSNorm (s = 1) has more than s > 1",
        {"s": ("5/4", 3), "D": (1, 3)},
        "n = 3, z = (0, -x D, -D) with x = 0, 1/2 and 1: H at s below H at 1",
        formulas=tuple(_sharper(Fraction(middle, 2)) for middle in range(3)),
        strict=True,
        tightened=Fraction(9, 10),
    ),
    Box(POWER, UNIFORM, {"p": ("101/100", 8)}, PAIR, formulas=(_longer,), strict=True),
    Box(POWER, UNIFORM, {"p": ("1/8", "99/100")}, PAIR, formulas=(_shorter,), strict=True),
    Box(
        TRADE,
        BOTH,
        {"p": ("1/8", "199/100")},
        "P = 2, the score of q = k with a single non-zero phasor exceeds d/2",
        formulas=(_one_hot,),
        strict=True,
    ),
    Box(TRADE, BOTH, {"p": ("3/2", 8)}, PAIR, formulas=(_longer,), strict=True, tightened=Fraction(7, 10)),
)
