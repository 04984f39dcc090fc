"""interference-broadcast measured: the error at an outlier reaches every phasor, and further than under RMSNorm.

Claim: what the error at an outlier j adds to the gradient of another phasor i is no larger than under RMSNorm. Source:
follows from the MRSNorm paper, section 5.1, Eq. 5 and the reading it is given.

What holds at eps = 0, with A = r_j and T = sum r: the ratio of the two is between (sqrt(N)/2) (A/T)^2 A/r_i and
(sqrt(N)/2) (T/A) A/r_i. And under MRSNorm every phasor i != j gets |gamma_j g_j . z_j| / (P S^2), whatever z_i is.

How it is measured. The upstream gradient is u_j at the phasor j of largest magnitude, rounded to the format, and 0 at
all others, whose whole input gradients are then what reached them. P >= 2.
Gradient ascent looks for the rows where MRSNorm's interference is most above RMSNorm's, where either bound of the ratio
is nearest to it, and where r_i / A times the ratio is least, which is far from the outlier the bounds are sharp for.

Bounds. Gradients are off by what `numerics.backward` allows. Ratios are compared as products, N(i) r_i with c A R(i):
the roundings of T, A and the formula in fp64, 2 (P + 12), on top.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import Tensor

from numerics.backward import mrs_gradient, rms_gradient
from numerics.found_rows import found_batch, largest, places, searched
from numerics.inputs import Batch, batches, formats
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_scale
from numerics.rounding import FP64, Format, direction, roundings, scale_roundings

WIDEST = 64
FAR = 64.0  # the printed bound has no supremum: the search stops here


def printed(reached: Tensor, r: Tensor) -> Tensor:
    """What the interference of MRSNorm is said not to exceed, that of RMSNorm: (T, P), (T, P) -> (T, P)."""
    return reached


def corrected(phasors: int, share: Tensor) -> tuple[Tensor, Tensor]:
    """Bounds of the ratio of the two times r_i / A, from the outlier's share A/T: P, (T, 1) -> (T, 1), (T, 1)."""
    half_root = (phasors / 2) ** 0.5  # sqrt(N)/2
    return half_root * share**2, half_root / share


def _outlier(b: Batch) -> tuple[Batch, Tensor, Tensor]:
    """gamma = 1, the upstream gradient at the largest phasor alone (T, N), and that phasor's mask (T, P)."""
    b = replace(b, gamma=torch.ones_like(b.gamma))
    r = torch.linalg.vector_norm(b.z, dim=-1)
    at = torch.zeros_like(b.quiet).scatter(-1, r.argmax(-1, keepdim=True), True)
    g = torch.where(at[..., None], direction(b.z), torch.zeros_like(b.z)).flatten(-2).to(b.fmt.dtype)
    return b, g, at


def _collect(b: Batch, same: Tally, compared: Tally, below: Tally, above: Tally) -> None:
    b, g, at = _outlier(b)
    r = torch.linalg.vector_norm(b.z, dim=-1)
    mrs, rms = mrs_gradient(b, g), rms_gradient(b, g)
    others = ~at & (r > 0) & ~(mrs.infinite | rms.infinite).any(-1)
    error = (g.double().unflatten(-1, (-1, 2)) * b.z).sum((-1, -2)).abs()[:, None]
    everywhere = error / (b.phasors * mrs_scale(b.h.double(), b.eps).square())
    slack = roundings(2 * scale_roundings(b.phasors) + 8, FP64) * everywhere
    same.add(b, (mrs.norms - everywhere).abs(), mrs.allowed_norms + slack, others)
    compared.add(b, mrs.norms, printed(rms.norms, r) + mrs.allowed_norms + rms.allowed_norms, others)
    if b.eps:
        return
    top, relative = r.amax(-1, keepdim=True), 1 + roundings(2 * (b.phasors + 12), FP64)
    low, high = corrected(b.phasors, top / r.sum(-1, keepdim=True))
    most = mrs.norms * r, relative * high * top * (rms.norms + rms.allowed_norms) + r * mrs.allowed_norms
    least = low * top * rms.norms, relative * (r * (mrs.norms + mrs.allowed_norms) + low * top * rms.allowed_norms)
    above.add(b, *most, others)
    below.add(b, *least, others)


def measure(settings: Settings) -> Iterator[Measurement]:
    """The comparison with RMSNorm, its corrected form, that all get the same, and what the search finds, a format."""
    for fmt in formats(settings):
        compared, ratio = Tally("as printed", fmt, settings), Tally("corrected", fmt, settings)
        same = Tally("every phasor gets the same", fmt, settings)
        for b in batches("interference-broadcast", fmt, settings, widest=WIDEST):
            if b.phasors > 1:
                _collect(b, same, compared, ratio, ratio)
        yield compared.measurement("MRSNorm's interference over RMSNorm's, phasors i != j")
        yield ratio.measurement("both bounds of their ratio, eps = 0")
        yield same.measurement("against |gamma_j g_j . z_j| / (P S^2)")
        yield from _found_rows(fmt, settings)


def _sums(points: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """r (R, P), and A, sum r and sqrt(sum r^2), which are NaN for fewer than two non-zero phasors: (R,) each."""
    r = torch.linalg.vector_norm(points[:, 0], dim=-1)
    total = torch.where((r > 0).sum(-1) > 1, r.sum(-1), torch.nan)
    return r, r.amax(-1), total, r.square().sum(-1).sqrt()


def interference_ratio(points: Tensor, eps: float) -> Tensor:
    """The largest ratio of what reaches a phasor i under MRSNorm and under RMSNorm: (R, 1, P, 2) -> (R,)."""
    r, _, total, root = _sums(points)
    phasors = r.shape[-1]
    ratio = 2 * (root.square() / (2 * phasors) + eps) ** 1.5 / (total / phasors + eps) ** 2
    return ratio / torch.where(r > 0, r, torch.inf).amin(-1)


def below_ratio(points: Tensor, eps: float) -> Tensor:
    """The lower bound of the ratio over the ratio at eps = 0, (A / sqrt(sum r^2))^3: (R, 1, P, 2) -> (R,)."""
    _, top, total, root = _sums(points)
    return (top / root) ** 3 * total / total


def above_ratio(points: Tensor, eps: float) -> Tensor:
    """The ratio over its upper bound at eps = 0, (sqrt(sum r^2) / sum r)^3: (R, 1, P, 2) -> (R,)."""
    _, _, total, root = _sums(points)
    return (root / total) ** 3


def inverse_ratio(points: Tensor, eps: float) -> Tensor:
    """sqrt(N)/2 over r_i / A times the ratio, at eps = 0: (R, 1, P, 2) -> (R,)."""
    _, top, total, root = _sums(points)
    return total.square() * top / root**3


def _found_rows(fmt: Format, settings: Settings) -> Iterator[Measurement]:
    for phasors, eps in places(settings):
        for side, value, at, told in (
            (1, interference_ratio, eps, "MRSNorm's interference over RMSNorm's"),
            (2, below_ratio, 0.0, "the lower bound over the ratio"),
            (3, above_ratio, 0.0, "the ratio over its upper bound"),
            (2, inverse_ratio, 0.0, "the lower bound over the ratio, where (r_i / A) times the ratio is least"),
        ):
            found = largest("interference-broadcast", value, phasors, at, settings, vectors=1, far=FAR)
            b = found_batch(found, fmt, at)
            tallies = [Tally("as printed" if n == 1 else "corrected", fmt, settings) for n in range(4)]
            _collect(b, *tallies)
            b, g, _ = _outlier(b)
            yield searched(tallies[side], replace(b, g=g), found, told)


MUTANTS = {
    "half of RMSNorm's": lambda reached, r: reached / 2,
    "all NaN": lambda reached, r: torch.full_like(reached, torch.nan),
}
REPAIRS = {"no bound at all": lambda reached, r: torch.full_like(reached, torch.inf)}
CORRECTED_MUTANTS = {
    "half the factor": lambda phasors, share: ((phasors / 8) ** 0.5 * share**2, (phasors / 8) ** 0.5 / share),
    "twice the factor": lambda phasors, share: ((2 * phasors) ** 0.5 * share**2, (2 * phasors) ** 0.5 / share),
    "without the share": lambda phasors, share: ((phasors / 2) ** 0.5 + 0 * share,) * 2,
    "all NaN": lambda phasors, share: (share * torch.nan,) * 2,
}
