"""Attention scores of normalized queries and keys.

With q_i, k_i the i-th phasors of a query and a key of width d = 2P, W_i = r_{q,i} r_{k,i} / (S_q S_k) and
P_i = q_i . k_i / (S_q S_k), the score is sum_i P_i (MRSNorm paper, section 5.3 and appendix A, Eqs. 9-15). The paper
gives S twice, as the mean of the magnitudes (Eq. 1) and as their root mean square (Eq. 11): `MEAN` and
`ROOT_MEAN_SQUARE`. `SCALAR_RMS` is the scale of QK-RMSNorm.

What rounding can do to them is derived in `numerics.rounding.scores`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics import rounding
from numerics.norms import (
    magnitudes,
    mrs_norm,
    mrs_scale,
    phasor_rms_norm,
    phasor_rms_scale,
    rms_norm,
    rms_scale,
)
from numerics.rounding import FORMATS, FP64, MAGNITUDE, Format, rms_roundings, roundings, scale_roundings


@dataclass(frozen=True)
class Definition:
    """One way to define S: its name, the scale (x, eps) -> (..., 1), the roundings in it over P phasors, and the layer.

    Where there is a layer (x, None, eps) -> x / S, it computes S by a sequence of its own, with as many roundings.
    """

    name: str
    scale: Callable[[Tensor, float], Tensor]
    roundings: Callable[[int], int]
    norm: Callable[[Tensor, None, float], Tensor] | None = None


def _rms_roundings(phasors: int) -> int:
    return rms_roundings(2 * phasors)


MEAN = Definition("Eq. 1", mrs_scale, scale_roundings, mrs_norm)
ROOT_MEAN_SQUARE = Definition("Eq. 11", phasor_rms_scale, _rms_roundings, phasor_rms_norm)
SCALAR_RMS = Definition("QK-RMSNorm", rms_scale, _rms_roundings, rms_norm)


def format_of(x: Tensor) -> Format:
    """The format of a tensor; KeyError for a dtype that is none of the four."""
    return {fmt.dtype: fmt for fmt in FORMATS.values()}[x.dtype]


def normalized(x: Tensor, definition: Definition, eps: float) -> Tensor:
    """x / S: (..., d) -> (..., d), computed in the accumulation format and stored in the format of x."""
    if definition.norm is not None:
        return definition.norm(x, None, eps)
    return (x.to(format_of(x).accumulation.dtype) / definition.scale(x, eps)).to(x.dtype)


def block_scores(q: Tensor, k: Tensor, definition: Definition, eps: float) -> Tensor:
    """P_i, the score of each phasor (Eq. 15): (..., d) -> (..., P), in the accumulation format."""
    return _products(q, k, definition, eps).unflatten(-1, (-1, 2)).sum(-1)


def score(q: Tensor, k: Tensor, definition: Definition, eps: float) -> Tensor:
    """The logit before any temperature (Eq. 12): (..., d) -> (...), in the accumulation format."""
    return _products(q, k, definition, eps).sum(-1)


def _products(q: Tensor, k: Tensor, definition: Definition, eps: float) -> Tensor:
    acc = format_of(q).accumulation.dtype
    return normalized(q, definition, eps).to(acc) * normalized(k, definition, eps).to(acc)


def block_score_error(q: Tensor, k: Tensor, definition: Definition, eps: float) -> Tensor:
    """Bound on the error of `block_scores` for these q, k: (..., d) -> (..., P), in fp64."""
    q_hat, k_hat = (normalized(x.double(), definition, eps).unflatten(-1, (-1, 2)) for x in (q, k))
    return rounding.score_error(q_hat, k_hat, definition.roundings(q.shape[-1] // 2), format_of(q))


def score_error(q: Tensor, k: Tensor, definition: Definition, eps: float) -> Tensor:
    """Bound on the error of `score` for these q, k: (..., d) -> (...), in fp64."""
    q_hat, k_hat = (normalized(x.double(), definition, eps) for x in (q, k))
    return rounding.score_error(q_hat, k_hat, definition.roundings(q.shape[-1] // 2), format_of(q))


def polar(x: Tensor) -> tuple[Tensor, Tensor]:
    """Magnitudes and angles of the phasors (Eq. 10): (..., d) -> two of (..., P), in fp64; the angle of 0 is 0."""
    z = x.double().unflatten(-1, (-1, 2))
    return magnitudes(x.double()), torch.atan2(z[..., 1], z[..., 0])


def weights(q: Tensor, k: Tensor, definition: Definition, eps: float) -> Tensor:
    """W_i (Eq. 14): (..., d) -> (..., P), in fp64; relative error at most `weight_error`."""
    q, k = q.double(), k.double()
    return magnitudes(q) * magnitudes(k) / (definition.scale(q, eps) * definition.scale(k, eps))


def weight_error(definition: Definition, phasors: int) -> float:
    """Relative rounding error of W_i in fp64: two magnitudes, two scales, two products and a quotient."""
    return roundings(2 * MAGNITUDE + 2 * definition.roundings(phasors) + 3, FP64)
