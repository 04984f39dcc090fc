"""The shards of a sweep, and what one of them gives.

A shard is a claim, a cell, a dtype, a device and a block of trials. Its rows follow from these and from the seed alone:
where, when and in what order shards are run makes no difference, on machines of one kind and with one version of torch.
To run a cell again, name it: `--scenario CELL` with the claim, the dtype, the seed and the trials of the sweep.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path

import torch

from numerics.measure import Settings
from numerics.scenarios import generator
from numerics.sweeps.checks import Row, measured
from numerics.sweeps.matrix import Cell
from numerics.sweeps.rows import CellRows
from numerics.threads import one_thread

VERSION = 1  # of the plan: raised when shards are cut or seeded in another way
ELEMENTS = 2**16  # phasors of a block
FEWEST, MOST = 64, 1024  # trials of a block


def block_size(phasors: int) -> int:
    """Trials of a block: so many that memory stays small at every P."""
    return min(MOST, max(FEWEST, ELEMENTS // phasors))


@dataclass(frozen=True)
class Shard:
    """One unit of work, small enough to be lost; picklable."""

    claim: str
    cell: Cell
    dtype: str
    device: str
    block: int
    trials: int
    seed: int

    @property
    def key(self) -> str:
        """A name that no other shard of the plan has."""
        return f"{self.claim}|{self.cell.name}|{self.dtype}|{self.device}|{self.block}"


@dataclass(frozen=True)
class Outcome:
    """What a shard gave: its rows and the number of input rows outside the bounds' domain, or an error."""

    rows: tuple[Row, ...] = ()
    outside: int = 0
    error: str = ""


@dataclass(frozen=True)
class Plan:
    """What is swept: the product of claims, cells, dtypes and devices, `trials` trials each."""

    claims: tuple[str, ...]
    cells: tuple[Cell, ...]
    dtypes: tuple[str, ...]
    devices: tuple[str, ...] = ("cpu",)
    trials: int = 64
    seed: int = 0
    code: str = field(default_factory=lambda: code())

    @cached_property
    def blocks(self) -> dict[int, int]:
        """Blocks of a cell, by P."""
        return {cell.phasors: -(-self.trials // block_size(cell.phasors)) for cell in self.cells}

    def __len__(self) -> int:
        """The number of shards."""
        products = len(self.claims) * len(self.dtypes) * len(self.devices)
        return products * sum(self.blocks[cell.phasors] for cell in self.cells)

    def shards(self) -> Iterator[Shard]:
        """All shards, in the order of claims, cells, dtypes, devices and blocks."""
        for claim in self.claims:
            for cell in self.cells:
                size = block_size(cell.phasors)
                for dtype in self.dtypes:
                    for device in self.devices:
                        for block in range(self.blocks[cell.phasors]):
                            trials = min(size, self.trials - block * size)
                            yield Shard(claim, cell, dtype, device, block, trials, self.seed)

    def identity(self) -> dict:
        """What two sweeps must have in common for their shards to be put together, as plain data."""
        return {
            "plan": VERSION,
            "seed": self.seed,
            "trials": self.trials,
            "claims": list(self.claims),
            "dtypes": list(self.dtypes),
            "devices": list(self.devices),
            "scenarios": [cell.name for cell in self.cells],
            "torch": torch.__version__,
            "code": self.code,
        }


@cache
def code() -> str:
    """A digest of the sources of this package: the checks, the bounds, the layers, the draws."""
    digest = hashlib.blake2b(digest_size=8)
    root = Path(__file__).parents[1]
    for path in sorted(root.rglob("*.py")):
        digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def run_shard(shard: Shard, expected: str) -> Outcome:
    """The outcome of a shard in this process, computed by one thread; whatever is raised becomes its error.

    `expected` is the digest of the code that planned it: a worker with other code must not answer.
    """
    try:
        if code() != expected:
            raise RuntimeError(f"the worker has other code ({code()}) than the sweep ({expected})")
        with one_thread():
            source = CellRows(shard.cell, shard.block)
            seed = generator(shard.seed, shard.key).initial_seed()
            settings = Settings(shard.device, (shard.dtype,), shard.trials, seed, source=source)
            return Outcome(tuple(measured(shard.claim, settings)), source.outside)
    except Exception as error:
        return Outcome(error=f"{type(error).__name__}: {' '.join(str(error).split())}")
