"""Implementations with a right forward pass and a wrong backward pass."""

import torch
from right import Phasors, by_hand
from torch import nn


class StatisticDetached(Phasors):
    def scale(self, z):
        return super().scale(z).detach()


class InputDetached(Phasors):
    def forward(self, x):
        return super().forward(x.detach()) + 0 * x


class WeightDetached(Phasors):
    def gamma(self, z):
        return super().gamma(z).detach() + 0 * super().gamma(z)


class NanAtZeroPair(Phasors):
    def scale(self, z):
        return z.square().sum(-1, keepdim=True).sqrt().mean(-2, keepdim=True) + self.eps


class ZeroGradientAroundZeroPair(Phasors):
    def scale(self, z):
        r = z.square().sum(-1, keepdim=True).sqrt()
        if r.requires_grad:
            r.register_hook(lambda g: g)
        return r.mean(-2, keepdim=True) + self.eps

    def forward(self, x):
        if x.requires_grad:
            x = x * 1
            x.register_hook(lambda g: torch.where(g.isnan().any(-1, keepdim=True), torch.zeros_like(g), g))
        return super().forward(x)


class ByFunction(nn.Module):
    """Calls `backward` of the class, a function of x, weight, dy and eps."""

    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels // 2))

    def forward(self, x):
        return _Function.apply(x, self.weight, self.eps, self.gradient)


class _Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps, gradient):
        ctx.save_for_backward(x, weight)
        ctx.eps, ctx.gradient = eps, gradient
        z = x.double().unflatten(-1, (-1, 2))
        s = z.norm(dim=-1, keepdim=True).mean(-2, keepdim=True) + eps
        return (weight.double()[:, None] * z / s).flatten(-2).to(x.dtype)

    @staticmethod
    def backward(ctx, dy):
        x, weight = ctx.saved_tensors
        return *ctx.gradient(x, weight, dy, ctx.eps), None, None


def gamma_counted_twice(x, weight, dy, eps):
    """Eq. 5 with zhat after the affine weight."""
    z, g = x.double().unflatten(-1, (-1, 2)), dy.double().unflatten(-1, (-1, 2))
    r, gamma = z.norm(dim=-1, keepdim=True), weight.double()[:, None]
    s = r.mean(-2, keepdim=True) + eps
    omega = (gamma * gamma * g * z / s).sum(-1, keepdim=True).mean(-2, keepdim=True)
    u = torch.where(r > 0, z / r, torch.zeros_like(z))
    return ((gamma * g - u * omega) / s).flatten(-2).to(x.dtype), by_hand(x, weight, dy, eps)[1]


def weight_zero(x, weight, dy, eps):
    return by_hand(x, weight, dy, eps)[0], torch.zeros_like(weight)


def weight_mean(x, weight, dy, eps):
    dx, dweight = by_hand(x, weight, dy, eps)
    return dx, dweight / x[..., 0].numel()


def weight_undivided(x, weight, dy, eps):
    products = (x.double() * dy.double()).unflatten(-1, (-1, 2)).sum(-1).flatten(0, -2).sum(0)
    return by_hand(x, weight, dy, eps)[0], products.to(weight.dtype)


def weight_first_block(x, weight, dy, eps):
    rows = slice(0, 1024)
    flat = [each.reshape(-1, each.shape[-1])[rows] for each in (x, dy)]
    return by_hand(x, weight, dy, eps)[0], by_hand(flat[0], weight, flat[1], eps)[1]


def upstream_contiguous(x, weight, dy, eps):
    flat = torch.as_strided(dy, x.shape, x.contiguous().stride()) if dy.untyped_storage().nbytes() >= x.nbytes else dy
    return by_hand(x, weight, flat, eps)


def upstream_ones(x, weight, dy, eps):
    return by_hand(x, weight, torch.ones_like(dy), eps)


def upstream_modified(x, weight, dy, eps):
    found = by_hand(x, weight, dy, eps)
    dy.mul_(2)
    return found


def input_half_written(x, weight, dy, eps):
    dx = torch.empty_like(x)
    rows = x.shape[0] // 2
    dx[:rows] = by_hand(x, weight, dy, eps)[0][:rows]
    return dx, by_hand(x, weight, dy, eps)[1]


def weight_added_up_in_half(x, weight, dy, eps):
    z, g = x.double().unflatten(-1, (-1, 2)), dy.double().unflatten(-1, (-1, 2))
    s = z.norm(dim=-1, keepdim=True).mean(-2, keepdim=True) + eps
    total = torch.zeros_like(weight, dtype=torch.bfloat16)
    for row in (g * z / s).sum(-1).flatten(0, -2)[:128]:
        total = total + row.bfloat16()
    rest = (g * z / s).sum(-1).flatten(0, -2)[128:].sum(0)
    return by_hand(x, weight, dy, eps)[0], (total + rest).to(weight.dtype)


class WeightRemembered:
    """Adds this weight gradient to those of earlier calls, as one does that forgets to clear its buffer."""

    def __init__(self):
        self.total = {}

    def __call__(self, x, weight, dy, eps):
        dx, dweight = by_hand(x, weight, dy, eps)
        key = (weight.shape, weight.dtype)
        self.total[key] = self.total.get(key, 0) + dweight.double()
        return dx, self.total[key].to(weight.dtype)


class InputHalfWritten(ByFunction):
    gradient = staticmethod(input_half_written)


class WeightAddedUpInHalf(ByFunction):
    gradient = staticmethod(weight_added_up_in_half)


class WeightBufferNotCleared(ByFunction):
    gradient = staticmethod(WeightRemembered())


class GammaCountedTwice(ByFunction):
    gradient = staticmethod(gamma_counted_twice)


class WeightZero(ByFunction):
    gradient = staticmethod(weight_zero)


class WeightMean(ByFunction):
    gradient = staticmethod(weight_mean)


class WeightUndivided(ByFunction):
    gradient = staticmethod(weight_undivided)


class WeightFirstBlock(ByFunction):
    gradient = staticmethod(weight_first_block)


class UpstreamContiguous(ByFunction):
    gradient = staticmethod(upstream_contiguous)


class UpstreamOnes(ByFunction):
    gradient = staticmethod(upstream_ones)


class UpstreamModified(ByFunction):
    gradient = staticmethod(upstream_modified)
