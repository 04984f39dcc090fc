"""Condition numbers: what cancellation makes of an error bound, and that it takes no less."""

import math
from functools import partial

import pytest
import torch

from numerics import truth
from numerics.attention_scores import MEAN, score
from numerics.gradients import input_gradient
from numerics.norms import mrs_norm
from numerics.rounding import (
    FORMATS,
    condition,
    omega_condition,
    pair_sum_roundings,
    roundings,
    scale_roundings,
    score_condition,
    sum_roundings,
)
from numerics.scenarios import generator, normal

FP32 = FORMATS["fp32"]
PHASORS, ROWS = 32, 400


def test_the_condition_of_a_sum_is_one_without_cancellation_and_infinite_where_all_cancels():
    terms = torch.tensor([[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [3.0, -1.0, -1.0], [1.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
    assert condition(terms.double()).tolist() == [1, 1, 5, math.inf, 1]


def test_the_condition_of_a_score_does_not_depend_on_the_scales():
    q, k = (normal(generator("condition", name), 5, 8) for name in "qk")
    assert torch.equal(score_condition(q, k), score_condition(4 * q, k / 2))
    assert bool((score_condition(q, k) > 1).all()) and score_condition(q, q).tolist() == [1] * 5


@pytest.mark.parametrize("angle", [0.0, 1.5, 1.5707])
def test_a_score_is_known_to_its_condition_times_its_roundings(angle):
    """q and k at nearly a right angle: the nearer, the less is known of the score, relative to itself."""
    q = normal(generator("score", angle), ROWS, 2 * PHASORS)
    z = q.unflatten(-1, (-1, 2))
    turned = torch.stack((-z[..., 1], z[..., 0]), dim=-1)
    k = (math.cos(angle) * z + math.sin(angle) * turned).flatten(-2).float()
    q = q.float()
    scale = truth.mrs_scale(q.double(), 0.0) * truth.mrs_scale(k.double(), 0.0)
    exact = (truth.exact(q.double()) * k.double()).sum()[:, None] / scale
    off = exact.distance(score(q, k, MEAN, 0.0)[:, None]) / exact.double().abs()
    count = 2 * scale_roundings(PHASORS) + 3 + sum_roundings(2 * PHASORS)
    known, number = roundings(count, FP32), score_condition(q, k)[:, None]
    assert (off <= known * number).all()
    assert (off.max() > known) == (angle > 1.57), "without the condition number it would be exceeded, and only there"


def test_interference_is_known_to_the_condition_of_omega_times_its_roundings():
    """Phasors without an upstream gradient of their own: their gradient is -u Omega/S, and nothing else."""
    rng = generator("omega")
    x, g, gamma = (normal(rng, ROWS, 2 * PHASORS), normal(rng, ROWS, 2 * PHASORS), normal(rng, PHASORS))
    g[:, : 2 * (PHASORS // 2)] = 0
    # the last component makes the sum of all of them nearly 0
    zhat, weights = x / truth.mrs_scale(x, 0.0).double(), gamma.repeat_interleave(2)
    rest = (weights * g * zhat)[:, :-1].sum(-1)
    g[:, -1] = -rest / (weights * zhat)[:, -1] * (1 + 2.0**-10)
    x, g, gamma = x.float(), g.float(), gamma.float()
    wide = x.double(), g.double(), gamma.double()
    exact = truth.mrs_gradient(*wide, 0.0)[:, :PHASORS]
    measured = input_gradient(partial(mrs_norm, weight=gamma, eps=0.0), x, g)[:, :PHASORS]
    off = exact.distance(measured) / exact.double().abs()
    z = wide[0].unflatten(-1, (-1, 2))
    zhat = z / truth.mrs_scale(wide[0], 0.0).double()[..., None]
    number = omega_condition(zhat, wide[1].unflatten(-1, (-1, 2)), wide[2])[:, None]
    known = roundings(2 * scale_roundings(PHASORS) + pair_sum_roundings(PHASORS) + 14, FP32)
    assert (off <= known * number).all()
    assert number.min() > 100 and off.max() > known
