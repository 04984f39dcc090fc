"""The three outcomes of a decision: proved, refuted by an exact witness, undecided.

They are kept apart everywhere. A simplification that does not reach zero is `Undecided`, never a refutation; a
search that finds nothing is never a proof; a refutation counts only with a point at which both sides are rational
numbers that anybody can recompute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import sympy as sp

EVERY_P = "every P"


@dataclass(frozen=True)
class Step:
    """One line of a derivation: what was done, and the formula it gave."""

    title: str
    formula: sp.Basic | None = None


@dataclass(frozen=True)
class Witness:
    """Exact inputs at which a statement fails, with the value of each side.

    `inputs` and `values` hold rational numbers (or lists of them) by name; `values` says "undefined" where a side
    divides by zero. `recompute` evaluates `values` again from the inputs, so that a stored witness can be doubted.
    """

    inputs: Mapping[str, object]
    values: Mapping[str, Fraction | str]
    relation: str
    recompute: Callable[[], Mapping[str, Fraction | str]] = field(repr=False, compare=False)

    def reproduces(self) -> bool:
        """Whether evaluating the sides again gives the stored values."""
        return dict(self.recompute()) == dict(self.values)

    def data(self) -> dict:
        """The witness as JSON-ready data; rational numbers become strings such as "49/16"."""
        return {"inputs": _plain(self.inputs), "values": _plain(self.values), "relation": self.relation}


@dataclass(frozen=True)
class Proved:
    """A proof: where it holds, its steps, what it divided by, its certificates, and the lemmas it rests on."""

    scope: str = EVERY_P
    steps: tuple[Step, ...] = ()
    nonzero: tuple[sp.Expr, ...] = ()
    certificates: tuple = ()
    uses: tuple[str, ...] = ()

    status = "proved"


@dataclass(frozen=True)
class Refuted:
    """A refutation by one exact point."""

    witness: Witness
    steps: tuple[Step, ...] = ()

    status = "refuted"
    scope = "one exact point"


@dataclass(frozen=True)
class Undecided:
    """Neither: says what was tried."""

    reason: str
    steps: tuple[Step, ...] = ()

    status = "undecided"
    scope = ""


Outcome = Proved | Refuted | Undecided


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Fraction | sp.Rational):
        return str(value)
    return value
