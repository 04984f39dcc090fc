"""How much the Jacobian of affine-free MRSNorm can amplify a gradient, in units of 1/S.

With u = (u_1, ..., u_P) and zhat = h / S as vectors of N = 2P numbers, J = (I - zhat u^T / P) / S for z_i != 0. S J is
the identity less a matrix of rank 1, so it has the singular value 1 (2P - 2 times) and two others, s1 >= s2, with

    s1 s2 = |det S J| = eps / S,   s1^2 + s2^2 = |S J|_F^2 - (2P - 2) = 2 - 2 mean(r)/S + (rms(r)/S)^2.

At eps = 0 these are rms(r)/mean(r) and 0. The paper (section 6) claims an isometry; this is what holds.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from numerics.gradients import input_gradient
from numerics.norms import magnitudes, mrs_norm


def amplification(h: Tensor, eps: float) -> Tensor:
    """S |J|_2, the operator norm in units of 1/S, from the closed form: (T, N) in fp64, no zero phasor -> (T,)."""
    r = magnitudes(h)
    s = r.mean(dim=-1) + eps
    squares = 2 - 2 * r.mean(dim=-1) / s + r.square().mean(dim=-1) / s**2  # s1^2 + s2^2
    root = (squares.square() - 4 * (eps / s).square()).clamp_min(0).sqrt()
    return ((squares + root) / 2).sqrt().clamp_min(1)


def jacobian(h: Tensor, eps: float) -> Tensor:
    """J of one row by automatic differentiation, in the dtype of h: (N,) -> (N, N)."""
    rows = h.unsqueeze(0).repeat(len(h), 1)
    return input_gradient(partial(mrs_norm, eps=eps), rows, torch.eye(len(h), dtype=h.dtype, device=h.device))
