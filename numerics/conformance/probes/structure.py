"""pairing, independence, gamma: which entries of the input and of the parameters act on which outputs."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from numerics.conformance import data
from numerics.conformance.bounds import bound
from numerics.conformance.case import Case
from numerics.conformance.judge import INPUT, OUTPUT, Fault
from numerics.conformance.probes.line import Line, NotApplicable
from numerics.conformance.session import WIDTH
from numerics.scenarios import integers

BATCH, TIME = 3, 4


def pairing(line: Line) -> str:
    """Channels of very different size, gamma = 1: which of them share a magnitude."""
    session = line.session
    if not session.spec.paired:
        raise NotApplicable("the layer has no pairs")
    for fmt in line.formats:
        rng = session.random(line.name, fmt.name)
        case = data.draw(rng, session.spec, fmt, session.shape(2, 3, WIDTH), session.eps(1e-6))
        x = case.x * 4.0 ** integers(rng, 5, *case.x.shape)
        ones = {role: torch.ones_like(each) for role, each in case.parameters.items()}
        case = replace(case, x=x.to(fmt.dtype), parameters=ones, what="channels of sizes 1 to 256, gamma = 1")
        if session.target.forward is not None:
            line.check(replace(case, g=None), (OUTPUT,))
        else:
            line.check(case, (INPUT,))
    return "adjacent channels"


def independence(line: Line) -> str:
    """One token is changed; nothing else may move. With groups, one group is changed too."""
    session = line.session
    shape, fmt = session.shape(BATCH, TIME, WIDTH), line.first
    for eps in (session.eps(1e-6), session.eps(0.125)):
        case = data.draw(session.random(line.name, eps), session.spec, fmt, shape, eps)
        for batch, time in ((0, 0), (1, 2), (BATCH - 1, TIME - 1)):
            x = case.x.clone().reshape(BATCH, TIME, WIDTH)
            x[batch, time] *= -8
            moved = case.changed(x=x.reshape(shape), what=f"normal; token {(batch, time)} is then changed")
            changed = torch.zeros(BATCH, TIME, WIDTH, dtype=torch.bool)
            changed[batch, time] = True
            _compare(line, case, moved, changed, (batch, time))
        if session.spec.groups > 1:
            x = case.x.clone()
            per_group = WIDTH // session.spec.groups
            x[..., :per_group] *= -8
            moved = case.changed(x=x, what="normal; the first group of channels is then changed")
            changed = torch.zeros(BATCH, TIME, WIDTH, dtype=torch.bool)
            changed[..., :per_group] = True
            _compare(line, case, moved, changed, None)
    return "a token moves nothing but itself" + (", a group neither" if session.spec.groups > 1 else "")


def _compare(line: Line, case: Case, moved: Case, changed: Tensor, token: tuple[int, int] | None) -> None:
    session = line.session
    before, after = session.call(case), session.call(moved)
    for result in (before, after):
        if result.failure:
            line.fail(Fault(result.failure, case))
    inputs = case.spec.inputs
    for name, found, truths in (
        (OUTPUT, "outputs", (case.output, moved.output)),
        (INPUT, "gradients", (case.input_gradient, moved.input_gradient)),
    ):
        pairs = list(zip(getattr(before, found)[:inputs], getattr(after, found)[:inputs], strict=True))
        for one, two in pairs:
            if one.values is None or two.values is None or one.values.numel() != changed.numel():
                continue  # the lines on values and shapes say so
            allowed = sum(bound(truth, case.fmt)[1] for truth in truths).reshape(changed.shape)
            shift = (two.values - one.values).abs().reshape(changed.shape)
            bad = ~(shift <= allowed) & ~changed
            if bad.any():
                line.fail(Fault(f"{name}: {_who(bad.any(-1), token)}", moved, {"token": token}))


def _who(moved: Tensor, token: tuple[int, int] | None) -> str:
    """Which tokens (B, T) moved, as the mistake that moves them."""
    if token is None:
        return "leaks from one group of channels into the others"
    batch, time = token
    others = moved.clone()
    others[batch] = False
    same = moved[batch]
    if others.any():
        column = others.clone()
        column[:, time] = False
        if same.any() or column.any():
            return f"leaks across all tokens: changing token {token} moves tokens of other sequences"
        return f"leaks across the batch: changing token {token} moves the same position in other sequences"
    if not same[: time + 1].any():
        return f"leaks across time: changing token {token} moves later tokens of its sequence"
    return f"leaks across time: changing token {token} moves other tokens of its sequence"


def gamma(line: Line) -> str:
    """Shape of the parameters, and how gamma acts, in each format; eps is as small as can be seen."""
    line.needs_forward()
    session = line.session
    if not session.spec.roles:
        raise NotApplicable("the layer has no parameters")
    if session.kind == "constructor":
        _shapes(line)
    for fmt in line.formats:
        for number in range(2):
            rng = session.random(line.name, fmt.name, number)
            case = data.draw(rng, session.spec, fmt, session.shape(4, 8, WIDTH), session.eps(1e-6), backward=False)
            line.check(case, (OUTPUT,))
    return f"applied once, in the accumulation format; {line.errors()}"


def _shapes(line: Line) -> None:
    session = line.session
    case = data.draw(session.random("shapes"), session.spec, line.first, (2, 3, WIDTH), session.eps(1e-6))
    try:
        found = {str(name): tuple(shape) for name, shape in session.shapes[session.instance(case)]}
    except Exception as error:  # whatever the target raises, or what became of its process
        line.fail(f"constructing it {error}")
    wanted = {role: tuple(each.shape) for role, each in case.parameters.items()}
    if not found:
        line.fail(f"gamma missing: the instance has no parameters; due: {wanted}")
    squeezed = sorted(tuple(n for n in shape if n != 1) for shape in found.values())
    if squeezed != sorted(wanted.values()):
        per_channel = session.spec.paired and (WIDTH,) in squeezed
        hint = ": one entry a channel, not one a phasor" if per_channel else ""
        line.fail(f"parameters have shapes {found}; due for {WIDTH} channels: {wanted}{hint}")
