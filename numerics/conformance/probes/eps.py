"""eps: where it sits, seen where |x| is about as large as it."""

from __future__ import annotations

from dataclasses import replace

import torch

from numerics.conformance import data
from numerics.conformance.case import Case
from numerics.conformance.judge import INPUT, OUTPUT
from numerics.conformance.probes.line import Line
from numerics.conformance.session import WIDTH
from numerics.rounding import Format
from numerics.scenarios import normal

VALUES = (2.0**-6, 1e-6, 1e-8)  # the last is 0 in fp16
LEVELS = (-6, -3, -1, 0, 2, 5)  # |x| over the size at which eps matters, as powers of two


def eps(line: Line) -> str:
    """Rows from 2^-6 to 2^5 times the size at which eps matters, with gamma = 1."""
    session = line.session
    for fmt in line.formats:
        for value in VALUES if session.takes_eps else (session.fixed_eps,):
            case = _case(line, fmt, value)
            if session.target.forward is not None:
                line.check(replace(case, g=None), (OUTPUT,))
            else:
                line.check(case, (INPUT,))
    where = "outside: S = mean + eps" if session.spec.paired else "inside the root"
    known = "" if session.takes_eps else f"; eps cannot be given, {session.fixed_eps:g} is what was found"
    return where + known


def _case(line: Line, fmt: Format, value: float) -> Case:
    session = line.session
    rng = session.random(line.name, fmt.name, value)
    size = value if session.spec.paired else value**0.5
    levels = torch.tensor([size * 2.0**level for level in LEVELS], dtype=torch.float64)
    shape = session.shape(2, 3, WIDTH)
    x = (normal(rng, *shape) * levels.reshape(*shape[:-1], 1)).to(fmt.dtype)
    case = data.draw(rng, session.spec, fmt, shape, value)
    ones = {role: torch.ones_like(each) for role, each in case.parameters.items()}
    if "beta" in ones:
        ones["beta"] = torch.zeros_like(ones["beta"])
    return replace(case, x=x, parameters=ones, what="rows about as large as eps, gamma = 1")
