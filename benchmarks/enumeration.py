"""Every fp16 phasor tried, against one bare pass over the same pairs."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from benchmarks.benchmark import Benchmark, side_by_side
from numerics.exhaustive import PAIRS
from numerics.exhaustive.bands import BANDS, ROWS, Table, scan

CASES = ((3.0, 0.7001953125), (1000.0, -1.7001953125))
EVERY = 8  # of the bands, an even sample of all of them
CHUNK = 16


def bare(table: Table) -> None:
    """The product of each pair, and the largest one."""
    for number in range(0, BANDS, EVERY):
        for top in range(number * ROWS, (number + 1) * ROWS, CHUNK):
            torch.mul(table.x[top : top + CHUNK, None], table.x).amax()


def tried(table: Table) -> None:
    """The bands of the exhaustive run."""
    for number in range(0, BANDS, EVERY):
        scan(table, number)


def benchmarks() -> Iterator[Benchmark]:
    """One ratio a scale, with one thread."""
    torch.set_num_threads(1)
    for scale, gamma in CASES:
        table = Table.of(scale, gamma)
        seconds = side_by_side(3, bare=lambda table=table: bare(table), tried=lambda table=table: tried(table))
        whole = seconds["tried"] * EVERY
        yield Benchmark(
            f"every fp16 phasor / a bare pass, S = {scale:g}",
            seconds["tried"] / seconds["bare"],
            6.0,
            "lower",
            f"{PAIRS:,} pairs: {whole:.1f} s / {seconds['bare'] * EVERY:.1f} s on one core, from every {EVERY}th band",
        )
