"""A paper that exists only for the tests: claims, theory and numerics in a temporary directory.

It shows that a further paper needs no machinery, and lets the tests break things on purpose.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from joblib.externals.loky import get_reusable_executor

from paper_checks import claims, cli, evidence, routes

_NUMBER = itertools.count()


def pytest_configure() -> None:
    """An interrupt reaches the processes that tests start, though a shell lets what it runs behind `&` ignore it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


CLAIMS = """
[paper]
name = "toy"
title = "Doubling considered harmless"
source = "a test"

[[claim]]
slug = "eq01"
source = "section 1, Eq. 1"
statement = "x + x is 2 x."
expected = "PASS"

[[claim]]
slug = "eq02"
source = "section 1, Eq. 2"
statement = "x + x is x^2."
assumptions = ["x is real"]
expected = "FAIL"

[[claim]]
slug = "eq02-rms"
source = "section 1, Eq. 2"
statement = "x / x is 1."
expected = "PASS IF"

[[claim]]
slug = "taste"
source = "section 2"
statement = "Doubling is beautiful."
expected = "OPEN"
open = "not examined yet"
"""

KIT = """
from dataclasses import dataclass
from fractions import Fraction
from typing import Callable
import sympy
from theory.proof import Proved, Refuted, Step, Undecided, Witness

x, y = sympy.symbols("x y", real=True)
PROVED = Proved(steps=(Step("both sides", sympy.Eq(2 * x, y, evaluate=False)),), nonzero=(x,))

def witness(honest=True):
    values = {"left": Fraction(2), "right": Fraction(1)}
    return Witness({"x": Fraction(1)}, values, "=", lambda: values if honest else {})

@dataclass
class Condition:
    text: str
    necessity: Callable

@dataclass
class Statement:
    name: str
    text: str
    decide: Callable
    conditions: tuple = ()
    expects: str = "proved"
    def formula(self):
        return sympy.Eq(2 * x, y, evaluate=False)
"""

EQ01 = """
from {theory}.toy.kit import *
STATEMENTS = (Statement("as printed", "x + x = 2 x", lambda: PROVED),)
"""

EQ02 = """
from {theory}.toy.kit import *
STATEMENTS = (
    Statement("as printed", "x + x = x^2", lambda: Refuted(witness()), expects="refuted"),
    Statement("corrected", "x + x = 2 x", lambda: PROVED),
)
"""

EQ02_RMS = """
from {theory}.toy.kit import *
STATEMENTS = (
    Statement("as printed", "x / x = 1", lambda: PROVED, (Condition("x != 0", lambda: Refuted(witness())),)),
)
"""

MEASURE = """
from numerics.measure import Measurement
def measure(settings):
    for dtype in settings.dtypes:
        yield Measurement("random", "as printed", "x up to 1", {worst}, settings.trials, dtype, settings.device,
                          settings.seed, witness={{"x": [1.0, float("inf")]}})
"""


@dataclass
class Toy:
    """The toy paper: where it lies, the names of its packages, and ways to change it."""

    directory: Path
    theory: str
    numerics: str

    def write_theory(self, slug: str, source: str) -> None:
        self._write(self.theory, slug, source.replace("{theory}", self.theory))

    def write_numerics(self, slug: str, worst: str = "0.5", source: str | None = None) -> None:
        self._write(self.numerics, slug, MEASURE.format(worst=worst) if source is None else source)

    def write_claims(self, text: str = CLAIMS, name: str = "toy") -> None:
        (self.directory / "claims").mkdir(exist_ok=True)
        (self.directory / "claims" / f"{name}.toml").write_text(text, encoding="utf-8")

    def write_route(self, route: str, *found: str, slug: str = "eq01") -> None:
        """An independent route; each finding about the claim is given as the arguments of `Finding` after the route."""
        name = f"{self.theory}_{route}"
        lines = "".join(f"        yield Finding({route!r}, {arguments})\n" for arguments in found)
        (self.directory / f"{name}.py").write_text(
            "from theory.routes.finding import Finding\n"
            f"def findings(module):\n    if module.__name__.endswith({slug!r}):\n        yield from ()\n{lines}"
        )
        routes.MODULES[route] = name

    def driver(self, prelude: str = "") -> list[str]:
        """The command that runs this paper's `paper-checks` in a process of its own, after a prelude in Python."""
        code = (
            f"import sys, pathlib; sys.path.insert(0, {str(self.directory)!r})\n"
            "from paper_checks import claims, evidence, routes, __main__\n"
            f"claims.DIRECTORY = pathlib.Path({str(self.directory)!r}) / 'claims'\n"
            f"evidence.THEORY, evidence.NUMERICS = {self.theory!r}, {self.numerics!r}\n"
            f"routes.MODULES = {routes.MODULES!r}\n"
        )
        return [sys.executable, "-c", f"{code}{prelude}\n__main__.main()\n"]

    def _write(self, root: str, slug: str, source: str) -> None:
        package = self.directory / root / "toy"
        package.mkdir(parents=True, exist_ok=True)
        for init in (package.parent / "__init__.py", package / "__init__.py"):
            init.touch()
        (package / f"{slug.replace('-', '_')}.py").write_text(source, encoding="utf-8")


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Toy]:
    """The toy paper, in place of the real ones."""
    number = next(_NUMBER)
    paper = Toy(tmp_path, f"toy_theory_{number}", f"toy_numerics_{number}")
    paper.write_claims()
    for slug, source in (("kit", KIT), ("eq01", EQ01), ("eq02", EQ02), ("eq02-rms", EQ02_RMS)):
        paper.write_theory(slug, source)
    paper.write_numerics("eq01")
    paper.write_numerics("eq02", worst="3.0")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(claims, "DIRECTORY", tmp_path / "claims")
    monkeypatch.setattr(evidence, "THEORY", paper.theory)
    monkeypatch.setattr(evidence, "NUMERICS", paper.numerics)
    monkeypatch.setattr(routes, "MODULES", {})  # the real routes do not know the toy's statements
    yield paper
    get_reusable_executor().shutdown(kill_workers=True)  # workers keep the import path that they were started with


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Small tensors: threads that wait for each other only cost time."""
    from numerics import threads  # imports torch, which most tests do without

    with threads.one_thread():
        yield


@pytest.fixture
def spawn() -> Iterator[Callable[..., subprocess.Popen]]:
    """`subprocess.Popen` in a process group of its own, which is ended after the test at the latest."""
    processes: list[subprocess.Popen] = []

    def start(*arguments, **options) -> subprocess.Popen:
        processes.append(subprocess.Popen(*arguments, start_new_session=True, **options))
        return processes[-1]

    yield start
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


@pytest.fixture
def command(capfd: pytest.CaptureFixture) -> Callable[..., SimpleNamespace]:
    """Runs the command line in this process: status, out, err, and out as JSON."""

    def run(*arguments: str) -> SimpleNamespace:
        status = cli.call([*map(str, arguments)])
        out, err = capfd.readouterr()
        return SimpleNamespace(status=status, out=out, err=err, json=lambda: json.loads(out, parse_constant=_refuse))

    return run


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
