"""power-mean measured: the interference term of a layer that divides by S_p = (mean r^p)^(1/p).

    |interference_i| = |Omega_p| (r_i / S_p)^(p-1) / S_p,   Omega_p = (1/P) sum_k gamma_k g_k . z_k / S_p

at z_i != 0, eps = 0: the same at every phasor iff p = 1.

How it is measured. As for Eq. 6, the upstream gradient is 0 on a random half of the phasors, whose whole gradient then
is the interference. Whether it is uniform is a question to a search: gradient ascent looks for the vector with the
largest spread, the largest norm of a row over the smallest, stopping at `FAR`. For p = 1 it finds nothing above
rounding; for every other p it has to find a spread of at least half of `FAR`. What it finds is rounded to each format;
there the phasors of largest and smallest magnitude get no upstream gradient, all others g = z.

Bounds. Components are off by `power_means.gradient_error` and the rounding to the input's format, a norm by the norm of
that pair, and by gamma_8 in fp64; the formula, in any order, by no more than the same bound in fp64.

Source: no source states it; p = 1 is Eq. 6 of the MRSNorm paper (section 5.1).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from numerics.gradients import input_gradient
from numerics.inputs import Batch, batches, formats, phasor_view, rows_batch
from numerics.judge import Tally, plain
from numerics.measure import Measurement, Settings
from numerics.power_means import gradient_error, power_norm, power_scale
from numerics.rounding import FP64, Format, rounded, roundings, settle_overflow
from numerics.scenarios import generator
from numerics.search import Found, ascend

SLUG = "power-mean"
EXPONENTS = (0.5, 1.0, 3.0)
WIDEST = 64
SEARCHED = 8  # P
FAR = 64.0


def scale(z: Tensor, p: float) -> Tensor:
    """S_p through powers of the magnitudes: (T, P, 2) -> (T, 1)."""
    return torch.linalg.vector_norm(z, dim=-1).pow(p).mean(-1, keepdim=True) ** (1 / p)


def omega(z: Tensor, g: Tensor, gamma: Tensor, p: float) -> Tensor:
    """Omega_p: (T, P, 2), (T, P, 2), (P,) -> (T, 1)."""
    return (gamma * (g * z).sum(-1)).mean(-1, keepdim=True) / scale(z, p)


def printed(z: Tensor, g: Tensor, gamma: Tensor, p: float) -> Tensor:
    """|Omega_p| (r_i / S_p)^(p-1) / S_p for every phasor: (T, P, 2), (T, P, 2), (P,) -> (T, P)."""
    share = torch.linalg.vector_norm(z, dim=-1) / scale(z, p)
    return omega(z, g, gamma, p).abs() * share ** (p - 1) / scale(z, p)


def interference(b: Batch, p: float) -> tuple[Tensor, Tensor, Tensor]:
    """Norms of dL/dz as measured, what they may be off by, and where they are infinite as they must be: (T, P) each."""
    z, g, gamma = b.z, phasor_view(b.g), b.gamma.double()
    layer = partial(power_norm, p=p, weight=b.gamma)
    reference = phasor_view(input_gradient(layer, b.h.double(), b.g.double()))
    measured = phasor_view(input_gradient(layer, b.h, b.g))
    lost, lost64 = (gradient_error(z, g, gamma, p, f) for f in (b.fmt, FP64))
    settled, overflowed = settle_overflow(measured, reference, lost + lost64, b.fmt)
    norms = torch.linalg.vector_norm(settled, dim=-1)
    bound = torch.linalg.vector_norm(rounded(lost, reference, b.fmt) + 2 * lost64, dim=-1)
    return norms, bound + roundings(8, FP64) * norms.nan_to_num(0, 0, 0), overflowed.any(-1)


def spread(points: Tensor, p: float) -> Tensor:
    """Largest over smallest interference in each row, for g = z, by differentiation: (R, 1, P, 2) -> (R,)."""
    h = points.flatten(-3)
    if not h.requires_grad:
        h = h.detach().requires_grad_()
    (gradient,) = torch.autograd.grad(power_norm(h, p), h, h, create_graph=True)
    norms = torch.linalg.vector_norm((h / power_scale(h, p) - gradient).unflatten(-1, (-1, 2)), dim=-1)
    return norms.amax(-1) / norms.amin(-1)


def most_spread(p: float, settings: Settings, slug: str = SLUG) -> Found:
    """The vector with the largest spread that the search finds in fp64, up to `FAR`."""
    seed = generator(settings.seed, slug, "spread", p).initial_seed()
    restarts, steps = (8, 120) if settings.full else (2, 30)
    options = {"restarts": restarts, "steps": steps, "starts": ("gaussian", "mixed"), "device": settings.device}
    return ascend(lambda points: spread(points, p).clamp_max(FAR), vectors=1, phasors=SEARCHED, seed=seed, **options)


def certified_spread(found: Found, p: float, fmt: Format) -> tuple[float, float]:
    """The spread of the found vector in this format, at least and at most: rounding is taken into account."""
    h = found.rounded(fmt.dtype)
    r = torch.linalg.vector_norm(phasor_view(h), dim=-1)
    places = torch.stack((r.argmax(-1), torch.where(r > 0, r, torch.inf).argmin(-1)), dim=-1)  # (1, 2)
    silent = torch.zeros_like(r, dtype=torch.bool).scatter(-1, places, True)
    b = rows_batch("found", h, fmt, 0.0)
    b = replace(b, g=h.masked_fill(silent.repeat_interleave(2, dim=-1), 0))
    norms, allowed, _ = interference(b, p)
    norms, allowed = norms.gather(-1, places), allowed.gather(-1, places)
    top, low = norms.max(dim=-1, keepdim=True), norms.min(dim=-1, keepdim=True)
    over, under = (allowed.gather(-1, part.indices) for part in (top, low))
    least = (top.values - over) / (low.values + under)
    most = (top.values + over) / (low.values - under)
    return least.item(), most.item()


def measure(settings: Settings) -> Iterator[Measurement]:
    """For every p and format: the norm, and the largest spread."""
    found = {p: most_spread(p, settings) for p in EXPONENTS}
    for fmt in formats(settings):
        tallies = {p: Tally("as printed", fmt, settings) for p in EXPONENTS}
        for b in batches(SLUG, fmt, settings, widest=WIDEST, eps_zero=True):
            if b.phasors == 1:
                continue
            b = replace(b, g=b.quiet_g)
            heard = b.quiet & (b.z != 0).any(dim=-1)
            for p, tally in tallies.items():
                norms, allowed, overflowed = interference(b, p)
                tally.count_overflow(overflowed & heard)
                exact = printed(b.z, phasor_view(b.g), b.gamma.double(), p)
                tally.add(b, (norms - exact).abs(), allowed, heard)
        for p, tally in tallies.items():
            yield tally.measurement(f"p = {p:g}: the norm on phasors with g_i = 0, z_i != 0")
            yield _uniform(found[p], p, fmt, settings)


def _uniform(found: Found, p: float, fmt: Format, settings: Settings) -> Measurement:
    least, most = certified_spread(found, p, fmt)
    return Measurement(
        kind="adversarial",
        statement="as printed",
        scope=f"p = {p:g}, P = {SEARCHED}, eps = 0, found by gradient ascent",
        worst=least if p == 1 else FAR / 2 / least,
        trials=found.restarts,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail=f"largest over smallest interference of a row between {least:.6g} and {most:.6g}; "
        + ("1 is uniform" if p == 1 else f"{FAR / 2:g} over it"),
        witness={"p": p, "magnitudes": plain(torch.linalg.vector_norm(found.phasors[0], dim=-1))},
    )


MUTANTS = {
    "the same for every p": lambda z, g, a, p: (omega(z, g, a, p).abs() / scale(z, p)).expand(z.shape[:-1]),
    "the power p": lambda z, g, a, p: _formula(z, g, a, p) * torch.linalg.vector_norm(z, dim=-1) / scale(z, p),
    "sum for mean": lambda z, g, a, p: z.shape[-2] * _formula(z, g, a, p),
    "p in front": lambda z, g, a, p: p * _formula(z, g, a, p),
    "gamma forgotten": lambda z, g, a, p: _formula(z, g, torch.ones_like(a), p),
    "all NaN": lambda z, g, a, p: torch.full_like(z[..., 0], torch.nan),
}
_formula = printed  # the mutants keep to it when `printed` is replaced
