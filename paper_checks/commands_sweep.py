"""The command `sweep`: many trials of the checks over a matrix of scenarios, in shards that survive a crash."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Optional

import typer

from paper_checks import claims as ledger
from paper_checks import output, slugs
from paper_checks.claims import Claim
from paper_checks.usage import UsageProblem, integer

MOST_SHARDS = 10**6
CONNECT_SECONDS = 10
EPILOG = """\b
A scenario is a kind of outlier (none, channel, phasor, token, tail, massive), a kind with its magnitude (massive:1e4),
or one cell: outlier, P, gamma, eps, content and layout, as in massive:1e4/P64/wide/eps1e-6/zeros/strided. Without
--full, the cells are a part of the matrix in which every two values of different axes meet.

\b
With --store, finished shards are kept in an SQLite file. The same command goes on where it was interrupted or killed,
several processes may share one store, and a store of another sweep is refused.

\b
Exit status:
  0    every error is within its bound
  1    a violation, or the store cannot be written (a full disk)
  2    bad usage, or a store that belongs to something else
  3    incomplete: shards that raised an error or were given up
  130  interrupted

\b
Examples:
  paper-checks sweep --trials 256 --jobs 2 --store sweep.db
  paper-checks sweep eq5 eq18 --scenario massive --dtype fp16 --json cells.json
  paper-checks sweep eq05 --scenario massive:1e4/P64/wide/eps1e-6/zeros/strided --dtype bf16
  paper-checks sweep eq5 --full --trials 1000 --store eq5.db --backend dask --scheduler tcp://10.0.0.1:8786
"""
Names = Optional[list[str]]  # noqa: UP045
Text = Optional[str]  # noqa: UP045


def sweep(
    slug: Annotated[
        Names, typer.Argument(metavar="[SLUG]...", help="Claims to sweep; all that can be.", show_default=False)
    ] = None,
    trials: Annotated[str, typer.Option(metavar="N", help="Random trials a cell and dtype.")] = "64",
    seed: Annotated[str, typer.Option(metavar="N", help="Seed of everything random.")] = "0",
    scenario: Annotated[
        Names, typer.Option(metavar="NAME", help="A scenario; may be repeated.", show_default="all")
    ] = None,
    pairs: Annotated[
        Names, typer.Option(metavar="P", help="A number of phasors; may be repeated.", show_default="all")
    ] = None,
    dtype: Annotated[
        Names,
        typer.Option(metavar="D", help="fp16, bf16, fp32 or fp64; may be repeated.", show_default="all four"),
    ] = None,
    device: Annotated[
        str, typer.Option(metavar="auto|cpu|cuda", help="Where; auto takes CUDA where it, or a Dask worker, has it.")
    ] = "auto",
    full: Annotated[bool, typer.Option("--full", help="Every cell of the matrix.")] = False,
    jobs: Annotated[str, typer.Option(metavar="N", help="Local worker processes.")] = "1",
    backend: Annotated[str, typer.Option(metavar="local|dask", help="What runs the shards.")] = "local",
    scheduler: Annotated[Text, typer.Option(metavar="tcp://HOST:PORT", help="The scheduler of a Dask cluster.")] = None,
    store: Annotated[Text, typer.Option(metavar="FILE", help="Keep finished shards here; go on from here.")] = None,
    json: Annotated[Text, typer.Option(metavar="FILE", help="Write JSON; - is standard output.")] = None,
    top: Annotated[str, typer.Option(metavar="N", help="Cells in the first table, worst first.")] = "10",
) -> None:
    """Run many random trials over a matrix of scenarios: a table of the worst error/bound a cell.

    Shards (a claim, a cell, a dtype, a device, a block of trials) are merged by their maximum: the result does not
    depend on the number of workers, their kind, or the order in which they finish.
    """
    started = time.perf_counter()
    claims = _claims(slug or ())
    shown = integer("--top", top, 1, 10**6)
    from paper_checks import options

    asked = options.Request(device, tuple(dtype or ()), trials, seed, full)
    settings = asked.check()
    workers_asked = integer("--jobs", jobs, 1, options.MOST_JOBS)
    _check_backend(backend, scheduler, workers_asked)
    cells = _cells(scenario or (), pairs or (), full)
    outputs = output.open_outputs({"--json": json})
    if store is not None and json not in (None, output.STDOUT) and os.path.realpath(store) == os.path.realpath(json):
        raise UsageProblem("--store", store, "a file other than that of --json")

    from numerics.sweeps.run import sweep as run_sweep
    from numerics.sweeps.shards import Plan
    from paper_checks.report import sweep as report

    with _workers(backend, scheduler, workers_asked, asked) as (workers, found_device):
        order = [claim.slug for claim in claims]
        plan = Plan(tuple(order), cells, settings.dtypes, (found_device,), settings.trials, settings.seed)
        if len(plan) > MOST_SHARDS:
            accepted = (
                f"at most {MOST_SHARDS} shards (this makes {len(plan)}): fewer claims, scenarios, widths or dtypes"
            )
            raise UsageProblem("--trials", trials, accepted)
        with _opened(store, plan) as kept, report.progress(len(plan)) as advance:
            swept = run_sweep(plan, workers, kept, advance)
            results = list(swept.merged.cells(plan))
    refuted = {(claim.slug, "as printed") for claim in claims if claim.expected == "FAIL"}
    found = report.Report(results, refuted, len(plan), swept.stored, swept.errors, swept.unfinished, swept.lost)
    environment = options.environment(settings, workers_asked) | {"device": found_device, "backend": backend}
    if json is not None:
        outputs["--json"].write(report.as_json(found, plan.identity(), environment))
    stream = sys.stderr if json == output.STDOUT else sys.stdout
    report.print_tables(found, stream, shown, time.perf_counter() - started, plan.identity())
    raise typer.Exit(found.exit_status)


def _claims(typed: list[str] | tuple) -> list[Claim]:
    """The claims to sweep, in the order of the ledger."""
    from numerics.sweeps.checks import CLAIMS

    every = [claim for paper in ledger.load() for claim in paper.claims]
    swept = [claim for claim in every if claim.slug in CLAIMS]
    named = []
    for name in typed:
        claim = slugs.find(name, every)
        if claim not in swept:
            raise UsageProblem("SLUG", name, f"a claim that is swept: {', '.join(each.slug for each in swept)}")
        named.append(claim)
    return [claim for claim in swept if claim in named] if named else swept


def _cells(scenarios: list[str] | tuple, pairs: list[str] | tuple, full: bool) -> tuple:
    from numerics.sweeps import matrix

    widths = [integer("--pairs", text, 1, max(matrix.PHASORS)) for text in pairs]
    try:
        return matrix.select(scenarios, widths, full)
    except matrix.NoSuchCell as error:
        option = {"scenario": "--scenario", "P": "--pairs"}[error.axis]
        raise UsageProblem(option, error.given, error.accepted) from error


def _check_backend(backend: str, scheduler: str | None, jobs: int) -> None:
    if backend not in ("local", "dask"):
        raise UsageProblem("--backend", backend, "local or dask")
    if backend == "local" and scheduler is not None:
        raise UsageProblem("--scheduler", scheduler, "nothing without --backend dask")
    if backend == "dask" and scheduler is None:
        raise UsageProblem("--backend", backend, "--scheduler tcp://HOST:PORT beside it")
    if backend == "dask" and jobs != 1:
        raise UsageProblem("--jobs", jobs, "nothing beside --backend dask: the cluster has its own workers")


@contextmanager
def _workers(backend: str, scheduler: str | None, jobs: int, asked: Any) -> Iterator[tuple[Any, str]]:
    """Where the shards are run, and the device that they are run on."""
    from numerics.sweeps import run
    from paper_checks.workers import quiet_children

    if backend == "dask":
        with _client(scheduler) as client:
            yield _on_cluster(client, asked.device)
    elif jobs > 1:
        yield run.LocalProcesses(jobs, quiet_children), asked.settings().device
    else:
        yield run.Workers(), asked.settings().device


def _client(scheduler: str | None) -> Any:
    try:
        from distributed import Client
    except ImportError as error:
        accepted = f"local here: Dask is not installed (pip install 'paper-checks[distributed]'; {error})"
        raise UsageProblem("--backend", "dask", accepted) from error
    try:
        return Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        accepted = f"the address of a running scheduler ({' '.join(str(error).split())})"
        raise UsageProblem("--scheduler", scheduler, accepted) from error


def _on_cluster(client: Any, device: str) -> tuple[Any, str]:
    """The cluster's workers that have the device, and the device: CUDA, unless it is not wanted or nowhere there."""
    from numerics.sweeps import run

    if device == "cpu":
        return run.DaskWorkers(client), "cpu"
    with_cuda = tuple(address for address, found in client.run(run.has_cuda).items() if found)
    if with_cuda:
        return run.DaskWorkers(client, with_cuda), "cuda"
    if device == "cuda":
        raise UsageProblem("--device", device, "auto or cpu here: no worker of the cluster finds a CUDA device")
    return run.DaskWorkers(client), "cpu"


@contextmanager
def _opened(path: str | None, plan: Any) -> Iterator[Any]:
    """The store, if one is asked for; a full disk ends the command with status 1."""
    if path is None:
        yield None
        return
    from numerics.sweeps.store import Refused, Store, Unwritable

    try:
        store = Store(path, plan.identity())
        try:
            yield store
        finally:
            store.close()
    except Refused as error:
        raise UsageProblem("--store", path, f"a new file, or the store of this very sweep ({error})") from error
    except Unwritable as error:
        line = f"paper-checks: --store: {path} cannot be written ({error}); with room, the same command goes on from it"
        typer.echo(line, err=True)
        raise typer.Exit(1) from error
