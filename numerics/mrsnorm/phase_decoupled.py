"""phase-decoupled measured: a step along the subtracted term keeps the phase unless it goes inward by r_i or more.

Claim: z_i + eta (Omega / S) u_i has the phase of z_i. Source: MRSNorm paper, section 5.1, second insight, under the
condition r_i + eta Omega / S > 0.

How it is measured. The subtracted term is the input gradient of phasors with g_i = 0, t_i = -dL/dz_i = (Omega / S) u_i
in the format. The step z_i + eta t_i is taken in fp64 with eta = +-0.9 r_i / |t_i|: inward as well as outward, 0.9 of
r_i long, and then 1.1 r_i inward, to see the phase turn. The whole gradient is measured at phasors with g_i != 0.

Bound. A component of t_i is (x_c / r_i) times a number common to the pair: 3 roundings in r_i, 2 in quotient and
product, and the last one, so t_i leaves the line of z_i by at most |sin 2 theta_i| times their sum t, relative to its
own length, plus underflow (see eq07). The step leaves it by 0.9 of that, at a length of 0.1 r_i at least: |sin| <= 9 t
|sin 2 theta_i|.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.backward import mrs_gradient
from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_scale
from numerics.rounding import FP64, Format, direction, roundings, scale_roundings
from numerics.worst_rows import worst_rows

WIDEST = 64
INWARD, BEYOND = 0.9, 1.1
WHOLE = "the whole gradient turns the phase"
PLACES = ((2, 0.125),)  # (P, eps) of the searched rows


def printed(z: Tensor) -> Tensor:
    """A vector with the phase that z_i has after the step, z_i itself: (T, P, 2) -> (T, P, 2)."""
    return z


def cross(a: Tensor, b: Tensor) -> Tensor:
    """a_x b_y - a_y b_x: (..., 2), (..., 2) -> (...)."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def _relative(fmt: Format) -> float:
    """What two components of t_i may differ by, relative to themselves."""
    last = 0.0 if fmt == fmt.accumulation else fmt.unit_roundoff
    return (roundings(3, fmt.accumulation) + last) * (1 + 2.0**-6) + roundings(8, FP64)


def _step(b: Batch, line: Tally, sense: Tally | None = None, turned: Tally | None = None) -> None:
    """Steps of 0.9 r_i outward and inward, and, where the other tallies are wanted, of 1.1 r_i inward."""
    found = mrs_gradient(b, b.quiet_g)
    t, size = -found.value, found.norms
    r = torch.linalg.vector_norm(b.z, dim=-1)
    tiny = b.fmt.smallest_normal + b.fmt.accumulation.smallest_normal  # below it a component loses its digits
    kept = (~(t.abs() < tiny) | (b.z == 0)).all(dim=-1)
    where = b.quiet & (r > 0) & kept & ~found.infinite.any(dim=-1)
    line.count("terms with a component below the normal range, left out", (b.quiet & (r > 0) & ~kept).sum())
    unit = t / torch.where(size > 0, size, 1.0)[..., None]
    outward = torch.where((unit * b.z).sum(-1) > 0, 1.0, -1.0)
    target = printed(b.z)
    length = torch.linalg.vector_norm(target, dim=-1)
    sin_2 = 2 * direction(b.z).abs().prod(dim=-1)
    for share in (INWARD, -INWARD):
        after = b.z + (share * outward * r)[..., None] * unit
        scale = torch.linalg.vector_norm(after, dim=-1) * torch.where(length > 0, length, 1.0)
        bound = INWARD / (1 - INWARD) * sin_2 * _relative(b.fmt) * (1 + 2.0**-6) + roundings(64, FP64)
        line.add(b, (cross(after, target) / scale).abs(), bound, where)
        if sense is None:
            continue
        away = (~((after * target).sum(-1) > 0)).double()  # 1 where it turned by a right angle or more, or is NaN
        sense.add(b, away, torch.zeros_like(away), where)
    if turned is None:
        return
    beyond = b.z - (BEYOND * outward * r)[..., None] * unit
    kept_phase = (~((beyond * b.z).sum(-1) < 0)).double()
    turned.add(b, kept_phase, torch.zeros_like(kept_phase), where)


def _whole(b: Batch, tally: Tally) -> None:
    """z_i x dL/dz_i against gamma_i (z_i x g_i) / S."""
    found, scale = mrs_gradient(b, b.g), mrs_scale(b.h.double(), b.eps)
    expected = b.gamma.double() * cross(b.z, phasor_view(b.g)) / scale
    bound = (found.allowed.flip(-1) * b.z.abs()).sum(-1)
    sizes = (b.gamma.double()[:, None] * phasor_view(b.g)).abs().flip(-1) * b.z.abs()
    products = (found.exact.abs().flip(-1) * b.z.abs()).sum(-1)
    slack = roundings(scale_roundings(b.phasors) + 8, FP64) * (sizes.sum(-1) / scale + products)
    where = (b.z != 0).any(dim=-1) & ~found.infinite.any(dim=-1)
    tally.add(b, (cross(b.z, found.value) - expected).abs(), bound + slack, where)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Line and sense after the step, longer steps, and the whole gradient; line and gradient at searched rows, too."""
    for fmt in formats(settings):
        line, sense = Tally("as printed", fmt, settings), Tally("as printed", fmt, settings)
        beyond = Tally("the amplitude after the step", fmt, settings)
        whole = Tally(WHOLE, fmt, settings)
        for b in batches("phase-decoupled", fmt, settings, widest=WIDEST):
            if b.phasors > 1:
                _step(b, line, sense, beyond)
            _whole(b, whole)
        yield line.measurement("|sin| of the turn after steps of 0.9 r_i, where g_i = 0, z_i != 0")
        yield sense.measurement("less than a right angle from z_i after those steps")
        yield beyond.measurement("r_i + eta Omega / S < 0 after a step of 1.1 r_i inward: the phase is turned by pi")
        yield whole.measurement("z_i x dL/dz_i against gamma_i (z_i x g_i) / S")
        for statement, check, what in (
            ("as printed", _step, "|sin| of the turn"),
            (WHOLE, _whole, "error of z_i x dL/dz_i"),
        ):
            what = f"{what} over its bound"
            yield from worst_rows("phase-decoupled", statement, fmt, settings, check, what, PLACES, vectors=2)


MUTANTS = {
    "turned by pi": lambda z: -z,
    "conjugate": lambda z: z * z.new_tensor([1, -1]),
    "channels swapped": lambda z: z.flip(-1),
    "all NaN": lambda z: torch.full_like(z, torch.nan),
}
