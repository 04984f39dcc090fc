"""Ctrl-C ends the process within a second: status 130, no traceback, no file and no worker left behind."""

import os
import signal
import subprocess
import time

import pytest

WAITS = """
import pathlib, time
def wait():
    pathlib.Path({started!r}).touch()
    while True:
        time.sleep(0.01)
"""
SLEEPS = WAITS + "def measure(settings):\n    wait()\n    yield\n"
SLEEPS_ON_IMPORT = WAITS + "wait()\n"
ONE_LONG_CALL = """
import pathlib, torch
def measure(settings):
    pathlib.Path({started!r}).touch()
    a = torch.ones(2500, 2500, dtype=torch.float64)
    yield torch.linalg.matrix_exp(torch.linalg.svd(a)[0])
"""
SWALLOWS = """
import pathlib, time
def measure(settings):
    pathlib.Path({started!r}).touch()
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            pass
    yield
"""


NEVER_IMPORTED = """
import sys, time
class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == {library!r}:
            pathlib.Path({started!r}).touch()
            while True:
                time.sleep(0.01)
assert {library!r} not in sys.modules
sys.meta_path.insert(0, Slow())
"""


def interrupt(spawn, toy, source, arguments, number, prelude=""):
    """Starts a run whose check never ends, and sends `number` to its process group as a terminal would."""
    started = toy.directory / "started"
    toy.write_numerics("eq01", source=source.replace("{started!r}", repr(str(started))))
    process = spawn(
        [*toy.driver(prelude), "run", "eq01", "eq02", "--json", str(toy.directory / "x.json"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not started.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    assert started.exists(), process.poll() is None or process.communicate()
    time.sleep(0.1)
    sent = time.monotonic()
    os.killpg(process.pid, number)
    out, err = process.communicate(timeout=30)
    return process, time.monotonic() - sent, out, err


@pytest.mark.parametrize(
    ("source", "jobs"),
    [(SLEEPS, "1"), (SLEEPS_ON_IMPORT, "1"), (ONE_LONG_CALL, "1"), (SWALLOWS, "1"), (SLEEPS, "2"), (SWALLOWS, "2")],
    ids=["check", "import", "one long call", "swallowed", "check, two workers", "swallowed, two workers"],
)
def test_ctrl_c_ends_a_run_within_a_second(spawn, toy, source, jobs):
    process, seconds, out, err = interrupt(spawn, toy, source, ["--jobs", jobs], signal.SIGINT)
    assert (process.returncode, out, err) == (130, "", "")
    assert seconds < 1
    assert list(toy.directory.glob("*x.json*")) == [] and list(toy.directory.glob(".*")) == []
    with pytest.raises(ProcessLookupError):
        for _ in range(50):  # the workers' helper process notices a moment later that they are gone
            os.killpg(process.pid, 0)
            time.sleep(0.1)


def test_sigterm_leaves_no_file_behind(spawn, toy):
    process, seconds, _, err = interrupt(spawn, toy, SLEEPS, [], signal.SIGTERM)
    assert (process.returncode, err) == (143, "")
    assert seconds < 1 and list(toy.directory.glob("*x.json*")) == []


def test_ctrl_c_ends_coq_as_well(spawn, toy):
    """A stand-in for coqc that no Ctrl-C stops must not outlive the run."""
    coqc = toy.directory / "coqc"
    coqc.write_text(f"#!/bin/sh\ntrap '' INT\ntouch {toy.directory / 'started'}\nexec sleep 60\n")
    coqc.chmod(0o755)
    (toy.directory / "slow_proof.py").write_text(
        "import pathlib\nfrom theory.coq_build import Clock, compile_file\n"
        "def findings(module):\n    yield compile_file('Slow', pathlib.Path(__file__).parent, Clock.of(60))\n"
    )
    path = f"{toy.directory}{os.pathsep}{os.environ['PATH']}"
    prelude = f"import os; os.environ['PATH'] = {path!r}; routes.MODULES['coq'] = 'slow_proof'"
    process, _, out, err = interrupt(spawn, toy, SLEEPS, [], signal.SIGINT, prelude)
    assert (process.returncode, out, err) == (130, "", "")
    with pytest.raises(ProcessLookupError):
        for _ in range(50):
            os.killpg(process.pid, 0)
            time.sleep(0.1)


@pytest.mark.parametrize("library", ["typer", "torch", "rich", "sympy"])
def test_ctrl_c_while_a_library_is_imported(spawn, toy, library):
    prelude = NEVER_IMPORTED.format(library=library, started=str(toy.directory / "started"))
    process, seconds, out, err = interrupt(spawn, toy, SLEEPS, [], signal.SIGINT, prelude)
    assert (process.returncode, out, err) == (130, "", "")
    assert seconds < 1 and list(toy.directory.glob("*x.json*")) == []
