"""The numeric checks around attention, code and experiments: what each reports, and that each can fail."""

import functools
import importlib
import math

import pytest
import torch

from numerics.attention_scores import MEAN, ROOT_MEAN_SQUARE, SCALAR_RMS
from numerics.measure import DTYPES, Measurement, Settings
from numerics.mrsnorm.appendix_c import listing
from numerics.mrsnorm.significance import p_values
from numerics.mrsnorm.softmax_collapse import minimum_entropy
from numerics.mrsnorm.softmax_collapse import printed as largest_weight
from numerics.mrsnorm.zero_overhead import roots
from numerics.norms import mrs_norm
from numerics.rounding import FORMATS, FP64, output_error, roundings
from numerics.search import Found, ascend

SLUGS = [
    "no-1d",
    "rope",
    "soft-constraint",
    "token-scale",
    "zero-overhead",
    "energy-identity",
    "phase-veto",
    "veto-neutralises",
    "softmax-collapse",
    "appendix-c",
    "digest-listing",
    "significance",
]
MODULES = {slug: importlib.import_module(f"numerics.mrsnorm.{slug.replace('-', '_')}") for slug in SLUGS}
REFUTED = {"phase-veto", "veto-neutralises", "digest-listing", "significance"}
FALSE = {  # further statements that are false, and are measured to be
    "no-1d": {"differentiable almost everywhere is enough"},
    "rope": {"MRSNorm commutes with RoPE on half-split pairs"},
    "softmax-collapse": {"the same bound under Eq. 1"},
    "appendix-c": {"feature maps are normalized by Eqs. 1 and 2"},
}
SAME = {"digest-listing": {"exact"}, "significance": {"fp64"}, "zero-overhead": {"exact"}}  # whatever is asked for
ROUNDED = {slug: set() if slug in ("digest-listing", "significance") else set(DTYPES) for slug in SLUGS}
SETTINGS = Settings(trials=16, seed=5)
QUICK = Settings(dtypes=("fp32",), trials=16)
REPLACED = [
    pytest.param(slug, attribute, mutant, id=f"{slug}-{attribute}-{mutant}")
    for slug, module in MODULES.items()
    for attribute, table in (("printed", "MUTANTS"), ("corrected", "CORRECTED_MUTANTS"))
    for mutant in getattr(module, table, {})
]
REPAIRS = [(slug, repair) for slug, module in MODULES.items() for repair in getattr(module, "REPAIRS", {})]


SEARCHED: dict[tuple, Found] = {}


def remembered(value, **options) -> Found:
    """`ascend`, once for each seed: what is searched does not depend on the formula that is replaced."""
    key = tuple(sorted(options.items()))
    if key not in SEARCHED:
        SEARCHED[key] = ascend(value, **options)
    return SEARCHED[key]


@functools.cache
def rows(slug: str, settings: Settings = SETTINGS) -> tuple[Measurement, ...]:
    return tuple(MODULES[slug].measure(settings))


def statuses(slug: str, statement: str) -> set[str]:
    found = {row.status for row in rows(slug) if row.statement == statement}
    assert found, f"{slug} has no row for {statement!r}"
    return found


@pytest.mark.parametrize("slug", SLUGS)
def test_what_is_true_is_consistent_in_every_dtype(slug):
    false = FALSE.get(slug, set()) | ({"as printed"} if slug in REFUTED else set())
    true = [row for row in rows(slug) if row.statement not in false]
    assert {row.status for row in true} == {"consistent"}, [row for row in true if row.status != "consistent"]
    assert {row.dtype for row in true} == ROUNDED[slug] | SAME.get(slug, set())


@pytest.mark.parametrize("slug", sorted(REFUTED))
def test_what_is_printed_wrong_is_violated_in_every_dtype(slug):
    violated = {row.dtype for row in rows(slug) if (row.statement, row.status) == ("as printed", "violated")}
    assert violated == ROUNDED[slug] | SAME.get(slug, set())
    assert statuses(slug, "corrected") == {"consistent"}


@pytest.mark.parametrize("slug", sorted(FALSE))
def test_further_statements_that_are_false_are_violated(slug):
    for statement in FALSE[slug]:
        assert statuses(slug, statement) == {"violated"}


@pytest.mark.parametrize(("slug", "attribute", "mutant"), REPLACED)
def test_a_wrong_formula_is_violated(slug, attribute, mutant, monkeypatch):
    """Also where the right formula is violated already: then something that was consistent must fall."""
    module = MODULES[slug]
    if slug == "softmax-collapse":
        monkeypatch.setattr(module, "ascend", remembered)
    before = rows(slug, QUICK)
    table, statement = {
        "printed": (module.MUTANTS, "as printed"),
        "corrected": (getattr(module, "CORRECTED_MUTANTS", {}), "corrected"),
    }[attribute]
    monkeypatch.setattr(module, attribute, table[mutant])
    after = tuple(module.measure(QUICK))
    pairs = list(zip(before, after, strict=True))
    assert any((old.status, new.status) == ("consistent", "violated") for old, new in pairs)
    assert statement in {row.statement for row in after if row.status == "violated"}
    if mutant == "NaN":
        assert any(math.isnan(row.worst) for row in after)


@pytest.mark.parametrize(("slug", "repair"), REPAIRS)
def test_the_right_formula_in_place_of_the_printed_one_is_consistent(slug, repair, monkeypatch):
    monkeypatch.setattr(MODULES[slug], "printed", MODULES[slug].REPAIRS[repair])
    assert {row.status for row in MODULES[slug].measure(QUICK)} == {"consistent"}


@pytest.mark.parametrize("slug", SLUGS)
def test_the_same_seed_gives_the_same_rows(slug):
    alone = Settings(dtypes=("bf16",), trials=SETTINGS.trials, seed=SETTINGS.seed)
    kept = {"bf16"} | SAME.get(slug, set())
    assert list(MODULES[slug].measure(alone)) == [row for row in rows(slug) if row.dtype in kept]


@pytest.mark.parametrize("slug", sorted(SAME))
def test_what_no_dtype_changes_is_measured_once(slug):
    found = [(row.statement, row.scope) for row in rows(slug) if row.dtype in SAME[slug]]
    assert found and len(found) == len(set(found))


@pytest.mark.parametrize("slug", sorted(set(SLUGS) - {"digest-listing"}))
def test_without_trials_a_random_row_is_not_run(slug):
    found = list(MODULES[slug].measure(Settings(dtypes=("fp32",), trials=0)))
    assert any(row.status == "not run" for row in found)
    assert not any(row.status == "violated" and row.kind == "random" and row.trials == 0 for row in found)


def test_the_largest_weight_is_reached_by_search_in_every_dtype():
    """Two logits of up to 4 lose up to 4 gamma_2(v) each, and as much to certify it: 16 gamma_2(v) of the log-odds."""
    found = [row for row in rows("softmax-collapse") if (row.statement, row.kind) == ("as printed", "adversarial")]
    assert {row.dtype for row in found} == set(DTYPES)
    for row in found:
        assert (0.88 if row.dtype == "bf16" else 0.98) <= row.worst <= 1, row


@pytest.mark.parametrize(("d", "keys"), [(64, 2982), (128, 81939)])
def test_a_weight_of_a_half_is_guaranteed_from_so_many_keys(d, keys):
    assert largest_weight(keys, math.sqrt(d)) <= 0.5 < largest_weight(keys - 1, math.sqrt(d))


def test_the_smallest_entropy_is_that_of_some_corner():
    for n, spread in ((4, math.log(2)), (7, 3.0), (2, 0.1)):
        logits = spread * torch.tril(torch.ones(n, n, dtype=torch.float64))[: n - 1]
        weights = logits.softmax(-1)
        entropies = -(weights * weights.log()).sum(-1)
        # a weight w is off by n + 8 roundings, which w log w enlarges by 1 + |log w|; the formula is a sum of two such
        off = roundings(n + 8, FP64) * (1 + spread + math.log(n)) * 2
        assert abs(entropies.min().item() - minimum_entropy(n, spread)) <= off
    two_of_four = math.log(3) + math.log(2) / 3
    assert abs(minimum_entropy(4, math.log(2)) - two_of_four) <= roundings(16, FP64) * two_of_four


def test_permutation_p_values_of_known_runs():
    runs = torch.tensor([[1, 2, 3, 4, 5, 6], [1, 4, 5, 2, 3, 6], [1, 1, 1, 1, 1, 1]], dtype=torch.float64)
    assert p_values(runs).tolist() == [0.1, 1.0, 1.0]


def test_square_roots_are_counted():
    x = torch.ones(5, 12, dtype=torch.float64)
    assert [roots(definition, x) for definition in (MEAN, ROOT_MEAN_SQUARE, SCALAR_RMS)] == [6, 1, 1]


def test_the_listing_is_the_layer_for_channels_at_the_end_and_computes_in_fp32():
    x = torch.randn(3, 4, 8, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    gamma = torch.tensor([1.0, -2.0, 0.5, 3.0])
    exact = mrs_norm(x.float().double(), gamma.double(), 0.5)
    bound = sum(output_error(exact, gamma.double().repeat_interleave(2), 4, FORMATS[name]) for name in ("fp32", "fp64"))
    for layer in (listing(x.float(), gamma, -1, 1, 0.5), mrs_norm(x.float(), gamma, 0.5), listing(x, gamma, 2, 1, 0.5)):
        assert ((layer.double() - exact).abs() <= bound).all()
    assert torch.equal(listing(x, gamma, 2, 1, 0.5), listing(x.float(), gamma, -1, 1, 0.5).double())
    assert not torch.equal(listing(x, gamma, 2, 1, 0.5), mrs_norm(x, gamma.double(), 0.5))


def test_the_listing_averages_over_what_follows_the_channels():
    x = torch.tensor([[[3.0, 0.0], [4.0, 13.0]]])  # magnitudes 5 and 13 at two positions
    assert torch.equal(listing(x, torch.ones(1), 1, 1, 0.0), x / 9)
    groups = torch.tensor([[3.0, 4.0, 0.0, 13.0]])
    assert torch.equal(listing(groups, torch.ones(2), -1, 2, 0.0), groups / torch.tensor([5.0, 5.0, 13.0, 13.0]))
