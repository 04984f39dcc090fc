"""Finished shards in an SQLite file: one transaction a shard, so that a crash loses the shards in flight and no others.

A store belongs to one plan. A new one is complete before it gets its name: its application number, its version and its
plan are in the file itself, not in a write-ahead log, and never change. An old one is examined read-only (`Refused`
leaves every byte of it and of its log as it was) before it is opened for writing. Every row carries a digest of itself.

Several processes may use one store at a time (write-ahead logging; not on a network file system). Each sees what the
others have finished (`news`), and a shard that two of them finish is kept once: both found the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from numerics.sweeps.checks import Row
from numerics.sweeps.shards import Outcome

MAGIC = b"SQLite format 3\0"
APPLICATION = 0x70635377  # "pcSw"
VERSION = 1
BUSY_SECONDS = 120.0
SCHEMA = """
CREATE TABLE plan (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE shards (
  number INTEGER PRIMARY KEY, shard TEXT NOT NULL UNIQUE, outcome TEXT NOT NULL, digest TEXT NOT NULL
);
"""


class Refused(Exception):
    """The file is no store of this plan; it was not touched."""


class Unwritable(Exception):
    """The store cannot take more (the disk is full, or fails); what it holds is valid."""


class Store:
    """The store at `path` for a plan with this identity, created if there is no such file.

    Raises:
        Refused: there is a file, and it is not a store of this plan.
        Unwritable: a new store could not be written.
    """

    def __init__(self, path: str, identity: dict) -> None:
        self.path = Path(os.path.realpath(path))
        plan = {name: json.dumps(value) for name, value in identity.items()}
        if not self.path.parent.is_dir():
            raise Refused("its directory does not exist")
        if not os.path.lexists(self.path):
            _create(self.path, plan)
        _examine(self.path, plan)
        self._seen = 0
        try:
            self._connection = _connect(self.path, "rw")
            self._connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error as error:
            raise Unwritable(str(error)) from error

    def put(self, shard: str, outcome: Outcome) -> None:
        """Add a finished shard, in a transaction of its own; nothing happens where it is there already."""
        text = _encoded(outcome)
        try:
            with self._connection:
                self._connection.execute(
                    "INSERT OR IGNORE INTO shards (shard, outcome, digest) VALUES (?, ?, ?)",
                    (shard, text, _digest(shard, text)),
                )
        except sqlite3.Error as error:
            raise Unwritable(str(error)) from error

    def news(self) -> list[str]:
        """The shards that were finished, here or elsewhere, since the last call."""
        found = self._rows("SELECT number, shard FROM shards WHERE number > ?", self._seen)
        self._seen = max((number for number, _ in found), default=self._seen)
        return [shard for _, shard in found]

    def outcomes(self) -> Iterator[tuple[str, Outcome]]:
        """Every finished shard with its outcome."""
        last = 0
        while found := self._rows(
            "SELECT number, shard, outcome FROM shards WHERE number > ? ORDER BY number LIMIT 1000", last
        ):
            for last, shard, text in found:  # noqa: B007
                yield shard, _decoded(text)

    def _rows(self, query: str, *values: object) -> list[tuple]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise Unwritable(str(error)) from error

    def close(self) -> None:
        """Close the file; the last process to do so leaves no log beside it."""
        with suppress(sqlite3.Error):
            self._connection.close()


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(path))}?mode={mode}"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, check_same_thread=False)


def _create(path: Path, plan: dict[str, str]) -> None:
    """Write an empty store under another name and link it to its own, unless another process was faster."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with closing(sqlite3.connect(part)) as connection:
            connection.executescript(
                f"PRAGMA application_id = {APPLICATION}; PRAGMA user_version = {VERSION}; {SCHEMA}"
            )
            with connection:
                connection.executemany("INSERT INTO plan VALUES (?, ?)", plan.items())
            connection.execute("PRAGMA journal_mode = WAL")
        with suppress(FileExistsError):
            os.link(part, path)
    except (sqlite3.Error, OSError) as error:
        kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if kind in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
            raise Refused("its directory cannot be written") from error
        raise Unwritable(str(error)) from error
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            Path(f"{part}{suffix}").unlink(missing_ok=True)


def _examine(path: Path, plan: dict[str, str]) -> None:
    """Raise `Refused` unless the file is an intact, writable store of the plan; nothing is written to it."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Refused("it is not a regular file")
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise Refused("it is not an SQLite file")
        if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
            raise Refused("it, or its directory, cannot be written")
    except OSError as error:
        raise Refused(error.strerror or str(error)) from error
    try:
        log = Path(f"{path}-wal")
        # a reader of the log writes nothing but the shared index; without a log there is no need for that either
        mode = "ro" if log.exists() and log.stat().st_size else "ro&immutable=1"
        with closing(_connect(path, mode)) as connection:
            _check(connection, plan)
    except (sqlite3.Error, ValueError, KeyError, TypeError) as error:
        raise Refused(f"it is damaged ({error})") from error


def _check(connection: sqlite3.Connection, plan: dict[str, str]) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise Refused("it is an SQLite file of another program")
    if version != VERSION:
        raise Refused(f"it is a store of version {version}, this program's is {VERSION}")
    found = dict(connection.execute("SELECT name, value FROM plan"))
    for name, value in plan.items():
        if found.get(name) != value:
            raise Refused(
                f"it is the store of another sweep: {name} is {_short(found.get(name))}, here {_short(value)}"
            )
    (problem,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if problem != "ok":
        raise Refused(f"it is damaged ({problem})")
    for shard, text, digest in connection.execute("SELECT shard, outcome, digest FROM shards"):
        if digest != _digest(shard, text):
            raise Refused(f"it is damaged (the row of shard {shard})")


def _short(value: str | None) -> str:
    text = str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _digest(shard: str, text: str) -> str:
    return hashlib.blake2b(f"{shard}\0{text}".encode(), digest_size=8).hexdigest()


def _encoded(outcome: Outcome) -> str:
    rows = [[row.statement, row.worst, row.trials, row.witness] for row in outcome.rows]
    return json.dumps([rows, outcome.outside])  # Python writes a float so that it reads back the same, NaN too


def _decoded(text: str) -> Outcome:
    rows, outside = json.loads(text)
    return Outcome(tuple(Row(*row) for row in rows), outside)
