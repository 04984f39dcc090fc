"""The module of the MRSNorm paper's appendix C, as a reader types it in: its names, its operations in its order."""

import torch
from torch import nn


class GroupMRSNorm(nn.Module):
    def __init__(self, num_groups: int, num_channels: int, channel_dim: int, eps: float = 1e-6):
        super().__init__()
        if num_channels % 2 != 0:
            raise ValueError(f"num_channels is {num_channels}; accepted: an even number")
        num_bundles = num_channels // 2
        if num_bundles % num_groups != 0:
            raise ValueError(f"num_groups is {num_groups}; accepted: a divisor of {num_bundles}")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.num_bundles = num_bundles
        self.channel_dim = channel_dim
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(num_bundles))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.ones_(self.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        shape, dim = x.shape, self.channel_dim if self.channel_dim >= 0 else x.dim() + self.channel_dim
        before, after, per_group = shape[:dim], shape[dim + 1 :], self.num_bundles // self.num_groups
        pairs = x.to(torch.float32).view(*before, self.num_bundles, 2, *after)
        magnitude = torch.norm(pairs, p=2, dim=dim + 1, keepdim=True)
        grouped = magnitude.view(*before, self.num_groups, per_group, 1, *after)
        scale = torch.mean(grouped, dim=tuple(range(dim + 1, grouped.dim())), keepdim=True) + self.eps
        normed = pairs.view(*before, self.num_groups, per_group, 2, *after) / scale
        weight = torch.repeat_interleave(self.weight, repeats=2, dim=0).view(
            *(self.num_channels if axis == dim else 1 for axis in range(x.dim()))
        )
        return (normed.view(*shape) * weight).to(x.dtype)
