"""`check`: witnesses, conditions, shapes, and soundness of the equality that proofs rest on."""

import random
import time
from fractions import Fraction

import pytest
import sympy as sp

from theory.analysis import check
from theory.analysis.layers import GRADIENT, JACOBIAN, LAYERS, TARGETS, WEIGHT_GRADIENT
from theory.analysis.mistakes import RIGHT
from theory.analysis.opaque import Equality
from theory.analysis.truth import derived, loss
from theory.analysis.witnesses import _inputs, _positions, _with_weights
from theory.exact import evaluate, random_point
from theory.expressions import parse
from theory.phasors import N, P, derivative, gamma, i, index_sum, z
from theory.syntax import ExpressionError

RMS = "gamma[i]*g[i]/S - x[i]/(N*S**3)*sum(k, gamma[k]*g[k]*x[k])"
LN = "(gamma[i]*g[i] - sum(k, gamma[k]*g[k])/N - xhat[i]*sum(k, gamma[k]*g[k]*xhat[k])/N)/S"
MRS = "(gamma[i]*g[i] - u[i]*sum(k, gamma[k]*dot(g[k], zhat[k]))/P)/S"
ROOT = "sqrt(sum(k, x[k]**2)/N + eps)"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("norm", LAYERS)
def test_the_right_formula_agrees_with_the_definition_at_exact_points(norm, target):
    layer = LAYERS[norm]
    node = parse(RIGHT[target][norm], layer.vocabulary(target))
    rng = random.Random(f"{norm} {target}")
    compared = 0
    for length in (1, 2, 3):
        for inputs, eps in list(_inputs(layer, length, 5))[-12:]:
            weights = tuple(Fraction(rng.randint(-9, 9), rng.randint(1, 5)) for _ in range(24))
            for positions in _positions(layer, target, length):
                case = _with_weights(layer, inputs, eps, length, positions, weights)
                try:
                    mine = case.value(node)
                except ZeroDivisionError:
                    continue  # a phasor is zero
                assert mine == case.truth(target)
                compared += 1
    assert compared >= 6


def test_the_witness_is_the_smallest_one():
    found = check("rmsnorm", gradient="gamma[i]*g[i]/S")
    assert found.outcome.witness.data() == {
        "inputs": {"x": ["1"], "gamma": ["1"], "g": ["1"], "N": "1", "eps": "0", "i": 1},
        "values": {"true": "0", "yours": "1"},
        "relation": "=",
    }


def test_a_mistake_that_one_channel_hides_is_shown_with_two():
    assert check("rmsnorm", gradient=RMS.replace("N*", "")).outcome.witness.data()["inputs"]["N"] == "2"


def test_a_mistake_that_unit_weights_hide_is_shown_with_others():
    found = check("rmsnorm", gradient="gamma[i]*(g[i]/S - x[i]/(N*S**3)*sum(k, g[k]*x[k]))")
    assert len(set(found.outcome.witness.data()["inputs"]["gamma"])) > 1


def test_a_wrong_formula_without_a_name_is_still_refuted():
    found = check("rmsnorm", gradient=RMS + " + x[i]**2*g[i]")
    assert (found.status, found.mistake) == ("refuted", None)


@pytest.mark.parametrize(
    "formula", [f"sqrt(2)*({RMS})", f"{RMS} + log(S)", f"({RMS})*exp(x[i])", f"{RMS} + S**(1/3)", "g[i]**(1/3)"]
)
def test_an_irrational_value_refutes_by_an_enclosure(formula):
    found = check("rmsnorm", gradient=formula)
    assert found.status == "refuted" and found.outcome.witness.reproduces()
    assert found.outcome.witness.values["yours"].startswith("about ")


def test_equal_functions_that_are_not_recognized_are_undecided():
    found = check("rmsnorm", gradient=f"{RMS} + Max(x[i], 0) + Min(x[i], 0) - x[i]")
    assert found.status == "undecided" and found.outcome.reason


@pytest.mark.parametrize(
    ("norm", "formula", "conditions"),
    [
        ("rmsnorm", RMS, ()),
        ("rmsnorm", f"x[i]/x[i]*({RMS})", ("x[i] != 0",)),
        ("rmsnorm", f"sqrt(x[i])**2/x[i]*({RMS})", ("x[i] >= 0", "x[i] != 0")),
        ("rmsnorm", f"{RMS} + log(x[i]) - log(x[i])", ("x[i] > 0",)),
        ("rmsnorm", RMS.replace("gamma[k]*g[k]*x[k]", "o[k]*S*g[k]"), ()),
        ("rmsnorm", RMS.replace("x[i]", "o[i]*S/gamma[i]"), ("gamma[i] != 0",)),
        ("rmsnorm", RMS.replace("S", ROOT), ()),
        ("mrsnorm", MRS, ()),
        ("mrsnorm", MRS.replace("zhat[k]", "u[k]*r[k]/S"), ("r[k] != 0",)),
        ("layernorm", LN.replace("/N", "*(N - 1)/(N*(N - 1))"), ("N - 1 != 0",)),
    ],
)
def test_a_proof_lists_where_the_formula_has_no_value(norm, formula, conditions):
    found = check(norm, gradient=formula)
    assert (found.status, found.conditions) == ("proved", conditions)


def test_a_formula_that_divides_by_zero_everywhere_is_refuted_as_undefined():
    found = check("rmsnorm", gradient=f"{RMS} + 1/(sum(k, x[k])**2 - sum(k, sum(l, x[k]*x[l])))")
    assert found.status == "refuted" and found.outcome.witness.values["yours"] == "undefined"
    with pytest.raises(ExpressionError, match="always zero, at character"):
        check("rmsnorm", gradient="1/(x[i] - x[i])")


@pytest.mark.parametrize(
    ("norm", "target", "formula", "message"),
    [
        ("mrsnorm", GRADIENT, "gamma[i] + g[i]", "a vector added to a number, at character 12"),
        ("mrsnorm", GRADIENT, "z[i]*g[i]", "a vector times a vector; write dot\\(a, b\\) or outer\\(a, b\\)"),
        ("mrsnorm", GRADIENT, "1/z[i]", "division by a vector"),
        ("mrsnorm", GRADIENT, "z[i]**2", "a power of a vector"),
        ("mrsnorm", GRADIENT, "dot(z[i], 2)", "dot takes two vectors; this is a number"),
        ("mrsnorm", GRADIENT, "sqrt(z[i])", "sqrt takes a number; this is a vector"),
        ("mrsnorm", WEIGHT_GRADIENT, "z[i]", "the formula is a vector; it should be a number"),
        ("mrsnorm", JACOBIAN, "z[i]", "the formula is a vector; it should be a 2 x 2 matrix"),
        ("mrsnorm", JACOBIAN, "1/S", "the formula is a number; it should be a 2 x 2 matrix"),
        ("mrsnorm", JACOBIAN, "g[i]", "'g' is not known here"),
        ("rmsnorm", GRADIENT, "x[j]", "'j' where an index should be"),
        ("rmsnorm", JACOBIAN, "sum(k, 1/(1 + delta(i, k)))", "delta"),
    ],
)
def test_shapes_that_do_not_fit_are_refused_with_the_position(norm, target, formula, message):
    with pytest.raises(ExpressionError, match=message):
        check(norm, **{target: formula})


def test_exactly_one_formula_for_a_known_layer():
    with pytest.raises(ValueError, match="accepts rmsnorm"):
        check("batchnorm", gradient="1")
    with pytest.raises(ValueError, match="exactly one"):
        check("rmsnorm")
    with pytest.raises(ValueError, match="exactly one"):
        check("rmsnorm", gradient="1", jacobian="1")


def test_equality_of_unknown_functions_is_sound():
    same = Equality()
    f, h = (lambda k: sp.exp(z.r[k])), (lambda k: sp.sqrt(1 + z.r[k]))
    total = index_sum(lambda k: f(k) * gamma[k])
    assert same(total * 2, index_sum(lambda k: gamma[k] * f(k) + f(k) * gamma[k]))
    assert not same(total, index_sum(lambda k: gamma[k] * h(k)))
    assert not same(index_sum(lambda k: h(k)) ** 2, index_sum(lambda k: h(k) ** 2))
    assert not same(index_sum(lambda k: f(k)), P * f(i))
    roots = Equality(factors=(N,))
    assert roots(
        sp.sqrt(N * index_sum(lambda k: gamma[k] ** 2, N)), sp.sqrt(N) * sp.sqrt(index_sum(lambda k: gamma[k] ** 2, N))
    )
    assert not roots(sp.sqrt(2 * index_sum(lambda k: gamma[k] ** 2, N)), sp.sqrt(index_sum(lambda k: gamma[k] ** 2, N)))


def test_derived_gradients_agree_with_dual_numbers():
    at = random_point((), 3, random.Random(5))
    x = z.components[0]
    assert evaluate(derived("mrsnorm", GRADIENT)[0], at) == evaluate(loss("mrsnorm"), at, slope=x[i])
    assert derivative(loss("mrsnorm"), x[i]) == derived("mrsnorm", GRADIENT)[0]


def test_a_decision_takes_less_than_two_seconds():
    for formula in (RMS, RMS.replace("N*", ""), f"{RMS} + x[i]**2", f"({RMS})*exp(x[i])"):
        started = time.process_time()
        check("rmsnorm", gradient=formula)
        assert time.process_time() - started < 2
