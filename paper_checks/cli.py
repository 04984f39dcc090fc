"""The command line: `paper-checks`, whose commands are in the files `commands_*`.

Only typer is imported at start-up; torch, SymPy and rich are imported by the command that needs them.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from paper_checks import (
    __version__,
    commands_analyze,
    commands_check,
    commands_claims,
    commands_conform,
    commands_exhaustive,
    commands_inspect,
    commands_sweep,
    output,
)
from paper_checks.claims import LedgerError
from paper_checks.usage import UsageProblem

BAD_USAGE = 2
BROKEN_PIPE = 128 + 13
EPILOG = """\b
Exit status:
  0    every verdict is the one the ledger records
  1    a verdict differs, evidence contradicts itself, a check raised an error, or Coq refuses a proof
  2    bad usage or bad input
  3    incomplete: part of what was requested could not be run or decided, such as a prover named by --provers
  130  interrupted

\b
Examples:
  paper-checks list --paper mrsnorm
  paper-checks show eq18
  paper-checks run
  paper-checks run eq5 18 18-rms --dtype fp16 --dtype bf16
  paper-checks run --jobs 2 --json results.json --html report.html
  paper-checks run eq05 --provers exact,coq --verbose
  paper-checks run eq18 --json - | python -m json.tool
  paper-checks report --markdown > paper_checks.md
  paper-checks graph
  paper-checks analyze --phi "r**(3/2)" --psi "m**(2/3)"
  paper-checks check --norm rmsnorm --gradient "gamma[i]*g[i]/S - x[i]/(N*S**3)*sum(k, gamma[k]*g[k]*x[k])"
  paper-checks sweep eq5 --trials 1000 --store sweep.db
  paper-checks conform my_kernels.py:FastMRSNorm
"""

app = typer.Typer(
    epilog=EPILOG,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def main_options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Decides the claims of normalization-layer papers: PASS, PASS IF, FAIL or OPEN."""


COMMANDS = (
    (commands_claims.list_command, "list", None, "The claims, with their sources."),
    (commands_claims.show, "show", None, "One claim: statement, derivation, verdict, witness."),
    (commands_claims.run_command, "run", EPILOG, "Decide claims: one line a claim and a summary."),
    (commands_claims.report, "report", None, "The ledger as text: every claim, verdict and evidence."),
    (commands_claims.graph, "graph", None, "Which claim rests on which, as Mermaid text."),
    (commands_analyze.analyze, "analyze", commands_analyze.EPILOG, "A norm with any S: gradient, bounds, limits."),
    (commands_check.check, "check", commands_check.EPILOG, "Whether hand-derived formulas are the derivatives."),
    (commands_exhaustive.exhaustive, "exhaustive", commands_exhaustive.EPILOG, "Every finite fp16 phasor, tried."),
    (commands_inspect.inspect, "inspect", commands_inspect.EPILOG, "What each layer would do to real activations."),
    (commands_sweep.sweep, "sweep", commands_sweep.EPILOG, "Many random trials over a matrix of scenarios."),
    (commands_conform.conform, "conform", commands_conform.EPILOG, "Whether an implementation is right, by property."),
)
for function, name, epilog, short_help in COMMANDS:
    app.command(name, epilog=epilog, short_help=short_help)(function)


def call(arguments: list[str] | None = None) -> int:
    """Runs the command line and returns its exit status; bad usage is one line on standard error."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        status = app(arguments or ["--help"], prog_name="paper-checks", standalone_mode=False)
        sys.stdout.flush()
        return status or 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (UsageProblem, LedgerError) as problem:
        return _refuse(str(problem))
    except Exception as problem:  # what typer raises for bad usage; its classes have moved between versions
        if not hasattr(problem, "format_message"):
            raise
        return _refuse(problem.format_message())
    finally:
        output.discard_all()


def _refuse(message: str) -> int:
    line = " ".join(message.split())
    if line:
        sys.stderr.write(f"paper-checks: {line}\n")
    return BAD_USAGE
