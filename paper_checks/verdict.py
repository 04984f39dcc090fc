"""The verdict on a claim: one pure function of its evidence, and of nothing else.

| verdict | when |
|---|---|
| FAIL | the printed statement is refuted by an exact, recomputed witness |
| OPEN | not refuted, and any part of it is missing or undecided, or one of its conditions is not shown to be needed |
| PASS IF | every part is proved, under conditions the paper leaves out, each refuted when it is dropped |
| PASS | every part is proved, and no condition is left out |

These are SymPy's rows. The rows of independent routes and the numeric ones never make a PASS and never unmake one.
Where one of them disagrees with a proof or a refutation, that is a contradiction: the tool, or the proof, is wrong, and
the run fails. What a route leaves undecided, or was not run for, changes nothing.

Two routes disagree about a statement if one of them proves it, or finds it true at every point tried, and the other one
refutes it. A statement is known by its name and its text; a Coq theorem decides a part of its own, so it is held
against all parts of that name together: a refutation disagrees if every one of them is proved, a proof if every one of
them is refuted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from paper_checks.evidence import CORRECTED, PRINTED, ROUTES, WITHOUT, Evidence

DECIDED = ("proved", "refuted", "undecided")
HOLDS = {"proved": True, "consistent": True, "refuted": False}  # what a row of a route says of its statement
COQ = "coq"


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
    every = tuple(evidence)
    rows = tuple(row for row in every if row.route not in ROUTES)
    printed = [row for row in rows if row.statement == PRINTED and row.status in DECIDED]
    dropped = [row for row in rows if row.statement.startswith(WITHOUT)]
    corrected = [row for row in rows if row.statement == CORRECTED and row.status in DECIDED]
    verdict, reason = _verdict(printed, dropped)
    return Verdict(
        verdict=verdict,
        conditions=tuple(dict.fromkeys(row.statement.removeprefix(WITHOUT) for row in dropped)),
        corrected=_text(corrected),
        reason=reason,
        contradictions=(*_contradictions(rows), *map(_told, disagreements(every))),
    )


def disagreements(evidence: Iterable[Evidence]) -> list[tuple[Evidence, Evidence]]:
    """The pairs of rows in which two routes contradict each other."""
    rows = [row for row in evidence if row.route is not None]
    parts: dict[str, dict[str, list[Evidence]]] = {}
    for row in (row for row in rows if row.route != COQ):
        text = "" if WITHOUT in row.statement else row.text
        parts.setdefault(row.statement, {}).setdefault(text, []).append(row)
    found = []
    for part in (part for texts in parts.values() for part in texts.values()):
        found += [(a, b) for number, b in enumerate(part) for a in part[:number] if _opposite(a, b)]
    for row in (row for row in rows if row.route == COQ):
        others = list(parts.get(row.statement, {}).values())
        if others and all(any(_opposite(other, row) for other in part) for part in others):
            agree = any(_agree(other, row) for part in others for other in part)
            found += [] if agree else [(next(other for other in others[0] if _opposite(other, row)), row)]
    return found


def _opposite(first: Evidence, second: Evidence) -> bool:
    holds = {HOLDS.get(row.status) for row in (first, second)}
    return first.route != second.route and holds == {True, False}


def _agree(first: Evidence, second: Evidence) -> bool:
    return first.status in HOLDS and HOLDS[first.status] == HOLDS.get(second.status)


def _told(pair: tuple[Evidence, Evidence]) -> str:
    first, second = (f"{row.route} says {row.status} ({'; '.join(filter(None, _grounds(row)))})" for row in pair)
    return f"two routes disagree about '{pair[1].statement}': {first}, but {second}"


def _grounds(row: Evidence) -> tuple[str, ...]:
    return row.text, row.scope, row.detail if row.detail != row.text else "", row.place


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
