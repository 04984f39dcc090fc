"""clipping-distorts measured: clipping a whole gradient by its norm keeps its direction; other ways to clip do not.

Claim: where the norm of a gradient v exceeds the threshold C, clipping turns v. Source: MRSNorm paper, section 2.3.
Corrected: the clipped gradient c = C v / |v| has cos = 1 and |c| = C.

How it is measured. v is a row of upstream gradients of N channels in the format, C = |v| / 7. The printed claim needs
a turn that can be told from none: the sine of the angle between v and c must exceed what rounding alone gives. By
value, each channel is clipped to the median of the row's |v|; by parts, the two halves of the row to half of the
larger one's norm, as PyTorch's clip_grad_norm_ would if called for each tensor; by example, two rows are clipped
before they are averaged.

Bounds. The components of c are those of v times one common number, and a product and the last rounding of their own:
(1 + t), t = gamma_2 + u, so |sin| <= t / (1 - t); what underflows is at most eta a component. fp64 evaluates a sine as
|c/|c| - v/|v| (cos)|, to within gamma_(N + 8). |c| has the roundings of |v| (N/2 + 3) and three more.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.inputs import Batch, batches, formats
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import ACCUMULATION
from numerics.rounding import FP64, Format, roundings
from numerics.worst_rows import worst_rows

WIDEST = 64
SHRINK = 7.0  # no power of two: those round nothing
BY_PARTS = "clipping by value, or each tensor by itself, keeps the direction"
BY_EXAMPLE = "clipping each example before averaging keeps the direction"


def printed(noise: Tensor) -> Tensor:
    """The sine that clipping is said to exceed, given what rounding alone may give: (T,) -> (T,)."""
    return noise


def corrected(threshold: Tensor) -> tuple[float, Tensor]:
    """The sine of the angle between v and c, 0, and |c|, which is the threshold C: (T,) -> 0, (T,)."""
    return 0.0, threshold


def clip(v: Tensor, threshold: Tensor) -> Tensor:
    """Rows of v clipped by their norm, computed in fp32 for half precision: (..., N), (..., 1) -> (..., N)."""
    wide = v.to(ACCUMULATION[v.dtype])
    norm = torch.linalg.vector_norm(wide, dim=-1, keepdim=True)
    factor = torch.where(norm > threshold, threshold.to(wide.dtype) / norm, torch.ones_like(norm))
    return (wide * factor).to(v.dtype)


def sine(a: Tensor, b: Tensor) -> Tensor:
    """|sin| of the angle between rows: (T, N), (T, N) -> (T,)."""
    a, b = (x / torch.linalg.vector_norm(x, dim=-1, keepdim=True) for x in (a.double(), b.double()))
    return torch.linalg.vector_norm(a - b * (a * b).sum(-1, keepdim=True), dim=-1)


def _noise(v: Tensor, c: Tensor, fmt: Format) -> Tensor:
    """What rounding may turn c by: (T, N), (T, N) -> (T,)."""
    acc = fmt.accumulation
    t = roundings(2, acc) + (0.0 if fmt == acc else fmt.unit_roundoff * (1 + roundings(2, acc)))
    underflow = (fmt.underflow + acc.underflow) * v.shape[-1] ** 0.5 / torch.linalg.vector_norm(c.double(), dim=-1)
    return t / (1 - t) + 2 * underflow + roundings(v.shape[-1] + 8, FP64)


def _whole(b: Batch, turned: Tally | None, kept: Tally | None, length: Tally | None) -> None:
    """Of the claim, of the direction and of the length after clipping, what there is a tally for."""
    v = b.g
    norm = torch.linalg.vector_norm(v.double(), dim=-1, keepdim=True)
    threshold = norm / SHRINK
    c = clip(v, threshold)
    found, noise = sine(c, v), _noise(v, c, b.fmt)
    angle, size = corrected(threshold.squeeze(-1))
    if turned:
        turned.add(b, printed(noise), found)
    if kept:
        kept.add(b, (found - angle).abs(), noise)
    if length:
        relative = roundings(v.shape[-1] // 2 + 6, b.fmt.accumulation) + 2 * noise
        length.add(b, (torch.linalg.vector_norm(c.double(), dim=-1) - size).abs(), relative * threshold.squeeze(-1))


def _others(b: Batch, parts: Tally, examples: Tally) -> None:
    """By value, by halves of the row, and by example."""
    v = b.g.double()
    median = v.abs().median(dim=-1, keepdim=True).values
    slack = roundings(4 * v.shape[-1] + 16, FP64) + torch.zeros(len(v), dtype=torch.float64, device=v.device)
    if v.shape[-1] > 2:
        parts.add(b, sine(v.clamp(-median, median), v), slack)
        halves = v.unflatten(-1, (2, -1))
        norms = torch.linalg.vector_norm(halves, dim=-1, keepdim=True)
        by_half = clip(halves, norms.amax(-2, keepdim=True).expand_as(norms) / 2).flatten(-2)
        parts.add(b, sine(by_half, v), slack)
    other = v.roll(1, dims=0)
    norms = torch.stack([torch.linalg.vector_norm(x, dim=-1, keepdim=True) for x in (v, other)])
    threshold = norms.amin(0)
    mean_of_clipped = (clip(v, threshold) + clip(other, threshold)) / 2
    examples.add(b, sine(mean_of_clipped, (v + other) / 2), slack)


def measure(settings: Settings) -> Iterator[Measurement]:
    """The claim, direction and length after clipping, also at searched rows, and two other ways to clip."""
    for fmt in formats(settings):
        turned = Tally("as printed", fmt, settings)
        kept, length = Tally("corrected", fmt, settings), Tally("corrected", fmt, settings)
        parts, examples = Tally(BY_PARTS, fmt, settings), Tally(BY_EXAMPLE, fmt, settings)
        for b in batches("clipping-distorts", fmt, settings, widest=WIDEST):
            _whole(b, turned, kept, length)
            _others(b, parts, examples)
        yield turned.measurement("what rounding may turn over what clipping by the whole norm does turn")
        yield kept.measurement("|sin| of the angle between v and its clipped form")
        yield length.measurement("|c| against C")
        for what, check in (
            ("|sin| between v and its clipped form over its bound", lambda b, tally: _whole(b, None, tally, None)),
            ("distance of |c| from C over its bound", lambda b, tally: _whole(b, None, None, tally)),
        ):
            yield from worst_rows("clipping-distorts", "corrected", fmt, settings, check, what)
        yield parts.measurement("|sin| after clipping by value, and each half of the row by itself, fp64")
        yield examples.measurement("|sin| of the mean of two clipped rows and the mean of the rows, fp64")


MUTANTS = {
    "ten times as much": lambda noise: 10 * noise,
    "NaN": lambda noise: noise * torch.nan,
}
REPAIRS = {"no turn at all": lambda noise: 0 * noise}
CORRECTED_MUTANTS = {
    "two degrees": lambda threshold: (0.035, threshold),
    "not shortened": lambda threshold: (0.0, 8 * threshold),
    "NaN": lambda threshold: (0.0, threshold * torch.nan),
}
