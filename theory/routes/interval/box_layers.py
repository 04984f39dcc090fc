"""Further bounds on boxes: those on the layer itself, its scale and its gradients.

As in `box_statements`: the sides come from the claims' files, P or N is small, and what both sides have in common is
left out of the box.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from theory.beyond.starvation_relief import delta as relief
from theory.ma_rmsnorm.ma_mi import low, sigma, step
from theory.magnitude_aware import W, alpha
from theory.mrsnorm.eq17 import S_k, S_q
from theory.mrsnorm.homogeneity import M
from theory.mrsnorm.radial_open import EXTRA, delta
from theory.mrsnorm.token_scale import c
from theory.phasors import N, P, VectorFamily, e, eps, g, gamma, h, key, q, z
from theory.routes.interval.boxes import Box, Values
from theory.routes.interval.program import Inputs

ONE_MORE = "P = 2, magnitudes 1 and a"
TWO_MORE = "P = 3, magnitudes 1, a and b"
OUTLIER, ENERGY, MI = "mrsnorm.quadratic_outlier", "mrsnorm.energy_identity", "ma_rmsnorm.ma_mi"


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


def _heard(at: Values) -> Inputs:
    """z = g = (1, a), gamma = 1: the error at the second phasor, as it reaches the first."""
    vectors = [(1, 0), (at["a"], 0)]
    return {z: vectors, g: vectors, gamma: [1, 1]}


def _outgrown(at: Values) -> Inputs:
    """Magnitudes 1 and at most delta / 2."""
    return {z: [(1, 0), (at["share"] * at["delta"] / 2, 0)], relief: at["delta"]}


def _readout(at: Values) -> Inputs:
    """Two channels, weights (1, b), readout (1, a)."""
    return {W: [1, 1], e: [1, at["a"]], gamma: [1, at["b"]], alpha: 1, sigma: 1}


BOXES = (
    Box(
        "mrsnorm.eq01",
        "(2/P) rms(h)^2 <= (S - eps)^2 <= 2 rms(h)^2",
        {"a": ("1/200", "17/20"), "b": (0, 1)},
        f"{TWO_MORE}, eps = 0 (no side depends on it); a < 1/200 and a > 17/20, where a bound is reached, left out",
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
        {"a": (0, "17/20"), "b": (0, 1)},
        f"{TWO_MORE}, eps = 0; a > 17/20, where both are equal, left out",
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
    Box(
        OUTLIER,
        "that is the supremum: N/4 - (S_RMS / S)^2 <= (N/4) ((sum r / r_i)^2 - 1), which tends to 0 as phasor i "
        "outgrows the others",
        {"a": ("1/200", 4)},
        f"{ONE_MORE}, i = 1; a = 0, where both are 0, left out",
        (_magnitudes(z),),
        tightened=Fraction(9, 10),
    ),
    Box(
        "beyond.starvation_relief",
        "it is the supremum: (S_RMS / S)^2 >= (1 - delta) N/4 if the other magnitudes add up to at most (delta/2) r_i",
        {"delta": ("1/10", 1), "share": (0, "9/10")},
        f"{ONE_MORE} = share delta / 2, i = 1; delta < 1/10 and share > 9/10, where both come together, left out",
        (_outgrown,),
        tightened=Fraction(9, 10),
    ),
    Box(
        "mrsnorm.conformal",
        "for z_i != 0 and gamma_i != 0 the stretch along z_i is smaller than the one across",
        {"a": (0, 20), "eps": (0, 1)},
        f"{ONE_MORE}, i = 1, gamma = 1; large a, where both come together, left out",
        (_magnitudes(z),),
        tightened=Fraction(9, 10),
    ),
    Box(
        "mrsnorm.interference_broadcast",
        "at eps = 0 MRSNorm's interference is RMSNorm's times a factor between (sqrt(N)/2) (A/sum r)^2 A/r_i and "
        "(sqrt(N)/2) (sum r/A) A/r_i, A = r_j: for an outlier it tends to (sqrt(N)/2) A/r_i",
        {"a": ("1/10", 4)},
        f"{ONE_MORE}, i = 1, j = 2, gamma = 1, g = z, eps = 0",
        (_heard,),
        tightened=Fraction(1, 20),
    ),
    Box(
        "mrsnorm.squash_blockade",
        "0 < 2r / (1 + r^2)^2 < 2r and 2 / r^3: it vanishes only as r tends to 0 or grows beyond bound",
        {"r": ("1/10", 5)},
        "z_i = (r, 0); both ends, where the bounds are approached, left out",
        (lambda at: {z: [(at["r"], 0), (0, 0)]},),
        tightened=Fraction(9, 10),
    ),
    Box(
        MI,
        "(alpha sigma_l <w, W>)^2 <= (alpha sigma_l |G^-1 W|)^2 |G w|^2, by Lagrange's identity",
        {"a": ("-4/5", "1/5"), "b": (1, "3/2")},
        "N = 2, W = (1, 1), w = (1, a), gamma = (1, b), alpha = sigma_l = 1; w near G^-2 W left out",
        (_readout,),
        sizes={N: 2},
        tightened=Fraction(9, 10),
    ),
    Box(
        MI,
        "alpha^2 sigma_l^2 |G^-1 W|^2 / s^2 is smaller at s + delta than at s, for s, delta > 0",
        {"s": (1, 8), "d": ("1/10", 2)},
        "N = 2, W = gamma = (1, 1), alpha = sigma_l = 1, delta = d; delta = 0, where both are equal, left out",
        (lambda at: {**_readout({"a": 1, "b": 1}), low: at["s"], step: at["d"]},),
        sizes={N: 2},
        tightened=Fraction(97, 100),
    ),
)
