"""The weight gradients and the Jacobians as templates, with the mistakes people make in them."""

from __future__ import annotations

from theory.analysis.template import (
    CONSTANT,
    COUNT,
    COUNT_S,
    DEVIATION,
    EPS_OUT,
    FORGOTTEN,
    HALF_COUNT,
    L2,
    MEAN_CONSTANT,
    NO_DELTA,
    NO_G,
    OWN_INDEX,
    OWN_TERM,
    PHASOR_COUNT,
    PHASOR_SCALES,
    POWER_S,
    RMS_SCALES,
    ROOT,
    ROOT_FOR_MEAN,
    SIGN,
    SPREAD,
    SPREADS,
    TRANSPOSED,
    TWICE,
    UNBIASED,
    UNCENTRED,
    VARIANCE_CONSTANT,
    Mistake,
    R,
    Template,
    powers,
)

_WEIGHT = "{all}*{product}/{S}**{power}"
_WEIGHT_MISTAKES: tuple[Mistake, ...] = (
    ("gamma in its own gradient", {"all": "gamma[i]"}),
    ("not divided by S", {"power": "0"}),
    (POWER_S, {"power": "2"}),
    ("sign flipped", {"all": "-1"}),
)
_SCALAR_WEIGHT: tuple[Mistake, ...] = (
    *_WEIGHT_MISTAKES,
    ("1/N too many", {"all": "1/N"}),
    (NO_G, {"product": "x[i]"}),
    ("summed over the channels", {"product": "sum(k, g[k]*x[k])"}),
    *((name, change) for name, change in RMS_SCALES if "T" not in change),
)
_LAYER_WEIGHT: tuple[Mistake, ...] = (
    *_WEIGHT_MISTAKES,
    (UNCENTRED, {"product": "g[i]*x[i]"}),
    ("1/N too many", {"all": "1/N"}),
    (NO_G, {"product": "x[i] - mu"}),
    ("the gradient of the bias", {"product": "g[i]", "power": "0"}),
    ("summed over the channels", {"product": "sum(k, g[k]*(x[k] - mu))"}),
    *((name, change) for name, change in SPREADS if "T" not in change),
)
_PHASOR_WEIGHT: tuple[Mistake, ...] = (
    *_WEIGHT_MISTAKES,
    ("one coordinate forgotten", {"product": "gx[i]*x[i]"}),
    ("one coordinate forgotten", {"product": "gy[i]*y[i]"}),
    ("unit vector in place of zhat", {"product": "dot(g[i], u[i])", "power": "0"}),
    ("1/P too many", {"all": "1/P"}),
    ("summed over the phasors", {"product": "sum(k, dot(g[k], z[k]))"}),
    *((name, change) for name, change in PHASOR_SCALES if "T" not in change),
)

WEIGHT_GRADIENTS = {
    "rmsnorm": Template(_WEIGHT, {"product": "g[i]*x[i]", "power": "1"}, _SCALAR_WEIGHT),
    "layernorm": Template(_WEIGHT, {"product": "g[i]*(x[i] - mu)", "power": "1"}, _LAYER_WEIGHT),
    "mrsnorm": Template(_WEIGHT, {"product": "dot(g[i], z[i])", "power": "1"}, _PHASOR_WEIGHT),
    "ma-rmsnorm": Template(
        "{s}*" + _WEIGHT,
        {"product": "g[i]*x[i]", "power": "1", "s": "s"},
        (("s forgotten", {"s": "1"}), *_SCALAR_WEIGHT),
    ),
}

_RMS = "{gd}*{delta}/{S} - {sign}*{gc}*{a}*{b}/({count}*{T}**{power})"
_RMS_SLOTS = {
    "gd": "gamma[i]",
    "gc": "gamma[i]",
    "delta": "delta(i, j)",
    "a": "x[i]",
    "b": "x[j]",
    "count": "N",
    "power": "3",
}
_RMS_MISTAKES: tuple[Mistake, ...] = (
    (CONSTANT, {"a": "0"}),
    (FORGOTTEN, {"gd": "1", "gc": "1"}),
    (FORGOTTEN + " in the direct term", {"gd": "1"}),
    (FORGOTTEN + " in the correction", {"gc": "1"}),
    (TRANSPOSED, {"gc": "gamma[j]"}),
    (TWICE, {"all": "gamma[i]"}),
    (TWICE, {"gc": "gamma[i]**2"}),
    (TWICE, {"gc": "gamma[i]*gamma[j]"}),
    (COUNT, {"count": "1"}),
    (SIGN, {"sign": "-1"}),
    *powers("1", "2", "4"),
    *RMS_SCALES,
    (EPS_OUT, {"S": f"{R} + eps", "b": f"x[j]*({R} + eps)/{R}"}),
    (COUNT_S, {"S": L2, "count": "1"}),
    (NO_DELTA, {"delta": "1"}),
    (OWN_TERM, {"a": "x[i]*delta(i, j)"}),
    (OWN_INDEX, {"b": "sum(k, x[k])"}),
)
_LAYER_SLOTS = {
    "w": "gamma[i]",
    "delta": "delta(i, j)",
    "center": "1/N",
    "a": "x[i] - mu",
    "b": "x[j] - mu",
    "count": "N",
    "power": "2",
}
_LAYER_MISTAKES: tuple[Mistake, ...] = (
    (CONSTANT, {"center": "0", "a": "0"}),
    (MEAN_CONSTANT, {"center": "0"}),
    (VARIANCE_CONSTANT, {"a": "0"}),
    (UNCENTRED, {"a": "x[i]", "b": "x[j]"}),
    (UNCENTRED, {"b": "x[j]"}),
    (UNCENTRED, {"a": "x[i]"}),
    (FORGOTTEN, {"w": "1"}),
    (TRANSPOSED, {"w": "gamma[j]"}),
    (TWICE, {"w": "gamma[i]**2"}),
    (TWICE, {"w": "gamma[i]*gamma[j]"}),
    (COUNT, {"count": "1"}),
    (COUNT, {"center": "1"}),
    (COUNT, {"count": "1", "center": "1"}),
    (SIGN, {"sign": "-1"}),
    *powers("1", "3"),
    *SPREADS,
    (EPS_OUT, {"S": f"{DEVIATION} + eps", "b": f"(x[j] - mu)*({DEVIATION} + eps)/{DEVIATION}"}),
    (UNBIASED, {"S": SPREAD, "count": "N - 1"}),
    (NO_DELTA, {"delta": "1"}),
    (OWN_TERM, {"center": "delta(i, j)/N", "a": "(x[i] - mu)*delta(i, j)"}),
)
_PHASOR_SLOTS = {
    "gd": "gamma[i]",
    "gc": "gamma[i]",
    "delta": "delta(i, j)",
    "outer": "outer(z[i], u[j])",
    "count": "P",
    "power": "2",
}
_PHASOR_MISTAKES: tuple[Mistake, ...] = (
    (CONSTANT, {"outer": "0*I"}),
    (FORGOTTEN, {"gd": "1", "gc": "1"}),
    (FORGOTTEN + " in the direct term", {"gd": "1"}),
    (FORGOTTEN + " in the correction", {"gc": "1"}),
    (TRANSPOSED, {"outer": "outer(u[i], z[j])"}),
    (TRANSPOSED, {"gc": "gamma[j]", "outer": "outer(u[i], z[j])"}),
    (TWICE, {"all": "gamma[i]"}),
    (TWICE, {"gc": "gamma[i]**2"}),
    (TWICE, {"gc": "gamma[i]*gamma[j]"}),
    (PHASOR_COUNT, {"count": "1"}),
    (HALF_COUNT, {"count": "N"}),
    ("z in place of the unit vector u", {"outer": "outer(z[i], z[j])"}),
    ("zhat in place of the unit vector u", {"outer": "outer(z[i], zhat[j])"}),
    ("unit vector in place of z", {"outer": "outer(u[i], u[j])"}),
    (SIGN, {"sign": "-1"}),
    *powers("1", "3"),
    *PHASOR_SCALES,
    (ROOT_FOR_MEAN, {"S": ROOT, "outer": f"outer(z[i], z[j])/({ROOT})"}),
    (NO_DELTA, {"delta": "1"}),
    (OWN_TERM, {"outer": "delta(i, j)*outer(z[i], u[j])"}),
)

JACOBIANS = {
    "rmsnorm": Template("{all}*(" + _RMS + ")", _RMS_SLOTS, _RMS_MISTAKES),
    "layernorm": Template(
        "{all}*{w}*({delta} - {center} - {sign}*{a}*{b}/({count}*{T}**{power}))/{S}", _LAYER_SLOTS, _LAYER_MISTAKES
    ),
    "mrsnorm": Template(
        "{all}*({gd}*{delta}*I/{S} - {sign}*{gc}*{outer}/({count}*{T}**{power}))", _PHASOR_SLOTS, _PHASOR_MISTAKES
    ),
    "ma-rmsnorm": Template(
        "{s}*{all}*(" + _RMS + ") + {alpha}*{W}*{x}/({many}*{S}**{square})",
        {**_RMS_SLOTS, "s": "s", "alpha": "alpha", "W": "W[i]", "x": "x[j]", "many": "N", "square": "2"},
        (
            ("magnitude term forgotten", {"W": "0"}),
            ("s forgotten", {"s": "1"}),
            ("alpha forgotten", {"alpha": "1"}),
            (TRANSPOSED + " magnitude term", {"W": "W[j]", "x": "x[i]"}),
            (COUNT + " in the magnitude term", {"many": "1"}),
            (POWER_S + " in the magnitude term", {"square": "1"}),
            *_RMS_MISTAKES,
        ),
    ),
}
