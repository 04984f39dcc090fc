"""The norms as modules, with the conventions of `torch.nn.RMSNorm`."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from numerics.norms.checks import check_constant, check_count, check_eps
from numerics.norms.functional import MA_ALPHA, MA_S, ma_rms_norm, mrs_norm, rms_norm


class Weighted(nn.Module):
    """A module with a weight gamma that starts at one, or, without `elementwise_affine`, with none."""

    def _add_weight(
        self, size: int, elementwise_affine: bool, device: torch.device | str | None, dtype: torch.dtype | None
    ) -> None:
        self.elementwise_affine = elementwise_affine
        weight = nn.Parameter(torch.empty(size, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set gamma to one."""
        if self.elementwise_affine:
            nn.init.ones_(self.weight)


class ScaleNorm(Weighted):
    """What the modules share; `channels_per_weight` is 2 for phasors and 1 for scalars.

    `safe` scales every row by a power of two before anything is squared: neither 3e38 in fp32 or bf16 nor 1e-30 then
    loses the result or its gradient, for more time (`benchmarks/layers.py` measures it). Without it the squares of the
    entries have to be within the range of fp32 (of fp64 for fp64), which fp16 inputs always are.
    """

    channels_per_weight: int

    def __init__(
        self,
        channels: int,
        eps: float = 1e-6,
        elementwise_affine: bool = True,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        safe: bool = False,
    ) -> None:
        super().__init__()
        self.channels = check_count("channels", channels, self.channels_per_weight)
        check_eps(eps)
        self.eps, self.safe = eps, safe
        self._add_weight(self.channels // self.channels_per_weight, elementwise_affine, device, dtype)

    def extra_repr(self) -> str:
        """The constructor's arguments, as `torch.nn.RMSNorm` shows them; `safe` where it is set."""
        safe = ", safe=True" if self.safe else ""
        return f"{self.channels}, eps={self.eps}, elementwise_affine={self.elementwise_affine}{safe}"

    def _check_width(self, x: Tensor) -> None:
        if x.dim() == 0 or x.shape[-1] != self.channels:
            raise ValueError(f"x has shape {tuple(x.shape)}; accepted: (..., {self.channels})")


class MRSNorm(ScaleNorm):
    """MRSNorm over the last dimension: (..., channels) -> (..., channels), `weight` gamma of shape (channels/2,).

    Source: MRSNorm paper, section 3, Eqs. 1-2. Raises TypeError or ValueError for a width that is not a positive even
    integer, for an eps that is negative or not finite, and for inputs whose last dimension is another one.
    """

    channels_per_weight = 2

    def forward(self, x: Tensor) -> Tensor:
        """o_i = gamma_i z_i / S."""
        self._check_width(x)
        return mrs_norm(x, self.weight, self.eps, self.safe)


class RMSNorm(ScaleNorm):
    """RMSNorm over the last dimension: (..., channels) -> (..., channels), `weight` gamma of shape (channels,)."""

    channels_per_weight = 1

    def forward(self, x: Tensor) -> Tensor:
        """o_c = gamma_c x_c / S_RMS."""
        self._check_width(x)
        return rms_norm(x, self.weight, self.eps, self.safe)


class MARMSNorm(ScaleNorm):
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
        check_constant("s", s)
        check_constant("alpha", alpha)
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
