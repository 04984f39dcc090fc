"""rope measured: rotations of channel pairs, and whether a norm may stand before or after them.

As printed, the pair z_i becomes a vector of the same norm, turned by phi_i: its part along z_i is r_i cos(phi_i), its
part across is r_i sin(phi_i). Further: MRSNorm and RoPE commute where RoPE pairs adjacent channels, not where it pairs
channel c with c + d/2; RMSNorm without weights and RoPE commute either way.

RoPE is computed in the accumulation format (u) and stored in the format of its input (v). A component c x - s y has
the roundings of c, a product and a sum: its error is at most E = gamma_4(u) (|c x| + |s y|) + 2 eta_u before storing.

Both orders, N(R h) and R N(h), are compared with each other; their bounds add up. A layer's output o has S + 2
roundings and is stored. In N(R h) the input of the layer is off by E (stored), which moves o by

    |gamma| E / S' + |o| delta / S',   delta = sqrt(sum_c E_c^2 / P) >= |S' - S|.

In R N(h) the error of o is turned as well: a component is off by at most the sum of the pair's errors. What is
evaluated in fp64 adds gamma_n |o|, n = S + 20, and 20 u r for the part that cos^2 + sin^2 misses 1 by.

Source: MRSNorm paper, section 2.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from numerics.attention_scores import MEAN, SCALAR_RMS, Definition, format_of, normalized
from numerics.inputs import formats
from numerics.logit_bounds import SMALL_EPS, over, sampled
from numerics.measure import Measurement, Settings
from numerics.query_keys import Pairs, scenario_pairs
from numerics.rounding import FP64, rounded, roundings
from numerics.scenarios import generator, uniform

SLUG = "rope"
WIDTHS = (8, 64)  # d


@dataclass(frozen=True)
class Rope:
    """Cosines and sines (P,) in fp64, and whether channel c is paired with c + d/2 instead of its neighbour."""

    cos: Tensor
    sin: Tensor
    half_split: bool = False

    def pairs(self, x: Tensor) -> Tensor:
        """(..., d) -> (..., P, 2)."""
        return x.unflatten(-1, (2, -1)).transpose(-1, -2) if self.half_split else x.unflatten(-1, (-1, 2))

    def channels(self, z: Tensor) -> Tensor:
        """(..., P, 2) -> (..., d)."""
        return z.transpose(-1, -2).flatten(-2) if self.half_split else z.flatten(-2)

    def turn(self, x: Tensor) -> Tensor:
        """R x in the accumulation format, stored in the format of x."""
        acc = format_of(x).accumulation.dtype
        (x_1, x_2), cos, sin = self.pairs(x.to(acc)).unbind(-1), self.cos.to(acc), self.sin.to(acc)
        turned = torch.stack((cos * x_1 - sin * x_2, sin * x_1 + cos * x_2), dim=-1)
        return self.channels(turned).to(x.dtype)

    def error(self, x: Tensor) -> Tensor:
        """Bound on the error of `turn`, stored: (T, d) -> (T, d)."""
        fmt, (x_1, x_2) = format_of(x), self.pairs(x.double().abs()).unbind(-1)
        cos, sin = self.cos.abs(), self.sin.abs()
        size = self.channels(torch.stack((cos * x_1 + sin * x_2, sin * x_1 + cos * x_2), dim=-1))
        lost = roundings(4, fmt.accumulation) * size + 2 * fmt.accumulation.smallest_subnormal
        return rounded(lost, size, fmt)


def printed(r: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The parts of the turned phasor along and across the old one, and its norm, all (T, P)."""
    return r * cos, r * sin, r


MUTANTS: dict[str, Callable[..., tuple[Tensor, Tensor, Tensor]]] = {
    "turned the other way": lambda r, cos, sin: (r * cos, -r * sin, r),
    "twice the angle": lambda r, cos, sin: (r * (cos**2 - sin**2), 2 * r * cos * sin, r),
    "not turned": lambda r, cos, sin: (r, 0 * r, r),
    "longer by a thousandth": lambda r, cos, sin: (r * cos, r * sin, 1.001 * r),
    "NaN": lambda r, cos, sin: (r * cos, r * sin, r * math.nan),
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """The rotation itself, and both orders of a norm and RoPE, on vectors of every scenario."""
    cases = (
        ("MRSNorm commutes with RoPE on adjacent pairs", MEAN, False),
        ("MRSNorm commutes with RoPE on half-split pairs", MEAN, True),
        ("RMSNorm without weights commutes with RoPE on any pairs", SCALAR_RMS, False),
        ("RMSNorm without weights commutes with RoPE on any pairs", SCALAR_RMS, True),
    )
    for fmt in formats(settings):
        for d in WIDTHS:
            rope = _random(d, settings)
            scope = f"d = {d}, random angles, every scenario"
            yield sampled(
                settings, fmt, _halved(d, fmt, settings), partial(_turned, rope), statement="as printed", scope=scope
            )
            for statement, definition, half_split in cases:
                rope = _random(d, settings, half_split)
                pairing = "half-split" if half_split else "adjacent"
                yield sampled(
                    settings,
                    fmt,
                    _halved(d, fmt, settings),
                    partial(_orders, rope, definition),
                    statement=statement,
                    scope=f"d = {d}, {pairing} pairs, eps = 0, {SMALL_EPS:g} and 1/8, every scenario",
                    epsilons=(0.0, SMALL_EPS, 0.125),
                )


def _random(d: int, settings: Settings, half_split: bool = False) -> Rope:
    angles = 2 * math.pi * uniform(generator(settings.seed, SLUG, "angles", d), d // 2) - math.pi
    angles = angles.to(settings.device)
    return Rope(angles.cos(), angles.sin(), half_split)


def _halved(d: int, fmt: object, settings: Settings) -> Pairs:
    """Half of each vector, so that no rotation leaves the range of the format."""
    for q, k in scenario_pairs(SLUG, fmt, d // 2, settings, relations=("independent",)):
        yield q / 2, k / 2


def _turned(rope: Rope, q: Tensor, k: Tensor, eps: float) -> Tensor:
    z, new = (x.double().unflatten(-1, (-1, 2)) for x in (q, rope.turn(q)))
    r = torch.linalg.vector_norm(z, dim=-1)
    safe = r.clamp_min(FP64.smallest_normal)
    along = (z * new).sum(-1) / safe
    across = (z[..., 0] * new[..., 1] - z[..., 1] * new[..., 0]) / safe
    found = (along, across, torch.linalg.vector_norm(new, dim=-1))
    bound = rope.error(q).unflatten(-1, (-1, 2)).sum(-1) + roundings(20, FP64) * r
    stated = printed(r, rope.cos, rope.sin)
    ratios = [over((a - b).abs(), bound) for a, b in zip(found, stated, strict=True)]
    return torch.stack(ratios).amax((0, -1))


def _orders(rope: Rope, definition: Definition, q: Tensor, k: Tensor, eps: float) -> Tensor:
    """N(R h) against R N(h), without weights."""
    fmt, phasors = format_of(q), q.shape[-1] // 2
    turned, out = rope.turn(q), normalized(q, definition, eps)
    first, last = normalized(turned, definition, eps).double(), rope.turn(out).double()
    relative = roundings(definition.roundings(phasors) + 2, fmt.accumulation)
    eta = fmt.accumulation.smallest_subnormal

    def stored_output(o: Tensor) -> Tensor:
        return rounded(relative * o.abs() + eta, o, fmt)

    moved = rope.error(q)
    scale = definition.scale(turned.double(), eps)
    exact = turned.double() / scale
    delta = (moved.square().sum(-1, keepdim=True) / phasors).sqrt() / scale
    bound = moved / scale + exact.abs() * delta + stored_output(exact)
    own = rope.pairs(stored_output(q.double() / definition.scale(q.double(), eps))).sum(-1, keepdim=True)
    bound = bound + rope.channels(own.expand(-1, -1, 2)) + rope.error(out)
    evaluation = roundings(definition.roundings(phasors) + 20, FP64) * exact.abs()
    return over((first - last).abs(), bound + evaluation).amax(-1)
