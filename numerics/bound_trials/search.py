"""The largest error over its bound that a search finds: differential evolution over rows of few different phasors.

An error is a piecewise constant function of the input, so there is no slope to climb. A row of one or two phasors,
repeated, has few parameters at any P, and its roundings are the same in every block of a sum: they add up instead of
averaging out, and long rows come near to their bounds too. `scipy.optimize.differential_evolution` moves the logarithm
of each magnitude and each angle, of x and of g, a whole population in one batch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from numerics.bound_trials.subjects import Case, Subject, ratios
from numerics.rounding import Format
from numerics.scenarios import generator, normal

KINDS = 2  # different phasors in a row, where it has as many
OCTAVES = 6.0  # magnitudes from 2^-6 to 2^6
KEEP = 0.9  # of the ratio that a shorter input must keep


@dataclass(frozen=True)
class Worst:
    """The largest ratio found, a case of one row that has `ratio`, nearly as large, and how many rows were tried."""

    largest: float
    ratio: float
    case: Case
    tried: int

    def described(self) -> dict[str, object]:
        """The case as plain numbers, exact decimals of its format: one tile, and how often it is repeated."""
        case = self.case
        names = ("x", "g", "gamma", "gammas", "magnitude")
        return {"eps": case.eps, "copies": case.copies} | {
            n: getattr(case, n).double().flatten().tolist() for n in names
        }


def worst_error(
    subject: Subject,
    fmt: Format,
    phasors: int,
    *,
    seed: int = 0,
    population: int = 64,
    generations: int = 8,
    stored: bool = True,
    eps: float = 0.0,
    enough: float = math.inf,
    one_by_one: bool = False,
) -> Worst:
    """The case with the largest error / bound that is found over P phasors; a NaN is the largest.

    Stops after a generation in which a ratio is `enough`. `seed` fixes the weights and the search. `one_by_one` is for
    the gradients of weights, sums over rows: there the candidate is one row, repeated as often as P says. The case is
    `shortened` in the end.
    """
    from scipy.optimize import differential_evolution  # takes long to import, and only searches need it

    kinds = min(phasors, KINDS) if phasors % KINDS == 0 or phasors <= KINDS else 1
    rng = generator(seed, "worst error", fmt.name, phasors)
    gamma, gammas, magnitude = (normal(rng, count).to(fmt.dtype) for count in (kinds, 2 * kinds, 2 * kinds))
    found: list[Worst] = []
    tried = 0

    def case(points: Tensor) -> Case:
        x, g = _rows(points[:, : 2 * kinds]), _rows(points[:, 2 * kinds :])
        return Case(fmt, eps, x.to(fmt.dtype), g.to(fmt.dtype), gamma, gammas, magnitude, phasors // kinds)

    def cost(points: object) -> object:
        nonlocal tried
        batch = case(torch.as_tensor(points, dtype=torch.float64).T)
        values = _each(subject, batch, stored) if one_by_one else ratios(subject, batch, stored)
        tried += len(values)
        top = int(values.argmax())  # argmax takes a NaN for the largest
        high = float(values[top])
        if not found or not (math.isnan(found[-1].largest) or high <= found[-1].largest):
            found.append(Worst(high, high, replace(batch, x=batch.x[top, None], g=batch.g[top, None]), 0))
        return -values.nan_to_num(math.inf, math.inf).numpy()

    bounds = [(-OCTAVES, OCTAVES), (-math.pi, math.pi)] * (2 * kinds)
    differential_evolution(
        cost,
        bounds,
        maxiter=generations,
        popsize=max(1, population // len(bounds)),
        tol=0,
        seed=seed,
        polish=False,
        vectorized=True,
        updating="deferred",
        init="latinhypercube",
        callback=lambda _, convergence: found[-1].largest >= enough,
    )
    return shortened(subject, replace(found[-1], tried=tried), stored)


def _each(subject: Subject, case: Case, stored: bool) -> Tensor:
    rows = (replace(case, x=case.x[t, None], g=case.g[t, None]) for t in range(len(case.x)))
    return torch.stack([ratios(subject, row, stored).amax() for row in rows])


def _rows(points: Tensor) -> Tensor:
    """(T, 2p) of log2 r and angle in turn -> (T, 2p) channels."""
    r, angle = torch.exp2(points[:, ::2]), points[:, 1::2]
    return torch.stack((r * angle.cos(), r * angle.sin()), dim=-1).flatten(-2)


def shortened(subject: Subject, worst: Worst, stored: bool = True) -> Worst:
    """The same with x and g of the fewest decimals that keep `KEEP` of the ratio, as far as the format has them."""
    if not worst.ratio > 0 or math.isinf(worst.ratio):
        return worst
    for digits in range(1, 17):
        x, g = (_decimals(value, digits) for value in (worst.case.x, worst.case.g))
        if not bool((x != 0).any()):
            continue
        case = replace(worst.case, x=x, g=g)
        ratio = float(ratios(subject, case, stored).max())
        if ratio >= KEEP * worst.ratio:
            return Worst(max(ratio, worst.largest), ratio, case, worst.tried)
    return worst


def _decimals(values: Tensor, digits: int) -> Tensor:
    """Every number rounded to so many significant decimals, then to its format."""
    short = [float(f"{value:.{digits - 1}e}") for value in values.double().flatten().tolist()]
    return torch.tensor(short, dtype=torch.float64, device=values.device).view_as(values).to(values.dtype)
