"""Eq. 3 measured: the phase of every output phasor is that of the input phasor, and where half precision loses it.

Source: MRSNorm paper, section 3, Eq. 3, at z_i != 0: the tangent of the phase for gamma_i != 0, the phase itself for
gamma_i > 0.

Bound. Both components of o_i are x and y times the same gamma_i and over the same computed S, whatever that lost. They
are off by separate factors only in the quotient, in the product and in the last rounding, each factor at most 1 + t,
t = gamma_2 + u. A vector (x (1 + a), y (1 + b)) makes an angle D with (x, y), |sin D| <= |x y| |a - b| / (r |o'|):

    |sin D| <= |sin 2 theta_i| t / (1 - t),

to first order u |sin 2 theta_i| for each rounding, and nothing at all on the axes. It is measured as a cross product,
which fp64 evaluates to within gamma_4 |sin 2 theta_i|. No term for underflow is added: the statement is restricted to
phasors whose output components are normal numbers (or 0 because the input's is), and the others are counted.

Where it is lost. A second measurement drives a small phasor z_2 down beside a large one, in halvings of z_2 over S. It
supports the statement "lost below the normal range" if the largest error found exceeds its bound, and reports where:
`worst` is the bound over the error.

A deep run also tries every finite fp16 phasor there is, at six scales and weights (`numerics.exhaustive`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.exhaustive import CASES, survey
from numerics.inputs import Batch, batches, formats, generator, phasor_view
from numerics.judge import Tally, plain
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_norm, mrs_scale
from numerics.rounding import FP64, Format, direction, roundings
from numerics.worst_rows import worst_rows

ANGLES = 64
LOST = "half precision loses the phase below its normal range"


def printed(z: Tensor) -> Tensor:
    """A vector at the phase that Eq. 3 gives to the output, (x_i, y_i): (T, P, 2) -> (T, P, 2)."""
    return z


def cross(a: Tensor, b: Tensor) -> Tensor:
    """a_x b_y - a_y b_x: (..., 2), (..., 2) -> (...)."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def phase_bound(z: Tensor, fmt: Format) -> Tensor:
    """The bound on |sin D| of the docstring, fp64's share included: (..., 2) -> (...)."""
    acc = fmt.accumulation
    t = roundings(3, acc) + (0.0 if fmt == acc else fmt.unit_roundoff * (1 + roundings(3, acc)))
    return 2 * direction(z).abs().prod(dim=-1) * (t / (1 - t) + roundings(6, FP64))


def sine(o: Tensor, line: Tensor) -> Tensor:
    """|sin D| between two vectors, 1 where one of them is 0 and has no phase: (..., 2), (..., 2) -> (...)."""
    sizes = torch.linalg.vector_norm(o, dim=-1) * torch.linalg.vector_norm(line, dim=-1)
    return torch.where(sizes == 0, torch.ones_like(sizes), cross(o, line).abs() / sizes)


def _normal(b: Batch, o: Tensor) -> Tensor:
    """Where both output components, and the quotients before them, are normal numbers, or 0 as the input is: (T, P)."""
    zhat = b.z / mrs_scale(b.h.double(), b.eps).unsqueeze(-1)
    below = (o.abs() < b.fmt.smallest_normal) | (zhat.abs() < 2 * b.fmt.accumulation.smallest_normal)  # false for NaN
    return ~(below & (b.z != 0)).any(dim=-1)


def _line(b: Batch, tally: Tally) -> tuple[Tensor, Tensor, Tensor]:
    """The angle between output and printed line; returns both, and where the statement is about them: (T, P)."""
    o, line = phasor_view(mrs_norm(b.h, b.gamma, b.eps)), printed(b.z)
    meant = (b.z != 0).any(dim=-1) & (b.gamma != 0)
    normal = _normal(b, o)
    tally.add(b, sine(o, line), phase_bound(b.z, b.fmt), meant & normal)
    tally.count("phasors with a component below the normal range, left out", (meant & ~normal).sum())
    return o, line, meant & normal


def measure(settings: Settings) -> Iterator[Measurement]:
    """A format has the line, the sense, and the line at searched rows; fp16 and bf16 where the phase is lost, too."""
    for fmt in formats(settings):
        tally = Tally("as printed", fmt, settings)
        sense = Tally("as printed", fmt, settings)
        for b in batches("eq03", fmt, settings):
            o, line, where = _line(b, tally)
            away = (~((o * line).sum(-1) > 0)).double()  # 1 where it turned by a right angle or more, or is NaN
            sense.add(b, away, torch.zeros_like(away), where & (b.gamma > 0))
        yield tally.measurement("|sin| of the phase error, gamma_i != 0, z_i != 0, normal output components")
        yield sense.measurement("o_i and z_i less than a right angle apart, gamma_i > 0")
        yield from worst_rows("eq03", "as printed", fmt, settings, _line, "|sin| of the phase error over its bound")
        if fmt != fmt.accumulation:
            yield _where_lost(fmt, settings)
        if settings.full and fmt.name == "fp16":
            yield from _every_pair(settings)


def _where_lost(fmt: Format, settings: Settings) -> Measurement:
    """Two phasors: z_1 = (A, 0) with the largest power of two A the layer takes, z_2 halved until the format ends."""
    top = min(int(math.log2(fmt.largest)), int(math.log2(fmt.accumulation.largest) / 2) - 2)
    bottom = int(math.log2(fmt.smallest_normal))
    exponents = torch.arange(top, bottom, -1)
    rng = generator(settings.seed, "eq03", "angles", fmt.name)
    angle = (0.05 + 0.9 * torch.rand(ANGLES, generator=rng, dtype=torch.float64)) * torch.pi / 2
    unit = torch.stack((angle.cos(), angle.sin()), dim=-1)
    small = 2.0 ** exponents[:, None, None].double() * unit  # (E, A, 2)
    large = torch.tensor([2.0**top, 0.0], dtype=torch.float64).expand_as(small)
    h = torch.cat((large, small), dim=-1).flatten(0, 1).to(fmt.dtype).to(settings.device)  # (E A, 4)
    z, o = phasor_view(h)[:, 1], phasor_view(mrs_norm(h, None, 0.0))[:, 1]
    usable = (z.abs() >= fmt.smallest_normal).all(dim=-1)  # z_2 itself has full precision
    error, bound = sine(o, z), phase_bound(z, fmt)
    ratio = torch.where(usable, error / bound, torch.zeros_like(error))
    share = torch.linalg.vector_norm(z, dim=-1) / mrs_scale(h.double(), 0.0).squeeze(-1)
    beyond, gone = share[ratio > 1], share[usable & (o == 0).all(dim=-1)]
    worst = int(ratio.argmax())
    detail = [f"angles 4.5 to 85.5 degrees, r_2/S from 2 down to {float(share[usable].min()):.2g}"]
    if len(beyond):
        detail.append(f"error beyond its bound from r_2/S = {float(beyond.max()):.3g} down")
    if len(gone):
        detail.append(f"output (0, 0), no phase left, from r_2/S = {float(gone.max()):.3g} down")
    return Measurement(
        kind="experiment",
        statement=LOST,
        scope=f"P = 2, z_1 = (2^{top}, 0), eps = 0",
        worst=(1 / ratio[worst]).item(),
        trials=int(usable.sum()),
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail="; ".join(detail),
        witness={
            "h": plain(h[worst]),
            "o_2": plain(o[worst]),
            "sin_error": plain(error[worst]),
            "bound": plain(bound[worst]),
        },
    )


def _every_pair(settings: Settings) -> Iterator[Measurement]:
    """Every finite fp16 phasor, at several scales and weights: see `numerics.exhaustive`."""
    for scale, gamma in CASES:
        found = survey(scale, gamma, device=settings.device)
        detail = [
            f"largest tan of a turn {found.worst}, allowed {found.bound}",
            f"{found.lost} phasors lose their phase",
        ]
        if found.largest_lost:
            detail.append(f"the longest is ({', '.join(map(str, found.largest_lost))})")
        yield Measurement(
            kind="exhaustive",
            statement="as printed",
            scope=f"every finite fp16 phasor with normal outputs, S = {scale:.6g}, gamma = {gamma:.6g}",
            worst=float(found.worst / found.bound),
            trials=found.normal,
            dtype="fp16",
            device=settings.device,
            seed=settings.seed,
            detail="; ".join(detail),
            witness={"z": [str(value) for value in found.worst_at]},
        )


MUTANTS = {
    "conjugate": lambda z: z * z.new_tensor([1, -1]),
    "channels swapped": lambda z: z.flip(-1),
    "one weight a channel": lambda z: z * z.new_tensor([1, 2]),
    "turned by pi": lambda z: -z,
    "literal arctan": lambda z: torch.where(z[..., :1] == 0, z, z * z[..., :1].sign()),
    "phase of the row": lambda z: z.mean(dim=-2, keepdim=True).expand_as(z),
    "all NaN": lambda z: torch.full_like(z, torch.nan),
}
