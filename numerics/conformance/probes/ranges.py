"""fp16-range, bf16-range, spike, scale-invariance: large, small, and both at once."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Generator, Tensor

from numerics.conformance import data
from numerics.conformance.case import Case
from numerics.conformance.judge import INPUT, OUTPUT, judge
from numerics.conformance.probes.line import Line, NotApplicable
from numerics.conformance.session import WIDTH
from numerics.rounding import FORMATS, Format
from numerics.scenarios import integers, uniform

FAR = 2.0**55  # squares of this, and sums of them, are in fp32's range
MIDDLE = 2.0**30  # so are third powers, in which some backward passes compute
BEYOND = 1e30  # squares of this are not
SPIKE, REST = 2.0**14, 2.0**-4


def _level(rng: Generator, shape: tuple[int, ...], low: float, high: float) -> Tensor:
    """Magnitudes between low and high, of both signs."""
    return (low + (high - low) * uniform(rng, *shape)) * (1 - 2 * integers(rng, 2, *shape))


def fp16_range(line: Line) -> str:
    """Entries of 300, whose squares fp16 does not hold, and of 60,000, which it just holds."""
    fmt = _accepted(line, "fp16")
    session = line.session
    for size, low in ((300, 256), (60_000, 30_000)):
        rng = session.random(line.name, size)
        case = _case(line, fmt, size)
        x = _level(rng, case.x.shape, low, size).to(fmt.dtype)
        line.check(case.changed(x=x, g=case.g * 64, what=f"entries of up to {size}"), hint=f"entries of {size}: ")
        alone = torch.where(torch.arange(WIDTH) == 3, x, case.x)
        line.check(
            case.changed(x=alone, what=f"normal, one entry a row of up to {size}"), hint=f"one entry of {size}: "
        )
    return f"300 and 60,000 are right; {line.errors()}"


def bf16_range(line: Line) -> str:
    """Entries beyond fp16's range, both ways, up to where squares would leave fp32's."""
    fmt = _accepted(line, "bf16")
    for size in (1e5, MIDDLE, 1 / MIDDLE):
        case = _case(line, fmt, size)
        x = (case.x.double() * size).to(fmt.dtype)
        line.check(case.changed(x=x, what=f"normal times {size:.3g}"), hint=f"entries of {size:.3g}: ")
    note = "not tried"
    if line.session.target.forward is not None:
        for size in (FAR, 1 / FAR):
            case = replace(_case(line, fmt, size), g=None)
            line.check(
                case.changed(x=(case.x.double() * size).to(fmt.dtype), what=f"normal times {size:.3g}"), (OUTPUT,)
            )
        case = replace(_case(line, fmt, BEYOND), g=None)
        case = case.changed(x=(case.x.double() * BEYOND).to(fmt.dtype))
        right = judge(line.session, case, line.session.call(case), (OUTPUT,), {}) is None
        note = "are right too" if right else "are not (their squares are beyond fp32, too)"
    return f"right from {1 / MIDDLE:.0e} to {FAR:.0e}; entries of 1e30 {note}"


def _accepted(line: Line, name: str) -> Format:
    if name not in line.session.formats:
        raise NotApplicable(f"{name} is not accepted" if name in line.session.refused else f"{name} was not asked for")
    return FORMATS[name]


def _case(line: Line, fmt: Format, *key: object) -> Case:
    session = line.session
    rng = session.random(line.name, fmt.name, *key)
    return data.draw(rng, session.spec, fmt, session.shape(2, 3, WIDTH), session.eps(1e-6))


def spike(line: Line) -> str:
    """One channel of 2^14, the rest 2^-4 and smaller."""
    for fmt in line.formats:
        case = _case(line, fmt)
        x = (case.x.double() * REST).to(fmt.dtype)
        x[..., 6] = SPIKE
        line.check(case.changed(x=x, what="one channel of 16,384, the rest about 1/16"), hint="one spike: ")
    return f"small channels next to a spike are right; {line.errors()}"


def scale_invariance(line: Line) -> str:
    """x times a power of two gives what the formula gives, which but for eps is the same."""
    for fmt in line.formats:
        powers = (-6, -3, 0, 4, 8) if fmt.name == "fp16" else (-20, -7, 0, 11, 20)
        base = _case(line, fmt)
        for power in powers:
            x = (base.x.double() * 2.0**power).to(fmt.dtype)
            case = base.changed(x=x, what=f"normal times 2^{power}")
            if line.session.target.forward is not None:
                line.check(replace(case, g=None), (OUTPUT,), hint=f"x times 2^{power}: ")
            else:
                line.check(case, (INPUT,), hint=f"x times 2^{power}: ")
    return "the same up to eps, over powers of two"
