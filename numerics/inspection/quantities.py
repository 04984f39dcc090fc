r"""What the normalization layers do to the rows of one tensor, as a few numbers.

With r_i the magnitudes of the phasors (pairs of adjacent channels) of a row, S = mean r + eps (MRSNorm paper, Eq. 1),
S_RMS = sqrt(mean x^2 + eps) and gamma = 1:

| quantity | over all rows |
|---|---|
| outlier ratio | largest \|x\| over median \|x\| |
| kurtosis | mean (x - m)^4 / (mean (x - m)^2)^2 with m = mean x: 3 for normal numbers |
| S / S_RMS | smallest, median, largest |
| radial gain | smallest 1 - r_i / (P S): how much of a radial change of z_i comes through, in units of 1/S |
| operator-norm amplification | largest (RMS of r) / (mean of r): the norm of S J, J the Jacobian at eps = 0 |
| attenuation | largest S / S', S' being the same scale over the phasors that are no outliers |
| fp16 phase lost | share of the phasors z_i != 0 whose output, rounded to fp16, points elsewhere |
| output norm | largest \|o_i\| of MRSNorm |
| self-score | smallest sum_i \|o_i\|^2 of MRSNorm |

An outlier is a phasor more than `OUTLIER_FACTOR` times as large as the median one of its row. By the attenuation the
outliers shrink all other channels, 1 being not at all; a row whose other phasors are all zero has none.

A phase counts as lost where the angle between z_i and its rounded output exceeds arcsin u, u = 2^-11: two normal
numbers rounded to nearest cannot turn a phasor further (tan of the angle is at most u / sqrt(1 - u^2)), so underflow
did it. Both outputs rounded to 0, or one to infinity, count too.

Rows that are all zero, or hold an infinity or a NaN, are counted and left out of everything but the outlier ratio and
the kurtosis, which are about the finite numbers.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from numerics.inspection.files import CHUNK, Stored
from numerics.inspection.medians import median

OUTLIER_FACTOR = 10.0
_U = 2.0**-11  # the unit roundoff of fp16
Advance = Callable[[int], None]


@dataclass(frozen=True)
class Summary:
    """The quantities of one tensor; NaN where no row has one."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    rows: int
    channels: int
    rows_zero: int
    rows_not_finite: int
    outlier_ratio: float
    kurtosis: float
    s_over_s_rms: dict[str, float]  # min, median, max
    radial_gain_min: float
    operator_norm_amplification_max: float
    attenuation: dict[str, float]  # mrsnorm, rmsnorm
    fp16_phase_lost_share: float
    output_norm_max: float
    self_score_min: float


@dataclass
class _Moments:
    """Count, mean and central moments of a stream, merged chunk by chunk (Pebay 2008, section 2)."""

    n: int = 0
    mean: float = 0.0
    m2: float = 0.0
    m3: float = 0.0
    m4: float = 0.0

    def add(self, x: Tensor) -> None:
        n = x.numel()
        if not n:
            return
        mean = float(x.mean())
        d = x - mean
        m2, m3, m4 = (float((d**k).sum()) for k in (2, 3, 4))
        a, b, total, step = self.n, n, self.n + n, mean - self.mean
        self.m4 += m4 + step**4 * a * b * (a * a - a * b + b * b) / total**3
        self.m4 += 6 * step**2 * (a * a * m2 + b * b * self.m2) / total**2 + 4 * step * (a * m3 - b * self.m3) / total
        self.m3 += m3 + step**3 * a * b * (a - b) / total**2 + 3 * step * (a * m2 - b * self.m2) / total
        self.m2 += m2 + step**2 * a * b / total
        self.mean += step * b / total
        self.n = total

    @property
    def kurtosis(self) -> float:
        return self.n * self.m4 / self.m2**2 if self.m2 else math.nan


@dataclass
class _Extremes:
    """What is reduced by a maximum, a minimum or a sum; a maximum of nothing is -inf until it is read."""

    largest: dict[str, float] = field(default_factory=dict)
    count: dict[str, int] = field(default_factory=dict)

    def most(self, name: str, values: Tensor) -> None:
        if values.numel():
            self.largest[name] = max(self.largest.get(name, -math.inf), float(values.max()))

    def least(self, name: str, values: Tensor) -> None:
        self.most(name, -values)

    def add(self, name: str, flags: Tensor) -> None:
        self.count[name] = self.count.get(name, 0) + int(flags.sum())

    def maximum(self, name: str) -> float:
        return self.largest.get(name, math.nan)

    def minimum(self, name: str) -> float:
        return -self.maximum(name)


def inspect_tensor(stored: Stored, eps: float = 1e-6, advance: Advance = lambda numbers: None) -> Summary:
    """The summary of one tensor (..., C), C even, at this eps.

    `advance` is told how many numbers were read. Raises ValueError for a tensor that `Stored.obstacle` speaks against.
    """
    if stored.obstacle:
        raise ValueError(f"{stored.name}: {stored.obstacle}")
    moments, found = _Moments(), _Extremes()
    with tempfile.TemporaryFile() as ratios:  # one number a row, on disk: the rows may not fit into memory
        for chunk in stored.read():
            x = chunk.double()
            finite = x[x.isfinite()]
            moments.add(finite)
            found.most("x", finite.abs())
            _reduce(x, eps, found).numpy().tofile(ratios)
            advance(chunk.numel())
        ratios.flush()
        middle = median(lambda: _stored_doubles(ratios))
    typical = median(lambda: (chunk.abs() for chunk in stored.read()))
    phasors = found.count.get("phasors", 0)
    largest = found.maximum("x")
    return Summary(
        name=stored.name,
        shape=tuple(stored.shape),
        dtype=stored.dtype,
        rows=stored.rows,
        channels=stored.channels,
        rows_zero=found.count.get("zero", 0),
        rows_not_finite=found.count.get("not finite", 0),
        outlier_ratio=largest / typical if typical else math.inf if largest > 0 else math.nan,
        kurtosis=moments.kurtosis,
        s_over_s_rms={"min": found.minimum("S"), "median": middle, "max": found.maximum("S max")},
        radial_gain_min=found.minimum("gain"),
        operator_norm_amplification_max=found.maximum("amplification"),
        attenuation={name: found.maximum(name) for name in ("mrsnorm", "rmsnorm")},
        fp16_phase_lost_share=found.count["lost"] / phasors if phasors else math.nan,
        output_norm_max=found.maximum("output"),
        self_score_min=found.minimum("self-score"),
    )


def _stored_doubles(file: object) -> Iterator[Tensor]:
    file.seek(0)
    while len(part := np.fromfile(file, np.float64, CHUNK)):
        yield torch.from_numpy(part)


def _reduce(x: Tensor, eps: float, found: _Extremes) -> Tensor:
    """Take rows (n, C) in fp64 into account; S / S_RMS of those that count."""
    finite, zero = x.isfinite().all(-1), (x == 0).all(-1)
    found.add("not finite", ~finite)
    found.add("zero", zero)
    x = x[finite & ~zero]
    if not len(x):
        return x.new_empty(0)
    z = x.unflatten(-1, (-1, 2))
    r = torch.hypot(z[..., 0], z[..., 1])  # (n, P)
    s = r.mean(-1, keepdim=True) + eps
    s_rms = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    o = z / s.unsqueeze(-1)
    ratio = (s / s_rms).squeeze(-1)
    found.least("S", ratio)
    found.most("S max", ratio)
    found.least("gain", 1 - r / (r.shape[-1] * s))
    found.most("amplification", r.square().mean(-1).sqrt() / r.mean(-1))
    found.most("output", r / s)
    found.least("self-score", (r / s).square().sum(-1))
    live = r > 0
    found.add("phasors", live)
    found.add("lost", live & turned(z, o))
    for name, value in attenuations(r, eps).items():
        found.most(name, value)
    return ratio


def attenuations(r: Tensor, eps: float) -> dict[str, Tensor]:
    """S / S' of MRSNorm and of RMSNorm, S' over the phasors that are no outliers: (n, P) -> one number a row.

    Rows that have no phasor but outliers and zeros are left out.
    """
    rest = r <= OUTLIER_FACTOR * r.quantile(0.5, dim=-1, keepdim=True)
    some = (rest & (r > 0)).any(-1)
    r, rest = r[some], rest[some]
    kept, others = r * rest, rest.sum(-1)
    mean, square = r.mean(-1) + eps, r.square().mean(-1) / 2 + eps  # two channels a phasor
    return {
        "mrsnorm": mean / (kept.sum(-1) / others + eps),
        "rmsnorm": (square / (kept.square().sum(-1) / others / 2 + eps)).sqrt(),
    }


def turned(z: Tensor, o: Tensor) -> Tensor:
    """Where o, rounded to fp16, points elsewhere than z: (..., 2), (..., 2) -> (...); see the top of this file."""
    o = o.half().double()
    size = torch.hypot(o[..., 0], o[..., 1])
    unit = z / torch.hypot(z[..., 0], z[..., 1]).unsqueeze(-1)
    across = unit[..., 0] * o[..., 1] - unit[..., 1] * o[..., 0]
    along = (unit * o).sum(-1)
    return ~((across.abs() <= _U * size) & (along > 0) & size.isfinite())
