"""digest-listing measured: what PyTorch says to the steps of the listing, in the order in which they are reached.

As printed, the listing runs. Its shapes are given to real tensors here, its lost parentheses to a real module and
tensor, its lost indentation to the compiler; each on the shortest program that has the defect. A step that raises makes
the ratio infinite; none depends on a format, and each is taken once. The shapes that the digest prints are `printed`,
those of appendix C `corrected`: (B, 2P, M) inputs, G groups. The grouped phasors have twice as many elements as there
are, for all sizes.

There is no formula with which nothing would be violated in the place of `printed`: parentheses and indentation are no
part of it, and those steps raise with any shapes.

Source: the code listing of a digest of the MRSNorm paper; compared with its appendix C.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import nn

from numerics.measure import Measurement, Settings

SLUG = "digest-listing"
SIZES = ((1, 1, 1, 1), (3, 2, 1, 1), (2, 6, 3, 5), (2, 64, 4, 1))  # B, P, G, M
Shapes = dict[str, tuple[int, ...]]
ERRORS = (SyntaxError, AttributeError, TypeError, RuntimeError)


def printed(before: int, phasors: int, groups: int, after: int) -> Shapes:
    """The shapes of the digest, by step."""
    return {
        "pairs": (before, -1, 2, after),
        "grouped magnitudes": (before, groups, phasors // groups, 1, after),
        "grouped phasors": (before, groups, phasors // groups, 2, 2, after),
    }


def corrected(before: int, phasors: int, groups: int, after: int) -> Shapes:
    """The shapes with the axis of the components named once."""
    return {
        "pairs": (before, phasors, 2, after),
        "grouped magnitudes": (before, groups, phasors // groups, 1, after),
        "grouped phasors": (before, groups, phasors // groups, 2, after),
    }


def _with(step: str, shape: Callable[[int, int, int, int], tuple[int, ...]]) -> Callable[..., Shapes]:
    return lambda before, phasors, groups, after: {
        "pairs": (before, phasors, 2, after),
        "grouped magnitudes": (before, groups, phasors // groups, 1, after),
        "grouped phasors": (before, groups, phasors // groups, 2, after),
        step: shape(before, phasors, groups, after),
    }


# the printed statement is violated as it stands; each of these makes what was consistent in it violated as well
MUTANTS: dict[str, Callable[..., Shapes]] = {
    "threes for pairs": _with("pairs", lambda b, p, g, m: (b, p, 3, m)),
    "magnitudes of two components": _with("grouped magnitudes", lambda b, p, g, m: (b, g, p // g, 2, m)),
}
CORRECTED_MUTANTS: dict[str, Callable[..., Shapes]] = {
    "the axis of the components twice": _with("grouped phasors", lambda b, p, g, m: (b, g, p // g, 2, 2, m)),
    "no axis of the components": _with("grouped phasors", lambda b, p, g, m: (b, g, p // g, m)),
    "as many groups as phasors": _with("grouped phasors", lambda b, p, g, m: (b, p, p, 2, m)),
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """Each step of the listing as the digest has it, and with its defects repaired."""
    for statement, shapes in (("as printed", printed), ("corrected", corrected)):
        for step in shapes(*SIZES[0]):
            yield _row(settings, statement, f"the view that gives the {step}", _views(settings, shapes, step))
    for statement, call in (("as printed", False), ("corrected", True)):
        body = "    return 1" if call else "return 1"
        others = {
            "a constructor that assigns a parameter": partial(_Layer, call),
            "the number of axes": partial(_last_axis, torch.ones(2, 2), call),
            "the body of a function": partial(compile, f"def f():\n{body}", "listing", "exec"),
        }
        for scope, step in others.items():
            yield _row(settings, statement, scope, [step])


class _Layer(nn.Module):
    """A module whose constructor names the one of its base class, and calls it or not."""

    def __init__(self, call: bool) -> None:
        if call:
            super().__init__()
        else:
            super.__init__  # noqa: B018
        self.weight = nn.Parameter(torch.ones(1))


def _last_axis(x: torch.Tensor, call: bool) -> object:
    return (x.dim() if call else x.dim) - 1


def _views(settings: Settings, shapes: Callable[..., Shapes], step: str) -> list[Callable[[], object]]:
    steps = []
    for before, phasors, groups, after in SIZES:
        components = {"pairs": 2, "grouped magnitudes": 1, "grouped phasors": 2}[step]
        size = (before, phasors * components, after) if step == "pairs" else (before, phasors, components, after)
        x = torch.ones(size, device=settings.device)
        steps.append(partial(x.view, shapes(before, phasors, groups, after)[step]))
    return steps


def _row(settings: Settings, statement: str, scope: str, steps: list[Callable[[], object]]) -> Measurement:
    raised = []
    for step in steps:
        try:
            step()
        except ERRORS as error:
            raised.append(f"{type(error).__name__}: {' '.join(str(error).split())}")
    return Measurement(
        kind="experiment",
        statement=statement,
        scope=scope,
        worst=math.inf if raised else 0.0,
        trials=len(steps),
        dtype="exact",
        device=settings.device,
        seed=settings.seed,
        detail=raised[0] if raised else "",
    )
