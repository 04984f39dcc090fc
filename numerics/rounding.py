"""Rounding: the four formats, and a-priori bounds on what the layers may lose in them.

Standard model (Higham, Accuracy and Stability of Numerical Algorithms, section 2.2): an operation gives the exact
result times (1 + d), |d| <= u, plus e, |e| <= eta/2, where e is 0 for sums and differences. u is the unit roundoff,
eta the smallest subnormal. A product of n factors (1 + d)^(+-1) lies within gamma_n = n u / (1 - n u) of 1, so
roundings are *counted*, numerator and denominator alike, and a sum of n terms in any order counts n - 1. Each count
below has one rounding more than derived: it pays for evaluating the bound itself, in fp64.

Domain (`check_domain` raises outside it): every magnitude is 0 or between sqrt(2 lambda) and sqrt(max)/2, lambda being
the smallest normal number. No square overflows there, and both squares' underflow, at most eta = 2 u lambda <= u r^2,
counts as one rounding.

    r        squares 1, their sum 1, underflow 1, half of it under the root, root 1        <= 3
    S        r 3, sum P - 1, mean 2 (division, or reciprocal and product), eps 1 + 1       = P + 6
    S_RMS    square 1, sum N - 1, underflow 1, mean 2, eps 1 + 1, half of it, root 1       <= N/2 + 4
    o        S, division 1, gamma 1                                                        = S + 2

The accumulation format is fp32 for fp16 and bf16; the result is rounded once more, to the output format (`rounded`).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.measure import DTYPES
from numerics.norms import ACCUMULATION


@dataclass(frozen=True)
class Format:
    """A floating-point format by its short name ("fp16") and its torch dtype."""

    name: str
    dtype: torch.dtype

    @property
    def unit_roundoff(self) -> float:
        """u: half the distance from 1 to the next larger number."""
        return torch.finfo(self.dtype).eps / 2

    @property
    def smallest_normal(self) -> float:
        """lambda: the smallest positive number with full precision."""
        return torch.finfo(self.dtype).smallest_normal

    @property
    def smallest_subnormal(self) -> float:
        """eta = 2 u lambda: the smallest positive number."""
        return self.smallest_normal * torch.finfo(self.dtype).eps

    @property
    def underflow(self) -> float:
        """What bounds count for an operation that may underflow: eta, in fp64 2^-1000.

        The bounds are evaluated in fp64; an eta of fp64 itself would make that slow (subnormal arithmetic) and inexact.
        """
        return max(self.smallest_subnormal, 2.0**-1000)

    @property
    def largest(self) -> float:
        """The largest finite number."""
        return torch.finfo(self.dtype).max

    @property
    def overflow(self) -> float:
        """Where rounding to nearest turns a number into infinity: half a unit above the largest finite one.

        For fp64 that point is no fp64 number, and nothing that fp64 holds lies between; it is infinity there.
        """
        u = self.unit_roundoff
        return self.largest * (1 + u / (2 - 2 * u))

    @property
    def accumulation(self) -> Format:
        """The format the layers compute in for inputs of this one."""
        return next(f for f in FORMATS.values() if f.dtype == ACCUMULATION[self.dtype])


FORMATS = dict(
    zip(
        DTYPES,
        (
            Format("fp16", torch.float16),
            Format("bf16", torch.bfloat16),
            Format("fp32", torch.float32),
            Format("fp64", torch.float64),
        ),
        strict=True,
    )
)
FP64 = FORMATS["fp64"]

MAGNITUDE = 4  # the counts of the table above, each with its spare rounding


def scale_roundings(phasors: int) -> int:
    """Roundings in S over P phasors."""
    return phasors + 7


def rms_roundings(channels: int) -> int:
    """Roundings in S_RMS over N channels."""
    return (channels + 1) // 2 + 5


def roundings(count: int, fmt: Format) -> float:
    """gamma_n = n u / (1 - n u) of a format; ValueError where n u >= 1, as it bounds nothing there."""
    nu = count * fmt.unit_roundoff
    if nu >= 1:
        raise ValueError(f"count is {count}; accepted for {fmt.name}: below {1 / fmt.unit_roundoff:.0f}")
    return nu / (1 - nu)


def check_domain(r: Tensor, fmt: Format) -> None:
    """Raise ValueError where a magnitude lies outside the range in which the bounds here hold."""
    acc = fmt.accumulation
    low, high = (2 * acc.smallest_normal) ** 0.5, acc.largest**0.5 / 2
    bad = (r != 0) & ~((r >= low) & (r <= high))
    if bad.any():
        raise ValueError(f"magnitude {r[bad][0].item():.3g}; accepted in {acc.name}: 0, or {low:.3g} to {high:.3g}")


def magnitude_error(r: Tensor, fmt: Format) -> Tensor:
    """Bound on the error of computed magnitudes r, in the accumulation format of `fmt`."""
    return roundings(MAGNITUDE, fmt.accumulation) * r


def scale_error(scale: Tensor, phasors: int, fmt: Format) -> Tensor:
    """Bound on the error of S (Eq. 1), in the accumulation format of `fmt`."""
    return roundings(scale_roundings(phasors), fmt.accumulation) * scale


def output_error(o: Tensor, gamma: Tensor, phasors: int, fmt: Format) -> Tensor:
    """Bound on the error of o = gamma z / S before its last rounding; shapes broadcast.

    The division may lose eta/2, which gamma then multiplies, and the product another eta/2.
    """
    acc = fmt.accumulation
    relative = roundings(scale_roundings(phasors) + 2, acc)
    return relative * o.abs() + acc.underflow * (gamma.abs() + 1)


def gradient_error(z: Tensor, g: Tensor, gamma: Tensor, scale: Tensor, fmt: Format) -> Tensor:
    """Bound on the error of dL/dz by automatic differentiation of `mrs_norm`, before its last rounding.

    z, g: (T, P, 2); gamma: (P,); scale S: (T, 1); result (T, P, 2); all in fp64. The two terms of
    dL/dz = gamma g/S - u Omega/S are lost separately; A = (1/P) sum |gamma_k g_k zhat_k| over all N components.

        gamma g/S      product 1, division 1 + S, last sum 1                                          = S + 3
        u_c Omega/S    gamma g 1, x/S 1 + S, again /S 1 + S, product 1, sum N - 1, /P 2, times u_c 1,
                       u_c = x/r 1 + 3, last sum 1                                             = 2 S + N + 11

    relative to |gamma g|/S and |u_c| A/S: nothing is assumed about cancellation within Omega. Evaluating Eq. 5 as
    printed, in any order, needs no more, so the same bound in fp64 covers it. Underflow: each product or quotient of
    the table loses eta/2, carried through to the end and doubled for the second-order terms.
    """
    s, phasors = scale.unsqueeze(-1), z.shape[-2]  # (T, 1, 1)
    weighted = (gamma.unsqueeze(-1) * g).abs()
    zhat = (z / s).abs()
    mean_a = (weighted * zhat).sum((-1, -2), keepdim=True) / phasors
    lost = (weighted * (1 / s + 1) + zhat / s + 1).sum((-1, -2), keepdim=True) / phasors
    return _two_terms(weighted, direction(z).abs(), mean_a, lost, s, phasors, fmt)


def own_gradient_error(z: Tensor, v: Tensor, gamma: Tensor, scale: Tensor, phasors: int, fmt: Format) -> Tensor:
    """`gradient_error` at phasor i where the upstream gradient is v there and 0 at all others.

    z_i, v: (T, K, 2), gamma_i: (T, K) or (K,), one chosen phasor in each of K places; scale S: (T, 1). The sums over k
    have one phasor left, and mean |zhat_k| <= 1 bounds what the others lose to underflow.
    """
    s = scale.unsqueeze(-1)  # (T, 1, 1)
    weighted = (gamma.unsqueeze(-1) * v).abs()
    mean_a = (weighted * (z / s).abs()).sum(-1, keepdim=True) / phasors
    lost = weighted.sum(-1, keepdim=True) * (1 / s + 1) / phasors + 2 / s + 2
    return _two_terms(weighted, direction(z).abs(), mean_a, lost, s, phasors, fmt)


def _two_terms(
    weighted: Tensor, u: Tensor, mean_a: Tensor, lost: Tensor, s: Tensor, phasors: int, fmt: Format
) -> Tensor:
    """The bound of `gradient_error` from |gamma g|, |u|, A, what the sum lost to underflow, and S."""
    acc = fmt.accumulation
    direct = roundings(scale_roundings(phasors) + 3, acc) * weighted / s
    interference = roundings(2 * scale_roundings(phasors) + 2 * phasors + 11, acc) * u * mean_a / s
    return direct + interference + acc.underflow * (lost + mean_a / s + 1 / s + 3)


def rms_gradient_error(x: Tensor, g: Tensor, gamma: Tensor, scale: Tensor, fmt: Format) -> Tensor:
    """Bound on the error of dL/dx by automatic differentiation of `rms_norm`, before its last rounding.

    x, g: (T, N); gamma: (N,); scale S_RMS: (T, 1); result (T, N). With B = (1/N) sum |gamma_k g_k xhat_k|,

        gamma g/S      as above                                                                       = S + 3
        xhat Omega/S   gamma g 1, x/S 1 + S, again /S 1 + S, product 1, sum N - 1, root 1 + S, /N 2,
                       times 2x 1, last sum 1                                                  = 3 S + N + 8
    """
    acc, channels = fmt.accumulation, x.shape[-1]
    weighted = (gamma * g).abs()
    xhat = (x / scale).abs()
    mean_b = (weighted * xhat).sum(-1, keepdim=True) / channels / scale  # B / S
    n_direct = rms_roundings(channels) + 3
    n_interference = 3 * rms_roundings(channels) + channels + 8
    relative = roundings(n_direct, acc) * weighted / scale + roundings(n_interference, acc) * xhat * mean_b
    lost = (weighted * (1 / scale + 1) + xhat / scale + 1).sum(-1, keepdim=True) / channels
    return relative + acc.underflow * (xhat * lost + 3 * x.abs() + 1 / scale + 2)


def direction(z: Tensor) -> Tensor:
    """u = z / |z| in the dtype of z, and 0 where z is: the subgradient the layers use. (..., 2) -> (..., 2)."""
    r = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
    return torch.where(r > 0, z / r, torch.zeros_like(z))


def rounded(error: Tensor, exact: Tensor, fmt: Format) -> Tensor:
    """The bound after the result is rounded to `fmt`: error + max(u (|exact| + error), eta/2).

    Nothing is added where the layers compute in `fmt` already.
    """
    if fmt == fmt.accumulation:
        return error
    half = (fmt.unit_roundoff * (exact.abs() + error)).clamp_min(fmt.underflow / 2)
    return error + half


def settle_overflow(measured: Tensor, exact: Tensor, error: Tensor, fmt: Format) -> tuple[Tensor, Tensor]:
    """Measured results in fp64 with every *correct* infinity replaced by the exact value, and a mask of those.

    An infinity is correct where the exact value, within `error` (the bound before the last rounding), lies beyond the
    point where `fmt` rounds to infinity, and has its sign. A finite number there, with the whole interval beyond that
    point, becomes infinite: it should have overflowed. Everything else stays.
    """
    measured = measured.double()
    may = (exact.abs() + error >= fmt.overflow) & (measured == torch.copysign(torch.full_like(exact, torch.inf), exact))
    missed = (exact.abs() - error >= fmt.overflow) & measured.isfinite()
    settled = torch.where(may, exact, measured)
    return torch.where(missed, torch.full_like(measured, torch.inf), settled), may
