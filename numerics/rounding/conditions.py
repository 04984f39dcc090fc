"""Condition numbers: by how much cancellation enlarges what rounding loses, relative to the result.

A sum of terms t_k that are known to a relative error of d each is known to d sum |t_k| / |sum t_k|. The bounds of this
package are relative to sum |t_k|, so that they hold under any cancellation; dividing by |sum t_k| gives the relative
error, count times unit roundoff times the condition number.
"""

from __future__ import annotations

import torch
from torch import Tensor


def condition(terms: Tensor) -> Tensor:
    """sum |t| / |sum t| over the last axis: at least 1, infinite where the terms cancel, 1 where all of them are 0.

    Evaluated in fp64, it may be off by gamma_(2 n) of itself times the result.
    """
    size, total = terms.abs().sum(-1), terms.sum(-1).abs()
    return torch.where(size == 0, torch.ones_like(size), size / total)


def omega_condition(zhat: Tensor, g: Tensor, gamma: Tensor) -> Tensor:
    """Of Omega = (1/P) sum gamma_k g_k . zhat_k (Eq. 5) in all its N terms: (T, P, 2), (T, P, 2), (P,) -> (T,)."""
    return condition((gamma.unsqueeze(-1) * g * zhat).flatten(-2))


def score_condition(q: Tensor, k: Tensor) -> Tensor:
    """Of the score q . k, whatever its scales: (T, d), (T, d) -> (T,)."""
    return condition(q.double() * k.double())
