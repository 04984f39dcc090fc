"""The command `exhaustive`: the phase of every finite fp16 phasor there is, for given scales and weights."""

from __future__ import annotations

import json as json_format
import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from paper_checks import output
from paper_checks.usage import UsageProblem, integer

EPILOG = """\b
All 1,007,681,536 pairs of finite non-negative fp16 numbers are tried (other signs follow by symmetry). A phasor (x, y)
comes out as gamma (x, y) / S, computed in fp32 and rounded to fp16; D is the angle by which that turns it. Reported,
as exact numbers:

\b
  largest turn     the largest tan D while both outputs are normal numbers, over u = 2^-11
  phase lost       phasors with finite outputs that turn further than u, or become 0
  lost up to       the largest |gamma z| / S among them: from there on, no phase is lost
  infinite         phasors with an infinite output

\b
Exit status:
  0    no phasor with normal outputs turns further than u
  1    one does
  2    bad usage, or a --store about something else

\b
Examples:
  paper-checks exhaustive --jobs 2
  paper-checks exhaustive --scale 1000 --gamma 0.5 --store thousand.jsonl --json thousand.json
"""
Number = Optional[list[str]]  # noqa: UP045
File = Optional[str]  # noqa: UP045
HEADER = (
    f"{'S':>12} {'gamma':>9}  {'largest turn':>12}  {'at (x, y)':24} {'phase lost':>11}  {'share':>8}"
    f"  {'lost up to':>10} {'infinite':>11}"
)


def exhaustive(
    scale: Annotated[
        Number, typer.Option(metavar="S", help="The scale; may be repeated.", show_default="six cases")
    ] = None,
    gamma: Annotated[
        Number, typer.Option(metavar="G", help="The weight, one for each scale.", show_default="1")
    ] = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where it is computed.")] = "auto",
    jobs: Annotated[str, typer.Option(metavar="N", help="Worker processes; one on CUDA.")] = "1",
    store: Annotated[
        File, typer.Option(metavar="FILE", help="Keep what is finished there and go on from it (one scale only).")
    ] = None,
    json: Annotated[File, typer.Option(metavar="FILE", help="Write JSON; - is standard output.")] = None,
) -> None:
    """Try every finite fp16 phasor: the largest turn of a phase, and where the phase is lost."""
    workers = integer("--jobs", jobs, 1, 1024)
    target = output.open_outputs({"--json": json}).get("--json")
    cases = _cases(scale or [], gamma or [])
    if store is not None and len(cases or []) != 1:
        raise UsageProblem("--store", store, "one --scale beside it")

    from numerics.exhaustive import CASES
    from paper_checks import options

    chosen = options.Request(device=device).settings().device
    stream = sys.stderr if target is not None and target.is_stdout else sys.stdout
    found = []
    stream.write(HEADER + "\n")
    for s, g in cases or CASES:
        found.append(_survey(s, g, chosen, workers, store))
        stream.write(_line(found[-1]) + "\n")
        stream.flush()
    if target is not None:
        document = {"schema_version": 1, "device": chosen, "surveys": [each.data() for each in found]}
        target.write(json_format.dumps(document, indent=2) + "\n")
    raise typer.Exit(0 if all(each.worst <= each.bound for each in found) else 1)


def _cases(scales: list[str], gammas: list[str]) -> list[tuple[float, float]]:
    if gammas and len(gammas) != len(scales):
        raise UsageProblem("--gamma", " ".join(gammas), f"one for each --scale, {len(scales)} here")
    return [
        (_number("--scale", s, 0.0), _number("--gamma", g, None))
        for s, g in zip(scales, gammas or ["1"] * len(scales), strict=True)
    ]


def _number(argument: str, text: str, above: float | None) -> float:
    """The fp32 number nearest to what was given."""
    import struct

    accepted = "a finite number other than 0" if above is None else "a finite positive number"
    try:
        value = struct.unpack("f", struct.pack("f", float(text)))[0]
    except (ValueError, OverflowError) as error:
        raise UsageProblem(argument, text, accepted) from error
    if not (value > above if above is not None else value < 0 or value > 0) or value in (float("inf"), float("-inf")):
        raise UsageProblem(argument, text, accepted)
    return value


def _survey(scale: float, gamma: float, device: str, jobs: int, store: str | None) -> Any:
    from numerics.exhaustive import survey
    from numerics.exhaustive.parallel import finish
    from numerics.exhaustive.state import State, StateProblem
    from numerics.exhaustive.survey import checked
    from paper_checks.report import terminal
    from paper_checks.workers import quiet_children

    try:
        checked(scale, gamma)
        state = State(Path(store) if store else None, scale, gamma, device)
        with terminal.progress_bar(len(state.missing), f"S = {scale:.6g}, gamma = {gamma:.6g}") as update:
            finish(state, jobs, lambda: update(advance=1), quiet_children)
        return survey(scale, gamma, state.bands.values(), device)
    except StateProblem as problem:
        raise UsageProblem("--store", store, str(problem)) from problem
    except OSError as error:
        raise UsageProblem("--store", store, f"a file that can be written ({error.strerror or error})") from error
    except ValueError as error:
        raise UsageProblem(
            "--scale, --gamma", f"{scale}, {gamma}", f"a case that leaves some phase ({error})"
        ) from error


def _line(found: Any) -> str:
    at = ", ".join(f"{float(value):.6g}" for value in found.worst_at)
    lost = _radius(found.largest_lost, found) if found.largest_lost else "-"
    return (
        f"{found.scale:12.6g} {found.gamma:9.6g}  {float(found.worst / found.bound):10.4f} u  {f'({at})':24}"
        f" {found.lost:11,}  {found.lost / found.pairs:8.4%}  {lost:>10} {found.infinite:11,}"
    )


def _radius(pair: tuple[Fraction, Fraction], found: Any) -> str:
    square = float(sum(value**2 for value in pair) * (Fraction(found.gamma) / Fraction(found.scale)) ** 2)
    return f"{square**0.5:.3e}"
