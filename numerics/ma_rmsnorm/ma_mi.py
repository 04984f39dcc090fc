"""ma-mi measured: what the outputs know of the magnitude, and how much of it a linear readout gets.

Claim: I(l; y) = 0 for RMSNorm and positive for MA-RMSNorm. Source: MA-RMSNorm article, section 3.2, with magnitude and
direction independent and alpha W != 0.

Every direction is put at two magnitudes, x and c x with c a power of two, so that the two are independent by
construction. RMSNorm's outputs are equal bit for bit; MA-RMSNorm's differ by alpha W log c, up to both output errors.

The readout <w, y> of l has the squared signal-to-noise ratio alpha^2 sigma_l^2 <w, W>^2 / (s^2 |G w|^2), at most
alpha^2 sigma_l^2 |G^-1 W|^2 / s^2, at w = G^-2 W. Sums of N products in fp64: gamma_(4 N + 12) of the ratio. Random
readouts stay far below the bound, so the search looks for the largest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.magnitude_rounding import measured, random_magnitude
from numerics.measure import Measurement, Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import MA_S as S
from numerics.norms import ma_rms_norm, rms_norm, rms_scale
from numerics.rounding import FP64, Format, ma_output_error, rounded, roundings
from numerics.scenarios import generator, normal
from numerics.search import ascend

SLUG = "ma-mi"
FACTOR = 0.25  # c
SCALES = (1.0, 2.0, 5.0, 8.0)  # s
BEST, HIDES = "the best linear readout", "a larger s hides the magnitude"


def printed(magnitude: Tensor, factor: float) -> tuple[Tensor, Tensor]:
    """How far the outputs of c x and x are apart, for RMSNorm and for MA-RMSNorm: (N,) -> (N,), (N,)."""
    return torch.zeros_like(magnitude), ALPHA * magnitude * math.log(factor)


def best(gamma: Tensor, magnitude: Tensor, s: float) -> Tensor:
    """The largest squared signal-to-noise ratio of a linear readout over sigma_l^2: (N,), (N,) -> ()."""
    return (ALPHA * magnitude / gamma).square().sum() / s**2


def readout(w: Tensor, gamma: Tensor, magnitude: Tensor, s: float) -> Tensor:
    """The same for the readout w: (..., N) -> (...)."""
    return ALPHA**2 * (w * magnitude).sum(-1).square() / (s**2 * (w * gamma).square().sum(-1))


def measure(settings: Settings) -> Iterator[Measurement]:
    """Outputs at two magnitudes, readouts random and searched, and the information over s."""
    for fmt in formats(settings):
        plain, aware = (Tally("as printed", fmt, settings) for _ in range(2))
        for b in batches(SLUG, fmt, settings, widest=64, channel_weights=True, eps_zero=True):
            _two_magnitudes(plain, aware, b, random_magnitude(SLUG, b, settings))
        yield plain.measurement("RMSNorm's outputs of c x and x, bit for bit")
        yield aware.measurement("MA-RMSNorm's, less alpha W log c")
        yield from _readouts(settings, fmt)


def _two_magnitudes(plain: Tally, aware: Tally, b: Batch, magnitude: Tensor) -> None:
    scaled = b.h * FACTOR
    rows = ((scaled / FACTOR == b.h).all(-1) & (b.h != 0).any(-1))[:, None, None]
    gamma, w = b.gamma.double(), magnitude.double()
    none, some = printed(w, FACTOR)
    left, right = (rms_norm(x, b.gamma, 0.0).double() for x in (scaled, b.h))
    plain.add(b, phasor_view((left - right - none).abs()), torch.zeros_like(phasor_view(left)), rows)
    left, right = (ma_rms_norm(x, b.gamma, magnitude, eps=0.0).double() for x in (scaled, b.h))
    bound = torch.zeros_like(left)
    for x in (scaled.double(), b.h.double()):
        scale = rms_scale(x, 0.0)
        exact = S * gamma * x / scale + ALPHA * w * scale.log()
        bound = (
            bound + rounded(ma_output_error(x, gamma, w, scale, b.fmt), exact, b.fmt) + roundings(2, FP64) * exact.abs()
        )
    aware.add(b, phasor_view((left - right - some).abs()), phasor_view(bound), rows)


def _readouts(settings: Settings, fmt: Format) -> Iterator[Measurement]:
    """Readouts for random weights in the format, evaluated in fp64, against the bound."""
    channels = 16
    rng = generator(settings.seed, SLUG, "readouts", fmt.name)
    gamma, magnitude = (normal(rng, channels).to(fmt.dtype).double().to(settings.device) for _ in range(2))
    limit = best(gamma, magnitude, S) * (1 + roundings(4 * channels + 12, FP64))
    w = torch.cat((normal(rng, settings.trials, channels).to(settings.device), (magnitude / gamma**2).unsqueeze(0)))
    ratios = readout(w, gamma, magnitude, S) / limit
    scope = f"N = {channels}, s = {S:g}"
    yield measured(settings, fmt, BEST, f"random readouts and w = G^-2 W, {scope}", ratios)
    found = ascend(
        lambda points: readout(points.flatten(1), gamma, magnitude, S) / limit,
        vectors=1,
        phasors=channels // 2,
        seed=rng.initial_seed() % 2**31,
        starts=("gaussian", "outlier"),
        restarts=4,
        steps=60,
        device=settings.device,
    )
    reached = torch.tensor([found.value], dtype=torch.float64)
    yield measured(settings, fmt, BEST, f"found by gradient ascent, {scope}", reached, kind="adversarial")
    known = torch.stack([0.5 * torch.log1p(best(gamma, magnitude, s)) for s in SCALES])
    nats = ", ".join(f"{value:.3g}" for value in known.tolist())
    detail = f"1/2 log(1 + SNR) for sigma_l = 1 at s = 1, 2, 5, 8: {nats} nats"
    yield measured(
        settings, fmt, HIDES, "information at the next s over that at s", known[1:] / known[:-1], detail=detail
    )


MUTANTS = {
    "none in either": lambda w, c: (torch.zeros_like(w), torch.zeros_like(w)),
    "alpha forgotten": lambda w, c: (torch.zeros_like(w), w * math.log(c)),
    "s on the second term": lambda w, c: (torch.zeros_like(w), S * ALPHA * w * math.log(c)),
    "RMSNorm has it too": lambda w, c: (ALPHA * w * math.log(c), ALPHA * w * math.log(c)),
    "all NaN": lambda w, c: (w * math.nan, w * math.nan),
}
