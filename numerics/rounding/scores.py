"""Bounds on attention scores of normalized queries and keys.

As in attention kernels, the layer's output is stored in the format of its input (one rounding, v, for fp16 and bf16)
and logits are multiplied, summed and kept in the accumulation format (u). q_c / S_q has S + 1 and one in v, the same
for k, a product 1 and a sum of n. So

    |score - exact| <= ((1 + gamma_m(u)) (1 + gamma_2(v)) - 1) A + underflow,   m = 2 S + 2 + 1 + n,
    A = sum_c |q_c k_c| / (S_q S_k) <= sum_i W_i,

the sum being one of d terms for the score, of 2 for one P_i. A quotient that underflows is off by at most
eta_u/2 + eta_v/2 <= eta_v, which the other factor multiplies, and a product by eta_u:
sum_c eta_v (|qhat_c| + |khat_c| + eta_v) + eta_u.
"""

from __future__ import annotations

from torch import Tensor

from numerics.rounding.counts import roundings, sum_roundings
from numerics.rounding.formats import Format


def score_error(q_hat: Tensor, k_hat: Tensor, scale: int, fmt: Format) -> Tensor:
    """Bound on the error of q_hat . k_hat over the last axis, for a scale of so many roundings: (..., n) -> (...).

    q_hat = q / S_q and k_hat = k / S_k in fp64; `scale` counts the spare rounding of each of the two.
    """
    q_hat, k_hat = q_hat.abs(), k_hat.abs()
    work = roundings(2 * scale + 3 + sum_roundings(q_hat.shape[-1], fmt.any_order), fmt.accumulation)
    store = 0.0 if fmt.accumulates_in_itself else roundings(2, fmt)
    relative = work + store + work * store
    eta = fmt.underflow
    lost = eta * (q_hat + k_hat + eta) + fmt.accumulation.underflow
    return relative * (q_hat * k_hat).sum(-1) + lost.sum(-1)
