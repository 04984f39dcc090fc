"""The Coq route: the machine-checked theorems that decide the same statements.

One finding a twin (`theory.coq_twins`). It counts as proved or refuted, whichever its theorem says of the statement,
once Coq has accepted all sources together; `text` is the part of the statement that the theorem decides, "" for all of
it. On a machine without Coq every twin is "not run". Sources that Coq is there to refuse and refuses are no missing
answer but a failure, and raise.

The sources are built once a process at most, and read from the stamp of an earlier build where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from theory import coq_twins
from theory.coq_sources import SOURCES, Twin, read, twins_of
from theory.coq_twins import FAILED, NOT_RUN, Result
from theory.routes.finding import ROOT, Finding

FOLDER = SOURCES


class BuildFailed(RuntimeError):
    """Coq is installed and does not accept the sources; the message says where and why."""


def findings(module: ModuleType, result: Result | None = None) -> Iterator[Finding]:
    """One finding for each twin of the claim that `module` decides; none, and no build, if it has none.

    Args:
        module: a claim module of `theory`.
        result: what is known about the twins, instead of asking Coq.

    Raises:
        BuildFailed: Coq refuses the sources.
    """
    own = [twin for twin in _twins(FOLDER) if twin.claim == claim(module)]
    if not own:
        return
    known = result or check()
    if known.status == FAILED:
        raise BuildFailed(f"the proofs in {_shown(FOLDER)} do not pass: {known.detail}")
    for twin in own:
        yield Finding(
            route="coq",
            statement=twin.statement,
            text=twin.text,
            status=NOT_RUN if known.status == NOT_RUN else twin.outcome,
            scope=twin.scope,
            detail=known.detail if known.status == NOT_RUN else f"theorem {twin.theorem}",
            place=f"{_shown(twin.file)}:{twin.line}",
            seconds=0.0,  # the build is one for all of them
        )


def check() -> Result:
    """What Coq says about the sources, asked once a process."""
    return _check(FOLDER)


def claim(module: ModuleType) -> str:
    """The claim that a module of `theory` decides, as `Twin.claim` names it: "paper.slug"."""
    return module.__name__.removeprefix("theory.").replace("_", "-")


@cache
def _check(folder: Path) -> Result:
    return coq_twins.check(folder)


@cache
def _twins(folder: Path) -> tuple[Twin, ...]:
    return tuple(twins_of(read(folder), folder))


def _shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)
