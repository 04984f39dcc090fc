"""capacity measured: RMSNorm's outputs leave the lines through the input phasors, where all of MRSNorm's lie.

Claim: with half of the affine parameters MRSNorm represents what RMSNorm does, so every output pair of RMSNorm would
have to be parallel to its input pair. Source: MRSNorm paper, section 5.1. Corrected: the cross product of the two is

    o_i x z_i = (gamma_x - gamma_y) x_i y_i / S_RMS,   zero for all z_i iff the weights of the pair are equal.

Bounds. An output component of RMSNorm is off by the roundings of S_RMS and two more, and by its last rounding; the
cross product in fp64 by |lost_x y| + |lost_y x| and gamma_4 of its two products, the formula by S_RMS's roundings and
6.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.backward import defined
from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import rms_norm, rms_scale
from numerics.rounding import FP64, rms_roundings, rounded, roundings


def printed(z: Tensor, gamma: Tensor, scale: Tensor) -> Tensor:
    """The cross product that an output of MRSNorm has with its input, 0: (T, P, 2), (P, 2), (T, 1) -> (T, P)."""
    return torch.zeros_like(z[..., 0])


def corrected(z: Tensor, gamma: Tensor, scale: Tensor) -> Tensor:
    """RMSNorm's, (gamma_x - gamma_y) x_i y_i / S_RMS: (T, P, 2), (P, 2), (T, 1) -> (T, P)."""
    return (gamma[:, 0] - gamma[:, 1]) * z.prod(dim=-1) / scale


def _outputs(b: Batch) -> tuple[Tensor, Tensor]:
    """The cross products of RMSNorm's output pairs and input pairs, and the bound of their error: (T, P)."""
    o = phasor_view(rms_norm(b.h, b.gamma, b.eps))
    gamma, scale, acc = b.gamma.double().unflatten(-1, (-1, 2)), rms_scale(b.h.double(), b.eps), b.fmt.accumulation
    exact = gamma * b.z / scale[..., None]
    relative = roundings(rms_roundings(b.h.shape[-1]) + 3, acc)
    lost = rounded(relative * exact.abs() + acc.underflow * (gamma.abs() + 1), exact, b.fmt)
    products = (exact.abs() + lost) * b.z.abs().flip(-1)
    bound = (lost * b.z.abs().flip(-1)).sum(-1) + roundings(rms_roundings(b.h.shape[-1]) + 12, FP64) * products.sum(-1)
    return o[..., 0] * b.z[..., 1] - o[..., 1] * b.z[..., 0], bound


def measure(settings: Settings) -> Iterator[Measurement]:
    """Two measurements a format: the printed and the corrected deviation from the line through z_i."""
    for fmt in formats(settings):
        same, true = Tally("as printed", fmt, settings), Tally("corrected", fmt, settings)
        for b in batches("capacity", fmt, settings, channel_weights=True):
            deviation, bound = _outputs(b)
            used = defined(b)[:, None].expand_as(deviation)
            arguments = b.z, b.gamma.double().unflatten(-1, (-1, 2)), rms_scale(b.h.double(), b.eps)
            same.add(b, (deviation - printed(*arguments)).abs(), bound, used)
            true.add(b, (deviation - corrected(*arguments)).abs(), bound, used)
        yield same.measurement("cross product of output and input pair, a weight a channel")
        yield true.measurement("against (gamma_x - gamma_y) x_i y_i / S_RMS")


MUTANTS = {
    "the weights added": lambda z, gamma, s: gamma.sum(-1) * z.prod(dim=-1) / s,
    "all NaN": lambda z, gamma, s: torch.full_like(z[..., 0], torch.nan),
}
# with this in its place nothing is violated: the check does not say no to everything
REPAIRS = {"the true deviation": lambda z, gamma, s: (gamma[:, 0] - gamma[:, 1]) * z.prod(dim=-1) / s}
CORRECTED_MUTANTS = {
    "sign flipped": lambda z, gamma, s: (gamma[:, 1] - gamma[:, 0]) * z.prod(dim=-1) / s,
    "the weights added": lambda z, gamma, s: gamma.sum(-1) * z.prod(dim=-1) / s,
    "zero": lambda z, gamma, s: torch.zeros_like(z[..., 0]),
    "not divided by S": lambda z, gamma, s: (gamma[:, 0] - gamma[:, 1]) * z.prod(dim=-1),
    "all NaN": lambda z, gamma, s: torch.full_like(z[..., 0], torch.nan),
}
