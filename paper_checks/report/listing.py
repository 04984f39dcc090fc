"""The claims without their evidence, for `list`: nothing heavy is imported here."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Sequence

from paper_checks.claims import Claim


def as_text(claims: Sequence[Claim]) -> str:
    """One line a claim: slug, source and as much of the statement as fits."""
    width = shutil.get_terminal_size((120, 0)).columns
    slug = max((len(claim.slug) for claim in claims), default=0)
    source = 34
    lines = []
    paper = None
    for claim in claims:
        if claim.paper != paper:
            paper = claim.paper
            lines.append(f"{paper}:")
        head = f"  {claim.slug:{slug}}  {_cut(claim.source, source):{source}}  "
        lines.append(head + _cut(claim.statement, max(20, width - len(head))))
    return "".join(line + "\n" for line in lines)


def as_json(claims: Sequence[Claim]) -> str:
    """Every field of every claim; `expected` is the verdict that the ledger records."""
    return json.dumps([dataclasses.asdict(claim) for claim in claims], indent=2, ensure_ascii=False) + "\n"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
