"""The normalizers, as symbolic expressions in a vector of P phasors or N channels.

| name | scale | source |
|---|---|---|
| `mean_magnitude(z)` | S = (1/P) sum r_k + eps | MRSNorm, section 3, Eq. 1 |
| `rms_magnitude(q)` | S = sqrt((1/P) sum r_k^2 + eps) | MRSNorm, appendix A, Eq. 11 |
| `root_mean_square(x)` | S = sqrt((1/N) sum x_k^2 + eps) | RMSNorm, as in Eq. 4 |
"""

from __future__ import annotations

import sympy as sp
from sympy.tensor.indexed import IndexedBase

from theory.phasors import N, P, VectorFamily, eps, gamma, index_sum


def mean_magnitude(family: VectorFamily, offset: sp.Expr = eps) -> sp.Expr:
    """Eq. 1: the mean of the phasor magnitudes plus eps."""
    return index_sum(lambda k: family.r[k]) / P + offset


def rms_magnitude(family: VectorFamily, offset: sp.Expr = eps) -> sp.Expr:
    """Eq. 11: the root mean square of the phasor magnitudes, eps inside the root."""
    return sp.sqrt(index_sum(lambda k: family.r[k] ** 2) / P + offset)


def root_mean_square(channels: IndexedBase, offset: sp.Expr = eps) -> sp.Expr:
    """RMSNorm's scale over N scalar channels, eps inside the root."""
    return sp.sqrt(index_sum(lambda k: channels[k] ** 2, N) / N + offset)


def loss(family: VectorFamily, upstream: VectorFamily, scale: sp.Expr, weight: IndexedBase = gamma) -> sp.Expr:
    """A loss with dL/do_k = g_k: L = sum_k g_k . o_k with o_k = gamma_k z_k / S (Eq. 2)."""
    return index_sum(lambda k: weight[k] * upstream[k].dot(family[k])) / scale


def score(queries: VectorFamily, keys: VectorFamily, query_scale: sp.Expr, key_scale: sp.Expr) -> sp.Expr:
    """The attention score of Eq. 12: sum_k q_k . k_k / (S_q S_k)."""
    return index_sum(lambda k: queries[k].dot(keys[k])) / (query_scale * key_scale)
