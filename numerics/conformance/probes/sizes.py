"""widths, rows."""

from __future__ import annotations

from numerics.conformance import data
from numerics.conformance.judge import Fault
from numerics.conformance.probes.line import Line

WIDTHS = (2, 4, 6, 768, 770)
LARGEST_WIDTH = 8192
ROWS = (0, 1, 7, 65_537)


def widths(line: Line) -> str:
    """From one pair to 8192 channels."""
    session = line.session
    tried = (*WIDTHS, *(() if session.options.quick else (LARGEST_WIDTH,)))
    tried = tuple(dict.fromkeys(session.spec.width(each) for each in tried))
    for width in tried:
        for fmt in line.formats:
            rng = session.random(line.name, fmt.name, width)
            case = data.draw(rng, session.spec, fmt, session.shape(1, 3, width), session.eps(1e-6))
            line.check(case, hint=f"{width} channels: ")
    return f"{', '.join(map(str, tried))} channels; {line.errors()}"


def rows(line: Line) -> str:
    """None, one, an odd number, and one more than a CUDA grid has blocks."""
    session = line.session
    width = session.spec.width(4)
    for count in ROWS:
        for fmt in line.formats if count < 100 or not session.options.quick else (line.first,):
            rng = session.random(line.name, fmt.name, count)
            case = data.draw(rng, session.spec, fmt, session.shape(1, count, width), session.eps(1e-6))
            case = data.last_row_counts(case) if count > 1000 else case
            result = line.check(case, hint=f"{count:,} rows: ")
            if count == 0:
                for each in (*result.outputs, *result.gradients[: session.spec.inputs]):
                    if each.shape != tuple(case.x.shape):
                        line.fail(Fault(f"0 rows: shape {each.shape}, not {tuple(case.x.shape)}", case))
    return f"{', '.join(f'{each:,}' for each in ROWS)} rows; {line.errors()}"
