"""What one route found out about one statement."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import theory

ROUTES = ("exact", "smt", "interval", "coq")
STATUSES = ("proved", "refuted", "consistent", "undecided", "not run")
ROOT = Path(theory.__file__).parents[1]


@dataclass(frozen=True)
class Finding:
    """One route's answer about one statement of a claim module.

    `statement` and `text` are those of the statement; a claim has several statements of one name, told apart by their
    texts. `status` is "proved" (within `scope`), "refuted" (by `witness`, evaluated again exactly), "consistent" (an
    identity that held at every point tried; `detail` gives the probability of a false pass), "undecided" or "not run".
    `place` is "file:line" of what decides it, relative to the project.
    """

    route: str
    statement: str
    text: str
    status: str
    scope: str
    detail: str = ""
    place: str = ""
    witness: Mapping[str, object] | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.route not in ROUTES or self.status not in STATUSES:
            raise ValueError(f"route {self.route!r}, status {self.status!r}; accepted: {ROUTES}, {STATUSES}")


@cache
def place_of(thing: object) -> str:
    """The file and line of a module, class or function, as "file:line" relative to the project."""
    path = Path(inspect.getsourcefile(thing)).relative_to(ROOT)
    line = 1 if inspect.ismodule(thing) else inspect.getsourcelines(thing)[1]
    return f"{path}:{line}"
