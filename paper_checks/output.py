"""Output files that are complete or not there at all.

Opening an `Output` before any work shows at once whether the path can be written. The text goes to a temporary file
in the same directory, which replaces the target in one step at the end; `discard_all` removes what is unfinished.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from paper_checks.usage import UsageProblem

STDOUT = "-"
ACCEPTED = "a file in a writable directory, or - for standard output"
_unfinished: set[Path] = set()


class Output:
    """One output: a regular file, a device or pipe that is already there, or standard output.

    Raises:
        UsageProblem: the path cannot be written.
    """

    def __init__(self, argument: str, path: str) -> None:
        self.argument, self.path = argument, path
        self.is_stdout = path == STDOUT
        self._part: Path | None = None
        if self.is_stdout:
            return
        self._target = Path(os.path.realpath(path))
        try:
            if not self._target.exists() or self._target.is_file():
                self._open()
            elif self._target.is_dir():
                raise IsADirectoryError("it is a directory")
        except OSError as error:
            raise self._problem(error) from error

    def _open(self) -> None:
        part = self._target.with_name(f".{self._target.name}.{os.getpid()}.part")
        if self._target.exists():
            os.close(os.open(self._target, os.O_WRONLY))
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
        self._part = part
        _unfinished.add(part)
        if self._target.exists():
            part.chmod(self._target.stat().st_mode & 0o777)

    def write(self, content: str | bytes) -> None:
        """Writes the whole text (or, to a file, the bytes), and puts it in place.

        Raises:
            UsageProblem: it cannot be written; the target is as it was.
        """
        if self.is_stdout:
            sys.stdout.write(content)
            sys.stdout.flush()
            return
        try:
            data = content if isinstance(content, bytes) else content.encode()
            (self._part or self._target).write_bytes(data)
            if self._part:
                os.replace(self._part, self._target)
                _unfinished.discard(self._part)
        except OSError as error:
            raise self._problem(error) from error

    def _problem(self, error: OSError) -> UsageProblem:
        return UsageProblem(self.argument, self.path, f"{ACCEPTED} ({error.strerror or error})")


def open_outputs(paths: dict[str, str | None]) -> dict[str, Output]:
    """Opens every output that was asked for, by argument name.

    Raises:
        UsageProblem: one cannot be written, or two are the same.
    """
    opened: dict[str, Output] = {}
    taken: dict[str, str] = {}
    for argument, path in paths.items():
        if path is None:
            continue
        place = path if path == STDOUT else os.path.realpath(path)
        if place in taken:
            raise UsageProblem(argument, path, f"an output other than that of {taken[place]}")
        taken[place] = argument
        opened[argument] = Output(argument, path)
    return opened


def discard_all() -> None:
    """Removes the temporary files of outputs that were not written."""
    while _unfinished:
        _unfinished.pop().unlink(missing_ok=True)
