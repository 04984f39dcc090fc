"""operator-norm measured: how much a layer that divides by S_p = (mean r^p)^(1/p) amplifies, in the 2-norm.

    |J|_2 = kappa_p / S_p,   kappa_p = rms(r) rms(r^(p-1)) / mean(r^p),   eps = 0, gamma = 1, every z_k != 0

kappa_p = 1 iff p = 2 or all magnitudes are equal; kappa_p <= P^|1/p - 1/2| for p >= 1; for p < 1 it has no bound; for
p > 1, kappa_p at r is kappa_q at r^(p-1), q = p/(p-1).

How it is measured. A backward pass gives J^T w. For random w no gain |J^T w| / |w| may exceed kappa_p / S_p. The gain
is reached at w = z - v/|v|^2, v_k = r_k^(p-1) u_k / sum r^p, and by z turned by 90 degrees where kappa_p = 1. Gradient
ascent looks for the largest kappa_p: sqrt(P) for p = 1, and any number, here `FAR`, for p = 1/2. For p = 3 it stays
below the ceiling, whose constant is not sharp.

Bounds. J^T w is off by the norm of `power_means.gradient_error`, of the rounding to the input's format, and of the same
bound in fp64. w is rounded to the format, by u |w| and by eta/2 a component; in fp64 z - v/|v|^2 loses 2 gamma_n |z|, a
part 2 gamma_n / `CLEAR` of its own length at most, where it is used. A change d of w costs at most 2 kappa_p |d| / S_p.
The formula has the roundings of three means of powers, `_kappa_roundings`.

Source: no source states it; p = 1 is the layer whose Jacobian the MRSNorm paper, section 6, calls an isometry.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from numerics.gradients import input_gradient
from numerics.inputs import Batch, batches, formats, phasor_view, rows_batch
from numerics.judge import Tally, plain
from numerics.measure import Measurement, Settings
from numerics.power_means import POWER, gradient_error, power_norm, power_scale, scale_roundings
from numerics.rounding import FP64, Format, direction, rounded, roundings, settle_overflow
from numerics.scenarios import generator
from numerics.search import Found, ascend

SLUG = "operator-norm"
EXPONENTS = (0.5, 1.0, 2.0, 3.0)
CONJUGATE = (1.5, 3.0)  # 1/p + 1/q = 1
WIDEST = 7
SEARCHED = (8, 64)  # P
FAR = 64.0
CLEAR = 1e-4  # |z - v/|v|^2| / |z| = sqrt(1 - 1/kappa^2) above which that vector is known well enough
FLOOR = 2.0**-14  # the smallest normal number of fp16: stands for a zero that rounding made


def mean_power(r: Tensor, exponent: float) -> Tensor:
    """mean r^exponent: (T, P) -> (T, 1)."""
    return r.pow(exponent).mean(-1, keepdim=True)


def printed(r: Tensor, p: float) -> Tensor:
    """kappa_p: (T, P) -> (T, 1)."""
    return (mean_power(r, 2) * mean_power(r, 2 * p - 2)).sqrt() / mean_power(r, p)


def ceiling(phasors: int, p: float) -> float:
    """The bound of kappa_p for p >= 1; none below."""
    return phasors ** abs(1 / p - 0.5) if p >= 1 else math.inf


def _relative(r: Tensor) -> Tensor:
    return r / r.amax(-1, keepdim=True)


def _kappa_roundings(phasors: int, p: float) -> int:
    """Roundings in kappa_p: the means of r^2 and r^(2p-2) under a root, the mean of r^p, and 4."""
    powers = math.ceil(5 * (1 + abs(p - 1) + p))
    return powers + 2 * (POWER + phasors + 2) + 4


def most_amplified(r: Tensor, z: Tensor, p: float) -> tuple[Tensor, Tensor]:
    """w = z - v/|v|^2 where kappa_p is well above 1, z turned by 90 degrees elsewhere, |w| = 1; and which it is.

    r: (T, P), z: (T, P, 2) -> (T, P, 2), (T, 1).
    """
    v = _relative(r)[..., None] ** (p - 1) * direction(z)
    v = v / (v * z).sum((-1, -2), keepdim=True)
    own = z - v / v.square().sum((-1, -2), keepdim=True)
    size = torch.linalg.vector_norm(z, dim=(-1, -2), keepdim=True)
    clear = torch.linalg.vector_norm(own, dim=(-1, -2), keepdim=True) > CLEAR * size
    turned = torch.stack((-z[..., 1], z[..., 0]), dim=-1)
    w = torch.where(clear, own, turned)
    return w / torch.linalg.vector_norm(w, dim=(-1, -2), keepdim=True), clear.flatten(1)


def gain(b: Batch, p: float) -> tuple[Tensor, Tensor, Tensor]:
    """S_p |J^T w| for w = b.g, what it may be off by, and |w|: (T, 1) each."""
    z, w = b.z, phasor_view(b.g)
    one, s = torch.ones(b.phasors, dtype=torch.float64, device=z.device), power_scale(b.h.double(), p)
    layer = partial(power_norm, p=p)
    exact = phasor_view(input_gradient(layer, b.h.double(), b.g.double()))
    lost, lost64 = (gradient_error(z, w, one, p, f) for f in (b.fmt, FP64))
    settled, _ = settle_overflow(phasor_view(input_gradient(layer, b.h, b.g)), exact, lost + lost64, b.fmt)
    allowed = torch.linalg.vector_norm(rounded(lost, exact, b.fmt) + 2 * lost64, dim=(-1, -2))[:, None]
    slack = roundings(scale_roundings(b.phasors, p) + 2 * b.phasors + 8, FP64)
    size, length = torch.linalg.vector_norm(settled, dim=(-1, -2))[:, None], torch.linalg.vector_norm(w, dim=(-1, -2))
    return s * size, s * allowed * (1 + slack) + slack * s * size.nan_to_num(0, 0, 0), length[:, None]


def _reached(b: Batch, p: float) -> tuple[Tensor, Tensor]:
    """By how much the gain of the most amplified w misses kappa_p, and what it may: (T, 1), (T, 1)."""
    r = torch.linalg.vector_norm(b.z, dim=-1)
    w, clear = most_amplified(r, b.z, p)
    stored = w.flatten(-2).to(b.fmt.dtype)
    got, allowed, length = gain(replace(b, g=stored), p)
    kappa = printed(_relative(r), p)
    expected = torch.where(clear, kappa, torch.ones_like(kappa))
    lost = roundings(2 * _kappa_roundings(b.phasors, p), FP64)
    stray = lost * torch.where(clear, 2 / CLEAR, 1.0)
    shift = b.fmt.unit_roundoff + stray + (2 * b.phasors) ** 0.5 * b.fmt.smallest_subnormal
    return (got - expected * length).abs(), allowed + expected * (2 * shift + lost)


def measure(settings: Settings) -> Iterator[Measurement]:
    """For every p and format: no gain above kappa_p, kappa_p reached, its ceiling, the search, conjugate exponents."""
    found = {(p, n): _search(p, n, settings) for p in EXPONENTS if p != 2 for n in SEARCHED}
    for fmt in formats(settings):
        above, reached, limits = ({p: Tally("as printed", fmt, settings) for p in EXPONENTS} for _ in range(3))
        conjugate = Tally("as printed", fmt, settings)
        same = Tally("conjugate exponents at the same r", fmt, settings)
        for b in batches(SLUG, fmt, settings, widest=WIDEST, eps_zero=True):
            r = torch.linalg.vector_norm(b.z, dim=-1)
            used = (r > 0).all(dim=-1, keepdim=True)
            for p in EXPONENTS:
                kappa, count = printed(_relative(r), p), _kappa_roundings(b.phasors, p)
                got, allowed, length = gain(b, p)
                above[p].add(b, got, kappa * length * (1 + roundings(count, FP64)) + allowed, used)
                reached[p].add(b, *_reached(b, p), used)
                if p >= 1:
                    limit = torch.full_like(kappa, ceiling(b.phasors, p) * (1 + roundings(count, FP64)))
                    limits[p].add(b, kappa, limit, used)
            conjugate.add(b, *_conjugate(_relative(r), CONJUGATE[1] - 1), used)
            same.add(b, *_conjugate(_relative(r), 1.0), used)
        for p in EXPONENTS:
            yield above[p].measurement(f"p = {p:g}: gain of a random vector over kappa_p / S_p")
            yield reached[p].measurement(f"p = {p:g}: how far the gain of one vector is from kappa_p / S_p")
            if p >= 1:
                yield limits[p].measurement(f"p = {p:g}: kappa_p over P^|1/p - 1/2|")
        yield conjugate.measurement(f"kappa_q at r^(p-1) and kappa_p at r, p = {CONJUGATE[1]:g}, q = {CONJUGATE[0]:g}")
        yield same.measurement(f"kappa_p and kappa_q at one r, p = {CONJUGATE[1]:g}, q = {CONJUGATE[0]:g}")
        for (p, _), vector in found.items():
            yield _found(vector, p, fmt, settings)


def _conjugate(r: Tensor, power: float) -> tuple[Tensor, Tensor]:
    """|kappa_q at r^power - kappa_p at r|, and what rounding allows: (T, 1), (T, 1)."""
    q, p = CONJUGATE
    kappa, phasors = printed(r, p), r.shape[-1]
    count = _kappa_roundings(phasors, p) + _kappa_roundings(phasors, q) + math.ceil(4 * (POWER + 5 * p))
    return (printed(_relative(r**power), q) - kappa).abs(), roundings(count, FP64) * kappa


def _search(p: float, phasors: int, settings: Settings) -> Found:
    """The vector with the largest kappa_p that gradient ascent finds in fp64, up to `FAR`."""
    seed = generator(settings.seed, SLUG, "search", p, phasors).initial_seed()
    restarts, steps = (8, 120) if settings.full else (2, 60)

    def value(points: Tensor) -> Tensor:
        r = torch.linalg.vector_norm(points[:, 0], dim=-1)
        kappa = (mean_power(r, 2) * mean_power(r, 2 * p - 2)).sqrt() / mean_power(r, p)
        return kappa.squeeze(-1).clamp_max(FAR)

    options = {"restarts": restarts, "steps": steps, "device": settings.device}
    return ascend(value, vectors=1, phasors=phasors, seed=seed, **options)


def _found(found: Found, p: float, fmt: Format, settings: Settings) -> Measurement:
    h = found.rounded(fmt.dtype)
    h = torch.where(h == 0, torch.full_like(h, FLOOR), h)  # J needs every z_k != 0
    b = rows_batch("found", h, fmt, 0.0)
    r = torch.linalg.vector_norm(b.z, dim=-1)
    w, _ = most_amplified(r, b.z, p)
    got, allowed, length = gain(replace(b, g=w.flatten(-2).to(fmt.dtype)), p)
    least = ((got - allowed) / length).item()
    limit = ceiling(b.phasors, p)
    return Measurement(
        kind="adversarial",
        statement="as printed",
        scope=f"p = {p:g}, P = {b.phasors}, eps = 0, found by gradient ascent",
        worst=least / limit if p >= 1 else FAR / 2 / least,
        trials=found.restarts,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail=f"a gain of at least {least:.6g} / S_p; "
        + (f"at most {limit:.6g}" if p >= 1 else f"{FAR / 2:g} over it"),
        witness={"p": p, "magnitudes": plain(r[0])} if b.phasors <= 8 else None,
    )


MUTANTS = {
    "rms(r) / mean(r) for every p": lambda r, p: mean_power(r, 2).sqrt() / mean_power(r, 1),
    "no amplification": lambda r, p: torch.ones_like(r[:, :1]),
    "mean for rms": lambda r, p: mean_power(r, 1) * mean_power(r, p - 1) / mean_power(r, p),
    "the power p": lambda r, p: (mean_power(r, 2) * mean_power(r, 2 * p)).sqrt() / mean_power(r, p + 1),
    "all NaN": lambda r, p: torch.full_like(r[:, :1], torch.nan),
}
