"""Formulas around attention and experiments, transcribed twice: the two sides agree at exact points.

The symbolic side is exact. The numeric side gets the same numbers in fp64 and may lose 64 roundings of the result.
"""

import importlib
import math
from fractions import Fraction

import pytest
import sympy as sp
import torch

from numerics.rounding import FP64, roundings
from theory.exact import evaluate, point
from theory.phasors import P, eps, i

Q = [(3, 4), (-5, 12), (8, 15), (0, 2)]
KEYS = [(4, -3), (1, 0), (0, -7), (24, 7)]
R = torch.tensor([[5.0, 13.0, 17.0, 2.0]], dtype=torch.float64)
QUARTER = Fraction(1, 4)


def sides(slug: str) -> tuple[object, object]:
    return tuple(importlib.import_module(f"{side}.mrsnorm.{slug}") for side in ("theory", "numerics"))


def agree(measured: torch.Tensor | float, exact: Fraction | sp.Rational) -> bool:
    exact = Fraction(int(exact.p), int(exact.q)) if isinstance(exact, sp.Rational) else Fraction(exact)
    return abs(Fraction(float(measured)) - exact) <= Fraction(roundings(64, FP64)) * abs(exact)


def test_rope():
    theory, numerics = sides("rope")
    t = Fraction(1, 2)  # the tangent of half the angle
    at = point({}, {i: 2}, z=Q, phi=[t] * 4)
    square, along, across, _ = (evaluate(expr, at) for expr in theory.printed())
    cos, sin = ((torch.full((4,), v, dtype=torch.float64)) for v in (0.6, 0.8))
    found = [part[0, 1] for part in numerics.printed(R, cos, sin)]
    assert all(agree(a * b, c) for a, b, c in zip(found, (13, 13, found[2]), (along, across, square), strict=True))


def test_soft_constraint():
    theory, numerics = sides("soft_constraint")
    at = point({eps: Fraction(9), P: 4}, {i: 1, theory.j: 2}, q=Q)
    scale = (R.square().mean() + 9).sqrt()
    blocks = numerics.printed(R, scale)[0]
    assert agree((blocks[1] * 5) ** 2, evaluate(theory.printed(), at))


def test_energy_identity():
    theory, numerics = sides("energy_identity")
    scale = Fraction(7, 4)
    assert agree(numerics.printed(4, torch.tensor(1.75, dtype=torch.float64)), theory.printed(scale).subs(P, 4))
    at = point({eps: QUARTER}, q=Q)
    wide = (R.square().mean(dtype=torch.float64) + 0.25).sqrt()
    assert agree(numerics.with_eps(4, wide, 0.25), evaluate(theory.derived(), at))


def test_token_scale():
    theory, numerics = sides("token_scale")
    at = point({eps: QUARTER, theory.c: 3}, q=Q)
    scale = R.mean() + 0.25
    assert agree(numerics.with_eps(torch.tensor(3.0, dtype=torch.float64), scale, 0.25), evaluate(theory.factor(), at))


def test_zero_overhead():
    theory, numerics = sides("zero_overhead")
    found = numerics.printed(R.square().sum(-1), 4, 0.25)[0]
    assert agree(found**2, evaluate(theory.EQ_11**2, point({eps: QUARTER}, q=Q)))
    extra = theory.operations(theory.EQ_1)[0] - theory.operations(theory.RMS_SCALE)[0]
    assert numerics.extra_roots(64) == extra.subs(P, 64) == 63


def test_veto_neutralises():
    theory, numerics = sides("veto_neutralises")
    at = theory.turned_away(point({eps: QUARTER, theory.S_k: 1}, {i: 1}, q=Q, key=KEYS))
    before, others, spike = (evaluate(expr, at) for expr in (theory.without_spike(), theory.W, theory.q.r[i]))
    given = [torch.tensor(float(v), dtype=torch.float64) for v in (before, others, spike)]
    assert agree(numerics.corrected(*given), evaluate(theory.corrected(), at))
    assert agree(numerics.printed(*given), evaluate(theory.printed(), at))


def test_phase_veto():
    theory, numerics = sides("phase_veto")
    t_q, t_k = Fraction(1, 2), Fraction(3)
    at = point({}, q=[(3, 4)], key=[(-8, 6)], theta_q=[t_q], theta_k=[t_k])
    delta = torch.tensor(2 * math.atan(t_q) - 2 * math.atan(t_k), dtype=torch.float64)
    weight = torch.tensor(50.0, dtype=torch.float64)
    assert agree(numerics.printed(weight, delta), evaluate(theory.printed(), at))
    cosine = evaluate(theory.corrected(), at)
    assert abs(Fraction(float(numerics.corrected(weight, delta))) - cosine) <= Fraction(roundings(64, FP64)) * 50


@pytest.mark.parametrize(("n", "t"), [(2, Fraction(1, 2)), (7, Fraction(1, 3)), (64, Fraction(1, 8))])
def test_softmax_collapse(n, t):
    theory, numerics = sides("softmax_collapse")
    spread = -math.log(t)
    assert agree(numerics.printed(n, spread), theory.printed().subs({theory.n: n, theory.t: sp.Rational(t)}))
    corners = [
        theory.corner_formula().subs(theory.log_q, sp.log(m + (n - m) * sp.Rational(t)))
        .subs({theory.D: -sp.log(sp.Rational(t)), theory.n: n, theory.m: m, theory.t: sp.Rational(t)})
        .evalf(40)
        for m in range(1, n)
    ]  # fmt: skip
    assert abs(numerics.minimum_entropy(n, spread) - float(min(corners))) <= roundings(64, FP64) * float(min(corners))


def test_significance():
    theory, numerics = sides("significance")
    assert agree(numerics.printed(), theory.printed()) and agree(numerics.corrected(), theory.corrected())
    runs = torch.tensor([[3, 1, 4, 1, 5, 9], [0, 1, 2, 3, 4, 5]], dtype=torch.float64)
    for row, p in zip(runs.tolist(), numerics.p_values(runs), strict=True):
        assert agree(p, theory.p_value(tuple(sp.Integer(int(v)) for v in row)))


def test_appendix_c():
    theory, numerics = sides("appendix_c")
    pairs = [(Fraction(3), Fraction(4)), (Fraction(5), Fraction(-12))]
    exact = theory.printed(pairs, [2, -3])
    z = torch.tensor([[[3.0, 4.0], [5.0, -12.0]]], dtype=torch.float64)
    found = numerics.printed(z, torch.tensor([2.0, -3.0], dtype=torch.float64), float(theory.OFFSET))[0]
    assert all(agree(a, b) for a, b in zip(found.flatten(), [c for pair in exact for c in pair], strict=True))


def test_digest_listing():
    theory, numerics = sides("digest_listing")
    sizes = {theory.B: 2, P: 6, theory.G: 3, theory.M: 5}
    for side in ("printed", "corrected"):
        exact = tuple(sp.sympify(axis).subs(sizes) for axis in getattr(theory, side)().grouped)
        assert getattr(numerics, side)(2, 6, 3, 5)["grouped phasors"] == exact
