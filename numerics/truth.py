"""The three layers and their derivatives in double-double arithmetic: what measured errors are errors of.

With P phasors z_k, r_k = |z_k|, S = mean r + eps, u = z/r, zhat = z/S (MRSNorm paper, Eqs. 1, 2 and 5), and
S_RMS = sqrt(mean x^2 + eps), xhat = x/S_RMS:

    MRSNorm      o = gamma zhat,                          dL/dz = (gamma g - u mean(gamma g . zhat)) / S
    RMSNorm      o = gamma xhat,                          dL/dx = (gamma g - xhat mean(gamma g xhat)) / S_RMS
    MA-RMSNorm   y = s gamma xhat + alpha W log S_RMS,
                 dL/dx = (s gamma g - xhat mean(g (s gamma xhat - alpha W))) / S_RMS

Rows are (T, N) in fp64, channels in adjacent pairs, as in `numerics.norms`; weights are (P,) or (N,). Magnitudes are
squared after division by a power of two of their row's size, which is exact. A row of zeros needs eps > 0. Scales
are accurate to a few units of 2^-104, gradients relative to the largest of their terms.
"""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.double_double import DoubleDouble, exact
from numerics.norms import MA_ALPHA, MA_S


def _level(x: Tensor) -> Tensor:
    """A power of two near the largest |x| of each row, 1 for a row of zeros: (T, N) -> (T, 1)."""
    largest = x.abs().amax(-1, keepdim=True)
    return torch.where(largest > 0, torch.exp2(torch.frexp(largest).exponent.double()), torch.ones_like(largest))


def _mean(values: DoubleDouble) -> DoubleDouble:
    """(T, n) -> (T, 1)."""
    return (values.sum() / float(values.hi.shape[-1]))[..., None]


def _pairs(x: Tensor) -> DoubleDouble:
    """x^2 + y^2 of each phasor: (..., N) -> (..., P)."""
    square = exact(x) * exact(x)
    return square[..., ::2] + square[..., 1::2]


def magnitudes(x: Tensor) -> DoubleDouble:
    """r: (T, N) -> (T, P)."""
    level = _level(x)
    return _pairs(x / level).sqrt() * level


def mrs_scale(x: Tensor, eps: float) -> DoubleDouble:
    """S of Eq. 1: (T, N) -> (T, 1)."""
    return _mean(magnitudes(x)) + eps


def rms_scale(x: Tensor, eps: float) -> DoubleDouble:
    """S_RMS: (T, N) -> (T, 1)."""
    level = _level(x)
    return (_mean(exact(x / level) * exact(x / level)) + eps / level / level).sqrt() * level


def phasor_rms_scale(x: Tensor, eps: float) -> DoubleDouble:
    """The scale of Eq. 11: (T, N) -> (T, 1)."""
    level = _level(x)
    return (_mean(_pairs(x / level)) + eps / level / level).sqrt() * level


def mrs_output(x: Tensor, gamma: Tensor, eps: float) -> DoubleDouble:
    """o of MRSNorm: (T, N), (P,) -> (T, N)."""
    return exact(x) / mrs_scale(x, eps) * gamma.repeat_interleave(2)


def rms_output(x: Tensor, gamma: Tensor, eps: float) -> DoubleDouble:
    """o of RMSNorm: (T, N), (N,) -> (T, N)."""
    return exact(x) / rms_scale(x, eps) * gamma


def ma_output(x: Tensor, gamma: Tensor, magnitude: Tensor, eps: float) -> DoubleDouble:
    """y of MA-RMSNorm with the constants of its article: (T, N), (N,), (N,) -> (T, N)."""
    scale = rms_scale(x, eps)
    return exact(x) / scale * gamma * MA_S + scale.log() * (exact(magnitude) * MA_ALPHA)


def mrs_gradient(x: Tensor, g: Tensor, gamma: Tensor, eps: float) -> DoubleDouble:
    """dL/dz of MRSNorm, with u = 0 at a zero phasor: (T, N), (T, N), (P,) -> (T, N)."""
    scale, r = mrs_scale(x, eps), magnitudes(x)
    weighted = exact(g) * gamma.repeat_interleave(2)
    omega = _mean(weighted * (exact(x) / scale)) * 2.0  # a mean over P, not over N
    r = DoubleDouble(r.hi + (r.hi == 0), r.lo)
    u = exact(x) / DoubleDouble(r.hi.repeat_interleave(2, -1), r.lo.repeat_interleave(2, -1))
    return (weighted - u * omega) / scale


def rms_gradient(x: Tensor, g: Tensor, gamma: Tensor, eps: float) -> DoubleDouble:
    """dL/dx of RMSNorm: (T, N), (T, N), (N,) -> (T, N)."""
    scale = rms_scale(x, eps)
    xhat, weighted = exact(x) / scale, exact(g) * gamma
    return (weighted - xhat * _mean(weighted * xhat)) / scale


def ma_gradient(x: Tensor, g: Tensor, gamma: Tensor, magnitude: Tensor, eps: float) -> DoubleDouble:
    """dL/dx of MA-RMSNorm with the constants of its article: (T, N), (T, N), (N,), (N,) -> (T, N)."""
    scale = rms_scale(x, eps)
    xhat, weighted = exact(x) / scale, exact(g) * gamma * MA_S
    omega = _mean(weighted * xhat - exact(g) * magnitude * MA_ALPHA)
    return (weighted - xhat * omega) / scale


def _over_rows(values: DoubleDouble) -> DoubleDouble:
    """(T, n) -> (n,)."""
    return DoubleDouble(values.hi.mT, values.lo.mT).sum()


def mrs_weight_gradient(x: Tensor, g: Tensor, eps: float) -> DoubleDouble:
    """dL/dgamma of MRSNorm, the sum over all rows of g . zhat: (T, N), (T, N) -> (P,)."""
    entries = exact(x) / mrs_scale(x, eps) * g
    return _over_rows(entries[..., ::2] + entries[..., 1::2])


def rms_weight_gradient(x: Tensor, g: Tensor, eps: float) -> DoubleDouble:
    """dL/dgamma of RMSNorm, the sum over all rows of g xhat; that of MA-RMSNorm is s times it: -> (N,)."""
    return _over_rows(exact(x) / rms_scale(x, eps) * g)


def ma_magnitude_gradient(x: Tensor, g: Tensor, eps: float) -> DoubleDouble:
    """dL/dW of MA-RMSNorm, alpha times the sum over all rows of g log S_RMS: (T, N), (T, N) -> (N,)."""
    return _over_rows(rms_scale(x, eps).log() * g * MA_ALPHA)
