"""layout-input, layout-gradient: strided, transposed and expanded tensors, the other one being contiguous."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Generator, Tensor

from numerics.conformance import data
from numerics.conformance.judge import EVERYTHING, Fault, judge
from numerics.conformance.probes.line import Line
from numerics.conformance.session import WIDTH
from numerics.scenarios import normal

B, T, N = 2, 3, WIDTH


def _three(rng: Generator) -> Iterator[tuple[str, Tensor]]:
    """Tensors of shape (B, T, N)."""
    yield "batch and time transposed", normal(rng, T, B, N).transpose(0, 1)
    yield "channels stored first", normal(rng, B, N, T).transpose(1, 2)
    yield "every other token", normal(rng, B, 2 * T, N)[:, ::2]
    yield "a slice of wider rows", normal(rng, B, T, 2 * N)[..., :N]
    yield "a slice from the second channel on", normal(rng, B, T, N + 2)[..., 1 : N + 1]
    yield "every other channel", normal(rng, B, T, 2 * N)[..., ::2]
    yield "expanded along the batch", normal(rng, 1, T, N).expand(B, T, N)
    yield "expanded along time", normal(rng, B, 1, N).expand(B, T, N)
    yield "expanded along batch and time", normal(rng, 1, 1, N).expand(B, T, N)
    yield "expanded along the channels", normal(rng, B, T, 1).expand(B, T, N)


def _two(rng: Generator) -> Iterator[tuple[str, Tensor]]:
    """Tensors of shape (T, N)."""
    yield "transposed", normal(rng, N, T).t()
    yield "every other row", normal(rng, 2 * T, N)[::2]
    yield "a slice of wider rows", normal(rng, T, 2 * N)[:, :N]
    yield "a slice from the second channel on", normal(rng, T, N + 2)[:, 1 : N + 1]
    yield "every other channel", normal(rng, T, 2 * N)[:, ::2]
    yield "expanded along the rows", normal(rng, 1, N).expand(T, N)
    yield "expanded along the channels", normal(rng, T, 1).expand(T, N)


def _kept(x: Tensor, like: Tensor) -> Tensor:
    """x in the dtype of `like`, with the strides it has."""
    flat = x.as_strided((1 + sum((n - 1) * s for n, s in zip(x.shape, x.stride(), strict=True)),), (1,))
    return flat.to(like.dtype).as_strided(x.shape, x.stride())


def layout_input(line: Line) -> str:
    """Input of each layout."""
    return _all(line, lambda case, x, what: case.changed(x=_kept(x, case.x), what=f"input {what}"))


def layout_gradient(line: Line) -> str:
    """Upstream gradients of each layout; that of a sum is one number expanded."""
    return _all(
        line, lambda case, g, what: case.changed(g=_kept(g, case.x), what=f"upstream gradient {what}"), scalar=True
    )


def _all(line: Line, change: object, scalar: bool = False) -> str:
    session, faults, right = line.session, [], []
    for fmt in (line.first,) if session.options.quick else line.formats:
        rng = session.random(line.name, fmt.name)
        layouts = list((_two if session.flat else _three)(rng))
        if scalar:
            shape = layouts[0][1].shape
            layouts.append(("expanded from one number", normal(rng, *(1 for _ in shape)).expand(shape)))
        for what, tensor in layouts:
            case = data.draw(rng, session.spec, fmt, tuple(tensor.shape), session.eps(1e-6))
            case = change(case, tensor, what)
            fault = judge(session, case, session.call(case), EVERYTHING, line.worst)
            (right if fault is None else faults).append((what, fault))
    if faults:
        _report(line, faults, not right)
    return f"{len({what for what, _ in right})} layouts, transposed, sliced and expanded; {line.errors()}"


def _report(line: Line, faults: list[tuple[str, Fault]], every: bool) -> None:
    what, fault = faults[0]
    others = [each for each in dict.fromkeys(name for name, _ in faults) if each != what]
    also = "; so is every other layout" if every else f"; also {', '.join(others)}" if others else ""
    line.fail(Fault(f"{what}: {fault.says}{also}", fault.case, fault.entry, fault.row, fault.channel))
