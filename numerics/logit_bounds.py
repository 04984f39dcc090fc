"""Measuring an inequality for scores: over sampled pairs, and at the pair a search has found.

Rounding must neither excuse a violation nor cause one. So what is compared with a bound B is the *certified* size of
the computed quantity, |quantity| minus the bound on its rounding error, a number that the exact quantity is known to
reach. A ratio above 1 is then a violation by the exact value of that very input, and 1 - O(v) is as near to 1 as a
sharp bound can be seen in a format of unit roundoff v.

The search runs in fp64 and knows nothing of the bounds: it maximises the quantity. What it finds is reduced to a few
phasors of few digits, rounded to each format and measured there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from numerics.attention_scores import Definition, block_score_error, block_scores, score, score_error
from numerics.inputs import generator
from numerics.measure import Measurement, Settings
from numerics.norms import magnitudes
from numerics.query_keys import HEAD, Pairs, gaussian_pairs, real_pairs, scenario_pairs
from numerics.rounding import Format
from numerics.search import Found, ascend, minimised, sharpened

WIDTHS = (8, 64, 128)  # d
SMALL_EPS = 1e-6
SHOWN = 32  # a pair with more non-zero phasors than this is not written out

Links = tuple[Tensor | float, ...]  # upper members of a chain of inequalities, each (T, P), (T,) or a number
Ratio = Callable[[Tensor, Tensor, float], Tensor]  # (q, k, eps) -> (T,), at most 1 where the statement holds


def over(size: Tensor, bound: Tensor | float) -> Tensor:
    """size / bound, where a size of at most 0 counts as 0 even for the bound 0; a NaN stays a NaN."""
    size = size.clamp_min(0)
    ratio = size / bound
    return torch.where((size == 0) & (torch.as_tensor(bound, device=size.device) == 0), torch.zeros_like(ratio), ratio)


def certified_score(q: Tensor, k: Tensor, definition: Definition, eps: float) -> Tensor:
    """What the exact |score| is known to reach: (T, d) -> (T,)."""
    return score(q, k, definition, eps).double().abs() - score_error(q, k, definition, eps)


def certified_blocks(q: Tensor, k: Tensor, definition: Definition, eps: float) -> Tensor:
    """What the exact |P_i| are known to reach: (T, d) -> (T, P)."""
    return block_scores(q, k, definition, eps).double().abs() - block_score_error(q, k, definition, eps)


def chain(size: Tensor, links: Links, slack: float) -> Tensor:
    """Largest ratio of neighbours in size <= link <= link ...: elementwise, in the shape they broadcast to.

    `links` are evaluated in fp64 with a relative rounding error of at most `slack` each, which is taken into account.
    """
    ratios = []
    for link in links:
        ratios.append(over(size, link * (1 + slack)))
        size = link * (1 - slack) * torch.ones_like(size)
    return torch.stack(torch.broadcast_tensors(*ratios)).amax(0)


def members(formula: Callable[..., Links], q: Tensor, k: Tensor, definition: Definition, eps: float) -> Links:
    """formula(r_q, r_k, S_q, S_k) in fp64, of magnitudes (T, P) and scales (T, 1)."""
    q, k = q.double(), k.double()
    return formula(magnitudes(q), magnitudes(k), definition.scale(q, eps), definition.scale(k, eps))


def largest(
    slug: str, quantity: Callable[[Tensor, Tensor], Tensor], d: int, settings: Settings, **search: object
) -> Found:
    """A simple pair with the largest quantity(q, k), (R, d) each -> (R,), that the search finds.

    `search` goes to `search.ascend`; with `vectors=1` k is q.
    """

    def value(points: Tensor) -> Tensor:
        rows = points.flatten(-2)  # (R, V, d)
        return quantity(rows[:, 0], rows[:, -1])

    seed = generator(settings.seed, slug, "search", d).initial_seed()
    options = {"vectors": 2, "restarts": 32 if settings.full else 8, **search}
    options |= {"phasors": d // 2, "seed": seed, "device": settings.device}
    return (sharpened if settings.full else minimised)(ascend(value, **options), value)


def largest_score(slug: str, definition: Definition, d: int, settings: Settings) -> Found:
    """The pair with the largest |score| at eps = 0."""
    return largest(slug, lambda q, k: score(q, k, definition, 0.0).abs(), d, settings)


def largest_block_score(slug: str, definition: Definition, d: int, settings: Settings) -> Found:
    """The pair with the largest |P_i| over the phasors i at eps = 0."""
    return largest(slug, lambda q, k: block_scores(q, k, definition, 0.0).abs().amax(-1), d, settings)


def sampled(
    settings: Settings,
    fmt: Format,
    pairs: Pairs,
    ratio: Ratio,
    *,
    statement: str,
    scope: str,
    epsilons: tuple[float, ...] = (0.0,),
) -> Measurement:
    """The worst ratio over all pairs and every eps; the pair of a violation is the witness."""
    worst, trials, above, witness = 0.0, 0, 0, None
    for q, k in pairs:
        trials += len(q)
        ratios = torch.stack([ratio(q, k, eps) for eps in epsilons])  # (E, T)
        above += int((~(ratios <= 1)).any(0).sum())
        high = float(ratios.amax())
        if worst == worst and not high <= worst:
            worst = high
            place = int(ratios.argmax())  # argmax takes a NaN for the largest, as amax does
            row, eps = place % len(q), epsilons[place // len(q)]
            witness = None if worst <= 1 else pair_data(q[row], k[row], eps)
    return Measurement(
        kind="random",
        statement=statement,
        scope=scope,
        worst=worst,
        trials=trials,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail=f"{above} of {trials} above the bound" if above else "",
        witness=witness,
    )


def searched(
    settings: Settings, fmt: Format, found: Found, ratio: Ratio, *, statement: str, part: str = ""
) -> Measurement:
    """The ratio at a found pair, in this format, at eps = 0; the detail adds the ratio at a usual eps."""
    rows = found.rounded(fmt.dtype)  # (V, d)
    q, k = rows[:1], rows[-1:]
    return Measurement(
        kind="adversarial",
        statement=statement,
        scope=f"{part}d = {q.shape[-1]}, eps = 0, found by gradient ascent",
        worst=float(ratio(q, k, 0.0)[0]),
        trials=found.restarts,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail=f"{float(ratio(q, k, SMALL_EPS)[0]):.6g} at eps = {SMALL_EPS:g}",
        witness=pair_data(q[0], k[0], 0.0),
    )


def plain_rows(settings: Settings, fmt: Format, slug: str, ratio: Ratio) -> Iterator[Measurement]:
    """A bound as printed, where nobody looks for trouble: independent Gaussian pairs, and the real ones."""
    for d in WIDTHS:
        scope = f"d = {d}, eps = 0, independent Gaussian q and k"
        pairs = gaussian_pairs(slug, fmt, d // 2, settings)
        yield sampled(settings, fmt, pairs, ratio, statement="as printed", scope=scope)
    scope = f"d = {HEAD}, eps = {SMALL_EPS:g}, queries and keys of MiniLM"
    pairs = real_pairs(slug, fmt, settings)
    yield sampled(settings, fmt, pairs, ratio, statement="as printed", scope=scope, epsilons=(SMALL_EPS,))


def hard_rows(
    settings: Settings, fmt: Format, slug: str, found: dict[int, Found], ratio: Ratio, statement: str
) -> Iterator[Measurement]:
    """A bound that is meant to hold: on pairs of every scenario and relation, and at the found pairs."""
    yield from scenario_rows(settings, fmt, slug, ratio, statement, "the bound")
    yield from found_rows(settings, fmt, found, ratio, statement)


def scenario_rows(
    settings: Settings, fmt: Format, slug: str, ratio: Ratio, statement: str, part: str
) -> Iterator[Measurement]:
    """A part of a statement on pairs of every scenario and relation."""
    for d in WIDTHS:
        pairs = scenario_pairs(slug, fmt, d // 2, settings)
        scope = f"{part}, d = {d}, eps = 0 and {SMALL_EPS:g}, every scenario"
        yield sampled(settings, fmt, pairs, ratio, statement=statement, scope=scope, epsilons=(0.0, SMALL_EPS))


def found_rows(
    settings: Settings, fmt: Format, found: dict[int, Found], ratio: Ratio, statement: str
) -> Iterator[Measurement]:
    """A bound at the found pairs."""
    for pair in found.values():
        yield searched(settings, fmt, pair, ratio, statement=statement)


def pair_data(q: Tensor, k: Tensor, eps: float) -> dict | None:
    """A pair (d,) as plain data: d, eps, and the non-zero phasors of q and k by index; None for more than `SHOWN`."""
    phasors = {"q": phasor_data(q), "k": phasor_data(k)}
    if sum(map(len, phasors.values())) > SHOWN:
        return None
    return {"d": q.shape[-1], "eps": eps, **phasors}


def phasor_data(x: Tensor) -> dict[str, list[float]]:
    """The non-zero phasors of one vector (d,) by their index from 0, as exact decimal numbers of its format."""
    z = (x.double() + 0.0).unflatten(-1, (-1, 2)).tolist()  # the sum turns -0.0 into 0.0
    return {str(i): pair for i, pair in enumerate(z) if pair != [0.0, 0.0]}
