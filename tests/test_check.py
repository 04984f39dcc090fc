"""`check`: right formulas are proved however they are written, wrong ones refuted by an exact point and named."""

import pytest

from theory.analysis import check
from theory.analysis.layers import JACOBIAN, LAYERS, TARGETS, WEIGHT_GRADIENT
from theory.analysis.mistakes import RIGHT, TEMPLATES

RMS = "gamma[i]*g[i]/S - x[i]/(N*S**3)*sum(k, gamma[k]*g[k]*x[k])"
LN = "(gamma[i]*g[i] - sum(k, gamma[k]*g[k])/N - xhat[i]*sum(k, gamma[k]*g[k]*xhat[k])/N)/S"
MRS = "(gamma[i]*g[i] - u[i]*sum(k, gamma[k]*dot(g[k], zhat[k]))/P)/S"
MA = f"s*({RMS}) + alpha*x[i]/(N*S**2)*sum(k, W[k]*g[k])"
ROOT = "sqrt(sum(k, x[k]**2)/N + eps)"

RIGHT_WAYS = {
    "rmsnorm": {
        "expanded": RMS,
        "factored": "(gamma[i]*g[i] - xhat[i]*sum(k, gamma[k]*g[k]*xhat[k])/N)/S",
        "with rms^3": "(N*rms**2*gamma[i]*g[i] - x[i]*sum(k, gamma[k]*g[k]*x[k]))/(N*rms**3)",
        "with 1/rms": "rstd*gamma[i]*g[i] - rstd**3*x[i]*sum(k, x[k]*gamma[k]*g[k])/N",
        "S written out": RMS.replace("S", ROOT),
        "as a norm": RMS.replace("S", "(sqrt(sum(k, x[k]**2) + N*eps)/sqrt(N))"),
        "S^3 as a power 3/2": RMS.replace("S**3", "(sum(k, x[k]**2)/N + eps)**(3/2)"),
        "one sum over everything": "sum(k, gamma[i]*g[i]/S - x[i]*x[k]*gamma[k]*g[k]/S**3)/N",
        "with the outputs": "gamma[i]*g[i]/S - xhat[i]*sum(k, g[k]*o[k])/(N*S)",
        "the index named like the free one": RMS.replace("sum(k, gamma[k]*g[k]*x[k])", "sum(i, gamma[i]*g[i]*x[i])"),
        "a double sum": "gamma[i]*g[i]/S - x[i]*sum(k, sum(l, gamma[k]*g[k]*x[k]))/(N**2*S**3)",
        "a hidden index": "sum(k, gamma[i]*g[i]/S - x[i]*sum(k, gamma[k]*g[k]*x[k])/(N*S**3))/N",
    },
    "layernorm": {
        "with xhat": LN,
        "expanded": (
            "gamma[i]*g[i]/S - sum(k, gamma[k]*g[k])/(N*S) - (x[i] - mu)*sum(k, gamma[k]*g[k]*(x[k] - mu))/(N*S**3)"
        ),
        "as a kernel": ("rstd/N*(N*gamma[i]*g[i] - sum(k, gamma[k]*g[k]) - xhat[i]*sum(k, gamma[k]*g[k]*xhat[k]))"),
        "with the variance": LN.replace("/S", "/sqrt(var + eps)"),
        "S and mu written out": LN.replace("S", "sqrt(sum(k, (x[k] - sum(l, x[l])/N)**2)/N + eps)"),
        "the variance as a difference": LN.replace("/S", "/sqrt(sum(k, x[k]**2)/N - mu**2 + eps)"),
        "the three terms of a tutorial": (
            "gamma[i]*g[i]/S"
            " + 2*(x[i] - mu)/N*sum(k, gamma[k]*g[k]*(x[k] - mu))*(-1/2)*(var + eps)**(-3/2)"
            " - sum(k, gamma[k]*g[k])/(N*S)"
        ),
        "centred afterwards": (
            "gamma[i]*g[i]/S - xhat[i]*sum(k, gamma[k]*g[k]*xhat[k])/(N*S)"
            " - sum(l, gamma[l]*g[l]/S - xhat[l]*sum(k, gamma[k]*g[k]*xhat[k])/(N*S))/N"
        ),
    },
    "mrsnorm": {
        "as in Eq. 5": MRS,
        "expanded": "gamma[i]*g[i]/S - z[i]/(r[i]*P*S**2)*sum(k, gamma[k]*dot(g[k], z[k]))",
        "with N": MRS.replace("/P", "*2/N"),
        "S written out": MRS.replace("/S", "/(sum(k, r[k])/P + eps)"),
        "in coordinates": MRS.replace("dot(g[k], zhat[k])", "(gx[k]*x[k] + gy[k]*y[k])/S"),
        "the first coordinate": ("(gamma[i]*gx[i] - ux[i]*sum(k, gamma[k]*(gx[k]*xhat[k] + gy[k]*yhat[k]))/P)/S"),
        "magnitudes as roots": MRS.replace("u[i]", "z[i]/sqrt(x[i]**2 + y[i]**2)"),
        "with the outputs": "(gamma[i]*g[i] - u[i]*sum(k, dot(g[k], o[k]))/P)/S",
        "one sum of vectors": "sum(k, gamma[i]*g[i]/S - u[i]*gamma[k]*dot(g[k], zhat[k])/S)/P",
    },
    "ma-rmsnorm": {
        "in two terms": MA,
        "collected": "s*gamma[i]*g[i]/S + xhat[i]/(N*S)*sum(k, alpha*W[k]*g[k] - s*gamma[k]*g[k]*xhat[k])",
        "with R": MA.replace("S", "R"),
        "S written out": MA.replace("S", ROOT),
        "factored": f"s*({RMS}) + alpha*xhat[i]*rstd*sum(k, W[k]*g[k])/N",
        "with halves": MA.replace("S**2", "(S**(1/2))**4"),
    },
}

WRONG_WAYS = {
    "rmsnorm": [
        ("gamma counted twice", RMS.replace("gamma[k]", "gamma[k]**2")),
        ("gamma counted twice", f"gamma[i]*({RMS})"),
        ("gamma outside the sum", "gamma[i]*(g[i]/S - x[i]/(N*S**3)*sum(k, g[k]*x[k]))"),
        ("statistic held constant", "gamma[i]*g[i]/S"),
        ("weight forgotten", "g[i]/S - x[i]/(N*S**3)*sum(k, g[k]*x[k])"),
        ("weight forgotten in the sum", RMS.replace("gamma[k]*", "")),
        ("1/N missing", RMS.replace("N*", "")),
        ("sum differentiated by its own bound index", RMS.replace("x[i]", "sum(k, x[k])")),
        ("eps forgotten", RMS.replace("S", "sqrt(sum(k, x[k]**2)/N)")),
        ("eps placed outside the root", RMS.replace("S", "(sqrt(sum(k, x[k]**2)/N) + eps)")),
        ("1/N missing in S", RMS.replace("S", "sqrt(sum(k, x[k]**2) + eps)")),
        ("sign of the correction flipped", RMS.replace(" - ", " + ")),
        ("wrong power of S", RMS.replace("S**3", "S**2")),
        ("cross terms forgotten", "gamma[i]*g[i]*(1 - xhat[i]**2/N)/S"),
        ("upstream gradient forgotten in the sum", RMS.replace("*g[k]", "")),
        ("gamma outside the sum; 1/N missing", "gamma[i]*(g[i]/S - x[i]/S**3*sum(k, g[k]*x[k]))"),
    ],
    "layernorm": [
        ("mean held constant", "(gamma[i]*g[i] - xhat[i]*sum(k, gamma[k]*g[k]*xhat[k])/N)/S"),
        ("variance held constant", "(gamma[i]*g[i] - sum(k, gamma[k]*g[k])/N)/S"),
        ("statistic held constant", "gamma[i]*g[i]*rstd"),
        ("mean not subtracted", LN.replace("xhat[k]", "(x[k]/S)").replace("xhat[i]", "(x[i]/S)")),
        ("gamma counted twice", LN.replace("gamma[k]", "gamma[k]**2")),
        ("gamma outside the sum", "gamma[i]*(g[i] - sum(k, g[k])/N - xhat[i]*sum(k, g[k]*xhat[k])/N)/S"),
        ("weight forgotten", "(g[i] - sum(k, g[k])/N - xhat[i]*sum(k, g[k]*xhat[k])/N)/S"),
        ("weight forgotten in the sums", LN.replace("gamma[k]*", "")),
        ("1/N missing", LN.replace("/N", "")),
        (
            "eps forgotten",
            LN.replace("xhat[i]", "(x[i] - mu)/S").replace("xhat[k]", "(x[k] - mu)/S").replace("S", "sqrt(var)"),
        ),
        (
            "N - 1 in place of N in the variance",
            LN.replace("xhat[i]", "(x[i] - mu)/S")
            .replace("xhat[k]", "(x[k] - mu)/S")
            .replace("S", "sqrt(sum(l, (x[l] - mu)**2)/(N - 1) + eps)"),
        ),
        ("sign of the correction flipped", LN.replace("- xhat", "+ xhat")),
        ("cross terms forgotten", "gamma[i]*g[i]*(1 - 1/N - xhat[i]**2/N)/S"),
    ],
    "mrsnorm": [
        ("gamma counted twice", MRS.replace("zhat[k]", "o[k]")),
        ("gamma outside the sum", "gamma[i]*(g[i] - u[i]*sum(k, dot(g[k], zhat[k]))/P)/S"),
        ("statistic held constant", "gamma[i]*g[i]/S"),
        ("statistic held constant", "gamma[i]*gx[i]/S"),
        ("weight forgotten", MRS.replace("gamma[k]*", "").replace("gamma[i]*", "")),
        ("weight forgotten in the sum", MRS.replace("gamma[k]*", "")),
        ("1/P missing", MRS.replace("/P", "")),
        ("1/N in place of 1/P", MRS.replace("/P", "/N")),
        ("zhat in place of the unit vector u", MRS.replace("u[i]", "zhat[i]")),
        (
            "eps placed inside the root",
            MRS.replace("zhat[k]", "z[k]/S").replace("S", "(sum(l, sqrt(r[l]**2 + eps))/P)"),
        ),
        (
            "eps placed inside the root",
            MRS.replace("zhat[k]", "z[k]/S")
            .replace("S", "(sum(l, sqrt(x[l]**2 + y[l]**2 + eps))/P)")
            .replace("u[i]", "z[i]/sqrt(x[i]**2 + y[i]**2 + eps)"),
        ),
        ("eps forgotten", MRS.replace("zhat[k]", "z[k]/S").replace("S", "(sum(l, r[l])/P)")),
        ("unit vector under the sum in place of z", MRS.replace("zhat[k]", "u[k]/S")),
        ("one coordinate forgotten under the sum", MRS.replace("dot(g[k], zhat[k])", "gx[k]*xhat[k]")),
        (
            "RMSNorm's formula",
            "gamma[i]*g[i]/S - z[i]/(N*S**3)*sum(k, gamma[k]*dot(g[k], z[k]))".replace(
                "S", "sqrt(sum(l, r[l]**2)/N + eps)"
            ),
        ),
        ("sign of the correction flipped", MRS.replace(" - ", " + ")),
    ],
    "ma-rmsnorm": [
        ("magnitude term forgotten", f"s*({RMS})"),
        ("s forgotten", MA.removeprefix("s*")),
        ("W outside the sum", MA.replace("sum(k, W[k]*g[k])", "W[i]*sum(k, g[k])")),
        ("1/N missing in the magnitude term", MA.replace("N*S**2", "S**2")),
        ("wrong power of S in the magnitude term", MA.replace("S**2", "S")),
        ("gamma counted twice", MA.replace("gamma[k]", "gamma[k]**2")),
    ],
}
OTHERS = [
    ("rmsnorm", WEIGHT_GRADIENT, "gamma in its own gradient", "g[i]*gamma[i]*xhat[i]"),
    ("rmsnorm", WEIGHT_GRADIENT, "not divided by S", "g[i]*x[i]"),
    ("rmsnorm", WEIGHT_GRADIENT, "upstream gradient forgotten", "xhat[i]"),
    ("layernorm", WEIGHT_GRADIENT, "mean not subtracted", "g[i]*x[i]/S"),
    ("layernorm", WEIGHT_GRADIENT, "the gradient of the bias", "g[i]"),
    ("mrsnorm", WEIGHT_GRADIENT, "one coordinate forgotten", "gx[i]*xhat[i]"),
    ("mrsnorm", WEIGHT_GRADIENT, "unit vector in place of zhat", "dot(g[i], u[i])"),
    ("ma-rmsnorm", WEIGHT_GRADIENT, "s forgotten", "g[i]*xhat[i]"),
    ("rmsnorm", JACOBIAN, "statistic held constant", "gamma[i]*delta(i, j)/S"),
    ("rmsnorm", JACOBIAN, "1/N missing", "gamma[i]/S*(delta(i, j) - xhat[i]*xhat[j])"),
    ("rmsnorm", JACOBIAN, "delta(i, j) forgotten", "gamma[i]/S*(1 - xhat[i]*xhat[j]/N)"),
    ("layernorm", JACOBIAN, "transposed", "gamma[j]/S*(delta(i, j) - 1/N - xhat[i]*xhat[j]/N)"),
    ("mrsnorm", JACOBIAN, "transposed", "gamma[i]/S*(delta(i, j)*I - outer(u[i], zhat[j])/P)"),
    ("mrsnorm", JACOBIAN, "cross terms forgotten", "gamma[i]/S*delta(i, j)*(I - outer(zhat[i], u[i])/P)"),
    ("ma-rmsnorm", JACOBIAN, "magnitude term forgotten", "s*gamma[i]/S*(delta(i, j) - xhat[i]*xhat[j]/N)"),
]


@pytest.mark.parametrize(("norm", "way"), [(norm, way) for norm, ways in RIGHT_WAYS.items() for way in ways])
def test_a_right_gradient_is_proved_for_every_length(norm, way):
    found = check(norm, gradient=RIGHT_WAYS[norm][way])
    assert found.status == "proved", found.outcome
    assert found.mistake is None and found.scope == f"every {LAYERS[norm].length}"


@pytest.mark.parametrize(("norm", "name", "formula"), [(n, *each) for n, ways in WRONG_WAYS.items() for each in ways])
def test_a_wrong_gradient_is_refuted_and_named(norm, name, formula):
    found = check(norm, gradient=formula)
    assert found.status == "refuted" and found.mistake == name
    assert found.outcome.witness.reproduces()
    values = found.outcome.witness.values
    assert values["true"] != values["yours"]


@pytest.mark.parametrize(("norm", "target", "name", "formula"), OTHERS)
def test_a_wrong_weight_gradient_or_jacobian_is_refuted_and_named(norm, target, name, formula):
    found = check(norm, **{target: formula})
    assert (found.status, found.mistake) == ("refuted", name)
    assert found.outcome.witness.reproduces()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("norm", LAYERS)
def test_what_is_shown_as_right_is_proved(norm, target):
    assert check(norm, **{target: RIGHT[target][norm]}).status == "proved"
    assert check(norm, **{target: TEMPLATES[target][norm].fill()}).status == "proved"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("norm", LAYERS)
def test_every_known_mistake_is_refuted_and_has_a_name(norm, target):
    template = TEMPLATES[target][norm]
    singles = [(name, template.fill(change)) for name, change in template.mistakes]
    for name, formula in singles:
        found = check(norm, **{target: formula})
        assert found.status == "refuted", (name, formula, found.outcome)
        assert found.mistake in {other for other, _ in singles}, (name, formula)
