"""phase-invariance measured: |Omega| / S changes when phasors turn, and does not if upstream gradients turn along.

Claim: |Omega| / S does not depend on the phases. Source: MRSNorm paper, section 5.1, below Eq. 6. False at a fixed
upstream gradient, where

    g_k . R(phi_k) z_k = cos(phi_k) g_k . z_k + sin(phi_k) (z_k x g_k).

How it is measured. Every phasor is turned by a number of quarter turns of its own, which is exact in every format and
keeps every magnitude bit for bit. |Omega| / S is the norm of the input gradient at phasors with g_i = 0 (see eq06),
before and after; a random half of each row has g = 0. P >= 2.

Bounds. Each of the norms is off by what `numerics.backward` allows; the formula for Omega in fp64 by gamma_n times the
mean of |gamma_k| |g_k| r_k / S^2, n the roundings in S twice, N and 8.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from numerics.backward import Gradient, mrs_gradient
from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_scale
from numerics.rounding import FP64, roundings, scale_roundings
from numerics.scenarios import generator

WIDEST = 64


def printed(norms: Tensor, expected: Tensor) -> Tensor:
    """|Omega| / S after turning z by quarter turns, from the norms before it: the same; (T, P), (T, 1) -> (T, P).

    `expected` is what `omega_after` gives; the claim makes no use of it.
    """
    return norms


def corrected(norms: Tensor, turns: Tensor) -> Tensor:
    """|Omega| / S after turning z and g together: the same as before."""
    return norms


def turned(x: Tensor, turns: Tensor) -> Tensor:
    """(T, P, 2) turned by 0 to 3 quarter turns each, exactly."""
    x = torch.where((turns >= 2)[..., None], -x, x)
    quarter = torch.stack((-x[..., 1], x[..., 0]), dim=-1)
    return torch.where((turns % 2 == 1)[..., None], quarter, x)


def omega_after(b: Batch, g: Tensor, turns: Tensor) -> tuple[Tensor, Tensor]:
    """|Omega| / S after turning z alone, by the formula, and its fp64 error: (T, 1) each."""
    gamma, scale, upstream = b.gamma.double(), mrs_scale(b.h.double(), b.eps), phasor_view(g)
    cos, sin = (turns == 0) * 1.0 - (turns == 2) * 1.0, (turns == 1) * 1.0 - (turns == 3) * 1.0
    cross = b.z[..., 0] * upstream[..., 1] - b.z[..., 1] * upstream[..., 0]
    terms = gamma * (cos * (upstream * b.z).sum(-1) + sin * cross)
    sizes = gamma.abs() * torch.linalg.vector_norm(b.z, dim=-1) * torch.linalg.vector_norm(upstream, dim=-1)
    relative = roundings(2 * scale_roundings(b.phasors) + 2 * b.phasors + 8, FP64)
    return terms.mean(-1, keepdim=True).abs() / scale**2, relative * sizes.mean(-1, keepdim=True) / scale**2


def _gradients(b: Batch, g: Tensor, turns: Tensor) -> tuple[Gradient, Gradient, Gradient]:
    """Input gradients before, after z is turned, and after z and g are."""
    h, upstream = (turned(x.unflatten(-1, (-1, 2)), turns).flatten(-2) for x in (b.h, g))
    return mrs_gradient(b, g), mrs_gradient(replace(b, h=h), g), mrs_gradient(replace(b, h=h), upstream)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Three measurements a format: z turned alone, z and g turned together, and the formula for z alone."""
    for fmt in formats(settings):
        alone = Tally("as printed", fmt, settings)
        together, formula = Tally("corrected", fmt, settings), Tally("how Omega turns", fmt, settings)
        for b in batches("phase-invariance", fmt, settings, widest=WIDEST):
            if b.phasors == 1:
                continue
            rng = generator(settings.seed, "phase-invariance", "turns", b.phasors, fmt.name)
            turns = torch.randint(4, b.quiet.shape, generator=rng).to(b.h.device)
            before, after, both = _gradients(b, b.quiet_g, turns)
            heard = b.quiet & (b.z != 0).any(dim=-1)
            allowed = before.allowed_norms + after.allowed_norms
            expected, off = omega_after(b, b.quiet_g, turns)
            alone.add(b, (after.norms - printed(before.norms, expected)).abs(), allowed + off, heard)
            allowed = before.allowed_norms + both.allowed_norms
            together.add(b, (both.norms - corrected(before.norms, turns)).abs(), allowed, heard)
            formula.add(b, (after.norms - expected).abs(), after.allowed_norms + off, heard)
        yield alone.measurement("z turned by quarter turns, g as it was")
        yield together.measurement("z and g turned")
        yield formula.measurement("z turned, g as it was")


MUTANTS = {
    "doubled": lambda norms, expected: 2 * norms,
    "all NaN": lambda norms, expected: torch.full_like(norms, torch.nan),
}
# with this in its place nothing is violated: the turned interference is what the formula says
REPAIRS = {"as Omega turns": lambda norms, expected: expected.expand_as(norms)}
CORRECTED_MUTANTS = {
    "doubled": lambda norms, turns: 2 * norms,
    "0 after odd numbers of quarter turns": lambda norms, turns: norms * (turns % 2 == 0),
    "all NaN": lambda norms, turns: torch.full_like(norms, torch.nan),
}
