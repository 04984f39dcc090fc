"""Eq. 4 measured: the input gradient of RMSNorm by automatic differentiation against the printed formula.

    dL/dx_i = (gamma_i g_i - xhat_i (1/N) sum_k gamma_k g_k xhat_k) / S_RMS,   xhat_k = x_k / S_RMS

Source: MRSNorm paper, section 5.1, Eq. 4, with eps inside the square root of S_RMS and xhat before the affine weight.

Bound. `rounding.rms_gradient_error` for the layer's backward pass, the rounding to the input's format, and the same
bound in fp64 for the formula. Channels have a weight each; they are shown in pairs, as (T, P, 2).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from numerics.gradients import input_gradient
from numerics.inputs import batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import rms_norm, rms_scale
from numerics.rounding import FP64, rms_gradient_error

Scale = Callable[[Tensor, float], Tensor]
Formula = Callable[[Tensor, Tensor, Tensor, float], Tensor]


def inside(x: Tensor, eps: float) -> Tensor:
    """S_RMS with eps inside the root: (T, N) -> (T, 1)."""
    return (x.square().sum(-1, keepdim=True) / x.shape[-1] + eps).sqrt()


def outside(x: Tensor, eps: float) -> Tensor:
    """The root mean square plus eps: (T, N) -> (T, 1)."""
    return (x.square().sum(-1, keepdim=True) / x.shape[-1]).sqrt() + eps


def projection(x: Tensor, g: Tensor, gamma: Tensor, s: Tensor) -> Tensor:
    """(1/N) sum gamma_k g_k xhat_k: (T, N), (T, N), (N,), (T, 1) -> (T, 1)."""
    return (gamma * g * (x / s)).sum(-1, keepdim=True) / x.shape[-1]


def printed(x: Tensor, g: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Eq. 4: (T, N), (T, N), (N,) -> (T, N)."""
    s = inside(x, eps)
    return (gamma * g - x / s * projection(x, g, gamma, s)) / s


def measure(settings: Settings) -> Iterator[Measurement]:
    """One measurement a format."""
    for fmt in formats(settings):
        tally = Tally("as printed", fmt, settings)
        for b in batches("eq04", fmt, settings, channel_weights=True):
            measured = input_gradient(partial(rms_norm, weight=b.gamma, eps=b.eps), b.h, b.g)
            x, g, gamma = b.h.double(), b.g.double(), b.gamma.double()
            s = rms_scale(x, b.eps)
            exact = printed(x, g, gamma, b.eps)
            lost, lost64 = (rms_gradient_error(x, g, gamma, s, f) for f in (fmt, FP64))
            tally.compare(b, *map(phasor_view, (measured, exact, lost, lost64)))
        yield tally.measurement("eps inside the root")


def _mutant(s: Scale = inside, factor: float = 1.0, weight: int = 1, direct: int = 1) -> Formula:
    def formula(x: Tensor, g: Tensor, gamma: Tensor, eps: float) -> Tensor:
        scale = s(x, eps)
        mean = factor * projection(x, g, gamma**weight, scale)
        return (gamma**direct * g - x / scale * mean) / scale

    return formula


MUTANTS = {
    "without 1/N": lambda x, g, a, e: _mutant(factor=x.shape[-1])(x, g, a, e),
    "1/P for 1/N": _mutant(factor=2.0),
    "sign flipped": _mutant(factor=-1.0),
    "gamma counted twice": _mutant(weight=2),
    "gamma forgotten in the sum": _mutant(weight=0),
    "gamma forgotten": _mutant(weight=0, direct=0),
    "eps outside the root": _mutant(s=outside),
    "eps forgotten": _mutant(s=lambda x, eps: inside(x, 0.0)),
    "S held constant": _mutant(factor=0.0),
    "all NaN": lambda x, g, a, e: torch.full_like(x, torch.nan),
}
