"""Each formula is transcribed twice, in `theory` and in `numerics`: at random rational points the two agree.

The symbolic side is evaluated exactly; the numeric side in fp64 from the same inputs, which are first rounded to fp64
numbers, so that both see the same point. The allowance is a count of roundings, at most 8 for each entry that enters a
sum and 64 beside, times the size of the terms added up (no cancellation is assumed).
"""

from __future__ import annotations

import importlib
import random
from fractions import Fraction

import pytest
import torch

from numerics.rounding import FP64, roundings
from theory.exact import Point, evaluate, random_point
from theory.phasors import MAGNITUDES, N, P, e, eps, g, gamma, h, i, key, q, theta_k, theta_q, z

PHASORS = [1, 2, 3, 7]


def _point(phasors: int) -> Point:
    """A random point with every input a fp64 number (magnitudes and scales are then rarely rational)."""
    at = random_point({N}, phasors, random.Random(phasors))
    lists = {base: tuple(Fraction(round(v * 64), 64) for v in values) for base, values in at.lists.items()}
    pythagorean = {  # magnitudes stay rational: multiples of (3, 4), (4, 3), (5, 12), (8, 15)
        base: values
        for number, family in enumerate(f for f in MAGNITUDES.values() if len(f.components) == 2)
        for base, values in zip(family.components, zip(*_vectors(phasors, number), strict=True), strict=True)
    }
    return Point({**lists, **pythagorean}, {**at.numbers, eps: Fraction(3, 8)}, {i: 1})


def _vectors(count: int, seed: int) -> list[tuple[Fraction, Fraction]]:
    rng = random.Random(seed)
    triples = [(3, 4), (-4, 3), (5, -12), (-8, -15), (0, 1)]
    return [
        tuple(scale * c for c in rng.choice(triples))
        for scale in (Fraction(rng.randint(1, 8), 4) for _ in range(count))
    ]


def _tensor(at: Point, family: object) -> torch.Tensor:
    """A family's values at the point: (1, P, 2) for vectors, (1, P) for numbers."""
    bases = getattr(family, "components", (family,))
    values = torch.tensor([[float(v) for v in at[base]] for base in bases], dtype=torch.float64)
    return values.T.unsqueeze(0) if len(bases) > 1 else values


def _agrees(measured: torch.Tensor | float, exact: Fraction, size: float, phasors: int) -> bool:
    allowed = roundings(64 + 16 * phasors, FP64) * max(size, abs(float(exact)))
    return abs(Fraction(float(measured)) - exact) <= Fraction(allowed)


def _pair(slug: str) -> tuple[object, object]:
    return tuple(importlib.import_module(f"{side}.mrsnorm.{slug}") for side in ("theory", "numerics"))


def _weights(at: Point) -> torch.Tensor:
    return _tensor(at, gamma)[0]


def _size(at: Point) -> float:
    """The largest the terms of a gradient can add up to: (max |gamma| |g|) (1 + 1/S^2), S at least eps."""
    weights = _weights(at)[:, None] * _tensor(at, g)[0]
    return float(weights.abs().max()) * 4 / float(at[eps]) ** 2


VECTOR = {  # slug: the numeric side's arguments
    "eq02": lambda at: (_tensor(at, z), _weights(at), float(at[eps])),
    "eq05": lambda at: (_tensor(at, z), _tensor(at, g), _weights(at), float(at[eps])),
}


@pytest.mark.parametrize("phasors", PHASORS)
@pytest.mark.parametrize("slug", VECTOR)
def test_vector_formula(slug, phasors):
    theory, numerics = _pair(slug)
    at = _point(phasors)
    measured = numerics.printed(*VECTOR[slug](at))[0, 0]
    for component, expr in enumerate(theory.printed()):
        assert _agrees(measured[component], evaluate(expr, at), _size(at), phasors)


@pytest.mark.parametrize("phasors", PHASORS)
def test_eq01(phasors):
    theory, numerics = _pair("eq01")
    at = _point(phasors)
    measured = numerics.printed(_tensor(at, z), float(at[eps]))[0, 0]
    assert all(_agrees(measured, evaluate(expr, at), 0, phasors) for expr in theory.printed())


@pytest.mark.parametrize("phasors", PHASORS)
def test_eq04(phasors):
    theory, numerics = _pair("eq04")
    at = theory.rational_root(_point(phasors))
    arguments = (_tensor(at, h), _tensor(at, e), _weights(at), float(at[eps]))
    size = float((arguments[1] * arguments[2]).abs().max()) * 4 * phasors
    assert _agrees(numerics.printed(*arguments)[0, 0], evaluate(theory.printed(), at), size, phasors)


@pytest.mark.parametrize("phasors", PHASORS)
def test_eq06(phasors):
    theory, numerics = _pair("eq06")
    at = _point(phasors)
    arguments = (_tensor(at, z), _tensor(at, g), _weights(at), float(at[eps]))
    measured = numerics.printed(*arguments)[0, 0] ** 2  # the symbolic side states squares
    assert _agrees(measured, evaluate(theory.printed(), at), _size(at) ** 2, phasors)


@pytest.mark.parametrize("phasors", PHASORS)
def test_eq07_direction(phasors):
    theory, numerics = _pair("eq07")
    at = _point(phasors)
    measured = numerics.printed(_tensor(at, z))[0, 0]
    r = at.entry(z.r, 1)
    for component, expr in enumerate(theory.printed()):
        assert _agrees(measured[component], evaluate(expr, at) / r, 1, phasors)


@pytest.mark.parametrize("phasors", PHASORS)
def test_eq08(phasors):
    theory, numerics = _pair("eq08")
    at = _point(phasors)
    measured = numerics.printed(_tensor(at, z), float(at[eps]))[0, 0].flatten()
    size = 2 / float(at[eps])
    for component, expr in enumerate(theory.printed()):
        assert _agrees(measured[component], evaluate(expr, at), size, phasors)


@pytest.mark.parametrize("phasors", PHASORS)
def test_projection_blockade(phasors):
    theory, numerics = _pair("projection_blockade")
    at = _point(phasors)
    measured = numerics.printed(_tensor(at, z), _tensor(at, g))[0, 0]
    product = theory.printed() * g[i]
    size = float(_tensor(at, g).abs().max()) * 4 / float(at.entry(z.r, 1))
    for component, expr in enumerate(product):
        assert _agrees(measured[component], evaluate(expr, at), size, phasors)


@pytest.mark.parametrize("phasors", PHASORS)
def test_radial_gain(phasors):
    theory, numerics = _pair("radial_open")
    at = _point(phasors)
    measured = numerics.printed(_tensor(at, z), float(at[eps]))[0, 0]
    assert _agrees(measured, evaluate(theory.printed(), at), 2 / float(at[eps]), phasors)


@pytest.mark.parametrize("phasors", PHASORS)
def test_eq09(phasors):
    theory, numerics = _pair("eq09")
    at = _point(phasors).with_({theory.S_q: Fraction(5, 4), theory.S_k: Fraction(7, 8)})
    r_q, r_k = (torch.tensor([[float(at.entry(f.r, n)) for n in range(1, phasors + 1)]]).double() for f in (q, key))
    angles = [2 * torch.atan(_tensor(at, theta)) for theta in (theta_q, theta_k)]  # given by tan(angle / 2)
    measured = numerics.printed(r_q, angles[0], r_k, angles[1], torch.tensor([[1.25]]), torch.tensor([[0.875]]))[0]
    size = 16 * float((r_q * r_k).sum())  # an angle up to pi with 4 roundings moves a cosine by at most 16 roundings
    assert _agrees(measured, evaluate(theory.printed(), at), size, phasors)


@pytest.mark.parametrize("phasors", PHASORS)
def test_eq11(phasors):
    theory, numerics = _pair("eq11")
    at = _point(phasors)
    r = torch.tensor([[float(at.entry(q.r, n)) for n in range(1, phasors + 1)]], dtype=torch.float64)
    measured = numerics.printed(r, float(at[eps]))[0, 0] ** 2
    assert _agrees(measured, evaluate(theory.printed() ** 2, at), 0, phasors)  # squared: rational at every point


@pytest.mark.parametrize("phasors", PHASORS)
@pytest.mark.parametrize("slug", ["eq16", "eq16_rms", "eq17", "eq18", "eq18_rms"])
def test_logit_bounds(slug, phasors):
    theory, numerics = _pair(slug)
    for name in ("printed", "corrected"):
        if not hasattr(theory, name):
            continue
        expr = getattr(theory, name)()
        if slug == "eq17":
            scales = {theory.S_q: Fraction(5, 4), theory.S_k: Fraction(7, 8)}
            at = _point(phasors).with_(scales)
            r_q, r_k = (
                torch.tensor([[float(at.entry(f.r, n)) for n in range(1, phasors + 1)]]).double() for f in (q, key)
            )
            measured = getattr(numerics, name)(r_q, r_k, torch.tensor([[1.25]]), torch.tensor([[0.875]]))
            assert _agrees(measured[1] ** 2, evaluate(expr**2, at), 0, phasors)
            assert _agrees(measured[0], evaluate(theory.energies(), at), 0, phasors)
        elif slug.startswith("eq16"):
            ones = torch.ones(1, phasors, dtype=torch.float64)
            assert getattr(numerics, name)(ones, ones, ones[:, :1], ones[:, :1])[1] == float(expr.subs(P, phasors))
        else:
            assert getattr(numerics, name)(2 * phasors) == float(expr.subs(P, phasors))


@pytest.mark.parametrize("phasors", PHASORS)
def test_homogeneity_bounds(phasors):
    theory, numerics = _pair("homogeneity")
    at = _point(phasors).with_({theory.M: Fraction(9, 4)})
    scale = evaluate(theory.S, at)
    measured = numerics.corrected(
        torch.tensor([[2.25]]).double(), torch.tensor([[float(scale)]], dtype=torch.float64), float(at[eps])
    )
    for value, expr in zip(measured, theory.corrected(), strict=True):
        assert _agrees(value, evaluate(expr, at), 0, phasors)
