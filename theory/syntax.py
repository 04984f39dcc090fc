"""What formulas consist of: the tree of nodes, the vocabulary they may use, and the error that refuses one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction


class ExpressionError(ValueError):
    """A formula that cannot be accepted: why, and at which character (counted from 1)."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(f"{message}, at character {position}")
        self.message, self.position = message, position


@dataclass(frozen=True)
class Node:
    """A part of a formula; two nodes are equal if they say the same, wherever they stand."""

    at: int = field(compare=False)


@dataclass(frozen=True)
class Number(Node):
    """An exact number."""

    value: Fraction


@dataclass(frozen=True)
class Name(Node):
    """A name without an index: S, N, eps."""

    name: str


@dataclass(frozen=True)
class Entry(Node):
    """name[index]."""

    name: str
    index: str


@dataclass(frozen=True)
class Add(Node):
    """A sum of (subtracted?, term)."""

    terms: tuple[tuple[bool, Node], ...]


@dataclass(frozen=True)
class Mul(Node):
    """A product of (divided by?, factor)."""

    factors: tuple[tuple[bool, Node], ...]


@dataclass(frozen=True)
class Power(Node):
    """base ** exponent."""

    base: Node
    exponent: Node


@dataclass(frozen=True)
class Call(Node):
    """function(arguments); `delta` has indices for arguments, every other function expressions."""

    function: str
    arguments: tuple[Node | str, ...]


@dataclass(frozen=True)
class Total(Node):
    """sum(index, body)."""

    index: str
    body: Node


@dataclass(frozen=True)
class Vocabulary:
    """What a formula may be made of.

    `functions` gives the number of arguments of each (fewest, most); `indices` are the free ones. `sums` allows
    `sum(k, ...)` and `delta` allows `delta(i, j)`.
    """

    names: frozenset[str]
    indexed: frozenset[str] = frozenset()
    functions: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    indices: tuple[str, ...] = ()
    sums: bool = False
    delta: bool = False

    def words(self) -> str:
        """The vocabulary in one line, for error messages."""
        words = ["numbers", *sorted(self.names), *(f"{name}[.]" for name in sorted(self.indexed))]
        words += ["+ - * / ** ( )", *(f"{name}()" for name in self.functions)]
        words += ["delta(i, j)"] if self.delta else []
        return ", ".join(words + (["sum(k, ...)"] if self.sums else []))
