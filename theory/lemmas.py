"""Lemmas: a proof may rest on what another claim has proved, and is then recorded as resting on it.

`lemma("mrsnorm.eq17", "one phasor")` decides that statement now. If it is proved, its certificates are returned and the
use is written down in the proof under way; if it is not, the proof under way fails with it, so that a claim is never
better founded than the weakest statement it uses. Nothing is typed by hand and nothing is cached: a lemma that is
broken breaks everything above it.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import sympy as sp

from theory.certificate import Nonneg, NotProved, instance
from theory.proof import Proved

if TYPE_CHECKING:
    from theory.statements import Statement

_USED: ContextVar[list[str] | None] = ContextVar("lemmas used by the proof under way", default=None)
_OPEN: ContextVar[tuple[str, ...]] = ContextVar("lemmas being decided", default=())


@contextmanager
def recording() -> Iterator[list[str]]:
    """Collects the names of the lemmas used inside the block, in order of first use."""
    used: list[str] = []
    token = _USED.set(used)
    try:
        yield used
    finally:
        _USED.reset(token)


def lemma(claim: str, statement: str) -> tuple[Nonneg, ...]:
    """The certificates of a proved inequality of another claim, `claim` being "paper.slug" as in the file's name.

    Raises `NotProved` where it is not proved now, or where the proof would rest on itself.
    """
    return proved(f"{claim}: {statement}")[1].certificates


def proved(name: str) -> tuple[Statement, Proved]:
    """The statement "paper.slug: statement" with its proof, made now and recorded as used; raises as `lemma` does."""
    claim, _, statement = name.partition(": ")
    if name in _OPEN.get():
        raise NotProved(f"the lemma '{name}' rests on itself")
    module = importlib.import_module(f"theory.{claim}")
    found = [entry for entry in module.STATEMENTS if entry.name == statement]
    if len(found) != 1:
        raise NotProved(f"'{name}' names {len(found)} statements, not one")
    token = _OPEN.set((*_OPEN.get(), name))
    try:
        outcome = found[0].decide()
    finally:
        _OPEN.reset(token)
    if not isinstance(outcome, Proved):
        raise NotProved(f"the lemma '{name}' is {outcome.status}")
    used = _USED.get()
    if used is not None and name not in used:
        used.append(name)
    return found[0], outcome


def at(certificate: Nonneg, index: sp.Expr, instead_of: sp.Symbol) -> Nonneg:
    """The lemma for another phasor: what holds for every singled-out index holds for this one."""
    return instance(certificate, index, instead_of)
