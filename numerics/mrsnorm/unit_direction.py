"""unit-direction measured: u_i, the direction that the backward pass uses, has norm 1.

Source: MRSNorm paper, section 5.1, before Eq. 6, at z_i != 0. At z_i = 0 there is no direction: the layer's is 0, of
norm 0, which is measured as a statement of its own.

How it is measured. u_i is the gradient of r_i, so the gradient of sum r_i by automatic differentiation is all of them.

Bound. A component of u is x / r: 3 roundings in r, 1 in the quotient, 1 in the product with the upstream 1, and the
last one to the input's format; the norm of such a vector is 1 to within the same factor, as |u| = 1, plus eta for
components that underflow and gamma_4 for the norm in fp64.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.inputs import batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import magnitudes
from numerics.rounding import FP64, MAGNITUDE, Format, roundings


def printed(u: Tensor) -> Tensor:
    """The norm that every direction is said to have: (T, P, 2) -> (T, P)."""
    return torch.ones_like(u[..., 0])


def directions(h: Tensor) -> Tensor:
    """u_i as the backward pass has it, in fp64: (T, N) -> (T, P, 2)."""
    h = h.detach().requires_grad_()
    return phasor_view(torch.autograd.grad(magnitudes(h).sum(), h)[0])


def _bound(fmt: Format) -> float:
    acc = fmt.accumulation
    last = 0.0 if fmt == acc else fmt.unit_roundoff * (1 + 2.0**-6)
    underflow = 2 * (fmt.underflow + acc.underflow)
    return roundings(MAGNITUDE + 2, acc) + last + underflow + roundings(4, FP64)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Two measurements a format: the norm of u_i where z_i != 0, and at zero phasors."""
    for fmt in formats(settings):
        tally = Tally("as printed", fmt, settings)
        at_zero = Tally("u = 0 at a zero phasor", fmt, settings)
        for b in batches("unit-direction", fmt, settings):
            u = directions(b.h)
            norm, zero = torch.linalg.vector_norm(u, dim=-1), (b.z == 0).all(dim=-1)
            tally.add(b, (norm - printed(u)).abs(), torch.full_like(norm, _bound(fmt)), ~zero)
            at_zero.add(b, norm, torch.zeros_like(norm), zero)
        yield tally.measurement("z_i != 0")
        yield at_zero.measurement("exactly")


MUTANTS = {
    "length 2": lambda u: 2 * torch.ones_like(u[..., 0]),
    "zero": lambda u: torch.zeros_like(u[..., 0]),
    "largest component": lambda u: u.abs().amax(-1),
    "sum of components": lambda u: u.abs().sum(-1),
    "all NaN": lambda u: torch.full_like(u[..., 0], torch.nan),
}
