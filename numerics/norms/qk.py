"""The norm of queries and keys before attention, with either scale of the paper."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from numerics.norms.checks import check_count, check_eps
from numerics.norms.functional import mrs_norm, phasor_rms_norm

SCALES = {"mean": mrs_norm, "rms": phasor_rms_norm}


class QKNorm(nn.Module):
    """(q, k), each (..., head_dim) -> both over their own S, and times weights `query` and `key` of (head_dim/2,).

    `scale` says which S: "mean", the mean of the magnitudes plus eps (Eq. 1), or "rms", sqrt(mean r^2 + eps) (Eq. 11).
    They are different norms: a score is at most d/2 under "rms", but up to d^2/4 under "mean". Weights change these
    bounds, so there are none unless `elementwise_affine` is set.

    Source: MRSNorm paper, section 5.3, Eqs. 1, 2 and 11. Raises TypeError or ValueError for a head_dim that is no
    positive even integer, for another scale, for an eps that is negative or not finite, and another width of q or k.
    """

    def __init__(
        self,
        head_dim: int,
        scale: str = "mean",
        eps: float = 1e-6,
        elementwise_affine: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        safe: bool = False,
    ) -> None:
        super().__init__()
        self.head_dim = check_count("head_dim", head_dim, 2)
        if scale not in SCALES:
            raise ValueError(f"scale is {scale!r}; accepted: {', '.join(map(repr, SCALES))}")
        check_eps(eps)
        self.scale, self.eps, self.safe, self.elementwise_affine = scale, eps, safe, elementwise_affine
        for name in ("query", "key"):
            weight = (
                nn.Parameter(torch.empty(head_dim // 2, device=device, dtype=dtype)) if elementwise_affine else None
            )
            self.register_parameter(name, weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to one."""
        for weight in self.parameters():
            nn.init.ones_(weight)

    def extra_repr(self) -> str:
        """The constructor's arguments."""
        safe = ", safe=True" if self.safe else ""
        return (
            f"{self.head_dim}, scale={self.scale!r}, eps={self.eps}, elementwise_affine={self.elementwise_affine}{safe}"
        )

    def forward(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        """Both normalized, each in its dtype."""
        norm = SCALES[self.scale]
        for name, x in (("q", q), ("k", k)):
            if x.dim() == 0 or x.shape[-1] != self.head_dim:
                raise ValueError(f"{name} has shape {tuple(x.shape)}; accepted: (..., {self.head_dim})")
        return norm(q, self.query, self.eps, self.safe), norm(k, self.key, self.eps, self.safe)
