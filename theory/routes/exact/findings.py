"""The findings of this route, statement by statement.

| statement | what is decided |
|---|---|
| identity, inequality | both sides, and the certificate (`checks`) |
| deduction | its premises; the theorem that is cited is not checked |
| impossibility | the combination of its facts, and the certificate that it is positive; or the object that refutes it |

A statement that is computed is one computation, which this route has no second way to make: it yields nothing.
"""

from __future__ import annotations

import gc
import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import process_time
from types import MappingProxyType, ModuleType

from theory.kinds.deduction import Deduction
from theory.kinds.impossible import Impossible
from theory.routes.exact import impossible
from theory.routes.exact.checks import Answer, decide
from theory.routes.finding import Finding, place_of
from theory.statements import Identity, Inequality

AGREES = {"proved": ("consistent", "proved"), "refuted": ("refuted",)}


def findings(module: ModuleType) -> Iterator[Finding]:
    """One finding for each statement of a claim module to which the route applies."""
    name = module.__name__.removeprefix("theory.")
    known: dict[int, Answer | None] = {}  # by the identity of the statement: deductions rest on others of the file
    for number, statement in enumerate(module.STATEMENTS):
        started = process_time()
        with _uncollected():
            answer = known[id(statement)] = answer_to(statement, f"{name} {number}", known)
        if answer is not None:
            yield Finding(
                "exact",
                statement.name,
                statement.text,
                answer.status,
                answer.scope,
                answer.detail,
                place_of(answer.decider),
                _plain(answer.witness),
                process_time() - started,
            )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Cyclic garbage is left alone meanwhile: looking for it in the caches of SymPy takes a tenth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def answer_to(statement: object, seed: str, known: Mapping[int, Answer | None] = MappingProxyType({})) -> Answer | None:
    """The answer about one statement, given those known already; nothing where the route does not apply."""
    if id(statement) in known:
        return known[id(statement)]
    if isinstance(statement, Identity | Inequality):
        return decide(statement, seed)
    if isinstance(statement, Deduction):
        return deduced(statement, seed, known)
    if isinstance(statement, Impossible):
        return impossible.decide(statement, seed)
    return None


def deduced(statement: Deduction, seed: str, known: Mapping[int, Answer | None]) -> Answer:
    """Consistent if every premise is."""
    scopes = []
    for number, given in enumerate(statement.premises):
        premise = _named(given) if isinstance(given, str) else given
        answer = answer_to(premise, f"{seed} premise {number}", known)
        if answer is None or answer.status not in AGREES["proved"]:
            status = "not decided by this route" if answer is None else f"{answer.status}: {answer.detail}"
            return Answer("undecided", "", f"premise '{premise.name}' is {status}", deduced)
        scopes.append(answer.scope)
    scope = f"premises only; the theorem cited is not checked; {'; '.join(dict.fromkeys(scopes))}"
    if not scopes:
        return Answer("undecided", "", "nothing to deduce from", deduced)
    return Answer("consistent", scope, f"{len(scopes)} premises, each consistent", deduced)


def _named(name: str) -> object:
    """The statement that is called "paper.slug: statement"."""
    claim, _, statement = name.partition(": ")
    (found,) = (s for s in importlib.import_module(f"theory.{claim}").STATEMENTS if s.name == statement)
    return found


def _plain(witness: Mapping[str, object] | None) -> Mapping[str, object] | None:
    return None if witness is None else {name: value for name, value in witness.items() if value is not None}


__all__ = ["AGREES", "answer_to", "findings"]
