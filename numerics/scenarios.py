"""Scenarios: what the rows of a numeric check look like, as data.

A scenario draws T rows of P phasors in fp64, from a generator seeded by a hash of what is being drawn. `SCENARIOS`
names them all. Nothing here knows of a dtype but its largest number, up to which outlier factors are drawn.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable

import torch
from torch import Generator, Tensor

from numerics import activations

Scenario = Callable[[Generator, int, int, float], Tensor]  # (generator, T, P, largest) -> (T, P, 2)


def generator(*key: object) -> Generator:
    """A CPU generator whose seed is a hash of `key`."""
    digest = hashlib.blake2b("|".join(map(str, key)).encode(), digest_size=7).digest()
    return Generator().manual_seed(int.from_bytes(digest, "big"))


def normal(rng: Generator, *shape: int) -> Tensor:
    """Standard normal numbers, in fp64."""
    return torch.randn(shape, generator=rng, dtype=torch.float64)


def uniform(rng: Generator, *shape: int) -> Tensor:
    """Numbers uniform in [0, 1), in fp64."""
    return torch.rand(shape, generator=rng, dtype=torch.float64)


def integers(rng: Generator, high: int, *shape: int) -> Tensor:
    """Integers uniform in [0, high)."""
    return torch.randint(high, shape, generator=rng)


def shuffled(rng: Generator, trials: int, phasors: int) -> Tensor:
    """(T, P): in every row the numbers 0 .. P-1 in random order."""
    return uniform(rng, trials, phasors).argsort(dim=-1)


def factors(rng: Generator, trials: int, largest: float) -> Tensor:
    """(T,): outlier factors, log-uniform from 10 to 10^6 or to where 8 times as much leaves the dtype's range."""
    top = math.log10(min(1e6, largest / 8))
    return 10.0 ** (1 + (top - 1) * uniform(rng, trials))


def gaussian(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """Independent standard normal channels."""
    return normal(rng, trials, phasors, 2)


def scales(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """Gaussian rows, each at its own scale from 2^-8 to 2^8."""
    return normal(rng, trials, phasors, 2) * 2.0 ** (16 * uniform(rng, trials, 1, 1) - 8)


def tiny(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """Gaussian rows scaled by 2^-16: subnormal numbers in fp16, and input gradients that may leave its range."""
    return normal(rng, trials, phasors, 2) * 2.0**-16


def outlier_channel(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """Gaussian rows with one random channel multiplied by an outlier factor."""
    flat = normal(rng, trials, 2 * phasors)
    row = torch.arange(trials)
    flat[row, integers(rng, 2 * phasors, trials)] *= factors(rng, trials, largest)
    return flat.unflatten(-1, (-1, 2))


def outlier_phasor(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """Gaussian rows with both channels of one random phasor multiplied by an outlier factor."""
    return _outliers(rng, trials, phasors, largest, 1)


def outlier_phasors(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """Gaussian rows with several random phasors, an eighth of them and at least two, multiplied by outlier factors."""
    return _outliers(rng, trials, phasors, largest, max(2, phasors // 8))


def _outliers(rng: Generator, trials: int, phasors: int, largest: float, count: int) -> Tensor:
    z = normal(rng, trials, phasors, 2)
    chosen = shuffled(rng, trials, phasors) < count
    amplified = torch.stack([factors(rng, trials, largest) for _ in range(min(count, 8))], dim=-1)  # (T, <= 8)
    factor = amplified[torch.arange(trials)[:, None], integers(rng, amplified.shape[-1], trials, phasors)]
    return torch.where(chosen[..., None], z * factor[..., None], z)


def student(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """Student's t with 2 degrees of freedom: normal over the root of a mean of two squared normals."""
    squares = normal(rng, trials, phasors, 2, 2).square().mean(dim=-1)
    return normal(rng, trials, phasors, 2) / squares.sqrt()


def cauchy(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """Cauchy, clipped at 10^4: tails so heavy that they have no mean."""
    return (torch.pi * (uniform(rng, trials, phasors, 2) - 0.5)).tan().clamp(-1e4, 1e4)


def zero_phasors(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """Gaussian rows in which a random half of the phasors, but never all, is (0, 0)."""
    zero = shuffled(rng, trials, phasors) < phasors // 2
    return normal(rng, trials, phasors, 2).masked_fill(zero[..., None], 0)


def single_phasor(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """One random phasor holds everything, the others are (0, 0)."""
    zero = shuffled(rng, trials, phasors) > 0
    return normal(rng, trials, phasors, 2).masked_fill(zero[..., None], 0)


def equal_magnitudes(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """Phasors of one magnitude a row, at random angles."""
    angle = 2 * torch.pi * uniform(rng, trials, phasors)
    return torch.stack((angle.cos(), angle.sin()), dim=-1) * 2.0 ** (4 * uniform(rng, trials, 1, 1) - 2)


def axis_phasors(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """Phasors on the coordinate axes: one of the two channels is exactly 0."""
    axis = integers(rng, 2, trials, phasors, 1)
    return normal(rng, trials, phasors, 1) * torch.cat((axis, 1 - axis), dim=-1)


def real(kind: str) -> Scenario:
    """The scenario of the real activations of one kind."""

    def draw(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
        stored = activations.rows(kind).unflatten(-1, (-1, 2))  # (rows, 192, 2)
        start = integers(rng, stored.shape[1], trials, 1)
        window = (start + torch.arange(phasors)) % stored.shape[1]  # wraps round, and repeats where P > 192
        return stored[integers(rng, len(stored), trials, 1), window]

    draw.__doc__ = f"Real activations ({kind}): P adjacent phasors, from a random one on, of a random stored row."
    return draw


SCENARIOS: dict[str, Scenario] = {
    "gaussian": gaussian,
    "scales": scales,
    "tiny": tiny,
    "outlier channel": outlier_channel,
    "outlier phasor": outlier_phasor,
    "outlier phasors": outlier_phasors,
    "student": student,
    "cauchy": cauchy,
    "zero phasors": zero_phasors,
    "single phasor": single_phasor,
    "equal magnitudes": equal_magnitudes,
    "axis phasors": axis_phasors,
    "real pre_norm": real("pre_norm"),
    "real query": real("query"),
    "real key": real("key"),
}


def random_gamma(rng: Generator, count: int) -> Tensor:
    """(count,): normal weights, the last one positive, the first one negative, one exactly 0 where count > 8."""
    gamma = normal(rng, count)
    gamma[-1] = gamma[-1].abs()
    gamma[0] = -gamma[0].abs()
    if count > 8:
        gamma[1 + int(integers(rng, count - 2, 1))] = 0
    return gamma
