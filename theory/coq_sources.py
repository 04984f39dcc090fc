"""The Coq sources as text: their order, their theorems, and what each theorem decides.

Nothing about a theorem is kept twice. `Theorems.v` restates each one in full, under a comment that names the claim, the
statement and the outcome it gives:

    (** [mrsnorm.eq18 | corrected | proved] In channels, d = 2P. *)
    Check (score_mean_bound_d : forall P d eps q k, ...).

A fourth field in the brackets is the scope, "every P" where there is none. File and line of the proof are found by its
name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from graphlib import TopologicalSorter
from pathlib import Path

SOURCES = Path(__file__).parent / "coq"
AXIOMS = SOURCES / "axioms.txt"
THEOREMS = "Theorems"
LIBRARY = "Twins"  # the name under which the files require each other

_REQUIRE = re.compile(rf"^From {LIBRARY} Require (?:Import|Export)\s+([\w\s]+)\.", re.MULTILINE)
_PROOF = re.compile(r"^[ \t]*(Theorem|Corollary|Lemma)\s+(\w+)", re.MULTILINE)
_CHECK = re.compile(
    r"(?:\(\*\*(?P<comment>(?:(?!\*\)).)*)\*\)\s*)?^Check \((?P<name>\w+) :(?P<statement>.*?)\)\.$",
    re.DOTALL | re.MULTILINE,
)
_TAG = re.compile(r"\[([^\[\]]+)\]")
_UNPROVED = re.compile(r"\b(Admitted|admit|Axioms?|Parameters?|Conjecture|Abort|bypass_check|Unset\s+\w+\s+Checking)\b")
OUTCOMES = ("proved", "refuted")


class BadSource(ValueError):
    """A Coq file does not have the form that this module reads."""


@dataclass(frozen=True)
class Twin:
    """One statement of a claim, and the machine-checked theorem that decides it (or the part that `text` names).

    `claim` is "paper.slug"; `outcome` is "proved" or "refuted", what the theorem says of the statement. `file` and
    `line` are those of its proof, `restated` is its line in `Theorems.v`.
    """

    claim: str
    statement: str
    outcome: str
    scope: str
    theorem: str
    text: str
    file: Path
    line: int
    restated: int


@dataclass(frozen=True)
class Theorem:
    """A restated theorem: its name, its statement as Coq reads it, where it stands, and the comment above it."""

    name: str
    statement: str
    line: int
    comment: str


def read(folder: Path = SOURCES) -> dict[str, str]:
    """Module name -> text, of every Coq file in the folder."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.v"))}


@lru_cache(maxsize=512)
def without_comments(text: str) -> str:
    """The text with comments (which nest) blanked out, line breaks kept."""
    depth, kept = 0, []
    for token in re.findall(r"\(\*|\*\)|\n|.", text):
        if token == "(*":
            depth += 1
        elif token == "*)" and depth:
            depth -= 1
        elif not depth or token == "\n":
            kept.append(token)
    return "".join(kept)


def requirements(sources: Mapping[str, str]) -> dict[str, set[str]]:
    """Module name -> the modules of this library that it requires; `BadSource` for one that does not exist."""
    found = {}
    for name, text in sources.items():
        found[name] = {module for group in _REQUIRE.findall(without_comments(text)) for module in group.split()}
        if missing := found[name] - sources.keys():
            raise BadSource(f"{name}.v requires {', '.join(sorted(missing))}, of which there is no file")
    return found


def order(sources: Mapping[str, str]) -> list[str]:
    """The modules in an order in which they can be compiled."""
    return list(TopologicalSorter(requirements(sources)).static_order())


def unproved(sources: Mapping[str, str]) -> list[str]:
    """Every place, as "File.v:line: word", where something is assumed, abandoned or exempted from checking."""
    return [
        f"{name}.v:{number}: {match[0]}"
        for name, text in sources.items()
        for number, line in enumerate(without_comments(text).split("\n"), 1)
        for match in _UNPROVED.finditer(line)
    ]


def proofs(sources: Mapping[str, str]) -> dict[str, tuple[str, str, int]]:
    """Name -> (keyword, module, line) of every theorem, corollary and lemma; `BadSource` if a name occurs twice."""
    found: dict[str, tuple[str, str, int]] = {}
    for module, text in sources.items():
        for match in _PROOF.finditer(without_comments(text)):
            keyword, name = match.groups()
            if name in found:
                raise BadSource(f"{name} is proved in {found[name][1]}.v and in {module}.v")
            found[name] = keyword, module, without_comments(text).count("\n", 0, match.start(1)) + 1
    return found


def restated(sources: Mapping[str, str]) -> list[Theorem]:
    """What `Theorems.v` checks, in its order."""
    if THEOREMS not in sources:
        raise BadSource(f"there is no {THEOREMS}.v")
    text = sources[THEOREMS]
    found = [
        Theorem(
            match["name"],
            " ".join(match["statement"].split()),
            text.count("\n", 0, match.start("name")) + 1,
            " ".join((match["comment"] or "").split()),
        )
        for match in _CHECK.finditer(text)
    ]
    if len(found) != without_comments(text).count("Check "):
        raise BadSource(f"{THEOREMS}.v holds a Check that is not of the form `Check (name : statement).`")
    return found


def twins_of(sources: Mapping[str, str], folder: Path = SOURCES) -> list[Twin]:
    """Every statement that a comment of `Theorems.v` names, with its theorem."""
    known, found = proofs(sources), []
    for theorem in restated(sources):
        if theorem.name not in known:
            raise BadSource(f"{THEOREMS}.v:{theorem.line}: no file proves {theorem.name}")
        _, module, line = known[theorem.name]
        text = _TAG.sub("", theorem.comment).strip()
        for tag in _TAG.findall(theorem.comment):
            fields = [field.strip() for field in tag.split("|")]
            if len(fields) not in (3, 4) or fields[2] not in OUTCOMES:
                raise BadSource(f"{THEOREMS}.v:{theorem.line}: [{tag}] is not [claim | statement | outcome | scope]")
            claim, statement, outcome, scope = (*fields, "every P")[:4]
            place = folder / f"{module}.v"
            found.append(Twin(claim, statement, outcome, scope, theorem.name, text, place, line, theorem.line))
    return found


@cache
def twins() -> tuple[Twin, ...]:
    """The twins of the project's own sources, in the order of `Theorems.v`."""
    return tuple(twins_of(read()))


def find(claim: str, statement: str) -> list[Twin]:
    """The twins of one statement of one claim ("paper.slug"); none if there are none."""
    return [twin for twin in twins() if (twin.claim, twin.statement) == (claim, statement)]
