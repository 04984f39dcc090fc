"""LayerNorm.

    o_c = gamma_c xhat_c + beta_c,   xhat = (x - mu) / S,   S = sqrt(V + eps),   mu, V the mean and variance of the row
    dL/dx_c = (h_c - mean h - xhat_c mean(h xhat)) / S,   h = gamma g
    dL/dgamma_c = sum over rows of g_c xhat_c,   dL/dbeta_c = sum over rows of g_c

What may be lost: mu is off by gamma_N mean|x|, and so is every x - mu; V, computed from those in two passes or by a
running update, by gamma_N (V + 2 sqrt(V mean x^2)) + gamma_N^2 mean x^2. The one-pass formula, mean x^2 - mu^2, loses
gamma_N mean x^2, and is not allowed. With q the error of V over V + eps, 1/S is off by at most q relatively, for
q <= 1/2; a row with a larger q is not judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.conformance.specs.base import TINY, Exact, Rows, Spec, count, pooled
from numerics.rounding import FORMATS, Format


@dataclass(frozen=True)
class LayerNorm(Spec):
    """See above."""

    name: str = "layernorm"
    formula: str = "gamma_c (x_c - mu) / sqrt(variance + eps) + beta_c"

    @property
    def roles(self) -> dict[str, int]:
        """gamma and beta."""
        return {"gamma": 1, "beta": 1}

    def _parts(self, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        centred = rows.x - rows.x.mean(-1, keepdim=True)
        variance = centred.square().mean(-1, keepdim=True)
        return centred, variance, (variance + rows.eps).sqrt()

    def _lost(self, rows: Rows, fmt: Format) -> tuple[Tensor, Tensor]:
        """Bounds on the relative error of 1/S (T, 1) and the error of xhat (T, N)."""
        centred, variance, scale = self._parts(rows)
        n = count(rows.channels, fmt)
        square = rows.x.square().mean(-1, keepdim=True)
        of_variance = n * (variance + 2 * (variance * square).sqrt()) + n * n * square + TINY
        q = of_variance / scale.square()
        q = torch.where(q <= 0.5, q, torch.full_like(q, torch.inf)) + count(0, fmt)
        of_centred = count(1, fmt) * rows.x.abs() + n * rows.x.abs().mean(-1, keepdim=True) + TINY
        return q, (of_centred * (1 + q) + centred.abs() * q) / scale

    def forward(self, rows: Rows) -> Tensor:
        """See above."""
        centred, _, scale = self._parts(rows)
        return rows.parameters["gamma"] * centred / scale + rows.parameters["beta"]

    def forward_error(self, rows: Rows, value: Tensor, fmt: Format) -> Tensor:
        """See above."""
        gamma, beta = rows.parameters["gamma"].abs(), rows.parameters["beta"].abs()
        _, of_xhat = self._lost(rows, fmt)
        return gamma * of_xhat + count(4, fmt) * (value.abs() + 2 * beta) + TINY * (gamma + 1)

    def input_gradient(self, rows: Rows) -> Exact:
        """See above."""
        centred, _, scale = self._parts(rows)
        xhat, h = centred / scale, rows.parameters["gamma"] * rows.g
        mean_h, mean_hx = h.mean(-1, keepdim=True), (h * xhat).mean(-1, keepdim=True)
        value = (h - mean_h - xhat * mean_hx) / scale
        sizes = h.abs() + h.abs().mean(-1, keepdim=True) + xhat.abs() * (h * xhat).abs().mean(-1, keepdim=True)
        errors = []
        for fmt in (FORMATS["fp32"], FORMATS["fp64"]):
            q, of_xhat = self._lost(rows, fmt)
            through = of_xhat * mean_hx.abs() + (xhat.abs() + of_xhat) * (h.abs() * of_xhat).mean(-1, keepdim=True)
            lost = 4 * TINY * (1 + 1 / scale).square() * (2 + h.abs().mean(-1, keepdim=True)) * (1 + xhat.abs())
            errors.append(((count(rows.channels + 8, fmt) + q) * sizes + through * (1 + q)) / scale + lost)
        return Exact(value, *errors, sizes / scale)

    def parameter_gradient(self, role: str, rows: Rows) -> Exact:
        """See above."""
        centred, _, scale = self._parts(rows)
        xhat = centred / scale if role == "gamma" else torch.ones_like(rows.x)
        errors = []
        for fmt in (FORMATS["fp32"], FORMATS["fp64"]):
            of_xhat = self._lost(rows, fmt)[1] if role == "gamma" else torch.zeros_like(rows.x)
            total = count(len(rows.x) + 2, fmt) * (rows.g * xhat).abs().sum(0) + 2 * (rows.g.abs() * of_xhat).sum(0)
            errors.append(total + TINY * (rows.g.abs() + 1).sum(0))
        return Exact((rows.g * xhat).sum(0), *errors)

    def scales(self, rows: Rows) -> Iterator[tuple[str, Tensor]]:
        """eps in the wrong place, other statistics."""
        gamma, beta = rows.parameters["gamma"], rows.parameters["beta"]
        centred, variance, _ = self._parts(rows)
        eps, n = rows.eps, rows.channels
        yield "eps missing", gamma * centred / variance.sqrt() + beta
        yield "eps outside the root", gamma * centred / (variance.sqrt() + eps) + beta
        yield "eps clamped: the larger of the variance and eps", gamma * centred / variance.clamp_min(eps).sqrt() + beta
        yield (
            "the mean is not subtracted",
            gamma * rows.x / (rows.x.square().mean(-1, keepdim=True) + eps).sqrt() + beta,
        )
        if n > 1:
            yield "variance with N - 1", gamma * centred / (variance * n / (n - 1) + eps).sqrt() + beta
        yield "beta missing", self.forward(rows) - beta
        means, squares = (pooled(each.mean(-1, keepdim=True), rows) for each in (rows.x, rows.x.square()))
        for (what, mean), (_, square) in zip(means, squares, strict=True):
            yield what, gamma * (rows.x - mean) / (square - mean.square() + eps).clamp_min(0).sqrt() + beta

    def gradient_mistakes(self, rows: Rows) -> Iterator[tuple[str, Tensor]]:
        """Wrong forms of the input gradient."""
        centred, _, scale = self._parts(rows)
        gamma, g = rows.parameters["gamma"], rows.g
        xhat, h = centred / scale, gamma * g
        one, projected = h.mean(-1, keepdim=True), xhat * (h * xhat).mean(-1, keepdim=True)
        twice = xhat * (gamma * h * xhat).mean(-1, keepdim=True)
        plain = xhat * (g * xhat).mean(-1, keepdim=True)
        yield "gamma counted twice", (h - one - twice) / scale
        yield "statistic held constant", h / scale
        yield "variance held constant", (h - one) / scale
        yield "mean held constant", (h - projected) / scale
        yield "gamma missing", (g - g.mean(-1, keepdim=True) - plain) / scale
        yield "gamma missing in the sum", (h - one - plain) / scale
