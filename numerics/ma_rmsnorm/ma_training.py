"""ma-training measured: what a factor s does to training, step by step.

Claim: with every s training converges exactly as with RMSNorm. Source: MA-RMSNorm article, sections 2.3 and 3.5.

What holds where the norm feeds a linear map A: the run with (s, alpha, A_0) and learning rate eta takes the steps of
the run with (1, alpha / s, s A_0) in which A's rate is s^2 eta under SGD, and s eta with eps / s under Adam; gamma and
W keep theirs. For s a power of two that is exact in floating point as well, every number on one side being the one on
the other times a power of two: bound 0, all losses of all steps are equal bit for bit.

The claim gets the same treatment: the losses with s and those of RMSNorm, from the same start, are equal or they are
not.

The task: normal rows at scales from 1/4 to 4, a target that is linear in the direction plus a part in log R, mean
squared error. Everything is computed in the format's accumulation format.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from numerics.inputs import formats
from numerics.magnitude_rounding import measured, over
from numerics.measure import Measurement, Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import ma_rms_norm
from numerics.rounding import Format
from numerics.scenarios import generator, normal, uniform

SLUG = "ma-training"
ROWS, CHANNELS, OUTPUTS, STEPS = 64, 8, 3, 20
RATE, GUARD = 2.0**-7, 2.0**-20  # learning rate, Adam's eps


@dataclass(frozen=True)
class Run:
    """The constants of a run: s, alpha, the factor on A_0, and what multiplies A's rate and Adam's eps for A."""

    s: float
    alpha: float
    start: float = 1.0
    rate: float = 1.0
    guard: float = 1.0
    others: float = 1.0  # what multiplies the rate of gamma and W


def corrected(s: float, adam: bool) -> Run:
    """The run with s = 1 that takes the same steps as the one with s."""
    return Run(1.0, ALPHA / s, start=s, rate=s if adam else s * s, guard=1 / s)


def printed(baseline: Tensor, own: Tensor) -> Tensor:
    """What the losses with s are claimed to be, from those of RMSNorm and its own: (steps,) -> (steps,)."""
    return baseline


def losses(settings: Settings, fmt: Format, run: Run, adam: bool, steps: int = STEPS, repeat: int = 0) -> Tensor:
    """The losses of all steps, before each: (steps,), in the accumulation format; `repeat` numbers the task."""
    return _losses(settings.seed, settings.device, fmt.accumulation, run, adam, steps, repeat)


@cache
def _losses(seed: int, device: str, fmt: Format, run: Run, adam: bool, steps: int, repeat: int) -> Tensor:
    rng = generator(seed, SLUG, fmt.name, repeat)
    x = normal(rng, ROWS, CHANNELS) * 2.0 ** (4 * uniform(rng, ROWS, 1) - 2)
    level = x.square().mean(-1, keepdim=True).sqrt().log()
    target = normal(rng, ROWS, OUTPUTS) / 8 + x @ normal(rng, CHANNELS, OUTPUTS) / level.exp() / 4 + level / 2
    gamma = torch.ones(CHANNELS, dtype=torch.float64)
    magnitude, weight = normal(rng, CHANNELS), normal(rng, OUTPUTS, CHANNELS) / 8
    place = {"dtype": fmt.dtype, "device": device}
    x, target, gamma, magnitude, weight = (value.to(**place) for value in (x, target, gamma, magnitude, weight))
    parameters = [run.start * weight, gamma, magnitude]
    rates = [run.rate * RATE, run.others * RATE, run.others * RATE]
    guards = [run.guard * GUARD, GUARD, GUARD]
    moments = [(torch.zeros_like(p), torch.zeros_like(p)) for p in parameters]
    found = []
    for step in range(1, steps + 1):
        weight, gamma, magnitude = (p.requires_grad_() for p in parameters)
        y = ma_rms_norm(x, gamma, magnitude, run.s, run.alpha, 0.0)
        f = (y.unsqueeze(1) * weight).sum(-1)  # no matrix product: its order of summation may depend on the memory
        loss = (f - target).square().mean()
        slopes = torch.autograd.grad(loss, (weight, gamma, magnitude))
        found.append(loss.detach())
        with torch.no_grad():
            for k, slope in enumerate(slopes):
                change = _adam(moments[k], slope, step, guards[k]) if adam else slope
                parameters[k] = parameters[k] - rates[k] * change
    return torch.stack(found)


def _adam(moments: tuple[Tensor, Tensor], slope: Tensor, step: int, guard: float) -> Tensor:
    """Adam's direction with decay 0.9 and 0.999; the moments are updated in place."""
    mean, square = moments
    mean.lerp_(slope, 0.1)
    square.lerp_(slope * slope, 0.001)
    return (mean / (1 - 0.9**step)) / ((square / (1 - 0.999**step)).sqrt() + guard)


def measure(settings: Settings) -> Iterator[Measurement]:
    """The claim for s = 2, and the equivalent runs for s = 2 and 8; SGD and Adam, in every format."""
    for fmt in formats(settings):
        for adam in (False, True):
            name = "Adam" if adam else "SGD"
            scope = f"{name}, {STEPS} steps, N = {CHANNELS}"
            baseline = losses(settings, fmt, Run(1.0, 0.0), adam).double()
            own = {s: losses(settings, fmt, Run(s, ALPHA), adam).double() for s in (2.0, 8.0)}
            ends = ", ".join(f"{float(run[-1]):.3g} for s = {s:g}" for s, run in own.items())
            detail = f"losses from {float(baseline[0]):.3g} to {float(baseline[-1]):.3g} for RMSNorm, to {ends}"
            ratios = _bitwise(own[2.0], printed(baseline, own[2.0]))
            yield measured(settings, fmt, "as printed", f"{scope}, s = 2", ratios, kind="experiment", detail=detail)
            ratios = [_bitwise(run, losses(settings, fmt, corrected(s, adam), adam).double()) for s, run in own.items()]
            statement = "Adam" if adam else "corrected"
            yield measured(settings, fmt, statement, f"{scope}, s = 2 and 8", torch.cat(ratios), kind="experiment")


def _bitwise(left: Tensor, right: Tensor) -> Tensor:
    """0 where two losses are the same number, infinite where they are not, NaN where one is NaN."""
    return over((left - right).abs(), torch.zeros_like(left))


MUTANTS = {
    "half of RMSNorm's": lambda baseline, own: baseline / 2,
    "constant": lambda baseline, own: baseline[0].expand_as(baseline),
    "NaN": lambda baseline, own: baseline * math.nan,
}
# with this in its place nothing is violated: the check does not say no to everything
REPAIRS = {"its own": lambda baseline, own: own}
CORRECTED_MUTANTS = {
    "rate s": lambda s, adam: Run(1.0, ALPHA / s, s, s, 1 / s),
    "the same rate": lambda s, adam: Run(1.0, ALPHA / s, s, 1.0, 1 / s),
    "gamma's rate changed as well": lambda s, adam: Run(1.0, ALPHA / s, s, s * s, 1 / s, s * s),
    "alpha not divided": lambda s, adam: Run(1.0, ALPHA, s, s * s, 1 / s),
    "A_0 not scaled": lambda s, adam: Run(1.0, ALPHA / s, 1.0, s * s, 1 / s),
    "NaN": lambda s, adam: Run(1.0, ALPHA / s, s, math.nan, 1 / s),
}
