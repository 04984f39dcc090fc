"""Runs a sweep: maps shards to this process, to local ones or to a Dask cluster, and merges what comes back.

Local workers are joblib's (loky). A worker that is killed takes its pool with it; the shards that were under way are
then tried again one by one, each in a pool of its own, where it is plain which shard is to blame. One that ends its
worker `GIVE_UP` times is given up and reported; whatever else was under way only took longer.

Shards are dispatched in random order, so that processes that share a store seldom do the same one twice.
"""

from __future__ import annotations

import random
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch

from numerics.sweeps.merge import Merged
from numerics.sweeps.shards import Outcome, Plan, Shard, run_shard
from numerics.sweeps.store import Store

GIVE_UP = 3
NEWS_SECONDS = 0.2
Results = Iterator[tuple[Shard, Outcome]]


class WorkerDied(Exception):
    """A worker process ended while it had shards."""


class ClusterLost(Exception):
    """The cluster does not answer, or answers with something else than outcomes."""


class Workers:
    """Where shards are run: in this process, one after the other."""

    def results(self, shards: Iterator[Shard], code: str) -> Results:
        """The outcome of each shard, in any order.

        Raises:
            WorkerDied: one did; shards that were drawn from the iterator and gave no outcome were under way.
        """
        for shard in shards:
            yield shard, run_shard(shard, code)


@dataclass
class LocalProcesses(Workers):
    """Local worker processes of one thread each; `starting` is entered while they are started."""

    jobs: int
    starting: Callable[[], AbstractContextManager] = nullcontext

    def results(self, shards: Iterator[Shard], code: str) -> Results:
        """As `Workers.results`."""
        import joblib
        from joblib.externals.loky.process_executor import BrokenProcessPool

        try:
            with warnings.catch_warnings():
                # a worker that has grown is replaced by a fresh one, and its shard is given to another
                warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given to the executor")
                with self.starting():
                    work = joblib.Parallel(n_jobs=self.jobs, backend="loky", return_as="generator_unordered")
                    found = work(joblib.delayed(_pair)(shard, code) for shard in shards)
                yield from found
        except BrokenProcessPool as error:
            raise WorkerDied(str(error)) from error


@dataclass
class DaskWorkers(Workers):
    """The workers of an existing Dask cluster: those at `addresses`, or all."""

    client: Any
    addresses: tuple[str, ...] = ()

    def results(self, shards: Iterator[Shard], code: str) -> Results:
        """As `Workers.results`."""
        import joblib
        from distributed.scheduler import KilledWorker

        options = {"workers": list(self.addresses)} if self.addresses else {}
        try:
            with joblib.parallel_config("dask", client=self.client, pure=False, **options):
                work = joblib.Parallel(n_jobs=-1, return_as="generator_unordered")
                yield from work(joblib.delayed(_pair)(shard, code) for shard in shards)
        except KilledWorker as error:
            raise WorkerDied(str(error)) from error
        except Exception as error:
            raise ClusterLost(f"{type(error).__name__}: {' '.join(str(error).split())}") from error


@dataclass
class Swept:
    """What a sweep gave: the merged cells, the number of shards found in the store, and what is missing.

    `errors` are those of shards, by their keys; `lost` says why others were never finished.
    """

    merged: Merged
    stored: int = 0
    errors: dict[str, str] = field(default_factory=dict)
    unfinished: int = 0
    lost: str = ""


def sweep(
    plan: Plan, workers: Workers, store: Store | None = None, progress: Callable[[int, int], None] | None = None
) -> Swept:
    """Run every shard of the plan that the store does not have.

    Args:
        plan: what to sweep.
        workers: where.
        store: where finished shards are kept, and found; without one they are merged as they come.
        progress: called with the number of shards that were found in the store, and of those finished since.
    """
    return _Run(plan, workers, store, progress or (lambda found, finished: None)).run()


def has_cuda() -> bool:
    """Whether this process, a worker of a cluster, finds a CUDA device."""
    return torch.cuda.is_available()


def _pair(shard: Shard, code: str) -> tuple[Shard, Outcome]:
    return shard, run_shard(shard, code)


class _Run:
    def __init__(self, plan: Plan, workers: Workers, store: Store | None, progress: Callable) -> None:
        self.plan, self.workers, self.store, self.progress = plan, workers, store, progress
        self.found = Swept(Merged())
        self.waiting = {shard.key: shard for shard in plan.shards()}
        self.deaths: dict[str, int] = {}
        self.under_way: dict[str, Shard] = {}
        self.finished = 0
        self.asked = 0.0

    def run(self) -> Swept:
        self._hear()
        self.found.stored, self.finished = self.finished, 0
        self.progress(self.found.stored, self.finished)
        try:
            self._map()
        except ClusterLost as error:
            self.found.lost = str(error)
        self.found.unfinished = len(self.waiting)
        if self.store:
            shards = {shard.key: shard for shard in self.plan.shards()}
            for key, outcome in self.store.outcomes():
                self.found.merged.take(shards[key], outcome)
        return self.found

    def _map(self) -> None:
        while self.waiting:
            todo = list(self.waiting.values())
            random.SystemRandom().shuffle(todo)
            if self._some(todo):
                for shard in list(self.under_way.values()):
                    self._alone(shard)

    def _some(self, todo: list[Shard]) -> bool:
        """Run shards that nobody has finished yet; whether a worker died meanwhile."""
        self.under_way = {}
        try:
            for shard, outcome in self.workers.results(self._dispatched(todo), self.plan.code):
                self._take(shard, outcome)
        except WorkerDied:
            return True
        return False

    def _dispatched(self, todo: list[Shard]) -> Iterator[Shard]:
        for shard in todo:
            if shard.key in self.waiting:
                self.under_way[shard.key] = shard
                yield shard

    def _alone(self, shard: Shard) -> None:
        """Run a shard that was under way when a worker died, with nothing beside it."""
        while self._some([shard]):
            self.deaths[shard.key] = self.deaths.get(shard.key, 0) + 1
            if self.deaths[shard.key] >= GIVE_UP:
                self._take(shard, Outcome(error=f"it ended its worker process {GIVE_UP} times"))
                return

    def _take(self, shard: Shard, outcome: Outcome) -> None:
        self.under_way.pop(shard.key, None)
        if self.waiting.pop(shard.key, None) is None:
            return  # another process has finished it meanwhile
        self.finished += 1
        if outcome.error:
            self.found.errors[shard.key] = outcome.error
        elif self.store:
            self.store.put(shard.key, outcome)
        else:
            self.found.merged.take(shard, outcome)
        self._hear()
        self.progress(self.found.stored, self.finished)

    def _hear(self) -> None:
        """Strike out what is in the store, at most a few times a second."""
        if self.store and time.monotonic() - self.asked >= NEWS_SECONDS:
            for key in self.store.news():
                if self.waiting.pop(key, None) is not None:
                    self.finished += 1
            self.asked = time.monotonic()
