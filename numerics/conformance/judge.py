"""Judging one call: what was returned against what is true, within the derived bound, and the smallest case that fails.

An error is measured against a bound that is relative to the true result, entry by entry, so that zeros, or memory that
nobody wrote, are wrong wherever the truth is not 0. A NaN is never within a bound. An infinity is right where the true
value, within the error before the last rounding, lies beyond the range of the dtype (`settle_overflow`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from numerics.conformance import diagnosis
from numerics.conformance.bounds import bound, ratios
from numerics.conformance.case import Case
from numerics.conformance.memory import Found
from numerics.conformance.session import Result, Session
from numerics.conformance.specs import Exact
from numerics.judge import plain
from numerics.rounding import FORMATS, Format

OUTPUT, INPUT, PARAMETERS = "output", "input gradient", "parameter gradients"
EVERYTHING = (OUTPUT, INPUT, PARAMETERS)
ROWS_TRIED = 4  # alone, for a smaller case of a wrong parameter gradient


@dataclass(frozen=True)
class Fault:
    """Something wrong: a sentence, and the case that shows it; the entry with the values, where there is one."""

    says: str
    case: Case | None = None
    entry: dict | None = None
    row: int = -1
    channel: int = -1

    def data(self) -> dict | None:
        """The input as the report gives it."""
        return None if self.case is None else {**self.case.described(), **(self.entry or {})}


@dataclass(frozen=True)
class Part:
    """One returned tensor with what it should be: `shape` and `fmt` those it is to have."""

    name: str  # OUTPUT, INPUT, or "gradient of gamma"
    found: Found
    exact: Exact
    fmt: Format
    shape: tuple[int, ...]


def parts(case: Case, result: Result, wanted: tuple[str, ...], backward: bool) -> Iterator[Part | Fault]:
    """The returned tensors that are wanted, paired with their truth; a Fault in place of one that is missing."""
    inputs = case.spec.inputs
    if OUTPUT in wanted and not backward:
        if result.count[0] != inputs or len(result.outputs) != inputs:
            yield Fault(f"output: {result.count[0]} values are returned, not {inputs}", case)
            return
        for found in result.outputs:
            yield Part(OUTPUT, found, case.output, case.fmt, tuple(case.x.shape))
    if case.g is None or wanted == (OUTPUT,):
        return
    if result.gradient_failure:
        yield Fault(f"{wanted[-1]}: the backward pass {result.gradient_failure}", case)
        return
    roles = list(case.parameters)
    if INPUT in wanted:
        for found in result.gradients[:inputs]:
            yield Part(INPUT, found, case.input_gradient, case.fmt, tuple(case.x.shape))
        if len(result.gradients) < inputs:
            yield Fault(f"input gradient: {len(result.gradients)} values are returned", case)
    if PARAMETERS in wanted:
        found = result.gradients[inputs:]
        for role, each in zip(roles, found, strict=False):
            exact = case.parameter_gradient(role)
            yield Part(f"gradient of {role}", each, exact, case.fmt, tuple(exact.value.shape))
        if len(found) < len(roles):
            yield Fault(f"weight gradient missing: no gradient of {roles[len(found)]}", case)


def judge(
    session: Session, case: Case, result: Result, wanted: tuple[str, ...], worst: dict[str, float]
) -> Fault | None:
    """The first fault of a result, None where there is none; `worst` collects the largest ratio of each format."""
    if result.failure:
        return Fault(f"it {result.failure}" if not result.failure.startswith("raises") else result.failure, case)
    for part in parts(case, result, wanted, session.target.forward is None):
        if isinstance(part, Fault):
            return part
        fault = judge_part(session, case, part, worst)
        if fault is not None:
            return fault
    return None


def judge_part(session: Session, case: Case, part: Part, worst: dict[str, float]) -> Fault | None:
    """What is wrong with one returned tensor."""
    found = part.found
    if found.values is None:
        what = found.wrong or f"a tensor of dtype {found.dtype} and shape {found.shape}"
        if what == "None" and part.name != OUTPUT:
            return Fault(f"{diagnosis.title(part.name)} missing: nothing depends on it", case)
        return Fault(f"{part.name}: {what} is returned, not a tensor of shape {part.shape}", case)
    values, exact = found.values, part.exact
    if part.name.startswith("gradient of") and values.numel() == 2 * exact.value.numel():
        values = values.reshape(-1, 2).sum(-1)  # an entry a channel where one a phasor is due
    if values.numel() != exact.value.numel():
        return Fault(f"{part.name}: shape {found.shape} is returned, not {part.shape}", case)
    values = values.reshape(exact.value.shape)
    if values.numel() == 0:
        return None
    ratio = ratios(values, exact, part.fmt)
    flat = torch.nan_to_num(ratio, nan=math.inf).flatten()
    largest = float(flat.max())
    if largest <= 1:
        worst[part.fmt.name] = max(worst.get(part.fmt.name, 0.0), largest)
        return None
    bad = ~(ratio <= 1)
    named = diagnosis.name(session, case, part, values, bad)
    place = torch.unravel_index(flat.argmax(), ratio.shape)
    _, after = bound(exact, part.fmt)
    got, true = values[place], exact.value[place]
    shown = f"{part.fmt.name}, shape {tuple(case.x.shape)}, {case.what}"
    says = f"{named}; got {got:.6g}, true {true:.6g} ({shown})"
    entry = {"part": part.name, "entry": [int(n) for n in place], "got": plain(got), "true": plain(true)}
    entry["bound"] = plain(after[place])
    if ratio.dim() == 2:
        return Fault(says, case, entry, int(place[0]), int(place[1]))
    return Fault(says, case, entry, channel=int(place[0]) * case.spec.roles[part.name.removeprefix("gradient of ")])


def fp64_lost(case: Case, result: Result) -> bool:
    """Whether results for fp64 input are those of a computation in fp32."""
    if case.fmt != FORMATS["fp64"] or not result.outputs or result.outputs[0].values is None:
        return False
    ratio = ratios(result.outputs[0].values.reshape(case.output.value.shape), case.output, case.fmt, wide=True)
    return not bool((ratio <= 1).all())


def shrink(session: Session, fault: Fault, wanted: tuple[str, ...]) -> Fault:
    """A fault of the same kind in a smaller case, if there is one: one row, then fewer channels around the entry."""
    case = fault.case
    if case is None or session.stopped or not case.x.is_contiguous() or case.x.numel() == 0:
        return fault
    if case.g is not None and not case.g.is_contiguous():
        return fault
    count = len(case.rows.x)
    for row in (fault.row,) if fault.row >= 0 else range(min(count, ROWS_TRIED)):
        found = _again(session, case.window(row, 0, case.channels), fault, wanted) if count > 1 else fault
        if found is not None:
            return _narrowed(session, found, wanted)
    return fault


def _narrowed(session: Session, fault: Fault, wanted: tuple[str, ...]) -> Fault:
    case, least = fault.case, session.spec.width(1)
    while (half := session.spec.width(case.channels // 2)) < case.channels and case.channels > least:
        start = min(max(fault.channel, 0) // half * half, case.channels - half)
        found = _again(session, case.window(0, start, half), fault, wanted)
        if found is None:
            break
        fault, case = found, found.case
    return fault


def _again(session: Session, case: Case, fault: Fault, wanted: tuple[str, ...]) -> Fault | None:
    """The fault of a smaller case, where it is of the same kind and there is one."""
    found = judge(session, case, session.call(case), wanted, {})
    return found if found is not None and _kind(found.says) == _kind(fault.says) else None


def _kind(says: str) -> str:
    """The diagnosis without its numbers."""
    return re.sub(r"[\d.,]+(e[+-]?\d+)?", "#", says.partition(";")[0])
