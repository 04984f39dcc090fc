"""scale-invariance measured: input gradients scale as 1/S, not at all independently of the magnitudes.

Claim: multiplying all coordinates by c leaves |dL/dz_i| as it is. Source: MRSNorm paper, section 2.3. Corrected:
dL/dz_i at c h with c eps is 1/c times dL/dz_i at h with eps; at phasors with g_i = 0 that is the statement about
|Omega| / S alone.

How it is measured. c = 2^k, k from -4 to 4 and not 0, one k a row, where c h is a row of the format; both gradients by
automatic differentiation. Half of the phasors have g = 0.

Bound. Each of the two gradients is off by what `numerics.backward` allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from numerics.backward import mrs_gradient
from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.mrsnorm import eq05
from numerics.rounding import check_domain
from numerics.scenarios import generator

WIDEST = 64
POWERS = (-4, -2, 1, 3)


def printed(norms: Tensor, own: Tensor) -> Tensor:
    """|dL/dz_i| at c h from |dL/dz_i| at h: the same; (T, P), (T, P) -> (T, P).

    `own` are the norms that Eq. 5 gives at c h; the claim makes no use of them.
    """
    return norms


def corrected(gradient: Tensor, c: float) -> Tensor:
    """dL/dz_i at c h with c eps from dL/dz_i at h with eps: (T, P, 2) -> (T, P, 2)."""
    return gradient / c


def _collect(b: Batch, c: float, same: Tally, scaled: Tally) -> None:
    """Compare gradients at h and at c h, with eps for the claim and with c eps for its corrected form."""
    exact = b.h.double() * c
    h = exact.to(b.fmt.dtype)
    kept = (h.double() == exact).all(dim=-1)
    h = torch.where(kept[:, None], h, b.h)
    check_domain(torch.linalg.vector_norm(phasor_view(h), dim=-1), b.fmt)
    before = mrs_gradient(b, b.quiet_g)
    where = kept[:, None] & (b.z != 0).any(dim=-1)
    for tally, eps in ((same, b.eps), (scaled, c * b.eps)):
        after = mrs_gradient(replace(b, h=h, eps=eps), b.quiet_g)
        finite = where & ~(before.infinite | after.infinite).any(dim=-1)
        if tally is same:
            formula = eq05.printed(phasor_view(h), phasor_view(b.quiet_g), b.gamma.double(), eps)
            own = torch.linalg.vector_norm(formula, dim=-1)
            error = (after.norms - printed(before.norms, own)).abs()
            tally.add(b, error, after.allowed_norms + before.allowed_norms, finite)
        else:
            error = (after.value - corrected(before.value, c)).abs()
            tally.add(b, error, after.allowed + before.allowed / c, finite[..., None])


def measure(settings: Settings) -> Iterator[Measurement]:
    """Two measurements a format: the same gradient, and 1/c of it."""
    for fmt in formats(settings):
        same, scaled = Tally("as printed", fmt, settings), Tally("corrected", fmt, settings)
        for b in batches("scale-invariance", fmt, settings, widest=WIDEST):
            rng = generator(settings.seed, "scale-invariance", "power", b.phasors, fmt.name)
            power = POWERS[int(torch.randint(len(POWERS), (1,), generator=rng))]
            _collect(b, 2.0**power, same, scaled)
        yield same.measurement("|dL/dz_i| at c h against that at h")
        yield scaled.measurement("dL/dz_i at c h with c eps against 1/c of that at h")


MUTANTS = {
    "doubled": lambda norms, own: 2.5 * norms,
    "all NaN": lambda norms, own: torch.full_like(norms, torch.nan),
}
# with this in its place nothing is violated; at eps > 0 the norm at c h is no function of c and the norm at h alone
REPAIRS = {"that of Eq. 5 at c h": lambda norms, own: own}
CORRECTED_MUTANTS = {
    "unchanged": lambda gradient, c: gradient,
    "growing with c": lambda gradient, c: c * gradient,
    "1/c^2": lambda gradient, c: gradient / c**2,
    "all NaN": lambda gradient, c: torch.full_like(gradient, torch.nan),
}
