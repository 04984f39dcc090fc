"""Pairs of queries and keys: random ones of every scenario, plain Gaussian ones, and those of a trained attention.

Every source yields chunks of (q, k), each (T, d) in the format under test, all scenarios of a chunk stacked. Pairs that
are independent say little about a bound on q . k, so the pairs of a scenario cycle through four relations.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from numerics import activations
from numerics.inputs import CHUNK, SCENARIOS, generator
from numerics.measure import Settings
from numerics.rounding import Format, check_domain

Pairs = Iterator[tuple[Tensor, Tensor]]

HEAD = 32  # channels a head of the stored queries and keys
LAYERS = 3  # stored layers
SHIFTS = 4  # keys tried for each stored query, unless all are
SYNTHETIC = tuple(name for name in SCENARIOS if not name.startswith("real "))


def _independent(q: Tensor, k: Tensor) -> Tensor:
    return k


def _equal(q: Tensor, k: Tensor) -> Tensor:
    return q


def _opposite(q: Tensor, k: Tensor) -> Tensor:
    return -q


def _quarter_turn(q: Tensor, k: Tensor) -> Tensor:
    return torch.stack((-q[..., 1], q[..., 0]), dim=-1)


RELATIONS = {"independent": _independent, "k = q": _equal, "k = -q": _opposite, "k = q turned by 90": _quarter_turn}


def gaussian_pairs(slug: str, fmt: Format, phasors: int, settings: Settings) -> Pairs:
    """Settings' trials of independent standard normal queries and keys."""
    return scenario_pairs(slug, fmt, phasors, settings, ("gaussian",), ("independent",))


def scenario_pairs(
    slug: str,
    fmt: Format,
    phasors: int,
    settings: Settings,
    names: tuple[str, ...] = SYNTHETIC,
    relations: tuple[str, ...] = tuple(RELATIONS),
) -> Pairs:
    """Settings' trials of every named scenario; row t has the relation t modulo their number."""
    for chunk, start in enumerate(range(0, settings.trials, CHUNK)):
        trials = min(CHUNK, settings.trials - start)
        queries, keys = [], []
        for name in names:
            rng = generator(settings.seed, slug, "pairs", name, relations, phasors, fmt.name, chunk)
            q, k = (SCENARIOS[name](rng, trials, phasors, fmt.largest) for _ in range(2))  # (T, P, 2) each
            for place, relation in enumerate(relations):
                rows = slice(place, None, len(relations))
                k[rows] = RELATIONS[relation](q[rows], k[rows])
            queries.append(q)
            keys.append(k)
        yield _stored(torch.cat(queries), fmt, settings), _stored(torch.cat(keys), fmt, settings)


def real_pairs(slug: str, fmt: Format, settings: Settings) -> Pairs:
    """Stored queries, head by head, each against the keys of its head at `SHIFTS` random distances: d = `HEAD`.

    The sentences stand one behind the other. With `settings.full` every query meets every key.
    """
    queries, keys = (_by_head(activations.rows(kind)) for kind in ("query", "key"))
    shifts = torch.randperm(queries.shape[1], generator=generator(settings.seed, slug, "real pairs"))
    for shift in shifts.tolist() if settings.full else shifts[:SHIFTS].tolist():
        q, k = queries, keys.roll(shift, dims=1)
        yield _stored(q.flatten(0, 2), fmt, settings), _stored(k.flatten(0, 2), fmt, settings)


def _by_head(rows: Tensor) -> Tensor:
    """(layers x tokens, 384) -> (layers, tokens, heads, P, 2)."""
    return rows.unflatten(-1, (-1, HEAD // 2, 2)).unflatten(0, (LAYERS, -1))


def _stored(z: Tensor, fmt: Format, settings: Settings) -> Tensor:
    """(T, P, 2) in fp64 -> (T, 2P) in the format, on the device; ValueError outside the domain of the error bounds."""
    x = z.clamp(-fmt.largest, fmt.largest).to(fmt.dtype)
    check_domain(torch.linalg.vector_norm(x.double(), dim=-1), fmt)
    return x.flatten(-2).to(settings.device)
