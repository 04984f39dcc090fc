"""The ledger: what each paper claims, as data, one TOML file a paper.

A file `NAME.toml` beside this one holds a `[paper]` table (name, title, source) and one `[[claim]]` table a claim:

    slug         the claim's name everywhere: on the command line, in the modules that decide it, in the reports
    source       where the paper says it
    statement    what it says, in our words
    assumptions  what the paper itself assumes (may be left out)
    expected     the verdict recorded for it, which every run has to reach again
    open         for a claim without evidence: why it is open, and what would decide it

Adding a paper is adding such a file. Anything malformed raises `LedgerError`, which names the file and the claim.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VERDICTS = ("PASS", "PASS IF", "FAIL", "OPEN")
DIRECTORY = Path(__file__).parent


class LedgerError(ValueError):
    """A claims file that does not follow the format above."""


@dataclass(frozen=True)
class Claim:
    """One claim of one paper, and the verdict the ledger records for it."""

    paper: str
    slug: str
    source: str
    statement: str
    expected: str
    assumptions: tuple[str, ...] = ()
    open: str | None = None


@dataclass(frozen=True)
class Paper:
    """One paper with its claims, in the order of the paper."""

    name: str
    title: str
    source: str
    claims: tuple[Claim, ...]


def load(directory: Path | None = None) -> tuple[Paper, ...]:
    """The papers of every TOML file in `directory`, the one with most claims first.

    Raises:
        LedgerError: a file cannot be read as described in the module's docstring.
    """
    papers = [_paper(path) for path in sorted((directory or DIRECTORY).glob("*.toml"))]
    return tuple(sorted(papers, key=lambda paper: -len(paper.claims)))


def _paper(path: Path) -> Paper:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise LedgerError(f"{path.name}: {error}") from error
    header = _fields(data.get("paper", {}), {"name", "title", "source"}, set(), f"{path.name}: [paper]")
    claims = tuple(_claim(header["name"], row, f"{path.name}: {row.get('slug', '?')}") for row in data.get("claim", ()))
    if len({claim.slug for claim in claims}) < len(claims):
        raise LedgerError(f"{path.name}: a slug is used twice")
    return Paper(header["name"], header["title"], header["source"], claims)


def _claim(paper: str, row: Mapping, where: str) -> Claim:
    fields = _fields(row, {"slug", "source", "statement", "expected"}, {"assumptions", "open"}, where)
    if fields["expected"] not in VERDICTS:
        raise LedgerError(f"{where}: expected = {fields['expected']!r} is none of {', '.join(VERDICTS)}")
    if ("open" in fields) != (fields["expected"] == "OPEN"):
        raise LedgerError(f"{where}: an OPEN claim, and no other, says in `open` what would decide it")
    assumptions = fields.pop("assumptions", [])
    if not isinstance(assumptions, list) or not all(isinstance(entry, str) for entry in assumptions):
        raise LedgerError(f"{where}: assumptions is not a list of texts")
    return Claim(paper=paper, assumptions=tuple(assumptions), **fields)


def _fields(table: Mapping, required: set[str], optional: set[str], where: str) -> dict:
    missing, unknown = required - table.keys(), table.keys() - required - optional
    if missing or unknown:
        problem = f"lacks {', '.join(sorted(missing))}" if missing else f"has unknown {', '.join(sorted(unknown))}"
        raise LedgerError(f"{where}: {problem}")
    for name in table.keys() - {"assumptions"}:
        if not isinstance(table[name], str):
            raise LedgerError(f"{where}: {name} is not text")
    return dict(table)
