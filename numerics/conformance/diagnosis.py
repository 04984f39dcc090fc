"""Naming what went wrong: a known mistake, where it gives the values that were returned.

Each mistake is a formula that is evaluated in fp64, as the truth is. It is named where it explains every entry of what
was returned, within four times the bound of the truth and the rounding of its own values. A name is an explanation: it
decides nothing, the judgement has been made before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from numerics.conformance.bounds import bound
from numerics.conformance.case import Case
from numerics.conformance.memory import POISON, stored
from numerics.conformance.specs import Rows
from numerics.rounding import FORMATS, Format, roundings

if TYPE_CHECKING:
    from numerics.conformance.judge import Part
    from numerics.conformance.session import Session

Change = Callable[[Tensor], Tensor]
GAMMA: dict[str, Change] = {
    "gamma missing": torch.ones_like,
    "gamma counted twice": torch.square,
    "1 + gamma in place of gamma": lambda gamma: 1 + gamma,
    "2 gamma in place of gamma": lambda gamma: 2 * gamma,
    "|gamma| in place of gamma": torch.abs,
    "exp(gamma) in place of gamma": torch.exp,
    "the sign of gamma": torch.neg,
}
CLOSER = 4  # times as close as the truth
BLOCK = 65535  # the most blocks a CUDA grid has in its second and third dimension
GLIBC = POISON ^ 1  # what the C library fills memory with


def title(part: str) -> str:
    """What a part is called: forward for the output, weight gradient for the gradient of gamma."""
    return {"output": "forward", "gradient of gamma": "weight gradient"}.get(part, part)


def name(session: Session, case: Case, part: Part, values: Tensor, bad: Tensor) -> str:
    """The mistake that gives `values` in place of the truth, or how large the error is."""
    head = title(part.name)
    for found in (
        _overflow(session, case, part, values, bad),
        _at_zero(case, part, values, bad),
        _whole(part, values, bad, head),
        _first(session, case, part, values, bad),
    ):
        if found:
            return found if found.startswith(head) else f"{head}: {found}"
    return f"{head}: {_size(part, values, bad)}"


def _first(session: Session, case: Case, part: Part, values: Tensor, bad: Tensor) -> str | None:
    for what, predicted in candidates(session, case, part):
        if explains(values, predicted, part, bad):
            return what
    return None


def explains(values: Tensor, predicted: Tensor, part: Part, bad: Tensor) -> bool:
    """Whether a mistake's values are those returned, and, where these are wrong, far closer to them than the truth."""
    if predicted.shape != values.shape:
        return False
    relative = roundings(8 * (values.shape[-1] + 64), FORMATS["fp32"]) + 2 * _roundoff(part.fmt)
    _, allowed = bound(part.exact, part.fmt)
    true = part.exact.value.abs()
    shrunk = torch.where(true > 0, (predicted.abs() / true).clamp(max=1), torch.ones_like(true)).nan_to_num(nan=1.0)
    slack = 4 * allowed.nan_to_num(posinf=0.0) * shrunk + relative * predicted.abs() + 2 * part.fmt.underflow
    same = (values - predicted).abs() <= slack
    same |= values.isnan() & predicted.isnan()
    same |= values == predicted.to(part.fmt.dtype).double()
    missed, off = ((values - each).abs()[bad] / allowed[bad] for each in (predicted, part.exact.value))
    closer = missed.nan_to_num(0.0).max() * CLOSER <= off.nan_to_num(math.inf).max()
    return bool(same.all() and closer)


def _roundoff(fmt: Format) -> float:
    return fmt.unit_roundoff if fmt != fmt.accumulation else 0.0


def _overflow(session: Session, case: Case, part: Part, values: Tensor, bad: Tensor) -> str | None:
    """Squares that leave the range of the dtype: zeros or NaN where entries are large, and nowhere else."""
    if part.name != "output":
        return None
    size = case.rows.x.abs().amax(-1)
    rows = bad.any(-1)
    beyond = size.square() >= part.fmt.overflow
    gone = (values[rows] == 0).all() or values[rows].isnan().any()
    if not (beyond[rows].all() and gone):
        return None
    smaller = session.call(replace(case, x=case.x / 2.0 ** math.ceil(math.log2(float(size.max()))), g=None))
    alive = smaller.outputs and smaller.outputs[0].values is not None and (smaller.outputs[0].values != 0).any()
    return f"squares overflow in {part.fmt.name}" if alive else None


def _at_zero(case: Case, part: Part, values: Tensor, bad: Tensor) -> str | None:
    """NaN exactly where phasors are 0: the derivative of a root at 0."""
    if part.name != "input gradient" or not case.spec.paired:
        return None
    zero = (case.rows.x.unflatten(-1, (-1, 2)) == 0).all(-1).repeat_interleave(2, dim=-1)
    return "NaN where a phasor is 0" if zero.any() and (values.isnan() == bad).all() and (zero >= bad).all() else None


def _whole(part: Part, values: Tensor, bad: Tensor, head: str) -> str | None:
    """What needs no formula: zeros, memory left unwritten, rows beyond a grid."""
    rows = bad if bad.dim() == 1 else bad.any(-1)
    first = int(rows.nonzero()[0])
    if len(rows) > BLOCK and first >= BLOCK and values.dim() == 2:
        return "rows past 65,535 untouched"
    if (values == 0).all():
        return {"forward": "forward: returns zeros"}.get(head, f"{head} zero")
    bits = torch.tensor(list(part.found.bits[: 2**16]), dtype=torch.uint8)
    if len(bits) and ((bits == POISON) | (bits == GLIBC)).all():
        return "memory left unwritten"
    if values.dim() == 2 and len(rows) > 1 and (values[rows] == 0).all():
        return f"{head} zero in {int(rows.sum())} of {len(rows)} rows"
    return None


def candidates(session: Session, case: Case, part: Part) -> Iterator[tuple[str, Tensor]]:
    """Known mistakes that the part may show, and the values they give."""
    rows = case.rows
    if part.name == "output":
        yield from _outputs(session, case, rows)
    elif part.name == "input gradient":
        yield from case.spec.gradient_mistakes(rows)
        yield from _through(case, rows, None)
        yield from _upstream(case, lambda changed: changed.input_gradient.value)
    else:
        role = part.name.removeprefix("gradient of ")
        yield from _sums(case, rows, role)
        yield from _through(case, rows, role)
        yield from _upstream(case, lambda changed: changed.parameter_gradient(role).value)


def _outputs(session: Session, case: Case, rows: Rows) -> Iterator[tuple[str, Tensor]]:
    spec = case.spec
    kept = float(torch.tensor(rows.eps, dtype=torch.float64).to(rows.narrow))
    if case.fmt != case.fmt.accumulation:
        yield f"eps swallowed: {rows.eps:g} is {kept:.4g} in {case.fmt.name}", spec.forward(replace(rows, eps=kept))
    yield "returns its input unchanged", rows.x
    for what, older in session.earlier(case):
        yield what, older.output.value
    if "gamma" in rows.parameters:
        for what, change in GAMMA.items():
            yield what, spec.forward(rows.with_parameter("gamma", change))
    yield from spec.scales(rows)
    read = _as_contiguous(case.x)
    if read is not None:
        yield "strided input read as if it were contiguous", case.changed(x=read).output.value
    if "gamma" in rows.parameters:
        yield from _casts(case, rows)


def _casts(case: Case, rows: Rows) -> Iterator[tuple[str, Tensor]]:
    """gamma multiplied on the wrong side of a rounding to half precision."""
    if case.fmt == case.fmt.accumulation:
        return
    name, narrow = case.fmt.name, case.fmt.dtype
    plain = case.spec.forward(rows.with_parameter("gamma", torch.ones_like)).to(narrow).double()
    gamma = rows.parameters["gamma"].repeat_interleave(case.spec.roles["gamma"])
    if case.spec.roles.keys() <= {"gamma"}:
        yield f"gamma applied after the cast to {name}: two roundings", (gamma * plain).to(narrow).double()
        scale = rows.x / case.spec.forward(rows.with_parameter("gamma", torch.ones_like))
        weighted = (gamma * rows.x).to(narrow).double()
        yield f"gamma applied before the cast from {name}: two roundings", (weighted / scale).to(narrow).double()


def _through(case: Case, rows: Rows, role: str | None) -> Iterator[tuple[str, Tensor]]:
    """Gradients of wrong forward formulas, by automatic differentiation of them in fp64."""
    x = rows.x.clone().requires_grad_()
    given = {name: each.clone().requires_grad_() for name, each in rows.parameters.items()}
    live = replace(rows, x=x, parameters=given)
    source = x if role is None else given[role]
    forms = list(case.spec.scales(live))
    if "gamma" in given:
        forms += [(what, case.spec.forward(live.with_parameter("gamma", change))) for what, change in GAMMA.items()]
    for what, output in forms:
        if output.requires_grad:
            (found,) = torch.autograd.grad(output, source, rows.g, retain_graph=True, allow_unused=True)
            if found is not None:
                yield what, found


def _upstream(case: Case, gradient: Callable[[Case], Tensor]) -> Iterator[tuple[str, Tensor]]:
    yield "upstream gradient ignored, taken as ones", gradient(case.changed(g=torch.ones_like(case.g)))
    read = _as_contiguous(case.g)
    if read is not None:
        yield "strided upstream gradient read as if it were contiguous", gradient(case.changed(g=read))
    read = _as_contiguous(case.x)
    if read is not None:
        yield "strided input read as if it were contiguous", gradient(case.changed(x=read))


def _as_contiguous(x: Tensor) -> Tensor | None:
    """What code finds that ignores strides and reads on from the first element."""
    bits = stored(x)
    if x.is_contiguous() or len(bits) < x.numel() * x.element_size():
        return None
    return bits[: x.numel() * x.element_size()].view(x.dtype).reshape(x.shape)


def _sums(case: Case, rows: Rows, role: str) -> Iterator[tuple[str, Tensor]]:
    """Mistakes of the sum over rows."""
    true, count = case.parameter_gradient(role).value, len(rows.x)
    yield "its sign", -true
    if count > 1:
        yield "mean over rows in place of the sum", true / count
        for what, kept in (("the last row", slice(-1, None)), ("the first row", slice(1))):
            yield f"only {what} counted", _part(case, rows, role, kept)
        if len(rows.lead) == 2 and min(rows.lead) > 1:
            yield "only the last sequence of the batch counted", _part(case, rows, role, slice(-rows.lead[1], None))
            yield "only the first sequence of the batch counted", _part(case, rows, role, slice(rows.lead[1]))
    for block in (BLOCK, 1024, 256):
        if count > block:
            yield f"rows past {block:,} left out", _part(case, rows, role, slice(block))
    if role == "gamma":
        yield "gamma counted twice", true * rows.parameters[role]
        undivided = (rows.g * rows.x).sum(0)
        yield "division by S missing", undivided.unflatten(0, (-1, case.spec.roles[role])).sum(-1)
    if case.spec.roles[role] == 2:
        first = rows.g * case.spec.forward(rows.with_parameter(role, torch.ones_like))
        yield "first channel of each pair only", first.sum(0)[::2]
        yield "second channel of each pair only", first.sum(0)[1::2]


def _part(case: Case, rows: Rows, role: str, kept: slice) -> Tensor:
    fewer = replace(rows, x=rows.x[kept], g=rows.g[kept], lead=(len(rows.x[kept]),))
    return case.spec.parameter_gradient(role, fewer).value


def _size(part: Part, values: Tensor, bad: Tensor) -> str:
    """How large an error is that no known mistake explains."""
    gone = values.isnan() & bad
    if gone.any():
        where = "everywhere" if gone.all() else f"in {int(gone.sum())} of {gone.numel()} entries"
        return f"NaN {where}"
    if (values.isinf() & bad).any():
        return f"infinite in {int((values.isinf() & bad).sum())} of {bad.numel()} entries"
    if values.dim() == 2 and (values[bad] == 0).all():
        return f"zero in {int(bad.sum())} of {bad.numel()} entries"
    _, allowed = bound(part.exact, part.fmt)
    error = (values - part.exact.value).abs()
    relative = float((error / part.exact.value.abs())[bad & (part.exact.value != 0)].nan_to_num(0.0).max())
    ratio = float((error / allowed)[bad].max())
    half = part.fmt != part.fmt.accumulation
    narrow = part.fmt if half else FORMATS["bf16"]
    if FORMATS["fp16"].unit_roundoff / 16 <= relative <= 4 * narrow.unit_roundoff:
        what = part.fmt.name if half else "half precision"
        return f"error {ratio:.3g} times the bound, as if something is rounded to {what} on the way"
    return f"error {ratio:.3g} times the bound"
