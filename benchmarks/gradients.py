"""A randomized gradient trial against PyTorch's own gradient check, and a check against the layer it checks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch

from benchmarks.benchmark import Benchmark, side_by_side
from numerics.gradients import input_gradient
from numerics.measure import Settings
from numerics.mrsnorm.eq05 import printed
from numerics.norms import mrs_norm, mrs_scale
from numerics.rounding import FORMATS, FP64, gradient_errors, rounded
from numerics.scenarios import SCENARIOS

PHASORS, EPS = 32, 1e-6
TRIALS = Settings().trials * len(SCENARIOS)  # a batch of the default run
SIZE = (64, 256)  # rows, phasors: in the cache
REPEATS = 25


def _data(dtype: torch.dtype, trials: int, phasors: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rng = torch.Generator().manual_seed(0)
    h, g = (torch.randn(trials, 2 * phasors, generator=rng, dtype=torch.float64).to(dtype) for _ in range(2))
    return h, g, torch.randn(phasors, generator=rng, dtype=torch.float64).to(dtype)


def layer(h: torch.Tensor, g: torch.Tensor, gamma: torch.Tensor) -> torch.Tensor:
    """The layer's forward and backward pass."""
    return input_gradient(partial(mrs_norm, weight=gamma, eps=EPS), h, g)


def check(name: str, h: torch.Tensor, g: torch.Tensor, gamma: torch.Tensor, measured: torch.Tensor) -> None:
    """What a trial costs beside the layer: Eq. 5 in fp64, the derived bound, the comparison."""
    fmt = FORMATS[name]
    z, up, weight = h.double().unflatten(-1, (-1, 2)), g.double().unflatten(-1, (-1, 2)), gamma.double()
    expected = printed(z, up, weight, EPS)
    lost, lost64 = gradient_errors(z, up, weight, mrs_scale(h.double(), EPS), fmt, FP64)
    error = measured.double().unflatten(-1, (-1, 2)).sub(expected).abs_()
    assert bool((error <= rounded(lost, expected, fmt) + lost64).all())


def benchmarks() -> Iterator[Benchmark]:
    """A trial in fp64 against `gradcheck`, and in every format the check against the layer."""
    torch.set_num_threads(1)
    h, g, gamma = _data(torch.float64, TRIALS, PHASORS)
    one = h[:1].clone().requires_grad_()

    def trials() -> None:
        check("fp64", h, g, gamma, layer(h, g, gamma))

    def gradcheck() -> None:
        assert torch.autograd.gradcheck(partial(mrs_norm, weight=gamma, eps=EPS), (one,), fast_mode=True)

    seconds = side_by_side(REPEATS, trials=trials, gradcheck=gradcheck)
    yield Benchmark(
        f"gradcheck(fast_mode=True) / a gradient trial, P = {PHASORS}, fp64",
        seconds["gradcheck"] / (seconds["trials"] / TRIALS),
        400.0,
        "higher",
        f"{1e6 * seconds['gradcheck']:.0f} us a row / {1e6 * seconds['trials'] / TRIALS:.2f} us a trial of {TRIALS}",
    )
    for name, fmt in FORMATS.items():
        h, g, gamma = _data(fmt.dtype, *SIZE)
        measured = layer(h, g, gamma)
        seconds = side_by_side(
            REPEATS,
            layer=partial(layer, h, g, gamma),
            check=partial(check, name, h, g, gamma, measured),
        )
        yield Benchmark(
            f"check of Eq. 5 / forward + backward, {name}",
            seconds["check"] / seconds["layer"],
            3.0,
            "lower",
            f"{SIZE[0]} rows of {2 * SIZE[1]}: {1e3 * seconds['check']:.1f} ms / {1e3 * seconds['layer']:.1f} ms",
        )
