"""Queries and keys of an attention layer: how large their logits are, and how even the attention is.

A query (..., T, C) and a key (..., T', C) are split into heads of d channels. The scores of every query with every key
of its sequence (the leading dimensions; one sequence for a matrix) are taken three ways: of the stored vectors, of
those normalized by MRSNorm with Eq. 1 (mean magnitude), and with Eq. 11 (root mean square magnitude); gamma = 1. The
score is at most d/2 under Eq. 11, as the paper says, and d^2/4 under Eq. 1. Attention is softmax(score / sqrt(d)) over
all keys, without a mask, and its entropy, in nats, is at most log T'.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor

from numerics.inspection.files import CHUNK, Stored

SCALES: dict[str, Callable[[Tensor, float], Tensor]] = {  # magnitudes (..., P), eps -> (..., 1)
    "none": lambda r, eps: torch.ones_like(r[..., :1]),
    "mean": lambda r, eps: r.mean(-1, keepdim=True) + eps,
    "rms": lambda r, eps: (r.square().mean(-1, keepdim=True) + eps).sqrt(),
}
Advance = Callable[[int], None]


@dataclass
class Attention:
    """Extremes of the score and the mean and least entropy, for one definition of the scale."""

    score_min: float = math.inf
    score_max: float = -math.inf
    entropy_min: float = math.inf
    entropy_sum: float = 0.0
    rows: int = 0

    @property
    def entropy_mean(self) -> float:
        """Over all queries and heads."""
        return self.entropy_sum / self.rows if self.rows else math.nan


@dataclass(frozen=True)
class PairSummary:
    """Scores and attention of one query and key tensor, by the name of the scale in `SCALES`."""

    query: str
    key: str
    heads: int
    head_dim: int
    keys: int  # in a sequence
    attention: dict[str, Attention] = field(default_factory=dict)

    @property
    def bounds(self) -> dict[str, float]:
        """What the score cannot exceed, by scale."""
        return {"rms": self.head_dim / 2, "mean": self.head_dim**2 / 4}


def obstacle(query: Stored, key: Stored, heads: int) -> str:
    """Why the two are no queries and keys of `heads` heads, or nothing."""
    if query.obstacle or key.obstacle:
        return query.obstacle or key.obstacle
    if len(query.shape) < 2 or query.shape[:-2] != key.shape[:-2] or query.channels != key.channels:
        return f"their shapes are {query.shape} and {key.shape}; accepted: (..., T, C) and (..., T', C)"
    if query.channels % heads or query.channels // heads % 2:
        return f"{query.channels} channels in {heads} heads; accepted: heads of equal and even width"
    return ""


def inspect_pair(
    query: Stored, key: Stored, heads: int = 1, eps: float = 1e-6, advance: Advance = lambda numbers: None
) -> PairSummary:
    """The summary of a query and a key tensor; the keys of one sequence are in memory, the queries come in chunks.

    `advance` is told how many numbers were read. Raises ValueError where `obstacle` speaks against it, or where a
    number is infinite or NaN.
    """
    problem = obstacle(query, key, heads)
    if problem:
        raise ValueError(problem)
    queries, keys, d = query.shape[-2], key.shape[-2], query.channels // heads
    found = PairSummary(query.name, key.name, heads, d, keys, {name: Attention() for name in SCALES})
    sequence = -1
    step = max(1, CHUNK // max(1, keys * heads))
    key_rows = _Reader(key)
    for start, chunk in _chunks(query, queries, step):
        if start // queries != sequence:
            sequence = start // queries
            k = _heads(key_rows.take(keys), heads)
        q = _heads(chunk, heads)
        for name, scale in SCALES.items():
            _score(_scaled(q, scale, eps), _scaled(k, scale, eps), found.attention[name])
        advance(chunk.numel())
    return found


class _Reader:
    """The rows of a tensor, any number at a time."""

    def __init__(self, stored: Stored) -> None:
        self.chunks, self.rest = stored.read(), None

    def take(self, count: int) -> Tensor:
        parts, missing = [], count
        while missing:
            if self.rest is None or not len(self.rest):
                self.rest = next(self.chunks)
            parts.append(self.rest[:missing])
            self.rest = self.rest[missing:]
            missing -= len(parts[-1])
        return torch.cat(parts)


def _chunks(stored: Stored, length: int, step: int) -> Iterator[tuple[int, Tensor]]:
    """(first row, rows), at most `step` of them and never of two sequences."""
    reader, row = _Reader(stored), 0
    while row < stored.rows:
        count = min(step, length - row % length)
        yield row, reader.take(count)
        row += count


def _heads(rows: Tensor, heads: int) -> Tensor:
    """(T, C) -> (heads, T, P, 2) in fp64."""
    if not bool(rows.isfinite().all()):
        raise ValueError("a query or key is infinite or NaN")
    return rows.double().unflatten(-1, (heads, -1, 2)).transpose(0, 1)


def _scaled(z: Tensor, scale: Callable[[Tensor, float], Tensor], eps: float) -> Tensor:
    """(heads, T, P, 2) -> (heads, T, d), normalized; a zero vector stays 0."""
    r = torch.hypot(z[..., 0], z[..., 1])
    s = scale(r, eps)
    return (z / torch.where(s > 0, s, 1.0).unsqueeze(-1)).flatten(-2)


def _score(q: Tensor, k: Tensor, found: Attention) -> None:
    scores = q @ k.transpose(-1, -2)  # (heads, T, T')
    found.score_min = min(found.score_min, float(scores.min()))
    found.score_max = max(found.score_max, float(scores.max()))
    entropy = torch.special.entr((scores / math.sqrt(q.shape[-1])).softmax(-1)).sum(-1)
    found.entropy_min = min(found.entropy_min, float(entropy.min()))
    found.entropy_sum += float(entropy.sum())
    found.rows += entropy.numel()
