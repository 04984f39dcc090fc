"""ma-collapse-claim measured: what the second term does to the entropy of attention.

Claim: retaining the magnitude is what prevents the collapse. Source: MA-RMSNorm article, section 3.3, last sentence.

It is tested where the claim puts it: the entropy of every query's attention with alpha = 1/10 is not below the one with
alpha = 0, at s = 8, tokens at magnitudes from 1/16 to 16. What holds: for one query q, after the key projection, the
logits of keys j and j' differ by

    s <q, gamma (xhat_j - xhat_j')> + alpha (l_j - l_j') <q, W>.

Bounds. An entropy: that of `ma_entropy`. A logit in fp64 from outputs of the layer, each off by
`rounding.ma_output_error` and its last rounding: sum |q| times that, and gamma_(N + 8) of the absolute terms.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from numerics.inputs import Batch, formats
from numerics.judge import Tally
from numerics.ma_rmsnorm.ma_entropy import entropy
from numerics.magnitude_rounding import measured, over
from numerics.measure import Measurement, Settings
from numerics.norms import MA_ALPHA as ALPHA
from numerics.norms import MA_S as S
from numerics.norms import ma_rms_norm, rms_scale
from numerics.rounding import FP64, Format, ma_output_error, rms_roundings, rounded, roundings
from numerics.scenarios import generator, normal, uniform
from numerics.worst_rows import worst_rows

SLUG = "ma-collapse-claim"
KEYS, CHANNELS, LARGE = 32, 32, 8.0


def printed(without: Tensor) -> Tensor:
    """What the entropy with the second term is claimed not to fall below, from the one without: (T,) -> (T,)."""
    return without


def corrected(query: Tensor, xhat: Tensor, level: Tensor, gamma: Tensor, magnitude: Tensor) -> Tensor:
    """Differences of neighbouring keys' logits: (T, N), (T, K, N), (T, K), (N,), (N,) -> (T, K - 1)."""
    return _parts(query, xhat, level, gamma, magnitude, 1.0)


def _parts(query: Tensor, xhat: Tensor, level: Tensor, gamma: Tensor, magnitude: Tensor, share: float) -> Tensor:
    direction = ((S * gamma * query).unsqueeze(1) * xhat.diff(dim=1)).sum(-1)
    return direction + share * ALPHA * level.diff(dim=1) * (query * magnitude).sum(-1, keepdim=True)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Entropies with and without the second term, and differences of logits, also of searched keys."""
    for fmt in formats(settings):
        x, gamma, w, maps = _draw(settings, fmt)
        (without, error), (both, more) = (_attention(x, value, maps, LARGE) for value in (None, w))
        ratios = over(printed(without) - error, both + more)
        change = both.mean(-1) - without.mean(-1)
        lower = 100 * float((both < without).double().mean())
        detail = (
            f"mean entropy changes by {float(change.mean()):.2g} of log n = {math.log(KEYS):.3g}, at most "
            f"{float(change.abs().amax()):.2g} a row, and falls in {lower:.0f} %"
        )
        scope = f"entropy without over entropy with the second term, s = {LARGE:g}, n = {KEYS}, N = {CHANNELS}"
        yield measured(settings, fmt, "as printed", scope, ratios.flatten(), kind="experiment", detail=detail)
        yield _gaps(settings, fmt, x, gamma, w)
        what = "error of a difference over its bound"
        for row in worst_rows(SLUG, "corrected", fmt, settings, _two_keys, what, ((2, 0.0),), vectors=2):
            scope = f"two keys (x) and a query (first half of g), W = gamma, s = {S:g}, N = 2"
            yield replace(row, scope=f"{scope}, found by differential evolution")


def _draw(settings: Settings, fmt: Format) -> tuple[Tensor, Tensor, Tensor, tuple[Tensor, Tensor]]:
    """Tokens (T, K, N) at magnitudes from 1/16 to 16, gamma and W (N,), and two projections (N, N)."""
    rng = generator(settings.seed, SLUG, fmt.name)
    rows = min(settings.trials, 16)
    x = normal(rng, rows, KEYS, CHANNELS) * 2.0 ** (8 * uniform(rng, rows, KEYS, 1) - 4)
    gamma, w = normal(rng, CHANNELS).sign() * (0.5 + uniform(rng, CHANNELS)), normal(rng, CHANNELS)
    maps = tuple(normal(rng, CHANNELS, CHANNELS) / math.sqrt(CHANNELS) for _ in range(2))
    x, gamma, w = (value.to(fmt.dtype).to(settings.device) for value in (x, gamma, w))
    return x, gamma, w, tuple(value.to(settings.device) for value in maps)


def _attention(x: Tensor, w: Tensor | None, maps: tuple[Tensor, Tensor], s: float) -> tuple[Tensor, Tensor]:
    """Entropies of every query, gamma = 1, and bounds on their error: (T, K) each."""
    y = ma_rms_norm(x, None, w, s, eps=0.0).double()
    q, k = (y @ projection for projection in maps)
    return entropy(q @ k.mT / math.sqrt(CHANNELS))


def _gaps(settings: Settings, fmt: Format, x: Tensor, gamma: Tensor, w: Tensor) -> Measurement:
    """Measured differences of neighbouring keys' logits against the formula."""
    rng = generator(settings.seed, SLUG, "query", fmt.name)
    query = normal(rng, len(x), CHANNELS).to(settings.device)
    ratios = _gap_ratios(query, x, gamma, w, fmt)
    return measured(settings, fmt, "corrected", f"differences of logits, s = {S:g}, N = {CHANNELS}", ratios)


def _gap_ratios(query: Tensor, x: Tensor, gamma: Tensor, w: Tensor, fmt: Format) -> Tensor:
    """The worst error over its bound of each query: (T, N) in fp64, (T, K, N), (N,), (N,) -> (T,)."""
    wide, weights, level_weights = x.double(), gamma.double(), w.double()
    scale = rms_scale(wide, 0.0)
    y = ma_rms_norm(x, gamma, w, S, eps=0.0).double()
    found = (query.unsqueeze(1) * y).sum(-1).diff(dim=1)
    exact = S * weights * wide / scale + ALPHA * level_weights * scale.log()
    lost = rounded(ma_output_error(wide, weights, level_weights, scale, fmt), exact, fmt)
    count = x.shape[-1] + rms_roundings(x.shape[-1]) + 12
    size = (S * weights * wide / scale).abs() + (ALPHA * level_weights).abs() * (scale.log().abs() + 1)
    allowed = (query.abs().unsqueeze(1) * (lost + roundings(count, FP64) * size)).sum(-1)
    allowed = allowed[:, 1:] + allowed[:, :-1]
    expected = corrected(query, wide / scale, scale.log().squeeze(-1), weights, level_weights)
    return over((found - expected).abs(), allowed).amax(-1)


def _two_keys(b: Batch, tally: Tally) -> None:
    """The difference of two keys' logits: the halves of h, P channels each; the query is g's first half, W is gamma."""
    keys, query = b.h.unflatten(-1, (2, -1)), b.g.double()[:, : b.phasors]
    ratio = _gap_ratios(query, keys, b.gamma, b.gamma, b.fmt)
    tally.add(b, ratio, torch.ones_like(ratio))


MUTANTS = {
    "twice the entropy without": lambda without: 2 * without,
    "log n": lambda without: torch.full_like(without, math.log(KEYS)),
    "NaN": lambda without: without * math.nan,
}
# with this in its place nothing is violated: the check does not say no to everything
REPAIRS = {"nothing": lambda without: 0 * without}
CORRECTED_MUTANTS = {
    "no second part": lambda q, x, level, gamma, w: _parts(q, x, level, gamma, w, 0.0),
    "s on both parts": lambda q, x, level, gamma, w: _parts(q, x, level, gamma, w, S),
    "gamma forgotten": lambda q, x, level, gamma, w: _parts(q, x, level, torch.ones_like(gamma), w, 1.0),
    "NaN": lambda q, x, level, gamma, w: _parts(q, x, level, gamma, w, math.nan),
}
