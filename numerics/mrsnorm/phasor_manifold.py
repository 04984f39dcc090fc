"""phasor-manifold measured: normalized phasors have mean magnitude 1 at eps = 0, and 1 - eps/S otherwise.

Claim: activations are confined to one set of phasors, {(1/P) sum |zhat_k| = 1}. Source: MRSNorm paper, abstract, under
the conditions eps = 0 and no affine weight.

Bound. Each component of zhat is off by `rounding.output_error` and its last rounding, so |zhat_k| by at most the norm
of the pair, and the mean by the mean of these; its evaluation in fp64 adds gamma_(P + 8), and 1 - eps/S the roundings
of S and two more. How far single magnitudes are from 1 is reported: they lie on no circle.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import torch

from numerics.backward import defined
from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_norm, mrs_scale
from numerics.rounding import FP64, output_error, rounded, roundings, scale_roundings


def printed() -> float:
    """The mean magnitude of every normalized vector at eps = 0."""
    return 1.0


def _collect(b: Batch, tally: Tally, spread: list[float]) -> None:
    """The mean of |zhat_k| against 1 (eps = 0) or 1 - eps/S."""
    scale = mrs_scale(b.h.double(), b.eps)
    used = defined(b)
    zhat = b.z / scale[..., None]
    o = phasor_view(mrs_norm(b.h, None, b.eps))
    one = torch.ones(1, dtype=torch.float64, device=o.device)
    lost = rounded(output_error(zhat, one, b.phasors, b.fmt), zhat, b.fmt)
    size = torch.linalg.vector_norm(o, dim=-1)
    expected = printed() if b.eps == 0 else 1 - b.eps / scale.squeeze(-1)
    slack = roundings(scale_roundings(b.phasors) + b.phasors + 12, FP64)
    bound = torch.linalg.vector_norm(lost, dim=-1).mean(-1) + slack
    tally.add(b, (size.mean(-1) - expected).abs(), bound, used)
    if b.eps == 0 and used.any():
        spread[:] = [min(spread[0], size[used].min().item()), max(spread[1], size[used].max().item())]


def measure(settings: Settings) -> Iterator[Measurement]:
    """Two measurements a format: at eps = 0, and with eps."""
    for fmt in formats(settings):
        surface = Tally("as printed", fmt, settings)
        ball = Tally("an open ball for eps > 0", fmt, settings)
        spread = [math.inf, 0.0]
        for b in batches("phasor-manifold", fmt, settings):
            _collect(replace(b, eps=0.0), surface, spread)
            _collect(replace(b, eps=b.eps or 2.0**-6), ball, spread)
        yield surface.measurement(f"eps = 0; single magnitudes from {spread[0]:.2g} to {spread[1]:.3g}")
        yield ball.measurement("against 1 - eps/S")


MUTANTS = {
    "one half": lambda: 0.5,
    "two": lambda: 2.0,
    "a percent more": lambda: 1.01,
    "NaN": lambda: math.nan,
}
