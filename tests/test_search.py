"""The search finds the known suprema of known functions, from every kind of start, and never steps over a NaN."""

import math

import pytest
import torch

from numerics.rounding import FP64, roundings
from numerics.search import STARTS, Found, ascend, gaussian, minimised, polished, sharpened


def share(points: torch.Tensor) -> torch.Tensor:
    """|q . k| over the product of the summed magnitudes: at most 1, attained when one phasor holds everything."""
    q, k = points[:, 0], points[:, 1]
    total = torch.linalg.vector_norm(points, dim=-1).sum(-1)  # (R, 2)
    return (q * k).sum((-1, -2)).abs() / (total[:, 0] * total[:, 1])


def cosine(points: torch.Tensor) -> torch.Tensor:
    """|cos| of the angle between q and k: at most 1, attained when they are parallel."""
    q, k = points[:, 0].flatten(1), points[:, 1].flatten(1)
    return (q * k).sum(-1).abs() / (q.norm(dim=-1) * k.norm(dim=-1))


def nothing(points: torch.Tensor) -> torch.Tensor:
    """NaN from the start."""
    return share(points) * math.nan


@pytest.mark.parametrize("value", [share, cosine])
@pytest.mark.parametrize("start", list(STARTS))
@pytest.mark.parametrize("phasors", [1, 3, 64])
def test_search_reaches_the_supremum_from_every_kind_of_start(value, start, phasors):
    found = ascend(value, vectors=2, phasors=phasors, seed=3, starts=(start,))
    # two sums of 2 P products, magnitudes of which each has 4 roundings, a product, a quotient, and a root at the most
    assert 0.99 <= found.value <= 1 + roundings(4 * phasors + 16, FP64), f"seed 3, {start}: {found.by_start}"
    assert found.by_start == {start: found.value}


def test_starts_are_where_they_say():
    generator = torch.Generator().manual_seed(0)
    z = {name: draw(200, 2, 16, generator) for name, draw in STARTS.items()}
    assert all(start.shape == (200, 2, 16, 2) for start in z.values())
    assert torch.equal(z["q = k"][:, 0], z["q = k"][:, 1])
    assert not torch.equal(z["gaussian"][:, 0], z["gaussian"][:, 1])
    r = torch.linalg.vector_norm(z["outlier"], dim=-1)
    assert float((r.amax(-1) / r.median(-1).values).median()) > 100
    assert len(set(r.argmax(-1).flatten().tolist())) == 16  # every phasor is an outlier in some trial
    assert float(cosine(z["gaussian"]).amax()) < 0.7
    assert float(share(z["gaussian"]).amax()) < 0.1  # the starts are far from what the search must find


def test_search_repeats_itself_and_depends_on_the_seed():
    runs = [ascend(share, vectors=2, phasors=4, seed=seed, steps=20) for seed in (5, 5, 6)]
    assert runs[0].value == runs[1].value and torch.equal(runs[0].phasors, runs[1].phasors)
    assert runs[0].value != runs[2].value


def test_found_input_attains_the_found_value():
    found = ascend(share, vectors=2, phasors=8, seed=1, steps=30)
    assert float(share(found.phasors[None])[0]) == found.value
    assert found.restarts == 32 and set(found.by_start) == set(STARTS)
    assert found.rounded(torch.float16).shape == (2, 16) and found.rounded(torch.float16).dtype == torch.float16


def test_the_minimised_input_is_simple_and_keeps_the_value():
    found = minimised(ascend(share, vectors=2, phasors=64, seed=2), share)
    assert int((found.phasors != 0).any(-1).any(0).sum()) == 1
    assert torch.equal(found.phasors, torch.round(found.phasors * 16) / 16)
    assert torch.equal(found.phasors, found.phasors.to(torch.bfloat16).double())
    assert found.value >= 0.99


def test_minimising_does_not_trade_the_value_for_simplicity():
    """Equal magnitudes are the only maximum here, so every phasor has to stay."""

    def spread(points):
        r = torch.linalg.vector_norm(points, dim=-1)[:, 0]
        return r.sum(-1) ** 2 / (r.shape[-1] * (r * r).sum(-1))

    found = minimised(ascend(spread, vectors=1, phasors=8, seed=2), spread)
    assert found.value >= 0.99
    assert bool((found.phasors != 0).any(-1).all())


def test_polishing_goes_on_where_a_short_ascent_stopped():
    found = minimised(ascend(cosine, vectors=2, phasors=3, seed=4, starts=("gaussian",), restarts=1, steps=2), cosine)
    better = polished(found, cosine)
    assert found.value < 0.98 and 0.999 <= better.value <= 1 + roundings(32, FP64)
    assert float(cosine(better.phasors[None])[0]) == better.value
    assert torch.linalg.vector_norm(better.phasors, dim=-1).amax() == 1


def test_polishing_climbs_a_staircase_that_has_no_slope():
    def steps(points):
        return (share(points) * 64).floor() / 64

    start = Found(0.0, gaussian(1, 2, 2, torch.Generator().manual_seed(0))[0], {}, 1, 0)
    start = Found(float(steps(start.phasors[None])[0]), start.phasors, {}, 1, 0)
    assert polished(start, steps).value >= start.value + 8 / 64


def test_polishing_never_makes_it_worse_and_leaves_zero_phasors_alone():
    found = minimised(ascend(share, vectors=2, phasors=16, seed=2, steps=60), share)
    better = polished(found, share, evaluations=50)
    assert better.value >= found.value
    assert torch.equal(better.phasors == 0, found.phasors == 0) or int((found.phasors != 0).sum()) == 0
    simple = sharpened(found, share)
    assert simple.value >= 0.999 * better.value and int((simple.phasors != 0).any(-1).any(0).sum()) == 1


def test_polishing_keeps_a_nan():
    found = ascend(nothing, vectors=2, phasors=4, seed=0, steps=5)
    assert polished(found, nothing) is found
    fine = ascend(share, vectors=2, phasors=2, seed=0, steps=1)
    assert math.isnan(polished(fine, nothing, evaluations=5).value)


def test_a_nan_is_reported_not_skipped():
    found = ascend(nothing, vectors=2, phasors=4, seed=0, steps=5)
    assert math.isnan(found.value) and all(math.isnan(value) for value in found.by_start.values())
    assert minimised(found, nothing) is found


def test_a_nan_met_on_the_way_stays():
    """The value turns NaN beyond a threshold that the ascent has to cross."""

    def cliff(points):
        return torch.where(share(points) > 0.5, math.nan, share(points))

    found = ascend(cliff, vectors=2, phasors=4, seed=0)
    assert isinstance(found, Found) and math.isnan(found.value)


@pytest.mark.parametrize("wrong", [{"starts": ()}, {"restarts": 0}])
def test_an_empty_search_is_an_error(wrong):
    with pytest.raises(ValueError, match="needs a start"):
        ascend(share, vectors=2, phasors=4, seed=0, **wrong)


def test_an_unknown_start_is_an_error():
    with pytest.raises(KeyError, match="saddle"):
        ascend(share, vectors=2, phasors=4, seed=0, starts=("saddle",))
