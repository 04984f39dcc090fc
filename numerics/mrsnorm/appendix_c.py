"""appendix-c measured: which magnitudes the listed module averages.

As printed, the module computes Eqs. 1 and 2. That holds where the channels are the last axis and there is one group.
For feature maps, one scale averages the magnitudes of a whole map; Eqs. 1 and 2, position by position, are another map.

`listing` is the module in our own words: pairs of channels, magnitudes, groups, a mean over every axis behind the
groups, eps, weights, all in fp32 (u) whatever the input is. So the error bound is the layer's in fp32, S + 2 roundings,
with M magnitudes averaged in place of P; four more are for an input, within fp32's range, and a weight that are fp64:
gamma_{M + 13}(u) |o|, and what underflows.

Views need no copy for channels anywhere and for axes in any order; where an axis behind the channels is expanded
(stride 0) PyTorch may refuse the last view, and that is counted in the detail.

Source: MRSNorm paper, appendix C.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from numerics.inputs import Batch, batches, formats
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.rounding import FORMATS, Format, rounded, roundings, scale_roundings
from numerics.scenarios import generator, integers, normal

SLUG = "appendix-c"
SHAPES = ((3, 8, 4), (2, 6, 3, 5))  # feature maps: channels on axis 1
Formula = Callable[[Tensor, Tensor, float], Tensor]  # phasors (..., P, 2), gamma (P,), eps -> (..., P, 2), in fp64


def listing(x: Tensor, weight: Tensor, channel: int, groups: int, eps: float) -> Tensor:
    """What the module returns: x of any shape with 2P entries on the axis `channel`, weight (P,), in the dtype of x.

    Raises RuntimeError where a view of x is not possible.
    """
    channel %= x.dim()
    before, after, phasors = x.shape[:channel], x.shape[channel + 1 :], x.shape[channel] // 2
    pairs = x.float().view(*before, groups, phasors // groups, 2, *after)
    r = torch.linalg.vector_norm(pairs, dim=channel + 2, keepdim=True)
    scale = r.mean(dim=tuple(range(channel + 1, r.dim())), keepdim=True) + eps
    gamma = weight.float().repeat_interleave(2).view(-1, *(1 for _ in after))
    return ((pairs / scale).view(x.shape) * gamma).to(x.dtype)


def printed(z: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """Eqs. 1 and 2."""
    scale = torch.linalg.vector_norm(z, dim=-1).mean(-1, keepdim=True) + eps  # (..., 1)
    return gamma[:, None] * z / scale[..., None]


def _over(scale: Callable[[Tensor, float], Tensor]) -> Formula:
    def formula(z: Tensor, gamma: Tensor, eps: float) -> Tensor:
        return gamma[:, None] * z / scale(torch.linalg.vector_norm(z, dim=-1), eps)[..., None]

    return formula


MUTANTS: dict[str, Formula] = {
    "a sum for the mean": _over(lambda r, eps: r.sum(-1, keepdim=True) + eps),
    "channels for phasors": _over(lambda r, eps: r.mean(-1, keepdim=True) / 2 + eps),
    "Eq. 11": _over(lambda r, eps: (r.square().mean(-1, keepdim=True) + eps).sqrt()),
    "gamma forgotten": lambda z, gamma, eps: _over(lambda r, e: r.mean(-1, keepdim=True) + e)(z, gamma * 0 + 1, eps),
    "NaN": lambda z, gamma, eps: z * math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """Rows of every scenario; feature maps, both ways; and inputs of every layout."""
    for fmt in formats(settings):
        tally = Tally("as printed", fmt, settings)
        for b in batches(SLUG, fmt, settings, widest=64):
            _rows(tally, b)
        yield tally.measurement("channels on the last axis, one group, computed in fp32")
        maps = _maps(fmt, settings)
        yield _whole(settings, fmt, "feature maps", maps, _over_maps)
        yield _whole(settings, fmt, "feature maps are normalized by Eqs. 1 and 2", maps, printed)
        yield _layouts(settings, fmt)


def _error(exact: Tensor, gamma: Tensor, averaged: int) -> Tensor:
    """The bound of the docstring, before the result is stored."""
    fp32 = FORMATS["fp32"]
    return roundings(scale_roundings(averaged) + 6, fp32) * exact.abs() + fp32.smallest_subnormal * (gamma.abs() + 2)


def _rows(tally: Tally, b: Batch) -> None:
    gamma = b.gamma.double()
    exact = printed(b.z, gamma, b.eps)
    found = listing(b.h[None], b.gamma, -1, 1, b.eps)[0].unflatten(-1, (-1, 2))
    tally.compare(b, found, exact, _error(exact, gamma[:, None], b.phasors))


def _maps(fmt: Format, settings: Settings) -> list[tuple[Tensor, Tensor, float]]:
    """Feature maps with positions of different size, weights, and eps."""
    found = []
    for shape in SHAPES:
        rng = generator(settings.seed, SLUG, "maps", fmt.name, shape)
        size = 2.0 ** integers(rng, 6, shape[0], 1, *shape[2:])
        x, gamma = normal(rng, *shape) * size, normal(rng, shape[1] // 2)
        found += [(x.to(fmt.dtype).to(settings.device), gamma.to(fmt.dtype).to(settings.device), 0.125)]
    return found


def _positions(x: Tensor) -> Tensor:
    """(B, 2P, ...) -> (B, positions, P, 2) in fp64."""
    return x.double().flatten(2).transpose(1, 2).unflatten(-1, (-1, 2))


def _over_maps(z: Tensor, gamma: Tensor, eps: float) -> Tensor:
    """One scale a map: the mean over phasors and positions."""
    scale = torch.linalg.vector_norm(z, dim=-1).mean((1, 2), keepdim=True) + eps
    return gamma[:, None] * z / scale[..., None]


def _whole(
    settings: Settings, fmt: Format, statement: str, maps: list[tuple[Tensor, Tensor, float]], formula: Formula
) -> Measurement:
    ratios = []
    for x, gamma, eps in maps:
        wide = gamma.double()
        exact = formula(_positions(x), wide, eps)
        found = _positions(listing(x, gamma, 1, 1, eps))
        bound = rounded(_error(exact, wide[:, None], x[0].numel() // 2), exact, fmt)
        ratios.append(((found - exact).abs() / bound).amax())
    return Measurement(
        kind="random",
        statement=statement,
        scope=f"shapes {SHAPES}, channels on axis 1",
        worst=float(torch.stack(ratios).amax()),
        trials=len(maps),
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
    )


def _layouts(settings: Settings, fmt: Format) -> Measurement:
    """Permuted inputs give what contiguous ones give; refusals are accepted only with an expanded axis."""
    rng = generator(settings.seed, SLUG, "layouts", fmt.name)
    ratios, refused, gamma = [0.0], 0, torch.ones(2, dtype=fmt.dtype, device=settings.device)
    for _ in range(settings.trials):
        order = torch.randperm(4, generator=rng).tolist()
        channel, expanded = (int(n) for n in integers(rng, 4, 2))
        shape = [2 + int(n) for n in integers(rng, 3, 4)]
        shape[channel] = 4
        stored = normal(rng, *(shape[axis] for axis in order)).to(fmt.dtype).to(settings.device)
        x = stored.permute([order.index(axis) for axis in range(4)])
        stretched = bool(integers(rng, 2, 1)) and expanded != channel
        if stretched:
            x = x.narrow(expanded, 0, 1).expand(shape)
        plain = listing(x.contiguous(), gamma, channel, 1, 0.125).double()
        try:
            found = listing(x, gamma, channel, 1, 0.125).double()
        except RuntimeError:
            refused += 1
            ratios.append(0.0 if stretched else math.inf)
            continue
        bound = 2 * rounded(_error(plain, gamma.double()[0], x[0].numel()), plain, fmt)
        ratios.append(float(((found - plain).abs() / bound).amax()))
    return Measurement(
        kind="random",
        statement="layouts",
        scope="four axes in every order, an axis other than the channels expanded in some",
        worst=float(torch.tensor(ratios).amax()),
        trials=settings.trials,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail=f"{refused} inputs refused, all of them with an expanded axis" if refused else "",
    )
