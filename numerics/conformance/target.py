"""What is checked, as the user named it; nothing is imported here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FORM = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")
PLACE = "package.module:Name or path/to/file.py:Name"
LAYER = "of a module class, a factory or a function"
FUNCTION = "of a function f(x, weight, dy, eps)"


def printable(text: str) -> str:
    """A text in one line, without what a terminal or a file in UTF-8 does not take: a target may raise anything."""
    return "".join(letter if letter.isprintable() else "?" for letter in " ".join(text.split()))


class LoadError(Exception):
    """A target that cannot be loaded: the argument, what was given, and what is accepted, with the reason."""

    def __init__(self, argument: str, given: object, why: str = "") -> None:
        what = FUNCTION if argument == "--backward" else LAYER
        self.argument, self.given = argument, given
        self.accepted = f"{PLACE} {what}{why and f' ({printable(why)})'}"
        super().__init__(f"{argument}: got {given!r}, accepts {self.accepted}")


@dataclass(frozen=True)
class Target:
    """A forward implementation, a hand-written backward f(x, weight, dy, eps) -> (dx, dweight), or both."""

    forward: str | None
    backward: str | None = None
    kwargs: dict[str, Any] | None = field(default=None)

    @property
    def name(self) -> str:
        """What the report calls it."""
        return self.forward or self.backward or ""

    def check(self) -> None:
        """Raises LoadError where a name does not have the form that is accepted, or its file is not there."""
        if self.forward is None and self.backward is None:
            raise LoadError("TARGET", self.forward)
        for argument, given in (("TARGET", self.forward), ("--backward", self.backward)):
            if given is None:
                continue
            place, _, name = given.rpartition(":")
            if not place or not FORM.fullmatch(name):
                raise LoadError(argument, given)
            if place.endswith(".py") and not Path(place).is_file():
                raise LoadError(argument, given, f"there is no file {place}")
            if not place.endswith(".py") and not FORM.fullmatch(place):
                raise LoadError(argument, given)
