"""A proof for every P against proofs for one P after the other, and the whole proof suite against its limit."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import sympy as sp

from benchmarks.benchmark import Benchmark, side_by_side
from theory import flatten, moments, phasors
from theory.mrsnorm import eq05

SIZES = (2, 4, 8, 16, 32)
LIMIT = 30  # seconds that the proof suite may take


def symbolic() -> None:
    """Eq. 5 for every P, from a cold start: nothing cached."""
    for module in (moments, flatten, phasors):
        for kept in vars(module).values():
            if hasattr(kept, "cache_clear"):
                kept.cache_clear()
    assert eq05.STATEMENTS[0].decide().status == "proved"


def explicit(phasor_count: int) -> None:
    """Eq. 5 at one P, every coordinate a symbol of its own: differentiate, and expand the difference to 0."""
    x, y, gx, gy, gamma = (sp.symbols(f"{name}1:{phasor_count + 1}", real=True) for name in ("x", "y", "a", "b", "c"))
    r = sp.symbols(f"r1:{phasor_count + 1}", positive=True)
    eps, scale = sp.symbols("eps S", positive=True)
    dot = sp.Add(*(c * (a * u + b * v) for c, a, b, u, v in zip(gamma, gx, gy, x, y, strict=True)))
    s = sp.Add(*r) / phasor_count + eps
    loss = dot / s
    derived = sp.diff(loss, x[0]) + sp.diff(loss, r[0]) * x[0] / r[0]
    omega = dot / scale / phasor_count
    printed = (gamma[0] * gx[0] - x[0] / r[0] * omega) / scale
    numerator, _ = sp.fraction(sp.together(derived - printed.subs(scale, s)))
    assert sp.expand(numerator) == 0


def benchmarks() -> Iterator[Benchmark]:
    """One ratio a P, and the suite."""
    work = {f"P{size}": (lambda size=size: explicit(size)) for size in SIZES}
    seconds = side_by_side(3, symbolic=symbolic, **work)
    for size in SIZES:
        yield Benchmark(
            f"Eq. 5 for every P / for P = {size}",
            seconds["symbolic"] / seconds[f"P{size}"],
            1.0 if size == SIZES[-1] else None,
            "lower",
            f"{seconds['symbolic']:.3f} s / {seconds[f'P{size}']:.3f} s",
        )
    start = time.perf_counter()
    command = [sys.executable, "-m", "pytest", "-q", "theory"]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], stdout=subprocess.PIPE, text=True)
    took = time.perf_counter() - start
    last = done.stdout.strip().splitlines()[-1]
    yield Benchmark("pytest theory / 30 s", took / LIMIT, 1.0, "lower", f"{took:.1f} s: {last.strip('= ')}")
