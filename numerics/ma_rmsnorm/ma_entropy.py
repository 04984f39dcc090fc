"""ma-entropy measured: the entropy of attention over s, and what its logits' range guarantees.

Claim: up to s = 8 more than 99.5 % of the entropy log n remains, where RMSNorm has collapsed. Source: MA-RMSNorm
article, sections 2.3 and 3.3.

Attention as it starts in a transformer: normal rows, the layer, projections that keep the variance, so that queries and
keys have entries of variance s^2, and logits q . k / sqrt(d). What holds, with D the range of a query's logits:

    log n - H <= min(D, D^2 / 8),      H falls as all logits grow by one factor,

and at n = 64 the least entropy of all logits with range D, at the corner with 28 keys on top, is 99.5 % of log n at a D
between 0.4083 and 0.4084.

Bound. Logits are rounded to the format first and are then exact in fp64. H = log Q - (sum w z) / Q with the largest
logit 0: n exponentials, their sums and a quotient, so H is off by at most gamma_(n + 8) (log n + 1 + sum w |z| / Q);
logarithms and exponentials are taken to be within one unit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

import torch
from torch import Tensor

from numerics.inputs import formats
from numerics.magnitude_rounding import measured, over
from numerics.measure import Measurement, Settings
from numerics.norms import ma_rms_norm
from numerics.rounding import FP64, Format, roundings
from numerics.scenarios import generator, normal, uniform

SLUG = "ma-entropy"
KEYS, CHANNELS = 64, 64
SCALES = (1.0, 2.0, 5.0, 8.0)
FALLS, GUARANTEE, MISS = (
    "entropy falls as s grows",
    "the range that guarantees 99.5 %",
    "the range that may miss 99.5 %",
)


def printed() -> float:
    """The share of log n that the entropy is claimed to keep up to s = 8."""
    return 0.995


def corrected(spread: Tensor) -> Tensor:
    """The most that log n - H can be: (T,) -> (T,)."""
    return torch.minimum(spread, spread.square() / 8)


def entropy(logits: Tensor) -> tuple[Tensor, Tensor]:
    """H of the softmax over the last axis in nats, and a bound on its error in fp64: (..., n) -> (...), (...)."""
    z = logits.double()
    z = z - z.amax(-1, keepdim=True)
    w = z.exp()
    total = w.sum(-1)
    mean = (w * z).sum(-1) / total
    n = z.shape[-1]
    return total.log() - mean, roundings(n + 8, FP64) * (math.log(n) + 1 + mean.abs())


def attention_logits(settings: Settings, fmt: Format, s: float, rows: int = 4) -> Tensor:
    """Logits of normal tokens through the layer with this s, rounded to the format: (rows, KEYS, KEYS)."""
    rng = generator(settings.seed, SLUG, "attention", fmt.name)
    x = normal(rng, rows, KEYS, CHANNELS)
    query, key = (normal(rng, CHANNELS, CHANNELS) / math.sqrt(CHANNELS) for _ in range(2))
    w = normal(rng, CHANNELS)
    x, query, key, w = (value.to(fmt.dtype).to(settings.device) for value in (x, query, key, w))
    y = ma_rms_norm(x, None, w, s, eps=0.0).double()
    q, k = y @ query.double(), y @ key.double()
    return ((q @ k.mT) / math.sqrt(CHANNELS)).to(fmt.dtype)


def measure(settings: Settings) -> Iterator[Measurement]:
    """The claim at every s, the bound on random logits and corners, monotonicity, and the guaranteed range."""
    for fmt in formats(settings):
        logits = {s: attention_logits(settings, fmt, s) for s in SCALES}
        share = {s: entropy(z)[0].mean() / math.log(KEYS) for s, z in logits.items()}
        known = ", ".join(f"{float(value):.3g}" for value in share.values())
        scope = f"share of log n claimed over share kept at s = 2, 5, 8; n = {KEYS}, d = {CHANNELS}, unit variance"
        ratios = torch.stack([printed() / share[s] for s in SCALES[1:]])
        detail = f"H / log n at s = 1 (RMSNorm), 2, 5, 8: {known}"
        yield measured(settings, fmt, "as printed", scope, ratios, kind="experiment", detail=detail)
        yield measured(settings, fmt, "corrected", "random logits and corners, n in {2, 7, 64}", _losses(settings, fmt))
        h = [entropy(s * s * logits[1.0].double()) for s in SCALES]
        falling = [((b[0] - b[1]) / (a[0] + a[1])).flatten() for a, b in pairwise(h)]
        yield measured(settings, fmt, FALLS, "H at the next s over H at s, logits times s^2", torch.cat(falling))
        yield from _threshold(settings, fmt)


def _losses(settings: Settings, fmt: Format) -> Tensor:
    """(log n - H) less its rounding error, over the bound: (T,)."""
    ratios = []
    for n in (2, 7, 64):
        rng = generator(settings.seed, SLUG, n, fmt.name)
        spread = 2.0 ** (12 * uniform(rng, settings.trials, 1) - 6)
        corner = spread * (uniform(rng, settings.trials, n) < uniform(rng, settings.trials, 1))
        logits = torch.cat(
            (spread * normal(rng, settings.trials, n), corner, spread * uniform(rng, settings.trials, n))
        )
        logits = logits.to(fmt.dtype).to(settings.device).double()
        h, error = entropy(logits)
        spread = logits.amax(-1) - logits.amin(-1)
        loss = math.log(n) - h
        ratios.append(over(torch.where(loss > error, loss - error, 0 * loss), corrected(spread)))
    return torch.cat(ratios)


def _threshold(settings: Settings, fmt: Format) -> Iterator[Measurement]:
    """The least entropy over all corners of a range, against 99.5 % of log n, from either side."""
    for statement, spread, above in ((GUARANTEE, 0.4083, True), (MISS, 0.4084, False)):
        top = torch.arange(1, KEYS, device=settings.device).unsqueeze(-1)
        logits = -spread * (torch.arange(KEYS, device=settings.device) >= top).double()
        h, error = entropy(logits)
        least, needed = h.amin(), 0.995 * math.log(KEYS)
        ratio = (needed + error.amax()) / least if above else (least + error.amax()) / needed
        scope = f"n = {KEYS}, D = {spread:g}, every corner, in fp64"
        yield measured(settings, fmt, statement, scope, ratio.unsqueeze(0), kind="exhaustive")


MUTANTS = {"99.9 %": lambda: 0.999, "half": lambda: 0.5, "NaN": lambda: math.nan}
# with this in its place nothing is violated: the check does not say no to everything
REPAIRS = {"a thousandth": lambda: 0.001}
CORRECTED_MUTANTS = {
    "D^2 / 16": lambda spread: torch.minimum(spread, spread.square() / 16),
    "D / 8": lambda spread: torch.minimum(spread / 8, spread.square() / 8),
    "none": lambda spread: 0 * spread,
    "NaN": lambda spread: spread * math.nan,
}
