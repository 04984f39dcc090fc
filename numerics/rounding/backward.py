"""Backward bounds."""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.rounding.counts import rms_roundings, roundings, scale_roundings, sum_roundings
from numerics.rounding.formats import Format


def gradient_error(z: Tensor, g: Tensor, gamma: Tensor, scale: Tensor, fmt: Format) -> Tensor:
    """Bound on the error of dL/dz by automatic differentiation of `mrs_norm`, before its last rounding.

    z, g: (T, P, 2); gamma: (P,); scale S: (T, 1); result (T, P, 2); all in fp64. The two terms of
    dL/dz = gamma g/S - u Omega/S are lost separately; A = (1/P) sum |gamma_k g_k zhat_k| over all N components.

        gamma g/S      product 1, division 1 + S, last sum 1                                          = S + 3
        u_c Omega/S    gamma g 1, x/S 1 + S, again /S 1 + S, product 1, sum N - 1, /P 2, times u_c 1,
                       u_c = x/r 1 + 3, last sum 1                                             = 2 S + N + 11

    relative to |gamma g|/S and |u_c| A/S: nothing is assumed about cancellation within Omega. Evaluating Eq. 5 as
    printed, in any order, needs no more, so the same bound in fp64 covers it. Underflow: each product or quotient of
    the table loses eta/2, carried through to the end and doubled for the second-order terms.
    """
    s, phasors = scale.unsqueeze(-1), z.shape[-2]  # (T, 1, 1)
    weighted = (gamma.unsqueeze(-1) * g).abs()
    zhat = (z / s).abs()
    mean_a = (weighted * zhat).sum((-1, -2), keepdim=True) / phasors
    lost = (weighted * (1 / s + 1) + zhat / s + 1).sum((-1, -2), keepdim=True) / phasors
    return _two_terms(weighted, direction(z).abs(), mean_a, lost, s, phasors, fmt)


def own_gradient_error(z: Tensor, v: Tensor, gamma: Tensor, scale: Tensor, phasors: int, fmt: Format) -> Tensor:
    """`gradient_error` at phasor i where the upstream gradient is v there and 0 at all others.

    z_i, v: (T, K, 2), gamma_i: (T, K) or (K,), one chosen phasor in each of K places; scale S: (T, 1). The sums over k
    have one phasor left, and mean |zhat_k| <= 1 bounds what the others lose to underflow.
    """
    s = scale.unsqueeze(-1)  # (T, 1, 1)
    weighted = (gamma.unsqueeze(-1) * v).abs()
    mean_a = (weighted * (z / s).abs()).sum(-1, keepdim=True) / phasors
    lost = weighted.sum(-1, keepdim=True) * (1 / s + 1) / phasors + 2 / s + 2
    return _two_terms(weighted, direction(z).abs(), mean_a, lost, s, phasors, fmt)


def _two_terms(
    weighted: Tensor, u: Tensor, mean_a: Tensor, lost: Tensor, s: Tensor, phasors: int, fmt: Format
) -> Tensor:
    """The bound of `gradient_error` from |gamma g|, |u|, A, what the sum lost to underflow, and S."""
    acc = fmt.accumulation
    direct = roundings(scale_roundings(phasors, fmt) + 3, acc) * weighted / s
    interference = roundings(2 * scale_roundings(phasors, fmt) + sum_roundings(2 * phasors, fmt.any_order) + 12, acc) * u * mean_a / s
    return direct + interference + acc.underflow * (lost + mean_a / s + 1 / s + 3)


def rms_gradient_error(x: Tensor, g: Tensor, gamma: Tensor, scale: Tensor, fmt: Format) -> Tensor:
    """Bound on the error of dL/dx by automatic differentiation of `rms_norm`, before its last rounding.

    x, g: (T, N); gamma: (N,); scale S_RMS: (T, 1); result (T, N). With B = (1/N) sum |gamma_k g_k xhat_k|,

        gamma g/S      as above                                                                       = S + 3
        xhat Omega/S   gamma g 1, x/S 1 + S, again /S 1 + S, product 1, sum N - 1, root 1 + S, /N 2,
                       times 2x 1, last sum 1                                                  = 3 S + N + 8
    """
    acc, channels = fmt.accumulation, x.shape[-1]
    weighted = (gamma * g).abs()
    xhat = (x / scale).abs()
    mean_b = (weighted * xhat).sum(-1, keepdim=True) / channels / scale  # B / S
    n_direct = rms_roundings(channels, fmt) + 3
    n_interference = 3 * rms_roundings(channels, fmt) + sum_roundings(channels, fmt.any_order) + 9
    relative = roundings(n_direct, acc) * weighted / scale + roundings(n_interference, acc) * xhat * mean_b
    lost = (weighted * (1 / scale + 1) + xhat / scale + 1).sum(-1, keepdim=True) / channels
    return relative + acc.underflow * (xhat * lost + 3 * x.abs() + 1 / scale + 2)


def direction(z: Tensor) -> Tensor:
    """u = z / |z| in the dtype of z, and 0 where z is: the subgradient the layers use. (..., 2) -> (..., 2)."""
    r = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
    return torch.where(r > 0, z / r, torch.zeros_like(z))
