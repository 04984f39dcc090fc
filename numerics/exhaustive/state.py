"""Bands that were finished before, in a file: what was done is not done again after an interruption.

The first line says what the file is about: format, scale, weight, number of bands and device. Each further line is one
band, written in one piece when it is finished, so that killing the process costs the bands in progress. A last line
that was cut is ignored and written over. A file about something else is refused and left as it is.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from numerics.exhaustive.bands import BANDS, Band

FORMAT = "exhaustive fp16 phases, version 1"


class StateProblem(ValueError):
    """The file is not one of this case; the message completes "accepts"."""


class State:
    """The finished bands of one case, in memory and, with a path, in a file.

    Raises `StateProblem` for a file that is about something else or damaged elsewhere than in its last line, OSError
    for one that cannot be read. The file is created by the first `add`.
    """

    def __init__(self, path: Path | None, scale: float, gamma: float, device: str) -> None:
        self.path = path
        self.header = {"format": FORMAT, "scale": scale, "gamma": gamma, "bands": BANDS, "device": device}
        self.bands: dict[int, Band] = {}
        self._length = 0  # of the valid part of the file
        if path is not None and path.exists():
            self._read(path.read_bytes())

    def _read(self, content: bytes) -> None:
        lines = content.split(b"\n")
        whole, rest = lines[:-1], lines[-1]
        if not whole and _header_line(self.header).startswith(rest):
            return  # killed while the first line was written
        for number, line in enumerate(whole):
            try:
                entry = json.loads(line)
                if number:
                    self._take(Band(**entry))
                elif entry != self.header:
                    raise StateProblem(f"a file about {self._about()}; it is about {line.decode()}")
            except (ValueError, TypeError) as error:
                if isinstance(error, StateProblem):
                    raise
                raise StateProblem(f"a file about {self._about()}; line {number + 1} is damaged") from error
        if not whole:
            raise StateProblem(f"a file about {self._about()}; it is something else")
        self._length = len(content) - len(rest)

    def _take(self, band: Band) -> None:
        if not (0 <= band.number < BANDS and band.number not in self.bands):
            raise ValueError("not a band that is missing")
        self.bands[band.number] = band

    def _about(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.header.items())

    @property
    def missing(self) -> list[int]:
        """The numbers of the bands that are not finished."""
        return [number for number in range(BANDS) if number not in self.bands]

    def add(self, band: Band) -> None:
        """Record a finished band, on disk before this returns."""
        self._take(band)
        if self.path is None:
            return
        text = b"" if self._length else _header_line(self.header)
        text += json.dumps(band.data()).encode() + b"\n"
        with self.path.open("r+b" if self.path.exists() else "xb") as file:
            file.truncate(self._length)
            file.seek(self._length)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        self._length += len(text)


def _header_line(header: dict) -> bytes:
    return json.dumps(header).encode() + b"\n"
