"""The tally of a check: the worst case, what counts towards it, and the input that gave it."""

import math

import torch

from numerics.inputs import batch
from numerics.judge import Tally
from numerics.measure import Settings
from numerics.rounding import FP64
from numerics.scenarios import SCENARIOS


def tally(*ratios):
    """A tally of fp64 fed with one row of 2 phasors for each pair of ratios."""
    found = Tally("as printed", FP64, Settings())
    b = batch("t", FP64, 2, 0.0, 1, Settings(), scenarios={"gaussian": SCENARIOS["gaussian"]})
    for pair in ratios:
        found.add(b, torch.tensor([pair], dtype=torch.float64), torch.ones(1, 2, dtype=torch.float64))
    return found.measurement()


def test_a_nan_is_the_worst_case_whatever_comes_after_it():
    for found in (tally((0.5, math.nan)), tally((math.nan, 2.0), (0.1, 3.0)), tally((7.0, 0.0), (math.nan, 0.0))):
        assert math.isnan(found.worst) and found.status == "violated"
        assert found.witness["error"] == "nan"


def test_the_worst_case_is_the_largest_ratio_and_names_its_input():
    found = tally((0.25, 0.5), (0.75, 0.1), (0.3, 0.2))
    assert (found.worst, found.status, found.trials) == (0.75, "consistent", 3)
    assert (found.witness["error"], found.witness["phasor"]) == (0.75, 0)


def test_entries_outside_the_statement_do_not_count():
    found = Tally("as printed", FP64, Settings())
    b = batch("t", FP64, 2, 0.0, 1, Settings(), scenarios={"gaussian": SCENARIOS["gaussian"]})
    ratio, one = torch.tensor([[math.nan, 0.5]], dtype=torch.float64), torch.ones(1, 2, dtype=torch.float64)
    found.add(b, ratio, one, torch.tensor([[False, True]]))
    assert (found.worst, found.trials, found.witness["phasor"]) == (0.5, 1, 1)
    found.add(b, ratio, one, torch.tensor([[False, False]]))
    assert found.trials == 1


def test_an_error_of_zero_needs_no_bound_and_no_bound_allows_an_error():
    found = Tally("as printed", FP64, Settings())
    b = batch("t", FP64, 2, 0.0, 1, Settings(), scenarios={"gaussian": SCENARIOS["gaussian"]})
    zero = torch.zeros(1, 2, dtype=torch.float64)
    found.add(b, zero, zero)
    assert found.measurement().status == "consistent"
    for bound in (zero, zero - 1):
        found.add(b, zero + 1e-300, bound)
        assert found.worst == math.inf
