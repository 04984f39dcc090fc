"""The benchmarks: what a ratio says of its goal, and that every file can be run. No speed is tested here."""

import importlib
import inspect
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.benchmark import Benchmark, side_by_side
from benchmarks.gradients import _data, check, layer
from benchmarks.proofs import explicit, symbolic

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("ratio", "goal", "better", "met"),
    [
        (2.0, 3.0, "lower", True),
        (3.0, 3.0, "lower", True),
        (3.1, 3.0, "lower", False),
        (1.8, 1.7, "higher", True),
        (1.6, 1.7, "higher", False),
        (math.nan, 1.7, "higher", False),
        (math.nan, 1.7, "lower", False),
        (5.0, None, "lower", None),
    ],
)
def test_a_ratio_meets_its_goal(ratio, goal, better, met):
    assert Benchmark("a / b", ratio, goal, better, "").met is met


def test_a_ratio_is_better_one_way_or_the_other():
    with pytest.raises(ValueError, match="better is 'faster'"):
        Benchmark("a / b", 1.0, None, "faster", "")


def test_functions_take_turns():
    calls = []
    found = side_by_side(2, a=lambda: calls.append("a"), b=lambda: calls.append("b"))
    assert calls == ["a", "b"] * 3
    assert set(found) == {"a", "b"} and min(found.values()) >= 0


@pytest.mark.parametrize("name", command.NAMES)
def test_every_file_has_benchmarks(name):
    assert inspect.isgeneratorfunction(importlib.import_module(f"benchmarks.{name}").benchmarks)


def test_what_is_timed_as_a_proof_is_one(monkeypatch):
    symbolic()
    explicit(2)
    monkeypatch.setattr("benchmarks.proofs.sp.expand", lambda expr: expr + 1)
    with pytest.raises(AssertionError):
        explicit(2)


@pytest.mark.parametrize("name", ["fp16", "bf16", "fp32", "fp64"])
def test_what_is_timed_as_a_check_is_one(name):
    from numerics.rounding import FORMATS

    h, g, gamma = _data(FORMATS[name].dtype, 4, 8)
    measured = layer(h, g, gamma)
    check(name, h, g, gamma, measured)
    with pytest.raises(AssertionError):
        check(name, h, g, gamma, 1.5 * measured)


def test_an_unknown_benchmark_is_refused(capsys):
    with pytest.raises(SystemExit) as end:
        command.main(["fastest"])
    assert end.value.code == 2 and "NAME: got 'fastest', accepts one of" in capsys.readouterr().err


def test_a_run_writes_the_figures_and_where_they_are_from(tmp_path, monkeypatch):
    row = Benchmark("a / b", 2.0, 3.0, "lower", "1 s / 2 s").data()
    monkeypatch.setattr(command, "_in_a_process", lambda name: [row] if name == "proofs" else None)
    target = tmp_path / "latest.json"
    assert command.main(["proofs", "--output", str(target)]) == 0
    written = json.loads(target.read_text())
    assert written["benchmarks"] == [row]
    assert {"machine", "cores", "python", "torch", "device_name"} <= written["environment"].keys()
    assert command.main(["proofs", "jobs", "--output", str(target)]) == 1  # one did not run


def test_a_benchmark_runs_in_a_process_of_its_own():
    code = "import benchmarks.proofs as b, benchmarks.__main__ as m; b.benchmarks = lambda: iter([{'detail': 'x'}])"
    code += "; m.main(['--alone', 'proofs'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    (row,) = json.loads(done.stdout)
    assert row["detail"].startswith("x; peak memory ")
