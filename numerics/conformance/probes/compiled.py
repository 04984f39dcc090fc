"""compile: torch.compile of the target against the truth, beside the target itself."""

from __future__ import annotations

from numerics.conformance import data
from numerics.conformance.judge import EVERYTHING, judge
from numerics.conformance.probes.line import Line, NotApplicable
from numerics.conformance.session import WIDTH

NO_COMPILER = ("InvalidCxxCompiler", "No working C++ compiler", "is not fully supported on", "requires a C++ compiler")


def compiled(line: Line) -> str:
    """Both are judged by the same truth, in fp32 and in one half precision."""
    line.needs_forward()
    session = line.session
    if session.options.quick:
        raise NotApplicable("not tried with --quick")
    chosen = [session.formats[name] for name in ("fp32", "bf16") if name in session.formats] or [line.first]
    for fmt in chosen:
        for number in range(2):
            rng = session.random(line.name, fmt.name, number)
            case = data.draw(rng, session.spec, fmt, session.shape(2, 3, WIDTH), session.eps(1e-6))
            line.check(case, hint="eager: ")
            result = session.call(case, compiled=True)
            said = result.failure + result.gradient_failure
            if any(text in said for text in NO_COMPILER):
                raise NotApplicable("torch.compile finds no C++ compiler here")
            fault = judge(session, case, result, EVERYTHING, line.worst)
            if fault is not None:
                line.fail(fault, "compiled: ")
    return f"compiled and eager are both right; {line.errors()}"
