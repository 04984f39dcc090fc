"""explosion measured: where sums of squares and sums of magnitudes overflow, for each input and accumulation format.

Claim: averaging magnitudes instead of squares removes overflow. Source: MRSNorm paper, sections 1 and 2.1. Magnitudes
contain squares: x^2 overflows where it reaches T, half a unit above the largest number of the accumulation format, in
both norms. What holds is an inclusion: where an intermediate result of MRSNorm overflows, RMSNorm's sum of squares
does too.

How it is measured. r = sqrt(x^2 + y^2), sum r and sum x^2 are computed without any care for range, every result in the
accumulation format. Single values: all finite non-negative ones of fp16 and bf16, powers of two and their neighbours
of fp32 and fp64. The exact square over T is the ratio; it is taken over the values whose square is infinite as
computed, or over all if none is. Sums: equal and one-hot rows of up to 8192 channels at every scale.

Cells. Each input format in its usual accumulation format, except that fp16 is accumulated in fp16 here; with fp32 for
fp16, and fp64 for bf16 and fp32, nothing overflows, which is measured at the largest inputs.

A statement that something is finite, or infinite, has no error: the bound is 0, the ratio 0 or infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from numerics.inputs import formats
from numerics.measure import Measurement, Settings
from numerics.rounding import FORMATS, Format

NARROW = {
    "fp16": "fp16",
    "bf16": "fp32",
    "fp32": "fp32",
    "fp64": "fp64",
}  # input -> accumulation, where squares overflow
WIDE = {"fp16": "fp32", "bf16": "fp64", "fp32": "fp64"}  # where nothing does
CEILING = 1e300  # stands for ratios beyond it
CHANNELS = (2, 64, 2048, 4096, 8192)


def printed(overflow: float) -> float:
    """What the square of every finite input is said to stay below, given T of the accumulation format."""
    return overflow


def corrected(mrs: Tensor, rms: Tensor) -> Tensor:
    """Where the corrected statement holds, from where MRSNorm's and RMSNorm's intermediate results are infinite."""
    return ~mrs | rms


def values(fmt: Format) -> Tensor:
    """All finite non-negative numbers of a 16-bit format; powers of two and their neighbours of a longer one."""
    if fmt.dtype.itemsize == 2:
        bits = torch.arange(2**15, dtype=torch.int16)
        found = bits.view(fmt.dtype)
        return found[found.isfinite()]
    top = math.frexp(fmt.largest)[1]
    powers = torch.tensor(2.0, dtype=torch.float64) ** torch.arange(-top + 3, top, dtype=torch.float64)
    powers = powers.to(fmt.dtype)
    up, down = (torch.nextafter(powers, torch.full_like(powers, end)) for end in (torch.inf, 0.0))
    return torch.cat((down, powers, up, torch.tensor([0.0, fmt.largest], dtype=fmt.dtype)))


def mrs_infinite(x: Tensor, acc: Format) -> Tensor:
    """Whether x^2 + y^2, r, or sum r is infinite, computed in `acc`: (T, N) -> (T,)."""
    z = x.to(acc.dtype).unflatten(-1, (-1, 2))
    squares = (z * z)[..., 0] + (z * z)[..., 1]
    total = squares.sqrt().sum(-1, dtype=acc.dtype)
    return squares.isinf().any(-1) | ~total.isfinite()


def rms_infinite(x: Tensor, acc: Format) -> Tensor:
    """Whether sum x^2 is infinite, computed in `acc`: (T, N) -> (T,)."""
    wide = x.to(acc.dtype)
    return ~(wide * wide).sum(-1, dtype=acc.dtype).isfinite()


def _overflow(acc: Format) -> float:
    """T, or the largest number where T is no fp64 number."""
    return acc.overflow if math.isfinite(acc.overflow) else acc.largest


def _rows(fmt: Format, acc: Format, channels: int, device: str) -> Tensor:
    """Equal rows, one-hot rows and rows of one outlier: at scales over the whole format, most of them near sqrt(T)."""
    top, edge = math.frexp(fmt.largest)[1], math.frexp(acc.largest)[1] // 2
    coarse = torch.arange(-8, top, max(1, top // 64))
    near = torch.arange(max(-8, edge - 12), min(edge + 3, top))
    scales = 2.0 ** torch.cat((coarse, near)).double()
    scales = torch.cat((scales, 4.0 * torch.arange(1, 17).double(), torch.tensor([fmt.largest], dtype=torch.float64)))
    equal = scales[:, None].expand(-1, channels)
    one = torch.zeros_like(equal).clone()
    one[:, 0] = scales
    both = one.clamp_min(1.0)
    return torch.cat((equal, one, both)).to(fmt.dtype).to(device)


def _row(
    settings: Settings, fmt: Format, statement: str, scope: str, worst: float, trials: int, detail: str
) -> Measurement:
    return Measurement(
        kind="exhaustive" if fmt.dtype.itemsize == 2 and "single" in scope else "adversarial",
        statement=statement,
        scope=scope,
        worst=worst,
        trials=trials,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail=detail,
    )


def _single(settings: Settings, fmt: Format, acc: Format) -> Measurement:
    """The printed statement at single values: the largest exact square, in units of the printed bound."""
    x = values(fmt).to(settings.device)
    wide = x.to(acc.dtype)
    infinite = (wide * wide).isinf()
    limit = printed(_overflow(acc))
    size = x.double() / math.sqrt(limit)
    ratio = ((size * size)[infinite] if infinite.any() else size * size).nan_to_num(torch.nan, CEILING, -CEILING)
    first = (
        f"the square is infinite from {x[infinite].min().item():.6g} on" if infinite.any() else "no square is infinite"
    )
    return _row(
        settings, fmt, "as printed", f"{fmt.name} in {acc.name}, single values", ratio.max().item(), len(x), first
    )


def _inclusion(settings: Settings, fmt: Format, acc: Format) -> Measurement:
    """The corrected statement on rows, and how often only RMSNorm's sum overflows."""
    broken, only, trials = 0, 0, 0
    for channels in CHANNELS:
        x = _rows(fmt, acc, channels, settings.device)
        mrs, rms = mrs_infinite(x, acc), rms_infinite(x, acc)
        broken += int((~corrected(mrs, rms)).sum())
        only += int((rms & ~mrs).sum())
        trials += len(x)
    scope = f"{fmt.name} in {acc.name}, N in {{{', '.join(map(str, CHANNELS))}}}"
    detail = f"RMSNorm's sum alone overflows in {only} of {trials} rows"
    return _row(settings, fmt, "corrected", scope, math.inf if broken else 0.0, trials, detail)


def _converse(settings: Settings, fmt: Format, acc: Format) -> Measurement:
    """N = 4096 and all x = 4: only RMSNorm's sum overflows in fp16."""
    x = torch.full((1, 4096), 4.0, dtype=fmt.dtype, device=settings.device)
    mrs, rms = bool(mrs_infinite(x, acc)), bool(rms_infinite(x, acc))
    total = torch.linalg.vector_norm(x.to(acc.dtype).unflatten(-1, (-1, 2)), dim=-1).sum(dtype=acc.dtype).item()
    worst = 0.0 if rms and not mrs else math.inf
    return _row(settings, fmt, "corrected", "fp16 in fp16, N = 4096, all x = 4", worst, 1, f"sum r = {total:.6g}")


def _never(settings: Settings, fmt: Format, acc: Format) -> Measurement:
    """The largest inputs in a wide accumulation format: nothing is infinite."""
    rows = [torch.full((1, n), fmt.largest, dtype=fmt.dtype, device=settings.device) for n in CHANNELS]
    infinite = sum(int(mrs_infinite(x, acc)) + int(rms_infinite(x, acc)) for x in rows)
    statement = f"{fmt.name} in {acc.name} never overflows"
    scope = f"all x = {fmt.largest:.5g}, N up to {CHANNELS[-1]}"
    return _row(settings, fmt, statement, scope, math.inf if infinite else 0.0, 2 * len(rows), "both norms")


def measure(settings: Settings) -> Iterator[Measurement]:
    """Single values and rows in the narrow accumulation format, the largest rows in the wide one."""
    for fmt in formats(settings):
        acc = FORMATS[NARROW[fmt.name]]
        yield _single(settings, fmt, acc)
        yield _inclusion(settings, fmt, acc)
        if fmt.name == "fp16":
            yield _converse(settings, fmt, acc)
        if fmt.name in WIDE:
            yield _never(settings, fmt, FORMATS[WIDE[fmt.name]])


MUTANTS: dict[str, Callable[[float], float]] = {
    "a tenth of it": lambda overflow: overflow / 10,
    "NaN": lambda overflow: math.nan,
}
# with this in its place nothing is violated: an input is below T, and T^2 (no fp64 number for fp64) is above its square
REPAIRS: dict[str, Callable[[float], float]] = {"the square of T": lambda overflow: overflow * overflow}
CORRECTED_MUTANTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "the converse": lambda mrs, rms: ~rms | mrs,
    "MRSNorm never overflows": lambda mrs, rms: ~mrs,
    "RMSNorm never overflows": lambda mrs, rms: ~rms,
}
