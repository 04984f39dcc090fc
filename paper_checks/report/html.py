"""The results as one self-contained HTML page: no script, nothing loaded from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jinja2 import Environment, PackageLoader, StrictUndefined

from paper_checks import routes
from paper_checks.claims import Paper
from paper_checks.derivation import Line
from paper_checks.report import claim as claim_report
from paper_checks.report import words
from paper_checks.report.document import summary
from paper_checks.run import Result


def render(
    results: Sequence[Result],
    papers: Sequence[Paper],
    environment: Mapping,
    formulas: Mapping[tuple[str, str], Sequence[Line]],
) -> str:
    """The page; `formulas` holds the statements' formulas of each claim, by (paper, slug)."""
    templates = Environment(
        loader=PackageLoader("paper_checks.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    by_paper = [(paper, [r for r in results if r.claim.paper == paper.name]) for paper in papers]
    return templates.get_template("report.html.j2").render(
        papers=[(paper, own) for paper, own in by_paper if own],
        summary=summary(results),
        counts=words.counts(results),
        counted_routes=words.counted_routes(results),
        absent=routes.absent(results),
        routes_of=words.routes_of,
        problems=words.grouped((result.claim.slug, text) for result in results for text in result.problems),
        gaps=words.grouped((result.claim.slug, text) for result in results for text in result.gaps),
        environment=environment,
        formulas=formulas,
        strongest=words.strongest,
        ratio=words.ratio,
        notes=words.notes,
        witness_lines=claim_report.witness_lines,
    )
