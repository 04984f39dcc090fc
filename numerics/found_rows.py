"""Measuring an inequality where a search has found the worst input: a row of phasors with its upstream gradient.

A claim says what is climbed, in fp64 and by closed formulas: where it can, a quantity over its bound, so that 1 is the
supremum by the theorem and the value found is the tightness. The layers and the bounds under test are no part of it: a
wrong one changes nothing about the input that is found, only what is measured there. That is why an input is searched
only once in a process.

No phasor but 0 is taken to be smaller than `SMALLEST`, so that no format loses one that matters. What is found
loses phasors one by one, whichever costs least, as long as `KEEP` of the value is left; g is scaled to magnitudes of at
most 1, and everything is rounded to few binary digits (`search.minimised`). It is then rounded to each format and goes
through the tally of the random rows, with the same allowance for rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import torch
from torch import Tensor

from numerics.inputs import Batch, rows_batch
from numerics.judge import Tally
from numerics.logit_bounds import SHOWN, phasor_data
from numerics.measure import Measurement, Settings
from numerics.rounding import Format
from numerics.scenarios import generator
from numerics.search import Found, Value, ascend, minimised, sharpened

SEARCHED = ((8, 0.125), (64, 0.0))  # P, each with the eps it is searched at: one seen in every format, and none
KEEP = 0.999
SMALLEST = 2.0**-12  # of the largest phasor: four times the smallest normal number of fp16

Quantity = Callable[[Tensor, float], Tensor]  # points (R, V, P, 2), eps -> (R,)


def places(settings: Settings, searched_at: tuple[tuple[int, float], ...] = SEARCHED) -> tuple[tuple[int, float], ...]:
    """The (P, eps) to search at, and none where the rows come from a source, which draws its own."""
    return searched_at if settings.source is None else ()


def weights(phasors: int) -> Tensor:
    """gamma for a search: 1, -2, 1/2, -1, 2, -1/2 in turn, exact in every format. (P,)."""
    return torch.tensor([1, -2, 0.5, -1, 2, -0.5], dtype=torch.float64).repeat(-(-phasors // 6))[:phasors]


def largest(
    slug: str,
    quantity: Quantity,
    phasors: int,
    eps: float,
    settings: Settings,
    *,
    vectors: int = 2,
    far: float = 1e6,
) -> Found:
    """A simple input with the largest quantity(points, eps) that the search finds, which stops to count at `far`.

    Points are `vectors` vectors: z, and g, whose scale must not matter, where there are two or more. `quantity` is a
    function of a module: its name goes into the seed.
    """
    seed = generator(settings.seed, slug, "search", quantity.__name__, phasors).initial_seed()
    return _largest(quantity, phasors, eps, seed, vectors, far, settings.full, settings.device)


@cache
def _largest(
    quantity: Quantity, phasors: int, eps: float, seed: int, vectors: int, far: float, full: bool, device: str
) -> Found:
    def value(points: Tensor) -> Tensor:
        return quantity(floored(points), eps).clamp_max(far)

    restarts, steps = (8, 200) if full else (2, 150)
    found = ascend(value, vectors=vectors, phasors=phasors, seed=seed, restarts=restarts, steps=steps, device=device)
    found = thinned(replace(found, phasors=floored(found.phasors)), value)
    if vectors > 1:
        found.phasors[1] /= torch.linalg.vector_norm(found.phasors[1], dim=-1).amax()
    deep = full and vectors < 3  # what a third vector says of sizes is lost when every vector is scaled to size 1
    found = (sharpened if deep else minimised)(found, value)
    return replace(found, phasors=floored(found.phasors))


def floored(points: Tensor) -> Tensor:
    """Phasors smaller than `SMALLEST`, but not 0, scaled to be that large, with the slopes of scaling: same shape."""
    r = torch.linalg.vector_norm(points.detach(), dim=-1, keepdim=True)
    return points * torch.where((r > 0) & (r < SMALLEST), SMALLEST / r, 1.0)


@torch.no_grad()
def thinned(found: Found, value: Value, keep: float = KEEP) -> Found:
    """The input without the phasors it can do without: the cheapest is dropped while `keep` of the value is left.

    What attains a NaN is returned as it was found.
    """
    z, floor = found.phasors, keep * found.value
    while floor > 0:
        used = (z != 0).any(-1).any(0).nonzero().flatten()  # indices of the phasors left
        if len(used) == 1:
            break
        candidates = z.repeat(len(used), 1, 1, 1)
        candidates[torch.arange(len(used), device=z.device), :, used] = 0
        reached = value(candidates).nan_to_num(nan=0.0)  # too little left to have a value
        if not float(reached.amax()) >= floor:
            break
        z = candidates[int(reached.argmax())]
    return replace(found, value=float(value(z[None])[0]), phasors=z)


def found_batch(found: Found, fmt: Format, eps: float, gamma: Tensor | None = None) -> Batch:
    """What was found as one row of a batch, rounded to the format; gamma (P,) is 1 unless it is given."""
    rows = found.rounded(fmt.dtype)
    b = rows_batch("found", rows[:1], fmt, eps)
    if len(rows) > 1:
        b = replace(b, g=rows[1:2])
    return b if gamma is None else replace(b, gamma=gamma.to(b.gamma))


def searched(tally: Tally, b: Batch, found: Found, detail: str) -> Measurement:
    """A tally of one found input, as measured: how near each kind of start came, and the input."""
    starts = ", ".join(f"{name} {value:.4g}" for name, value in found.by_start.items())
    return replace(
        tally.measurement(),
        kind="adversarial",
        scope=f"P = {b.phasors}, eps = {b.eps:g}, found by gradient ascent",
        trials=found.restarts if tally.trials else 0,
        detail=f"{detail}; search in fp64: {found.value:.6g}; before it was simplified, by start: {starts}",
        witness=_input(b),
    )


def _input(b: Batch) -> dict | None:
    """The non-zero phasors of h and g by index, as exact decimals, and gamma there; None for more than `SHOWN`."""
    data = {"h": phasor_data(b.h[0]), "g": phasor_data(b.g[0])}
    if sum(map(len, data.values())) > SHOWN:
        return None
    gamma = b.gamma.double().tolist()
    used = sorted({*data["h"], *data["g"]}, key=int)
    return {"P": b.phasors, "eps": b.eps, **data, "gamma": {i: gamma[int(i)] for i in used}}
