"""The command `inspect`: what would the normalization layers do to my activations?"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from paper_checks import output
from paper_checks.usage import UsageProblem, integer

EPILOG = """\b
The last dimension (--dim for another one) holds the channels, read as phasors of adjacent channels; every other one
counts as rows. gamma is 1. Columns of the table, over all rows:

\b
  outlier       largest |x| over the median |x|
  kurtosis      3 for normal numbers
  S/S_RMS       the scale of MRSNorm over that of RMSNorm: smallest, median, largest
  attenuation   by how much the outliers shrink the other channels, under each layer (an outlier is a phasor more
                than 10 times the median one of its row); 1 is not at all
  radial gain   smallest 1 - r_i / (P S)
  amplified     largest RMS of r over mean of r: the operator norm of the Jacobian times S
  max |o|       largest output phasor of MRSNorm
  self-score    smallest score of an output with itself
  phase lost    share of the phasors whose direction does not survive rounding the output to fp16

\b
Exit status:
  0    inspected
  2    bad usage, or a file that cannot be read as tensors; a pickle of other things than tensors is refused

\b
Examples:
  paper-checks inspect activations.safetensors
  paper-checks inspect activations.npy --dim 1 --json -
  paper-checks inspect qk.safetensors --query layer0.query --key layer0.key --heads 12 --plot qk.png
"""
Text = Optional[str]  # noqa: UP045


def inspect(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A .safetensors, .npy, .npz or .pt file.")],
    tensor: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option("--tensor", metavar="NAME", help="Only this tensor; may be repeated.", show_default="all"),
    ] = None,
    dim: Annotated[str, typer.Option(metavar="D", help="The dimension that holds the channels.")] = "-1",
    eps: Annotated[str, typer.Option(metavar="X", help="eps of the layers.")] = "1e-6",
    query: Annotated[Text, typer.Option(metavar="NAME", help="A tensor of queries, with --key.")] = None,
    key: Annotated[Text, typer.Option(metavar="NAME", help="A tensor of keys.")] = None,
    heads: Annotated[str, typer.Option(metavar="N", help="Attention heads that share the channels.")] = "1",
    plot: Annotated[Text, typer.Option(metavar="FILE.png", help="Draw the quantities.")] = None,
    json: Annotated[Text, typer.Option(metavar="FILE", help="Write JSON; - is standard output.")] = None,
) -> None:
    """Measure what MRSNorm, RMSNorm and attention would make of stored activations, in fp64, whatever their size."""
    if (query is None) != (key is None):
        raise UsageProblem("--query" if key is None else "--key", "it alone", "both --query and --key, or none of them")
    _check_plot(plot)
    dimension, number = integer("--dim", dim, -64, 63), integer("--heads", heads, 1, 2**20)
    small = _eps(eps)
    outputs = output.open_outputs({"--json": json, "--plot": plot})

    from numerics import inspection
    from paper_checks.report import activations as report
    from paper_checks.report import terminal

    stored = _open(inspection, file, dimension)
    chosen, skipped = _chosen(stored, tensor or [])
    pair = tuple(_named(stored, option, name) for option, name in (("--query", query), ("--key", key)) if name)
    if pair and (obstacle := inspection.pairs.obstacle(*pair, number)):
        raise UsageProblem("--query, --key", f"{query}, {key}", f"a query and a key; {obstacle}")
    total = sum(math.prod(each.shape) for each in (*chosen, *pair[:1]))
    with terminal.progress_bar(total, "reading") as update:

        def named(name: str) -> Callable[[int], None]:
            update(description=name)
            return lambda numbers: update(advance=numbers)

        summaries = [inspection.inspect_tensor(each, small, named(each.name)) for each in chosen]
        attention = _pair(inspection, pair, number, small, named) if pair else None

    if plot is not None:
        outputs["--plot"].write(report.draw(summaries))
    target = outputs.get("--json")
    if target is not None:
        target.write(report.as_json(small, summaries, skipped, attention))
    stream = sys.stderr if target is not None and target.is_stdout else sys.stdout
    report.print_table(summaries, skipped, attention, stream)


def _check_plot(plot: str | None) -> None:
    if plot is not None and Path(plot).suffix.lower() != ".png":
        raise UsageProblem("--plot", plot, "the name of a .png file")


def _eps(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (value >= 0 and math.isfinite(value)):
        raise UsageProblem("--eps", text, "a finite number of at least 0")
    return value


def _open(inspection: Any, file: str, dim: int) -> list:
    path = Path(file)
    try:
        return inspection.open_file(path, dim)
    except inspection.FileProblem as problem:
        raise UsageProblem("FILE", file, str(problem)) from problem
    except OSError as error:
        raise UsageProblem("FILE", file, f"a readable file ({error.strerror or error})") from error


def _chosen(stored: list, names: list[str]) -> tuple[list, dict[str, str]]:
    """The tensors to inspect, and why others are left out; a tensor that was named is never left out."""
    if names:
        chosen = [_named(stored, "--tensor", name) for name in dict.fromkeys(names)]
        for each in chosen:
            if each.obstacle:
                raise UsageProblem("--tensor", each.name, f"a tensor of activations; {each.obstacle}")
        return chosen, {}
    skipped = {each.name: each.obstacle for each in stored if each.obstacle}
    chosen = [each for each in stored if not each.obstacle]
    if not chosen:
        why = "; ".join(f"{name}: {reason}" for name, reason in list(skipped.items())[:3])
        raise UsageProblem("FILE", "no tensor of activations in it", why or "at least one tensor")
    return chosen, skipped


def _named(stored: list, option: str, name: str) -> Any:
    found = [each for each in stored if each.name == name]
    if not found:
        names = [each.name for each in stored]
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        raise UsageProblem(option, name, f"one of {shown}")
    return found[0]


def _pair(inspection: Any, pair: tuple, heads: int, eps: float, advance: Callable) -> Any:
    try:
        return inspection.inspect_pair(*pair, heads, eps, advance(pair[0].name))
    except ValueError as error:
        given = f"{pair[0].name}, {pair[1].name}"
        raise UsageProblem("--query, --key", given, f"finite numbers; {error}") from error
