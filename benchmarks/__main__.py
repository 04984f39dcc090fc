"""`python -m benchmarks [NAME ...] [--output FILE]`: run benchmarks, print a table, write the figures as JSON."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.benchmark import Benchmark

LATEST = Path(__file__).parent / "latest.json"
NAMES = [
    entry.name for entry in pkgutil.iter_modules(benchmarks.__path__) if entry.name not in ("benchmark", "__main__")
]


def main(arguments: list[str] | None = None) -> int:
    """Run what was named, or everything; 0 if it all ran, whatever the ratios are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=benchmarks.__doc__)
    parser.add_argument(
        "name", nargs="*", metavar="NAME", help=f"one of {', '.join(NAMES)}; all of them if none is named"
    )
    parser.add_argument("--output", type=Path, default=LATEST, metavar="FILE", help="where the JSON goes")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    unknown = [name for name in options.name if name not in NAMES]
    if unknown:
        parser.error(f"NAME: got {unknown[0]!r}, accepts one of {', '.join(NAMES)}")
    if options.alone:
        return _alone(options.name[0])
    found, failed = [], []
    for name in options.name or NAMES:
        result = _in_a_process(name)
        (failed if result is None else found).append(name if result is None else result)
    rows = [row for rows in found for row in rows]
    options.output.write_text(json.dumps({"environment": environment(), "benchmarks": rows}, indent=2) + "\n")
    _print(rows)
    for name in failed:
        print(f"{name} did not run", file=sys.stderr)
    return 1 if failed else 0


def environment() -> dict:
    """The machine and what ran on it."""
    import torch

    cuda = torch.cuda.is_available()
    return {
        "machine": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "platform": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "sympy", "numpy")},
        "device_name": torch.cuda.get_device_name() if cuda else "cpu",
        "date": time.strftime("%Y-%m-%d"),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def _in_a_process(name: str) -> list[dict] | None:
    """The benchmarks of one file, run by themselves so that memory is theirs alone."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "benchmarks", "--alone", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1])
    return json.loads(done.stdout) if done.returncode == 0 else None


def _alone(name: str) -> int:
    found = importlib.import_module(f"benchmarks.{name}").benchmarks()
    rows = [row if isinstance(row, dict) else row.data() for row in found]
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024
    for row in rows:
        row["detail"] += f"; peak memory {peak:.0f} MiB"
    json.dump(rows, sys.stdout)
    return 0


def _print(rows: list[dict]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("benchmark", "ratio", "goal", "", "detail"):
        table.add_column(heading, justify="right" if heading in ("ratio", "goal") else "left", overflow="fold")
    for row in rows:
        met = Benchmark(**row).met
        sign = "<=" if row["better"] == "lower" else ">="
        goal = "" if row["goal"] is None else f"{sign} {row['goal']:g}"
        table.add_row(
            row["name"], f"{row['ratio']:.3g}", goal, {True: "met", False: "MISSED", None: ""}[met], row["detail"]
        )
    Console(width=None if sys.stdout.isatty() else 160, highlight=False).print(table)


if __name__ == "__main__":
    sys.exit(main())
