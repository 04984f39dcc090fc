"""Eq. 6 measured: the interference term has norm |Omega| / S, the same at every phasor.

Source: MRSNorm paper, section 5.1, Eq. 6, at z_i != 0.

How it is measured. The upstream gradient is 0 on a random half of the phasors. There dL/dz_i = -u_i Omega / S has
nothing but the interference term, so the norm of the layer's gradient is the quantity itself. Taking it from phasors
with g_i != 0, as gamma_i g_i / S - dL/dz_i, would measure cancellation. At P = 1 there is no such phasor.

Bound of the norm. Each component is off by at most `rounding.gradient_error` (its direct part is 0) plus the rounding
to the input's format, so the norm is off by at most the norm of that pair, and fp64 evaluates both norms to within
gamma_4 and the formula to within the same bound with its own unit roundoff.

Bound of the differences. The layer computes Omega / S once a row, so what that number lost is common to all phasors.
They differ only by their directions, x_c / r_i (3 roundings in r_i, 1 in the quotient, 1 in the product, 1 spare), and
by the last rounding: a bound that does not grow with P. Rows with an infinite component are left to the first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from numerics.gradients import input_gradient
from numerics.inputs import batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_norm, mrs_scale
from numerics.rounding import FP64, Format, gradient_error, rounded, roundings, settle_overflow


def scale(z: Tensor, eps: float) -> Tensor:
    """S: (T, P, 2) -> (T, 1)."""
    return torch.linalg.vector_norm(z, dim=-1).mean(dim=-1, keepdim=True) + eps


def omega(z: Tensor, g: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Omega: (T, P, 2), (T, P, 2), (P,) -> (T, 1)."""
    projected = (g * z).sum(-1) / scale(z, eps)
    return (gamma * projected).sum(-1, keepdim=True) / z.shape[-2]


def printed(z: Tensor, g: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """|Omega| / S, the norm of the subtracted term of each phasor: (T, P, 2), (T, P, 2), (P,) -> (T, P)."""
    return (omega(z, g, gamma, eps).abs() / scale(z, eps)).expand(z.shape[:-1])


def measure(settings: Settings) -> Iterator[Measurement]:
    """Two measurements a format: the norm, and how far it differs between phasors of a row."""
    for fmt in formats(settings):
        value = Tally("as printed", fmt, settings)
        uniform = Tally("the same for every phasor", fmt, settings)
        for b in batches("eq06", fmt, settings):
            if b.phasors == 1:
                continue
            b = replace(b, g=b.quiet_g)
            layer = partial(mrs_norm, weight=b.gamma, eps=b.eps)
            z, g, gamma = b.z, phasor_view(b.g), b.gamma.double()
            reference = phasor_view(input_gradient(layer, b.h.double(), b.g.double()))
            measured = phasor_view(input_gradient(layer, b.h, b.g))
            s = mrs_scale(b.h.double(), b.eps)
            lost, lost64 = (gradient_error(z, g, gamma, s, f) for f in (fmt, FP64))
            settled, overflowed = settle_overflow(measured, reference, lost + lost64, fmt)
            heard = b.quiet & (z != 0).any(dim=-1)
            value.count_overflow(overflowed & heard[..., None])
            norms = torch.linalg.vector_norm(settled, dim=-1)
            bound = torch.linalg.vector_norm(rounded(lost, reference, fmt) + 2 * lost64, dim=-1)
            bound = bound + roundings(8, FP64) * norms.nan_to_num(0, 0, 0)
            exact = printed(z, g, gamma, b.eps)
            value.add(b, (norms - exact).abs(), bound, heard)
            small = heard & (exact > 0) & (exact < fmt.smallest_normal)
            value.count(f"terms below the normal range of {fmt.name}", small.sum())
            finite = ~overflowed.flatten(1).any(dim=-1, keepdim=True)
            uniform.add(b, *_spread(norms, fmt, heard & finite))
        yield value.measurement("|Omega| / S on phasors with g_i = 0, z_i != 0")
        yield uniform.measurement("largest minus smallest norm within a row")


def _spread(norms: Tensor, fmt: Format, where: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Largest minus smallest norm of a row, the bound of that difference, and where there are two to compare."""
    top = norms.masked_fill(~where, -torch.inf).max(dim=-1, keepdim=True).values
    low = norms.masked_fill(~where, torch.inf).min(dim=-1, keepdim=True).values
    relative = roundings(6, fmt.accumulation) + roundings(8, FP64)
    largest = top.nan_to_num(0, 0, 0) * (1 + 2.0**-6)  # at least |Omega| / S as the layer has it
    underflow = 4 * (fmt.underflow + fmt.accumulation.underflow)
    last = 0.0 if fmt == fmt.accumulation else fmt.unit_roundoff * (1 + relative)
    bound = 2 * (relative + last) * largest + underflow
    return top - low, bound, where.sum(-1, keepdim=True) > 1


def _zhat_norm(z: Tensor, g: Tensor, a: Tensor, e: float) -> Tensor:
    return torch.linalg.vector_norm(z, dim=-1) / scale(z, e) * omega(z, g, a, e).abs() / scale(z, e)


MUTANTS = {
    "without 1/P": lambda z, g, a, e: (z.shape[-2] * omega(z, g, a, e).abs() / scale(z, e)).expand(z.shape[:-1]),
    "signed": lambda z, g, a, e: (omega(z, g, a, e) / scale(z, e)).expand(z.shape[:-1]),
    "times S": lambda z, g, a, e: (omega(z, g, a, e).abs() * scale(z, e)).expand(z.shape[:-1]),
    "post-affine zhat": lambda z, g, a, e: (omega(z, g, a * a, e).abs() / scale(z, e)).expand(z.shape[:-1]),
    "gamma forgotten": lambda z, g, a, e: (omega(z, g, a * 0 + 1, e).abs() / scale(z, e)).expand(z.shape[:-1]),
    "eps forgotten": lambda z, g, a, e: (omega(z, g, a, 0.0).abs() / scale(z, 0.0)).expand(z.shape[:-1]),
    "zhat for u": _zhat_norm,
    "all NaN": lambda z, g, a, e: torch.full_like(z[..., 0], torch.nan),
}
