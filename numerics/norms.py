"""The layers under test: MRSNorm and MA-RMSNorm, and RMSNorm as the comparison, as functions and as modules.

With z_i = (h_2i-1, h_2i) the i-th pair of adjacent channels, r_i = |z_i| and P = N/2:

    MRSNorm   o_i = gamma_i z_i / S,       S = (1/P) sum_k r_k + eps           (MRSNorm paper, section 3, Eqs. 1-2)
    RMSNorm   o_c = gamma_c x_c / S_RMS,   S_RMS = sqrt((1/N) sum_c x_c^2 + eps)
    MA-RMSNorm  o_c = s gamma_c x_c / S_RMS + alpha W_c log S_RMS                     (its article, section 2.2)

Half precision inputs (fp16, bf16) are computed in fp32 and rounded once, to the dtype of the input; fp32 and fp64 are
computed as they are. eps stands outside the mean in Eq. 1 and inside the root in the other two scales. At a phasor
z_i = 0 the backward pass uses u_i = 0, which is what `torch.linalg.vector_norm` does. A row of zeros with eps = 0 has
no output: it is 0/0 = NaN.

MA-RMSNorm's article prints no eps, so that x = 0 has no value there, and does not say how W starts. Here a zero row
gives alpha W log sqrt(eps), the value of the formula with eps, with input gradient s gamma g / sqrt(eps), 2000 g by
defaults; with eps = 0, where mean x^2 is 0 or underflows to 0, the row gives 0 with input gradient 0. The gradient is
finite only as far as |s gamma g| / sqrt(eps) is in the range of the input's dtype: in fp16 (up to 65504) for |g| <= 32
by defaults, while g = 1 gives infinity at eps = 1e-12. W starts at 0: the layer begins as s times RMSNorm.
"""

from __future__ import annotations

import math
import numbers

import torch
from torch import Tensor, nn

MA_S, MA_ALPHA = 2.0, 0.1  # the constants of the MA-RMSNorm article

ACCUMULATION = {
    torch.float16: torch.float32,
    torch.bfloat16: torch.float32,
    torch.float32: torch.float32,
    torch.float64: torch.float64,
}


def _accumulate(x: Tensor) -> Tensor:
    """x in the dtype it is computed in; TypeError or ValueError where it cannot be normalized."""
    if x.dtype not in ACCUMULATION:
        raise TypeError(f"x has dtype {x.dtype}; accepted: float16, bfloat16, float32, float64")
    if x.dim() == 0 or x.shape[-1] == 0:
        raise ValueError(f"x has shape {tuple(x.shape)}; accepted: a last dimension of at least one channel")
    return x.to(ACCUMULATION[x.dtype])


def _phasors(x: Tensor) -> Tensor:
    x = _accumulate(x)  # (..., N)
    if x.shape[-1] % 2:
        raise ValueError(f"x has an odd width of {x.shape[-1]} channels; accepted: an even width, as pairs of channels")
    return x.unflatten(-1, (-1, 2))  # (..., P, 2)


def _check_eps(eps: float) -> None:
    if not (eps >= 0 and math.isfinite(eps)):
        raise ValueError(f"eps is {eps}; accepted: a finite number of at least 0")


def _check_weight(weight: Tensor, channels: int, expected: int) -> None:
    if weight.dtype not in ACCUMULATION:
        raise TypeError(f"weight has dtype {weight.dtype}; accepted: float16, bfloat16, float32, float64")
    if tuple(weight.shape) != (expected,):
        raise ValueError(f"weight has shape {tuple(weight.shape)}; accepted for {channels} channels: ({expected},)")


def magnitudes(x: Tensor) -> Tensor:
    """Phasor magnitudes r_i = |z_i| of adjacent pairs: (..., N) -> (..., N/2), in the accumulation dtype.

    The gradient is u_i = z_i / r_i, and 0 where z_i = 0. Raises TypeError for a dtype that is not one of the four
    floating-point ones, ValueError for a width that is 0 or odd.
    """
    return torch.linalg.vector_norm(_phasors(x), dim=-1)


def mrs_scale(x: Tensor, eps: float) -> Tensor:
    """S = mean of the phasor magnitudes, plus eps (Eq. 1): (..., N) -> (..., 1), in the accumulation dtype."""
    _check_eps(eps)
    return magnitudes(x).mean(dim=-1, keepdim=True) + eps


def rms_scale(x: Tensor, eps: float) -> Tensor:
    """S_RMS = sqrt(mean x^2 + eps): (..., N) -> (..., 1), in the accumulation dtype; any width."""
    _check_eps(eps)
    return (_accumulate(x).square().mean(dim=-1, keepdim=True) + eps).sqrt()


def phasor_rms_scale(x: Tensor, eps: float) -> Tensor:
    """sqrt(mean r^2 + eps), the scale of Eq. 11 (appendix A.3): (..., N) -> (..., 1), in the accumulation dtype."""
    _check_eps(eps)
    squares = _phasors(x).square().sum(dim=-1)  # (..., P)
    return (squares.mean(dim=-1, keepdim=True) + eps).sqrt()


def mrs_norm(x: Tensor, weight: Tensor | None = None, eps: float = 1e-6) -> Tensor:
    """o_i = gamma_i z_i / S (Eq. 2): (..., N) -> (..., N) in the dtype of x; `weight` is gamma, of shape (N/2,).

    Raises TypeError for a dtype, ValueError for a width, a weight shape or an eps, that is not accepted.
    """
    wide = _accumulate(x)  # cast once: the two paths of the gradient then meet before it is rounded to the dtype of x
    o = _phasors(wide) / mrs_scale(wide, eps).unsqueeze(-1)
    if weight is not None:
        _check_weight(weight, x.shape[-1], x.shape[-1] // 2)
        o = o * weight.to(o.dtype).unsqueeze(-1)
    return o.flatten(-2).to(x.dtype)


def rms_norm(x: Tensor, weight: Tensor | None = None, eps: float = 1e-6) -> Tensor:
    """o_c = gamma_c x_c / S_RMS: (..., N) -> (..., N) in the dtype of x; `weight` is gamma, of shape (N,).

    Raises TypeError for a dtype, ValueError for a width, a weight shape or an eps, that is not accepted.
    """
    wide = _accumulate(x)
    o = wide / rms_scale(wide, eps)
    if weight is not None:
        _check_weight(weight, x.shape[-1], x.shape[-1])
        o = o * weight.to(o.dtype)
    return o.to(x.dtype)


class _ScaleNorm(nn.Module):
    """What the two modules share; `channels_per_weight` is 2 for phasors and 1 for scalars."""

    channels_per_weight: int

    def __init__(
        self,
        channels: int,
        eps: float = 1e-6,
        elementwise_affine: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if isinstance(channels, bool) or not isinstance(channels, numbers.Integral):
            raise TypeError(f"channels is {channels!r}; accepted: an integer")
        if channels < 1 or channels % self.channels_per_weight:
            raise ValueError(f"channels is {channels}; accepted: a positive multiple of {self.channels_per_weight}")
        _check_eps(eps)
        self.channels = int(channels)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            size = self.channels // self.channels_per_weight
            self.weight = nn.Parameter(torch.empty(size, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set gamma to one."""
        if self.elementwise_affine:
            nn.init.ones_(self.weight)

    def extra_repr(self) -> str:
        """The constructor's arguments, as `torch.nn.RMSNorm` shows them."""
        return f"{self.channels}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"

    def _check_width(self, x: Tensor) -> None:
        if x.dim() == 0 or x.shape[-1] != self.channels:
            raise ValueError(f"x has shape {tuple(x.shape)}; accepted: (..., {self.channels})")


class MRSNorm(_ScaleNorm):
    """MRSNorm over the last dimension: (..., channels) -> (..., channels), `weight` gamma of shape (channels/2,).

    Source: MRSNorm paper, section 3, Eqs. 1-2. Raises TypeError or ValueError for a width that is not a positive even
    integer, for an eps that is negative or not finite, and for inputs whose last dimension is another one.
    """

    channels_per_weight = 2

    def forward(self, x: Tensor) -> Tensor:
        """o_i = gamma_i z_i / S."""
        self._check_width(x)
        return mrs_norm(x, self.weight, self.eps)


class RMSNorm(_ScaleNorm):
    """RMSNorm over the last dimension: (..., channels) -> (..., channels), `weight` gamma of shape (channels,)."""

    channels_per_weight = 1

    def forward(self, x: Tensor) -> Tensor:
        """o_c = gamma_c x_c / S_RMS."""
        self._check_width(x)
        return rms_norm(x, self.weight, self.eps)


def ma_rms_norm(
    x: Tensor,
    weight: Tensor | None = None,
    magnitude: Tensor | None = None,
    s: float = MA_S,
    alpha: float = MA_ALPHA,
    eps: float = 1e-6,
) -> Tensor:
    """s gamma x / S + alpha W log S: (..., N) -> (..., N) in the dtype of x; `weight` gamma, `magnitude` W, both (N,).

    Without `magnitude` the second term is left out. At x = 0 and eps > 0 the input gradient is s gamma g / sqrt(eps),
    infinite where that is beyond the range of the dtype of x, as in fp16 for g = 1 and eps = 1e-12. Raises TypeError
    for a dtype, ValueError for a weight shape, an eps, an s or an alpha, that is not accepted.
    """
    _check_eps(eps)
    _check_constant("s", s)
    _check_constant("alpha", alpha)
    wide = _accumulate(x)
    mean = wide.square().mean(dim=-1, keepdim=True) + eps
    empty = mean == 0
    scale = mean.masked_fill(empty, 1).sqrt()  # filled before the root, whose slope at 0 is infinite
    y = wide.masked_fill(empty, 0) / scale
    if weight is not None:
        _check_weight(weight, x.shape[-1], x.shape[-1])
        y = y * weight.to(y.dtype)
    y = y * s
    if magnitude is not None:
        _check_weight(magnitude, x.shape[-1], x.shape[-1])
        y = y + (alpha * magnitude.to(y.dtype)) * scale.log()
    return y.to(x.dtype)


def _check_constant(name: str, value: float) -> None:
    if not math.isfinite(value):
        raise ValueError(f"{name} is {value}; accepted: a finite number")


class MARMSNorm(_ScaleNorm):
    """MA-RMSNorm over the last dimension: (..., channels) -> (..., channels).

    `weight` is gamma and starts at 1, `magnitude` is W and starts at 0, both of shape (channels,); neither exists
    without `elementwise_affine`. At x = 0 the input gradient is finite if |s gamma g| / sqrt(eps) is in the
    range of the dtype of x (see `ma_rms_norm`). Source: MA-RMSNorm article, section 2.2. Raises TypeError or ValueError
    for a width that is no positive integer, for an eps that is negative, and for constants that are not finite.
    """

    channels_per_weight = 1

    def __init__(
        self,
        channels: int,
        s: float = MA_S,
        alpha: float = MA_ALPHA,
        eps: float = 1e-6,
        elementwise_affine: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        _check_constant("s", s)
        _check_constant("alpha", alpha)
        super().__init__(channels, eps, elementwise_affine, device, dtype)
        self.s, self.alpha = s, alpha
        shape = self.weight.shape if elementwise_affine else None
        magnitude = None if shape is None else nn.Parameter(torch.zeros(shape, device=device, dtype=dtype))
        self.register_parameter("magnitude", magnitude)

    def reset_parameters(self) -> None:
        """Set gamma to one and W to zero."""
        super().reset_parameters()
        if getattr(self, "magnitude", None) is not None:
            nn.init.zeros_(self.magnitude)

    def extra_repr(self) -> str:
        """The constructor's arguments."""
        return f"{super().extra_repr()}, s={self.s}, alpha={self.alpha}"

    def forward(self, x: Tensor) -> Tensor:
        """s gamma x / S + alpha W log S."""
        self._check_width(x)
        return ma_rms_norm(x, self.weight, self.magnitude, self.s, self.alpha, self.eps)
