"""Cases drawn at random: rows of every scenario, plain and relations of q to k among them, for any P."""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.bound_trials.subjects import Case
from numerics.query_keys import RELATIONS
from numerics.rounding import Format
from numerics.scenarios import SCENARIOS, generator, integers, normal, random_gamma

NAMES = tuple(SCENARIOS)
EPSILONS = (0.0, 1e-6, 0.125)


def drawn(fmt: Format, phasors: int, trials: int, seed: int, chunk: int = 0, pairs: bool = False) -> Case:
    """A case of `trials` rows: chunk number c has the scenario c modulo their number, and cycles through EPSILONS.

    g are upstream gradients, normal at scales 1, 2^4 and 2^8; with `pairs`, g are keys of the same scenario that cycle
    through the relations of `query_keys`. A row of zeros, which has no output at eps = 0, gets a 1.
    """
    rng = generator(seed, "bound trials", fmt.name, phasors, chunk)
    name = NAMES[chunk % len(NAMES)]
    z = SCENARIOS[name](rng, trials, phasors, fmt.largest)
    if pairs:
        g = SCENARIOS[name](rng, trials, phasors, fmt.largest)
        for place, relation in enumerate(RELATIONS):
            rows = slice(place, None, len(RELATIONS))
            g[rows] = RELATIONS[relation](z[rows], g[rows])
        g = _stored(g, fmt)
    else:
        g = (normal(rng, trials, 2 * phasors) * 2.0 ** (4 * integers(rng, 3, trials, 1))).to(fmt.dtype)
    return Case(
        fmt=fmt,
        eps=EPSILONS[chunk // len(NAMES) % len(EPSILONS)],
        x=_stored(z, fmt),
        g=g,
        gamma=random_gamma(rng, phasors).to(fmt.dtype),
        gammas=random_gamma(rng, 2 * phasors).to(fmt.dtype),
        magnitude=normal(rng, 2 * phasors).to(fmt.dtype),
    )


def _stored(z: Tensor, fmt: Format) -> Tensor:
    x = z.clamp(-fmt.largest, fmt.largest).to(fmt.dtype).flatten(-2)
    empty = (x == 0).all(-1, keepdim=True)
    return torch.where(empty, torch.ones_like(x), x)
