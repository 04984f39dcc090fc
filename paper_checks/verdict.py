"""The verdict on a claim: one pure function of its evidence, and of nothing else.

| verdict | when |
|---|---|
| FAIL | the printed statement is refuted by an exact, recomputed witness |
| OPEN | not refuted, and any part of it is missing or undecided, or one of its conditions is not shown to be needed |
| PASS IF | every part is proved, under conditions the paper leaves out, each refuted when it is dropped |
| PASS | every part is proved, and no condition is left out |

Numeric rows never make a PASS and never unmake one. Where they disagree with a proof, that is a contradiction: the
tool, or the proof, is wrong, and the run fails.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from paper_checks.evidence import CORRECTED, PRINTED, WITHOUT, Evidence

DECIDED = ("proved", "refuted", "undecided")


@dataclass(frozen=True)
class Verdict:
    """The verdict, what it depends on, the corrected statement, and where the evidence contradicts itself.

    `conditions` are what the paper leaves out; `corrected` is the text of the corrected statement where that is
    proved; `reason` says why the verdict is OPEN.
    """

    verdict: str
    conditions: tuple[str, ...] = ()
    corrected: str | None = None
    reason: str = ""
    contradictions: tuple[str, ...] = ()


def decide(evidence: Iterable[Evidence]) -> Verdict:
    """The verdict that `evidence` supports."""
    rows = tuple(evidence)
    printed = [row for row in rows if row.statement == PRINTED and row.status in DECIDED]
    dropped = [row for row in rows if row.statement.startswith(WITHOUT)]
    corrected = [row for row in rows if row.statement == CORRECTED and row.status in DECIDED]
    verdict, reason = _verdict(printed, dropped)
    return Verdict(
        verdict=verdict,
        conditions=tuple(dict.fromkeys(row.statement.removeprefix(WITHOUT) for row in dropped)),
        corrected=_text(corrected),
        reason=reason,
        contradictions=tuple(_contradictions(rows)),
    )


def _verdict(printed: list[Evidence], dropped: list[Evidence]) -> tuple[str, str]:
    if any(row.status == "refuted" for row in printed):
        return "FAIL", ""
    if not printed:
        return "OPEN", "the printed statement is neither proved nor refuted: there is no symbolic evidence"
    undecided = [row for row in printed if row.status != "proved"]
    if undecided:
        return "OPEN", f"the printed statement is undecided: {undecided[0].detail}"
    unneeded = [row for row in dropped if row.status != "refuted"]
    if unneeded:
        condition = unneeded[0].statement.removeprefix(WITHOUT)
        return "OPEN", f"proved, but nothing shows that this condition is needed: {condition}"
    return ("PASS IF" if dropped else "PASS"), ""


def _text(corrected: list[Evidence]) -> str | None:
    """The corrected statement, if there is one and every part of it is proved."""
    proved = corrected and all(row.status == "proved" for row in corrected)
    return "; ".join(row.detail for row in corrected) if proved else None


def _contradictions(rows: tuple[Evidence, ...]) -> Iterable[str]:
    """Statements that one row settles one way and another row the other way, and a corrected statement that is wrong.

    A measurement that violates a statement agrees with a refutation of it. One that violates a proved statement, or a
    further statement that nothing refutes, means that the proof, the check or the code under test is wrong.
    """
    status: dict[str, set[str]] = {}
    for row in rows:
        status.setdefault(row.statement, set()).add(row.status)
    for statement, found in status.items():
        if statement == CORRECTED and "refuted" in found:
            yield "the corrected statement is refuted"
        if "violated" in found and "refuted" not in found and (statement != PRINTED or "proved" in found):
            known = "is proved" if "proved" in found else "is refuted by nothing exact"
            worst = next(row for row in rows if row.statement == statement and row.status == "violated")
            yield f"'{statement}' {known}, but a measurement violates it ({worst.kind}: {worst.scope})"
