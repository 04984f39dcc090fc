"""Cases drawn at random: rows of every scenario, at every eps, at ordinary sizes and near the ends of a format."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from numerics.bound_trials.subjects import Case
from numerics.query_keys import RELATIONS
from numerics.rounding import Format, domain
from numerics.scenarios import SCENARIOS, generator, integers, normal, random_gamma

NAMES = tuple(SCENARIOS)
EPSILONS = (0.0, 1e-6, 0.125)
LEVELS = ((0.0, 0.0), (0.0, -0.8), (0.3, -0.8), (-0.3, 0.0))  # exponents of x and g, in those of the largest number


def drawn(fmt: Format, phasors: int, trials: int, seed: int, chunk: int = 0, pairs: bool = False) -> Case:
    """A case of `trials` rows, an equal share of every scenario; of one that changes with the chunk where they are few.

    Chunks cycle through `LEVELS` (not in fp16, which has no room for them) and `EPSILONS`. g are upstream gradients,
    normal at scales 1, 2^4 and 2^8; with `pairs`, g are keys of the same scenario that cycle through the relations of
    `query_keys`. Phasors outside the domain of the bounds become 0, and a row of zeros, which has no output at eps = 0,
    becomes one of ones.
    """
    rng = generator(seed, "bound trials", fmt.name, phasors, chunk)
    levels = (0.0, 0.0) if fmt.name == "fp16" else LEVELS[chunk % len(LEVELS)]
    size, slope = (2.0 ** int(part * math.log2(fmt.accumulation.largest)) for part in levels)
    z = _rows(rng, fmt, phasors, trials, chunk)
    if pairs:
        g = _rows(rng, fmt, phasors, trials, chunk)
        for place, relation in enumerate(RELATIONS):
            rows = slice(place, None, len(RELATIONS))
            g[rows] = RELATIONS[relation](z[rows], g[rows])
        g = _stored(g * size, fmt)
    else:
        g = (normal(rng, trials, 2 * phasors) * slope * 2.0 ** (4 * integers(rng, 3, trials, 1))).to(fmt.dtype)
    return Case(
        fmt=fmt,
        eps=EPSILONS[chunk // len(LEVELS) % len(EPSILONS)],
        x=_stored(z * size, fmt),
        g=g,
        gamma=random_gamma(rng, phasors).to(fmt.dtype),
        gammas=random_gamma(rng, 2 * phasors).to(fmt.dtype),
        magnitude=normal(rng, 2 * phasors).to(fmt.dtype),
    )


def _rows(rng: Generator, fmt: Format, phasors: int, trials: int, chunk: int) -> Tensor:
    """(T, P, 2)."""
    shares = [len(range(place, trials, len(NAMES))) for place in range(len(NAMES))]
    names = NAMES[chunk % len(NAMES) :] + NAMES[: chunk % len(NAMES)]
    parts = [
        SCENARIOS[name](rng, share, phasors, fmt.largest) for name, share in zip(names, shares, strict=True) if share
    ]
    return torch.cat(parts)


def _stored(z: Tensor, fmt: Format) -> Tensor:
    z = z.clamp(-fmt.largest, fmt.largest).to(fmt.dtype)
    low, high = domain(z.shape[-2], fmt)
    r = torch.linalg.vector_norm(z.double(), dim=-1, keepdim=True)
    x = torch.where((r >= low) & (r <= high), z, torch.zeros_like(z)).flatten(-2)
    return torch.where((x == 0).all(-1, keepdim=True), torch.ones_like(x), x)
