"""Magnitudes of phasors and the three scales, differentiated by PyTorch's own rules.

Half precision inputs are computed in fp32 and stay there.
"""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.norms.checks import accumulate, check_eps


def magnitudes(x: Tensor) -> Tensor:
    """Phasor magnitudes r_i = |z_i| of adjacent pairs: (..., N) -> (..., N/2), in the accumulation dtype.

    The gradient is u_i = z_i / r_i, and 0 where z_i = 0. Raises TypeError for a dtype that is not one of the four
    floating-point ones, ValueError for a width that is 0 or odd.
    """
    return torch.linalg.vector_norm(accumulate(x, 2).unflatten(-1, (-1, 2)), dim=-1)


def mrs_scale(x: Tensor, eps: float) -> Tensor:
    """S = mean of the phasor magnitudes, plus eps (Eq. 1): (..., N) -> (..., 1), in the accumulation dtype."""
    check_eps(eps)
    return magnitudes(x).mean(dim=-1, keepdim=True) + eps


def rms_scale(x: Tensor, eps: float) -> Tensor:
    """S_RMS = sqrt(mean x^2 + eps): (..., N) -> (..., 1), in the accumulation dtype; any width."""
    check_eps(eps)
    return (accumulate(x).square().mean(dim=-1, keepdim=True) + eps).sqrt()


def phasor_rms_scale(x: Tensor, eps: float) -> Tensor:
    """sqrt(mean r^2 + eps), the scale of Eq. 11 (appendix A.3): (..., N) -> (..., 1), in the accumulation dtype."""
    check_eps(eps)
    squares = accumulate(x, 2).unflatten(-1, (-1, 2)).square().sum(dim=-1)  # (..., P)
    return (squares.mean(dim=-1, keepdim=True) + eps).sqrt()
