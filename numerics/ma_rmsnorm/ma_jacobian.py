"""ma-jacobian measured: the derivative of MA-RMSNorm by automatic differentiation, against its closed form.

    dL/dx_i = (s gamma_i g_i - xhat_i (1/N) sum_k g_k (s gamma_k xhat_k - alpha W_k)) / S,   xhat = x / S,
    J x = alpha W,   MA(c x) = MA(x) + alpha W log c,
    det J = s^(N-1) prod(gamma) alpha sum(W_k xhat_k / gamma_k) / (N R^N),

the first with eps inside the root, the others with eps = 0. Source: none, the article prints no derivative.

Bounds. Gradients: `rounding.ma_gradient_error`, the rounding to the input's format, and the same in fp64 for the
formula. J x: every entry of a row of J, a gradient with one upstream entry 1, may be off by that much times |x_j|, and
the sum in fp64 by gamma_N. Scaling: c is a power of two and c x exact, so both outputs are off by `ma_output_error` and
one rounding. The determinant of a measured J is a signed sum over permutations, N <= 4; if the entries are off by E,
it is by at most per(|J| + E) - per(|J|), the permanents, and the sum itself by gamma_(N! + N) per(|J|) in fp64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations

import torch
from torch import Tensor

from numerics.gradients import input_gradient
from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.magnitude_rounding import measured, over, random_magnitude
from numerics.measure import Measurement, Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import MA_S as S
from numerics.norms import ma_rms_norm, rms_scale
from numerics.rounding import (
    FP64,
    Format,
    domain,
    ma_gradient_error,
    ma_output_error,
    rms_roundings,
    rounded,
    roundings,
)
from numerics.scenarios import generator, normal

SLUG = "ma-jacobian"
SMALL = (1, 2, 3, 4)  # N for the determinant
FACTOR = 0.25  # c
Formula = Callable[[Tensor, Tensor, Tensor, Tensor, float], Tensor]


def printed(x: Tensor, g: Tensor, gamma: Tensor, magnitude: Tensor, eps: float) -> Tensor:
    """dL/dx for the upstream gradient g: (T, N), (T, N), (N,), (N,) -> (T, N)."""
    return _form(x, g, gamma, magnitude, eps)


def radial(magnitude: Tensor) -> Tensor:
    """J x: (N,) -> (N,)."""
    return ALPHA * magnitude


def determinant(x: Tensor, gamma: Tensor, magnitude: Tensor) -> tuple[Tensor, Tensor]:
    """det J at eps = 0, and the size of what its sum adds up: (T, N), (N,), (N,) -> (T,), (T,)."""
    channels, scale = x.shape[-1], rms_scale(x, 0.0)
    terms = magnitude / gamma * x / scale
    volume = S ** (channels - 1) * gamma.prod() * ALPHA / channels / scale.squeeze(-1) ** channels
    return volume * terms.sum(-1), volume.abs() * terms.abs().sum(-1)


def _form(
    x: Tensor,
    g: Tensor,
    gamma: Tensor,
    magnitude: Tensor,
    eps: float,
    s: float = S,
    alpha: float = ALPHA,
    share: float = 1,
) -> Tensor:
    scale = (x.square().sum(-1, keepdim=True) / x.shape[-1] + eps).sqrt()
    xhat = x / scale
    pull = (g * (s * gamma * xhat - alpha * magnitude)).sum(-1, keepdim=True) / x.shape[-1]
    return (s * gamma * g - share * xhat * pull) / scale


def measure(settings: Settings) -> Iterator[Measurement]:
    """Gradients on every scenario, J x and MA(c x) at eps = 0, and small determinants; each in every format."""
    for fmt in formats(settings):
        gradient, along = Tally("as printed", fmt, settings), Tally("as printed", fmt, settings)
        for b in batches(SLUG, fmt, settings, channel_weights=True):
            magnitude = random_magnitude(SLUG, b, settings)
            layer = partial(ma_rms_norm, weight=b.gamma, magnitude=magnitude, eps=b.eps)
            x, g, gamma, w = (value.double() for value in (b.h, b.g, b.gamma, magnitude))
            scale = rms_scale(x, b.eps)
            lost, lost64 = (ma_gradient_error(x, g, gamma, w, scale, f) for f in (fmt, FP64))
            exact = printed(x, g, gamma, w, b.eps)
            gradient.compare(b, *map(phasor_view, (input_gradient(layer, b.h, b.g), exact, lost, lost64)))
        for b in batches(SLUG, fmt, settings, widest=64, channel_weights=True, eps_zero=True):
            _scaling(along, b, random_magnitude(SLUG, b, settings))
        yield gradient.measurement("input gradient")
        yield along.measurement(f"MA(c x) - MA(x) = alpha W log c, c = {FACTOR:g}")
        yield from _small(fmt, settings)


def _scaling(tally: Tally, b: Batch, magnitude: Tensor) -> None:
    """MA(c x) - MA(x) against alpha W log c, for the rows of which c x is exact."""
    scaled = b.h * FACTOR
    low, _ = domain(b.phasors, b.fmt)
    exact_rows = (scaled / FACTOR == b.h).all(-1) & (scaled.double().abs().amax(-1) >= low)
    outputs = [ma_rms_norm(x, b.gamma, magnitude, eps=0.0).double() for x in (scaled, b.h)]
    gamma, w = b.gamma.double(), magnitude.double()
    bound = torch.zeros_like(outputs[0])
    for x in (scaled.double(), b.h.double()):
        scale = rms_scale(x, 0.0)
        exact = S * gamma * x / scale + ALPHA * w * scale.log()
        lost = ma_output_error(x, gamma, w, scale, b.fmt)
        bound = bound + rounded(lost, exact, b.fmt) + roundings(2, FP64) * exact.abs()
    error = (outputs[0] - outputs[1] - radial(w) * math.log(FACTOR)).abs()
    tally.add(b, phasor_view(error), phasor_view(bound), exact_rows[:, None, None])


def _small(fmt: Format, settings: Settings) -> Iterator[Measurement]:
    """J x and det J of normal rows at eps = 0, N up to 4."""
    along, dets = [], []
    for channels in SMALL:
        rng = generator(settings.seed, SLUG, "small", channels, fmt.name)
        x, gamma, w = (
            normal(rng, *shape).to(fmt.dtype) for shape in ((settings.trials, channels), (channels,), (channels,))
        )
        x, gamma, w = (value.to(settings.device) for value in (x, gamma + gamma.sign() * 0.25, w))
        entries, lost = _entries(x, gamma, w, fmt)
        wide = x.double().unsqueeze(-2)
        reached = (entries * wide).sum(-1)
        allowed = (lost * wide.abs()).sum(-1) + roundings(channels + 1, FP64) * (entries * wide).abs().sum(-1)
        along.append(over((reached - radial(w.double())).abs(), allowed).amax(-1))
        exact, size = determinant(x.double(), gamma.double(), w.double())
        value, permanent, wider = _expanded(entries), _permanent(entries.abs()), _permanent(entries.abs() + lost)
        summed = roundings(math.factorial(channels) + 2 * channels, FP64) * wider
        formula = roundings(channels * (rms_roundings(channels) + 6) + 8, FP64) * size
        dets.append(over((value - exact).abs(), wider - permanent + summed + formula))
    scope = f"N in {{{', '.join(map(str, SMALL))}}}, normal rows, eps = 0"
    yield measured(settings, fmt, "as printed", f"J x = alpha W, {scope}", torch.cat(along))
    yield measured(settings, fmt, "as printed", f"det J, {scope}", torch.cat(dets))


def _entries(x: Tensor, gamma: Tensor, magnitude: Tensor, fmt: Format) -> tuple[Tensor, Tensor]:
    """J by automatic differentiation and what rounding allows each entry: (T, N) -> (T, N, N) twice, in fp64."""
    trials, channels = x.shape
    rows = x.unsqueeze(1).repeat(1, channels, 1)
    unit = torch.eye(channels, dtype=x.dtype, device=x.device).expand(trials, -1, -1)
    found = input_gradient(partial(ma_rms_norm, weight=gamma, magnitude=magnitude, eps=0.0), rows, unit).double()
    wide, g, weights, w = rows.double(), unit.double(), gamma.double(), magnitude.double()
    lost = ma_gradient_error(wide, g, weights, w, rms_scale(wide, 0.0), fmt)
    return found, rounded(lost, found, fmt)


def _expanded(matrix: Tensor) -> Tensor:
    """The determinant, as the signed sum over permutations: (T, N, N) -> (T,)."""
    return torch.stack([_sign(order) * _product(matrix, order) for order in permutations(range(matrix.shape[-1]))]).sum(
        0
    )


def _permanent(matrix: Tensor) -> Tensor:
    return torch.stack([_product(matrix, order) for order in permutations(range(matrix.shape[-1]))]).sum(0)


def _product(matrix: Tensor, order: tuple[int, ...]) -> Tensor:
    return torch.stack([matrix[:, row, column] for row, column in enumerate(order)]).prod(0)


def _sign(order: tuple[int, ...]) -> int:
    swaps = sum(first > second for place, first in enumerate(order) for second in order[place + 1 :])
    return -1 if swaps % 2 else 1


MUTANTS: dict[str, Formula] = {
    "without 1/N": lambda x, g, gamma, w, eps: _form(x, g, gamma, w, eps, share=x.shape[-1]),
    "W forgotten": lambda x, g, gamma, w, eps: _form(x, g, gamma, 0 * w, eps),
    "s forgotten": lambda x, g, gamma, w, eps: _form(x, g, gamma, w, eps, s=1.0),
    "alpha forgotten": lambda x, g, gamma, w, eps: _form(x, g, gamma, w, eps, alpha=1.0),
    "level term's sign flipped": lambda x, g, gamma, w, eps: _form(x, g, gamma, -w, eps),
    "eps forgotten": lambda x, g, gamma, w, eps: _form(x, g, gamma, w, 0.0),
    "S held constant": lambda x, g, gamma, w, eps: _form(x, g, gamma, w, eps, share=0.0),
    "all NaN": lambda x, g, gamma, w, eps: torch.full_like(x, torch.nan),
}
