"""MRSNorm over blocks of any dimension b, and what automatic differentiation of it may lose to rounding.

    o_i = gamma_i z_i / S,   z_i in R^b,   S = (1/P) sum |z_k| + eps

b = 2 is the layer itself. Roundings, counted as in `numerics.rounding`, each with one to spare:

    |z|             squares 1, sum b - 1 and underflow 1, halved by the root, root 1        = b/2 + 3
    S               |z|, sum P - 1, mean 2, eps 1 + 1                                       = |z| + P + 4
    gamma g/S       product 1, division 1 + S, last sum 1                                   = S + 3
    u_c Omega/S     gamma g 1, x/S 1 + S, again /S 1 + S, product 1, sum b P - 1, mean 2,
                    u_c = x/|z| 1 + |z|, times 1, last sum 1                                = 2 S + b P + |z| + 8

relative to |gamma g|/S and to |u_c| A/S, A = (1/P) sum |gamma_k g_k zhat_k| over all components.
"""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.norms import ACCUMULATION
from numerics.rounding import Format, direction, roundings


def block_scale(x: Tensor, eps: float) -> Tensor:
    """S: (..., P, b) -> (..., 1, 1), in the accumulation dtype."""
    wide = x.to(ACCUMULATION[x.dtype])
    return torch.linalg.vector_norm(wide, dim=-1).mean(dim=-1)[..., None, None] + eps


def block_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """o = gamma z / S: (..., P, b) -> (..., P, b) in the dtype of x; `weight` is gamma, of shape (P,)."""
    wide = x.to(ACCUMULATION[x.dtype])
    return (wide / block_scale(wide, eps) * weight.to(wide.dtype)[:, None]).to(x.dtype)


def block_gradient_error(z: Tensor, g: Tensor, gamma: Tensor, eps: float, fmt: Format) -> Tensor:
    """Bound on the error of dL/dz by automatic differentiation of `block_norm`, before its last rounding.

    z, g: (T, P, b), gamma: (P,), all in fp64; result (T, P, b).
    """
    acc, (phasors, b) = fmt.accumulation, z.shape[-2:]
    s = block_scale(z, eps)  # (T, 1, 1)
    size = (b + 1) // 2 + 3
    scale = size + phasors + 4
    weighted, zhat = (gamma[:, None] * g).abs(), (z / s).abs()
    mean = (weighted * zhat).sum((-1, -2), keepdim=True) / phasors
    lost = (weighted * (1 / s + 1) + zhat / s + 1).sum((-1, -2), keepdim=True) / phasors
    direct = roundings(scale + 3, acc) * weighted / s
    interference = roundings(2 * scale + b * phasors + size + 8, acc) * direction(z).abs() * mean / s
    return direct + interference + acc.underflow * (lost + mean / s + 1 / s + 3)
