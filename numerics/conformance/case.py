"""One call of a target: its input, upstream gradient, parameters and eps, and what is true of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from numerics.conformance.specs import Exact, Rows, Spec
from numerics.judge import plain
from numerics.rounding import Format

PART = "a part of: "
SHOWN = 64  # entries of an input that the report spells out


@dataclass(frozen=True, eq=False)
class Case:
    """x (..., N) and the upstream gradient g of that shape (None: no backward pass), with any strides, in one format.

    `parameters` are those of the specification, by role; `what` says in words what kind of input it is.
    """

    spec: Spec
    fmt: Format
    eps: float
    x: Tensor
    g: Tensor | None
    parameters: dict[str, Tensor]
    what: str

    @property
    def channels(self) -> int:
        """N."""
        return self.x.shape[-1]

    @cached_property
    def rows(self) -> Rows:
        """The case in fp64, leading dimensions flattened."""
        count, channels = self.x[..., 0].numel(), self.channels
        g = torch.zeros_like(self.x) if self.g is None else self.g
        wide = {role: each.double() for role, each in self.parameters.items()}
        flat = [each.double().reshape(count, channels) for each in (self.x, g)]
        return Rows(*flat, wide, self.eps, tuple(self.x.shape[:-1]), self.fmt.dtype)

    @cached_property
    def output(self) -> Exact:
        """The true output (T, N)."""
        return self.spec.output(self.rows)

    @cached_property
    def input_gradient(self) -> Exact:
        """The true input gradient (T, N); at a phasor that is 0, the one with u = 0."""
        found = self.spec.input_gradient(self.rows)
        slack = self.spec.zero_slack(self.rows)
        if slack is None:
            return found
        return replace(found, error=found.error + slack, error64=found.error64 + slack)

    def parameter_gradient(self, role: str) -> Exact:
        """The true gradient of a parameter."""
        return self.spec.parameter_gradient(role, self.rows)

    def changed(self, x: Tensor | None = None, g: Tensor | None = None, what: str | None = None) -> Case:
        """The same case with another input or upstream gradient."""
        return replace(self, x=self.x if x is None else x, g=self.g if g is None else g, what=what or self.what)

    def window(self, row: int, start: int, channels: int) -> Case:
        """The case of one row (flattened) and a range of channels alone."""

        def cut(x: Tensor | None) -> Tensor | None:
            if x is None:
                return None
            flat = x.reshape(-1, self.channels)[row : row + 1, start : start + channels].clone()
            return flat.reshape(*(1 for _ in x.shape[:-1]), channels)

        parts = {}
        for role, each in self.parameters.items():
            shared = self.spec.roles[role]
            parts[role] = each[start // shared : (start + channels) // shared].clone()
        what = self.what if self.what.startswith(PART) else PART + self.what
        return replace(self, x=cut(self.x), g=cut(self.g), parameters=parts, what=what)

    def described(self) -> dict[str, Any]:
        """The case as plain data; values only where they are few."""
        found = {"what": self.what, "dtype": self.fmt.name, "shape": list(self.x.shape), "eps": self.eps}
        if not self.x.is_contiguous() and self.x.numel():
            found["stride"] = list(self.x.stride())
        if self.g is not None and not self.g.is_contiguous() and self.g.numel():
            found["upstream_stride"] = list(self.g.stride())
        if self.x.numel() <= SHOWN:
            found["x"] = plain(self.x.double())
            if self.g is not None:
                found["upstream"] = plain(self.g.double())
            found |= {role: plain(each.double()) for role, each in self.parameters.items()}
        return found


Draw = Callable[[torch.Generator, tuple[int, ...]], Tensor]
