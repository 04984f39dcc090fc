"""The row that uses up most of an error bound: a search without slopes, through the code of the check itself.

An error is a piecewise constant function of the input: there is nothing to climb. `worst_row` lets
`scipy.optimize.differential_evolution` move the logarithm of each magnitude and each angle of up to two phasors, a
whole population in one batch of the format under test. Wider rows repeat them: roundings are then the same in every
block of a sum and add up. What judges a population is what judges random rows, a function that adds errors and bounds
to a `Tally`: a bound, its slack and what is left out are written once.

A ratio above 1 ends a search: the bound is broken, and by how much does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.inputs import Batch
from numerics.judge import Tally, plain
from numerics.measure import Measurement, Settings
from numerics.rounding import Format
from numerics.scenarios import generator, random_gamma
from numerics.search import STARTS

KINDS = 2  # different phasors in a row
OCTAVES = 6.0  # magnitudes from 2^-6 to 2^6
KEEP = 0.9  # of the ratio that a simpler input must keep
LIMIT = 1e100  # stands for an infinite ratio where a sum of squares of ratios is taken
BEGIN = ("gaussian", "outlier", "mixed")
PLACES = ((2, 0.125), (64, 0.0))  # (P, eps)

Check = Callable[[Batch, Tally], None]


class Rows(Tally):
    """A tally that also keeps the worst ratio of every row, `by_row` (T,): 0 where nothing was judged."""

    by_row: Tensor | float = 0.0

    def add(
        self, batch: Batch, error: Tensor, bound: Tensor, where: Tensor | None = None, *rest: object, **more
    ) -> None:
        """`Tally.add`, and the ratios row by row."""
        super().add(batch, error, bound, where, *rest, **more)
        ratio = torch.where(error == 0, torch.zeros_like(error), error / bound.clamp_min(0))
        if where is not None:
            ratio = torch.where(where.expand_as(ratio), ratio, torch.zeros_like(ratio))
        high = ratio.reshape(len(ratio), -1).amax(-1)  # keeps a NaN
        self.by_row = torch.maximum(high, torch.as_tensor(self.by_row, dtype=high.dtype, device=high.device))


@dataclass(frozen=True)
class Place:
    """What a search holds fixed: the check, the format, P, eps, and the weights of one tile of phasors."""

    check: Check
    statement: str
    fmt: Format
    settings: Settings
    phasors: int
    eps: float
    gamma: Tensor

    def ratios(self, tiles: Tensor) -> tuple[Tensor, int]:
        """The ratio of every row and how many were judged, for tiles (T, V, K, 2) in fp64: x and, for V = 2, g."""
        tally = Rows(self.statement, self.fmt, self.settings)
        self.check(self.batch(tiles), tally)
        return torch.as_tensor(tally.by_row, dtype=torch.float64).expand(len(tiles)).cpu(), tally.trials

    def batch(self, tiles: Tensor) -> Batch:
        """The rows of P phasors; with V = 1 the vector is its own upstream gradient. Half the phasors are quiet."""
        copies = self.phasors // tiles.shape[2]
        rows = tiles.repeat(1, 1, copies, 1).flatten(-2).to(self.fmt.dtype).to(self.settings.device)
        quiet = torch.arange(self.phasors, device=rows.device) % 2 == 0
        return Batch(
            fmt=self.fmt,
            eps=self.eps,
            h=rows[:, 0],
            g=rows[:, -1],
            gamma=self.gamma.repeat(copies),
            quiet=quiet.expand(len(rows), -1),
            origin=torch.zeros(len(rows), dtype=torch.long, device=rows.device),
            scenarios=("searched",),
        )


def worst_rows(
    slug: str,
    statement: str,
    fmt: Format,
    settings: Settings,
    check: Check,
    what: str,
    places: tuple[tuple[int, float], ...] = PLACES,
    **options: object,
) -> Iterator[Measurement]:
    """`worst_row` at every (P, eps); nothing where the settings bring rows of their own: those are not searched."""
    if settings.source is None:
        for phasors, eps in places:
            yield worst_row(slug, statement, fmt, settings, check, what, phasors, eps, **options)


def worst_row(
    slug: str,
    statement: str,
    fmt: Format,
    settings: Settings,
    check: Check,
    what: str,
    phasors: int,
    eps: float,
    *,
    vectors: int = 1,
    keep: float = KEEP,
    channel_weights: bool = False,
) -> Measurement:
    """The largest ratio found over rows of P phasors, P even, and a simple row that has nearly as large a one.

    `vectors` is 2 where the check looks at upstream gradients of their own. The simple row keeps the share `keep` of
    the ratio. `what` says what the ratio is of.
    """
    reached: dict[str, float] = {}
    tried, best = 0, None
    for name in BEGIN:
        rng = generator(settings.seed, slug, statement, "worst row", fmt.name, phasors, name)
        gamma = random_gamma(rng, KINDS * (1 + channel_weights)).to(fmt.dtype).to(settings.device)
        place = Place(check, statement, fmt, settings, phasors, eps, gamma)
        start = STARTS[name](256 if settings.full else 32, vectors, KINDS, rng)
        high, tiles, judged = _evolved(place, start, 40 if settings.full else 6, rng.initial_seed() % 2**32)
        reached[name], tried = high, tried + judged
        if best is None or not (math.isnan(best[0]) or high <= best[0]):
            best = (high, tiles, place)
    high, tiles, place = best
    shown, tiles = simpler(place, high, tiles, keep)
    levels = ", ".join(f"{value:.3g} from {name}" for name, value in reached.items())
    return Measurement(
        kind="adversarial",
        statement=statement,
        scope=f"P = {phasors}, eps = {eps:g}, rows of {KINDS} different phasors, found by differential evolution",
        worst=shown if shown > high else high,
        trials=tried,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail=f"{what}: {levels}; {shown:.3g} for the row shown",
        witness=_shown(place, tiles),
    )


def _evolved(place: Place, start: Tensor, generations: int, seed: int) -> tuple[float, Tensor, int]:
    """The largest ratio of a population that begins with `start` (T, V, K, 2), its tile (1, V, K, 2), rows judged."""
    from scipy.optimize import differential_evolution  # takes long to import, and only searches need it

    shape = start.shape[1:-1]
    log_r = torch.linalg.vector_norm(start, dim=-1).log2()
    log_r = (log_r - log_r.amax((1, 2), keepdim=True) / 2).clamp(-OCTAVES, OCTAVES)
    angle = torch.atan2(start[..., 1], start[..., 0])
    first = torch.cat((log_r.flatten(1), angle.flatten(1)), dim=1)
    size = first.shape[1] // 2
    high, best, judged = -math.inf, start[:1], 0

    def cost(points: object) -> object:
        nonlocal high, best, judged
        log_r, angle = torch.as_tensor(points, dtype=torch.float64).T.split(size, dim=1)
        tiles = (log_r.exp2()[..., None] * torch.stack((angle.cos(), angle.sin()), dim=-1)).unflatten(1, shape)
        values, count = place.ratios(tiles)
        judged += count
        top = int(values.argmax())  # argmax takes a NaN for the largest
        if not (math.isnan(high) or float(values[top]) <= high):
            high, best = float(values[top]), tiles[top, None]
        return -values.nan_to_num(LIMIT).clamp(max=LIMIT).numpy()

    differential_evolution(
        cost,
        [(-OCTAVES, OCTAVES)] * size + [(-math.pi, math.pi)] * size,
        maxiter=generations,
        tol=0,
        seed=seed,
        polish=False,
        vectorized=True,
        updating="deferred",
        init=first.numpy(),
        callback=lambda _, convergence: not high <= 1,  # a violation, or a NaN, decides
    )
    return high, best, judged


def simpler(place: Place, high: float, tiles: Tensor, keep: float = KEEP) -> tuple[float, Tensor]:
    """A tile of fewest phasors, then of fewest decimals, that keeps this share of the ratio, and exceeds 1 if it did.

    A ratio that is 0, infinite or NaN is kept with its tile as it was found.
    """
    if not 0 < high < math.inf:
        return high, tiles
    floor = max(keep * high, 1.0) if high > 1 else keep * high

    def enough(candidate: Tensor) -> bool:
        ratio = float(place.ratios(candidate)[0][0])
        return ratio > floor if high > 1 else ratio >= floor

    for k in range(tiles.shape[2]):
        fewer = tiles.clone()
        fewer[:, :, k] = 0
        if bool(fewer[:, 0].any()) and enough(fewer):
            tiles = fewer
    for digits in range(1, 17):
        short = [float(f"{value:.{digits - 1}e}") for value in tiles.flatten().tolist()]
        candidate = torch.tensor(short, dtype=torch.float64).view_as(tiles)
        if enough(candidate):
            tiles = candidate
            break
    return float(place.ratios(tiles)[0][0]), tiles


def _shown(place: Place, tiles: Tensor) -> dict:
    rows = tiles.flatten(-2).to(place.fmt.dtype).double()[0]
    shown = {"P": place.phasors, "eps": place.eps, "copies": place.phasors // tiles.shape[2], "x": plain(rows[0])}
    return shown | ({"g": plain(rows[1])} if len(rows) > 1 else {}) | {"gamma": plain(place.gamma.double())}
