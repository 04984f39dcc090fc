"""dtype-shape, purity, determinism."""

from __future__ import annotations

from dataclasses import replace

from numerics.conformance import data
from numerics.conformance.case import Case
from numerics.conformance.judge import Fault
from numerics.conformance.memory import Found
from numerics.conformance.probes.line import Line
from numerics.conformance.session import WIDTH, Result
from numerics.rounding import Format

LEADS = ((3,), (), (2, 1, 3))  # besides (B, T)


def dtype_shape(line: Line) -> str:
    """Outputs and gradients have the dtype and the shape of what they belong to."""
    session, notes = line.session, []
    if session.flat:
        line.fail("only (T, N) is accepted: input of shape (B, T, N) raises")
    for fmt in line.formats:
        result = session.call(_case(line, fmt, (2, 3, WIDTH)))
        _right(line, _case(line, fmt, (2, 3, WIDTH)), result, fmt)
    asked = session.options.dtypes
    for name, why in session.refused.items():
        if name in asked:
            line.fail(f"{name} is not accepted: raises {why}")
        notes.append(f"{name} is not accepted ({why})")
    for lead in LEADS:
        case = _case(line, line.first, (*lead, WIDTH))
        result = session.call(case)
        said = result.failure or result.gradient_failure
        if said.startswith("raises"):
            notes.append(f"input of shape {(*lead, WIDTH)} {said}")
        else:
            _right(line, case, result, line.first)
    return "; ".join([", ".join(session.formats), *notes])


def _case(line: Line, fmt: Format, shape: tuple[int, ...]) -> Case:
    session = line.session
    return data.draw(session.random(line.name, fmt.name, shape), session.spec, fmt, shape, session.eps(1e-6))


def _right(line: Line, case: Case, result: Result, fmt: Format) -> None:
    if result.failure:
        line.fail(Fault(result.failure, case))
    shape, inputs = tuple(case.x.shape), case.spec.inputs
    for each in result.outputs:
        _same(line, case, "output", each, fmt, shape)
    if result.count[0] != len(result.outputs) or (line.session.target.forward and len(result.outputs) != inputs):
        line.fail(Fault(f"{result.count[0]} outputs, not {inputs}", case))
    if result.gradient_failure:
        line.fail(Fault(f"the backward pass {result.gradient_failure}", case))
    for each in result.gradients[:inputs]:
        _same(line, case, "input gradient", each, fmt, shape)
    for role, each in zip(case.parameters, result.gradients[inputs:], strict=False):
        if line.session.kind != "constructor":
            _same(line, case, f"gradient of {role}", each, fmt, tuple(case.parameters[role].shape))


def _same(line: Line, case: Case, what: str, found: Found, fmt: Format, shape: tuple[int, ...]) -> None:
    if found.wrong:
        line.fail(Fault(f"{what}: {found.wrong} where a tensor is due", case))
    if found.dtype != fmt.name:
        line.fail(Fault(f"{what} of dtype {found.dtype} for {fmt.name} input", case))
    if found.shape != shape:
        line.fail(Fault(f"{what} of shape {found.shape}, not {shape}", case))


def purity(line: Line) -> str:
    """Inputs, upstream gradients and parameters are left as they were, in all calls so far; nothing is printed."""
    session = line.session
    for fmt in line.formats:
        case = _case(line, fmt, session.shape(2, 3, WIDTH))
        for each in (replace(case, g=None), case):
            result = session.call(each)
            if result.failure and not session.impure:
                line.fail(Fault(result.failure, each))
    if session.impure:
        says, case = min(session.impure, key=lambda found: found[1].x.numel())
        line.fail(Fault(says, case))
    return f"inputs, upstream gradients and parameters unchanged in {session.calls} calls; nothing printed"


def determinism(line: Line) -> str:
    """The same bits on further calls, with other calls between them, and from another instance."""
    session = line.session
    for fmt in line.formats:
        for shape in (session.shape(2, 3, WIDTH), session.shape(4, 512, WIDTH)):
            case = _case(line, fmt, shape)
            first = session.call(case)
            if first.failure:
                line.fail(Fault(first.failure, case))
            other = case.changed(x=case.x.flip(-1))
            for serial, what in ((0, "a second run"), (0, "a third run"), (1, "a second instance")):
                session.call(other, serial=serial)
                again = session.call(case, serial=serial)
                _equal(line, case, first, again, what)
    return "bit-equal on repeated runs and on a second instance"


def _equal(line: Line, case: Case, first: Result, again: Result, what: str) -> None:
    if again.failure:
        line.fail(Fault(f"on {what}: {again.failure}", case))
    for name in ("outputs", "gradients"):
        before, after = getattr(first, name), getattr(again, name)
        if [each.bits for each in before] != [each.bits for each in after]:
            part = "output" if name == "outputs" else "gradient"
            line.fail(Fault(f"the {part} of the same input differs on {what}", case))
