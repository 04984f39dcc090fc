"""Formulas are read by an allow-list: everything else is refused where it stands, and nothing is ever run."""

import builtins
import random
import time
from fractions import Fraction

import pytest

from theory.analysis.interpret import interpret
from theory.analysis.layers import LAYERS
from theory.analysis.scopes import Numbers
from theory.expressions import parse
from theory.syntax import ExpressionError, Vocabulary

PLAIN = Vocabulary(frozenset("rmp"), functions={"sqrt": (1, 1), "exp": (1, 1), "log": (1, 1), "Max": (2, 4)})
LAYER = LAYERS["rmsnorm"]
INDEXED = LAYER.vocabulary("gradient")
X, GAMMA, G = (Fraction(1), Fraction(7)), (Fraction(2), Fraction(-3)), (Fraction(5), Fraction(11))
SCOPE = Numbers(LAYER, {"x": X, "gamma": GAMMA, "g": G}, {"N": Fraction(2), "eps": Fraction(0)})


def value(text):
    return interpret(parse(text, INDEXED), SCOPE, {"i": 1})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2*3", 7),
        ("2**3**2", 512),
        ("-2**2", -4),
        ("2**-1", Fraction(1, 2)),
        ("(-2)**2", 4),
        ("--3", 3),
        ("+3 - -4", 7),
        ("6/3/2", 1),
        ("2*-3", -6),
        ("0.1 + 1e-1", Fraction(1, 5)),
        (".5*4.", 2),
        ("4**(1/2)", 2),
        ("sqrt(49) + Max(1, 2, 3)", 10),
        ("x[i]*g[i]", 5),
        ("N*eps + S", 5),
        ("sum(k, x[k])", 8),
    ],
)
def test_a_formula_means_what_it_says(text, expected):
    assert value(text) == expected


def test_an_index_that_is_not_used_is_counted():
    assert value("sum(k, 3)") == 6
    assert value("sum(k, x[i])") == 2 * X[0]


def test_nested_sums_bind_their_own_index():
    assert value("sum(k, sum(l, x[k]*g[l]))") == sum(a * b for a in X for b in G)


def test_an_inner_index_hides_an_outer_one():
    assert value("sum(k, x[k]*sum(k, g[k]))") == sum(X) * sum(G)


def test_a_bound_index_hides_the_free_one_inside_the_sum_alone():
    assert value("sum(i, x[i])*x[i]") == sum(X) * X[0]


def test_a_sum_does_not_bind_outside_its_body():
    with pytest.raises(ExpressionError, match=r"'k' where an index should be: i, at character 19"):
        parse("sum(k, x[k]) + g[ k]", INDEXED)


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ('__import__("os")', 1, "'__import__' is not known here"),
        ("x[i].__class__", 5, "'.' is not part"),
        ("lambda: 0", 7, "':' is not part"),
        ("[x for x in y]", 1, "'\\[' where a number"),
        ("exec(x[i])", 1, "'exec' is not known"),
        ("x[i] if 1 else 2", 6, "'if' where the formula should end"),
        ("x[k]", 3, "'k' where an index should be: i"),
        ("x[1]", 3, "'1' where an index should be"),
        ("x[i+1]", 4, "'\\+' where '\\]' should be"),
        ("x[i, i]", 4, "',' where"),
        ("x + 1", 1, "'x' needs an index: x\\[i\\]"),
        ("S[i]", 1, "'S' has no index"),
        ("y[i]", 1, "'y' is not known here"),
        ("2*i", 3, "'i' is an index, not a number"),
        ("sum(k, k)", 8, "'k' is an index, not a number"),
        ("sum(x, x[i])", 5, "'x' where the index of the sum"),
        ("sum(k)", 6, "'\\)' where ',' should be"),
        ("sum", 1, "'sum' is a function"),
        ("sqrt + 1", 1, "'sqrt' is a function"),
        ("sqrt(1, 2)", 1, "takes 1 argument"),
        ("S(2)", 1, "'S' is not a function; a product is written \\*"),
        ("2x[i]", 2, "'x' where the formula should end"),
        ("x[i] g[i]", 6, "'g' where the formula should end"),
        ("S^2", 2, "a power is written \\*\\*"),
        ("1 +", 4, "'the end' where"),
        ("(1", 3, "'the end' where '\\)' should be"),
        ("", 1, "'the end' where"),
        ("γ[i]", 1, "is not part of a formula"),
        ("x\u00a0[i]", 2, "is not part of a formula"),
        ("٣", 1, "is not part of a formula"),
        ("delta(i, i)", 1, "'delta' is not known"),
        ("dot(x[i], g[i])", 1, "'dot' is not known"),
    ],
)
def test_anything_else_is_refused_with_its_position(text, position, message):
    with pytest.raises(ExpressionError, match=message) as caught:
        parse(text, INDEXED)
    assert caught.value.position == position


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9**9",
        "((9**60)**60)**60",
        "r**9999999",
        "r**(1/999)",
        "2**64*2**64*2**64*2**64*2**64*2**64*2**64*2**64*2**64",
        "exp(exp(exp(9)))",
        "exp(exp(exp(exp(1))))",
        "exp(-9999)",
        "2**0.5**-64",
        "(r + m)**60**2",
        "((r + m + p)**9)**9",
        "*".join(["(r + m)"] * 30),
        "/".join(["1", *(f"(r + {n})" for n in range(40))]),
        "+".join(f"1/(r + {n})" for n in range(40)),
        "(" * 5000 + "r" + ")" * 5000,
        "(" * 100 + "r" + ")" * 100,
        "r**" * 100 + "r",
        "-" * 5000 + "r",
        "sqrt(" * 200 + "r" + ")" * 200,
        "1" * 100,
        "1e99",
        "1e-99999999999999999999",
        "r" + " + r" * 2000,
        "1/0",
        "1/(2 - 2)",
        "0**-1",
        "log(0)",
        "r/(m - m + 0)/0",
    ],
)
def test_an_expression_built_to_exhaust_time_or_memory_is_refused_at_once(text):
    started = time.process_time()
    with pytest.raises(ExpressionError):
        parse(text, PLAIN)
    assert time.process_time() - started < 0.5


def test_sums_are_nested_three_deep_at_most():
    parse("sum(k, sum(l, sum(m, x[k]*x[l]*x[m])))", INDEXED)
    with pytest.raises(ExpressionError, match="nested at most 3 deep"):
        parse("sum(k, sum(l, sum(m, sum(n, x[k]))))", INDEXED)


def test_any_sequence_of_tokens_is_read_or_refused():
    rng = random.Random(0)
    tokens = [
        "x[i]",
        "gamma[k]",
        "S",
        "2",
        "1e3",
        "+",
        "-",
        "*",
        "/",
        "**",
        "(",
        ")",
        "sum(k,",
        "sqrt(",
        "[",
        "]",
        ",",
        "k",
    ]
    outcomes = set()
    for _ in range(3000):
        text = " ".join(rng.choice(tokens) for _ in range(rng.randint(1, 9)))
        try:
            parse(text, INDEXED)
            outcomes.add("read")
        except ExpressionError as error:
            assert 1 <= error.position <= len(text) + 1
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_nothing_is_run(monkeypatch):
    def forbidden(*arguments, **named):
        raise AssertionError("text was evaluated")

    for name in ("eval", "exec", "compile"):
        monkeypatch.setattr(builtins, name, forbidden)
    assert value("gamma[i]*g[i]/S") == 2
    with pytest.raises(ExpressionError):
        parse('eval("1")', INDEXED)


def test_a_long_unknown_name_is_shortened_in_the_message():
    with pytest.raises(ExpressionError) as caught:
        parse("a" * 3000, PLAIN)
    assert len(str(caught.value)) < 300
