"""A statement as a question to this route: the programs of its sides, what they read, and where it is made."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import sympy as sp

from theory.exact import Irrational, Point
from theory.phasors import N, P, i, j
from theory.routes.exact.nodes import Node, Program
from theory.routes.exact.numbers import Unknown
from theory.routes.exact.reading import Reader
from theory.routes.exact.samples import SHAPES, Inputs, Sample, sample_of
from theory.standing import CannotStand, standing
from theory.statements import Statement, entries_of

LENGTHS = (1, 2, 3, 5, 8, 64)


@dataclass
class Question:
    """The sides of a statement, pair by pair, as nodes of one program, and as SymPy wrote them."""

    program: Program
    reader: Reader
    pairs: list[tuple[Node, Node]]
    sides: list[tuple[sp.Expr, sp.Expr]]
    taken_by_sympy: str = ""

    @property
    def nodes(self) -> list[Node]:
        """left, right, left, right, ..."""
        return [node for pair in self.pairs for node in pair]

    def differences(self) -> list[tuple[str, Node]]:
        """right - left of every pair."""
        minus = self.program.constant(-1)
        return [("the two sides", self.program.add(right, self.program.mul(minus, left))) for left, right in self.pairs]


def question(statement: Statement) -> Question:
    """The sides with standing derivatives; where those cannot stand, with SymPy's, and the reason why."""
    try:
        with standing():
            return _read(statement)
    except CannotStand as reason:
        asked = _read(statement)
        asked.taken_by_sympy = str(reason)
        return asked


def _read(statement: Statement) -> Question:
    left, right = (entries_of(side) for side in statement.sides())
    program = Program()
    reader = Reader(program)
    sides = list(zip(left, right, strict=True))
    return Question(program, reader, [(reader(a), reader(b)) for a, b in sides], sides)


def inputs_of(nodes: Iterable[Node]) -> tuple[Inputs, frozenset[sp.Symbol]]:
    """What programs read, and their free indices."""
    seen, pending = set(), list(nodes)
    lengths, exponents = {P, N}, set()
    free = {index for node in pending for index in node.indices if not index.is_Dummy}
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        pending += node.parts
        if node.kind == "total":
            lengths |= symbols_of(node.parts[1])
        elif node.kind == "power":
            exponents |= symbols_of(node.parts[1])
    symbols = {node.data for node in seen if node.kind == "symbol"} | {P}
    families = {node.data[0] for node in seen if node.kind == "entry"}
    least = max([1, *(node.data[1] for node in seen if node.kind == "entry" and isinstance(node.data[1], int))])
    inputs = Inputs(*map(frozenset, (symbols, families, lengths, exponents - lengths)), least)
    return inputs, frozenset(free)


def symbols_of(node: Node) -> set[sp.Symbol]:
    """The plain symbols of a node."""
    return {node.data} if node.kind == "symbol" else set().union(*map(symbols_of, node.parts))


def positions(free: Iterable[sp.Symbol], length: int, rng: random.Random) -> Iterator[dict[sp.Symbol, int]]:
    """Positions for the free indices: i and j apart, every other one at 1 or 2; nothing where there is no j."""
    others = sorted(set(free) - {i, j}, key=str)
    if j in free and length == 1:
        return
    first, second = rng.sample(range(1, length + 1), 2) if length > 1 else (1, 2)
    for places in product(range(1, min(length, 2) + 1), repeat=len(others)):
        yield {i: first, j: second, **dict(zip(others, places, strict=True))}


def requirements(statement: Statement) -> tuple:
    """The conditions and hypotheses of a statement."""
    return (*statement.conditions, *getattr(statement, "hypotheses", ()))


def holds(statement: Statement, at: Point) -> bool:
    """Whether the conditions and hypotheses of a statement hold at a point; what cannot be told there does not."""
    try:
        return not at.outside() and all(requirement.holds(at) for requirement in requirements(statement))
    except (Irrational, LookupError, ValueError, ZeroDivisionError):
        return False


def domain(statement: Statement, inputs: Inputs, free: frozenset, seed: str) -> Iterator[Sample]:
    """Small exact samples inside the domain of a statement, of several shapes."""
    rng = random.Random(seed)
    inputs = widened(statement, inputs, free)
    for length, shape in product((n for n in (2, 1, 3, 4) if n >= inputs.least), SHAPES):
        for places in positions(free, length, rng):
            for exponent in inputs.exponents_at(1):
                sample = inputs.draw(rng, length, 3, places, exponent, shape)
                at = sample.point()
                if not holds(statement, at):
                    try:
                        at = statement.adjust(at)
                    except (Irrational, LookupError, ValueError, ZeroDivisionError):
                        continue
                    if not holds(statement, at):
                        continue
                    sample = sample_of(at, set(inputs.lengths))
                yield sample


def widened(statement: Statement, inputs: Inputs, free: frozenset) -> Inputs:
    """The inputs, and all others there are where the conditions of the statement look at them."""
    rng = random.Random(0)
    at = inputs.draw(rng, 4, 8, next(positions(free, 4, rng)), Fraction(2)).point()
    try:
        for requirement in requirements(statement):
            requirement.holds(at)
    except (Irrational, ZeroDivisionError):
        return inputs
    except (LookupError, ValueError):
        return inputs.wide()
    return inputs


__all__ = ["LENGTHS", "Question", "Unknown", "domain", "holds", "inputs_of", "positions", "question", "widened"]
