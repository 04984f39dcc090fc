"""Backward bounds: the input gradients of MRSNorm and RMSNorm as `numerics.norms` computes them, before storing.

Counted as in `numerics.rounding.counts`, in the accumulation format; all arguments in fp64. The two terms of a gradient
are lost separately, relative to the sizes of what is added, so that nothing is assumed about cancellation. With v = 1/S
(S + 1), a = gamma g (1) and W = (sum a x) v / P, and A = (1/P) sum |gamma_k g_k zhat_k| over all N components:

    (a - u W) v    a v     a 1, difference 1, v S + 1, product 1                                        = S + 4
                   W       a 1, product 1, sum n, v S + 1, product 1, quotient 1                        = S + n + 5
                   u       r 3, reciprocal 1, product 1                                                 = 5
                   u W v   u, W, product 1, difference 1, v S + 1, product 1                            = 2 S + n + 14

relative to |gamma g|/S and |u_c| A/S. Evaluating Eq. 5 as printed needs no more, so the same bound in fp64 covers it.
Underflow: a, a x, the product with v, the quotient, u, u W and the last product lose eta/2 each; carried through to the
end, with sum |x_c| <= 2 P S, and doubled for the second-order terms, that is
eta (1 + (2 + A + |u| (4 + 2/S)) / S).
"""

from __future__ import annotations

import torch
from torch import Tensor

from numerics.phasor_math import length, times
from numerics.rounding.counts import pair_sum_roundings, rms_roundings, roundings, scale_roundings, sum_roundings
from numerics.rounding.formats import Format


def gradient_error(z: Tensor, g: Tensor, gamma: Tensor, scale: Tensor, fmt: Format) -> Tensor:
    """Bound on the error of dL/dz of MRSNorm.

    z, g: (T, P, 2); gamma: (P,); scale S: (T, 1); result (T, P, 2).
    """
    (bound,) = gradient_errors(z, g, gamma, scale, fmt)
    return bound


def gradient_errors(z: Tensor, g: Tensor, gamma: Tensor, scale: Tensor, *formats: Format) -> list[Tensor]:
    """`gradient_error` in several formats, each computed once, and so is what does not depend on the format."""
    s, phasors = scale.unsqueeze(-1), z.shape[-2]  # (T, 1, 1)
    weighted = times(g, gamma).abs_()
    mean_a = (weighted * z.abs()).sum((-1, -2), keepdim=True) / s / phasors
    r = length(z)
    u = times(z, torch.where(r > 0, 1 / r, 0.0)).abs_()
    once = tuple(dict.fromkeys(formats))
    terms = [pair_sum_roundings(phasors, fmt.any_order) for fmt in once]
    bounds = dict(zip(once, _two_terms(weighted, u, mean_a, s, phasors, terms, once), strict=True))
    return [bounds[fmt] for fmt in formats]


def own_gradient_error(z: Tensor, v: Tensor, gamma: Tensor, scale: Tensor, phasors: int, fmt: Format) -> Tensor:
    """`gradient_error` at phasor i where the upstream gradient is v there and 0 at all others.

    z_i, v: (T, K, 2), gamma_i: (T, K) or (K,), one chosen phasor in each of K places; scale S: (T, 1). The sum over k
    has the two terms of one phasor left: adding 0 loses nothing.
    """
    s = scale.unsqueeze(-1)  # (T, 1, 1)
    weighted = (gamma.unsqueeze(-1) * v).abs()
    mean_a = (weighted * (z / s).abs()).sum(-1, keepdim=True) / phasors
    (bound,) = _two_terms(weighted, direction(z).abs(), mean_a, s, phasors, [1], (fmt,))
    return bound


def _two_terms(
    weighted: Tensor, u: Tensor, mean_a: Tensor, s: Tensor, phasors: int, terms: list[int], formats: tuple[Format, ...]
) -> list[Tensor]:
    """The bound of `gradient_error` from |gamma g|, |u|, A, S, and the roundings in the sum over k, in each format.

    direct |gamma g|/S + interference |u| A/S + eta (1 + (2 + A)/S + |u| (4 + 2/S)/S), by powers of |u|.
    """
    bounds = []
    for fmt, sum_over_k in zip(formats, terms, strict=True):
        acc, count = fmt.accumulation, scale_roundings(phasors, fmt)
        direct = roundings(count + 4, acc)
        interference = roundings(2 * count + sum_over_k + 14, acc)
        with_u = (interference * mean_a + acc.underflow * (4 + 2 / s)) / s
        without = acc.underflow * (1 + (2 + mean_a) / s)
        bounds.append((weighted * (direct / s)).add_(u * with_u).add_(without))
    return bounds


def rms_gradient_error(x: Tensor, g: Tensor, gamma: Tensor, scale: Tensor, fmt: Format) -> Tensor:
    """Bound on the error of dL/dx of RMSNorm.

    x, g: (T, N); gamma: (N,); scale S_RMS: (T, 1); result (T, N). As above, with xhat = x v (S + 2) in place of u:

        (a - xhat W) v    a v         S + 4
                          xhat W v    xhat, W, product 1, difference 1, v S + 1, product 1            = 3 S + n + 11

    relative to |gamma g|/S and |xhat_c| B/S, B = (1/N) sum |gamma_k g_k xhat_k|; underflow
    eta (1 + (2 + B + |xhat| (3 + 1/S)) / S), as sum |xhat| <= N.
    """
    acc, channels = fmt.accumulation, x.shape[-1]
    count, terms = rms_roundings(channels, fmt), sum_roundings(channels, fmt.any_order)
    weighted, xhat = (gamma * g).abs(), (x / scale).abs()
    mean_b = (weighted * xhat).sum(-1, keepdim=True) / channels
    direct = roundings(count + 4, acc) * weighted / scale
    interference = roundings(3 * count + terms + 11, acc) * xhat * mean_b / scale
    return direct + interference + acc.underflow * (1 + (2 + mean_b + xhat * (3 + 1 / scale)) / scale)


def direction(z: Tensor) -> Tensor:
    """u = z / |z| in the dtype of z, and 0 where z is: the subgradient the layers use. (..., 2) -> (..., 2)."""
    r = length(z)
    return torch.where(r > 0, z.movedim(-1, 0) / r, 0.0).movedim(0, -1)
