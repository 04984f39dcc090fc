"""Wrong implementations of the other layers."""

import torch
from torch import nn


class Rms(nn.Module):
    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels))

    def forward(self, x):
        wide = self.prepared(x.float())
        return (wide / self.scale(wide) * self.weight.float()).to(x.dtype)

    def prepared(self, x):
        return x

    def scale(self, x):
        return (x.square().mean(-1, keepdim=True) + self.eps).sqrt()


class RmsEpsOutside(Rms):
    def scale(self, x):
        return torch.linalg.vector_norm(x, dim=-1, keepdim=True) / x.shape[-1] ** 0.5 + self.eps


class RmsCentred(Rms):
    def prepared(self, x):
        return x - x.mean(-1, keepdim=True)


class RmsDetached(Rms):
    def scale(self, x):
        return super().scale(x).detach()


class LayerNormBiased(nn.Module):
    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels))
        self.bias = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        wide = x.float()
        scale = (wide.var(-1, keepdim=True) + self.eps).sqrt()
        normed = (wide - wide.mean(-1, keepdim=True)) / scale
        return (normed * self.weight.float() + self.bias.float()).to(x.dtype)


class MaWithoutW(Rms):
    """The second term carries no gradient back to the input."""

    def __init__(self, channels, eps=1e-6):
        super().__init__(channels, eps)
        self.magnitude = nn.Parameter(torch.zeros(channels))

    def forward(self, x):
        wide = x.float()
        scale = self.scale(wide)
        second = 0.1 * self.magnitude.float() * scale.detach().log()
        return (2 * self.weight.float() * wide / scale + second).to(x.dtype)


class OneGroup(nn.Module):
    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels // 2))

    def forward(self, x):
        z = x.float().unflatten(-1, (-1, 2))
        s = torch.linalg.vector_norm(z, dim=-1, keepdim=True).mean(-2, keepdim=True) + self.eps
        return (z / s * self.weight.float()[:, None]).flatten(-2).to(x.dtype)


class KeyByQuery(nn.Module):
    """The keys are divided by the scale of the queries."""

    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps

    def forward(self, q, k):
        r = torch.linalg.vector_norm(q.float().unflatten(-1, (-1, 2)), dim=-1)
        s = r.mean(-1, keepdim=True) + self.eps
        return (q.float() / s).to(q.dtype), (k.float() / s).to(k.dtype)
