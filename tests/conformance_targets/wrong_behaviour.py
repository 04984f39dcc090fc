"""Implementations that remember, forget, cheat, break or hang."""

import contextlib
import os
import time

import torch
from right import Phasors, by_hand
from torch import nn


class Stateful(Phasors):
    """A running scale."""

    def __init__(self, channels, eps=1e-6):
        super().__init__(channels, eps)
        self.running = None

    def scale(self, z):
        now = super().scale(z)
        if self.running is None or self.running.shape != now.shape:
            self.running = now.detach()
        self.running = 0.9 * self.running + 0.1 * now.detach()
        return now - now.detach() + self.running


class FirstCalls(Phasors):
    calls = 0

    def forward(self, x):
        self.calls += 1
        return super().forward(x) if self.calls <= 20 else torch.zeros_like(x) * self.weight.sum()


class CachedByPointer(Phasors):
    def __init__(self, channels, eps=1e-6):
        super().__init__(channels, eps)
        self.cache = {}

    def forward(self, x):
        key = (x.data_ptr(), x.shape)
        if key not in self.cache:
            self.cache[key] = super().forward(x)
        return self.cache[key]


class CachedByShape(Phasors):
    def __init__(self, channels, eps=1e-6):
        super().__init__(channels, eps)
        self.scales = {}

    def scale(self, z):
        return self.scales.setdefault((z.shape, z.dtype), super().scale(z).detach())


class CachesGamma(Phasors):
    first = None

    def gamma(self, z):
        if self.first is None:
            self.first = super().gamma(z).detach().clone()
        return self.first + 0 * super().gamma(z)


class OneBuffer(Phasors):
    """All calls write to the same memory."""

    def __init__(self, channels, eps=1e-6):
        super().__init__(channels, eps)
        self.buffers = {}

    def forward(self, x):
        if torch.is_grad_enabled():
            return super().forward(x)
        found = super().forward(x)
        return self.buffers.setdefault((x.shape, x.dtype), torch.empty_like(found)).copy_(found)


class _Saved(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, module):
        module.saved = x, weight
        ctx.module = module
        return module.plain(x)

    @staticmethod
    def backward(ctx, dy):
        return *by_hand(*ctx.module.saved, dy, ctx.module.eps), None


class _BothOrNone(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight, module):
        ctx.save_for_backward(x, weight)
        ctx.module = module
        return module.plain(x)

    @staticmethod
    def backward(ctx, dy):
        if not all(ctx.needs_input_grad[:2]):
            return torch.zeros_like(dy), torch.zeros_like(ctx.saved_tensors[1]), None
        return *by_hand(*ctx.saved_tensors, dy, ctx.module.eps), None


class BothOrNone(Phasors):
    """Takes it for granted that input and weight both need gradients."""

    def plain(self, x):
        return super().forward(x)

    def forward(self, x):
        return _BothOrNone.apply(x, self.weight, self)


class SavesOnTheModule(Phasors):
    """What the backward pass needs is kept where the next forward pass overwrites it."""

    def plain(self, x):
        return super().forward(x)

    def forward(self, x):
        return _Saved.apply(x, self.weight, self)


class WrongWhenCompiled(Phasors):
    def scale(self, z):
        return super().scale(z) * (2 if torch.compiler.is_compiling() else 1)


class Zeros(Phasors):
    def forward(self, x):
        return torch.zeros_like(x) * self.weight.sum()


class Unwritten(nn.Module):
    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels // 2))

    def forward(self, x):
        return torch.empty_like(x)


class Grid(Phasors):
    """One block a row, in a dimension of the grid that holds 65,535."""

    def forward(self, x):
        flat = x.reshape(-1, x.shape[-1])
        out = torch.empty_like(flat)
        out[:65535] = super().forward(flat[:65535])
        return out.reshape(x.shape)


class TampersWithTorch(nn.Module):
    """Returns zeros, and makes everything look equal."""

    def __init__(self, channels, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels // 2))
        for name in ("allclose", "equal"):
            setattr(torch, name, lambda *arguments, **options: True)
        torch.eq = lambda left, *arguments, **options: torch.ones_like(left, dtype=torch.bool)
        torch.linalg.vector_norm = lambda x, **options: torch.zeros_like(x[..., :1])
        torch.Tensor.abs = torch.Tensor.__sub__ = lambda self, *arguments: self.new_zeros(self.shape)
        torch.Tensor.numpy = torch.Tensor.data_ptr = torch.Tensor.tolist = lambda self: None
        torch.Tensor.shape = property(lambda self: (2, 3, 16))

    def forward(self, x):
        return torch.zeros(torch.Tensor.size(x), dtype=x.dtype)


class Lying(torch.Tensor):
    """A tensor that gives its address as another's."""

    def data_ptr(self):
        return 0


class ReturnsSubclass(Phasors):
    def forward(self, x):
        return super().forward(x).as_subclass(Lying)


class IgnoresStrides(Phasors):
    def forward(self, x):
        if not x.is_contiguous() and x.untyped_storage().nbytes() >= x.nbytes:
            x = torch.as_strided(x, x.shape, torch.empty(x.shape).stride())
        return super().forward(x)


class NeedsContiguous(Phasors):
    def forward(self, x):
        return super().forward(x.view(x.shape[0], -1).view(x.shape))


class InPlace(Phasors):
    def forward(self, x):
        found = super().forward(x)
        x.data.copy_(found.detach())
        return found


class Noisy(Phasors):
    def forward(self, x):
        noise = torch.where(torch.rand(x.shape) < 0.5, 1.0, 1.0 + 2.0**-22)
        return (super().forward(x.float()) * noise).to(x.dtype)


class Raises(Phasors):
    def forward(self, x):
        raise RuntimeError("there is no kernel for this")


class RaisesOddly(Phasors):
    def forward(self, x):
        raise RuntimeError("a lone surrogate \ud800, a bell \a\n and a second line")


class Exits(Phasors):
    def forward(self, x):
        os._exit(0)


class Crashes(Phasors):
    def forward(self, x):
        os.kill(os.getpid(), 11)


class Hangs(Phasors):
    def forward(self, x):
        while True:
            time.sleep(1)


class Prints(Phasors):
    def forward(self, x):
        print("normalizing", x.shape)
        return super().forward(x)


class Text(Phasors):
    def forward(self, x):
        return "normalized"


class Pair(Phasors):
    def forward(self, x):
        found = super().forward(x)
        return found, found


class WrongShape(Phasors):
    def forward(self, x):
        return super().forward(x)[..., :1]


class Devours(Phasors):
    def forward(self, x):
        return super().forward(x) + torch.empty(2**36)[0]


class Interferes(Phasors):
    """Writes garbage into every open descriptor, the channel to the parent among them."""

    def forward(self, x):
        for descriptor in range(3, 64):
            with contextlib.suppress(OSError):
                os.write(descriptor, b"\xff" * 64)
        return super().forward(x)


class KillsItsParent(Phasors):
    def forward(self, x):
        os.kill(os.getppid(), 9)
        return super().forward(x)


class SetsDefaultDtype(Phasors):
    def forward(self, x):
        torch.set_default_dtype(torch.float64)
        return super().forward(x)


class WritesWeight(Phasors):
    def forward(self, x):
        found = super().forward(x)
        self.weight.data.mul_(1.01)
        return found
