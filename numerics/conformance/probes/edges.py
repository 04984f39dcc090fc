"""zero-row, zero-pair, non-finite: inputs at which a formula divides by 0, or is not a number."""

from __future__ import annotations

import torch

from numerics.conformance import data
from numerics.conformance.case import Case
from numerics.conformance.judge import INPUT, OUTPUT, Fault
from numerics.conformance.memory import Found
from numerics.conformance.probes.line import Line, NotApplicable
from numerics.conformance.session import WIDTH
from numerics.rounding import Format

SMALL_EPS = 1e-8  # 0 in fp16


def zero_row(line: Line) -> str:
    """A row of zeros among others: its gradient is gamma g / eps, and may well be infinite in fp16."""
    session, infinite = line.session, []
    for fmt in line.formats:
        for eps in dict.fromkeys((session.eps(1e-6), session.eps(SMALL_EPS))):
            case = _zeroed(line, fmt, eps)
            line.check(case, hint="a zero row: ")
            gradient = case.input_gradient.value.abs()
            if (gradient >= fmt.overflow).any() and fmt.name not in infinite:
                infinite.append(fmt.name)
    beyond = f"; its gradient, g over eps, is beyond {', '.join(infinite)}: infinite, as it must be" if infinite else ""
    return "finite output, right gradient there and elsewhere" + beyond


def _zeroed(line: Line, fmt: Format, eps: float) -> Case:
    session = line.session
    shape = session.shape(2, 3, WIDTH)
    case = data.draw(session.random(line.name, fmt.name, eps), session.spec, fmt, shape, eps)
    x = case.x.clone()
    x.view(-1, WIDTH)[4] = 0
    return case.changed(x=x, what="normal, row 4 is zero")


def zero_pair(line: Line) -> str:
    """A phasor (0, 0) among live ones: no NaN, and right gradients at all others; there, any |u| <= 1 will do."""
    session = line.session
    if not session.spec.paired:
        raise NotApplicable("the layer has no pairs")
    for fmt in line.formats:
        for pairs in ((3,), (0, 1, 6)):
            shape = session.shape(2, 3, WIDTH)
            rng = session.random(line.name, fmt.name, pairs)
            case = data.draw(rng, session.spec, fmt, shape, session.eps(1e-6))
            x = case.x.clone().reshape(-1, WIDTH // 2, 2)
            x[2, list(pairs)] = 0
            case = case.changed(x=x.reshape(shape), what=f"normal, pairs {pairs} of row 2 are zero")
            line.check(case, hint="a zero pair among live ones: ")
    return "no NaN, gradients right everywhere else"


def non_finite(line: Line) -> str:
    """NaN and infinity stay in their rows, and are not hidden there."""
    session, said = line.session, {}
    for fmt in line.formats:
        shape = session.shape(2, 3, WIDTH)
        case = data.draw(session.random(line.name, fmt.name), session.spec, fmt, shape, session.eps(1e-6))
        clean = case.rows.x
        for value, row in ((torch.nan, 1), (torch.inf, 4), (-torch.inf, 0)):
            x = case.x.clone()
            x.view(-1, WIDTH)[row, 5] = value
            dirty = case.changed(x=x, what=f"normal, {value} in row {row}")
            result = session.call(dirty)
            if result.failure:
                line.fail(Fault(f"{value} in the input: {result.failure}", dirty))
            wanted = ((OUTPUT, result.outputs[:1]), (INPUT, result.gradients[:1]))
            for name, found in wanted:
                for each in found:
                    if each.values is not None and each.values.numel() == clean.numel():
                        policy = _policy(line, dirty, name, each, row, value)
                        if name == OUTPUT or session.target.forward is None:
                            said[str(value).lstrip("-")] = policy
    return "; ".join(f"{what}: {policy}" for what, policy in said.items())


def _policy(line: Line, case: Case, name: str, found: Found, row: int, value: float) -> str:
    values = found.values.reshape(-1, WIDTH)
    elsewhere = torch.arange(len(values)) != row
    if not values[elsewhere].isfinite().all():
        line.fail(Fault(f"{name}: {value} in one row makes other rows not finite", case))
    own = values[row]
    if own.isfinite().all() and (name == OUTPUT or value != value):
        line.fail(Fault(f"{name}: {value} in the input is hidden: the whole row is finite", case))
    if own.isnan().all():
        return "NaN in all of its row"
    rest = own[torch.arange(WIDTH) != 5]
    others = (
        "0" if (rest == 0).all() else "NaN" if rest.isnan().all() else "finite" if rest.isfinite().all() else "mixed"
    )
    return f"{'NaN' if own[5].isnan() else float(own[5])} in its place, {others} elsewhere in its row"
