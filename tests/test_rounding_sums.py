"""The tree of a sum, measured, is no deeper than the error bounds count, in every layout the layers sum in."""

from itertools import pairwise

import pytest
import torch

from numerics.bound_trials.sums import measured_roundings
from numerics.rounding import FORMATS, pair_sum_roundings, rms_roundings, row_sum_roundings, scale_roundings
from numerics.rounding.counts import sum_roundings

FLOATS = (torch.float32, torch.float64)
TERMS = (2, 3, 16, 17, 33, 100, 192, 1000)
LAYOUTS = {
    "a row": lambda values: values.sum(-1),
    "a row, as a mean": lambda values: values.mean(-1) * values.shape[-1],  # a power of two of terms: exact
    "a column": lambda values: values.mT.contiguous().sum(0),
    "few columns": lambda values: torch.cat([part.mT.contiguous().sum(0) for part in values.split(2)]),
}


def places(terms):
    return sorted({0, 1, terms // 3, terms // 2, terms - 1})


def depth(layout, terms, dtype):
    return max(measured_roundings(LAYOUTS[layout], terms, place, dtype) for place in places(terms))


@pytest.mark.parametrize("dtype", FLOATS, ids=["fp32", "fp64"])
@pytest.mark.parametrize("terms", TERMS)
def test_a_sum_is_no_deeper_than_counted_and_a_third_as_deep_in_some_layout(terms, dtype):
    found = [depth(layout, terms, dtype) for layout in ("a row", "a column")]
    assert max(found) <= sum_roundings(terms) <= 3 * max(found)


def test_a_sum_of_two_columns_and_a_mean_are_no_deeper_than_counted():
    assert depth("few columns", 64, torch.float32) <= sum_roundings(64)
    assert depth("a row, as a mean", 64, torch.float32) <= sum_roundings(64)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_that_share_a_row_make_its_sum_no_deeper(threads):
    """From 2^15 terms on PyTorch shares a single row out; a few places of its tree are looked at."""
    terms, before = 2**15 + 5, torch.get_num_threads()
    others = [*range(1, 64), *(2**power for power in range(6, 15)), terms - 1]
    torch.set_num_threads(threads)
    try:
        sizes = set()
        for other in others:
            values = torch.ones(terms)
            values[0], values[other] = 2.0**60, -(2.0**60)
            sizes.add(terms - values.sum().item())
    finally:
        torch.set_num_threads(before)
    assert len(sizes) <= sum_roundings(terms)


def test_the_depth_of_a_known_tree_is_measured():
    def one_by_one(values):
        total = values[:, 0]
        for term in range(1, values.shape[1]):
            total = total + values[:, term]
        return total

    def by_halves(values):
        while values.shape[1] > 1:
            values = values[:, ::2] + values[:, 1::2]
        return values[:, 0]

    assert [measured_roundings(one_by_one, 32, place, torch.float32) for place in (0, 1, 5, 31)] == [31, 31, 27, 1]
    assert {measured_roundings(by_halves, 32, place, torch.float32) for place in range(32)} == {5}


def test_summing_jointly_over_rows_and_pairs_is_as_deep_as_there_are_rows():
    """Why the layers sum over rows first: this order would cost a rounding for every row."""

    def jointly(values):
        rows = values.unflatten(-1, (-1, 2)).unsqueeze(2).expand(-1, -1, 3, -1).contiguous()  # (R, T, 3, 2)
        return torch.stack([part.sum((0, 2))[0] for part in rows])

    assert measured_roundings(jointly, 200, 0, torch.float32) == 100 > sum_roundings(200)


def test_counts_grow_with_the_terms_and_never_beyond_any_order():
    terms = [*range(70), *(2**power + extra for power in range(7, 20) for extra in (0, 1))]
    for few, more in pairwise(terms):
        assert sum_roundings(few) <= sum_roundings(more) <= sum_roundings(more, any_order=True)
    assert sum_roundings(2**17) < 100 and sum_roundings(2**17, any_order=True) == 2**17 - 1
    assert [sum_roundings(n) for n in (0, 1, 2, 3)] == [0, 0, 1, 2]


def test_a_format_says_how_its_sums_are_counted():
    fmt = FORMATS["fp32"]
    loose = fmt.summed_in_any_order()
    assert scale_roundings(1000) == scale_roundings(1000, fmt) < scale_roundings(1000, loose) == 1007
    assert rms_roundings(1000, fmt) < rms_roundings(1000, loose)
    assert pair_sum_roundings(1000) < pair_sum_roundings(1000, any_order=True) == 1999
    assert row_sum_roundings(1000, 64) < row_sum_roundings(1000, 64, any_order=True) == 999
