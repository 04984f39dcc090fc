"""Bounds of the claims on boxes: the two sides as the claims' files state them, enclosed on every sub-box.

P = 2 or 3, so that a box has few sides. Every quantity here depends on the magnitudes alone once the phasors of a pair
are parallel, which is where a score is largest, and is the same for all multiples of a vector at eps = 0; so one
magnitude is 1, and the others are the numbers of the box. A vector whose largest phasor is the first and one whose
largest is the second are two charts of the same box.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from theory.beyond.operator_norm import EXTRA as EXTRA_PHASORS
from theory.beyond.operator_norm import C, w
from theory.beyond.trade_off import EXTRA
from theory.mrsnorm.eq11 import m
from theory.phasors import P, VectorFamily, eps, g, gamma, key, q, z
from theory.power_means import p
from theory.routes.interval.boxes import Box, Values
from theory.routes.interval.program import Inputs
from theory.softmax import D, a, n, t
from theory.softmax import w as exponentials

ALIGNED = "P = 2, eps = 0, q = (1, a) and k = (1, c) or (c, 1) on one axis"
WITH_EPS = "P = 2, q = (1, a) and k = (1, c) or (c, 1) on one axis"
ONE_MORE = "P = 2, eps = 0, magnitudes 1 and a"
TWO_MORE = "P = 3, eps = 0, magnitudes 1, a and b"
LOGIT, NORM, TRADE = "beyond.power_mean_logit", "beyond.operator_norm", "beyond.trade_off"
RELIEF, SELF, SOFTMAX = "beyond.starvation_relief", "beyond.self_score", "mrsnorm.softmax_collapse"


def _scores(at: Values, **more: object) -> list[Inputs]:
    """q = (1, a) against k = (1, c) and against k = (c, 1), every phasor on the first axis."""
    own = [(1, 0), (at["a"], 0)]
    others = ([(1, 0), (at["c"], 0)], [(at["c"], 0), (1, 0)])
    numbers = {p: at.get("p", 1), eps: at.get("eps", 0)}
    return [{q: own, key: other, **numbers, **more} for other in others]


SCORES = tuple(lambda at, n=n: _scores(at)[n] for n in range(2))


def _turned(at: Values) -> Inputs:
    """q = (1, a) against k = ((3/5, 4/5), (c, 0)): the phases of the first pair differ."""
    return {q: [(1, 0), (at["a"], 0)], key: [(Fraction(3, 5), Fraction(4, 5)), (at["c"], 0)], eps: at["eps"]}


def _magnitudes(family: VectorFamily) -> Callable[[Values], Inputs]:
    """One vector with magnitudes 1, a and, where the box has it, b."""

    def inputs(at: Values) -> Inputs:
        vectors = [(1, 0), *((at[name], 0) for name in ("a", "b") if name in at)]
        return {family: vectors, p: at.get("p", 1), eps: 0, g: vectors, gamma: [1] * len(vectors)}

    return inputs


def _weights(at: Values) -> Inputs:
    """Three keys: one with exponential 1, the others between t and 1."""
    low, rest = at["t"], 1 - at["t"]
    return {exponentials: [1, low + at["u"] * rest, low + at["v"] * rest], t: low}


def _logits(at: Values) -> Inputs:
    """Logits 0, x and D = 1 with exponentials 1, u and 1."""
    return {a: [0, at["x"], 1], exponentials: [1, at["u"], 1], D: 1}


def _power_boxes(claim: str) -> tuple[Box, ...]:
    """Which of two phasors gets the longer interference: the same lemma in two claims."""
    description = f"{ONE_MORE}, g = z, gamma = 1; a = 1, where both are equal, left out"
    charts = (_magnitudes(z),)
    return (
        Box(
            claim,
            "for p > 1 the interference is strictly longer at the larger of two phasors, if Omega_p != 0",
            {"p": ("21/20", 2), "a": ("1/2", "4/5")},
            description,
            charts,
            tightened=Fraction(97, 100),
        ),
        Box(
            claim,
            "for p < 1 the interference is strictly shorter at the larger of two phasors, if Omega_p != 0",
            {"p": ("1/2", "19/20"), "a": ("1/2", "4/5")},
            description,
            charts,
            tightened=Fraction(97, 100),
        ),
    )


BOXES = (
    Box(
        LOGIT,
        "|score| <= P^(2/p) = (d/2)^(2/p) for 0 < p <= 2",
        {"p": (1, "3/2"), "a": ("1/100", 1), "c": (-1, 1)},
        f"{ALIGNED}; a < 1/100, where the bound is reached, left out",
        SCORES,
    ),
    Box(
        LOGIT,
        "|score| <= P = d/2 for p >= 2",
        {"p": (3, 4), "a": (0, "3/4"), "c": (-1, 1)},
        f"{ALIGNED}; a > 3/4, where the bound is reached, left out",
        SCORES,
        tightened=Fraction(98, 100),
    ),
    Box(
        TRADE,
        "for p < 2 a single non-zero phasor q = k has a score above d/2; P = 2 + n",
        {"p": ("1/2", "199/100")},
        "P = 2; p = 2, where both are equal, left out",
        (lambda at: {p: at["p"], EXTRA: 0},),
    ),
    *_power_boxes(TRADE),
    *_power_boxes("beyond.power_mean"),
    Box(
        NORM,
        "kappa_p >= 1",
        {"p": (1, "5/4"), "a": ("1/20", "4/5")},
        f"{ONE_MORE}; a = 1, where both are equal, left out",
        (_magnitudes(z),),
    ),
    Box(
        NORM,
        "kappa_p > 1 for p > 2 and two different magnitudes",
        {"p": (3, 4), "a": ("1/10", "4/5")},
        f"{ONE_MORE}; a = 1 and p = 2, where both are equal, left out",
        (_magnitudes(z),),
    ),
    Box(
        NORM,
        "kappa_p > 1 for p < 2 and two different magnitudes",
        {"p": ("1/2", "5/4"), "a": ("1/10", "4/5")},
        f"{ONE_MORE}; a = 1 and p = 2, where both are equal, left out",
        (_magnitudes(z),),
    ),
    Box(
        NORM,
        "kappa_p <= P^(1/2 - 1/p) for p >= 2",
        {"p": ("9/4", 8), "a": ("1/50", 1)},
        f"{ONE_MORE}; p = 2, where both are equal, left out",
        (_magnitudes(z),),
        tightened=Fraction(17, 20),
    ),
    Box(
        NORM,
        "kappa_p <= P^(1/p - 1/2) for 1 < p <= 2",
        {"p": ("101/100", "7/4"), "a": ("1/50", 1)},
        f"{ONE_MORE}; p = 2, where both are equal, left out",
        (_magnitudes(z),),
        tightened=Fraction(9, 10),
    ),
    Box(
        NORM,
        "kappa_1 <= P^(1/2)",
        {"a": ("1/300", 1)},
        f"{ONE_MORE}; the bound is approached as a tends to 0",
        (_magnitudes(z),),
    ),
    Box(
        NORM,
        "p = 1 - w/2 < 1: magnitudes 1 and n = P - 1 times C^(-1/w) have kappa_p^2 >= C n/P^2, for every C >= 1",
        {"C": (1, 10), "w": ("1/2", "3/2")},
        "P = 2, n = 1",
        (lambda at: {C: at["C"], w: at["w"], EXTRA_PHASORS: 1},),
        tightened=Fraction(1, 5),
    ),
    Box(
        "mrsnorm.eq18",
        "|score| <= (d/2)^2 = d^2/4",
        {"eps": ("1/1000", 1), "a": (-1, 1), "c": (-1, 1)},
        f"{WITH_EPS}; eps = 0, where the bound is reached, left out",
        SCORES,
    ),
    Box(
        "mrsnorm.eq18_rms",
        "|score| <= d/2",
        {"eps": ("1/100", 1), "a": (-1, 1), "c": (-1, 1)},
        f"{WITH_EPS}; eps = 0, where the bound is reached, left out",
        SCORES,
        tightened=Fraction(98, 100),
    ),
    Box(
        "mrsnorm.eq16",
        "|P_i| <= r_q r_k / (S_q S_k) <= (d/2)^2",
        {"eps": ("1/1000", 1), "a": (-1, 1), "c": (-1, 1)},
        "P = 2, i = 1, q = (1, a), k = (3/5 + 4/5 i, c) as complex numbers; eps = 0 left out",
        (_turned,),
    ),
    Box(
        "mrsnorm.eq16_rms",
        "|P_i| <= r_q r_k / (S_q S_k) <= d/2",
        {"eps": ("1/1000", 1), "a": (-1, 1), "c": (-1, 1)},
        "P = 2, i = 1, q = (1, a), k = (3/5 + 4/5 i, c) as complex numbers; eps = 0 left out",
        (_turned,),
    ),
    Box(
        SELF,
        "score(q, q) >= d/2 at eps = 0 for every q != 0",
        {"a": (0, "17/20"), "b": (0, 1)},
        f"{TWO_MORE}; a > 17/20, where the bound is reached, left out",
        (_magnitudes(q),),
        sizes={P: 3},
    ),
    Box(
        SELF,
        "score(q, q) > d/2 at eps = 0 if two magnitudes differ",
        {"a": (0, "9/10")},
        f"{ONE_MORE}; a > 9/10, where they differ less, left out",
        (_magnitudes(q),),
    ),
    Box(
        RELIEF,
        "1/sqrt(2) <= S_RMS / S <= sqrt(N)/2 at eps = 0",
        {"a": ("1/200", "17/20"), "b": (0, 1)},
        f"{TWO_MORE}; a < 1/200 and a > 17/20, where a bound is reached, left out",
        (_magnitudes(z),),
        sizes={P: 3},
    ),
    Box(
        RELIEF,
        "S_RMS / S > 1/sqrt(2) if two magnitudes differ",
        {"a": (0, "9/10")},
        f"{ONE_MORE}; a > 9/10, where they differ less, left out",
        (_magnitudes(z),),
    ),
    Box(
        RELIEF,
        "S_RMS / S < sqrt(N)/2 if two phasors are non-zero",
        {"a": ("1/250", 1)},
        f"{ONE_MORE}; a < 1/250 left out",
        (_magnitudes(z),),
    ),
    Box(
        "mrsnorm.isometry",
        "(rms(r) / mean(r))^2 < P if two phasors are non-zero",
        {"a": ("1/250", 1)},
        f"{ONE_MORE}; a < 1/250 left out",
        (_magnitudes(z),),
    ),
    Box(
        "mrsnorm.eq11",
        "at eps = 0, (mean r)^2 <= mean r^2",
        {"a": (0, "17/20"), "b": (0, 1)},
        f"{TWO_MORE}; a > 17/20, where both are equal, left out",
        (_magnitudes(q),),
        sizes={P: 3},
    ),
    Box(
        "mrsnorm.eq11",
        "then each vector contributes a factor whose square, (m + eps) / (2m + eps), is strictly between 1/2 and 1",
        {"m": ("1/10", 10), "eps": ("1/10", 1)},
        "every number of phasors with this mean square m of the channels",
        (lambda at: {m: at["m"], eps: at["eps"]},),
    ),
    Box(
        SOFTMAX,
        "the largest weight is at most 1/(1 + (n-1) t), where t = e^-D and the logits differ by at most D",
        {"t": ("1/100", "9/10"), "u": ("1/20", 1), "v": (0, 1)},
        "n = 3, exponentials 1, t + u (1 - t), t + v (1 - t); u < 1/20, where the bound is reached, left out",
        (_weights,),
        sizes={n: 3},
    ),
    Box(
        SOFTMAX,
        "V <= D^2/4 for 0 <= a_k <= D (Popoviciu)",
        {"x": (0, 1), "u": ("1/4", 1)},
        "n = 3, D = 1, logits 0, x, 1 with exponentials 1, u, 1; u < 1/4, where the bound is reached, left out",
        (_logits,),
        tightened=Fraction(98, 100),
        sizes={n: 3},
    ),
)
