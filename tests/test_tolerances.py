"""No tolerance is a bare number: what is allowed is derived from unit roundoff, where it is used or by what it calls.

Read from the syntax of every file: no function that hides a tolerance, no tolerance argument that is a plain number,
and no comparison with a number near 0 or 1, or with a sum or product that contains one.
"""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(path for part in ("numerics", "tests") for path in (ROOT / part).rglob("*.py"))
HIDING = {
    "allclose",
    "isclose",
    "assert_close",
    "assert_allclose",
    "assert_almost_equal",
    "assertAlmostEqual",
    "approx",
}
ARGUMENTS = {"atol", "rtol", "abs_tol", "rel_tol", "tol", "abs", "rel"}
SMALL = 1e-3  # a number so near to 0 or 1, but neither, is taken for a tolerance in a comparison


def number(node):
    """The value of an expression made of numbers alone, None for any other."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and number(node.operand) is not None:
        return -number(node.operand)
    if isinstance(node, ast.BinOp) and None not in (number(node.left), number(node.right)):
        return eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}})
    return None


def small(node):
    """The numbers near 0 or 1 that an expression adds or multiplies by, but not those given to a function."""
    value = number(node)
    if value is not None:
        return [value] if 0 < min(abs(value), abs(value - 1)) < SMALL else []
    if isinstance(node, ast.BinOp):
        return small(node.left) + small(node.right)
    return small(node.operand) if isinstance(node, ast.UnaryOp) else []


def bare(source):
    """(line, what) of every bare tolerance in a source text."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Attribute | ast.Name)
            and (getattr(node, "attr", None) or getattr(node, "id", "")) in HIDING
        ):
            yield node.lineno, getattr(node, "attr", None) or node.id
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                value = number(keyword.value)
                if keyword.arg in ARGUMENTS and value:
                    yield node.lineno, f"{keyword.arg}={value}"
        if isinstance(node, ast.Compare):
            for side in (node.left, *node.comparators):
                if not all(
                    isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops
                ):
                    yield from ((side.lineno, f"compared with {value:g}") for value in small(side))


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(ROOT)) for path in FILES])
def test_no_tolerance_is_a_bare_number(path):
    assert list(bare(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "source",
    [
        "torch.allclose(a, b)",
        "assert x == pytest.approx(y)",
        "from math import isclose\nisclose(a, b)",
        "f(a, b, rtol=1e-5)",
        "g(a, atol=2.0**-10)",
        "assert error < 1e-6",
        "assert error <= 1e-15 * 20 * n",
        "assert value <= bound * (1 + 1e-12)",
        "assert -1e-9 < x",
        "assert (error <= 2**-52).all()",
    ],
)
def test_a_bare_tolerance_is_found(source):
    assert len(list(bare(source))) >= 1


@pytest.mark.parametrize(
    "source",
    [
        "assert error <= roundings(4, fmt) * size",
        "assert mrs_norm(x, gamma, eps=1e-6) > 0",
        "f(a, tol=0)",
        "f(a, rtol=8 * unit_roundoff)",
        "assert eps == 1e-6",
        "assert ratio > 0.02",
        "assert f(x, 1e-6) <= bound",
    ],
)
def test_what_is_derived_or_exact_passes(source):
    assert list(bare(source)) == []
