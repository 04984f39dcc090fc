"""The commands about the ledger's claims: `list`, `show`, `run`, `report`, `graph`."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from typing import Annotated, Optional

import typer

from paper_checks import claims as ledger
from paper_checks import output, routes, slugs
from paper_checks.claims import Claim, Paper
from paper_checks.usage import UsageProblem, integer

PaperOption = Annotated[Optional[str], typer.Option("--paper", metavar="NAME", help="Only this paper's claims.")]  # noqa: UP045
File = Optional[str]  # noqa: UP045
ProversOption = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        metavar="NAME,...",
        help="Provers beside SymPy: sympy (no other), exact, smt, interval, coq; may be repeated.",
        show_default="all",
    ),
]


def list_command(
    paper: PaperOption = None,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """The claims, with their sources."""
    from paper_checks.report import listing

    found = [claim for each in _papers(paper) for claim in each.claims]
    sys.stdout.write(listing.as_json(found) if json else listing.as_text(found))


def show(
    slug: Annotated[str, typer.Argument(metavar="SLUG", help="A claim: eq18, 18 and EQ18 are the same.")],
    paper: PaperOption = None,
    latex: Annotated[bool, typer.Option("--latex", help="Formulas as LaTeX.")] = False,
    json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
    provers: ProversOption = None,
) -> None:
    """What one claim says and where, how it is derived, its verdict, the witness, what is true instead.

    The routes are the provers that decide its statements, with the scope of each and where it does so. The verdict
    shown here rests on the symbolic evidence alone; `run` adds the measurements.
    """
    if latex and json:
        raise UsageProblem("--latex", "--json beside it", "one of the two (the JSON has both forms of each formula)")
    claim = slugs.find(slug, [claim for each in _papers(paper) for claim in each.claims])
    from paper_checks import derivation, options, run
    from paper_checks.report import claim as report
    from paper_checks.report import document, terminal

    chosen, named = options.provers(provers or ())
    with terminal.progress(len(run.tasks([claim], None, chosen))) as advance:
        result = run.run([claim], None, 1, advance, chosen, named)[0]
    columns = shutil.get_terminal_size().columns - len(report.INDENT) if sys.stdout.isatty() else None
    derivations = [] if result.broken else derivation.derive(claim, columns)
    if json:
        sys.stdout.write(document.dumps(report.as_data(result, derivations)))
    else:
        sys.stdout.write(report.as_text(result, derivations, latex))
    missing = set(named) & routes.absent([result]).keys()
    raise typer.Exit(run.DIFFERS if result.problems else run.INCOMPLETE if missing else run.REPRODUCED)


def run_command(
    slug: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Argument(metavar="[SLUG]...", help="Claims to decide; all of them if none is named.", show_default=False),
    ] = None,
    paper: PaperOption = None,
    device: Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where the numeric checks run.")] = "auto",
    dtype: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="D", help="fp16, bf16, fp32 or fp64; may be repeated.", show_default="all four"),
    ] = None,
    trials: Annotated[str, typer.Option(metavar="N", help="Random trials a cell of each numeric check.")] = "64",
    seed: Annotated[str, typer.Option(metavar="N", help="Seed of everything random.")] = "0",
    full: Annotated[bool, typer.Option("--full", help="Search deeper; takes longer.")] = False,
    provers: ProversOption = None,
    jobs: Annotated[str, typer.Option(metavar="N", help="Worker processes.")] = "1",
    verbose: Annotated[bool, typer.Option("--verbose", help="Print every row of evidence below its claim.")] = False,
    json: Annotated[File, typer.Option(metavar="FILE", help="Write JSON; - is standard output.")] = None,
    junit: Annotated[File, typer.Option(metavar="FILE", help="Write JUnit XML; - is standard output.")] = None,
    html: Annotated[File, typer.Option(metavar="FILE", help="Write an HTML page; - is standard output.")] = None,
) -> None:
    """Decide claims: print one line a claim and a summary.

    A prover that is not installed is shown as not run, and nothing is counted as decided by it. That changes the exit
    status (to 3) only if --provers names it: the verdicts do not rest on it.
    """
    from paper_checks import options, run
    from paper_checks.report import files

    started = time.perf_counter()
    papers = _papers(paper)
    chosen, named = _select(papers, slug or ())
    workers = integer("--jobs", jobs, 1, options.MOST_JOBS)
    asking, by_name = options.provers(provers or ())
    asked = options.Request(device, tuple(dtype or ()), trials, seed, full)
    asked.check()
    outputs = output.open_outputs({"--json": json, "--junit": junit, "--html": html})
    settings = asked.settings()

    from paper_checks.report import terminal

    with terminal.progress(len(run.tasks(chosen, settings, asking))) as advance:
        results = run.run(chosen, settings, workers, advance, asking, by_name)
    seconds = time.perf_counter() - started
    files.write(outputs, results, papers, options.environment(settings, workers))
    table = sys.stderr if any(each.is_stdout for each in outputs.values()) else sys.stdout
    terminal.print_table(results, table, seconds, verbose)
    raise typer.Exit(run.status(results, named))


def report(
    markdown: Annotated[bool, typer.Option("--markdown", help="As Markdown (the only format so far).")] = False,
    source: Annotated[
        File, typer.Option("--from", metavar="FILE", help="Results that `run --json FILE` wrote, instead of a new run.")
    ] = None,
    target: Annotated[str, typer.Option("--output", metavar="FILE", help="Where to; - is standard output.")] = "-",
    jobs: Annotated[str, typer.Option(metavar="N", help="Worker processes.")] = "1",
) -> None:
    """Render every claim, verdict and piece of evidence, without machine-dependent numbers.

    Without --from, everything is decided first, on the CPU, with the default settings of `run` and every prover.
    """
    if not markdown:
        raise UsageProblem("report", "no format", "--markdown")
    from paper_checks import options, run
    from paper_checks.report import document, terminal
    from paper_checks.report import markdown as report_markdown

    papers = _papers(None)
    chosen = [claim for each in papers for claim in each.claims]
    workers = integer("--jobs", jobs, 1, options.MOST_JOBS)
    written = output.open_outputs({"--output": target})["--output"]
    if source is not None:
        results = document.results_from(_read("--from", source), chosen, "--from", source)
    else:
        settings = options.Request(device="cpu").settings()
        asking, _ = options.provers(())
        with terminal.progress(len(run.tasks(chosen, settings, asking))) as advance:
            results = run.run(chosen, settings, workers, advance, asking)
    written.write(report_markdown.render(results, papers))
    for problem in (problem for result in results for problem in result.problems):
        typer.echo(f"paper-checks: {problem}", err=True)
    raise typer.Exit(run.status(results))


def graph(
    paper: PaperOption = None,
    alone: Annotated[bool, typer.Option("--all", help="Also the claims that no other one is tied to.")] = False,
) -> None:
    """Which claim's proof uses which claim's lemma, as Mermaid text; the proofs are made while it runs."""
    from paper_checks import graph as claim_graph

    chosen = [claim for each in _papers(paper) for claim in each.claims]
    sys.stdout.write(claim_graph.mermaid(claim_graph.build(chosen), alone))


def _papers(name: str | None) -> tuple[Paper, ...]:
    papers = ledger.load()
    found = tuple(each for each in papers if name is None or each.name == name.strip().lower())
    if not found:
        raise UsageProblem("--paper", name, f"one of {', '.join(each.name for each in papers)}")
    return found


def _select(papers: tuple[Paper, ...], names: list[str]) -> tuple[list[Claim], list[Claim]]:
    """The claims to decide, in the order of the ledger, and those among them that were named."""
    every = [claim for each in papers for claim in each.claims]
    named = [slugs.find(name, every) for name in names]
    return [claim for claim in every if claim in named] if named else every, named


def _read(argument: str, path: str) -> str:
    try:
        return sys.stdin.read() if path == output.STDOUT else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageProblem(argument, path, f"a readable file ({error})") from error
