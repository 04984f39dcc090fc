"""ma-recover measured: two inputs of different magnitude with one output.

Claim: equal outputs come from equal magnitudes. Source: MA-RMSNorm article, sections 1, 2.2 and 3.2.

With v = alpha W / gamma, l = log R and xhat = x / R the second input is x' = e^l' xhat',

    l' = l + 2 s <xhat, v> / |v|^2,      xhat' = xhat - 2 (<xhat, v> / |v|^2) v.

x' is computed in fp64 and rounded to the format; W is drawn so that |v| is between 1 and 4, and rows of which an entry
leaves the normal range are left out.

Bounds. Either output may be off by `rounding.ma_output_error` and its last rounding. Rounding x' by a relative u
in each channel moves y by at most u (2 s |gamma xhat'| + |alpha W|), to first order, as |J| |x'| is no more. The
formula in fp64: t = <xhat, v> / |v|^2 is off by e = gamma_n sum |xhat v| / |v|^2, n = 2 N and the roundings in R, so y
by s |gamma| (2 |v| e + gamma_12 (|xhat'| + 2 |t v|)) + |alpha W| (2 s e + gamma_8 (1 + |l'|)). A computed l of x' is
off by `magnitude_rounding.log_error` in fp64 and by the roundings of x' itself.
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
from numerics.norms import ma_rms_norm, rms_scale
from numerics.rounding import FP64, Format, log_error, ma_output_error, rms_roundings, rounded, roundings
from numerics.scenarios import generator, normal, uniform

SLUG = "ma-recover"
WIDTHS = (1, 2, 3, 64)
EXAMPLE = "the smallest counterexample"


def printed(level: Tensor, other: Tensor) -> Tensor:
    """log R of the second input as claimed, from l and l': (T, 1), (T, 1) -> (T, 1)."""
    return level


def corrected(level: Tensor, xhat: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    """l' and xhat': (T, 1), (T, N), (N,) -> (T, 1), (T, N)."""
    return _other(level, xhat, v, 2.0, 2.0)


def _other(level: Tensor, xhat: Tensor, v: Tensor, shift: float, turn: float) -> tuple[Tensor, Tensor]:
    along = (xhat * v).sum(-1, keepdim=True) / v.square().sum()
    return level + shift * S * along, xhat - turn * along * v


def measure(settings: Settings) -> Iterator[Measurement]:
    """Outputs and magnitudes of pairs, and the case N = 1 where the format holds e^40."""
    for fmt in formats(settings):
        outputs, levels = zip(*(_pairs(settings, fmt, channels) for channels in WIDTHS), strict=True)
        scope = f"N in {{{', '.join(map(str, WIDTHS))}}}, eps = 0"
        yield measured(settings, fmt, "as printed", f"log R of inputs with one output, {scope}", torch.cat(levels))
        yield measured(settings, fmt, "corrected", f"outputs of both inputs, {scope}", torch.cat(outputs))
        if fmt.largest > math.exp(41):
            yield _example(settings, fmt)


def _pairs(settings: Settings, fmt: Format, channels: int) -> tuple[Tensor, Tensor]:
    """Ratios for the outputs of both inputs, and for their levels: (T,) each."""
    rng = generator(settings.seed, SLUG, channels, fmt.name)
    scale = 2.0 ** (8 * uniform(rng, settings.trials, 1) - 4)
    x = (normal(rng, settings.trials, channels) * scale).to(fmt.dtype).to(settings.device)
    gamma = normal(rng, channels).sign() * (0.5 + uniform(rng, channels))
    v = normal(rng, channels)
    v = v / v.norm() * (1 + 3 * uniform(rng, 1))
    gamma, w = (value.to(fmt.dtype).to(settings.device) for value in (gamma, gamma * v / ALPHA))
    v = ALPHA * w.double() / gamma.double()
    wide = x.double()
    r = rms_scale(wide, 0.0)
    xhat, level = wide / r, r.log()
    other, reflected = corrected(level, xhat, v)
    second = (other.exp() * reflected).to(fmt.dtype)
    left_out = [((value.double().abs() < fmt.smallest_normal) | value.isinf()).any(-1) for value in (x, second)]
    first, image = (ma_rms_norm(value, gamma, w, eps=0.0).double() for value in (x, second))
    weights, u = (gamma.double(), w.double()), fmt.unit_roundoff
    allowed = _formula_error(xhat, reflected, other, *weights, v)
    allowed = allowed + u * (1 + 8 * u) * (2 * S * (weights[0] * reflected).abs() + (ALPHA * weights[1]).abs())
    for value in (wide, second.double()):
        s = rms_scale(value, 0.0)
        exact = S * weights[0] * value / s + ALPHA * weights[1] * s.log()
        allowed = (
            allowed + rounded(ma_output_error(value, *weights, s, fmt), exact, fmt) + roundings(6, FP64) * exact.abs()
        )
    found = rms_scale(second.double(), 0.0)
    drift = 2 * log_error(found, channels, FP64) + 2 * u + roundings(8, FP64) * (1 + other.abs())
    level_ratio = over((found.log() - printed(level, other)).abs(), drift).squeeze(-1)
    rows = ~(left_out[0] | left_out[1] | ((other - level).abs().squeeze(-1) < 0.01))  # a NaN stays in
    return over((first - image).abs(), allowed).amax(-1)[rows], level_ratio[rows]


def _formula_error(
    xhat: Tensor, reflected: Tensor, other: Tensor, gamma: Tensor, magnitude: Tensor, v: Tensor
) -> Tensor:
    """What fp64 may lose in x', as an error of its output: (T, N)."""
    channels, square = xhat.shape[-1], v.square().sum()
    along = (xhat * v).sum(-1, keepdim=True) / square
    size = (xhat * v).abs().sum(-1, keepdim=True) / square
    e = roundings(2 * channels + rms_roundings(channels) + 6, FP64) * size
    turned = 2 * v.abs() * e + roundings(12, FP64) * (reflected.abs() + 2 * (along * v).abs())
    moved = 2 * S * e + roundings(8, FP64) * (1 + other.abs())
    return S * gamma.abs() * turned + (ALPHA * magnitude).abs() * moved


def _example(settings: Settings, fmt: Format) -> Measurement:
    """MA(1) = MA(-e^40) = 2 for N = 1, gamma = W = 1, s = 2, alpha = 1/10."""
    x = torch.tensor([[1.0], [-math.exp(40)]], dtype=torch.float64).to(fmt.dtype).to(settings.device)
    one = torch.ones(1, dtype=fmt.dtype, device=settings.device)
    y = ma_rms_norm(x, one, one, eps=0.0).double()
    scale, u, two = rms_scale(x.double(), 0.0), fmt.unit_roundoff, torch.full_like(y, 2.0)
    lost = ma_output_error(x.double(), one.double(), one.double(), scale, fmt)
    bound = rounded(lost, two, fmt) + u * (1 + 8 * u) * ALPHA + roundings(8, FP64)
    witness = {"x": x.flatten().tolist(), "y": y.flatten().tolist()}
    ratios = over((y - two).abs(), bound)
    return measured(settings, fmt, EXAMPLE, "N = 1, x = 1 and -e^40", ratios, kind="exhaustive", witness=witness)


MUTANTS = {
    "halfway": lambda level, other: (level + other) / 2,
    "NaN": lambda level, other: level * math.nan,
}
# with this in its place nothing is violated: the check does not say no to everything
REPAIRS = {"the level of the second input": lambda level, other: other}
CORRECTED_MUTANTS = {
    "half the distance": lambda level, xhat, v: _other(level, xhat, v, 1.0, 2.0),
    "not reflected": lambda level, xhat, v: _other(level, xhat, v, 2.0, 0.0),
    "projected": lambda level, xhat, v: _other(level, xhat, v, 2.0, 1.0),
    "the other way": lambda level, xhat, v: _other(level, xhat, v, -2.0, 2.0),
    "NaN": lambda level, xhat, v: (level * math.nan, xhat),
}
