"""Layers that divide by a power mean of the phasor magnitudes, and what rounding may do to them.

    o = gamma z / S_p,   S_p = (mean r^p)^(1/p) = c (mean (r/c)^p)^(1/p)   for every c > 0

c is the largest magnitude of the row, held constant: no power overflows, and m = mean (r/c)^p lies between 1/P and 1.

Roundings, counted as in `numerics.rounding`. A power that is computed counts `POWER`: libraries document at most 8
units in the last place. 1/p is rounded where p is 3/2 or 3, which moves m^(1/p) by |log m| u / p <= log(P) u / p.

    m        r 4, division 1, both p times, power, sum P - 1, mean 2, underflow 1       = 5 p + POWER + P + 2
    S_p      m/p, log(P)/p, power, times c 1, eps 1, one spare                          = (m + log P)/p + POWER + 3

The backward pass of o = gamma z / S_p by automatic differentiation has two terms, relative to |gamma g|/S and to
|u_c| (r_i/S)^(p-1) A/S, A = (1/P) sum |gamma_k g_k zhat_k| over all components:

    gamma g/S       product 1, division 1 + S, last sum 1                               = S + 3
    interference    dL/dS (gamma g 1, z/S 1 + S, again /S 1 + S, product 1, sum N - 1)    2 S + N + 3
                    dS/dm (times c 1, 1/p 1, power of m |1/p - 1| m + (1/p + 1) log P
                    + POWER, products 2, mean 2)                                          ... + POWER + 6
                    dm/dr (power 5 |p - 1| + POWER, products 2, /c 1)                     5 |p - 1| + POWER + 3
                    u_c 5, times 1, last sum 1, one spare                                 8
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from numerics.norms import ACCUMULATION, magnitudes
from numerics.rounding import MAGNITUDE, Format, direction, roundings

POWER = 16


def power_scale(x: Tensor, p: float, eps: float = 0.0) -> Tensor:
    """S_p + eps: (..., N) -> (..., 1), in the accumulation dtype; NaN for a row of zeros."""
    r = magnitudes(x)
    c = r.detach().amax(-1, keepdim=True)
    return c * ((r / c) ** p).mean(-1, keepdim=True) ** (1 / p) + eps


def power_norm(x: Tensor, p: float, weight: Tensor | None = None) -> Tensor:
    """o_i = gamma_i z_i / S_p: (..., N) -> (..., N) in the dtype of x; `weight` is gamma, of shape (N/2,)."""
    wide = x.to(ACCUMULATION[x.dtype])
    o = wide.unflatten(-1, (-1, 2)) / power_scale(wide, p).unsqueeze(-1)
    if weight is not None:
        o = o * weight.to(o.dtype).unsqueeze(-1)
    return o.flatten(-2).to(x.dtype)


def mean_roundings(phasors: int, p: float) -> int:
    """Roundings in m = mean (r/c)^p over P phasors."""
    return math.ceil((MAGNITUDE + 1) * p) + POWER + phasors + 2


def scale_roundings(phasors: int, p: float) -> int:
    """Roundings in S_p over P phasors."""
    return math.ceil((mean_roundings(phasors, p) + math.log(phasors)) / p) + POWER + 3


def gradient_error(z: Tensor, g: Tensor, gamma: Tensor, p: float, fmt: Format) -> Tensor:
    """Bound on the error of dL/dz by automatic differentiation of `power_norm`, before its last rounding.

    z, g: (T, P, 2), gamma: (P,), all in fp64; result (T, P, 2). Not for z_i = 0.
    """
    acc, phasors = fmt.accumulation, z.shape[-2]
    r = torch.linalg.vector_norm(z, dim=-1, keepdim=True)  # (T, P, 1)
    s = power_scale(z.flatten(-2), p).unsqueeze(-1)  # (T, 1, 1)
    weighted = (gamma.unsqueeze(-1) * g).abs()
    mean = (weighted * z.abs()).sum((-1, -2), keepdim=True) / (phasors * s)
    share = (r / s) ** (p - 1)
    n_s, log_p = scale_roundings(phasors, p), math.log(phasors)
    outer = 2 * n_s + 2 * phasors + 3
    inner = math.ceil(abs(1 / p - 1) * mean_roundings(phasors, p) + (1 / p + 1) * log_p) + POWER + 6
    own = math.ceil((MAGNITUDE + 1) * abs(p - 1)) + POWER + 3 + 8
    direct = roundings(n_s + 3, acc) * weighted / s
    interference = roundings(outer + inner + own, acc) * direction(z).abs() * share * mean / s
    return direct + interference + acc.underflow * _amplified(r, s, share, mean, p)


def _amplified(r: Tensor, s: Tensor, share: Tensor, mean: Tensor, p: float) -> Tensor:
    """How much the later steps can enlarge what one underflow loses: the product of 1 + each factor, N steps."""
    phasors, c = r.shape[-2], r.amax(-2, keepdim=True)
    fixed = 16 * phasors**2 * (1 + p) * (1 + 1 / p)
    return fixed * (1 + c) * (1 + 1 / c) * (1 + 1 / s) ** 2 * (1 + share) * (1 + (r / c) ** (p - 1)) * (1 + mean)
