"""Altered sources that Coq has to refuse: wrong statements, weakened theorems, other definitions.

`coq/mutants.toml` lists them as (name, file, old text, new text). Each is compiled from the altered file on, through
everything that requires it, until something is refused. It counts as rejected only if the refusal is about the
mathematics: a mutant that does not parse, that names something unknown or that runs into the time limit is broken. A
control, a comment added in the same way, has to pass, so that a set-up in which nothing compiles rejects nothing.
"""

from __future__ import annotations

import tempfile
import tomllib
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from theory.coq_build import JOBS, Clock, Failure, compile_file
from theory.coq_sources import SOURCES, THEOREMS, BadSource, order, requirements

LIST = SOURCES / "mutants.toml"
REJECTED, SURVIVED, BROKEN = "rejected", "survived", "broken"
PATIENCE = 30.0  # seconds for one file
NOT_ABOUT_MATHEMATICS = (
    "Syntax error",
    "was not found in the current environment",
    "Cannot find a physical path",
    "stopped at the time limit",
)


@dataclass(frozen=True)
class Mutant:
    """One alteration: `old`, which occurs once in the module `file`, becomes `new`."""

    name: str
    file: str
    old: str
    new: str

    def applied(self, sources: Mapping[str, str]) -> dict[str, str]:
        """The altered sources; `BadSource` if the text to alter does not occur exactly once."""
        text = sources[self.file]
        if text.count(self.old) != 1:
            raise BadSource(f"mutant {self.name!r}: its text occurs {text.count(self.old)} times in {self.file}.v")
        return {**sources, self.file: text.replace(self.old, self.new)}


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant, and where."""

    name: str
    status: str
    detail: str


def mutants(path: Path = LIST) -> list[Mutant]:
    """The listed mutants; their names are distinct."""
    found = [Mutant(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["mutant"]]
    if len({mutant.name for mutant in found}) != len(found):
        raise BadSource(f"{path.name} gives two mutants one name")
    return found


def controls(sources: Mapping[str, str]) -> list[Mutant]:
    """Alterations that change nothing: a comment at the end of the restated theorems, and of a file they rest on."""
    last = [module for module in order(sources) if THEOREMS in _affected(sources, module)]
    touched = (THEOREMS, max(last, key=lambda module: (-len(_affected(sources, module)), module)))
    return [Mutant(f"control: a comment in {m}.v", m, sources[m], sources[m] + "\n(* *)\n") for m in touched]


def _affected(sources: Mapping[str, str], module: str) -> list[str]:
    """The module and everything that requires it, directly or not, in order."""
    needs, found = requirements(sources), []
    for other in order(sources):
        if other == module or needs[other] & set(found):
            found.append(other)
    return found


def attempt(mutant: Mutant, sources: Mapping[str, str], built: Path, clock: Clock) -> Failure | None:
    """The first refusal of the altered sources, or None if they compile; `built` holds the compiled originals."""
    altered = mutant.applied(sources)
    again = _affected(altered, mutant.file)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for module in sources.keys() - set(again):
            (folder / f"{module}.vo").symlink_to(built.resolve() / f"{module}.vo")
        for module in again:
            (folder / f"{module}.v").write_text(altered[module], encoding="utf-8")
            if isinstance(outcome := compile_file(module, folder, clock.at_most(PATIENCE)), Failure):
                return outcome
    return None


def judge(mutant: Mutant, sources: Mapping[str, str], built: Path, clock: Clock) -> Verdict:
    """Rejected, survived or broken."""
    try:
        failure = attempt(mutant, sources, built, clock)
    except BadSource as reason:
        return Verdict(mutant.name, BROKEN, str(reason))
    if failure is None:
        return Verdict(mutant.name, SURVIVED, f"everything compiles with it ({mutant.file}.v)")
    if any(phrase in failure.message for phrase in NOT_ABOUT_MATHEMATICS):
        return Verdict(mutant.name, BROKEN, str(failure))
    return Verdict(mutant.name, REJECTED, f"at {failure.place}")


def judge_all(listed: list[Mutant], sources: Mapping[str, str], built: Path, clock: Clock) -> list[Verdict]:
    """The verdict on each, in the order of the list."""
    with ThreadPoolExecutor(JOBS) as pool:
        return list(pool.map(lambda mutant: judge(mutant, sources, built, clock), listed))


def report(sources: Mapping[str, str], built: Path, clock: Clock) -> int:
    """Print a line for each mutant and the count; 0 if the controls pass and every mutant is rejected, else 1."""
    try:
        listed, untouched = mutants(), controls(sources)
    except BadSource as reason:
        print(f"mutants: {reason}")
        return 1
    passed = [verdict.status == SURVIVED for verdict in judge_all(untouched, sources, built, clock)]
    if not all(passed):
        print("mutants: a control does not compile, so no rejection would mean anything")
        return 1
    verdicts = judge_all(listed, sources, built, clock)
    for verdict in verdicts:
        print(f"{verdict.status:9} {verdict.name}  ({verdict.detail})")
    count = sum(verdict.status == REJECTED for verdict in verdicts)
    print(f"mutants: {count} of {len(verdicts)} rejected; {len(passed)} controls compile")
    return 0 if count == len(verdicts) > 0 else 1
