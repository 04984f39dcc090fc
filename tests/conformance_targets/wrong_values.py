"""Implementations with a wrong forward pass."""

import torch
from right import Phasors
from torch import nn


def r_of(z):
    return torch.linalg.vector_norm(z, dim=-1, keepdim=True)


class EpsInsideRoot(Phasors):
    def scale(self, z):
        return (z.square().sum(-1, keepdim=True) + self.eps).sqrt().mean(-2, keepdim=True)


class EpsMissing(Phasors):
    def scale(self, z):
        return r_of(z).mean(-2, keepdim=True)


class EpsClamped(Phasors):
    def scale(self, z):
        return r_of(z).mean(-2, keepdim=True).clamp_min(self.eps)


class EpsSwallowed(Phasors):
    def forward(self, x):
        self.narrow = x.dtype
        return super().forward(x)

    def scale(self, z):
        return r_of(z).mean(-2, keepdim=True) + torch.tensor(self.eps, dtype=self.narrow)


class HalfSplit(Phasors):
    def forward(self, x):
        z = x.float().unflatten(-1, (2, -1)).transpose(-1, -2)
        return self.normalized(z).transpose(-1, -2).flatten(-2).to(x.dtype)


class SumForMean(Phasors):
    def scale(self, z):
        return r_of(z).sum(-2, keepdim=True) + self.eps


class RootMeanSquare(Phasors):
    def scale(self, z):
        return (r_of(z).square().mean(-2, keepdim=True) + self.eps).sqrt()


class MeanOverTokens(Phasors):
    def scale(self, z):
        return r_of(z).mean() + self.eps


class MeanOverBatch(Phasors):
    def scale(self, z):
        return r_of(z).mean((0, -2), keepdim=True) + self.eps


class TimeLeak(Phasors):
    def scale(self, z):
        steps = torch.arange(1, z.shape[1] + 1, dtype=z.dtype).reshape(1, -1, 1, 1)
        return r_of(z).mean(-2, keepdim=True).cumsum(1) / steps + self.eps


class GammaTwice(Phasors):
    def gamma(self, z):
        return super().gamma(z).square()


class GammaMissing(Phasors):
    def gamma(self, z):
        return super().gamma(z) * 0 + 1


class NoGamma(nn.Module):
    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps

    def forward(self, x):
        z = x.float().unflatten(-1, (-1, 2))
        return (z / (r_of(z).mean(-2, keepdim=True) + self.eps)).flatten(-2).to(x.dtype)


class OnePlusGamma(Phasors):
    def gamma(self, z):
        return 1 + super().gamma(z)


class GammaPerChannel(Phasors):
    def __init__(self, channels, eps=1e-6):
        super().__init__(channels, eps)
        self.weight = nn.Parameter(torch.ones(channels))

    def gamma(self, z):
        return self.weight.to(z.dtype).unflatten(-1, (-1, 2))


class GammaAfterCast(Phasors):
    def forward(self, x):
        z = x.float().unflatten(-1, (-1, 2))
        return ((z / self.scale(z)).to(x.dtype) * self.weight[:, None]).flatten(-2)


class GammaBeforeCast(Phasors):
    def forward(self, x):
        z = x.float().unflatten(-1, (-1, 2))
        weighted = x.unflatten(-1, (-1, 2)) * self.weight[:, None]
        return (weighted.float() / self.scale(z)).flatten(-2).to(x.dtype)


class SquaresInHalf(Phasors):
    def forward(self, x):
        z = x.unflatten(-1, (-1, 2))
        r = (z[..., 0] * z[..., 0] + z[..., 1] * z[..., 1]).float()
        r = torch.where(r > 0, r, torch.ones_like(r)).sqrt() * (r > 0)
        scale = r.mean(-1, keepdim=True).unsqueeze(-1) + self.eps
        return (z.float() / scale * self.gamma(z.float())).flatten(-2).to(x.dtype)


class ThroughHalf(Phasors):
    def scale(self, z):
        return super().scale(z).to(torch.bfloat16).to(z.dtype)


class WrongDtype(Phasors):
    def forward(self, x):
        return super().forward(x).float()


class HidesNan(Phasors):
    def forward(self, x):
        return torch.nan_to_num(super().forward(torch.nan_to_num(x)))


class EightChannelsOnly(Phasors):
    def forward(self, x):
        if x.shape[-1] % 4:
            raise ValueError(f"{x.shape[-1]} channels are not a multiple of 4")
        return super().forward(x)


class NoEmptyBatch(Phasors):
    def forward(self, x):
        x.amax()
        return super().forward(x)


class Clipped(Phasors):
    def forward(self, x):
        return super().forward(x.clamp(-1000, 1000))


class OffsetInside(Phasors):
    def scale(self, z):
        return super().scale(z) + 1e-3
