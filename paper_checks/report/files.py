"""Writes the outputs that a run was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paper_checks import derivation
from paper_checks.claims import Paper
from paper_checks.output import Output
from paper_checks.report import document, junit
from paper_checks.run import Result


def write(
    outputs: Mapping[str, Output], results: Sequence[Result], papers: Sequence[Paper], environment: Mapping
) -> None:
    """Renders and writes each output, by the name of the option that asked for it."""
    for option, target in outputs.items():
        target.write(_RENDERERS[option](results, papers, environment))


def _json(results: Sequence[Result], papers: Sequence[Paper], environment: Mapping) -> str:
    return document.dumps(document.document(results, environment))


def _junit(results: Sequence[Result], papers: Sequence[Paper], environment: Mapping) -> str:
    return junit.render(results)


def _html(results: Sequence[Result], papers: Sequence[Paper], environment: Mapping) -> str:
    from paper_checks.report import html

    sound = [result.claim for result in results if not result.broken]
    formulas = {(claim.paper, claim.slug): derivation.formulas(claim) for claim in sound}
    return html.render(results, papers, environment, formulas)


_RENDERERS = {"--json": _json, "--junit": _junit, "--html": _html}
