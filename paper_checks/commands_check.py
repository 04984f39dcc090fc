"""The command `check`: is a hand-derived formula the derivative of a normalization layer?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Optional

import typer

from paper_checks import output
from paper_checks.usage import UsageProblem

EPILOG = """\b
A formula is made of numbers, the names of the layer, + - * / ** ( ), sqrt, log, exp, Abs, Min, Max and sum(k, ...),
which sums over all channels (phasors for mrsnorm) and binds its index. i is the input the derivative is taken by;
a Jacobian is d output i / d input j, with delta(i, j). For mrsnorm z, g, u, zhat are vectors: dot(a, b),
outer(a, b) and I (the identity) go with them, or give the first coordinate, with x, y, r, gx, gy.

\b
  layer       output o[k]                              S
  rmsnorm     gamma[k]*x[k]/S                          sqrt(sum(k, x[k]**2)/N + eps)
  layernorm   gamma[k]*(x[k] - mu)/S + beta[k]         sqrt(sum(k, (x[k] - mu)**2)/N + eps)
  mrsnorm     gamma[k]*z[k]/S                          sum(k, r[k])/P + eps
  ma-rmsnorm  s*gamma[k]*x[k]/S + alpha*W[k]*log(S)    sqrt(sum(k, x[k]**2)/N + eps)

\b
Exit status:
  0    proved for every number of channels
  1    refuted
  2    bad usage; for a formula, with the position
  3    undecided

\b
Examples:
  paper-checks check --norm rmsnorm --gradient 'gamma[i]*g[i]/S - x[i]/(N*S**3)*sum(k, gamma[k]*g[k]*x[k])'
  paper-checks check --norm mrsnorm --gradient '(gamma[i]*g[i] - u[i]*sum(k, gamma[k]*dot(g[k], zhat[k]))/P)/S'
  paper-checks check --norm layernorm --weight-gradient 'g[i]*xhat[i]' --json -
"""
_TITLES = {
    "gradient": "input gradient dL/d{x}_i",
    "weight_gradient": "weight gradient dL/dgamma_i",
    "jacobian": "Jacobian do_i/d{x}_j",
}
Formula = Optional[str]  # noqa: UP045


def check(
    norm: Annotated[str, typer.Option(metavar="NAME", help="rmsnorm, layernorm, mrsnorm or ma-rmsnorm.")],
    gradient: Annotated[Formula, typer.Option(metavar="EXPR", help="The input gradient, g[k] being dL/do_k.")] = None,
    weight_gradient: Annotated[Formula, typer.Option(metavar="EXPR", help="The gradient in gamma, of one row.")] = None,
    jacobian: Annotated[Formula, typer.Option(metavar="EXPR", help="The derivative of output i by input j.")] = None,
    json: Annotated[Formula, typer.Option(metavar="FILE", help="Write JSON; - is standard output.")] = None,
) -> None:
    """Decide whether hand-derived formulas are the derivatives of a layer: proved, refuted or undecided.

    A refuted formula comes with the smallest exact point where it is wrong, and with the name of the mistake if it is
    a known one.
    """
    asked = {"gradient": gradient, "weight_gradient": weight_gradient, "jacobian": jacobian}
    formulas = {target: formula for target, formula in asked.items() if formula is not None}
    if not formulas:
        raise UsageProblem("check", "no formula", "one or more of --gradient, --weight-gradient, --jacobian")
    target = output.open_outputs({"--json": json}).get("--json")
    results = [_decided(norm.strip().lower(), target, formula) for target, formula in formulas.items()]

    from paper_checks import formulas as shared

    lines = [line for result in results for line in (*_text(result), "")][:-1]
    shared.deliver(lines, {"checks": [_data(result) for result in results]}, target)
    statuses = {result.status for result in results}
    raise typer.Exit(1 if "refuted" in statuses else 3 if "undecided" in statuses else 0)


def _decided(norm: str, target: str, formula: str) -> Any:
    from paper_checks import formulas as shared
    from theory import analysis
    from theory.analysis.layers import LAYERS
    from theory.expressions import ExpressionError

    if norm not in LAYERS:
        raise UsageProblem("--norm", norm, f"one of {', '.join(LAYERS)}")
    try:
        return analysis.check(norm, **{target: formula})
    except ExpressionError as error:
        option = f"--{target.replace('_', '-')}"
        raise shared.refused(option, formula, error.message, error.position) from error


def _title(result: Any) -> str:
    return _TITLES[result.target].format(x="z" if result.norm == "mrsnorm" else "x")


def _text(result: Any) -> Iterator[str]:
    decided = f"{result.status.upper()} for {result.scope}" if result.status == "proved" else result.status.upper()
    yield f"{result.norm}, {_title(result)}: {decided}"
    if result.conditions:
        yield f"  as written it has a value only where {', '.join(result.conditions)}"
    if result.status == "undecided":
        yield f"  {result.outcome.reason}"
    if result.mistake:
        yield f"  known mistake: {result.mistake}"
    if result.status == "refuted":
        witness = result.outcome.witness.data()
        given = ", ".join(f"{name} = {_short(value)}" for name, value in witness["inputs"].items())
        yield f"  at {given}"
        yield f"    true:  {_short(witness['values']['true'])}"
        yield f"    yours: {_short(witness['values']['yours'])}"
    if result.status != "proved":
        yield f"  right: {result.right}"
        yield f"  where {'; '.join(result.glossary)}"


def _data(result: Any) -> dict:
    from paper_checks import formulas as shared

    refuted, undecided = result.status == "refuted", result.status == "undecided"
    return {
        "norm": result.norm,
        "derivative": result.target,
        "formula": result.formula,
        "status": result.status,
        "scope": result.scope if result.status == "proved" else None,
        "conditions": list(result.conditions),
        "mistake": result.mistake,
        "witness": result.outcome.witness.data() if refuted else None,
        "reason": result.outcome.reason if undecided else None,
        "read_as": [shared.form(component) for component in result.expression],
        "right": result.right,
        "definitions": list(result.glossary),
    }


def _short(value: object) -> str:
    return f"({', '.join(map(_short, value))})" if isinstance(value, list | tuple) else str(value)
