"""How a case is handed to a target, and how what comes back is put in the order of the case."""

from __future__ import annotations

from torch import Tensor

from numerics.conformance.case import Case
from numerics.conformance.memory import Found
from numerics.conformance.specs import Spec

NAMES = {
    "gamma": ("weight", "gamma", "g", "scale"),
    "W": ("magnitude", "W", "w"),
    "beta": ("bias", "beta", "b"),
}


def both(x: Tensor, spec: Spec) -> list[Tensor]:
    """The input, and where the layer takes two, a second one: the rows in reverse, or again where strides matter."""
    if spec.inputs == 1:
        return [x]
    return [x, x.flip(0) if x.is_contiguous() else x]


def unflipped(found: list[Found], split: int, case: Case, spec: Spec) -> list[Found]:
    """Results of the second input in the order of the first."""
    if spec.inputs == 2:
        for position, x in ((1, case.x), (split + 1, case.g)):
            in_reach = position < len(found) and x is not None
            if in_reach and found[position].values is not None and x.is_contiguous() and found[position].shape:
                each = found[position]
                found[position] = Found(each.dtype, each.shape, each.values.flip(0), each.wrong, each.bits)
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
