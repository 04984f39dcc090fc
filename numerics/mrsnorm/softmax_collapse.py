"""softmax-collapse measured: how much one key can weigh, and how little entropy can be left.

As printed (with Eq. 11): the logits score / sqrt(d) of one query differ by at most D = sqrt(d), so the largest of n
weights is at most 1 / (1 + (n - 1) e^-D). With Eq. 1 that bound fails. Further, for any logits within D of each other,
the entropy is at least the minimum over corners, log n - D^2/8 and log n - D.

A weight w is measured by its odds w / (1 - w), which keep their digits near w = 1. Scores are computed as in attention,
in the format under test; the logarithm of the odds, a_i - log sum_{k != i} e^(a_k), is evaluated in fp64 and certified:
lowered by 2 max_k error(a_k), with `numerics.attention_scores.score_error`, and by (n + 2 D + 40) u of fp64 for itself.
What is reported as a violation is one. Pairs are random ones, and the worst that gradient ascent finds.

For the entropy, logits are numbers of the format; softmax and H = -sum w log w are computed in the accumulation format
(u). exp and log are taken to be within 8 u. A weight has the roundings of a difference (relative to e^a: 2 D u), exp 8,
sum n, quotient 1; log w 8 and those of w; product 1, sum n. With sum w |log w| = H, H is off by at most
gamma_m(u) (H + 1), m = 3 n + 4 D + 40.

Source: MRSNorm paper, section 5.3 and appendix B, last paragraph.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from numerics.attention_scores import MEAN, ROOT_MEAN_SQUARE, Definition, score, score_error
from numerics.inputs import formats
from numerics.logit_bounds import over, pair_data
from numerics.measure import Measurement, Settings
from numerics.query_keys import HEAD, real_pairs, scenario_pairs
from numerics.rounding import FP64, Format, roundings
from numerics.scenarios import generator, integers, uniform
from numerics.search import Found, ascend

SLUG = "softmax-collapse"
CASES = ((8, 2), (8, 5), (64, 2))  # d and the number of keys of a search
KEYS = 16  # keys of a random query
QUERIES = 128  # random queries tried of each chunk of pairs, unless all are
SPREADS = (0.125, 0.5, 1.0, 8.0, 11.25)  # D
COUNTS = (2, 7, 64)  # n, for the entropy


def printed(n: int, spread: float) -> float:
    """The largest weight among n keys whose logits differ by at most `spread`."""
    return 1 / (1 + (n - 1) * math.exp(-spread))


def minimum_entropy(n: int, spread: float) -> float:
    """The smallest entropy, in nats: over m keys at the top and n - m at the bottom."""
    t = math.exp(-spread)
    sums = [(m, m + (n - m) * t) for m in range(1, n)]
    return min(math.log(total) + spread * (n - m) * t / total for m, total in sums)


MUTANTS: dict[str, Callable[[int, float], float]] = {
    "as if all were equal": lambda n, spread: 1 / n,
    "half the spread": lambda n, spread: 1 / (1 + (n - 1) * math.exp(-spread / 2)),
    "n for n - 1": lambda n, spread: 1 / (1 + n * math.exp(-spread)),
    "never above a half": lambda n, spread: 0.5,
    "NaN": lambda n, spread: math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """Weights on random, real and searched queries and keys; the entropy on random logits and on corners."""
    heaviest = {case: _heaviest(ROOT_MEAN_SQUARE, *case, settings) for case in CASES}
    beyond = _heaviest(MEAN, *CASES[0], settings)
    for fmt in formats(settings):
        yield _random(settings, fmt, "every scenario", 64)
        yield _random(settings, fmt, "queries and keys of MiniLM", HEAD)
        for case in CASES:
            yield _searched(settings, fmt, "as printed", ROOT_MEAN_SQUARE, heaviest[case])
        yield _searched(settings, fmt, "the same bound under Eq. 1", MEAN, beyond)
        for statement, bound in (
            ("minimum entropy", minimum_entropy),
            ("entropy, for small D", lambda n, spread: math.log(n) - spread**2 / 8),
            ("entropy, for large D", lambda n, spread: math.log(n) - spread),
        ):
            yield _entropies(settings, fmt, statement, bound)


def log_odds(q: Tensor, keys: Tensor, definition: Definition) -> tuple[Tensor, Tensor]:
    """log(w / (1 - w)) of the heaviest key at eps = 0, and a bound on its error: (T, d), (T, n, d) -> (T,), (T,)."""
    width, n = q.shape[-1], keys.shape[-2]
    q = q.unsqueeze(-2).expand_as(keys)
    logits = score(q, keys, definition, 0.0).double() / math.sqrt(width)
    top = logits.argmax(-1, keepdim=True)
    others = logits.scatter(-1, top, -math.inf).logsumexp(-1)
    spread = logits.amax(-1) - logits.amin(-1)
    error = 2 * score_error(q, keys, definition, 0.0).amax(-1) / math.sqrt(width)
    return logits.amax(-1) - others, error + FP64.unit_roundoff * (n + 2 * spread + 40)


def _ratio(q: Tensor, keys: Tensor, definition: Definition) -> Tensor:
    """The certified odds of the heaviest key over those of the bound: (T,)."""
    bound = printed(keys.shape[-2], math.sqrt(q.shape[-1]))
    value, error = log_odds(q, keys, definition)
    return torch.exp(value - error) * (1 - bound) / bound


def _heaviest(definition: Definition, width: int, n: int, settings: Settings) -> Found:
    """One query and n keys, the first of which weighs as much as the search can make it."""

    def value(points: Tensor) -> Tensor:
        rows = points.flatten(-2)  # (R, 1 + n, d)
        logits = score(rows[:, :1].expand(-1, n, -1), rows[:, 1:], definition, 0.0) / math.sqrt(width)
        return torch.exp(logits[:, 0] - logits[:, 1:].logsumexp(-1))

    seed = generator(settings.seed, SLUG, "search", width, n).initial_seed()
    options = {"vectors": 1 + n, "phasors": width // 2, "restarts": 16 if settings.full else 4, "steps": 80}
    return ascend(value, seed=seed, device=settings.device, **options)


def _searched(settings: Settings, fmt: Format, statement: str, definition: Definition, found: Found) -> Measurement:
    rows = found.rounded(fmt.dtype)
    n, width = len(rows) - 1, rows.shape[-1]
    worst = float(_ratio(rows[:1], rows[None, 1:], definition)[0])
    return Measurement(
        kind="adversarial",
        statement=statement,
        scope=f"{definition.name}, d = {width}, n = {n}, eps = 0, found by gradient ascent",
        worst=worst,
        trials=found.restarts,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail=f"weight {1 / (1 + 1 / found.value):.6g}, bound {printed(n, math.sqrt(width)):.6g}",
        witness=pair_data(rows[0], rows[1], 0.0),
    )


def _random(settings: Settings, fmt: Format, source: str, width: int) -> Measurement:
    """Each query against its key and those of `KEYS` - 1 other rows."""
    if width == HEAD:
        pairs = real_pairs(SLUG, fmt, settings) if settings.trials else iter(())
    else:
        pairs = scenario_pairs(SLUG, fmt, width // 2, settings)
    rng, ratios = generator(settings.seed, SLUG, "rows", fmt.name, source), []
    for q, k in pairs:
        rows = torch.randperm(len(q), generator=rng)[: None if settings.full else QUERIES].to(q.device)
        keys = torch.stack([k[rows.roll(shift)] for shift in range(KEYS)], dim=1)
        ratios.append(_ratio(q[rows], keys, ROOT_MEAN_SQUARE))
    found = torch.cat(ratios) if ratios else torch.empty(0)
    return Measurement(
        kind="random",
        statement="as printed",
        scope=f"Eq. 11, d = {width}, n = {KEYS}, eps = 0, {source}",
        worst=float(found.amax()) if len(found) else 0.0,
        trials=len(found),
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
    )


def _logits(fmt: Format, settings: Settings, n: int, spread: float) -> Tensor:
    """Logits from 0 to `spread` in the format: uniform ones, and every corner."""
    rng = generator(settings.seed, SLUG, "logits", fmt.name, n, spread)
    inside = spread * uniform(rng, settings.trials, n)
    some = spread * integers(rng, 2, settings.trials, n).double()
    corners = spread * torch.tril(torch.ones(n, n, dtype=torch.float64))
    return torch.cat((inside, some, corners)).to(fmt.dtype).to(settings.device)


def _entropies(settings: Settings, fmt: Format, statement: str, bound: Callable[[int, float], float]) -> Measurement:
    ratios, acc = [], fmt.accumulation
    for n in COUNTS:
        for spread in SPREADS:
            logits = _logits(fmt, settings, n, spread).to(acc.dtype)
            weights = logits.softmax(-1)
            entropy = -(weights * weights.log()).sum(-1).double()
            error = roundings(3 * n + math.ceil(4 * spread) + 40, acc) * (entropy + 1)
            lowest = torch.full_like(entropy, bound(n, spread))
            ratios.append(over(lowest, entropy + error))
    found = torch.cat(ratios)
    return Measurement(
        kind="random",
        statement=statement,
        scope=f"n in {COUNTS}, D in {SPREADS}, random logits and every corner",
        worst=float(found.amax()),
        trials=len(found),
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
    )
