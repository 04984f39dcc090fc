"""MRSNorm, GroupMRSNorm and QK-MRSNorm: adjacent channels are phasors, divided by the mean of their magnitudes.

With z_i = (x_2i, x_2i+1), r_i = |z_i|, P phasors in each group (one group: all of them), upstream gradient g:

    o_i = gamma_i z_i / S,    S = (1/P) sum_k r_k + eps                    (MRSNorm paper, section 3, Eqs. 1-2)
    dL/dz_i = (gamma_i g_i - u_i Omega) / S,   Omega = (1/P) sum_k gamma_k g_k . z_k / S,   u_i = z_i / r_i     (Eq. 5)
    dL/dgamma_i = sum over rows of g_i . z_i / S

Roundings: S takes P + 4 and the spare ones, so o takes P + 6; gamma g / S takes P + 7; u Omega / S takes two S, the sum
over the N components, u (4) and four more, relative to |u| A / S, A = (1/P) sum |gamma_k g_k . z_k / S| by components.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from numerics.conformance.specs.base import TINY, Exact, Rows, Spec, count, pooled
from numerics.rounding import FORMATS, Format


def half_split(x: Tensor) -> Tensor:
    """(..., N) with channels i and i + N/2 put next to each other."""
    return x.unflatten(-1, (2, -1)).transpose(-1, -2).flatten(-2)


def half_joined(x: Tensor) -> Tensor:
    """The inverse of `half_split`."""
    return x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)


@dataclass(frozen=True)
class PhasorNorm(Spec):
    """The family; `affine` says whether there is a gamma."""

    name: str = "mrsnorm"
    groups: int = 1
    inputs: int = 1
    affine: bool = True
    formula: str = "gamma_i z_i / (mean |z_k| + eps)"
    paired = True

    @property
    def roles(self) -> dict[str, int]:
        """gamma, one entry a phasor."""
        return {"gamma": 2} if self.affine else {}

    def _phasors(self, x: Tensor) -> Tensor:
        return x.reshape(len(x), self.groups, x.shape[-1] // (2 * self.groups), 2)  # (T, G, P, 2)

    def _gamma(self, rows: Rows) -> Tensor:
        ones = torch.ones(rows.channels // 2, dtype=torch.float64)
        return rows.parameters.get("gamma", ones).reshape(1, self.groups, -1, 1)

    def _r(self, rows: Rows) -> Tensor:
        return torch.linalg.vector_norm(self._phasors(rows.x), dim=-1, keepdim=True)  # (T, G, P, 1)

    def _scale(self, rows: Rows) -> Tensor:
        return self._r(rows).mean(-2, keepdim=True) + rows.eps  # (T, G, 1, 1)

    def _over(self, rows: Rows, scale: Tensor) -> Tensor:
        return (self._gamma(rows) * self._phasors(rows.x) / scale).reshape(rows.x.shape)

    def forward(self, rows: Rows) -> Tensor:
        """Eqs. 1-2."""
        return self._over(rows, self._scale(rows))

    def forward_error(self, rows: Rows, value: Tensor, fmt: Format) -> Tensor:
        """See above."""
        per_group = rows.channels // (2 * self.groups)
        lost = self._gamma(rows).abs() * (1 + 1 / self._scale(rows)) + 1  # (T, G, P, 1)
        lost = lost.expand(*lost.shape[:3], 2).reshape(value.shape)
        return count(per_group + 6, fmt) * value.abs() + TINY * lost

    def _parts(self, rows: Rows) -> tuple[Tensor, ...]:
        z, g, gamma, s = self._phasors(rows.x), self._phasors(rows.g), self._gamma(rows), self._scale(rows)
        r = torch.linalg.vector_norm(z, dim=-1, keepdim=True)
        u = torch.where(r > 0, z / r, torch.zeros_like(z))
        return z, g, gamma, s, u

    def input_gradient(self, rows: Rows) -> Exact:
        """Eq. 5, u = 0 at a phasor that is 0."""
        z, g, gamma, s, u = self._parts(rows)
        per_group = z.shape[2]
        products = gamma * g * z / s
        omega = products.sum((-1, -2), keepdim=True) / per_group
        value = (gamma * g - u * omega) / s
        direct = (gamma * g / s).abs()
        absolute = u.abs() * products.abs().sum((-1, -2), keepdim=True) / per_group / s
        mean_lost = (
            (gamma * g).abs().mean((-1, -2), keepdim=True) + (z / s).abs().mean((-1, -2), keepdim=True) + 2
        ) * 4
        lost = TINY * mean_lost * (1 + 1 / s).square()
        errors = [
            count(per_group + 7, fmt) * direct + count(2 * per_group + 2 * per_group + 16, fmt) * absolute + lost
            for fmt in (FORMATS["fp32"], FORMATS["fp64"])
        ]
        terms = direct + (u * omega / s).abs()
        return Exact(*(each.reshape(rows.x.shape) for each in (value, *errors, terms)))

    def zero_slack(self, rows: Rows) -> Tensor:
        """|Omega| / S at phasors that are 0: every u of length up to 1 is a choice as good as 0."""
        z, g, gamma, s, _ = self._parts(rows)
        omega = (gamma * g * z / s).sum((-1, -2), keepdim=True) / z.shape[2]
        zero = (z == 0).all(-1, keepdim=True)
        return torch.where(zero, (omega / s).abs(), torch.zeros_like(z)).reshape(rows.x.shape)

    def parameter_gradient(self, role: str, rows: Rows) -> Exact:
        """Sum over rows of g . z / S."""
        z, g, _, s, _ = self._parts(rows)
        products = g * z / s
        value = products.sum((0, -1)).flatten()
        absolute = products.abs().sum((0, -1)).flatten()
        number = len(z) + z.shape[2] + 8
        lost = TINY * (g.abs() + 1).mul(1 + 1 / s).sum((0, -1)).flatten()
        errors = [count(number, fmt) * absolute + lost for fmt in (FORMATS["fp32"], FORMATS["fp64"])]
        return Exact(value, *errors, terms=products.sum(0).abs().sum(-1).flatten())

    def scales(self, rows: Rows) -> Iterator[tuple[str, Tensor]]:
        """eps in the wrong place, the wrong pairs, other means."""
        r, eps = self._r(rows), rows.eps
        squares = r.square()
        mean = r.mean(-2, keepdim=True)
        yield "eps missing", self._over(rows, mean)
        yield "eps inside the root", self._over(rows, (squares + eps).sqrt().mean(-2, keepdim=True))
        yield "eps clamped: the larger of S and eps, not their sum", self._over(rows, mean.clamp_min(eps))
        yield "eps under a root: sqrt(eps) added", self._over(rows, mean + eps**0.5)
        yield (
            "S of Eq. 11: the root of the mean square",
            self._over(rows, (squares.mean(-2, keepdim=True) + eps).sqrt()),
        )
        yield (
            "RMSNorm's scale, over channels",
            self._over(rows, (squares.mean(-2, keepdim=True) / 2 + eps).sqrt()),
        )
        yield "sum in place of the mean", self._over(rows, r.sum(-2, keepdim=True) + eps)
        yield "mean over channels in place of phasors", self._over(rows, mean / 2 + eps)
        yield "mean of |x| over channels", self._over(rows, self._mean_absolute(rows) + eps)
        yield "each phasor divided by its own magnitude", self._over(rows, r + eps)
        yield "half-split pairs: channel i with channel i + P, not adjacent ones", self._half(rows)
        if self.groups > 1:
            yield "one scale for all groups", self._over(rows, r.mean((1, 2), keepdim=True) + eps)
        for what, statistic in pooled(r, rows):
            yield what, self._over(rows, statistic.mean(-2, keepdim=True) + eps)

    def _mean_absolute(self, rows: Rows) -> Tensor:
        return self._phasors(rows.x).abs().mean((-1, -2), keepdim=True)

    def _half(self, rows: Rows) -> Tensor:
        turned = Rows(half_split(rows.x), rows.g, rows.parameters, rows.eps, rows.lead, rows.narrow)
        return half_joined(self.forward(turned))

    def gradient_mistakes(self, rows: Rows) -> Iterator[tuple[str, Tensor]]:
        """Wrong forms of Eq. 5."""
        z, g, gamma, s, u = self._parts(rows)
        shape, zhat = rows.x.shape, z / s
        omega = (gamma * g * zhat).mean((-1, -2), keepdim=True) * 2
        twice = (gamma.square() * g * zhat).mean((-1, -2), keepdim=True) * 2
        plain = (g * zhat).mean((-1, -2), keepdim=True) * 2
        forms = {
            "gamma counted twice": (gamma * g - u * twice) / s,
            "statistic held constant": gamma * g / s,
            "gamma missing": (g - u * plain) / s,
            "gamma missing in the sum": (gamma * g - u * plain) / s,
            "gamma missing in the direct term": (g - u * omega) / s,
            "sign of the interference term": (gamma * g + u * omega) / s,
            "1/P missing in the sum": (gamma * g - u * omega * z.shape[2]) / s,
            "mean over channels in place of phasors in the sum": (gamma * g - u * omega / 2) / s,
            "zhat in place of u": (gamma * g - zhat * omega) / s,
            "division by S missing": gamma * g - u * omega,
            "input gradient of RMSNorm": (gamma * g - zhat * omega * s.square() / self._mean_square(z)) / s,
        }
        turned = Rows(half_split(rows.x), half_split(rows.g), rows.parameters, rows.eps, rows.lead, rows.narrow)
        forms = {
            name: each.reshape(shape) for name, each in forms.items() if self.affine or not name.startswith("gamma")
        }
        forms["half-split pairs"] = half_joined(self.input_gradient(turned).value)
        yield from forms.items()

    def _mean_square(self, z: Tensor) -> Tensor:
        return z.square().sum(-1, keepdim=True).mean(-2, keepdim=True)
