"""Formulas about geometry, outliers and clipping, transcribed twice: the two sides agree at exact points.

The symbolic side is exact. The numeric side gets the same numbers in fp64 and may lose 64 roundings of the result.
"""

import importlib
from fractions import Fraction

import pytest
import sympy as sp
import torch

from numerics.rounding import FORMATS, FP64, roundings
from theory.exact import Point, evaluate, point
from theory.phasors import N, P, eps, i, j

Z = [(3, 4), (-5, 12), (8, -15), (0, 2)]
G = [(1, 2), (3, -1), (-2, 5), (4, 4)]
GAMMA = [2, -1, 3, Fraction(1, 2)]
ZT, GT, AT = (torch.tensor([[float(v) for v in row] for row in rows], dtype=torch.float64) for rows in (Z, G, [GAMMA]))
R = torch.tensor([[5.0, 13.0, 17.0, 2.0]], dtype=torch.float64)
EIGHTH = Fraction(1, 8)
AT_Z = point({eps: EIGHTH}, {i: 2, j: 3}, z=Z, g=G, gamma=GAMMA)
SCALE = torch.tensor([[37 / 4 + 0.125]], dtype=torch.float64)
WEIGHTS = torch.tensor([[2.0, 3.0], [-1.0, 0.5], [1.0, 1.0], [4.0, -4.0]], dtype=torch.float64)


def sides(slug: str) -> tuple[object, object]:
    return tuple(importlib.import_module(f"{side}.mrsnorm.{slug}") for side in ("theory", "numerics"))


def agree(measured: torch.Tensor | float, exact: Fraction | sp.Rational | int) -> bool:
    exact = Fraction(int(exact.p), int(exact.q)) if isinstance(exact, sp.Rational) else Fraction(exact)
    return abs(Fraction(float(measured)) - exact) <= Fraction(roundings(64, FP64)) * abs(exact)


def channel_point(theory: object, extra: dict | None = None) -> tuple[Point, torch.Tensor]:
    """The phasors with eps such that S_RMS is 8, RMSNorm's weights on the second one, and S_RMS as a tensor."""
    mean_square = Fraction(sum(x * x + y * y for x, y in Z), 8)
    numbers = {eps: 64 - mean_square, theory.weight_x: -1, theory.weight_y: Fraction(1, 2), **(extra or {})}
    return point(numbers, {i: 2, j: 3}, z=Z, g=G, gamma=GAMMA), torch.tensor([[8.0]], dtype=torch.float64)


def test_conformal():
    theory, numerics = sides("conformal")
    at = point({theory.fixed: Fraction(7, 4)}, {i: 1}, gamma=GAMMA)
    measured = numerics.printed(AT, torch.tensor([[1.75]], dtype=torch.float64))
    assert agree(measured[0, 0], evaluate(theory.printed()[0, 0], at))


def test_phasor_manifold():
    theory, numerics = sides("phasor_manifold")
    assert agree(numerics.printed(), theory.printed())


def test_capacity():
    theory, numerics = sides("capacity")
    at, scale = channel_point(theory)
    for name in ("printed", "corrected"):
        assert agree(getattr(numerics, name)(ZT[None], WEIGHTS, scale)[0, 1], evaluate(getattr(theory, name)(), at))


def test_quadratic_outlier():
    theory, numerics = sides("quadratic_outlier")
    at = point({}, {i: 3}, z=Z)  # the largest magnitude
    assert agree(numerics.printed(R)[0, 0], evaluate(theory.printed(), at))
    assert agree(numerics.corrected(4), theory.corrected()[0].subs(P, 4))
    assert agree(numerics.squared_ratio(ZT.reshape(1, -1))[0, 0], evaluate(theory.squared_ratio(), at))


def test_phase_invariance():
    theory, _ = sides("phase_invariance")
    before = evaluate(theory.printed(), AT_Z)
    assert evaluate(theory.corrected(), AT_Z) == before
    numerics = sides("eq06")[1]
    assert agree(numerics.printed(ZT[None], GT[None], AT[0], 0.125)[0, 0] ** 2, before)


def test_clipper():
    theory, numerics = sides("clipper")
    at = AT_Z.with_({theory.c: Fraction(6)})
    one = torch.tensor([[[evaluate(entry / theory.c, at) for entry in theory.corrected()]]], dtype=torch.float64)
    for axis in range(2):
        assert agree(numerics.corrected(one, 6.0)[0, 0, axis], evaluate(theory.corrected()[axis], at))


def test_interference_broadcast():
    theory, numerics = sides("interference_broadcast")
    at = point({eps: 0}, {i: 2, j: 3}, z=Z)
    share = torch.tensor([[17 / 37]], dtype=torch.float64)
    for measured, exact in zip(numerics.corrected(4, share), theory.corrected(), strict=True):
        assert agree(measured[0, 0] ** 2, evaluate(exact, at))


def test_rms_gradient_outlier():
    theory, numerics = sides("rms_gradient_outlier")
    x, g, gamma = [1, 2, -4, 2], [3, -1, 2, 5], [1, -2, 3, 1]
    at = point({N: 4, eps: Fraction(11, 4)}, {i: 2, j: 1}, h=x, e=g, gamma=gamma)  # mean x^2 + eps is 9
    tensors = (torch.tensor([values], dtype=torch.float64) for values in (x, g, gamma))
    term, bound = numerics.corrected(*tensors, torch.tensor([[3.0]], dtype=torch.float64))
    assert agree(term[0, 1], evaluate(theory.corrected(), at)) and agree(bound**2, 4)


def test_scale_invariance():
    theory, numerics = sides("scale_invariance")
    at = AT_Z.with_({theory.c: Fraction(4)})
    whole = torch.tensor([[[evaluate(entry * theory.c, at) for entry in theory.corrected()[:2]]]], dtype=torch.float64)
    assert agree(numerics.corrected(whole, 4.0)[0, 0, 1], evaluate(theory.corrected()[1], at))


def test_phase_decoupled():
    theory, numerics = sides("phase_decoupled")
    measured = numerics.printed(ZT[None])[0, 1]
    assert all(agree(a, evaluate(b, AT_Z)) for a, b in zip(measured, theory.printed(), strict=True))


def test_ellipse():
    theory, numerics = sides("ellipse")
    at, scale = channel_point(theory)
    measured = numerics.printed(WEIGHTS, scale)[0, 1]
    assert all(agree(a, evaluate(b, at)) for a, b in zip(measured, theory.printed(), strict=True))


def test_min_dim():
    theory, numerics = sides("min_dim")
    assert agree(numerics.printed(R[:, 1:2], SCALE, 4)[0, 0], theory.printed())
    assert agree(numerics.REPAIRS["the gain of phasors"](R[:, 1:2], SCALE, 4)[0, 0], evaluate(theory.gain(), AT_Z))
    # along v = (1, 0): p = x_i, t = g_x,i, and a_k = g_k . z_k
    products = [g[0] * z[0] + g[1] * z[1] for g, z in zip(G, Z, strict=True)]
    at = AT_Z.with_({theory.p: Fraction(-5), theory.t: Fraction(3), theory.a: tuple(map(Fraction, products))})
    measured = numerics.corrected(ZT[None], GT[None], AT[0], 0.125)[0, 1, 0]
    assert agree(measured, evaluate(theory.corrected()[0], at))


def test_blockade_untrainable():
    theory, numerics = sides("blockade_untrainable")
    assert agree(numerics.printed(ZT[None], GT[None])[0, 1], theory.printed())
    assert agree(numerics.corrected(ZT[None], GT[None])[0, 1], evaluate(theory.corrected(), AT_Z))


def test_isometry():
    theory, numerics = sides("isometry")
    difference, product = numerics.corrected(R.mean(-1), R.square().mean(-1), 0.125)
    squares, squared_product = (evaluate(expr, AT_Z) for expr in theory.corrected())
    assert agree(difference[0] ** 2 + 2 * product[0], squares) and agree(product[0] ** 2, squared_product)


def test_squash_blockade():
    theory, numerics = sides("squash_blockade")
    along = theory.corrected().dot(theory.z.unit(i))
    assert agree(numerics.corrected(R)[0, 1], evaluate(along, AT_Z))
    assert agree(numerics.printed(R)[0, 1], 0)
    squashed = numerics.squash(ZT.reshape(1, -1)).reshape(4, 2)[1]
    assert all(agree(a, evaluate(b, AT_Z)) for a, b in zip(squashed, theory.squash(), strict=True))


def test_clipping_distorts():
    theory, numerics = sides("clipping_distorts")
    at = point({N: 3, theory.C: 2}, e=[3, 4, 12])
    projection, energy = (evaluate(expr, at) for expr in theory.corrected())
    sine, length = numerics.corrected(torch.tensor([2.0], dtype=torch.float64))
    assert projection**2 == 13**2 * energy and sine == 0 and agree(length[0] ** 2, energy)
    clipped = numerics.clip(torch.tensor([[3.0, 4.0, 12.0]], dtype=torch.float64), torch.tensor([[2.0]]))
    assert agree(clipped[0, 1], evaluate(theory.clipped(i), point({N: 3, theory.C: 2}, {i: 2}, e=[3, 4, 12])))


def test_eps_at_zero():
    theory, numerics = sides("eps_at_zero")
    assert agree(numerics.printed(7.0) ** 2, theory.printed()[1].subs(theory.R, 7))
    at = point({eps: Fraction(1, 10**6)}, {i: 2}, g=G, gamma=GAMMA)
    measured = numerics.at_zero(AT[0, 1] * GT[1], root=False)
    assert agree(measured.square().sum(), evaluate(theory.at_zero(), at))


@pytest.mark.parametrize("name", ["fp16", "bf16", "fp32"])
def test_explosion(name):
    theory, numerics = sides("explosion")
    assert numerics.printed(FORMATS[name].overflow) == int(theory.overflow(name))
    assert FORMATS[name].largest == theory.LARGEST[name][0]


def test_explosion_in_double():
    theory, _ = sides("explosion")
    assert int(FORMATS["fp64"].largest) == theory.LARGEST["fp64"][0]
    assert int(theory.overflow("fp64")) == 2**1024 - 2**970
