"""How a case is handed to a target, and how what comes back is put in the order of the case."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from numerics.conformance.case import Case
from numerics.conformance.memory import Found

NAMES = {
    "gamma": ("weight", "gamma", "g", "scale"),
    "W": ("magnitude", "W", "w"),
    "beta": ("bias", "beta", "b"),
}


def turned(case: Case) -> bool:
    """Whether the second of two inputs has the rows of the first in reverse; not where strides matter."""
    return case.x.is_contiguous() and (case.g is None or case.g.is_contiguous())


def both(x: Tensor, case: Case) -> list[Tensor]:
    """An input or an upstream gradient, and where the layer takes two, a second one."""
    if case.spec.inputs == 1:
        return [x]
    return [x, x.flip(0) if turned(case) else x]


def unturned(found: list[Found], outputs: int, case: Case) -> list[Found]:
    """What came back for the second input, in the order of the first."""
    if case.spec.inputs == 2 and turned(case):
        for position in (1, outputs + 1):
            if position < len(found) and found[position].values is not None and found[position].shape:
                found[position] = replace(found[position], values=found[position].values.flip(0))
    return found


def assigned(case: Case, shapes: list, kind: str) -> list[tuple[str | None, Tensor]]:
    """(name, values) for each parameter of the specification that the target has; a function gets them as arguments.

    A parameter with an entry a channel, where there should be one a phasor, gets each entry twice.
    """
    if kind != "constructor":
        return [(None, each) for each in case.parameters.values()]
    free, found = [(str(name), tuple(shape)) for name, shape in shapes], []
    for role, values in case.parameters.items():
        chosen = next((each for each in free if each[0].rpartition(".")[2] in NAMES[role]), free[0] if free else None)
        if chosen is None:
            continue
        free.remove(chosen)
        count = 1
        for size in chosen[1]:
            count *= size
        if count == 2 * len(values):
            values = values.repeat_interleave(2)
        elif count != len(values):
            continue
        found.append((chosen[0], values.reshape(chosen[1])))
    return found
