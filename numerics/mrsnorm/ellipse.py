"""ellipse measured: where RMSNorm's two weights of a pair differ in size, circles become ellipses.

Claim: RMSNorm maps the circle |z_i| = r_i to an ellipse with semi-axes r_i |gamma_x| / S_RMS and r_i |gamma_y| /
S_RMS, which is no circle for |gamma_x| != |gamma_y|, both not 0. Source: MRSNorm paper, section 5.1, second insight.

How it is measured. Outputs must satisfy o_x^2 / a + o_y^2 / b = r_i^2 with the squared semi-axes a, b of the unit
circle; and the layer's outputs for the row with all phasors turned by a right angle must too, which S_RMS does not
notice.

Bounds. An output component is off by the roundings of S_RMS and two more, and by its last rounding, d_c: the sum of
squares by sum (2 |o_c| d_c + d_c^2) / a_c, and in fp64 by gamma_n r_i^2, n twice the roundings in S_RMS and 12. S_RMS
itself is compared before and after the turn, each side with its own roundings.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import rms_norm, rms_scale
from numerics.rounding import FP64, rms_roundings, rounded, roundings
from numerics.worst_rows import worst_rows

STEADY = "the scale is the same all round the circle"
PLACES = ((2, 0.125),)  # (P, eps) of the searched rows


def printed(gamma: Tensor, scale: Tensor) -> Tensor:
    """The squared semi-axes of the image of the unit circle: (P, 2), (T, 1) -> (T, P, 2)."""
    return (gamma / scale[..., None]) ** 2


def quarter(h: Tensor) -> Tensor:
    """Every phasor turned by a right angle, exactly: (T, N) -> (T, N)."""
    z = h.unflatten(-1, (-1, 2))
    return torch.stack((-z[..., 1], z[..., 0]), dim=-1).flatten(-2)


def _on_ellipse(b: Batch, tally: Tally) -> None:
    o = phasor_view(rms_norm(b.h, b.gamma, b.eps))
    gamma, scale, acc = b.gamma.double().unflatten(-1, (-1, 2)), rms_scale(b.h.double(), b.eps), b.fmt.accumulation
    exact = gamma * b.z / scale[..., None]
    count = rms_roundings(b.h.shape[-1])
    lost = rounded(roundings(count + 3, acc) * exact.abs() + acc.underflow * (gamma.abs() + 1), exact, b.fmt)
    true = (gamma / scale[..., None]) ** 2
    r2 = b.z.square().sum(-1)
    bound = ((2 * exact.abs() * lost + lost**2) / true).sum(-1) + roundings(2 * count + 12, FP64) * r2
    differ = (gamma != 0).all(dim=-1) & (gamma[:, 0].abs() != gamma[:, 1].abs())
    where = differ & (r2 > 0) & ~(exact.abs() + lost >= b.fmt.overflow).any(dim=-1)
    tally.add(b, ((o.square() / printed(gamma, scale)).sum(-1) - r2).abs(), bound, where)


def _steady(b: Batch, tally: Tally) -> None:
    before, after = (rms_scale(h, b.eps).double() for h in (b.h, quarter(b.h)))
    bound = 2 * roundings(rms_roundings(b.h.shape[-1]), b.fmt.accumulation) * before
    tally.add(b, (after - before).abs(), bound, before > 0)


def _apart(b: Batch) -> float:
    """The largest ratio of the semi-axes of a phasor's ellipse."""
    axes = b.gamma.double().unflatten(-1, (-1, 2)).abs()
    axes = axes[(axes > 0).all(dim=-1)]
    return (axes.amax(-1) / axes.amin(-1)).amax().item()


def measure(settings: Settings) -> Iterator[Measurement]:
    """The equation of the ellipse and S_RMS round the circle, each on random and on searched rows."""
    for fmt in formats(settings):
        on_it = Tally("as printed", fmt, settings)
        steady = Tally(STEADY, fmt, settings)
        longest = 1.0
        for b in batches("ellipse", fmt, settings, channel_weights=True):
            longest = max(longest, _apart(b))
            _on_ellipse(b, on_it)
            _on_ellipse(replace(b, h=quarter(b.h)), on_it)
            _steady(b, steady)
        yield on_it.measurement(f"weights of different size; semi-axes differ by a factor of up to {longest:.3g}")
        yield steady.measurement("S_RMS after every phasor is turned by a right angle")
        what = "distance from the ellipse over its bound"
        yield from worst_rows(
            "ellipse", "as printed", fmt, settings, _on_ellipse, what, places=PLACES, channel_weights=True
        )
        what = "change of S_RMS over its bound"
        yield from worst_rows("ellipse", STEADY, fmt, settings, _steady, what, places=PLACES, channel_weights=True)


MUTANTS = {
    "axes swapped": lambda gamma, s: (gamma.flip(-1) / s[..., None]) ** 2,
    "a circle": lambda gamma, s: (gamma[:, :1] / s[..., None]).expand(len(s), *gamma.shape) ** 2,
    "not squared": lambda gamma, s: (gamma / s[..., None]).abs(),
    "not divided by the scale": lambda gamma, s: (gamma**2).expand(len(s), *gamma.shape),
    "all NaN": lambda gamma, s: torch.full_like(gamma / s[..., None], torch.nan),
}
