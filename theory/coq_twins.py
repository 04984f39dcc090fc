"""Machine-checked twins of the theorems: which there are, and whether Coq accepts them.

    twins()          every statement of a claim that a Coq theorem decides, with the theorem, its file and its line
    find(claim, s)   those of one statement
    check()          proved, failed or not run, for all of them together

They are proved if every file compiles, `coqchk` accepts the compiled proofs, no file assumes or abandons anything, and
the axioms under the restated theorems are those in `coq/axioms.txt`, which are the ones of Coq's own real numbers.
Anything else is a failure, never a pass; a machine without Coq gives "not run".

`python -m theory.coq_twins` does the same from a shell, and with `--mutants` also tries the altered sources of
`coq/mutants.toml`, every one of which has to be refused. It ends with 0, with 1 after a failure, with 3 if not run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from theory import coq_build, coq_mutants
from theory.coq_build import Clock, Failure, NotInstalled
from theory.coq_sources import AXIOMS, SOURCES, BadSource, Twin, find, read, restated, twins, twins_of, unproved

__all__ = ["Result", "Twin", "check", "find", "main", "twins"]

LIMIT = 240.0  # seconds, against a proof that does not end; a build takes about 20
BUILD = SOURCES / ".build"
STAMP = "proved.json"
PROVED, FAILED, NOT_RUN = "proved", "failed", "not run"


@dataclass(frozen=True)
class Result:
    """What is known about all twins together.

    `status` is "proved", "failed" or "not run"; `detail` says why, or what was checked; `coq` is the version;
    `seconds` is how long the build took, also if it was an earlier one (`cached`).
    """

    status: str
    detail: str
    coq: str = ""
    seconds: float = 0.0
    cached: bool = False


def check(folder: Path = SOURCES, build: Path | None = None, limit: float = LIMIT) -> Result:
    """Compile the sources in `folder` and compare their axioms; once proved, the same sources are not built again."""
    try:
        sources = read(folder)
        twins_of(sources, folder)
        count, allowed = len(restated(sources)), (folder / AXIOMS.name).read_text(encoding="utf-8")
    except (BadSource, OSError) as reason:
        return Result(FAILED, str(reason))
    if places := unproved(sources):
        return Result(FAILED, f"not proved: {'; '.join(places)}")
    try:
        release = coq_build.version()
    except NotInstalled as reason:
        return Result(NOT_RUN, str(reason))
    with _build_folder(build or folder / BUILD.name) as place:
        stamp, digest = place / STAMP, _digest(sources, allowed, release)
        if (known := _stamped(stamp, digest)) is not None:
            return known
        start, clock = time.monotonic(), Clock.of(limit)
        outcome = (
            coq_build.compile_all(sources, place, clock)
            or coq_build.recheck(sources, place, clock)
            or coq_build.axioms(sources, place, clock)
        )
        seconds = time.monotonic() - start
        if isinstance(outcome, Failure):
            return Result(FAILED, str(outcome), release, seconds)
        if outcome.split() != allowed.split():
            return Result(FAILED, f"not the axioms of {AXIOMS.name}, but: {outcome.strip()}", release, seconds)
        detail = f"{count} theorems, {len(sources)} files, checked twice, axioms as recorded"
        result = Result(PROVED, detail, release, seconds)
        stamp.write_text(json.dumps({"digest": digest, "result": asdict(result)}, indent=1), encoding="utf-8")
        return result


def _digest(sources: dict[str, str], allowed: str, release: str) -> str:
    """Of everything the result depends on, this code included."""
    modules = ("coq_build", "coq_sources", "coq_twins")
    code = (Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8") for module in modules)
    parts = [release, allowed, *code, *(f"{name}\0{text}" for name, text in sorted(sources.items()))]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _stamped(stamp: Path, digest: str) -> Result | None:
    try:
        record = json.loads(stamp.read_text(encoding="utf-8"))
        return replace(Result(**record["result"]), cached=True) if record["digest"] == digest else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def _build_folder(wanted: Path) -> Iterator[Path]:
    """The folder, held by one process at a time; a temporary one where it cannot be written."""
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        lock = (wanted / "lock").open("w")
    except OSError:
        with tempfile.TemporaryDirectory() as place:
            yield Path(place)
        return
    with lock:
        try:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        except ImportError:
            pass
        yield wanted


def main(arguments: list[str] | None = None) -> int:
    """Check, print one line, and try the mutants if asked to."""
    parser = argparse.ArgumentParser(
        prog="python -m theory.coq_twins", description="Check the Coq twins of the theorems."
    )
    parser.add_argument("--mutants", action="store_true", help="also try altered sources, which Coq has to refuse")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS", help="for each of the two")
    options = parser.parse_args(arguments)
    result = check(limit=options.limit)
    when = f"Coq {result.coq}, {result.seconds:.0f} s{', from an earlier build' if result.cached else ''}"
    print(f"coq: {result.status}: {result.detail}" + (f" ({when})" if result.coq else ""))
    if result.status != PROVED:
        return 3 if result.status == NOT_RUN else 1
    return coq_mutants.report(read(), BUILD, Clock.of(options.limit)) if options.mutants else 0


if __name__ == "__main__":
    sys.exit(main())
