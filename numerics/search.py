"""Adversarial search: gradient ascent with restarts over the phasors of one or more vectors.

A bound that independent random vectors never approach is not tested by sampling. The search climbs log(value) instead,
where `value` maps phasors (R, V, P, 2) to one positive number a restart, for instance |score| / bound with V = 2 for a
query and a key. It moves the logarithm of each magnitude and each angle, with the largest magnitude of every vector
pinned to 1, so it is blind to the common scale and can start at an outlier or grow one of any size.

All restarts are one tensor. Starts are drawn by a CPU generator, so that a seed means the same starts on every device.
What is found is made simple (`minimised`); a deep check goes on from there without slopes (`sharpened`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

Value = Callable[[Tensor], Tensor]  # (R, V, P, 2) -> (R,), positive


@dataclass(frozen=True)
class Found:
    """The largest value found, the input that attains it, and the largest value by kind of start.

    `phasors` is (V, P, 2) in float64. A NaN anywhere on a path makes `value` NaN: it is never stepped over.
    """

    value: float
    phasors: Tensor
    by_start: dict[str, float]
    restarts: int
    steps: int

    def rounded(self, dtype: torch.dtype) -> Tensor:
        """The input rounded to `dtype`, vectors as rows of adjacent channel pairs: (V, 2P)."""
        return self.phasors.flatten(-2).to(dtype)


def gaussian(restarts: int, vectors: int, phasors: int, generator: torch.Generator) -> Tensor:
    """Independent standard normal channels."""
    return torch.randn(restarts, vectors, phasors, 2, generator=generator, dtype=torch.float64)


def outlier(restarts: int, vectors: int, phasors: int, generator: torch.Generator) -> Tensor:
    """Normal channels with one phasor of each vector, at its own random place, 10 to 10^6 times larger."""
    z = gaussian(restarts, vectors, phasors, generator)
    place = torch.randint(phasors, (restarts, vectors, 1, 1), generator=generator).expand(-1, -1, -1, 2)
    exponent = 1 + 5 * torch.rand(restarts, vectors, 1, 1, generator=generator, dtype=torch.float64)
    return z.scatter(2, place, z.gather(2, place) * 10**exponent)


def equal(restarts: int, vectors: int, phasors: int, generator: torch.Generator) -> Tensor:
    """The same normal vector V times, so q = k."""
    return gaussian(restarts, 1, phasors, generator).expand(-1, vectors, -1, -1)


def mixed(restarts: int, vectors: int, phasors: int, generator: torch.Generator) -> Tensor:
    """Half a common vector, half independent ones, times magnitudes whose logarithm is normal (heavy tails)."""
    common = equal(restarts, vectors, phasors, generator) + gaussian(restarts, vectors, phasors, generator)
    tails = torch.randn(restarts, vectors, phasors, 1, generator=generator, dtype=torch.float64)
    return common * torch.exp(2 * tails)


STARTS: dict[str, Callable[[int, int, int, torch.Generator], Tensor]] = {
    "gaussian": gaussian,
    "outlier": outlier,
    "q = k": equal,
    "mixed": mixed,
}


def ascend(
    value: Value,
    *,
    vectors: int,
    phasors: int,
    seed: int,
    starts: tuple[str, ...] = tuple(STARTS),
    restarts: int = 8,
    steps: int = 120,
    rate: float = 0.3,
    device: str = "cpu",
) -> Found:
    """Climbs `value` from `restarts` points of every kind of start by Adam whose step falls linearly to zero.

    `seed` fixes the starts. Raises KeyError for an unknown kind of start, ValueError if there is nothing to try.
    """
    if not starts or restarts < 1:
        raise ValueError(f"the search needs a start: starts = {starts}, restarts = {restarts}")
    generator = torch.Generator().manual_seed(seed)
    z = torch.cat([STARTS[name](restarts, vectors, phasors, generator) for name in starts]).to(device)
    log_r = torch.linalg.vector_norm(z, dim=-1).log().requires_grad_()  # (R, V, P)
    angle = torch.atan2(z[..., 1], z[..., 0]).requires_grad_()  # (R, V, P)
    moments = [(torch.zeros_like(z[..., 0]), torch.zeros_like(z[..., 0])) for _ in (log_r, angle)]
    best = torch.full((len(z),), -math.inf, dtype=torch.float64, device=device)
    where = z
    for step in range(steps + 1):
        points = _points(log_r, angle)
        reached = value(points)
        improved = torch.isnan(reached.detach()) | (reached.detach() > best)
        best = torch.where(improved, reached.detach(), best)
        where = torch.where(improved[:, None, None, None], points.detach(), where)
        if step < steps:
            slopes = torch.autograd.grad(reached.log().sum(), (log_r, angle))
            for parameter, slope, (mean, square) in zip((log_r, angle), slopes, moments, strict=True):
                _adam(parameter, slope, mean, square, rate * (1 - step / steps), step + 1)
    winner = int(best.argmax())  # argmax takes a NaN for the largest
    return Found(
        value=float(best[winner]),
        phasors=where[winner],
        by_start={name: float(part.amax()) for name, part in zip(starts, best.split(restarts), strict=True)},
        restarts=len(z),
        steps=steps,
    )


def polished(found: Found, value: Value, evaluations: int = 400) -> Found:
    """A point near what was found with a value at least as large, by the method of Nelder and Mead.

    It moves the logarithms of the magnitudes and the angles of the non-zero phasors, takes no slopes, and so goes on
    where these are rounding errors or a maximum is a corner. It is for inputs of few phasors: `minimised` first. What
    attains a NaN is returned as it was found.
    """
    from scipy.optimize import minimize  # takes long to import, and only deep searches need it

    if math.isnan(found.value):
        return found
    r = torch.linalg.vector_norm(found.phasors, dim=-1)  # (V, P)
    kept, angle = r > 0, torch.atan2(found.phasors[..., 1], found.phasors[..., 0])
    start = torch.cat((r[kept].log(), angle[kept])).tolist()

    def point(moved: object) -> Tensor:
        log_r, turned = torch.as_tensor(moved, dtype=torch.float64, device=r.device).chunk(2)
        z = torch.zeros_like(found.phasors)
        z[kept] = log_r.exp()[:, None] * torch.stack((turned.cos(), turned.sin()), dim=-1)
        return z / torch.linalg.vector_norm(z, dim=-1).amax(-1)[:, None, None]  # the largest magnitude is 1 again

    best = found

    def cost(moved: object) -> float:
        nonlocal best
        z = point(moved)
        with torch.no_grad():
            reached = float(value(z[None])[0])
        if not reached <= best.value and not math.isnan(best.value):
            best = Found(reached, z, found.by_start, found.restarts, found.steps)
        return -reached if reached == reached else -math.inf

    minimize(cost, start, method="Nelder-Mead", options={"maxfev": evaluations})
    return best


def sharpened(found: Found, value: Value) -> Found:
    """`minimised`, `polished` and `minimised` again: the input of few phasors, nearer to the supremum."""
    return minimised(polished(minimised(found, value), value), value)


def minimised(found: Found, value: Value, keep: float = 0.999) -> Found:
    """A simpler input with at least `keep` of the value: fewest non-zero phasors, then fewest binary digits.

    The phasors are ranked by their largest magnitude over the vectors. Few binary digits are few decimals too, and the
    same number in every format. What attains a NaN is returned as it was found.
    """
    floor = keep * found.value
    if not floor > 0:
        return found
    rank = torch.linalg.vector_norm(found.phasors, dim=-1).amax(0).argsort(descending=True).argsort()  # (P,)
    kept = torch.arange(1, len(rank) + 1, device=rank.device)  # candidates: the first 1, 2, ... P phasors
    candidates = torch.where((rank < kept[:, None])[:, None, :, None], found.phasors, 0.0)  # (P, V, P, 2)
    enough = value(candidates) >= floor
    phasors = candidates[int(enough.int().argmax())] if bool(enough.any()) else found.phasors
    for digits in range(1, 53):
        short = torch.round(phasors * 2**digits) / 2**digits
        if float(value(short[None])[0]) >= floor:
            phasors = short
            break
    return Found(float(value(phasors[None])[0]), phasors, found.by_start, found.restarts, found.steps)


@torch.no_grad()
def _adam(parameter: Tensor, slope: Tensor, mean: Tensor, square: Tensor, rate: float, step: int) -> None:
    """One ascent step of Adam (decay 0.9 and 0.999), in place; `torch.optim` would cost seconds to import."""
    mean.lerp_(slope, 0.1)
    square.lerp_(slope * slope, 0.001)
    parameter += rate * (mean / (1 - 0.9**step)) / ((square / (1 - 0.999**step)).sqrt() + 1e-12)


def _points(log_r: Tensor, angle: Tensor) -> Tensor:
    """Phasors (R, V, P, 2) from log-magnitudes and angles; the largest magnitude of each vector is 1."""
    r = torch.exp(log_r - log_r.detach().amax(-1, keepdim=True))
    return r[..., None] * torch.stack((angle.cos(), angle.sin()), dim=-1)
