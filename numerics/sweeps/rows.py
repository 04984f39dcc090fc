"""The rows of a cell: magnitudes, weights and memory layout as its name says.

A row is drawn in fp64 with ordinary channels of size 1, is given its outlier and its content, is scaled, clipped to
the largest number of the dtype and rounded to it. An outlier factor f is never cut short: where f times an ordinary
channel would leave the dtype (or the domain of the error bounds), the whole row is made smaller.

Rows outside the domain of the error bounds (`rounding.check_domain`), and rows that round to zero, which have no output
at eps = 0, are left out and counted in `outside`: nothing is claimed about them, and they are never passed over in
silence. Results beyond the range of the dtype are left in: `rounding.settle_overflow` judges them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from numerics.inputs import Batch
from numerics.measure import Settings
from numerics.query_keys import RELATIONS
from numerics.rounding import FP64, Format, check_domain
from numerics.scenarios import generator, integers, normal, random_gamma, shuffled, uniform
from numerics.sweeps.matrix import Cell

TOKEN_EVERY = 8  # one row in so many is an outlier token
ROOM = 8  # largest normal draw that is not to be clipped; Student's tails are clipped at `TAIL`
TAIL = 1e4
RESCALED = 2.0**13  # room, at either end of the domain, for claims about c h
FEW = 4  # massive channels, one at P = 1


class CellRows:
    """The rows of one block of one cell, as a `source` of `numerics.measure.Settings`.

    `outside` is the number of rows left out by the last draw.
    """

    def __init__(self, cell: Cell, block: int) -> None:
        self.cell, self.block, self.outside = cell, block, 0

    def batches(
        self, slug: str, fmt: Format, settings: Settings, widest: float, channel_weights: bool, eps_zero: bool
    ) -> Iterator[Batch]:
        """One batch, or none: where P is above `widest`, or where every row is outside."""
        cell = self.cell
        if cell.phasors > widest:
            return
        key = (settings.seed, slug, cell.name, fmt.name, self.block)
        z = self._inside(self._drawn(key, fmt, settings.trials), fmt)
        if not len(z):
            return
        rng = generator(*key, "upstream")
        g = normal(rng, len(z), 2 * cell.phasors) * 2.0 ** (4 * integers(rng, 3, len(z), 1))
        quiet = shuffled(rng, len(z), cell.phasors) < cell.phasors // 2
        gamma = _gamma(rng, cell.gamma, 2 * cell.phasors if channel_weights else cell.phasors)
        device = torch.device(settings.device)
        upstream = g.to(fmt.dtype).to(device)
        yield Batch(
            fmt=fmt,
            eps=0.0 if eps_zero else cell.eps,
            h=laid_out(z.flatten(-2).to(device), cell.layout),
            g=upstream[:1].expand_as(upstream) if cell.layout == "expanded" else laid_out(upstream, cell.layout),
            gamma=laid_out(gamma.to(fmt.dtype).to(device)[None], cell.layout)[0],
            quiet=quiet.to(device),
            origin=torch.zeros(len(z), dtype=torch.long, device=device),
            scenarios=(cell.name,),
        )

    def pairs(self, slug: str, fmt: Format, settings: Settings) -> tuple[Tensor, Tensor]:
        """Queries and keys, (T, d) each; row t has the relation t modulo their number (`query_keys.RELATIONS`)."""
        key = (settings.seed, slug, self.cell.name, fmt.name, self.block)
        q, k = (self._drawn((*key, side), fmt, settings.trials).double() for side in ("query", "key"))
        for place, relation in enumerate(RELATIONS.values()):
            rows = slice(place, None, len(RELATIONS))
            k[rows] = relation(q[rows], k[rows])
        both = self._inside(torch.cat((q, k), dim=-1).to(fmt.dtype), fmt)  # (T, P, 4)
        found = (half.flatten(-2).to(settings.device) for half in both.split(2, dim=-1))
        q, k = (laid_out(x, self.cell.layout) for x in found)
        return q, k

    def _drawn(self, key: tuple, fmt: Format, trials: int) -> Tensor:
        """(T, P, 2) in the format."""
        rng = generator(*key)
        z, factor = _outliers(rng, self.cell, trials)
        z = _content(rng, z, self.cell.content) * _scale(self.cell.content, factor, fmt)
        return z.clamp(-fmt.largest, fmt.largest).to(fmt.dtype)

    def _inside(self, z: Tensor, fmt: Format) -> Tensor:
        """The rows (T, P, 2) or (T, P, 4) that the error bounds hold for; the others are counted."""
        wide = z.double().unflatten(-1, (-1, 2))  # (T, P, 1 or 2, 2)
        kept = (wide != 0).any(-1).any(1).all(-1)  # no vector is zero
        size = wide.abs().amax(-1)  # magnitudes by way of the larger channel: squares would underflow
        r = size * torch.linalg.vector_norm(wide / size.masked_fill(size == 0, 1)[..., None], dim=-1)
        if not _accepted(r, fmt):
            kept &= torch.tensor([_accepted(row, fmt) for row in r])
        self.outside = int((~kept).sum())
        return z[kept]


def _accepted(r: Tensor, fmt: Format) -> bool:
    try:
        check_domain(r, fmt)
    except ValueError:
        return False
    return True


def _outliers(rng: Generator, cell: Cell, trials: int) -> tuple[Tensor, float]:
    """Rows (T, P, 2) with ordinary channels of size 1, and how many times larger the outliers are."""
    phasors, (kind, _, size) = cell.phasors, cell.outlier.partition(":")
    if kind == "tail":
        degrees = int(size.removeprefix("t"))
        squares = normal(rng, trials, phasors, 2, degrees).square().mean(dim=-1)
        return (normal(rng, trials, phasors, 2) / squares.sqrt()).clamp(-TAIL, TAIL), TAIL / ROOM
    z = normal(rng, trials, phasors, 2)
    if kind == "none":
        return z, 1.0
    factor, rows = float(size), torch.arange(trials)
    flat = z.view(trials, -1)
    if kind == "channel":
        flat[rows, integers(rng, 2 * phasors, trials)] *= factor
    elif kind == "phasor":
        z[rows, integers(rng, phasors, trials)] *= factor
    elif kind == "token":
        z[::TOKEN_EVERY] *= factor
    else:  # massive: the same places in all rows of all shards
        fixed = generator("massive", phasors)
        place = shuffled(fixed, 1, 2 * phasors)[0][: 1 if phasors == 1 else FEW]
        sign = 2.0 * integers(fixed, 2, len(place)) - 1
        median = flat.abs().median(dim=-1, keepdim=True).values
        flat[:, place] = sign * factor * median * (0.9 + 0.2 * uniform(rng, trials, len(place)))
    return z, factor


def _content(rng: Generator, z: Tensor, content: str) -> Tensor:
    if content == "zeros":
        largest = torch.linalg.vector_norm(z, dim=-1).argmax(dim=-1, keepdim=True)
        order = shuffled(rng, len(z), z.shape[1]).scatter(-1, largest, z.shape[1])
        rank = order.argsort(dim=-1).argsort(dim=-1)  # the largest comes last
        return z.masked_fill((rank < z.shape[1] // 2)[..., None], 0)
    if content == "axis":
        smaller = z.abs().argmin(dim=-1, keepdim=True)
        return z.scatter(-1, smaller, 0.0)
    return z


def _scale(content: str, factor: float, fmt: Format) -> float:
    """What a row with ordinary channels of size 1 and outliers of size `factor` is multiplied by."""
    low, high = _ends(fmt)
    top = min(fmt.largest, high / RESCALED) / (ROOM * factor)
    if content == "subnormal":
        return fmt.smallest_normal / 4
    if content == "tiny":
        return min(top, max(RESCALED * 2.0**12 * low, 2.0**4 * fmt.smallest_subnormal))
    return top if content == "huge" else min(1.0, top)


def _ends(fmt: Format) -> tuple[float, float]:
    """The smallest and the largest magnitude to be drawn: where the domain of the error bounds ends.

    fp64 is also the format of the exact values: there, products of a few results have to stay within its range.
    """
    if fmt == FP64:
        return 2.0**-200, 2.0**200
    acc = fmt.accumulation
    return (2 * acc.smallest_normal) ** 0.5, acc.largest**0.5 / 2


def _gamma(rng: Generator, name: str, count: int) -> Tensor:
    if name == "ones":
        return torch.ones(count, dtype=torch.float64)
    gamma = random_gamma(rng, count)
    if name == "wide":
        gamma = gamma.sign() * 2.0 ** (16 * uniform(rng, count) - 8)
    return gamma


def laid_out(x: Tensor, layout: str) -> Tensor:
    """The same numbers (T, N) with other strides; whatever lies between them in memory is NaN."""
    trials, width = x.shape
    if layout == "transposed":
        return x.t().contiguous().t()
    if layout == "strided":
        storage = x.new_full((trials, 2 * width), math.nan)[:, ::2]
    elif layout == "offset":
        storage = x.new_full((trials, width + 3), math.nan)[:, 1 : width + 1]
    else:
        return x.contiguous()
    return storage.copy_(x)
