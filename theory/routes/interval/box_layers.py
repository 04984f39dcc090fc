"""Further bounds on boxes: those on the layer itself, its scale and its gradients.

As in `box_statements`: the sides come from the claims' files, P or N is small, and what both sides have in common is
left out of the box.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from theory.mrsnorm.eq17 import S_k, S_q
from theory.mrsnorm.homogeneity import M
from theory.mrsnorm.radial_open import EXTRA, delta
from theory.mrsnorm.token_scale import c
from theory.phasors import N, P, VectorFamily, eps, g, gamma, h, key, q, z
from theory.routes.interval.boxes import Box, Values
from theory.routes.interval.program import Inputs

ONE_MORE = "P = 2, magnitudes 1 and a"
TWO_MORE = "P = 3, magnitudes 1, a and b"
OUTLIER, ENERGY = "mrsnorm.quadratic_outlier", "mrsnorm.energy_identity"


def _magnitudes(family: VectorFamily) -> Callable[[Values], Inputs]:
    """One vector with magnitudes 1, a and, where the box has it, b."""

    def inputs(at: Values) -> Inputs:
        vectors = [(1, 0), *((at[name], 0) for name in ("a", "b") if name in at)]
        numbers = {eps: at.get("eps", 0), delta: at.get("delta", 0), c: at.get("C", 1)}
        return {family: vectors, gamma: [1] * len(vectors), **numbers}

    return inputs


def _upstream(at: Values) -> Inputs:
    """z = (1, a), gamma = 1 and g = (u, v) along the phasors, so that M = 1."""
    return {z: [(1, 0), (at["a"], 0)], g: [(at["u"], 0), (at["v"], 0)], gamma: [1, 1], M: 1, eps: at["eps"]}


def _turned(at: Values) -> Inputs:
    """q = (1, a) against k = ((3/5, 4/5), (c, 0)), scales 1."""
    other = [(Fraction(3, 5), Fraction(4, 5)), (at["c"], 0)]
    return {q: [(1, 0), (at["a"], 0)], key: other, S_q: 1, S_k: 1}


def _channels(at: Values) -> Inputs:
    """Two phasors, every coordinate an fp16 number of its own."""
    return {z: [tuple(65504 * at[name] for name in pair) for pair in ("st", "uv")]}


BOXES = (
    Box(
        "mrsnorm.eq01",
        "(2/P) rms(h)^2 <= (S - eps)^2 <= 2 rms(h)^2",
        {"a": ("1/200", "9/10"), "b": (0, 1)},
        f"{TWO_MORE}, eps = 0 (no side depends on it); a < 1/200 and a > 9/10, where a bound is reached, left out",
        (_magnitudes(z),),
        sizes={P: 3},
    ),
    Box(
        "mrsnorm.eq02",
        "|o_i|^2 <= P^2 gamma_i^2",
        {"a": (-1, 1), "eps": ("1/1000", 1)},
        f"{ONE_MORE}, i = 1, gamma = 1; eps = 0, where the bound is reached, left out",
        (_magnitudes(z),),
    ),
    Box(
        ENERGY,
        "Eq. 11 gives sum r_k^2 < (d/2) S^2 wherever eps > 0",
        {"a": (0, 1), "eps": ("1/200", 1)},
        f"{ONE_MORE}; eps = 0, where both are equal, left out",
        (_magnitudes(q),),
    ),
    Box(
        ENERGY,
        "Eq. 1 gives (d/2) S^2 <= sum r_k^2 at eps = 0",
        {"a": (0, "9/10"), "b": (0, 1)},
        f"{TWO_MORE}, eps = 0; a > 9/10, where both are equal, left out",
        (_magnitudes(q),),
        sizes={P: 3},
    ),
    Box(
        ENERGY,
        "Eq. 1 gives (d/2) S^2 < sum r_k^2 at eps = 0 if two magnitudes differ",
        {"a": (0, "9/10")},
        f"{ONE_MORE}, eps = 0; a > 9/10, where they differ less, left out",
        (_magnitudes(q),),
    ),
    Box(
        "mrsnorm.eq11",
        "at eps = 0, (mean r)^2 < mean r^2 if two magnitudes differ",
        {"a": (0, "9/10")},
        f"{ONE_MORE}; a > 9/10, where they differ less, left out",
        (_magnitudes(q),),
    ),
    Box(
        "mrsnorm.eq17",
        "|score| <= sum r_q r_k / (S_q S_k) <= sqrt(sum r_q^2 sum r_k^2) / (S_q S_k)",
        {"a": (0, "3/4"), "c": ("7/8", 1)},
        "P = 2, q = (1, a), k = (3/5 + 4/5 i, c) as complex numbers; c near a left out",
        (_turned,),
    ),
    Box(
        "mrsnorm.homogeneity",
        "|Omega| <= (1 - eps/S) M and |dL/dz_i| <= (2 - eps/S) M / S, M = max |gamma_k| |g_k|",
        {"a": ("1/2", 1), "u": (-1, 1), "v": ("-3/4", "3/4"), "eps": ("1/10", 1)},
        f"{ONE_MORE}, i = 1, gamma = 1, M = 1, g = (u, v) along the phasors; v near -1 and 1 left out",
        (_upstream,),
        tightened=Fraction(9, 10),
    ),
    Box(
        "mrsnorm.radial_open",
        "the radial gain is at least delta / S, whatever P is: if and only if r_i <= (1 - delta) P S",
        {"a": ("2/5", 1), "eps": (0, 1), "delta": (0, "1/4")},
        f"{ONE_MORE}, i = 1: r_i < (1 - delta) P S; the edge, where both are equal, left out",
        (_magnitudes(z),),
        tightened=Fraction(17, 20),
    ),
    Box(
        "mrsnorm.radial_open",
        "r_i = P^2 among phasors of magnitude 1 at eps = 0: S * gain <= 1/P, for P = 1 + n",
        {"n": (0, 20)},
        "P = 1 + n as a real number",
        (lambda at: {EXTRA: at["n"]},),
        tightened=Fraction(9, 10),
    ),
    Box(
        "mrsnorm.phasor_manifold",
        "the mean magnitude is 1 - eps / S < 1",
        {"a": (0, 1), "eps": ("1/200", 1)},
        f"{ONE_MORE}; eps = 0, where both are equal, left out",
        (_magnitudes(z),),
    ),
    Box(
        "mrsnorm.soft_constraint",
        "sum |qhat_k|^2 < d/2 for every q, wherever eps > 0",
        {"a": (0, 1), "eps": ("1/200", 1)},
        f"{ONE_MORE}; eps = 0, where both are equal, left out",
        (_magnitudes(q),),
    ),
    Box(
        "mrsnorm.token_scale",
        "the factor is below S / (S - eps), for every c, wherever eps > 0",
        {"a": (0, 1), "eps": ("1/2", 1), "C": (1, 2)},
        f"{ONE_MORE}, c = C; large c, where both come together, left out",
        (_magnitudes(q),),
        tightened=Fraction(3, 4),
    ),
    Box(
        "mrsnorm.rms_gradient_outlier",
        "and its multiplier is bounded: |xhat_i| <= sqrt(N)",
        {"a": (-1, 1), "eps": ("1/200", 1)},
        "N = 2, x = (1, a), i = 1; eps = 0, where the bound is reached, left out",
        (lambda at: {h: [1, at["a"]], eps: at["eps"]},),
        sizes={N: 2},
    ),
    Box(
        OUTLIER,
        "sum r^2 < (sum r)^2 if two phasors are non-zero",
        {"a": ("1/250", 1)},
        f"{ONE_MORE}; a < 1/250 left out",
        (_magnitudes(z),),
    ),
    Box(
        OUTLIER,
        "S_RMS / S < sqrt(N)/2 at eps = 0, if two phasors are non-zero",
        {"a": ("1/250", 1)},
        f"{ONE_MORE}; a < 1/250 left out",
        (_magnitudes(z),),
    ),
    Box(
        "mrsnorm.explosion",
        "the exact sum of x^2 over all channels, hence every r_i^2, stays within range, below 2^128 - 2^103, for "
        "inputs of at most 65504",
        dict.fromkeys("stuv", (-1, 1)),
        "P = 2, channels 65504 s, 65504 t, 65504 u and 65504 v",
        (_channels,),
        tightened=Fraction(1, 10**30),
    ),
)
