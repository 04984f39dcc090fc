"""Fast arithmetic on phasors gives, to the last bit, what the plain formulas give."""

import pytest
import torch

from numerics.phasor_math import dot, length, times


def blocks(size, dtype, *batch):
    rng = torch.Generator().manual_seed(7)
    return torch.randn(*batch, 9, size, generator=rng, dtype=torch.float64).to(dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("batch", [(), (4,), (2, 3)], ids=str)
def test_pairs_are_computed_as_written(dtype, batch):
    z, w = blocks(2, dtype, *batch), blocks(2, dtype, *batch).flip(-1)
    factor = blocks(2, dtype, *batch)[..., 0] * 3
    assert torch.equal(length(z), (z[..., 0] * z[..., 0] + z[..., 1] * z[..., 1]).sqrt())
    assert torch.equal(dot(z, w), z[..., 0] * w[..., 0] + z[..., 1] * w[..., 1])
    assert torch.equal(times(z, factor), z * factor.unsqueeze(-1))


@pytest.mark.parametrize("size", [1, 3, 4])
def test_blocks_of_another_size_are_computed_too(size):
    z = blocks(size, torch.float64, 5)
    factor = z[..., 0]
    assert torch.equal(length(z), (z * z).sum(-1).sqrt())
    assert torch.equal(dot(z, z.flip(-1)), (z * z.flip(-1)).sum(-1))
    assert torch.equal(times(z, factor), z * factor.unsqueeze(-1))


def test_strided_phasors_and_one_weight_for_all_rows_are_accepted():
    z = blocks(2, torch.float64, 6)[::2, ::3]
    weight = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    assert torch.equal(times(z, weight), z * weight.unsqueeze(-1))


def test_a_phasor_of_length_zero_has_no_direction():
    z = torch.tensor([[0.0, 0.0], [3.0, 4.0]])
    found = times(z, 1 / length(z))
    assert bool(found[0].isnan().all()) and bool(found[1].isfinite().all())
