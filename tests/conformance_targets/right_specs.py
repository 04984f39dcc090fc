"""Right implementations of the other layers."""

import torch
from torch import nn


class LayerNorm(nn.Module):
    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        wide = x.float()
        centred = wide - wide.mean(-1, keepdim=True)
        normed = centred * torch.rsqrt(centred.square().mean(-1, keepdim=True) + self.eps)
        return (normed * self.weight.float() + self.bias.float()).to(x.dtype)


class QueryKey(nn.Module):
    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps

    def forward(self, q, k):
        return self.normed(q), self.normed(k)

    def normed(self, x):
        z = x.float().unflatten(-1, (-1, 2))
        s = torch.linalg.vector_norm(z, dim=-1, keepdim=True).mean(-2, keepdim=True) + self.eps
        return (z / s).flatten(-2).to(x.dtype)
