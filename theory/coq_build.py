"""Compiling the Coq sources: in order of what they require, side by side, with a time limit, and only what has changed.

A module is compiled again if its text, that of a module it requires, or the version of Coq is another one than that
recorded beside the compiled files. The copy in the build folder is what is compiled: the sources stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path

from theory.coq_sources import LIBRARY, order, requirements, restated

PACKAGES = "coq libcoq-coquelicot"
JOBS = min(4, os.cpu_count() or 1)
MANIFEST = "compiled.json"
AXIOMS = "Axioms"  # the generated file that prints what the theorems rest on

RUNNING: set[subprocess.Popen] = set()  # what has to be ended with this process, if that is ended at once

_PLACE = re.compile(r'^File "\./(?P<file>[^"]+)", line (?P<line>\d+).*?:$', re.MULTILINE)


class NotInstalled(RuntimeError):
    """Coq or Coquelicot is missing; the message names the packages."""


@dataclass(frozen=True)
class Failure:
    """A file that Coq does not accept: where, and what it says."""

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True)
class Clock:
    """A moment after which nothing more is waited for."""

    end: float

    @classmethod
    def of(cls, seconds: float) -> Clock:
        """The moment that many seconds from now."""
        return cls(time.monotonic() + seconds)

    def at_most(self, seconds: float) -> Clock:
        """That many seconds from now, or this moment if it is earlier."""
        return Clock(min(self.end, time.monotonic() + seconds))

    @property
    def left(self) -> float:
        """Seconds left, at least a little more than none."""
        return max(0.01, self.end - time.monotonic())


def version() -> str:
    """The version of Coq, if it and Coquelicot are installed; `NotInstalled` otherwise."""
    command = shutil.which("coqc")
    if command is None or shutil.which("coqchk") is None:
        raise NotInstalled(f"Coq is not installed (Debian: apt-get install {PACKAGES})")
    where, release = (
        subprocess.run([command, option], capture_output=True, text=True, check=True).stdout.split()
        for option in ("-where", "-print-version")
    )
    folders = [Path(where[0], "user-contrib"), *map(Path, os.environ.get("COQPATH", "").split(os.pathsep))]
    if not any((folder / "Coquelicot").is_dir() for folder in folders):
        raise NotInstalled(f"the Coq library Coquelicot is not installed (Debian: apt-get install {PACKAGES})")
    return release[0]


def compile_file(module: str, folder: Path, clock: Clock) -> Failure | str:
    """What Coq prints while it compiles one module of the folder, or why it does not."""
    command = ["coqc", "-q", "-Q", ".", LIBRARY, f"{module}.v"]
    try:
        done = _call(command, folder, clock)
    except subprocess.TimeoutExpired:
        return Failure(f"{module}.v", "stopped at the time limit")
    if done.returncode == 0:
        return done.stdout
    places = list(_PLACE.finditer(done.stderr))
    if not places:
        return Failure(f"{module}.v", " ".join(done.stderr.split()) or f"coqc ended with status {done.returncode}")
    last = places[-1]
    return Failure(f"{last['file']}:{last['line']}", " ".join(done.stderr[last.end() :].split()))


def _call(command: list[str], folder: Path, clock: Clock) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder, at the latest until the clock's end; `subprocess.TimeoutExpired` after that."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, text=True) as process:
        RUNNING.add(process)
        try:
            out, err = process.communicate(timeout=clock.left)
        finally:
            process.kill()
            RUNNING.discard(process)
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def digests(sources: Mapping[str, str], release: str) -> dict[str, str]:
    """Module -> a digest of its text, of everything it requires, and of the version of Coq."""
    needs, found = requirements(sources), {}
    for module in order(sources):
        parts = [release, sources[module], *(found[needed] for needed in sorted(needs[module]))]
        found[module] = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return found


def compile_all(sources: Mapping[str, str], folder: Path, clock: Clock, jobs: int = JOBS) -> Failure | None:
    """Compile what has changed into the folder; the first failure, or None if all of it compiles."""
    folder.mkdir(parents=True, exist_ok=True)
    current, manifest = digests(sources, version()), folder / MANIFEST
    compiled = json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else {}
    done = {m for m, digest in current.items() if compiled.get(m) == digest and (folder / f"{m}.vo").is_file()}
    for stale in (path for path in folder.glob("*.v*") if path.stem not in done):
        stale.unlink()
    for module in current.keys() - done:
        (folder / f"{module}.v").write_text(sources[module], encoding="utf-8")
    try:
        return _in_order(requirements(sources), done, folder, clock, jobs)
    finally:
        kept = {module: digest for module, digest in current.items() if (folder / f"{module}.vo").is_file()}
        manifest.write_text(json.dumps(kept, indent=1), encoding="utf-8")


def _in_order(
    needs: Mapping[str, Iterable[str]], done: set[str], folder: Path, clock: Clock, jobs: int
) -> Failure | None:
    sorter = TopologicalSorter(needs)
    sorter.prepare()
    running: dict[Future, str] = {}
    failure: Failure | None = None
    with ThreadPoolExecutor(jobs) as pool:
        while running or (failure is None and sorter.is_active()):
            for module in sorter.get_ready() if failure is None else ():
                if module in done:
                    sorter.done(module)
                else:
                    running[pool.submit(compile_file, module, folder, clock)] = module
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                module, result = running.pop(future), future.result()
                if isinstance(result, Failure):
                    failure = failure or result
                else:
                    sorter.done(module)
    return failure


def axioms(sources: Mapping[str, str], folder: Path, clock: Clock) -> Failure | str:
    """What all restated theorems of the compiled folder rest on, as Coq prints it."""
    modules, names = " ".join(order(sources)), ", ".join(f"@{theorem.name}" for theorem in restated(sources))
    text = f"From {LIBRARY} Require Import {modules}.\nDefinition restated := ({names}).\nPrint Assumptions restated.\n"
    (folder / f"{AXIOMS}.v").write_text(text, encoding="utf-8")
    return compile_file(AXIOMS, folder, clock)


def recheck(sources: Mapping[str, str], folder: Path, clock: Clock) -> Failure | None:
    """Let `coqchk`, which knows no tactics, read the compiled proofs again, on top of the libraries as they are."""
    modules = [argument for module in order(sources) for argument in ("-norec", f"{LIBRARY}.{module}")]
    command = ["coqchk", "-silent", "-Q", ".", LIBRARY, *modules]
    try:
        done = _call(command, folder, clock)
    except subprocess.TimeoutExpired:
        return Failure("coqchk", "stopped at the time limit")
    return None if done.returncode == 0 else Failure("coqchk", " ".join((done.stderr or done.stdout).split()))
