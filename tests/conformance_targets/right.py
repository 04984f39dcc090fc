"""Right implementations, each written in another way."""

import torch
from torch import nn


class Phasors(nn.Module):
    """Pairs of channels by reshaping: what the wrong ones are variations of."""

    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels // 2))

    def forward(self, x):
        z = x.to(torch.float64 if x.dtype == torch.float64 else torch.float32).unflatten(-1, (-1, 2))
        return self.normalized(z).flatten(-2).to(x.dtype)

    def normalized(self, z):
        return z / self.scale(z) * self.gamma(z)

    def scale(self, z):
        return torch.linalg.vector_norm(z, dim=-1, keepdim=True).mean(-2, keepdim=True) + self.eps

    def gamma(self, z):
        return self.weight.to(z.dtype).unsqueeze(-1)


class Complex(nn.Module):
    """By complex numbers."""

    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels // 2))

    def forward(self, x):
        wide = x if x.dtype == torch.float64 else x.float()
        z = torch.view_as_complex(wide.contiguous().unflatten(-1, (-1, 2)))
        o = z * (self.weight.to(wide.dtype) / (z.abs().mean(-1, keepdim=True) + self.eps))
        return torch.view_as_real(o).flatten(-2).to(x.dtype)


class Einsum(nn.Module):
    """By sums over named indices; everything in fp32."""

    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels // 2))

    def forward(self, x):
        z = x.float().reshape(*x.shape[:-1], x.shape[-1] // 2, 2)
        squares = torch.einsum("...pc,...pc->...p", z, z)
        r = torch.where(squares > 0, squares, torch.ones_like(squares)).sqrt() * (squares > 0)
        mean = torch.einsum("...p->...", r) / r.shape[-1]
        o = torch.einsum("...pc,...,p->...pc", z, 1 / (mean + self.eps), self.weight.float())
        return o.reshape(x.shape).to(x.dtype)


def loops(x, weight, eps):
    """One phasor after the other."""
    wide = x.double()
    pairs = [wide[..., 2 * i : 2 * i + 2] for i in range(weight.numel())]
    total = torch.zeros_like(wide[..., :1])
    for pair in pairs:
        total = total + torch.linalg.vector_norm(pair, dim=-1, keepdim=True)
    scale = total / len(pairs) + eps
    return torch.cat([weight[i].double() * pair / scale for i, pair in enumerate(pairs)], dim=-1).to(x.dtype)


class _ByHand(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, eps):
        ctx.save_for_backward(x, weight)
        ctx.eps = eps
        z = x.double().unflatten(-1, (-1, 2))
        s = z.norm(dim=-1, keepdim=True).mean(-2, keepdim=True) + eps
        return (weight.double()[:, None] * z / s).flatten(-2).to(x.dtype)

    @staticmethod
    def backward(ctx, dy):
        x, weight = ctx.saved_tensors
        return *by_hand(x, weight, dy, ctx.eps), None


def by_hand(x, weight, dy, eps):
    """Eq. 5 and the gradient of gamma, written out."""
    z, g = x.double().unflatten(-1, (-1, 2)), dy.double().unflatten(-1, (-1, 2))
    r = z.norm(dim=-1, keepdim=True)
    s = r.mean(-2, keepdim=True) + eps
    weighted = weight.double()[:, None] * g
    omega = (weighted * z / s).sum(-1, keepdim=True).mean(-2, keepdim=True)
    u = torch.where(r > 0, z / r, torch.zeros_like(z))
    dx = (weighted - u * omega) / s
    dweight = (g * z / s).sum(-1).flatten(0, -2).sum(0) if x.dim() > 1 else (g * z / s).sum(-1)
    return dx.flatten(-2).to(x.dtype), dweight.to(weight.dtype)


class HandWritten(nn.Module):
    """A forward and a backward pass written by hand."""

    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(channels // 2))

    def forward(self, x):
        return _ByHand.apply(x, self.weight, self.eps)


class Compiled(nn.Module):
    """Traced and differentiated by the compiler's front end; its code is not generated, which takes long."""

    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.inner = Phasors(channels, eps)
        self.traced = torch.compile(self.inner, backend="aot_eager", dynamic=True)

    def named_parameters(self, *arguments, **options):
        return self.inner.named_parameters(*arguments, **options)

    def forward(self, x):
        return self.traced(x)


def factory(channels, eps=1e-6):
    """A function that returns a module."""
    return Phasors(channels, eps)


class Fp32Only(Phasors):
    def forward(self, x):
        if x.dtype != torch.float32:
            raise TypeError(f"x has dtype {x.dtype}, not float32")
        return super().forward(x)


class RowsOnly(Fp32Only):
    """Right, for (T, N) in fp32 alone."""

    def forward(self, x):
        if x.dim() != 2:
            raise ValueError(f"x has {x.dim()} dimensions, not 2")
        return super().forward(x)


class Padded(Phasors):
    """Returns a narrow view of a wide buffer."""

    def forward(self, x):
        found = super().forward(x)
        return torch.nn.functional.pad(found, (0, 128))[..., : x.shape[-1]]
