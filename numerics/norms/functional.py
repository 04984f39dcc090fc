"""The norms as functions."""

from __future__ import annotations

from torch import Tensor

from numerics.norms.checks import check_constant, check_eps, check_input, check_weight
from numerics.norms.mean_norm import MeanNorm
from numerics.norms.root_norm import RootNorm
from numerics.norms.rule import Rule

MA_S, MA_ALPHA = 2.0, 0.1  # the constants of the MA-RMSNorm article


def mrs_norm(x: Tensor, weight: Tensor | None = None, eps: float = 1e-6, safe: bool = False) -> Tensor:
    """o_i = gamma_i z_i / S (Eq. 2): (..., N) -> (..., N) in the dtype of x; `weight` is gamma, of shape (N/2,).

    The backward pass is Eq. 5. With `safe`, no square overflows or vanishes, in result and gradient, whatever x is.
    Raises TypeError for a dtype, ValueError for a width, a weight shape, a device or an eps, that is not accepted.
    """
    check_eps(eps)
    check_input(x, 2)
    check_weight(weight, x, 2)
    return MeanNorm.apply(x, weight, Rule(eps, per_weight=2, safe=safe))[0]


def rms_norm(x: Tensor, weight: Tensor | None = None, eps: float = 1e-6, safe: bool = False) -> Tensor:
    """o_c = gamma_c x_c / S_RMS: (..., N) -> (..., N) in the dtype of x; `weight` is gamma, of shape (N,).

    Raises TypeError for a dtype, ValueError for a width, a weight shape, a device or an eps, that is not accepted.
    """
    check_eps(eps)
    check_input(x)
    check_weight(weight, x)
    return RootNorm.apply(x, weight, None, Rule(eps, safe=safe))[0]


def phasor_rms_norm(x: Tensor, weight: Tensor | None = None, eps: float = 1e-6, safe: bool = False) -> Tensor:
    """o_i = gamma_i z_i / S with the S of Eq. 11, sqrt(mean r^2 + eps); otherwise as `mrs_norm`."""
    check_eps(eps)
    check_input(x, 2)
    check_weight(weight, x, 2)
    return RootNorm.apply(x, weight, None, Rule(eps, per_weight=2, safe=safe))[0]


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
    for a dtype, ValueError for a weight shape, a device, an eps, an s or an alpha, that is not accepted.
    """
    check_eps(eps)
    check_constant("s", s)
    check_constant("alpha", alpha)
    check_input(x)
    check_weight(weight, x)
    check_weight(magnitude, x, name="magnitude")
    return RootNorm.apply(x, weight, magnitude, Rule(eps, s=s, alpha=alpha))[0]
