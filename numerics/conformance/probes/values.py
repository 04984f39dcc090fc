"""forward, input-gradient, weight-gradient: within the derived bound of the truth, from the first call to the last."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from numerics.conformance import data
from numerics.conformance.case import Case, Draw
from numerics.conformance.judge import INPUT, OUTPUT, PARAMETERS, Fault, fp64_lost, judge
from numerics.conformance.probes.line import Failed, Line, NotApplicable
from numerics.conformance.session import WIDTH
from numerics.rounding import Format

CALLS = 44  # on one instance
FEW = 9
LARGE_EPS, USUAL_EPS = 0.125, 1e-6
MODES = ({}, {"inference": True}, {"grad": True}, {"train": False})
MOST_ROWS = 65536
SIZES = (1.0, 2.0**7, 1.0, 2.0**-7, 1.0)  # of the parameters, and so of the outputs


def forward(line: Line) -> str:
    """Calls one instance of each dtype and eps, with new values at the same address each time."""
    line.needs_forward()
    narrow = []
    for fmt in line.formats:
        wide = True
        for case, calls in _series(line, fmt, data.FORWARD, backward=False):
            result = _checked(line, case, calls, (OUTPUT,), **MODES[calls % len(MODES)])
            wide = wide and not fp64_lost(case, result)
        first = _case(line, fmt, data.gaussian, 0, LARGE_EPS, False)
        line.check(first, elsewhere=True, hint="old values at a new address: ")
        for number in range(3):
            again = _case(line, fmt, data.gaussian, number, LARGE_EPS, False)
            line.check(again, same_object=True, hint="a tensor overwritten with new values: ")
        another = _case(line, fmt, data.gaussian, 1, LARGE_EPS, False)
        line.check(first, between=another.x, hint="another call before the output is read: ")
        narrow += [] if wide else [fmt.name]
    return line.errors() + (f"; {', '.join(narrow)} is computed in fp32" if narrow else "")


def input_gradient(line: Line) -> str:
    """The same for the input gradient, with upstream gradients that differ in every entry, and random parameters."""
    session = line.session
    for fmt in line.formats:
        for case, calls in _series(line, fmt, data.BACKWARD, backward=True):
            _checked(line, case, calls, (INPUT,))
        if session.target.forward is not None and session.target.backward is None:
            case, another = (_case(line, fmt, data.gaussian, number, LARGE_EPS, True) for number in range(2))
            line.check(case, (INPUT,), between=another.x, hint="another forward pass before the backward pass: ")
            line.check(case, (INPUT,), frozen="parameters", hint="with frozen parameters: ")
    return line.errors()


def weight_gradient(line: Line) -> str:
    """Sums over up to 65,536 rows."""
    session = line.session
    if not session.spec.roles:
        raise NotApplicable("the layer has no parameters")
    for fmt in line.formats:
        for case, calls in _series(line, fmt, data.BACKWARD[:FEW], backward=True, most=FEW):
            _checked(line, case, calls, (PARAMETERS,))
        if session.target.forward is not None and session.target.backward is None:
            case = _case(line, fmt, data.gaussian, 0, LARGE_EPS, True)
            line.check(case, (PARAMETERS,), frozen="input", hint="with an input that needs no gradient: ")
    for fmt in line.formats:
        large = () if session.options.quick and fmt != line.first else (MOST_ROWS,)
        for rows in (1, 7, 4096, *large):
            shape = session.shape(1, rows, session.spec.width(4))
            case = data.draw(session.random(line.name, rows), session.spec, fmt, shape, session.eps(USUAL_EPS))
            line.check(data.last_row_counts(case) if rows == MOST_ROWS else case, (PARAMETERS,))
    return line.errors()


def _series(
    line: Line, fmt: Format, kinds: tuple[Draw, ...], backward: bool, most: int = CALLS
) -> Iterator[tuple[Case, int]]:
    """Cases of every kind in turn, with the number of calls made on that instance before."""
    for eps, calls in ((LARGE_EPS, most), (USUAL_EPS, FEW)):
        if eps == USUAL_EPS and not line.session.takes_eps:
            return
        for number in range(calls):
            yield _case(line, fmt, kinds[number % len(kinds)], number, eps, backward), number


def _case(line: Line, fmt: Format, kind: Draw, number: int, eps: float, backward: bool) -> Case:
    session = line.session
    rng = session.random(line.name, fmt.name, eps, number)
    case = data.draw(rng, session.spec, fmt, session.shape(2, 3, WIDTH), session.eps(eps), kind, backward)
    size = SIZES[number % len(SIZES)]
    return replace(case, parameters={role: each * size for role, each in case.parameters.items()})


def _checked(line: Line, case: Case, calls: int, wanted: tuple[str, ...], **flags: object) -> object:
    """As `Line.check`; where a fresh process is right on the same case, the fault lies in what was called before."""
    try:
        return line.check(case, wanted, **flags)
    except Failed as failed:
        session = line.session
        if session.stopped:
            raise
        session.restart()
        if judge(session, case, session.call(case, **flags), wanted, {}) is None:
            says = f"right in a fresh process, wrong in call {calls + 1} of the series: {failed.fault.says}"
            raise Failed(Fault(says, case, failed.fault.entry)) from None
        raise
