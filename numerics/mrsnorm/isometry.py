"""isometry measured: the singular values of the whole Jacobian, which are not all equal.

Claim: J = d zhat / d h is an isometry, up to one factor. Source: MRSNorm paper, section 6. Corrected, where no z_k is
0: the singular values of J are 1/S (2P - 2 times) and s_1 / S, s_2 / S with

    s_1 s_2 = eps / S,   s_1 - s_2 = rms(r) / S.

RMSNorm (eps inside the root) has 1 / S_RMS (N - 1 times) and eps / S_RMS^3.

How it is measured. All N backward passes of a row give J in the format; a decomposition in fp64 its singular values. P
up to 7.

Bounds. J is off by E, entry by entry `rounding.gradient_error` for a unit upstream gradient and the last rounding; no
singular value moves by more than |E|_F (Weyl), and the decomposition in fp64 adds gamma_10N |J|_F, its backward error.
The formula, s_1 = (d + sqrt(d^2 + 4 p)) / 2 and s_2 = p / s_1, has no cancellation: twice the roundings in S and 16.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from numerics.backward import defined, worst_of_row
from numerics.gradients import Layer, input_gradient
from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_norm, mrs_scale, rms_norm, rms_scale
from numerics.rounding import (
    FP64,
    Format,
    gradient_error,
    rms_gradient_error,
    rms_roundings,
    rounded,
    roundings,
    scale_roundings,
    settle_overflow,
)

WIDEST = 7


def printed(values: Tensor) -> Tensor:
    """What every singular value is said to equal, the largest one: (T, N) -> (T, N)."""
    return values[:, :1].expand_as(values)


def corrected(mean: Tensor, mean_square: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """s_1 - s_2 and s_1 s_2 from mean(r) and mean(r^2): (T,), (T,) -> (T,), (T,)."""
    s = mean + eps
    return mean_square.sqrt() / s, eps / s


def singular_values(b: Batch) -> Tensor:
    """The singular values of S J by the formula, in falling order: (T, N)."""
    r = torch.linalg.vector_norm(b.z, dim=-1)
    difference, product = corrected(r.mean(-1), r.square().mean(-1), b.eps)
    larger = (difference + (difference.square() + 4 * product).sqrt()) / 2
    ones = torch.ones(len(r), 2 * b.phasors - 2, dtype=r.dtype, device=r.device)
    smaller = product / larger
    return torch.cat((larger[:, None], ones, smaller[:, None]), dim=-1).sort(dim=-1, descending=True).values


def jacobian(layer: Layer, h: Tensor) -> Tensor:
    """All rows of J by automatic differentiation, in fp64: (T, N) -> (T, N, N)."""
    n = h.shape[-1]
    upstream = torch.eye(n, dtype=h.dtype, device=h.device).expand(len(h), n, n)
    return input_gradient(layer, h[:, None].repeat(1, n, 1), upstream).double()


def _mrs_error(b: Batch, fmt: Format) -> Tensor:
    """What entries of J are off by before the last rounding: (T, N, N)."""
    one, scale = torch.ones(b.phasors, dtype=torch.float64, device=b.h.device), mrs_scale(b.h.double(), b.eps)
    units = torch.eye(2 * b.phasors, dtype=torch.float64, device=b.h.device)
    rows = [gradient_error(b.z, phasor_view(v.expand_as(b.h)), one, scale, fmt).flatten(-2) for v in units]
    return torch.stack(rows, dim=-2)


def _rms_error(b: Batch, fmt: Format) -> Tensor:
    x, scale = b.h.double(), rms_scale(b.h.double(), b.eps)
    units = torch.eye(x.shape[-1], dtype=torch.float64, device=x.device)
    return torch.stack([rms_gradient_error(x, v.expand_as(x), torch.ones_like(v), scale, fmt) for v in units], dim=-2)


def _decompose(b: Batch, layer: Layer, lost: Tensor, lost64: Tensor) -> tuple[Tensor, Tensor]:
    """Singular values of J as the format has it (T, N), and what they are off by (T, 1); NaN where an entry is wrong.

    A correct infinity counts as the exact value.
    """
    exact = jacobian(layer, b.h.double())
    measured, _ = settle_overflow(jacobian(layer, b.h), exact, lost + lost64, b.fmt)
    finite = measured.isfinite().flatten(1).all(-1)
    values = torch.linalg.svdvals(torch.where(finite[:, None, None], measured, torch.zeros_like(measured)))
    off = torch.linalg.matrix_norm(rounded(lost + lost64, exact, b.fmt))
    backward = roundings(10 * lost.shape[-1], FP64) * torch.linalg.matrix_norm(exact)
    return torch.where(finite[:, None], values, torch.nan), (off + backward)[:, None]


def _mrs(b: Batch, equal: Tally, formula: Tally, largest: Tally) -> float:
    """The statements about MRSNorm; the smallest ratio of two singular values of one row."""
    scale = mrs_scale(b.h.double(), b.eps)
    used = (b.z != 0).any(dim=-1).all(dim=-1)
    safe = replace(b, h=torch.where(used[:, None], b.h, torch.ones_like(b.h)))
    errors = (_mrs_error(safe, f) for f in (b.fmt, FP64))
    values, moved = _decompose(safe, partial(mrs_norm, eps=b.eps), *errors)
    expected = singular_values(b)
    slack = roundings(2 * scale_roundings(b.phasors) + 16, FP64) * expected[:, :1]
    for tally, error, bound in (
        (equal, values - printed(values), 2 * moved),
        (formula, values - expected / scale, moved + slack / scale),
    ):
        row = worst_of_row(error.abs(), bound)
        tally.add(b, row, torch.ones_like(row), used)
    if b.eps == 0 and b.phasors > 1:
        largest.add(b, values[:, :1] * scale, b.phasors**0.5 + moved * scale + slack, used[:, None])
    return (values[:, -1:] / values[:, :1])[used].amin().item() if used.any() else 1.0


def _rms(b: Batch, tally: Tally) -> None:
    used = defined(b)
    safe = replace(b, h=torch.where(used[:, None], b.h, torch.ones_like(b.h)))
    scale = rms_scale(safe.h.double(), b.eps)
    errors = (_rms_error(safe, f) for f in (b.fmt, FP64))
    values, moved = _decompose(safe, partial(rms_norm, eps=b.eps), *errors)
    expected = (1 / scale).expand_as(values).clone()
    expected[:, -1:] = b.eps / scale**3
    slack = roundings(3 * rms_roundings(b.h.shape[-1]) + 8, FP64)
    row = worst_of_row((values - expected).abs(), moved + slack / scale)
    tally.add(b, row, torch.ones_like(row), used)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Four measurements a format: equal singular values, the formula for them, its ceiling, and RMSNorm's."""
    for fmt in formats(settings):
        equal, formula = Tally("as printed", fmt, settings), Tally("corrected", fmt, settings)
        largest = Tally("the largest singular value at eps = 0", fmt, settings)
        rms = Tally("RMSNorm's Jacobian", fmt, settings)
        flattest = 1.0
        for b in batches("isometry", fmt, settings, widest=WIDEST):
            flattest = min(flattest, _mrs(b, equal, formula, largest))
            if b.eps:
                _mrs(replace(b, eps=0.0), equal, formula, largest)
            _rms(b, rms)
        yield equal.measurement(f"all equal to the largest; the smallest over the largest is down to {flattest:.3g}")
        yield formula.measurement("1/S, s_1 / S and s_2 / S")
        yield largest.measurement("S times the largest over sqrt(P)")
        yield rms.measurement("1/S_RMS, and eps/S_RMS^3 once")


MUTANTS = {
    "half the largest": lambda values: values[:, :1].expand_as(values) / 2,
    "all NaN": lambda values: torch.full_like(values, torch.nan),
}
REPAIRS = {"each itself": lambda values: values}
CORRECTED_MUTANTS = {
    "an isometry": lambda mean, mean_square, eps: (0 * mean, 0 * mean + 1),
    "blocked": lambda mean, mean_square, eps: (mean_square.sqrt() / (mean + eps), 0 * mean),
    "mean for rms": lambda mean, mean_square, eps: (mean / (mean + eps), eps / (mean + eps)),
    "all NaN": lambda mean, mean_square, eps: (mean * torch.nan, mean * torch.nan),
}
