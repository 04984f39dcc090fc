"""soft-constraint measured: what dividing by one scale keeps, and what it forces.

As printed (and meant against a projection of each block), the blocks keep their magnitudes relative to each other:
|qhat_i| = r_i / S with one S for all, Eq. 11's. Two further statements say that the constraint on the whole vector is a
hard one: at eps = 0, sum |qhat_k|^2 = d/2 with Eq. 11, and the mean of the |qhat_k| is 1 with Eq. 1.

Each component of qhat has S + 1 roundings in the accumulation format (u) and one in the format of the vector (v, none
where they are the same); a quotient that underflows is off by at most eta_v. So with rho = gamma_{S+1}(u) + gamma_1(v)
(and their product), and n roundings in fp64 for what is evaluated there,

    | |qhat_i| - r_i/S |           <=  (rho + gamma_n) r_i/S + sqrt(2) eta_v
    | sum |qhat_k|^2 - P |         <=  (2 rho + rho^2 + gamma_n) P + eta_v sum_c (2 |qhat_c| + eta_v)
    | mean |qhat_k| - 1 |          <=  rho + gamma_n + sqrt(2) eta_v.

Source: MRSNorm paper, appendix A.2, after Eq. 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from numerics.attention_scores import MEAN, ROOT_MEAN_SQUARE, Definition, format_of, normalized
from numerics.inputs import formats
from numerics.logit_bounds import SMALL_EPS, WIDTHS, over, sampled
from numerics.measure import Measurement, Settings
from numerics.norms import magnitudes
from numerics.query_keys import scenario_pairs
from numerics.rounding import FP64, roundings

SLUG = "soft-constraint"


def printed(r: Tensor, scale: Tensor) -> Tensor:
    """|qhat_i| for all blocks, divided by one scale: (T, P), (T, 1) -> (T, P)."""
    return r / scale


MUTANTS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "each block on its own circle": lambda r, scale: (r > 0).double(),
    "the scale squared": lambda r, scale: r / scale.square(),
    "not divided": lambda r, scale: r,
    "the largest block": lambda r, scale: r / r.amax(-1, keepdim=True),
    "NaN": lambda r, scale: r * math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """On vectors of every scenario, for d in 2 and `WIDTHS`."""
    cases = (
        ("as printed", (0.0, SMALL_EPS, 0.125), f"eps = 0, {SMALL_EPS:g} and 1/8", _blocks),
        ("Eq. 11 is the L2 projection of the whole vector", (0.0,), "eps = 0", _sphere),
        ("Eq. 1 is a projection as well", (0.0,), "eps = 0", _mean),
    )
    for fmt in formats(settings):
        for statement, epsilons, part, ratio in cases:
            for d in (2, *WIDTHS):
                pairs = scenario_pairs(SLUG, fmt, d // 2, settings, relations=("independent",))
                scope = f"d = {d}, {part}, every scenario"
                yield sampled(settings, fmt, pairs, ratio, statement=statement, scope=scope, epsilons=epsilons)


def _relative(q: Tensor, definition: Definition) -> tuple[float, float, float]:
    """rho, gamma_n in fp64, and eta_v."""
    fmt, phasors = format_of(q), q.shape[-1] // 2
    rho = roundings(definition.roundings(phasors) + 1, fmt.accumulation)
    if fmt != fmt.accumulation:
        store = roundings(1, fmt)
        rho += store + rho * store
    return rho, roundings(definition.roundings(phasors) + 4 * phasors + 16, FP64), fmt.smallest_subnormal


def _blocks(q: Tensor, k: Tensor, eps: float) -> Tensor:
    rho, evaluation, eta = _relative(q, ROOT_MEAN_SQUARE)
    wide = q.double()
    exact = magnitudes(wide) / ROOT_MEAN_SQUARE.scale(wide, eps)
    found = magnitudes(normalized(q, ROOT_MEAN_SQUARE, eps).double())
    stated = printed(magnitudes(wide), ROOT_MEAN_SQUARE.scale(wide, eps))
    return over((found - stated).abs(), (rho + evaluation) * exact + math.sqrt(2) * eta).amax(-1)


def _sphere(q: Tensor, k: Tensor, eps: float) -> Tensor:
    rho, evaluation, eta = _relative(q, ROOT_MEAN_SQUARE)
    found, phasors = normalized(q, ROOT_MEAN_SQUARE, eps).double(), q.shape[-1] // 2
    bound = (2 * rho + rho**2 + evaluation) * phasors + eta * (2 * found.abs() + eta).sum(-1)
    return over((found.square().sum(-1) - phasors).abs(), bound)


def _mean(q: Tensor, k: Tensor, eps: float) -> Tensor:
    rho, evaluation, eta = _relative(q, MEAN)
    found = magnitudes(normalized(q, MEAN, eps).double()).mean(-1)
    return over((found - 1).abs(), torch.full_like(found, rho + evaluation + math.sqrt(2) * eta))
