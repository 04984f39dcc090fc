"""The kinds of input: not Gaussian data alone, which a wrong implementation may be right on."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from numerics.conformance.case import Case, Draw
from numerics.conformance.specs import Spec
from numerics.rounding import Format
from numerics.scenarios import integers, normal, random_gamma, uniform


def gaussian(rng: Generator, shape: tuple[int, ...]) -> Tensor:
    """Standard normal."""
    return normal(rng, *shape)


def one_hot(rng: Generator, shape: tuple[int, ...]) -> Tensor:
    """One random channel of each row is not 0."""
    chosen = torch.nn.functional.one_hot(integers(rng, shape[-1], *shape[:-1]), shape[-1])
    return chosen * (1 + normal(rng, *shape[:-1], 1).abs())


def constant(rng: Generator, shape: tuple[int, ...]) -> Tensor:
    """All channels of a row are equal."""
    return (normal(rng, *shape[:-1], 1) + 0.5).expand(shape).clone()


def ascending(rng: Generator, shape: tuple[int, ...]) -> Tensor:
    """Sorted channels."""
    return normal(rng, *shape).sort(dim=-1).values


def alternating(rng: Generator, shape: tuple[int, ...]) -> Tensor:
    """Signs alternate from channel to channel."""
    signs = 1 - 2 * (torch.arange(shape[-1]) % 2)
    return (0.25 + uniform(rng, *shape)) * signs


def large(rng: Generator, shape: tuple[int, ...]) -> Tensor:
    """Normal times 2^7."""
    return normal(rng, *shape) * 2.0**7


def small(rng: Generator, shape: tuple[int, ...]) -> Tensor:
    """Normal times 2^-8."""
    return normal(rng, *shape) * 2.0**-8


def outlier(rng: Generator, shape: tuple[int, ...]) -> Tensor:
    """One channel of each row is 100 times as large."""
    chosen = torch.nn.functional.one_hot(integers(rng, shape[-1], *shape[:-1]), shape[-1])
    return normal(rng, *shape) * (1 + 99 * chosen)


def shifted(rng: Generator, shape: tuple[int, ...]) -> Tensor:
    """Normal around 2."""
    return normal(rng, *shape) + 2


FORWARD = (gaussian, one_hot, constant, ascending, alternating, large, small, outlier, shifted)
BACKWARD = (gaussian, ascending, alternating, large, small, outlier, shifted)  # no phasor is 0
WORDS = {
    one_hot: "one-hot rows",
    constant: "rows of equal channels",
    ascending: "sorted channels",
    alternating: "alternating signs",
    large: "normal times 128",
    small: "normal times 1/256",
    outlier: "one channel 100 times as large",
    shifted: "normal around 2",
    gaussian: "normal",
}


def parameters(rng: Generator, spec: Spec, fmt: Format, channels: int) -> dict[str, Tensor]:
    """Random parameters of both signs, rounded to the format."""
    return {role: random_gamma(rng, spec.size(role, channels)).to(fmt.dtype) for role in spec.roles}


def upstream(rng: Generator, shape: tuple[int, ...]) -> Tensor:
    """Normal, each row at a scale of 1, 4 or 16."""
    return normal(rng, *shape) * 4.0 ** integers(rng, 3, *shape[:-1], 1)


def draw(
    rng: Generator,
    spec: Spec,
    fmt: Format,
    shape: tuple[int, ...],
    eps: float,
    kind: Draw = gaussian,
    backward: bool = True,
    scale: float = 1.0,
) -> Case:
    """A case of one kind, its values rounded to the format."""
    x = (kind(rng, shape) * scale).to(fmt.dtype)
    g = upstream(rng, shape).to(fmt.dtype) if backward else None
    what = WORDS[kind] + ("" if scale == 1 else f", times {scale:g}")
    return Case(spec, fmt, eps, x, g, parameters(rng, spec, fmt, shape[-1]), what)


def last_row_counts(case: Case) -> Case:
    """The case with an upstream gradient whose last row is 2^12 times the others: no sum may leave it out."""
    unit = case.g / case.g.abs().amax(-1, keepdim=True)
    unit.reshape(-1, case.channels)[-1] *= 2.0**12
    return case.changed(g=unit, what=f"{case.what}, the last row's upstream gradient 4,096 times the others'")
