"""Hypothesis looks for inputs that exceed an error bound, steered to larger ratios (`target`), and finds none."""

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings, target
from hypothesis import strategies as st

from numerics.bound_trials.subjects import BOUNDS, Case, ratios
from numerics.rounding import FORMATS
from numerics.rounding.counts import domain

BITS = {"fp16": 16, "bf16": 32, "fp32": 32, "fp64": 64}
NAMES = ("MRSNorm o", "MRSNorm dL/dz", "MA-RMSNorm dL/dx", "MRSNorm dL/dgamma", "score, Eq. 1")
EXAMPLES = 40


def numbers(fmt, largest):
    """Numbers of a format up to a power of two, subnormal ones and zero among them."""
    return st.floats(-largest, largest, width=BITS[fmt.name], allow_subnormal=True)


@pytest.mark.parametrize("dtype", ["fp16", "fp32", "fp64"])
@pytest.mark.parametrize("name", NAMES)
def test_no_input_exceeds_its_bound(name, dtype):
    fmt, bound = FORMATS[dtype], BOUNDS[name]
    low, _ = domain(2, fmt)
    seen = []

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
    )
    @given(
        *(st.lists(numbers(fmt, 2.0**8), min_size=n, max_size=n) for n in (4, 4, 2, 4, 4)),
        st.sampled_from([0.0, 0.125]),
    )
    def search(x, g, gamma, gammas, magnitude, eps):
        rows = [torch.tensor(values, dtype=fmt.dtype) for values in (x, g, gamma, gammas, magnitude)]
        for row in rows[:2] if bound.pairs else rows[:1]:  # the domain: 0, or large enough, and not all of them 0
            r = torch.linalg.vector_norm(row.double().view(2, 2), dim=-1)
            row[(r < low).repeat_interleave(2)] = 0
            row[0] += float(not row.any())
        ratio = float(
            ratios(bound.subject, Case(fmt, eps, rows[0][None], rows[1][None], *rows[2:]), bound.stored).max()
        )
        seen.append(ratio)
        target(ratio)
        assert ratio <= 1

    search()
    assert max(seen) > 0 and len(seen) >= EXAMPLES
