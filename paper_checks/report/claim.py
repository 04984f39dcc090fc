"""One claim in full, for `show`: statement, derivation, verdict, witnesses, corrected statement."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from paper_checks import routes
from paper_checks.derivation import Derivation, Line
from paper_checks.report import words
from paper_checks.report.document import claim_data
from paper_checks.run import Result

WIDTH = 100
INDENT = " " * 6


def as_data(result: Result, derivations: Sequence[Derivation]) -> dict:
    """The claim as in the JSON of `run`, with its assumptions and its derivation."""
    derivation = [dataclasses.asdict(derived) for derived in derivations]
    return {**claim_data(result), "assumptions": list(result.claim.assumptions), "derivation": derivation}


def as_text(result: Result, derivations: Sequence[Derivation], latex: bool = False) -> str:
    """The claim for reading; formulas are drawn in characters, or given as LaTeX."""
    return "\n".join((*_head(result), *_derivations(derivations, latex), *_tail(result))) + "\n"


def _head(result: Result) -> Iterator[str]:
    claim = result.claim
    yield f"{claim.slug}  ({claim.paper}, {claim.source})"
    yield ""
    yield _fill(claim.statement)
    if claim.assumptions:
        yield _fill(f"The paper assumes: {'; '.join(claim.assumptions)}.")


def _derivations(derivations: Sequence[Derivation], latex: bool) -> Iterator[str]:
    for derived in derivations:
        yield from ("", f"{derived.statement}: {derived.status}")
        if derived.text:
            yield _fill(derived.text)
        for number, step in enumerate(derived.steps, start=1):
            yield f"  {number}. {step.title}"
            yield from _formula(step, latex)
        if not derived.steps:
            yield from _formula(derived.formula, latex)
        for line in derived.legend:
            yield f"  with \\( {line.latex} \\)" if latex else f"  with {line.text}"
        if derived.divides_by:
            yield f"  divides by: {', '.join(derived.divides_by)}"


def _tail(result: Result) -> Iterator[str]:
    verdict = result.verdict
    yield from _routes(result)
    for row in result.evidence:
        if row.witness:
            yield from ("", f"witness against '{row.statement}' ({words.PROVERS.get(row.route, row.kind)}):")
            yield from (f"    {line}" for line in witness_lines(row.witness))
    yield from ("", f"verdict: {verdict.verdict}")
    yield from (f"  condition: {condition}" for condition in verdict.conditions)
    if verdict.corrected:
        yield f"  corrected: {verdict.corrected}"
    if result.reason:
        yield f"  open: {result.reason}"
    yield from (f"WRONG  {problem}" for problem in result.problems)


def _routes(result: Result) -> Iterator[str]:
    """Two lines for each row of each prover: which, what came out, where, how far it reaches, and about what."""
    rows = [row for row in result.evidence if row.route is not None]
    if not rows:
        return
    cells = [(words.PROVERS[row.route], row.status, row.place or "-") for row in rows]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    yield from ("", f"routes: {words.routes_of(result)}" if words.routes_of(result) else "routes:")
    for row, line in zip(rows, cells, strict=True):
        theorem = row.detail if row.route == "coq" and row.detail.startswith("theorem ") else ""
        padded = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        yield f"  {padded}  {row.scope or '-'}"
        yield f"      {words.named(row)}" + (f" ({theorem})" if theorem else "")
    for prover, reason in routes.absent([result]).items():
        yield f"  {prover}: not run ({reason})"


def _formula(line: Line, latex: bool) -> Iterator[str]:
    if line.text:
        yield rf"\[ {line.latex} \]" if latex else textwrap.indent(line.text, INDENT)


def witness_lines(witness: Mapping) -> Iterator[str]:
    """A witness, one line an input, a value or a relation."""
    for part in ("inputs", "values"):
        yield from (f"{name} = {words.value(value)}" for name, value in witness.get(part, {}).items())
    if relation := witness.get("relation"):
        yield f"claimed: {' '.join(str(relation).split())}"


def _fill(text: str) -> str:
    return textwrap.fill(text, WIDTH, break_long_words=False)
