"""blockade-untrainable measured: behind the projection to the unit circle the amplitude gamma_i still trains.

Claim: with o_i = gamma_i z_i / |z_i| an amplitude parameter gets no gradient. Source: MRSNorm paper, section 5.2.
Corrected: dL/dgamma_i = g_i . u_i; one step of rate 1 down |o_i - t_i|^2 / 2 takes gamma_i to t_i . u_i.

How it is measured. Every row has weights of its own, so that automatic differentiation gives dL/dgamma a row, where
z_i is not 0. The targets t_i are the upstream gradients of the batch.

Bounds. u_c has 3 roundings in r_i and one in the quotient; a product 1, the sum of two 1, one to spare: gamma_7 of the
sum of |u_c g_c|, and the last rounding. The step has gamma u - t (6 and 1 more) in place of g, and one more difference:
gamma_16 of 2 |gamma_i| and the sum of |u_c t_c|, in the accumulation format.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from numerics.inputs import Batch, batches, formats, phasor_view
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import ACCUMULATION, magnitudes
from numerics.rounding import FP64, direction, roundings

WIDEST = 64


def printed(z: Tensor, g: Tensor) -> Tensor:
    """dL/dgamma_i as the claim has it, 0: (T, P, 2), (T, P, 2) -> (T, P)."""
    return torch.zeros_like(z[..., 0])


def corrected(z: Tensor, g: Tensor) -> Tensor:
    """g_i . u_i: (T, P, 2), (T, P, 2) -> (T, P)."""
    return (direction(z) * g).sum(-1)


def project(h: Tensor, gamma: Tensor) -> Tensor:
    """gamma_i z_i / r_i with weights (T, P), half precision computed in fp32: (T, N) -> (T, P, 2), not rounded back."""
    wide = h.to(ACCUMULATION[h.dtype])
    return gamma.to(wide.dtype).unsqueeze(-1) * (wide.unflatten(-1, (-1, 2)) / magnitudes(wide).unsqueeze(-1))


def _rows(b: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """h without zero phasors, a leaf of weights (T, P), and which phasors were not zero."""
    used = (b.z != 0).any(dim=-1)
    filler = torch.tensor([1.0, 0.0], dtype=b.h.dtype, device=b.h.device)
    h = torch.where(used[..., None], b.h.unflatten(-1, (-1, 2)), filler).flatten(-2)
    return h, b.gamma.expand(len(h), -1).clone().requires_grad_(), used


def _collect(b: Batch, severed: Tally, radial: Tally, trained: Tally) -> None:
    h, gamma, used = _rows(b)
    z, g, acc = phasor_view(h), phasor_view(b.g), b.fmt.accumulation
    wide = b.g.unflatten(-1, (-1, 2)).to(acc.dtype)
    (slope,) = torch.autograd.grad((project(h, gamma) * wide).sum(), gamma)
    sizes = (direction(z) * g).abs().sum(-1)
    lost = roundings(7, acc) * sizes + 4 * acc.underflow * (1 + g.abs().sum(-1))
    for tally, formula in ((severed, printed), (radial, corrected)):
        tally.compare(b, slope, formula(z, g), lost, roundings(8, FP64) * sizes, used)
    amplitude = gamma.detach().to(acc.dtype).requires_grad_()
    error = (project(h, amplitude) - wide).square().sum() / 2
    (slope,) = torch.autograd.grad(error, amplitude)
    after = (amplitude - slope).detach().double()
    sizes = 2 * amplitude.detach().double().abs() + sizes
    bound = (roundings(16, acc) + roundings(8, FP64)) * sizes + 8 * acc.underflow * (1 + g.abs().sum(-1))
    trained.add(b, (after - (direction(z) * g).sum(-1)).abs(), bound, used)


def measure(settings: Settings) -> Iterator[Measurement]:
    """Three measurements a format: no gradient, the radial part of the error, and a step of training."""
    for fmt in formats(settings):
        severed, radial = Tally("as printed", fmt, settings), Tally("corrected", fmt, settings)
        trained = Tally("the amplitude is trained", fmt, settings)
        for b in batches("blockade-untrainable", fmt, settings, widest=WIDEST):
            _collect(b, severed, radial, trained)
        yield severed.measurement("dL/dgamma_i against 0")
        yield radial.measurement("dL/dgamma_i against g_i . u_i")
        yield trained.measurement("gamma_i after one step of rate 1 against t_i . u_i")


MUTANTS = {
    "opposite": lambda z, g: -(direction(z) * g).sum(-1),
    "all NaN": lambda z, g: torch.full_like(z[..., 0], torch.nan),
}
REPAIRS = {"the radial part of the error": lambda z, g: (direction(z) * g).sum(-1)}
CORRECTED_MUTANTS = {
    "the projection on z": lambda z, g: (z * g).sum(-1),
    "the tangential part": lambda z, g: direction(z)[..., 0] * g[..., 1] - direction(z)[..., 1] * g[..., 0],
    "zero": lambda z, g: torch.zeros_like(z[..., 0]),
    "all NaN": lambda z, g: torch.full_like(z[..., 0], torch.nan),
}
