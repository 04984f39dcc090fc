"""Norms whose scale is a root: RMSNorm, its variant of Eq. 11 (one weight a phasor), and MA-RMSNorm.

Sequence of operations (see `mean_norm` for the notation; n is N, or P for Eq. 11; one rounding in A an operation):

    forward     S    = sqrt((sum_c X_c X_c) / n + eps)          product, N - 1 sums in any order, quotient, sum, root
                o_c  = (X_c / S) gamma_c                        quotient, product; rounded once to the dtype of x
      MA        y_c  = o_c s + (alpha W_c) log S                product; product, logarithm, product; sum; rounded once
    backward    v    = 1 / S                                    quotient
                a_c  = gamma_c g_c                              product; MA: (s gamma_c) g_c, two products
                W    = ((sum_c a_c X_c) v) / n                  product, N - 1 sums in any order, product, quotient
      MA        W    = W - (sum_c (alpha W_c) g_c) / n          two products, N - 1 sums, quotient, difference
                dx_c = (a_c - (X_c v) W) v                      product, product, difference, product; rounded once
                dgamma_c = sum_rows g_c (X_c v)                 product, product, sums in any order; MA: then times s
      MA        dW_c = alpha sum_rows g_c log S                 product, sums in any order, product

With `safe` (not for MA-RMSNorm), R is the power of two below the largest |X_c| of the row, or below sqrt(eps) if that
is larger (`powers`); X / R stands for X, eps / R / R for eps, and dx is divided by R before it is rounded. S' and R are
saved.

MA-RMSNorm takes a row whose S is 0 to 0 and its gradients to 0: there v counts as 0 and log S as 0.

Double backward: with v, w, y the upstream gradients of dx, dgamma and dW, b = alpha W, B = (1/n) sum b g, by row,

    L = (q + e)/S - n m/S^3 + n B/S^2 + f log S,
    q = sum v a,  e = sum w s g x,  n = sum v x,  m = (1/n) sum a x,  f = sum alpha y g

is differentiated by hand and made of PyTorch operations, so that it can be differentiated again. It is not
scaled: with `safe`, second derivatives may still overflow where squares do.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from numerics.norms.batching import Weights, batched, unbatched
from numerics.norms.blocks import in_blocks, over_blocks
from numerics.norms.checks import ACCUMULATION
from numerics.norms.powers import row_power
from numerics.norms.rule import Rule
from numerics.norms.weights import averaged, by_channel, summed_to, wide


def _inverse(scale: Tensor, rule: Rule) -> Tensor:
    inverse = scale.reciprocal()
    return inverse if rule.s is None else inverse.masked_fill(scale == 0, 0)


def _log(scale: Tensor) -> Tensor:
    return scale.masked_fill(scale == 0, 1).log()


def _forward(x: Tensor, gamma: Tensor | None, level: Tensor | None, rule: Rule) -> tuple[Tensor, Tensor]:
    """o, not rounded yet, and S, or S' beside R; gamma and level = alpha W by channel."""
    x, eps, row = wide(x), rule.eps, None
    if rule.safe:
        row = row_power(x, rule.eps**0.5, rule.dims)
        x, eps = x / row, rule.eps / row / row
    scale = ((x * x).sum(rule.dims, keepdim=True) / averaged(x, rule.dims, rule.per_weight) + eps).sqrt()
    o = x / (scale if rule.s is None else scale.masked_fill(scale == 0, torch.inf))
    if gamma is not None:
        o = o * gamma
    if rule.s is not None:
        o = o * rule.s
    o = o if level is None else o + level * _log(scale)
    return o, scale if row is None else torch.cat((scale, row), dim=-1)


def _backward(
    x: Tensor, gamma: Tensor | None, level: Tensor | None, saved: Tensor, g: Tensor, rule: Rule
) -> tuple[Tensor, Tensor, Tensor]:
    """dx, rounded; g X / S and g log S, whose sums are dgamma/s and dW/alpha. gamma is s gamma here."""
    dtype, x, g, scale = x.dtype, wide(x), wide(g), saved[..., :1]
    row = saved[..., 1:] if rule.safe else None
    x = x if row is None else x / row
    inverse, count = _inverse(scale, rule), averaged(x, rule.dims, rule.per_weight)
    a = g if gamma is None else gamma * g
    xhat = x * inverse
    slope = (a * x).sum(rule.dims, keepdim=True) * inverse / count
    if level is not None:
        slope = slope - (level * g).sum(rule.dims, keepdim=True) / count
    dx = (a - xhat * slope) * inverse
    dx = (dx if row is None else dx / row).to(dtype)
    return dx, g * xhat, g if level is None else g * _log(scale)


def _rows(weights: Weights, x: Tensor, rule: Rule) -> Weights:
    gamma, level = (by_channel(t, x, rule.per_weight) for t in weights)
    return gamma, None if level is None else rule.alpha * level


class RootNorm(Function):
    """x (..., N), weight and magnitude None or as they broadcast against x, rule -> o (..., N) and S."""

    @staticmethod
    def forward(x: Tensor, weight: Tensor | None, magnitude: Tensor | None, rule: Rule) -> tuple[Tensor, Tensor]:
        """o = gamma x / S, or s gamma x / S + alpha W log S."""
        gamma, level = _rows((weight, magnitude), x, rule)
        if not in_blocks(x, (gamma, level), rule.dims):
            o, saved = _forward(x, gamma, level, rule)
            return o.to(x.dtype), saved
        rows, o = x.view(-1, x.shape[-1]), torch.empty_like(x)
        out, saved = o.view_as(rows), rows.new_empty(len(rows), 1 + rule.safe, dtype=ACCUMULATION[x.dtype])

        def write(block: slice) -> tuple[Tensor, ...]:
            out[block], saved[block] = _forward(rows[block], gamma, level, rule)
            return ()

        over_blocks(write, rows)
        return o, saved.view(*x.shape[:-1], -1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: tuple[Tensor, Tensor]) -> None:
        """Save x, the weights and S."""
        x, weight, magnitude, ctx.rule = inputs
        ctx.save_for_backward(x, weight, magnitude, output[1])
        ctx.mark_non_differentiable(output[1])

    @staticmethod
    def backward(ctx: Any, g: Tensor, _: Any) -> tuple[Tensor | None, ...]:
        """The gradients of x, weight and magnitude."""
        x, weight, magnitude, saved = ctx.saved_tensors
        found = list(RootNormBackward.apply(x, weight, magnitude, saved, g, ctx.rule))
        return found.pop(0), *(None if t is None else found.pop(0) for t in (weight, magnitude)), None

    @staticmethod
    def vmap(info: Any, in_dims: tuple, x: Tensor, *others: Any) -> tuple:
        """One call for the whole batch."""
        x, *weights = batched(info, in_dims, x, others[:2])
        return RootNorm.apply(x, *weights, others[2]), (0, 0)


class RootNormBackward(Function):
    """(dx, dgamma if there is gamma, dW if there is W) for the upstream gradient g."""

    @staticmethod
    def forward(
        x: Tensor, weight: Tensor | None, magnitude: Tensor | None, saved: Tensor, g: Tensor, rule: Rule
    ) -> tuple[Tensor, ...]:
        """As the module's docstring lists it."""
        gamma, level = _rows((weight, magnitude), x, rule)
        if rule.s is not None:
            gamma = wide(x.new_tensor(rule.s)) if gamma is None else rule.s * gamma
        if not in_blocks(x, (gamma, level), rule.dims, g):
            dx, *terms = _backward(x, gamma, level, saved, g, rule)
            return dx, *_weights(terms, weight, magnitude, rule)
        rows, dx = x.view(-1, x.shape[-1]), torch.empty_like(x)
        out, upstream, scales = dx.view_as(rows), g.view_as(rows), saved.view(len(rows), -1)
        wanted = [t is not None for t in (weight, magnitude)]

        def write(block: slice) -> tuple[Tensor, ...]:
            out[block], *terms = _backward(rows[block], gamma, level, scales[block], upstream[block], rule)
            return tuple(term.sum(0) for term, want in zip(terms, wanted, strict=True) if want)

        totals = iter(over_blocks(write, rows))
        return dx, *_weights([next(totals) if want else None for want in wanted], weight, magnitude, rule)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: tuple[Tensor, ...]) -> None:
        """Save what the double backward is a function of."""
        x, weight, magnitude, _, g, ctx.rule = inputs
        ctx.save_for_backward(x, weight, magnitude, g)

    @staticmethod
    def backward(ctx: Any, v: Tensor, *others: Tensor) -> tuple[Tensor | None, ...]:
        """The gradient of L of the module's docstring by x, the weights and g."""
        x, weight, magnitude, g = ctx.saved_tensors
        others = list(others)
        w, y = (None if t is None else others.pop(0) for t in (weight, magnitude))
        dx, dweight, dmagnitude, dg = double_backward(x, weight, magnitude, g, v, w, y, ctx.rule)
        return dx, dweight, dmagnitude, None, dg, None

    @staticmethod
    def vmap(
        info: Any,
        in_dims: tuple,
        x: Tensor,
        weight: Tensor | None,
        magnitude: Tensor | None,
        saved: Tensor,
        g: Tensor,
        rule: Rule,
    ) -> tuple:
        """One call for the whole batch, with weights of its own for each member."""
        weights = weight, magnitude
        x, *own, saved, g = batched(info, in_dims, x, weights, saved, g, every_weight=True)
        found = RootNormBackward.apply(x, *own, saved, g, rule)
        return unbatched(found, weights, in_dims[1:3]), tuple(0 for _ in found)


def _weights(terms: list[Tensor | None], weight: Tensor | None, magnitude: Tensor | None, rule: Rule) -> list[Tensor]:
    """dgamma and dW, as far as there are weights, from their terms or the sums of these over rows."""
    factors = 1.0 if rule.s is None else rule.s, rule.alpha
    found = []
    for term, t, factor in zip(terms, (weight, magnitude), factors, strict=True):
        if t is not None:
            total = summed_to(term, t, rule.per_weight)
            found.append((total if factor == 1.0 else factor * total).to(t.dtype))
    return found


def double_backward(
    x: Tensor,
    weight: Tensor | None,
    magnitude: Tensor | None,
    g: Tensor,
    v: Tensor,
    w: Tensor | None,
    y: Tensor | None,
    rule: Rule,
) -> tuple[Tensor, Tensor | None, Tensor | None, Tensor]:
    """Gradients by x, gamma, W and g of sum v . dx + sum w . dgamma + sum y . dW."""
    dtypes = x.dtype, g.dtype
    x, g, v = wide(x), wide(g), wide(v)
    count, dims, s = averaged(x, rule.dims, rule.per_weight), rule.dims, 1.0 if rule.s is None else rule.s

    def twice(t: Tensor) -> Tensor:
        return t.to(x.dtype).repeat_interleave(rule.per_weight, dim=-1)

    def total(t: Tensor) -> Tensor:
        return t.sum(dims, keepdim=True)

    gamma = s * (torch.ones_like(x[..., :1]) if weight is None else twice(weight))
    mean = total(x * x) / count + rule.eps
    empty = (mean == 0) & (rule.s is not None)
    scale = torch.where(empty, 1.0, mean).sqrt()
    i = torch.where(empty, 0.0, 1 / scale)  # 1/S
    a = gamma * g
    q, n, m = total(v * a), total(v * x), total(a * x) / count
    by_a = v * i - n * x / count * i**3
    dg, dx = gamma * by_a, -(v * m + n * a / count) * i**3
    by_s = 3 * n * m * i**4
    dweight = dmagnitude = None
    if magnitude is not None:
        level = rule.alpha * twice(magnitude)
        b, f = total(level * g) / count, rule.alpha * twice(y)
        dg = dg + level * n / count * i**2 + f * scale.log()
        dx = dx + v * b * i**2
        by_s = by_s - 2 * n * b * i**3 + total(f * g) * i
        dmagnitude = rule.alpha * summed_to(g * (n / count * i**2), magnitude, rule.per_weight)
        dmagnitude = dmagnitude.to(magnitude.dtype)
    if weight is not None:
        extra = s * twice(w)
        dg, dx, q = dg + extra * x * i, dx + extra * g * i, q + total(extra * g * x)
        dweight = (s * summed_to(g * by_a, weight, rule.per_weight)).to(weight.dtype)
    dx = dx + (by_s - q * i**2) * x / count * i
    return dx.to(dtypes[0]), dweight, dmagnitude, dg.to(dtypes[1])
