"""Counting roundings: gamma_n, sums as PyTorch adds them, the scales, and the domain in which the counts hold.

Standard model (Higham, Accuracy and Stability of Numerical Algorithms, section 2.2): an operation gives the exact
result times (1 + d), |d| <= u, plus e, |e| <= eta/2, where e is 0 for sums and differences. u is the unit roundoff,
eta the smallest subnormal. A product of n factors (1 + d)^(+-1) lies within gamma_n = n u / (1 - n u) of 1 (lemma 3.1),
so roundings are *counted*, numerator and denominator alike. A sum counts the longest way of a term through its tree
(section 4.2). Each count has one rounding more than derived: it pays for evaluating the bound itself, in fp64.

    r        squares 1, their sum 1, underflow 1, half of it under the root, root 1        <= 3
    S        r 3, sum n, mean 2 (division, or reciprocal and product), eps 1 + 1           = n + 7
    S_RMS    square 1, sum n, underflow 1, mean 2, eps 1 + 1, half of it, root 1           <= n/2 + 4

Sums. In any order a term of P meets at most P - 1 roundings, which for long rows bounds what never happens: PyTorch
adds by blocks. On the CPU (the cascade of `aten/src/ATen/native/cpu/SumKernel.cpp`) a term goes through four levels of
at most L = 2^max(4, log2(P)/4) terms each, the last one excepted; a contiguous row is first dealt out to the lanes of a
vector and to four accumulators of it. On CUDA (`Reduce.cuh`) a thread adds every 512th group of four, the threads by a
tree. `sum_roundings` is the longest way over these layouts, for vectors of 1 to 16 lanes. That PyTorch does so is an
assumption; the tests measure the tree of the installed one. For other code there is `Format.summed_in_any_order`.
"""

from __future__ import annotations

from torch import Tensor

from numerics.rounding.formats import Format

MAGNITUDE = 4  # r of the table above, with its spare rounding
LANES = (1, 2, 4, 8, 16)  # numbers in a vector register, from none at all to fp32 in 512 bits
ACCUMULATORS = 4  # partial sums a row is dealt out to, in every lane
THREADS = 512  # of a CUDA block along a row


def roundings(count: int, fmt: Format) -> float:
    """gamma_n = n u / (1 - n u) of a format; ValueError where n u >= 1, as it bounds nothing there."""
    nu = count * fmt.unit_roundoff
    if nu >= 1:
        raise ValueError(f"count is {count}; accepted for {fmt.name}: below {1 / fmt.unit_roundoff:.0f}")
    return nu / (1 - nu)


def _cascade(terms: int) -> int:
    """Roundings on the longest way through the four levels of PyTorch's cascade."""
    length = 2 ** max(4, (max(terms, 1) - 1).bit_length() // 4)
    blocks = [terms // length**level for level in range(4)]
    return max(min(blocks[0], length) - 1, 0) + min(blocks[1], length) + min(blocks[2], length) + blocks[3]


def _dealt_out(terms: int, lanes: int) -> int:
    """Roundings where a row is dealt out to lanes and accumulators: cascade, remainder, accumulators, lanes."""
    return _cascade(terms // (lanes * ACCUMULATORS)) + 2 * (ACCUMULATORS - 1) + 2 * lanes - 1


def sum_roundings(terms: int, any_order: bool = False) -> int:
    """Roundings that a term meets in a sum of so many: as PyTorch adds them, or in any order."""
    if any_order:
        return max(terms - 1, 0)
    blocks = -(-terms // (THREADS * ACCUMULATORS)) + ACCUMULATORS + THREADS.bit_length()
    ways = (_cascade(terms), blocks, *(_dealt_out(terms, lanes) for lanes in LANES))
    return min(max(terms - 1, 0), max(ways))


def pair_sum_roundings(phasors: int, any_order: bool = False) -> int:
    """Roundings in a sum over all 2 P channels, at once or of each pair first."""
    return max(sum_roundings(2 * phasors, any_order), 1 + sum_roundings(phasors, any_order))


def scale_roundings(phasors: int, fmt: Format | None = None) -> int:
    """Roundings in S over P phasors, added as in `fmt`, or as PyTorch does."""
    return _summed(phasors, fmt) + 8


def rms_roundings(channels: int, fmt: Format | None = None) -> int:
    """Roundings in S_RMS over N channels, and in the scale of Eq. 11 over N/2 phasors, where N is even."""
    terms = _summed(channels, fmt)
    if channels % 2 == 0:
        terms = pair_sum_roundings(channels // 2, fmt is not None and fmt.any_order)
    return (terms + 7) // 2 + 2


def _summed(terms: int, fmt: Format | None) -> int:
    return sum_roundings(terms, fmt is not None and fmt.any_order)


def domain(phasors: int, fmt: Format) -> tuple[float, float]:
    """The smallest and the largest magnitude, apart from 0, of rows of P phasors for which the bounds here hold.

    sqrt(4 P lambda) and sqrt(max / P) / 2, lambda being the smallest normal number of the accumulation: no sum of
    squares overflows there, a mean of squares is a normal number, and both squares' underflow, at most
    eta = 2 u lambda <= u r^2, counts as one rounding. Nor may a product of gamma, g and the sizes of a whole row
    overflow, which nothing here looks at.
    """
    acc = fmt.accumulation
    return (4 * phasors * acc.smallest_normal) ** 0.5, (acc.largest / phasors) ** 0.5 / 2


def check_domain(r: Tensor, fmt: Format) -> None:
    """Raise ValueError where a magnitude of rows r (..., P) is outside `domain`, and not 0."""
    low, high = domain(max(r.shape[-1], 1), fmt)
    bad = (r != 0) & ~((r >= low) & (r <= high))
    if bad.any():
        name = fmt.accumulation.name
        raise ValueError(f"magnitude {r[bad][0].item():.3g}; accepted in {name}: 0, or {low:.3g} to {high:.3g}")
