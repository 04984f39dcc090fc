"""What is known about a claim: rows of evidence, collected from `theory` and `numerics` by name.

Nothing is registered. Claim `slug` of paper `p` is decided by the modules `theory.p.slug` and `numerics.p.slug`, with
dashes turned into underscores, where they exist; they are imported only when their evidence is asked for. Independent
routes (`paper_checks.routes`) are given the module of the theory and add what they find about its statements.

A module that raises gives a row that says so ("undecided" or "not run", never a pass) and an entry in `errors`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from paper_checks.places import place

THEORY = "theory"
NUMERICS = "numerics"
PRINTED = "as printed"
CORRECTED = "corrected"
WITHOUT = "without: "
SYMPY = "sympy"  # the route on which verdicts rest
ROUTES = ("exact", "smt", "interval", "coq")  # the independent ones


@dataclass(frozen=True)
class Evidence:
    """One row: what was found out about one statement, by what means, and how far it reaches.

    `statement` is "as printed", "corrected", the name of a further theorem, or "without: CONDITION" for the printed
    statement with that condition dropped ("NAME, without: CONDITION" for a statement of another name).
    `worst_error_over_bound` is the largest error over its derived bound, or the largest |quantity| over the bound that
    the statement gives; at most 1 is consistent. `route` is the prover, None for a measurement; `text` is the text of
    the statement, which tells the parts of one name apart (for Coq the part that its theorem decides, "" for the
    whole); `place` is "file:line" of the statement, or of what an independent route decides it by.
    """

    kind: str  # symbolic | exact | smt | coq | interval | random | adversarial | exhaustive | experiment
    statement: str
    status: str  # proved | refuted | undecided | consistent | violated | not run
    scope: str = ""
    witness: dict | None = None
    trials: int | None = None
    worst_error_over_bound: float | None = None
    dtype: str | None = None
    device: str | None = None
    seed: int | None = None
    seconds: float | None = None
    detail: str = ""
    route: str | None = None  # sympy | exact | smt | interval | coq
    text: str = ""
    place: str = ""


@dataclass(frozen=True)
class Task:
    """One side (`theory` or `numerics`) of one claim, to be collected in this process or in another one.

    `settings` is what the numeric side is asked (`numerics.measure.Settings`); the symbolic side has none. With a
    `route`, the module named `prover` is asked about the statements of the symbolic side.
    """

    paper: str
    slug: str
    side: str
    settings: Any = None
    route: str | None = None
    prover: str = ""

    @property
    def module(self) -> str:
        """The dotted name of the module that holds the evidence."""
        return ".".join((self.side, *(part.replace("-", "_") for part in (self.paper, self.slug))))

    @property
    def symbolic(self) -> bool:
        """Whether SymPy decides the statements: not a measurement, and not an independent route."""
        return self.settings is None and self.route is None


@dataclass(frozen=True)
class Collected:
    """The rows of one task, and what went wrong while collecting them."""

    rows: tuple[Evidence, ...]
    errors: tuple[str, ...] = ()


def exists(module: str) -> bool:
    """Whether a module of that dotted name can be found; it is not imported, its packages are."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError as error:
        if error.name and (module == error.name or module.startswith(error.name + ".")):
            return False  # the package of that paper is not there
        raise


def collect(task: Task) -> Collected:
    """The evidence of `task`; whatever its module raises becomes a row and an error."""
    rows: list[Evidence] = []
    started = time.perf_counter()
    try:
        module = importlib.import_module(task.module)
        with one_thread():
            for row in _rows(module, task):
                rows.append(row)
        if not rows and task.route is None:
            raise ValueError("no statement was decided" if task.symbolic else "nothing was measured")
        errors = _surprises(module, rows) if task.symbolic else ()
    except Exception as error:
        return failed(task, rows, error, time.perf_counter() - started)
    return Collected(tuple(rows), tuple(errors))


def _rows(module: ModuleType, task: Task) -> Iterator[Evidence]:
    if task.route is not None:
        return route_rows(module, importlib.import_module(task.prover), task.route)
    return symbolic_rows(module) if task.symbolic else numeric_rows(module, task.settings)


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch, if it is imported, computes with one thread meanwhile (`numerics.threads`)."""
    if "torch" not in sys.modules:
        yield
        return
    from numerics import threads

    with threads.one_thread():
        yield


def failed(task: Task, rows: list[Evidence], error: Exception, seconds: float) -> Collected:
    """The rows found before `error`, and one that says what it was."""
    text = f"{task.prover or task.module} raised {type(error).__name__}: {' '.join(str(error).split())}"
    measured = task.settings is not None
    row = Evidence(
        kind="random" if measured else task.route or "symbolic",
        statement=PRINTED,
        status="not run" if measured else "undecided",
        seconds=seconds,
        detail=text,
        route=None if measured else task.route or SYMPY,
    )
    return Collected((*rows, row), (text,))


def _surprises(module: ModuleType, rows: list[Evidence]) -> Iterator[str]:
    """Statements that came out the other way than the module that makes them says in `expects`."""
    decided = [row for row in rows if WITHOUT not in row.statement]
    for statement, row in zip(module.STATEMENTS, decided, strict=True):
        expects = getattr(statement, "expects", row.status)
        if row.status not in ("undecided", expects):
            yield f"{module.__name__}: '{statement.name}' should be {expects} and is {row.status}"


def symbolic_rows(module: ModuleType) -> Iterator[Evidence]:
    """One row for each statement of a claim module of `theory`, and one for each of its conditions."""
    for statement in module.STATEMENTS:
        where = place(module, statement.text)
        yield outcome_row(statement.name, statement.text, statement.decide, where)
        for condition in statement.conditions:
            yield outcome_row(_dropped(statement, condition), "", condition.necessity, place(module, condition.text))


def _dropped(statement: Any, condition: Any) -> str:
    """What the statement without one of its conditions is called."""
    return (WITHOUT if statement.name == PRINTED else f"{statement.name}, {WITHOUT}") + condition.text


def outcome_row(name: str, text: str, decide: Callable[[], Any], where: str) -> Evidence:
    """What `decide()` (Proved | Refuted | Undecided) says about the statement called `name`, which stands at `where`.

    A refutation whose witness does not give the same values again when it is recomputed is undecided.
    """
    started = time.perf_counter()
    outcome = decide()
    status, witness, reason = outcome.status, None, ""
    if status == "refuted":
        witness = outcome.witness.data()
        if not outcome.witness.reproduces():
            status, reason = "undecided", "the witness gives other values when it is recomputed"
    elif status == "undecided":
        reason = outcome.reason
    elif status != "proved":
        raise ValueError(f"{name}: {status!r} is not an outcome")
    return Evidence(
        kind="exact" if outcome.status == "refuted" else "symbolic",
        statement=name,
        status=status,
        scope=outcome.scope,
        witness=witness,
        seconds=time.perf_counter() - started,
        detail=": ".join(part for part in (text, reason) if part),
        route=SYMPY,
        text=text,
        place=where,
    )


def route_rows(module: ModuleType, prover: ModuleType, route: str) -> Iterator[Evidence]:
    """One row for each finding of an independent route about the statements of a claim module of `theory`.

    Raises:
        ValueError: a finding is of another route, or about a statement that the module does not make.
    """
    texts = {(statement.name, statement.text) for statement in module.STATEMENTS}
    free = {_dropped(statement, condition) for statement in module.STATEMENTS for condition in statement.conditions}
    if route == "coq":
        free |= {name for name, _ in texts}  # its texts name the part that a theorem decides
    started = time.perf_counter()
    for found in prover.findings(module):
        known = found.statement in free or (found.statement, found.text) in texts
        if found.route != route or not known:
            raise ValueError(f"{found.route} finds something about no statement here: {found.statement}: {found.text}")
        seconds = time.perf_counter() - started if found.seconds is None else found.seconds
        yield Evidence(
            kind=route,
            statement=found.statement,
            status=found.status,
            scope=found.scope,
            witness=None if found.witness is None else dict(found.witness),
            seconds=seconds,
            detail=found.detail,
            route=route,
            text=found.text,
            place=found.place,
        )
        started = time.perf_counter()


def numeric_rows(module: ModuleType, settings: Any) -> Iterator[Evidence]:
    """One row for each measurement that a claim module of `numerics` yields under `settings`."""
    started = time.perf_counter()
    for found in module.measure(settings):
        yield Evidence(
            kind=found.kind,
            statement=found.statement,
            status=found.status,
            scope=found.scope,
            witness=found.witness,
            trials=found.trials,
            worst_error_over_bound=None if found.status == "not run" else float(found.worst),
            dtype=found.dtype,
            device=found.device,
            seed=found.seed,
            seconds=time.perf_counter() - started,
            detail=found.detail,
        )
        started = time.perf_counter()
