"""Pairs of adjacent channels, computed in the way that each place is fast at. All of them give the same numbers.

Reading every second channel defeats vector units. Where a loop is generated (`torch.compile`), the two channels of a
pair are two contiguous reads, one of them shifted by a channel: with p_c = x_c^2 + x_(c+1)^2, the pair's squared
magnitude is p_c at an even c and p_(c-1) at an odd one. The first and the last channel are computed apart from those
between, so that no read leaves the row and none needs a mask. Where PyTorch's own kernels run, on contiguous memory of
a CPU, a pair of channels is a complex number, and its product with a real number is vectorized.

`realized` keeps the compiler from computing a row of constants (weights by channel, parity of a channel) anew, by a
slow access of its own, in every row.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor


def contiguous_reads(x: Tensor) -> bool:
    """Whether shifted reads are to be used: code is being generated, for at least two pairs of channels."""
    return torch.compiler.is_compiling() and x.shape[-1] >= 4


def realized(row: Tensor) -> Tensor:
    """The same values, held in memory of their own where code is generated."""
    return row.contiguous().as_strided(row.shape, row.contiguous().stride()) if torch.compiler.is_compiling() else row


def by_channel(per_pair: Tensor) -> Tensor:
    """Each pair's number for both of its channels: (..., P) -> (..., N)."""
    return realized(per_pair.repeat_interleave(2, dim=-1))


def _even(n: int, x: Tensor) -> Tensor:
    """Whether a channel is the first of its pair: (n,). Compared as floats, which is the fast comparison."""
    return realized((torch.arange(n, device=x.device) % 2).to(x.dtype)) == 0


def _neighbours(x: Tensor) -> Tensor:
    """p_c = x_c^2 + x_(c+1)^2: (..., N) -> (..., N - 1)."""
    squares = x * x
    return squares[..., :-1] + squares[..., 1:]


def total_magnitude(x: Tensor, dims: tuple[int, ...]) -> Tensor:
    """The sum of sqrt(x_2i^2 + x_(2i+1)^2) over the pairs of the last dimension and over the other `dims`, kept."""
    if contiguous_reads(x):
        r = _neighbours(x).sqrt()
        return torch.where(_even(x.shape[-1] - 1, x), r, 0.0).sum(dims, keepdim=True)
    return pair_magnitudes(x).sum(dims, keepdim=True)


def pair_magnitudes(x: Tensor) -> Tensor:
    """sqrt(x_2i^2 + x_(2i+1)^2): (..., N) -> (..., P)."""
    squares = x * x
    return (squares[..., 0::2] + squares[..., 1::2]).sqrt()


def floor(dtype: torch.dtype) -> float:
    """sqrt(lambda), lambda the smallest normal number: below it a magnitude's square has lost its precision."""
    return torch.finfo(dtype).smallest_normal ** 0.5


def along_pairs(finish: Callable[[Tensor, Tensor], Tensor], x: Tensor, other: Tensor) -> Tensor:
    """finish(u, other), channel by channel, with u_c = x_c (1 / max(r_i, floor)), so 0 at a zero phasor.

    x and other are (..., N); `finish` keeps the last dimension. It is called on all channels, or on the first, the last
    and those between.
    """
    if contiguous_reads(x):
        p, parity = _neighbours(x), _even(x.shape[-1], x)[1:-1]
        middle = torch.where(parity, p[..., 1:], p[..., :-1])
        squares, places = (p[..., :1], middle, p[..., -1:]), (slice(0, 1), slice(1, -1), slice(-1, None))
        return torch.cat(
            [
                finish(x[..., place] * floored(s.sqrt()).reciprocal(), other[..., place])
                for s, place in zip(squares, places, strict=True)
            ],
            dim=-1,
        )
    return finish(scaled_pairs(x, floored(pair_magnitudes(x)).reciprocal()), other)


def floored(r: Tensor) -> Tensor:
    """Magnitudes, at least `floor`."""
    return r.clamp_min(floor(r.dtype))


def scaled_pairs(x: Tensor, factor: Tensor) -> Tensor:
    """x_c k_i for both channels of pair i: (..., N), (..., P) -> (..., N)."""
    pairs = x.unflatten(-1, (-1, 2))
    if x.device.type == "cpu" and x.is_contiguous() and not torch.compiler.is_compiling():
        return torch.view_as_real(torch.view_as_complex(pairs) * factor).flatten(-2)
    return (pairs * factor.unsqueeze(-1)).flatten(-2)


def over_pairs(per_channel: Tensor) -> Tensor:
    """The sum of both channels of each pair: (..., N) -> (..., P)."""
    row = realized(per_channel)
    return row[..., 0::2] + row[..., 1::2]
