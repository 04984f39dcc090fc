"""Inputs of the numeric checks: all trials in one batched tensor, the same numbers on every device.

`batch` draws rows of every scenario in fp64, on the CPU, and rounds them to the dtype under test; the rounded values
*are* the inputs, so that what fp64 computes from them is exact to fp64. Rows of all scenarios are stacked: one call of
a layer serves them all. Each draw has a generator of its own, seeded by a hash of what is being drawn: results depend
neither on the order of the checks nor on how many run at once.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.measure import Settings
from numerics.rounding import FORMATS, Format, check_domain
from numerics.scenarios import SCENARIOS, Scenario, generator, integers, normal, random_gamma, shuffled, uniform

# P phasors with the eps they are tried at: a usual one, none, and one large enough to be seen in every dtype
WIDTHS = ((1, 1e-6), (2, 0.0), (7, 0.125), (64, 0.0), (192, 1e-6))
DEEP_WIDTHS = (*WIDTHS, (1, 0.125), (33, 0.0), (64, 0.125), (1024, 1e-6))
CHUNK = 512  # trials of a scenario drawn at once


@dataclass(frozen=True)
class Batch:
    """T rows of P phasors in one format: inputs, upstream gradients and weights.

    h and g = dL/do are (T, 2P) and gamma is (P,), or (2P,) where each channel has a weight, all in the format's dtype.
    `quiet` (T, P) marks a random half of the phasors, none at P = 1: with g = 0 there, their whole input gradient is
    the interference term. `origin` (T,) is the scenario of each row, an index into `scenarios`.
    """

    fmt: Format
    eps: float
    h: Tensor
    g: Tensor
    gamma: Tensor
    quiet: Tensor
    origin: Tensor
    scenarios: tuple[str, ...]

    @property
    def phasors(self) -> int:
        """P."""
        return self.h.shape[-1] // 2

    @property
    def z(self) -> Tensor:
        """The phasors in fp64: (T, P, 2)."""
        return self.h.double().unflatten(-1, (-1, 2))

    @property
    def quiet_g(self) -> Tensor:
        """g with the quiet phasors' components set to 0: (T, 2P)."""
        return self.g.masked_fill(self.quiet.repeat_interleave(2, dim=-1), 0)


def phasor_view(x: Tensor) -> Tensor:
    """(..., 2P) -> (..., P, 2) in fp64."""
    return x.double().unflatten(-1, (-1, 2))


def batch(
    slug: str,
    fmt: Format,
    phasors: int,
    eps: float,
    trials: int,
    settings: Settings,
    chunk: int = 0,
    channel_weights: bool = False,
    scenarios: dict[str, Scenario] = SCENARIOS,
) -> Batch:
    """`trials` rows of every scenario, as the settings' seed, the slug, the scenario, P and the format determine them.

    Components are clipped to the format's largest number. Upstream gradients are normal, at a scale of 1, 2^4 or 2^8 a
    row. Raises ValueError where the rounded inputs leave the domain of the error bounds.
    """
    key = (settings.seed, slug, phasors, fmt.name, chunk)
    largest = fmt.largest
    drawn = [draw(generator(*key, name), trials, phasors, largest) for name, draw in scenarios.items()]
    z = torch.cat(drawn).clamp(-largest, largest).to(fmt.dtype)
    check_domain(torch.linalg.vector_norm(z.double(), dim=-1), fmt)
    rng = generator(*key, "upstream")
    total = len(z)
    g = normal(rng, total, 2 * phasors) * 2.0 ** (4 * integers(rng, 3, total, 1))
    quiet = shuffled(rng, total, phasors) < phasors // 2
    gamma = random_gamma(rng, 2 * phasors if channel_weights else phasors)
    origin = torch.arange(len(scenarios)).repeat_interleave(trials)
    device = torch.device(settings.device)
    return Batch(
        fmt=fmt,
        eps=eps,
        h=z.flatten(-2).to(device),
        g=g.to(fmt.dtype).to(device),
        gamma=gamma.to(fmt.dtype).to(device),
        quiet=quiet.to(device),
        origin=origin.to(device),
        scenarios=tuple(scenarios),
    )


def rows_batch(name: str, h: Tensor, fmt: Format, eps: float) -> Batch:
    """Given rows (T, N), rounded to `fmt`, as a batch of one scenario; no upstream gradient, gamma = 1."""
    h = h.to(fmt.dtype)
    phasors = h.shape[-1] // 2
    check_domain(torch.linalg.vector_norm(phasor_view(h), dim=-1), fmt)
    return Batch(
        fmt=fmt,
        eps=eps,
        h=h,
        g=torch.zeros_like(h),
        gamma=torch.ones(phasors, dtype=fmt.dtype, device=h.device),
        quiet=torch.ones(len(h), phasors, dtype=torch.bool, device=h.device),
        origin=torch.zeros(len(h), dtype=torch.long, device=h.device),
        scenarios=(name,),
    )


def batches(
    slug: str,
    fmt: Format,
    settings: Settings,
    widest: float = math.inf,
    channel_weights: bool = False,
    eps_zero: bool = False,
) -> Iterator[Batch]:
    """One batch for every (P, eps) and every chunk of the settings' trials.

    `widest` leaves out larger P, `eps_zero` replaces every eps by 0. Settings with a `source` take the rows from there.
    """
    if settings.source is not None:
        yield from settings.source.batches(slug, fmt, settings, widest, channel_weights, eps_zero)
        return
    for phasors, eps in DEEP_WIDTHS if settings.full else WIDTHS:
        if phasors > widest:
            continue
        eps = 0.0 if eps_zero else eps
        for chunk, start in enumerate(range(0, settings.trials, CHUNK)):
            trials = min(CHUNK, settings.trials - start)
            yield batch(slug, fmt, phasors, eps, trials, settings, chunk, channel_weights)


def choose(b: Batch, count: int, seed: int) -> Tensor:
    """Up to `count` different phasors of each row, the one of largest magnitude first, then random ones: (T, K)."""
    order = uniform(generator(seed, "choose", b.phasors, b.fmt.name), len(b.h), b.phasors).to(b.h.device)
    largest = torch.linalg.vector_norm(b.z, dim=-1).argmax(dim=-1, keepdim=True)
    return order.scatter(-1, largest, -1.0).argsort(dim=-1)[:, :count]


def formats(settings: Settings) -> tuple[Format, ...]:
    """The formats the settings ask for; ValueError for a name that is none."""
    unknown = [name for name in settings.dtypes if name not in FORMATS]
    if unknown:
        raise ValueError(f"dtype is {unknown[0]!r}; accepted: {', '.join(FORMATS)}")
    return tuple(FORMATS[name] for name in settings.dtypes)
