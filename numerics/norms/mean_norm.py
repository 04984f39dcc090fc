"""MRSNorm with Eq. 5 for its backward pass, as an autograd function that saves x, gamma and S.

Sequence of operations (the error bounds count these; `A` is the accumulation dtype, fp32 for fp16, bf16 and fp32, else
fp64; every operation named is rounded once in A, in this order, on every path):

    forward     X   = x in A                                    exact
                r_i = sqrt(X_2i X_2i + X_2i+1 X_2i+1)           two products, sum, root
                S   = (sum_i r_i) / P + eps                     P - 1 sums in any order, quotient by P, sum
                o_c = (X_c / S) gamma_i                         quotient, product; then rounded once to the dtype of x
    backward    v   = 1 / S                                     quotient
                a_c = gamma_i g_c                               product (gamma and g in A; without gamma: a = g)
                W   = ((sum_c a_c X_c) v) / P (Omega)           product, N - 1 sums in any order, product, quotient
                u_c = X_c (1 / max(r_i, sqrt(lambda)))          r as above, quotient, product
                dx_c = (a_c - u_c W) v                          product, difference, product; rounded once to dtype of x
                dgamma_i = sum_rows sum_(c in i) g_c (X_c v)    product, product, sums in any order; rounded once to the
                                                                dtype of gamma

lambda is the smallest normal number of A. So u is 0 at a zero phasor, whatever g is, and its size is at most 1 (up to
rounding) where r_i is below sqrt(lambda), 1e-19 in fp32: there the square of r_i has lost its precision.

With `safe`, b_i is the power of two below the larger |X_c| of a phasor, R that below the largest |X_c| of the row, or
below eps if that is larger (`powers`). Then

    r'_i = |z_i / b_i|,  X' = X / R,  S' = (sum_i r'_i (b_i / R)) / P + eps / R,  o_c = (X'_c / S') gamma_i,
    v = 1 / S',  W = ((sum_c a_c X'_c) v) / P,  u_c = (X_c / b_i) (1 / r'_i),  dx_c = ((a_c - u_c W) v) / R

in the same order otherwise; quotients by a power of two are exact where they do not underflow. S' and R are saved.

Double backward: with v the upstream gradient of dx, w that of dgamma, by row,

    L = (q + e)/S - n m/S^2,  q = sum v a,  e = sum w g x,  n = sum v u,  m = (1/P) sum a x

is differentiated by hand and made of PyTorch operations, so that it can be differentiated again; 1/r_i counts as 0 at
a zero phasor. It is not scaled: with `safe`, second derivatives may still overflow where squares do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from numerics.norms import pairs
from numerics.norms.batching import batched, unbatched
from numerics.norms.blocks import in_blocks, over_blocks
from numerics.norms.checks import ACCUMULATION
from numerics.norms.powers import power_below, row_power
from numerics.norms.rule import Rule
from numerics.norms.scales import magnitudes
from numerics.norms.weights import averaged, by_channel, summed_to, wide

Finish = Callable[[Tensor, Tensor], Tensor]


def _forward(x: Tensor, gamma: Tensor | None, rule: Rule) -> tuple[Tensor, Tensor]:
    """o, not rounded yet, and S, or S' beside R; gamma by channel."""
    x, count = wide(x), averaged(x, rule.dims, 2)
    if rule.safe:
        row = row_power(x, rule.eps, rule.dims)
        own, r = _own_scaled(x)[1:]
        scale = (r * (own / row)).sum(rule.dims, keepdim=True) / count + rule.eps / row
        x, saved = x / row, torch.cat((scale, row), dim=-1)
    else:
        saved = scale = pairs.total_magnitude(x, rule.dims) / count + rule.eps
    o = x / scale
    return o if gamma is None else o * gamma, saved


def _own_scaled(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """z_i / b_i (..., N), b_i and r'_i (..., P)."""
    own = power_below(x.abs().unflatten(-1, (-1, 2)).amax(-1))
    scaled = x / pairs.by_channel(own)
    return scaled, own, pairs.pair_magnitudes(scaled)


def _backward(x: Tensor, gamma: Tensor | None, saved: Tensor, g: Tensor, rule: Rule) -> tuple[Tensor, Tensor]:
    """dx, rounded, and g X / S, whose sums are dgamma."""
    dtype, x, g = x.dtype, wide(x), wide(g)
    row = saved[..., 1:] if rule.safe else None
    scaled = x / row if rule.safe else x
    inverse = saved[..., :1].reciprocal()
    a = g if gamma is None else gamma * g
    omega = (a * scaled).sum(rule.dims, keepdim=True) * inverse / averaged(x, rule.dims, 2)

    def finish(u: Tensor, a: Tensor) -> Tensor:
        dx = (a - u * omega) * inverse
        return (dx if row is None else dx / row).to(dtype)

    return _along_directions(finish, x, a, rule), g * (scaled * inverse)


def _along_directions(finish: Finish, x: Tensor, a: Tensor, rule: Rule) -> Tensor:
    """finish(u, a)."""
    if not rule.safe:
        return pairs.along_pairs(finish, x, a)
    scaled, _, r = _own_scaled(x)
    return finish(pairs.scaled_pairs(scaled, pairs.floored(r).reciprocal()), a)


class MeanNorm(Function):
    """x (..., N), weight None or (..., P) as it broadcasts against pairs -> o (..., N) and S, or S' beside R."""

    @staticmethod
    def forward(x: Tensor, weight: Tensor | None, rule: Rule) -> tuple[Tensor, Tensor]:
        """o = gamma z / S (Eq. 2)."""
        gamma = by_channel(weight, x, 2)
        if not in_blocks(x, (gamma,), rule.dims):
            o, saved = _forward(x, gamma, rule)
            return o.to(x.dtype), saved
        rows, o = x.view(-1, x.shape[-1]), torch.empty_like(x)
        out, saved = o.view_as(rows), rows.new_empty(len(rows), 1 + rule.safe, dtype=ACCUMULATION[x.dtype])

        def write(block: slice) -> tuple[Tensor, ...]:
            out[block], saved[block] = _forward(rows[block], gamma, rule)
            return ()

        over_blocks(write, rows)
        return o, saved.view(*x.shape[:-1], -1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: tuple[Tensor, Tensor]) -> None:
        """Save x, gamma and S."""
        x, weight, ctx.rule = inputs
        ctx.save_for_backward(x, weight, output[1])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, g: Tensor, _: Any) -> tuple[Tensor | None, ...]:
        """Eq. 5."""
        x, weight, saved = ctx.saved_tensors
        found = MeanNormBackward.apply(x, weight, saved, g, ctx.rule, ctx.needs_input_grad[1])
        return found[0], found[1] if ctx.needs_input_grad[1] else None, None

    @staticmethod
    def vmap(info: Any, in_dims: tuple, x: Tensor, weight: Tensor | None, rule: Rule) -> tuple:
        """One call for the whole batch."""
        x, weight = batched(info, in_dims, x, (weight,))
        return MeanNorm.apply(x, weight, rule), (0, 0)


class MeanNormBackward(Function):
    """(dx,), or (dx, dgamma) with `with_weight`, for the upstream gradient g."""

    @staticmethod
    def forward(
        x: Tensor, weight: Tensor | None, saved: Tensor, g: Tensor, rule: Rule, with_weight: bool
    ) -> tuple[Tensor, ...]:
        """Eq. 5, and the gradient of gamma."""
        gamma = by_channel(weight, x, 2)
        if not in_blocks(x, (gamma,), rule.dims, g):
            dx, terms = _backward(x, gamma, saved, g, rule)
            return (dx, summed_to(terms, weight, 2).to(weight.dtype)) if with_weight else (dx,)
        rows, dx = x.view(-1, x.shape[-1]), torch.empty_like(x)
        out, upstream, scales = dx.view_as(rows), g.view_as(rows), saved.view(len(rows), -1)

        def write(block: slice) -> tuple[Tensor, ...]:
            out[block], terms = _backward(rows[block], gamma, scales[block], upstream[block], rule)
            return (terms.sum(0),) if with_weight else ()

        total = over_blocks(write, rows)
        return (dx, pairs.over_pairs(total[0]).to(weight.dtype)) if with_weight else (dx,)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: tuple[Tensor, ...]) -> None:
        """Save what the double backward is a function of."""
        x, weight, _, g, ctx.rule, ctx.with_weight = inputs
        ctx.save_for_backward(x, weight, g)

    @staticmethod
    def backward(ctx: Any, v: Tensor, w: Tensor | None = None) -> tuple[Tensor | None, ...]:
        """The gradient of L of the module's docstring by x, gamma and g."""
        x, weight, g = ctx.saved_tensors
        dx, dweight, dg = double_backward(x, weight, g, v, w if ctx.with_weight else None, ctx.rule)
        return dx, dweight, None, dg, None, None

    @staticmethod
    def vmap(
        info: Any,
        in_dims: tuple,
        x: Tensor,
        weight: Tensor | None,
        saved: Tensor,
        g: Tensor,
        rule: Rule,
        with_weight: bool,
    ) -> tuple:
        """One call for the whole batch, with a weight of its own for each member."""
        x, own, saved, g = batched(info, in_dims, x, (weight,), saved, g, every_weight=with_weight)
        found = MeanNormBackward.apply(x, own, saved, g, rule, with_weight)
        return unbatched(found, (weight,), in_dims[1:2]), tuple(0 for _ in found)


def double_backward(
    x: Tensor, weight: Tensor | None, g: Tensor, v: Tensor, w: Tensor | None, rule: Rule
) -> tuple[Tensor, Tensor | None, Tensor]:
    """Gradients by x, gamma and g of sum v . dx + sum w . dgamma."""
    dtypes, dims = (x.dtype, g.dtype), rule.dims
    x, g, v = wide(x), wide(g), wide(v)
    count = averaged(x, dims, 2)

    def twice(t: Tensor) -> Tensor:
        return t.to(x.dtype).repeat_interleave(2, dim=-1)

    gamma = torch.ones_like(x[..., :1]) if weight is None else twice(weight)
    r = magnitudes(x)
    inverse_r = twice(torch.where(r > 0, 1 / torch.where(r > 0, r, 1.0), 0.0))
    s = r.sum(dims, keepdim=True) / count + rule.eps
    u, a = x * inverse_r, gamma * g
    along = twice((u * v).unflatten(-1, (-1, 2)).sum(-1))  # u . v of the pair
    q, n, m = ((left * right).sum(dims, keepdim=True) for left, right in ((v, a), (v, u), (a, x)))
    m = m / count
    by_a = v / s - n * x / (count * s**2)
    dg = gamma * by_a
    dx = -n * a / (count * s**2) - m / s**2 * (v - u * along) * inverse_r
    if w is not None:
        extra = twice(w)
        dg, dx, q = dg + extra * x / s, dx + extra * g / s, q + (extra * g * x).sum(dims, keepdim=True)
    dx = dx + (2 * n * m / s**3 - q / s**2) * u / count
    dweight = None if weight is None else summed_to(g * by_a, weight, 2).to(weight.dtype)
    return dx.to(dtypes[0]), dweight, dg.to(dtypes[1])
