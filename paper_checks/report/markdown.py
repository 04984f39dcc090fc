"""The ledger as Markdown: every claim with its verdict and its evidence, and no number that depends on the machine.

Times and measured ratios are left out; a numeric row says "consistent" or "violated", its scope and dtypes. Where the
measurements were made is said once, for all of them. What independent routes say stands beside SymPy's row for the same
statement; Coq's theorems, which decide parts of their own, beside the first row of that name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from paper_checks.claims import Paper
from paper_checks.evidence import ROUTES, Evidence
from paper_checks.report import words
from paper_checks.run import Result

INTRODUCTION = """\
# The claims, decided

Written by `paper-checks report --markdown`.

| verdict | what it says |
|---|---|
| `PASS` | true, word for word, wherever the paper claims it |
| `PASS IF` | true once the listed conditions, absent from the paper, are added; a witness shows the need for each |
| `FAIL` | false: an exact witness contradicts what is printed; what is true instead, if known, is proved beside it |
| `OPEN` | nothing gathered here settles it; the entry says why, or names what could |

Beside SymPy's answer stand those of other routes that decide the same statement: exact arithmetic at random points, an
SMT solver, ball arithmetic, Coq. No verdict rests on them; one that contradicts SymPy's makes the run fail.
"""


def render(results: Sequence[Result], papers: Sequence[Paper]) -> str:
    """The whole ledger as Markdown text."""
    devices = sorted({row.device for result in results for row in result.evidence if row.device})
    counted = words.counted_routes(results).replace("claims", "Claims", 1)
    measured = f"Measured on: {', '.join(devices) or 'nothing'}"
    parts = [INTRODUCTION, *(f"{line}.\n" for line in (words.counts(results), counted, measured))]
    for paper in papers:
        own = [result for result in results if result.claim.paper == paper.name]
        if own:
            parts.append("\n".join(_paper(paper, own)))
    return "\n".join(parts)


def _paper(paper: Paper, results: list[Result]) -> Iterator[str]:
    yield from (
        f"## {paper.title}",
        "",
        f"Source: {paper.source}.",
        "",
        "| claim | source | verdict |",
        "|---|---|---|",
    )
    for result in results:
        claim = result.claim
        yield f"| [{claim.slug}](#{claim.slug}) | {_cell(claim.source)} | `{result.verdict.verdict}` |"
    for result in results:
        yield from _claim(result)


def _claim(result: Result) -> Iterator[str]:
    claim, verdict = result.claim, result.verdict
    yield from ("", f"### {claim.slug}", "", f"`{verdict.verdict}` · {claim.source}", "", _text(claim.statement))
    if claim.assumptions:
        yield from ("", f"The paper assumes: {_text('; '.join(claim.assumptions))}.")
    if verdict.conditions:
        yield from ("", "Holds if:" if verdict.verdict == "PASS IF" else "Conditions:", "")
        yield from (f"- {_text(condition)}" for condition in verdict.conditions)
    if verdict.corrected:
        yield from ("", f"Corrected: {_text(verdict.corrected)}.")
    if result.reason:
        yield from ("", f"Open: {_text(result.reason)}.")
    if result.evidence:
        yield from ("", "| statement | evidence | scope | other routes |", "|---|---|---|---|")
        yield from _rows(result.evidence)


def _rows(evidence: Sequence[Evidence]) -> Iterator[str]:
    """One line a row, with what other routes say; numeric rows that differ only in dtype share a line."""
    lines: dict[tuple[str, str, str, str], list[str]] = {}
    shown: list[Evidence] = []
    for row in (row for row in evidence if row.route not in ROUTES):
        besides = words.besides(row, evidence) if row.route else []
        shown += besides
        says, scope = f"{row.kind}: {row.status}", row.scope
        if row.kind == "exact" and row.witness:
            says, scope = f"exact: refuted, {words.failing_side(row.witness)}", words.point(row.witness)
        dtypes = lines.setdefault((_named(row), says, scope, words.findings(besides)), [])
        if row.dtype and row.dtype not in dtypes:
            dtypes.append(row.dtype)
    for (statement, says, scope, others), dtypes in lines.items():
        where = f"{scope}; {', '.join(dtypes)}" if dtypes else scope
        yield f"| {_cell(statement)} | {_cell(says)} | {_cell(where)} | {_cell(others)} |"
    for row in (row for row in evidence if row.route in ROUTES and row not in shown):
        yield f"| {_cell(words.named(row))} | | | {_cell(words.findings([row]))} |"


def _named(row: Evidence) -> str:
    """The statement's name, with its text where a proof or a refutation gives one."""
    return f"{row.statement}: {row.detail}" if row.detail and row.dtype is None else row.statement


def _text(text: str) -> str:
    """Text whose signs Markdown would read as markup, escaped."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<|" else sign for sign in text)


def _cell(text: str) -> str:
    return _text(" ".join(text.split()))
