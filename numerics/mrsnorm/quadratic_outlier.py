"""quadratic-outlier measured: an outlier dominates both denominators, and S_RMS / S stays below sqrt(N)/2.

Claim: in the mean of magnitudes no phasor outweighs all the others together. Source: MRSNorm paper, sections 1 and 2.1.
What holds at eps = 0 is S_RMS / S < sqrt(N)/2, with T = sum r and r the largest magnitude

    0 <= N/4 - (S_RMS / S)^2 <= (N/4) ((T / r)^2 - 1),

so the supremum is approached as one phasor outgrows the rest. Vectors of equal magnitudes have S_RMS / S = 1/sqrt(2), k
equal outliers among zeros sqrt(N/k)/2.

How it is measured. Magnitudes and both scales are computed in the accumulation format from inputs of the format. A
sample stays far from the supremum, so gradient ascent looks for it in fp64; what it finds is rounded to each format.

Bounds. With n the roundings in S, S_RMS and five more (quotient, squares), the squared ratio is off by gamma_2n of
itself; sums of magnitudes by gamma_(P + 4) each. The distance from N/4 is a difference of numbers of size N/4.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.backward import defined
from numerics.inputs import Batch, batches, formats
from numerics.judge import Tally, plain
from numerics.measure import Measurement, Settings
from numerics.norms import magnitudes, mrs_scale, rms_scale
from numerics.rounding import MAGNITUDE, Format, rms_roundings, roundings, scale_roundings
from numerics.scenarios import generator
from numerics.search import Found, ascend, minimised, sharpened

SEARCHED = (2, 8, 64)  # P
STARTS = ("gaussian", "mixed")


def printed(r: Tensor) -> Tensor:
    """What the largest magnitude is said not to exceed, the sum of the others: (T, P) -> (T, 1)."""
    return r.sum(-1, keepdim=True) - r.amax(-1, keepdim=True)


def corrected(phasors: int) -> float:
    """The supremum of (S_RMS / S)^2, N/4."""
    return phasors / 2


def squared_ratio(h: Tensor) -> Tensor:
    """(S_RMS / S)^2 at eps = 0, in the accumulation format: (T, N) -> (T, 1)."""
    return (rms_scale(h, 0.0) / mrs_scale(h, 0.0)).square()


def _ratio_roundings(phasors: int, fmt: Format) -> float:
    count = scale_roundings(phasors) + rms_roundings(2 * phasors) + 5
    return roundings(2 * count, fmt.accumulation)


def _collect(b: Batch, outweighs: Tally, below: Tally, near: Tally) -> None:
    r = magnitudes(b.h).double()
    used = defined(b)[:, None]
    total, top = r.sum(-1, keepdim=True), r.amax(-1, keepdim=True)
    slack = roundings(2 * (b.phasors + MAGNITUDE), b.fmt.accumulation) * total
    outweighs.add(b, top, printed(r) + slack, used)
    ratio, relative = squared_ratio(b.h).double(), _ratio_roundings(b.phasors, b.fmt)
    supremum = corrected(b.phasors)
    below.add(b, ratio, supremum * (1 + relative) + torch.zeros_like(ratio), used)
    rate = supremum * ((total / top).square() - 1)
    off = 4 * roundings(b.phasors + MAGNITUDE + 4, b.fmt.accumulation) * supremum * (total / top).square()
    near.add(b, (supremum - ratio).abs(), rate + off + relative * supremum, used)


def _value(points: Tensor) -> Tensor:
    return squared_ratio(points[:, 0].flatten(-2)).squeeze(-1)


def _search(phasors: int, settings: Settings) -> Found:
    """A vector with the largest (S_RMS / S)^2 that gradient ascent finds in fp64."""
    seed = generator(settings.seed, "quadratic-outlier", "search", phasors).initial_seed()
    restarts, steps = (32, 120) if settings.full else (8, 60)
    options = {"starts": STARTS, "restarts": restarts, "steps": steps, "device": settings.device}
    found = ascend(_value, vectors=1, phasors=phasors, seed=seed, **options)
    return (sharpened if settings.full else minimised)(found, _value)


def _found(found: Found, fmt: Format, settings: Settings) -> Measurement:
    h = found.rounded(fmt.dtype)
    phasors = h.shape[-1] // 2
    ratio = squared_ratio(h).double() / (corrected(phasors) * (1 + _ratio_roundings(phasors, fmt)))
    return Measurement(
        kind="adversarial",
        statement="corrected",
        scope=f"P = {phasors}, eps = 0, found by gradient ascent",
        worst=ratio.item(),
        trials=found.restarts,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail="(S_RMS / S)^2 over N/4",
        witness={"magnitudes": plain(torch.linalg.vector_norm(found.phasors[0], dim=-1))} if phasors <= 8 else None,
    )


def _equal(fmt: Format, settings: Settings, statement: str, counts: tuple[int, ...]) -> Measurement:
    """k equal phasors (3, 4) among zeros: (S_RMS / S)^2 against P / (2k); k = P where `counts` is empty."""
    errors, tried = [], 0
    for phasors in SEARCHED:
        for k in (k for k in counts or (1, phasors) if k <= phasors):
            z = torch.zeros(1, phasors, 2, dtype=fmt.dtype, device=settings.device)
            z[:, :k] = torch.tensor([3.0, 4.0])
            expected = corrected(phasors) / k
            error = (squared_ratio(z.flatten(-2)).double() - expected).abs().item()
            errors.append(error / (expected * _ratio_roundings(phasors, fmt)))
            tried += 1
    return Measurement(
        kind="experiment",
        statement=statement,
        scope=f"P in {{{', '.join(map(str, SEARCHED))}}}, phasors (3, 4) and (0, 0)",
        worst=torch.tensor(errors).amax().item(),
        trials=tried,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
    )


def measure(settings: Settings) -> Iterator[Measurement]:
    """The claim, the supremum on samples and at what the search finds, the rate, and two exact cases."""
    found = [_search(phasors, settings) for phasors in SEARCHED]
    for fmt in formats(settings):
        outweighs = Tally("as printed", fmt, settings)
        below, near = Tally("corrected", fmt, settings), Tally("corrected", fmt, settings)
        for b in batches("quadratic-outlier", fmt, settings, eps_zero=True):
            if b.phasors > 1:
                _collect(b, outweighs, below, near)
        yield outweighs.measurement("largest magnitude over the sum of all the others")
        yield below.measurement("(S_RMS / S)^2 over N/4")
        yield near.measurement("distance of (S_RMS / S)^2 from N/4 over (N/4) ((T / r)^2 - 1)")
        for vector in found:
            yield _found(vector, fmt, settings)
        yield _equal(fmt, settings, "k equal outliers", (1, 2, 3, 8))
        yield _equal(fmt, settings, "net relief", ())


MUTANTS = {
    "half of the others": lambda r: (r.sum(-1, keepdim=True) - r.amax(-1, keepdim=True)) / 2,
    "all NaN": lambda r: torch.full_like(r[:, :1], torch.nan),
}
REPAIRS = {"all phasors together": lambda r: r.sum(-1, keepdim=True)}
CORRECTED_MUTANTS = {
    "sqrt(N/8)": lambda phasors: phasors / 4,
    "two hundredths less": lambda phasors: 0.98 * phasors / 2,
    "1/sqrt(2), as for equal magnitudes": lambda phasors: 0.5,
    "NaN": lambda phasors: float("nan"),
}
