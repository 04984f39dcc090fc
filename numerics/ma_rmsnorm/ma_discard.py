"""ma-discard measured: RMSNorm forgets a common factor at eps = 0, and keeps it with eps > 0.

Claim: RMSNorm(c x) = RMSNorm(x) for c > 0. Source: MA-RMSNorm article, introduction and section 2.1; eps = 0, x != 0.

Bound: none. For c a power of two every operation on c x has the result on x times a power of two, as long as c x is
exact and no square underflows, so the outputs are equal bit for bit. Where c x is not exact the rows are left out.

With eps > 0 the mean square q of the output (gamma = 1) gives the scale back, R^2 = eps q / (1 - q). If every output
is off by at most a relative d, q is by e = 2 d + d^2 and gamma_(N + 2) in fp64, and R^2 lies between the values at
q / (1 + e) and q / (1 - e), which widen by 1 / (1 - q) = 1 + R^2 / eps: near R = sqrt(eps) the magnitude is there, far
above it is lost to rounding. Rows where q / (1 - e) reaches 1, where nothing bounds R any more, are counted as lost.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.inputs import batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import rms_norm
from numerics.rounding import FP64, Format, rms_roundings, roundings

SLUG = "ma-discard"
FACTOR = 0.25  # c
KEPT = "with eps the magnitude stays in the output"


def printed(y: Tensor, factor: float) -> Tensor:
    """RMSNorm(c x) in terms of y = RMSNorm(x): (T, N) -> (T, N)."""
    return y


def measure(settings: Settings) -> Iterator[Measurement]:
    """Outputs of x and c x, and R from the output; two measurements a format."""
    for fmt in formats(settings):
        same, kept = Tally("as printed", fmt, settings), Tally(KEPT, fmt, settings)
        for b in batches(SLUG, fmt, settings, channel_weights=True, eps_zero=True):
            scaled = b.h * FACTOR
            exact_rows = (scaled / FACTOR == b.h).all(-1) & (b.h != 0).any(-1)
            left, right = (rms_norm(x, b.gamma, 0.0).double() for x in (scaled, b.h))
            error = (left - printed(right, FACTOR)).abs()
            same.add(b, phasor_view(error), torch.zeros_like(phasor_view(error)), exact_rows[:, None, None])
        for b in batches(SLUG, fmt, settings):
            if b.eps == 0:
                continue
            y = rms_norm(b.h, None, b.eps).double()
            square = b.h.double().square().mean(-1)
            low, found, high, known = _squares(y.square().mean(-1), b.eps, b.h.shape[-1], fmt)
            normal = ((y.abs() >= fmt.smallest_normal) | (b.h == 0)).all(-1) & (square > 0)
            allowed = torch.maximum(high - found, found - low)
            kept.add(b, (found - square).abs(), allowed, normal & known)
            kept.count("rows too far above sqrt(eps), where the magnitude is lost", (normal & ~known).sum())
        yield same.measurement(f"c = {FACTOR:g}, bit for bit")
        yield kept.measurement("error of R^2 = eps q / (1 - q) over its bound")


def _squares(q: Tensor, eps: float, channels: int, fmt: Format) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """R^2 from q at the least, the found and the largest q, and where the largest is below 1."""
    d = roundings(rms_roundings(channels) + 2, fmt.accumulation)
    if fmt != fmt.accumulation:
        d = d + fmt.unit_roundoff * (1 + d)
    e = 2 * d + d * d + 2 * roundings(channels + 6, FP64)
    low, high = q / (1 + e), q / (1 - e)
    known = high < 1
    return *(
        eps * value / (1 - value) for value in (low, torch.where(known, q, 0.5), torch.where(known, high, 0.5))
    ), known


MUTANTS = {
    "scales along": lambda y, factor: factor * y,
    "by the root of the factor": lambda y, factor: factor**0.5 * y,
    "sign flipped": lambda y, factor: -y,
    "all NaN": lambda y, factor: torch.full_like(y, torch.nan),
}
