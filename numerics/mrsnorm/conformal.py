"""conformal measured: with S held fixed the map of a phasor to its output preserves angles; the map itself never does.

Claim: J^T J = (gamma_i / S)^2 I for the Jacobian J of z_i -> gamma_i z_i / S. Source: MRSNorm paper, abstract and
section 3, under the condition that S is held fixed.

How it is measured. `fixed` is the layer with S detached from automatic differentiation. Two backward passes give the
rows of J at the largest phasor of each row of the batch and at a random other one. Of the layer itself (gamma = 1) the
stretches along z_i and across it are measured: (1 - r_i / (P S)) / S and 1 / S.

Bounds. An entry of the gradient gamma g / S of `fixed` has the roundings of S and three more (product, quotient, one
spare), and its last rounding: J = a I + E with |E_ab| <= delta, so J^T J - a^2 I is at most 2 |a| delta + 2 delta^2,
plus gamma_8 a^2 in fp64. Stretches: the block is symmetric with z_i and its perpendicular as eigenvectors, so n . (J
v) over n . v is the stretch along n whatever v is; v is n rounded to the format. `rounding.own_gradient_error` bounds
J v.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from numerics.gradients import own_gradient, pick
from numerics.inputs import Batch, batches, choose, formats
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import ACCUMULATION, mrs_norm, mrs_scale
from numerics.rounding import (
    FP64,
    Format,
    direction,
    own_gradient_error,
    rounded,
    roundings,
    scale_roundings,
    settle_overflow,
)
from numerics.worst_rows import KEEP, worst_rows

WIDEST = 64
CHOSEN = 2
NEAR = 0.99  # of the largest ratio of the stretches, which a simple row comes near to
STRETCHES, SMALLER = "stretches of the map itself", "the map itself is nowhere conformal"


def printed(gamma: Tensor, scale: Tensor) -> Tensor:
    """The factor of J^T J, (gamma_i / S)^2: (..., K), (T, 1) -> (T, K)."""
    return (gamma / scale) ** 2


def fixed(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """MRSNorm with S held fixed in the backward pass: (..., N) -> (..., N)."""
    wide = x.to(ACCUMULATION[x.dtype])
    o = wide.unflatten(-1, (-1, 2)) / mrs_scale(wide, eps).detach().unsqueeze(-1)
    return (o * weight.to(o.dtype).unsqueeze(-1)).flatten(-2).to(x.dtype)


def _fixed_error(a: Tensor, gamma: Tensor, scale: Tensor, phasors: int, fmt: Format) -> Tensor:
    acc = fmt.accumulation
    return roundings(scale_roundings(phasors) + 3, acc) * a.abs() + acc.underflow * (
        gamma.abs() / scale + 1 / scale + 1
    )


def _angles(b: Batch, chosen: Tensor, tally: Tally) -> None:
    """J^T J of `fixed` against the printed factor times I."""
    scale, gamma = mrs_scale(b.h.double(), b.eps), pick(b.gamma.double()[None], chosen)
    a = gamma / scale  # (T, K)
    lost = _fixed_error(a, gamma, scale, b.phasors, b.fmt)
    identity = torch.eye(2, dtype=torch.float64, device=a.device)
    exact = a[..., None, None] * identity
    basis = identity.expand(*chosen.shape, 2, 2)
    layer = partial(fixed, weight=b.gamma, eps=b.eps)
    rows = torch.stack([own_gradient(layer, b.h, chosen, basis[..., k, :]) for k in range(2)], dim=-2)
    rows, infinite = settle_overflow(rows, exact, lost[..., None, None], b.fmt)
    tally.count_overflow(infinite)
    delta = rounded(lost, a, b.fmt)
    gram = rows.transpose(-1, -2) @ rows
    bound = 2 * a.abs() * delta + 2 * delta**2 + roundings(8, FP64) * a**2
    tally.add(b, (gram - printed(gamma, scale)[..., None, None] * identity).abs().amax((-1, -2)), bound, chosen=chosen)


def stretch(b: Batch, chosen: Tensor, n: Tensor) -> tuple[Tensor, Tensor]:
    """The layer's stretch along the eigenvectors n (T, K, 2) of its own blocks, and the bound of its error: (T, K)."""
    z, scale = pick(b.z, chosen), mrs_scale(b.h.double(), b.eps)
    v = n.to(b.fmt.dtype).double()
    d = own_gradient(partial(mrs_norm, weight=None, eps=b.eps), b.h, chosen, v).double()
    one, share = torch.ones_like(scale), (n * v).sum(-1)
    lost = sum(own_gradient_error(z, v, one, scale, b.phasors, f) for f in (b.fmt, FP64))
    u, s = direction(z), scale[..., None]
    exact = (v - u * (z / s * v).sum(-1, keepdim=True) / b.phasors) / s
    d, _ = settle_overflow(d, exact, lost, b.fmt)
    allowed = torch.linalg.vector_norm(rounded(lost, exact, b.fmt), dim=-1) / share
    return (n * d).sum(-1) / share, allowed + roundings(scale_roundings(b.phasors) + 8, FP64) * 2 / scale


def _itself(b: Batch, chosen: Tensor, stretches: Tally | None, smaller: Tally | None) -> None:
    """The two stretches of the layer against their formulas, and the one along z_i against the one across."""
    u, scale = direction(pick(b.z, chosen)), mrs_scale(b.h.double(), b.eps)
    across = torch.stack((-u[..., 1], u[..., 0]), dim=-1)
    r = torch.linalg.vector_norm(pick(b.z, chosen), dim=-1)
    (radial, radial_off), (tangential, tangential_off) = (stretch(b, chosen, n) for n in (u, across))
    if stretches:
        error = torch.maximum(
            (radial - (1 - r / (b.phasors * scale)) / scale).abs() / radial_off,
            (tangential - 1 / scale).abs() / tangential_off,
        )
        stretches.add(b, error, torch.ones_like(error), r > 0, chosen)
    if smaller:
        smaller.add(b, radial.abs(), tangential + radial_off + tangential_off, r > 0, chosen)
        apart = (r > 0) & (radial + radial_off < tangential - tangential_off)
        smaller.count("pairs of stretches that are certainly different", apart.sum())


def _searched(fmt: Format, settings: Settings) -> Iterator[Measurement]:
    """The same three at searched rows, at both phasors of P = 2."""
    for statement, what, check, keep in (
        ("as printed", "distance of J^T J from its multiple of I over its bound", _angles, KEEP),
        (STRETCHES, "error of a stretch over its bound", lambda b, chosen, t: _itself(b, chosen, t, None), KEEP),
        (SMALLER, "stretch along z_i over the one across", lambda b, chosen, t: _itself(b, chosen, None, t), NEAR),
    ):

        def both(b: Batch, tally: Tally, check: Callable[[Batch, Tensor, Tally], None] = check) -> None:
            check(b, torch.arange(CHOSEN, device=b.h.device).expand(len(b.h), -1), tally)

        yield from worst_rows("conformal", statement, fmt, settings, both, what, ((CHOSEN, 0.125),), keep=keep)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Angles with S held fixed, and the two stretches of the map itself, on random and on searched rows."""
    for fmt in formats(settings):
        angles = Tally("as printed", fmt, settings)
        stretches = Tally(STRETCHES, fmt, settings)
        smaller = Tally(SMALLER, fmt, settings)
        for b in batches("conformal", fmt, settings, widest=WIDEST):
            chosen = choose(b, CHOSEN, settings.seed)
            _angles(b, chosen, angles)
            _itself(b, chosen, stretches, smaller)
        yield angles.measurement("S held fixed")
        yield stretches.measurement("along z_i and across it, z_i != 0, gamma = 1")
        yield smaller.measurement("stretch along z_i over the one across")
        yield from _searched(fmt, settings)


MUTANTS = {
    "not squared": lambda gamma, s: (gamma / s).abs(),
    "gamma forgotten": lambda gamma, s: (1 / s**2).expand(len(s), gamma.shape[-1]),
    "not divided by S": lambda gamma, s: (gamma**2).expand(len(s), gamma.shape[-1]),
    "sign flipped": lambda gamma, s: -((gamma / s) ** 2),
    "all NaN": lambda gamma, s: torch.full_like(gamma / s, torch.nan),
}
