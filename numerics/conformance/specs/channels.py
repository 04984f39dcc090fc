"""RMSNorm, and MA-RMSNorm, which adds a term that carries the magnitude.

    o_c = s gamma_c x_c / S + alpha W_c log S,   S = sqrt((1/N) sum_c x_c^2 + eps)      (RMSNorm: s = 1, alpha = 0)
    dL/dx_c = s gamma_c g_c / S - x_c B / (N S^2) + alpha x_c / (N S^2) sum_k W_k g_k,   B = sum_k s gamma_k g_k x_k / S
    dL/dgamma_c = sum over rows of s g_c x_c / S,   dL/dW_c = sum over rows of alpha g_c log S

Roundings: S takes N/2 + 4, because a root halves what its argument lost; the terms take S + 4, 3 S + N + 8 and
2 S + N + 8, each relative to its sum of magnitudes. log S is off by the relative error of S and one rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.conformance.specs.base import TINY, Exact, Rows, Spec, count, pooled
from numerics.rounding import FORMATS, Format

MA_S, MA_ALPHA = 2.0, 0.1  # the constants of the MA-RMSNorm article


@dataclass(frozen=True)
class ChannelNorm(Spec):
    """RMSNorm with its defaults; `alpha` other than 0 adds W."""

    name: str = "rmsnorm"
    s: float = 1.0
    alpha: float = 0.0
    formula: str = "gamma_c x_c / sqrt(mean x^2 + eps)"

    @property
    def roles(self) -> dict[str, int]:
        """gamma, and W where there is a second term."""
        return {"gamma": 1, "W": 1} if self.alpha else {"gamma": 1}

    def _scale(self, rows: Rows) -> Tensor:
        return (rows.x.square().mean(-1, keepdim=True) + rows.eps).sqrt()

    def _w(self, rows: Rows) -> Tensor:
        return rows.parameters.get("W", torch.zeros(rows.channels, dtype=torch.float64))

    def _over(self, rows: Rows, scale: Tensor) -> Tensor:
        first = self.s * rows.parameters["gamma"] * rows.x / scale
        return first + self.alpha * self._w(rows) * scale.log() if self.alpha else first

    def forward(self, rows: Rows) -> Tensor:
        """See above."""
        return self._over(rows, self._scale(rows))

    def forward_error(self, rows: Rows, value: Tensor, fmt: Format) -> Tensor:
        """See above."""
        scale, gamma = self._scale(rows), rows.parameters["gamma"]
        second = (self.alpha * self._w(rows) * scale.log()).abs()
        off = (self.alpha * self._w(rows)).abs() * count(rows.channels // 2 + 5, fmt)
        first = (value.abs() + second) if self.alpha else value.abs()
        relative = count(rows.channels // 2 + 8, fmt)
        return relative * first + count(6, fmt) * second + off + TINY * ((gamma.abs() + 1) * (1 + 1 / scale))

    def _terms(self, rows: Rows) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        scale, g, x = self._scale(rows), rows.g, rows.x
        weighted = self.s * rows.parameters["gamma"] * g
        return scale, weighted / scale, x / scale, weighted * x / scale, self.alpha * self._w(rows) * g

    def input_gradient(self, rows: Rows) -> Exact:
        """See above."""
        scale, direct, xhat, products, carried = self._terms(rows)
        channels = rows.channels
        second = xhat * products.sum(-1, keepdim=True) / channels / scale
        third = xhat * carried.sum(-1, keepdim=True) / channels / scale
        value = direct - second + third
        sums = [xhat.abs() * each.abs().sum(-1, keepdim=True) / channels / scale for each in (products, carried)]
        half = channels // 2 + 4
        sizes = (half + 4, 3 * half + channels + 8, 2 * half + channels + 8)
        means = (direct * scale).abs().mean(-1, keepdim=True) + carried.abs().mean(-1, keepdim=True) + xhat.abs() + 2
        lost = 4 * TINY * means * (1 + 1 / scale).square() * (1 + xhat.abs())
        errors = [
            sum(count(n, fmt) * part for n, part in zip(sizes, (direct.abs(), *sums), strict=True)) + lost
            for fmt in (FORMATS["fp32"], FORMATS["fp64"])
        ]
        return Exact(value, *errors, direct.abs() + second.abs() + third.abs())

    def parameter_gradient(self, role: str, rows: Rows) -> Exact:
        """See above."""
        scale, g = self._scale(rows), rows.g
        if role == "gamma":
            products = self.s * g * rows.x / scale
            off = torch.zeros_like(products)
        else:
            products = self.alpha * g * scale.log()
            off = (self.alpha * g).abs()  # times the relative error of S
        number = len(g) + rows.channels // 2 + 10
        lost = TINY * ((g.abs() + 1) * (1 + 1 / scale)).sum(0)
        return Exact(
            products.sum(0),
            *(
                count(number, fmt) * products.abs().sum(0) + count(rows.channels // 2 + 5, fmt) * off.sum(0) + lost
                for fmt in (FORMATS["fp32"], FORMATS["fp64"])
            ),
        )

    def scales(self, rows: Rows) -> Iterator[tuple[str, Tensor]]:
        """eps in the wrong place, other means."""
        squares, eps = rows.x.square(), rows.eps
        mean = squares.mean(-1, keepdim=True)
        yield "eps missing", self._over(rows, mean.sqrt())
        yield "eps outside the root", self._over(rows, mean.sqrt() + eps)
        yield (
            "eps clamped: the larger of the mean square and eps, not their sum",
            self._over(rows, mean.clamp_min(eps).sqrt()),
        )
        yield "eps clamped: the larger of S and eps", self._over(rows, mean.sqrt().clamp_min(eps))
        yield "eps squared", self._over(rows, (mean + eps * eps).sqrt())
        yield "sum in place of the mean", self._over(rows, (squares.sum(-1, keepdim=True) + eps).sqrt())
        yield "the mean is subtracted first, as LayerNorm does", self._over(*self._centred(rows))
        yield (
            "mean of |x| in place of the root of the mean square",
            self._over(rows, rows.x.abs().mean(-1, keepdim=True) + eps),
        )
        if rows.channels % 2 == 0:
            r = torch.linalg.vector_norm(rows.x.unflatten(-1, (-1, 2)), dim=-1)
            yield "MRSNorm's scale", self._over(rows, r.mean(-1, keepdim=True) + eps)
        for what, statistic in pooled(mean, rows):
            yield what, self._over(rows, (statistic + eps).sqrt())

    def _centred(self, rows: Rows) -> tuple[Rows, Tensor]:
        centred = rows.x - rows.x.mean(-1, keepdim=True)
        moved = Rows(centred, rows.g, rows.parameters, rows.eps, rows.lead, rows.narrow)
        return moved, self._scale(moved)

    def gradient_mistakes(self, rows: Rows) -> Iterator[tuple[str, Tensor]]:
        """Wrong forms of the input gradient."""
        scale, direct, xhat, _, carried = self._terms(rows)
        gamma, g, s = rows.parameters["gamma"], rows.g, self.s
        third = xhat * carried.mean(-1, keepdim=True) / scale

        def over(weight_in_sum: Tensor, first: Tensor) -> Tensor:
            return first - xhat * (s * weight_in_sum * g * xhat).mean(-1, keepdim=True) / scale + third

        one = torch.ones_like(gamma)
        yield "gamma counted twice", over(gamma.square(), direct)
        yield "statistic held constant", direct
        yield "gamma missing", over(one, s * g / scale)
        yield "gamma missing in the sum", over(one, direct)
        yield "gamma missing in the direct term", over(gamma, s * g / scale)
        yield "sign of the interference term", over(-gamma, direct)
        yield "1/N missing in the sum", over(gamma * rows.channels, direct)
        if self.alpha:
            yield "the term of W missing", over(gamma, direct) - third
