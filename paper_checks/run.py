"""Decides claims: collects their evidence, in this process or in several, and holds it against the ledger."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from paper_checks import evidence, routes, workers
from paper_checks.claims import Claim
from paper_checks.evidence import Collected, Evidence, Task
from paper_checks.verdict import Verdict, decide

REPRODUCED, DIFFERS, BAD_USAGE, INCOMPLETE = 0, 1, 2, 3
Progress = Callable[[Task | str], None]


@dataclass(frozen=True)
class Result:
    """A claim, its evidence, its verdict, and what went wrong while collecting the evidence.

    `named` are the independent routes that were asked for by name.
    """

    claim: Claim
    verdict: Verdict
    evidence: tuple[Evidence, ...] = ()
    errors: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        """Why the claim is open: the ledger's words, which say what would decide it, else the evidence's."""
        if self.verdict.verdict != "OPEN":
            return ""
        return self.claim.open or self.verdict.reason

    @property
    def broken(self) -> bool:
        """Whether the module that derives the claim raised: nothing of it can be shown."""
        module = Task(self.claim.paper, self.claim.slug, evidence.THEORY).module
        return any(error.startswith(f"{module} raised") for error in self.errors)

    @property
    def problems(self) -> tuple[str, ...]:
        """Everything that makes the run fail: a regression, a contradiction, a module that raised."""
        found = [f"{self.claim.slug}: {text}" for text in (*self.verdict.contradictions, *self.errors)]
        if self.verdict.verdict != self.claim.expected:
            because = f" ({self.verdict.reason})" if self.verdict.reason else ""
            got = f"the evidence says {self.verdict.verdict}{because}, the ledger {self.claim.expected}"
            found.insert(0, f"{self.claim.slug}: {got}")
        return tuple(found)

    @property
    def gaps(self) -> tuple[str, ...]:
        """Evidence that was asked for and is not there; a claim that the ledger leaves open has none.

        An independent route that is not installed is one only if it was asked for by name. What it leaves undecided is
        none: a verdict does not rest on it.
        """
        if self.claim.expected == "OPEN":
            return ()
        own = [row for row in self.evidence if row.route not in evidence.ROUTES]
        missing = [row for row in own if row.status in ("undecided", "not run")]
        lines = [f"{self.claim.slug}: '{row.statement}' is {row.status} ({row.detail})" for row in missing]
        absent = [(name, reason) for name, reason in routes.absent([self]).items() if name in self.named]
        return (*lines, *(f"{self.claim.slug}: {name} was not run ({reason})" for name, reason in absent))


def tasks(claims: Iterable[Claim], settings: Any, provers: Iterable[str] = ()) -> list[Task]:
    """The evidence there is to collect for `claims`; without `settings`, the symbolic side and `provers` alone."""
    found, provers = [], tuple(provers)
    for claim in claims:
        found.append(Task(claim.paper, claim.slug, evidence.THEORY))
        found += [Task(claim.paper, claim.slug, evidence.THEORY, None, p, routes.MODULES[p]) for p in provers]
        if settings is not None:
            found.append(Task(claim.paper, claim.slug, evidence.NUMERICS, settings))
    return [task for task in found if evidence.exists(task.module)]


def run(
    claims: Sequence[Claim],
    settings: Any = None,
    jobs: int = 1,
    progress: Progress | None = None,
    provers: Iterable[str] = (),
    named: Iterable[str] = (),
) -> list[Result]:
    """The verdict on each claim, in the order given.

    Args:
        claims: what to decide.
        settings: `numerics.measure.Settings`, or None to leave the numeric checks out.
        jobs: worker processes, of one thread each. The result does not depend on it.
        progress: called with each task once its evidence is there, and with a text before a long stage.
        provers: independent routes to ask as well, keys of `routes.MODULES`.
        named: those of them that were asked for by name, so that one that is not installed is a gap.
    """
    named = tuple(named)
    todo = tasks(claims, settings, provers)
    collected: dict[tuple[str, str], list[Collected]] = {}
    done = {}
    here = [task for task in todo if task.route == "coq"]  # Coq checks all proofs at once: in one process
    there = [task for task in todo if task.route != "coq"]
    if here and progress:
        progress("checking in Coq")
    for task, found in _collect_all(here, there, jobs):
        done[task] = found
        if progress:
            progress(task)
    for task in todo:
        collected.setdefault((task.paper, task.slug), []).append(done[task])
    return [_result(claim, collected.get((claim.paper, claim.slug), ()), named) for claim in claims]


def status(results: Iterable[Result], named: Iterable[Claim] = ()) -> int:
    """The exit status: 1 if anything is wrong, 3 if something asked for is missing or a named claim is open, else 0."""
    results, named = list(results), set(named)
    if any(result.problems for result in results):
        return DIFFERS
    if any(result.gaps or (result.claim in named and result.verdict.verdict == "OPEN") for result in results):
        return INCOMPLETE
    return REPRODUCED


def _result(claim: Claim, collected: Iterable[Collected], named: tuple[str, ...]) -> Result:
    rows = tuple(row for found in collected for row in found.rows)
    errors = tuple(error for found in collected for error in found.errors)
    return Result(claim, decide(rows), rows, errors, named)


def _collect_all(here: list[Task], there: list[Task], jobs: int) -> Iterator[tuple[Task, Collected]]:
    """Every task with its evidence: `here` in this process, `there` meanwhile in `jobs` others, if more than one."""
    groups = _groups(there)
    if jobs == 1 or len(groups) < 2:
        for task in chain(here, there):
            yield task, evidence.collect(task)
        return
    import joblib  # here, not above: it takes a tenth of a second

    waiting = dict.fromkeys(there)
    try:
        with warnings.catch_warnings():
            # a worker that has grown is replaced by a fresh one, and its task is given to another
            warnings.filterwarnings("ignore", message="A worker stopped while some jobs were given to the executor")
            with workers.quiet_children():
                work = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
                finished = work(joblib.delayed(_collect_group)(group) for group in groups)
            for task in here:
                yield task, evidence.collect(task)
            for task, found in chain.from_iterable(finished):
                del waiting[task]
                yield task, found
    except Exception as error:  # a worker was killed, as the system does when memory is short
        for task in waiting:
            yield task, evidence.failed(task, [], error, 0.0)


def _groups(tasks: Iterable[Task]) -> list[list[Task]]:
    """What one worker does in a row: SymPy and the routes decide the same statements of a claim, from one cache."""
    found: dict[tuple[str, str, bool], list[Task]] = {}
    for task in tasks:
        found.setdefault((task.paper, task.slug, task.settings is None), []).append(task)
    return list(found.values())


def _collect_group(tasks: list[Task]) -> list[tuple[Task, Collected]]:
    workers.keep_caches()
    return [(task, evidence.collect(task)) for task in tasks]
