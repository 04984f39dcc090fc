"""squash-blockade measured: the squashing function of capsule networks has an open radial direction.

Claim: the Jacobian J of v = (r^2 / (1 + r^2)) z / r maps u to 0. Source: MRSNorm paper, section 2.2; the function is
Eq. 1 of "Dynamic routing between capsules" (2017). Corrected: J u = 2r / (1 + r^2)^2 u.

How it is measured. v = z r / (1 + r^2) is differentiated automatically; J is symmetric with u as an eigenvector, so
the part along u of the gradient for an upstream gradient w = u, rounded to the format, over u . w is the radial
factor.

Bound. With s = r / (1 + r^2) the gradient is s w + (w . z) s'(r) u. Roundings: r 3, r^2 7, 1 + r^2 8, s 12, s w 14;
and in the second term 2 in w . z, at most 34 more in the two parts of s' and 5 in u: 48 with some to spare, relative
to s |w| + |w . z| (1 / (1 + r^2) + 2 r^2 / (1 + r^2)^2) <= 4 s |w|; the last rounding, with |d_c| <= 2 s |w|. For
large r the parts cancel and the bound is far larger than 2 / r^3: there the sign is not resolved, which is counted.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.gradients import input_gradient
from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import ACCUMULATION, magnitudes
from numerics.rounding import FP64, direction, rounded, roundings

WIDEST = 64


def printed(r: Tensor) -> Tensor:
    """The radial factor of the Jacobian as the claim has it, 0: (T, P) -> (T, P)."""
    return torch.zeros_like(r)


def corrected(r: Tensor) -> Tensor:
    """2r / (1 + r^2)^2: (T, P) -> (T, P)."""
    return 2 * r / (1 + r**2) ** 2


def squash(h: Tensor) -> Tensor:
    """z r / (1 + r^2) for every phasor, half precision computed in fp32: (T, N) -> (T, N)."""
    wide = h.to(ACCUMULATION[h.dtype])
    r = magnitudes(wide)
    return (wide.unflatten(-1, (-1, 2)) * (r / (1 + r * r)).unsqueeze(-1)).flatten(-2).to(h.dtype)


def _collect(b: Batch, blocked: Tally, open_: Tally) -> None:
    r, u = torch.linalg.vector_norm(b.z, dim=-1), direction(b.z)
    w = u.to(b.fmt.dtype).double()
    share = torch.where(r > 0, (u * w).sum(-1), 1.0)
    d = phasor_view(input_gradient(squash, b.h, w.flatten(-2).to(b.fmt.dtype)))
    acc = b.fmt.accumulation
    s = r / (1 + r**2)
    lost = roundings(48, acc) * 4 * s * 1.01 + 8 * acc.underflow * (1 + r)
    largest = (2 * s * torch.linalg.vector_norm(w, dim=-1))[..., None].expand_as(u)  # at least |d_c|
    allowed = torch.linalg.vector_norm(rounded(lost[..., None], largest, b.fmt), dim=-1) / share
    allowed = allowed + roundings(64, FP64) * 4 * s
    factor = (u * d).sum(-1) / share
    blocked.add(b, (factor - printed(r)).abs(), allowed, r > 0)
    open_.add(b, (factor - corrected(r)).abs(), allowed, r > 0)
    open_.count("factors that are certainly positive", ((r > 0) & (factor > allowed)).sum())
    open_.count("factors below what rounding resolves", ((r > 0) & ~(factor > allowed)).sum())


def measure(settings: Settings) -> Iterator[Measurement]:
    """Two measurements a format: a radial factor of 0, and the true one."""
    for fmt in formats(settings):
        blocked, open_ = Tally("as printed", fmt, settings), Tally("corrected", fmt, settings)
        for b in batches("squash-blockade", fmt, settings, widest=WIDEST):
            _collect(b, blocked, open_)
        yield blocked.measurement("radial factor against 0")
        yield open_.measurement("radial factor against 2r / (1 + r^2)^2")


MUTANTS = {
    "the factor across": lambda r: r / (1 + r**2),
    "all NaN": lambda r: torch.full_like(r, torch.nan),
}
REPAIRS = {"the true factor": lambda r: 2 * r / (1 + r**2) ** 2}
CORRECTED_MUTANTS = {
    "without the 2": lambda r: r / (1 + r**2) ** 2,
    "one power less": lambda r: 2 * r / (1 + r**2),
    "zero": lambda r: torch.zeros_like(r),
    "all NaN": lambda r: torch.full_like(r, torch.nan),
}
