"""MRSNorm by groups of channels, for channels on any axis: feature maps, heads, groups."""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.norms.checks import check_count, check_device, check_eps, check_input
from numerics.norms.layers import Weighted
from numerics.norms.mean_norm import MeanNorm
from numerics.norms.rule import Rule


class GroupMRSNorm(Weighted):
    """o_i = gamma_i z_i / S, one S for each of `num_groups` groups of channels; x of any shape with its channels on
    `channel_dim`, where they are paired as adjacent ones. `weight` is gamma, of shape (num_channels/2,).

    What S averages over:

    - by default, the group's phasors and every dimension after `channel_dim`, as in the listing of the paper's appendix
      C: a map (B, C, H, W) is normalized like by GroupNorm, one S for each sample and group, and Eqs. 1 and 2 hold only
      where the channels are last;
    - with `per_position`, the group's phasors at each position by itself: Eqs. 1 and 2 for every shape, and no position
      sees another.

    The memory layout of x (channels last, transposed) is that of the output; an expanded x is accepted.

    Source: MRSNorm paper, section 3, Eqs. 1-2, and appendix C. Raises TypeError or ValueError for a number of groups or
    channels that is no positive integer, for channels that do not divide into groups of whole pairs, for an eps that is
    negative or not finite, and for inputs that have another number of channels, or none on `channel_dim`.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        channel_dim: int = 1,
        eps: float = 1e-6,
        elementwise_affine: bool = True,
        per_position: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        safe: bool = False,
    ) -> None:
        super().__init__()
        self.num_groups = check_count("num_groups", num_groups)
        self.num_channels = check_count("num_channels", num_channels, 2)
        if self.num_channels % (2 * self.num_groups):
            raise ValueError(
                f"num_groups is {num_groups}, num_channels is {num_channels}; "
                "accepted: groups of equally many pairs of channels, num_channels a multiple of 2 num_groups"
            )
        check_eps(eps)
        self.channel_dim, self.eps, self.per_position, self.safe = channel_dim, eps, per_position, safe
        self._add_weight(self.num_channels // 2, elementwise_affine, device, dtype)

    def extra_repr(self) -> str:
        """The constructor's arguments, as `torch.nn.GroupNorm` shows them."""
        safe = ", safe=True" if self.safe else ""
        return (
            f"{self.num_groups}, {self.num_channels}, channel_dim={self.channel_dim}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, per_position={self.per_position}{safe}"
        )

    def forward(self, x: Tensor) -> Tensor:
        """The norm of x, in its shape, dtype and memory layout."""
        dim = self._axis(x)
        after = 0 if self.per_position else x.dim() - 1 - dim  # dimensions that S averages over beside the channels
        grouped = x.movedim(dim, -1) if self.per_position else x
        dim = x.dim() - 1 if self.per_position else dim
        grouped = grouped.unflatten(dim, (self.num_groups, -1)).movedim(dim + 1, -1)  # (..., G, after, C/G)
        check_input(grouped, 2)
        weight = self.weight
        if weight is not None:
            check_device(weight, x)
            weight = weight.view(-1) if self.num_groups == 1 else weight.view(self.num_groups, *(1,) * after, -1)
        if self.num_groups == 1:  # rows of channels, with a weight of one dimension: the fast case
            grouped = grouped.squeeze(dim)
        rule = Rule(self.eps, tuple(-1 - d for d in range(after + 1)), 2, self.safe)
        o = MeanNorm.apply(grouped, weight, rule)[0]
        if self.num_groups == 1:
            o = o.unsqueeze(dim)
        o = o.movedim(-1, dim + 1).flatten(dim, dim + 1)
        return o.movedim(-1, self._axis(x)) if self.per_position else o

    def _axis(self, x: Tensor) -> int:
        dims = x.dim()
        if not -dims <= self.channel_dim < dims or x.shape[self.channel_dim] != self.num_channels:
            raise ValueError(
                f"x has shape {tuple(x.shape)}; accepted: {self.num_channels} channels on dimension {self.channel_dim}"
            )
        return self.channel_dim % dims
