"""The numeric checks of the attention scores: what each reports, again, and in exact arithmetic."""

import dataclasses
import functools
import importlib
from decimal import Decimal, localcontext

import pytest
import torch

from numerics.attention_scores import (
    MEAN,
    ROOT_MEAN_SQUARE,
    SCALAR_RMS,
    block_score_error,
    block_scores,
    normalized,
    score,
    score_error,
)
from numerics.logit_bounds import WIDTHS, largest_block_score, largest_score
from numerics.measure import DTYPES, Measurement, Settings
from numerics.norms import mrs_norm, rms_norm
from numerics.query_keys import HEAD, gaussian_pairs, real_pairs, scenario_pairs
from numerics.rounding import FORMATS, FP64, output_error, rms_output_error, rounded, roundings
from numerics.search import STARTS

NAMES = {
    "eq09": "mrsnorm.eq09",
    "eq11": "mrsnorm.eq11",
    "eq16": "mrsnorm.eq16",
    "eq16-rms": "mrsnorm.eq16_rms",
    "eq17": "mrsnorm.eq17",
    "eq18": "mrsnorm.eq18",
    "eq18-rms": "mrsnorm.eq18_rms",
    "self-score": "beyond.self_score",
}
MODULES = {slug: importlib.import_module(f"numerics.{name}") for slug, name in NAMES.items()}
DEFINITIONS = {"Eq. 1": MEAN, "Eq. 11": ROOT_MEAN_SQUARE, "QK-RMSNorm": SCALAR_RMS}
SETTINGS = Settings(trials=32, seed=7)


@functools.cache
def rows(slug: str) -> tuple[Measurement, ...]:
    return tuple(MODULES[slug].measure(SETTINGS))


def chosen(slug: str, **wanted: str) -> list[Measurement]:
    """The rows with these fields; `part` is looked for in the scope."""
    part = wanted.pop("part", "")
    found = [row for row in rows(slug) if part in row.scope and all(getattr(row, k) == v for k, v in wanted.items())]
    assert found, f"no row of {slug} has {wanted} and {part!r}"
    return found


def statuses(found: list[Measurement]) -> set[str]:
    return {row.status for row in found}


# what is reported


@pytest.mark.parametrize("slug", ["eq09", "eq16-rms", "eq17", "eq18-rms", "self-score"])
def test_what_is_true_is_consistent_everywhere(slug):
    assert statuses(chosen(slug)) == {"consistent"}, [row for row in rows(slug) if row.status != "consistent"]


@pytest.mark.parametrize("slug", ["eq11", "eq16", "eq18"])
def test_what_is_corrected_is_consistent_everywhere(slug):
    assert statuses(chosen(slug, statement="corrected")) == {"consistent"}


@pytest.mark.parametrize("slug", ["eq11", "eq16", "eq18"])
def test_what_is_printed_wrong_is_violated_by_search_in_every_dtype(slug):
    found = chosen(slug, statement="as printed", kind="adversarial")
    assert statuses(found) == {"violated"} and {row.dtype for row in found} == set(DTYPES)


def test_eq18_passes_when_it_is_only_sampled():
    """The trap: independent Gaussian pairs stay below half of what search exceeds many times over."""
    for d, least in ((64, 31), (128, 63)):
        random = chosen("eq18", statement="as printed", part=f"d = {d}, eps = 0, independent Gaussian")
        assert statuses(random) == {"consistent"} and max(row.worst for row in random) < 0.7
        search = chosen("eq18", statement="as printed", kind="adversarial", part=f"d = {d},")
        assert min(row.worst for row in search) > least


def test_eq18_is_violated_by_a_trained_attention_under_eq_1_only():
    part = "queries and keys of MiniLM"
    assert statuses(chosen("eq18", statement="as printed", part=part)) == {"violated"}
    assert statuses(chosen("eq18-rms", statement="as printed", part=part)) == {"consistent"}


def test_eq11_is_another_number_than_eq_1():
    assert statuses(chosen("eq11", statement="as printed")) == {"violated"}
    assert {row.statement for row in rows("eq11")} == {
        "as printed",
        "corrected",
        "Eq. 1 is never larger",
        "the same eps in both roots",
    }


@pytest.mark.parametrize("slug, statement", [("eq16", "corrected"), ("eq18", "corrected"), ("eq16-rms", "as printed"),
                                             ("eq18-rms", "as printed"), ("eq17", "as printed"),
                                             ("self-score", "as printed")])  # fmt: skip
@pytest.mark.parametrize("d", WIDTHS)
def test_sharp_bounds_are_reached(slug, statement, d):
    """Within 1 % where rounding lets it be seen; twice the two roundings of bf16, 0.0156, hide a little more."""
    found = chosen(slug, statement=statement, kind="adversarial", part=f"d = {d},")
    assert {row.dtype for row in found} == set(DTYPES)
    for row in found:
        assert (0.98 if row.dtype == "bf16" else 0.99) <= row.worst <= 1, row


@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("definition, bound", [(MEAN, lambda d: d**2 / 4), (ROOT_MEAN_SQUARE, lambda d: d / 2)])
@pytest.mark.parametrize("search", [largest_score, largest_block_score])
def test_search_reaches_the_bound_from_every_kind_of_start(search, definition, bound, d):
    found = search("test", definition, d, SETTINGS)
    assert set(found.by_start) == set(STARTS)
    for start, value in found.by_start.items():
        most = bound(d) * (1 + roundings(2 * definition.roundings(d // 2) + d + 2, FP64))  # two scales, d products
        assert 0.99 * bound(d) <= value <= most, f"seed {SETTINGS.seed}, from {start}: {value}"


def test_eq09_bound_is_not_idle():
    """In half precision the worst error comes within a factor 4 of its bound."""
    assert all(row.worst > 0.25 for row in chosen("eq09") if row.dtype in ("fp16", "bf16"))


# witnesses


def exact_score(q: list[Decimal], k: list[Decimal], definition: str, eps: float) -> Decimal:
    """The score in 60 digits, by another route: plain numbers, term by term."""

    def scale(x: list[Decimal]) -> Decimal:
        squares = [a * a + b * b for a, b in zip(x[::2], x[1::2], strict=True)]
        if definition == "Eq. 1":
            return sum(s.sqrt() for s in squares) / len(squares) + Decimal(eps)
        count = len(squares) if definition == "Eq. 11" else len(x)
        return (sum(squares) / count + Decimal(eps)).sqrt()

    return sum(a * b for a, b in zip(q, k, strict=True)) / (scale(q) * scale(k))


def decimals(phasors: dict[str, list[float]], d: int) -> list[Decimal]:
    return [Decimal(x) for i in range(d // 2) for x in phasors.get(str(i), [0.0, 0.0])]


@pytest.mark.parametrize("slug, definition", [("eq18", "Eq. 1"), ("eq16", "Eq. 1"), ("eq18-rms", "Eq. 11")])
def test_witnesses_are_simple_and_hold_up_in_exact_arithmetic(slug, definition):
    for row in chosen(slug, statement="as printed", kind="adversarial"):
        w = row.witness
        assert len(w["q"]) == len(w["k"]) == 1  # where one phasor carries all, the score is its own share P_i
        assert all(len(str(x)) <= 8 for phasors in (w["q"], w["k"]) for pair in phasors.values() for x in pair)
        with localcontext(prec=60):
            size = abs(exact_score(decimals(w["q"], w["d"]), decimals(w["k"], w["d"]), definition, w["eps"]))
        assert (size > w["d"] / 2 + 1) == (definition == "Eq. 1")
        assert row.worst <= float(size) / (w["d"] / 2) * (1 + roundings(4, FP64)), (
            "the certified ratio exceeds the exact one"
        )


def test_the_real_witness_holds_up_in_exact_arithmetic():
    for row in chosen("eq18", statement="as printed", part="MiniLM"):
        w = row.witness
        with localcontext(prec=60):
            size = abs(exact_score(decimals(w["q"], HEAD), decimals(w["k"], HEAD), "Eq. 1", w["eps"]))
        assert 1 < row.worst <= float(size) / (HEAD / 2)


# reproducibility


@pytest.mark.parametrize("slug", list(MODULES))
def test_the_same_seed_gives_the_same_rows(slug):
    alone = Settings(dtypes=("bf16",), trials=SETTINGS.trials, seed=SETTINGS.seed)
    assert list(MODULES[slug].measure(alone)) == chosen(slug, dtype="bf16")


def test_another_seed_gives_other_inputs():
    other = dataclasses.replace(SETTINGS, seed=8, dtypes=("fp32",))
    assert [r.worst for r in MODULES["eq09"].measure(other)] != [r.worst for r in chosen("eq09", dtype="fp32")]


def test_without_trials_a_sampled_row_is_not_run():
    found = list(MODULES["eq18"].measure(Settings(dtypes=("fp32",), trials=0)))
    assert {row.status for row in found if "scenario" in row.scope or "Gaussian" in row.scope} == {"not run"}


# the arithmetic under the checks


@pytest.mark.parametrize("dtype", DTYPES)
def test_normalized_is_what_the_layers_return(dtype):
    fmt = FORMATS[dtype]
    for q, k in scenario_pairs("test", fmt, 7, SETTINGS):
        for x in (q, k):
            for definition, layer, bound in ((MEAN, mrs_norm, output_error), (SCALAR_RMS, rms_norm, rms_output_error)):
                exact = normalized(x.double(), definition, 1e-6)
                terms = x.shape[-1] // (2 if layer is mrs_norm else 1)
                allowed = rounded(bound(exact, torch.ones(()), terms, fmt), exact, fmt)
                allowed = allowed + bound(exact, torch.ones(()), terms, FP64)
                for found in (normalized(x, definition, 1e-6), layer(x)):
                    assert ((found.double() - exact).abs() <= allowed).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", list(DEFINITIONS))
@pytest.mark.parametrize("eps", [0.0, 1e-6])
def test_score_errors_are_within_their_bounds(name, dtype, eps):
    """Against 60 digits; the scenarios reach subnormal outputs."""
    definition = DEFINITIONS[name]
    for q, k in scenario_pairs("test", FORMATS[dtype], 5, Settings(trials=8, seed=3)):
        computed, bound = score(q, k, definition, eps).tolist(), score_error(q, k, definition, eps).tolist()
        with localcontext(prec=60):
            for row, (value, allowed) in enumerate(zip(computed, bound, strict=True)):
                pair = ([Decimal(x) for x in vector[row].double().tolist()] for vector in (q, k))
                error = abs(Decimal(value) - exact_score(*pair, name, eps))
                assert error <= Decimal(allowed), f"seed 3, row {row}: {error} > {allowed}"


def test_block_scores_add_up_to_the_score():
    ((q, k),) = gaussian_pairs("test", FORMATS["fp64"], 16, SETTINGS)
    total = block_scores(q, k, MEAN, 0.0).sum(-1)
    allowed = block_score_error(q, k, MEAN, 0.0).sum(-1) + score_error(q, k, MEAN, 0.0)
    assert bool(((total - score(q, k, MEAN, 0.0)).abs() <= allowed).all())


def test_real_pairs_meet_every_key_of_their_head_once():
    pairs = list(real_pairs("test", FORMATS["fp64"], Settings(full=True)))
    assert sum(len(q) for q, _ in pairs) == 3 * 12 * 78**2
    first = pairs[0][0]
    assert first.shape == (3 * 12 * 78, HEAD) and all(torch.equal(q, first) for q, _ in pairs)
    keys = torch.stack([k for _, k in pairs], dim=1)  # (rows, 78, d)
    place = torch.arange(len(first)).reshape(3, 78, 12)
    of_one_head = {tuple(key.tolist()) for key in keys[place[1, 0, 5]]}
    assert len(of_one_head) == 78 and of_one_head == {tuple(key.tolist()) for key in keys[place[1, 40, 5]]}
    assert of_one_head.isdisjoint(tuple(key.tolist()) for key in keys[place[1, 0, 6]])
