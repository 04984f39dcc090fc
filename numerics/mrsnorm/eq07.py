"""Eq. 7 measured: the term that Eq. 5 subtracts at phasor i is parallel to z_i.

Source: MRSNorm paper, section 5.1, Eq. 7, at z_i != 0.

How it is measured. Where the upstream gradient is 0 the layer's gradient d_i is the interference term alone; what is
not parallel to z_i is |cross(d_i, z_i)| / |z_i|. At P = 1 no phasor is left for that.

Bound. Both components of d_i are the same number Omega / S (whatever it lost) times x_c / r_i, with r_i common as well.
So they are off by separate factors only in the quotient, in the product and in the last rounding, each at most 1 + t,
t = gamma_2 + u. A vector (x (1 + a), y (1 + b)) leaves the line of (x, y) by |x y| |a - b| / r, hence

    |cross(d_i, z_i)| / |z_i| <= |sin 2 theta_i| t |d_i|,   2 |x y| = r^2 |sin 2 theta_i|,

plus eta for what each component may lose to underflow, plus gamma_3 in fp64 of the two products that are subtracted.
RMSNorm subtracts xhat_i times a number, so its term is parallel to z_i as well, whatever the weights of the two
channels are, and the same bound holds for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from numerics.gradients import Layer, input_gradient
from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_norm, rms_norm
from numerics.rounding import FP64, direction, roundings


def printed(z: Tensor) -> Tensor:
    """The direction of the subtracted term, u_i: (T, P, 2) -> (T, P, 2)."""
    return z / torch.linalg.vector_norm(z, dim=-1, keepdim=True)


def cross(a: Tensor, b: Tensor) -> Tensor:
    """a_x b_y - a_y b_x: (..., 2), (..., 2) -> (...)."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _collect(b: Batch, layer: Layer, tally: Tally, line: Tensor) -> None:
    """How far the layer's interference term leaves the line (T, P, 2) it should be on."""
    d = phasor_view(input_gradient(layer, b.h, b.g))
    infinite = d.isinf().any(dim=-1)
    heard = b.quiet & (b.z != 0).any(dim=-1)
    tally.count(f"terms beyond the range of {b.fmt.name}, left out", (heard & infinite).sum())
    acc = b.fmt.accumulation
    last = 0.0 if b.fmt == acc else b.fmt.unit_roundoff
    t = (roundings(3, acc) + last) * (1 + 2.0**-6) + roundings(4, FP64)  # relative to the computed d, not the exact one
    u = direction(b.z).abs()
    size = torch.linalg.vector_norm(d, dim=-1)
    underflow = (b.fmt.underflow + 4 * acc.underflow) * u.sum(-1)
    bound = 2 * u.prod(dim=-1) * t * size + underflow
    tally.add(b, cross(d, line).abs(), bound, heard & ~infinite)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Two measurements a format: MRSNorm's subtracted term, and RMSNorm's read in pairs."""
    for fmt in formats(settings):
        tally = Tally("as printed", fmt, settings)
        scalar = Tally("RMSNorm does the same", fmt, settings)
        for b in batches("eq07", fmt, settings):
            if b.phasors == 1:
                continue
            b = replace(b, g=b.quiet_g)
            line = printed(b.z)
            _collect(b, partial(mrs_norm, weight=b.gamma, eps=b.eps), tally, line)
            weight = torch.stack((b.gamma, b.gamma.flip(0)), dim=-1).flatten()
            _collect(b, partial(rms_norm, weight=weight, eps=b.eps), scalar, direction(b.z))
        yield tally.measurement("part of the term across z_i, where g_i = 0 and z_i != 0")
        yield scalar.measurement("read in pairs")


MUTANTS = {
    "across": lambda z: (
        torch.stack((-z[..., 1], z[..., 0]), dim=-1) / torch.linalg.vector_norm(z, dim=-1, keepdim=True)
    ),
    "channels swapped": lambda z: z.flip(-1) / torch.linalg.vector_norm(z, dim=-1, keepdim=True),
    "conjugate": lambda z: z * z.new_tensor([1, -1]) / torch.linalg.vector_norm(z, dim=-1, keepdim=True),
    "row direction": lambda z: direction(z.mean(dim=-2, keepdim=True)).expand_as(z),
    "all NaN": lambda z: torch.full_like(z, torch.nan),
}
