"""The command `conform`: does an implementation of a normalization layer do what the layer is specified to do?"""

from __future__ import annotations

import json as json_text
import secrets
import sys
import time
from types import SimpleNamespace
from typing import Annotated, Any, Optional

import typer

from paper_checks import output
from paper_checks.usage import UsageProblem, integer

EPILOG = """\b
This runs the code of TARGET, in a process of its own with limits on time and memory, but with your rights: it is a
check, not a sandbox. A class or a factory is called with the number of channels, or what --kwargs has in place of it,
and with eps; "{channels}", "{pairs}", "{groups}" and "{eps}" stand for numbers there. A function is called as
f(x, weight, eps), a --backward function as f(x, weight, dy, eps), which returns (dx, dweight); a second parameter
comes behind weight.

\b
  --spec         output                                       S
  mrsnorm        gamma_i z_i / S, z_i adjacent channels       mean |z_k| + eps
  group-mrsnorm  the same in each of the groups               mean |z_k| of the group + eps
  rmsnorm        gamma_c x_c / S                              sqrt(mean x^2 + eps)
  layernorm      gamma_c (x_c - mu) / S + beta_c              sqrt(variance + eps)
  ma-rmsnorm     2 gamma_c x_c / S + 0.1 W_c log S            sqrt(mean x^2 + eps)
  qk-norm        z_i / S of queries and keys, f(q, k)         mean |z_k| + eps

\b
Exit status:
  0    conforms: no property fails
  1    does not conform
  2    bad usage, or TARGET cannot be loaded

\b
Examples:
  paper-checks conform my_kernels.py:FastMRSNorm
  paper-checks conform torch.nn:RMSNorm --spec rmsnorm --quick
  paper-checks conform norms.py:Norm --kwargs '{"groups": 1, "channels": "{channels}", "dim": -1}'
  paper-checks conform --backward my_kernels.py:mrsnorm_backward --json -
"""
Text = Optional[str]  # noqa: UP045
LARGEST_SEED = 2**63 - 1
LONGEST = 86_400  # seconds
LIMITS = {False: ("180", 10.0), True: ("120", 5.0)}  # by --quick: seconds for everything, and for one call
GROUP_NAMES = ("num_groups", "groups")


def conform(
    target: Annotated[
        Text, typer.Argument(metavar="TARGET", help="package.module:Name or path/to/file.py:Name.")
    ] = None,
    spec: Annotated[str, typer.Option(metavar="NAME", help="What it is to be; see below.")] = "mrsnorm",
    kwargs: Annotated[
        Text, typer.Option(metavar="JSON", help="Arguments of the constructor, with placeholders.")
    ] = None,
    backward: Annotated[Text, typer.Option(metavar="PLACE:NAME", help="A hand-written backward pass.")] = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where the target runs.")] = "auto",
    dtype: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            metavar="D", help="fp16, bf16, fp32 or fp64; may be repeated.", show_default="those that it accepts"
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Without compile and the largest sizes.")] = False,
    seed: Annotated[Text, typer.Option(metavar="N", help="Replays a run.", show_default="a new one")] = None,
    time_limit: Annotated[
        Text,
        typer.Option(metavar="SECONDS", help="For everything; a call has 10 (5).", show_default="180 (--quick: 120)"),
    ] = None,
    json: Annotated[Text, typer.Option(metavar="FILE", help="Write JSON; - is standard output.")] = None,
) -> None:
    """Check an implementation of a layer, one line a property.

    Values, gradients, edges, ranges, sizes, layouts, and what it remembers or changes.
    What is true is computed outside the process that runs TARGET; bounds on errors are derived from unit roundoffs.
    """
    from paper_checks import options

    arguments = _kwargs(kwargs)
    limit, call_limit = LIMITS[quick]
    seconds = integer("--time-limit", time_limit or limit, 1, LONGEST)
    chosen = secrets.randbits(32) if seed is None else integer("--seed", seed, 0, LARGEST_SEED)
    dtypes = tuple(dict.fromkeys(options.dtype(name) for name in dtype or ()))
    written = output.open_outputs({"--json": json}).get("--json")
    place = options.Request(device=device).settings().device

    from numerics.conformance.check import check
    from numerics.conformance.probes import PROPERTIES
    from numerics.conformance.session import Options
    from numerics.conformance.target import LoadError, Target
    from paper_checks.report import conformance, terminal

    asked = Options(chosen, place, dtypes, quick, min(call_limit, seconds), seconds)
    started = time.perf_counter()
    try:
        with terminal.progress(len(PROPERTIES)) as advance:
            found = check(
                Target(target, backward, arguments),
                _spec(spec, arguments),
                asked,
                lambda name: advance(SimpleNamespace(slug=name)),
            )
    except LoadError as error:
        raise UsageProblem(error.argument, error.given, error.accepted) from error
    table = sys.stderr if written is not None and written.is_stdout else sys.stdout
    conformance.print_report(found, chosen, time.perf_counter() - started, table)
    if written is not None:
        written.write(conformance.dumps(found))
    raise typer.Exit(0 if found.conforms else 1)


def _kwargs(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        found = json_text.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UsageProblem("--kwargs", text, 'a JSON object, such as {"dim": "{channels}"}')
    return found


def _spec(name: str, arguments: dict[str, Any] | None) -> Any:
    from numerics.conformance import specs

    short = name.strip().lower()
    if short not in specs.NAMES:
        raise UsageProblem("--spec", name, f"one of {', '.join(specs.NAMES)}")
    given = [(arguments or {}).get(each) for each in GROUP_NAMES]
    groups = next((each for each in given if type(each) is int and each > 0), specs.GROUPS)
    return specs.find(short, groups)
