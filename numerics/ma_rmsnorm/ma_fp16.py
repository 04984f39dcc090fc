"""ma-fp16 measured: rounding s y instead of y.

Claim: quantized to fp16, MA-RMSNorm is more accurate than RMSNorm by every measure. Source: MA-RMSNorm article,
sections 2.3 and 3.4, with s = 2.

What holds: fp(2^k y) = 2^k fp(y) within the normal range. Bound: none, the two are equal bit for bit. The numbers y lie
between those of the format, in eighths of the spacing, for every finite number of fp16 and bf16 and for random ones of
fp32; fp64 has no wider format to round from here, so it is checked on the outputs of the layer alone.

The claim is tested as the ratio of the errors with and without s = 2, absolute and relative, over the outputs of the
layer in fp64, rounded; to fp64 nothing is rounded, and there is nothing to compare.

With squares in fp16 itself, not in fp32, R is infinite from |x| = 256 on: x / R is 0 and log R is infinite, so RMSNorm
returns 0 and MA-RMSNorm infinities, or NaN where W is 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.inputs import formats
from numerics.magnitude_rounding import measured, over
from numerics.measure import Measurement, Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import MA_S as S
from numerics.norms import ma_rms_norm
from numerics.rounding import FP64, Format
from numerics.scenarios import generator, normal, uniform

SLUG = "ma-fp16"
CHANNELS = 64
POWERS = (2.0, 8.0, 0.25)
NATIVE, SMALL = "squares in fp16 itself", "below the normal range s helps"


def printed(error: Tensor) -> Tensor:
    """What the errors with s = 2 are claimed to stay below: those without, absolute and relative."""
    return error


def corrected(rounded: Tensor, factor: float) -> Tensor:
    """The rounded s y, from the rounded y, for s a power of two."""
    return factor * rounded


def measure(settings: Settings) -> Iterator[Measurement]:
    """The claim on outputs of the layer, the identity on a grid and on outputs, and what happens at both ends."""
    for fmt in formats(settings):
        if fmt != FP64:
            yield _claim(settings, fmt, _outputs(settings, fmt))
            error = torch.cat([_grid(settings, fmt, factor) for factor in POWERS])
            scope = "every number" if fmt != fmt.accumulation else "random numbers"
            scope = f"{scope} of {fmt.name} and eighths between, s in {{2, 8, 1/4}}"
            yield measured(
                settings, fmt, "corrected", scope, error, kind="exhaustive" if "every" in scope else "random"
            )
        yield measured(
            settings, fmt, "corrected", f"outputs of the layer, N = {CHANNELS}", _in_the_layer(settings, fmt)
        )
        if fmt.name == "fp16":
            yield _native(settings, fmt)
            yield _below_normal(settings, fmt)


def _draw(settings: Settings, fmt: Format) -> tuple[Tensor, Tensor]:
    rng = generator(settings.seed, SLUG, fmt.name)
    x = normal(rng, settings.trials, CHANNELS) * 2.0 ** (8 * uniform(rng, settings.trials, 1) - 4)
    gamma = normal(rng, CHANNELS).sign() * (0.5 + uniform(rng, CHANNELS))
    return x.to(fmt.dtype).to(settings.device), gamma.to(fmt.dtype).to(settings.device)


def _outputs(settings: Settings, fmt: Format) -> Tensor:
    """RMSNorm's outputs in fp64, only those whose rounding error is not 0 and which are normal numbers."""
    x, gamma = (value.double() for value in _draw(settings, fmt))
    y = ma_rms_norm(x, gamma, None, 1.0, eps=0.0).flatten()
    return y[(y.to(fmt.dtype).double() != y) & (y.abs() >= fmt.smallest_normal)]


def _errors(y: Tensor, fmt: Format) -> Tensor:
    """The largest absolute and the largest relative rounding error: (2,)."""
    error = (y.to(fmt.dtype).double() - y).abs()
    return torch.stack((error.amax(), (error / y.abs()).amax()))


def _claim(settings: Settings, fmt: Format, y: Tensor) -> Measurement:
    scope = f"largest absolute and relative error of rounding s y over that of y, s = {S:g}, N = {CHANNELS}"
    ratios = over(_errors(S * y, fmt), printed(_errors(y, fmt)))
    detail = f"absolute {float(ratios[0]):.3g}, relative {float(ratios[1]):.3g}"
    return measured(settings, fmt, "as printed", scope, ratios, detail=detail)


def _grid(settings: Settings, fmt: Format, factor: float) -> Tensor:
    """0 where fp(s y) is s fp(y), infinite elsewhere, over y in the normal range on both sides."""
    if fmt == fmt.accumulation:
        rng = generator(settings.seed, SLUG, "grid", fmt.name)
        base = (normal(rng, 4096) * 2.0 ** (200 * uniform(rng, 4096) - 100)).to(fmt.dtype)
    else:
        base = torch.arange(-(2**15), 2**15, dtype=torch.int32).to(torch.int16).view(fmt.dtype)
    base = base.to(settings.device).double()
    base = base[base.isfinite() & (base != 0)]
    spacing = 2.0 ** (base.abs().log2().floor()) * 2 * fmt.unit_roundoff
    y = (base.unsqueeze(-1) + spacing.unsqueeze(-1) * torch.arange(8, device=base.device) / 8).flatten()
    low, high = fmt.smallest_normal, fmt.largest / 2
    inside = [(value.abs() >= low) & (value.abs() <= high) for value in (y, factor * y)]
    y = y[inside[0] & inside[1]]
    error = ((factor * y).to(fmt.dtype).double() - corrected(y.to(fmt.dtype).double(), factor)).abs()
    return over(error, torch.zeros_like(error))


def _in_the_layer(settings: Settings, fmt: Format) -> Tensor:
    """The same for outputs of the layer with s and with 1, without the second term: (T,)."""
    x, gamma = _draw(settings, fmt)
    plain = ma_rms_norm(x, gamma, None, 1.0, eps=0.0).double()
    found = [(ma_rms_norm(x, gamma, None, s, eps=0.0).double() - corrected(plain, s)).abs() for s in POWERS]
    error = torch.where(plain.abs() >= 8 * fmt.smallest_normal, torch.stack(found).amax(0), 0.0)
    return over(error, torch.zeros_like(error)).amax(-1)


def _native(settings: Settings, fmt: Format) -> Measurement:
    """0 where the formula evaluated in fp16 gives what the docstring says, infinite elsewhere."""
    x = torch.tensor([[300.0, -2.0], [1.0, 256.0]], dtype=fmt.dtype, device=settings.device)
    w = torch.tensor([1.0, 0.0], dtype=fmt.dtype, device=settings.device)
    scale = (x * x).amax(-1, keepdim=True).sqrt()  # the sum of squares holds an infinity, whatever else
    plain, level = x / scale, ALPHA * w * scale.log()
    aware = S * plain + level
    said = (plain == 0).all() & aware[:, 0].isinf().all() & aware[:, 1].isnan().all()
    ratio = torch.tensor([0.0 if bool(said) else math.inf])
    return measured(settings, fmt, NATIVE, "x = (300, -2) and (1, 256), W = (1, 0)", ratio, kind="experiment")


def _below_normal(settings: Settings, fmt: Format) -> Measurement:
    """Rounding error of 2 y, halved, over that of y, for y between subnormal numbers; 1 where s does not matter."""
    y = torch.arange(1, 2**14, dtype=torch.float64, device=settings.device) * 2.0**-28
    halved, plain = ((factor * y).to(fmt.dtype).double() / factor - y for factor in (2.0, 1.0))
    better = (halved.abs() < plain.abs()).double().mean().item()
    detail = f"smaller in {100 * better:.0f} % of the cases"
    scope = "every multiple of 2^-28 below 2^-14"
    return measured(settings, fmt, SMALL, scope, over(halved.abs(), plain.abs()), kind="exhaustive", detail=detail)


MUTANTS = {
    "half of them": lambda error: error / 2,
    "none": lambda error: 0 * error,
    "NaN": lambda error: error * math.nan,
}
# with this in its place nothing is violated: the check does not say no to everything
REPAIRS = {"twice the absolute, the same relative": lambda error: error * error.new_tensor([S, 1.0])}
CORRECTED_MUTANTS = {
    "not scaled": lambda rounded, factor: rounded,
    "a unit more": lambda rounded, factor: factor * rounded * (1 + 2**-10),
    "NaN": lambda rounded, factor: rounded * math.nan,
}
