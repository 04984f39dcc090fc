"""Two worker processes against one, on the whole run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.benchmark import Benchmark


def seconds(*arguments: str) -> float:
    """Wall time of `paper-checks run` with these arguments."""
    command = [sys.executable, "-m", "paper_checks", "run", *arguments, "--json", "-"]
    start = time.perf_counter()
    subprocess.run(
        command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=Path(__file__).parents[1]
    )
    return time.perf_counter() - start


def benchmarks() -> Iterator[Benchmark]:
    """Each once: they take about a minute. A run before them, not counted, leaves Coq's proofs compiled for both."""
    seconds("eq18")
    one, two = seconds("--jobs", "1"), seconds("--jobs", "2")
    yield Benchmark("run --jobs 1 / --jobs 2", one / two, 1.7, "higher", f"{one:.0f} s / {two:.0f} s, two cores")
