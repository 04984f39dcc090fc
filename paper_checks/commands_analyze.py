"""The command `analyze`: what follows from a normalizer S = psi(mean phi(r)) + eps, for every number of inputs."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterator
from typing import Annotated, Any, Optional

import typer

from paper_checks import output
from paper_checks.usage import UsageProblem

EPILOG = """\b
phi is a formula in r, the magnitude of a phasor (or |x| of a channel), psi one in m, the mean of phi(r); both may use
numbers, declared parameters, + - * / ** ( ), sqrt, log, exp, Abs, Min and Max. Nothing else is understood, and nothing
is run. S has to be real and positive for every input that is not zero.

\b
Exit status:
  0    analysed (what could not be derived is said to be so)
  2    bad usage; for a formula, with the position or the reason
  3    analysed, but that S > 0 could not be shown

\b
Examples:
  paper-checks analyze --norm mrsnorm
  paper-checks analyze --phi 'r**(3/2)' --psi 'm**(2/3)'
  paper-checks analyze --phi 'r**p' --psi 'm**(1/p)' --param p
  paper-checks analyze --phi 'r**p' --psi 'm**(1/p)' --param p=3 --over channels --eps inside --json -
"""
WIDTH = 100
EXPRESSIONS = ("scale", "gradient", "own_block", "cross_block", "radial_gain", "interference_norm")
Text = Optional[str]  # noqa: UP045


def analyze(
    phi: Annotated[Text, typer.Option(metavar="EXPR", help="phi(r).")] = None,
    psi: Annotated[Text, typer.Option(metavar="EXPR", help="psi(m).")] = None,
    norm: Annotated[
        Text, typer.Option(metavar="NAME", help="Instead: mrsnorm, mrsnorm-eq11 (appendix A's S) or rmsnorm.")
    ] = None,
    over: Annotated[
        Text, typer.Option(metavar="phasors|channels", help="What is normalized.", show_default="phasors")
    ] = None,
    eps: Annotated[
        Text, typer.Option(metavar="outside|inside", help="psi(m) + eps or psi(m + eps).", show_default="outside")
    ] = None,
    param: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="NAME[=VALUE]", help="A positive parameter; may be repeated.", show_default=False),
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Formulas as LaTeX.")] = False,
    json: Annotated[Text, typer.Option(metavar="FILE", help="Write JSON; - is standard output.")] = None,
) -> None:
    """Gradient, Jacobian, bounds and limits of any S = psi(mean phi(r)) + eps, for every number of inputs."""
    if norm is not None and (phi, psi, over, eps, param or None) != (None,) * 5:
        raise UsageProblem("--norm", norm, "no --phi, --psi, --over, --eps or --param beside it")
    if norm is None and (phi is None or psi is None):
        raise UsageProblem(
            "--psi" if phi else "--phi", "no formula", "a formula for --phi and for --psi, or --norm NAME"
        )
    target = output.open_outputs({"--json": json}).get("--json")
    found = _analysed(phi, psi, norm and norm.strip().lower(), over or "phasors", eps or "outside", param or [])

    from paper_checks import formulas

    formulas.deliver(_text(found, latex), _data(found), target)
    raise typer.Exit(0 if found.settled else 3)


def _analysed(phi: Text, psi: Text, norm: Text, over: str, eps: str, parameters: list[str]) -> Any:
    from paper_checks import formulas
    from theory import analysis
    from theory.analysis.normalizer import ArgumentError, FormulaError

    named = {name.strip(): value or None for name, _, value in (text.partition("=") for text in parameters)}
    try:
        return analysis.analyze(phi, psi, over.strip().lower(), eps=eps.strip().lower(), norm=norm, parameters=named)
    except FormulaError as error:
        if error.position is not None:
            raise formulas.refused(f"--{error.which}", error.formula, error.reason, error.position) from error
        accepted = f"a formula with S real and positive for every input that is not zero: {error.reason}"
        raise UsageProblem(f"--{error.which}", error.formula, accepted) from error
    except ArgumentError as error:
        option = {"parameters": "--param"}.get(error.argument, f"--{error.argument}")
        raise UsageProblem(option, error.given, error.accepted) from error


def _text(found: Any, latex: bool) -> Iterator[str]:
    inside = found.normalizer.inside
    shown = f"S = psi({'m + eps' if inside else 'm'}){'' if inside else ' + eps'}"
    yield f"{shown}, m = mean phi(r) over {found.normalizer.over}, phi(r) = {found.phi}, psi(m) = {found.psi}"
    for each in found.findings:
        yield ""
        scope = f" for {_scope(found)}" if each.status == "proved" else ""
        basis = "" if each.status == "derived" else f" ({each.status}{scope})"
        yield f"{each.name}{basis}"
        yield textwrap.fill(each.says, WIDTH, initial_indent="    ", subsequent_indent="    ")
        if each.text:
            yield rf"    \[ {each.latex} \]" if latex else f"    {each.text}"


def _data(found: Any) -> dict:
    from paper_checks import formulas

    normalizer = found.normalizer
    return {
        "phi": found.phi,
        "psi": found.psi,
        "over": normalizer.over,
        "eps": "inside" if normalizer.inside else "outside",
        "parameters": [str(symbol) for symbol in normalizer.parameters],
        "scope": _scope(found),
        "findings": [
            {field.name: getattr(each, field.name) for field in dataclasses.fields(each) if field.name != "formula"}
            for each in found.findings
        ],
        "expressions": {name: formulas.form(getattr(found, name)) for name in EXPRESSIONS},
    }


def _scope(found: Any) -> str:
    return "every P" if found.normalizer.over == "phasors" else "every N"
