"""The smallest exact point at which a formula differs from the true derivative.

Smallest means: with the fewest channels; then with the smallest inputs x and eps; then with the smallest weights and
upstream gradients. Sizes are sums of small non-negative integers. eps is chosen so that S is rational, where S is a
root. What is found is evaluated again from the definition of the layer, by dual numbers, before it counts. Where the
formula's value is irrational, a rigorous enclosure that excludes the true value is enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from theory import exact
from theory.analysis.enclosure import Enclosures, Interval
from theory.analysis.interpret import interpret
from theory.analysis.layers import JACOBIAN, Layer
from theory.analysis.mistakes import components, right
from theory.analysis.scopes import Numbers
from theory.analysis.truth import at_point
from theory.phasors import i, j
from theory.proof import Witness
from theory.syntax import Node

UNDEFINED = "undefined"
_PRIMES = (2, -3, 5, 7, -11, 13, 17, -19, 23, 29, -31, 37, 41, -43, 47, 53, -59, 61, 67, -71, 73, 79, -83, 89)
_GENERIC = tuple(Fraction(n) for n in _PRIMES)
_POSITIVE = tuple(abs(n) for n in _GENERIC)
_NEAR = {1: (8, 24), 2: (7, 24), 3: (6, 16)}  # length -> largest total size of x and eps, and how many points
_FAR = {1: (20, 60), 2: (16, 200), 3: (8, 60)}
_LARGEST_WEIGHTS = 8


@dataclass(frozen=True)
class Case:
    """One point: values by the user's names, and the positions of the free indices."""

    layer: Layer
    lists: dict[str, tuple[Fraction, ...]]
    numbers: dict[str, Fraction]
    positions: dict[str, int]

    def value(self, node: Node, scope: type[Numbers] = Numbers) -> tuple:
        """The components of a formula here; ZeroDivisionError or `Irrational` where it has no such value."""
        return tuple(components(interpret(node, scope(self.layer, self.lists, self.numbers), self.positions)))

    def truth(self, target: str) -> tuple[Fraction, ...]:
        """The true derivative here, by dual numbers."""
        families, numbers = self.layer.families, self.layer.numbers
        point = exact.Point(
            {families[name]: values for name, values in self.lists.items()},
            {numbers[name]: value for name, value in self.numbers.items()},
            {i: self.positions["i"], j: self.positions.get("j", 1)},
        )
        return at_point(self.layer.name, target, point)


def near(layer: Layer, target: str, node: Node) -> Witness | None:
    """The smallest exact point among a few small ones at which the formula is not the derivative, or None."""
    return _search(layer, target, node, _NEAR, (_GENERIC,), enclose=False)


def far(layer: Layer, target: str, node: Node) -> Witness | None:
    """The same among more points, and then with enclosures of irrational values."""
    exactly = _search(layer, target, node, _FAR, (_GENERIC,), enclose=False)
    return exactly or _search(layer, target, node, _NEAR, (_GENERIC, _POSITIVE), enclose=True)


def _search(
    layer: Layer, target: str, node: Node, sizes: dict[int, tuple[int, int]], weights: tuple, enclose: bool
) -> Witness | None:
    for length, (largest, most) in sizes.items():
        for inputs, eps in islice(_inputs(layer, length, largest), most):
            for positions, values in product(_positions(layer, target, length), weights):
                generic = _with_weights(layer, inputs, eps, length, positions, values)
                if _differ(generic, target, node, enclose):
                    return _witness(_smallest_weights(generic, target, node, enclose), target, node)
    return None


def undefined(layer: Layer, target: str, node: Node) -> Witness | None:
    """The smallest point at which the derivative exists and the formula has no value."""
    for length, (largest, most) in _NEAR.items():
        for inputs, eps in islice(_inputs(layer, length, largest), most):
            case = _with_weights(layer, inputs, eps, length, _positions(layer, target, length)[0], _GENERIC)
            try:
                case.value(right(layer.name, target))
            except (ZeroDivisionError, exact.Irrational):
                continue
            try:
                case.value(node)
            except ZeroDivisionError:
                return _witness(case, target, node)
            except exact.Irrational:
                continue
    return None


def _differ(case: Case, target: str, node: Node, enclose: bool) -> bool:
    """Whether the formula is wrong here; with `enclose`, an irrational value may show it too."""
    try:
        true = case.value(right(case.layer.name, target))
    except (ZeroDivisionError, exact.Irrational):
        return False
    try:
        mine = case.value(node)
        return mine != true[: len(mine)]
    except ZeroDivisionError:
        return False
    except exact.Irrational:
        return enclose and any(not box.contains(value) for box, value in zip(_boxes(case, node), true, strict=False))


def _boxes(case: Case, node: Node) -> tuple[Interval, ...]:
    try:
        return case.value(node, Enclosures)
    except (ZeroDivisionError, exact.Irrational):
        return ()


def _smallest_weights(generic: Case, target: str, node: Node, enclose: bool) -> Case:
    """The same inputs with the smallest weights and upstream gradients that still tell the two apart."""
    layer, length = generic.layer, int(generic.numbers[generic.layer.length])
    plain = [name for name in layer.numbers if name not in (layer.length, "eps")]
    count = len(plain) + sum(length for name in layer.primitives if name not in layer.inputs)
    for size in range(_LARGEST_WEIGHTS + 1):
        for values in _tuples(count, size):
            inputs = {name: generic.lists[name] for name in layer.inputs}
            case = _with_weights(layer, inputs, generic.numbers["eps"], length, generic.positions, values)
            if _differ(case, target, node, enclose):
                return case
    return generic


def _with_weights(
    layer: Layer, inputs: dict, eps: Fraction, length: int, positions: dict[str, int], values: tuple[Fraction, ...]
) -> Case:
    lists, place = dict(inputs), 0
    for name in layer.primitives:
        if name not in layer.inputs:
            lists[name] = tuple(values[place + n] for n in range(length))
            place += length
    numbers = {layer.length: Fraction(length), "eps": eps}
    for name in layer.numbers:
        if name not in numbers:
            numbers[name] = values[place]
            place += 1
    return Case(layer, lists, numbers, positions)


def _inputs(layer: Layer, length: int, largest: int) -> Iterator[tuple[dict, Fraction]]:
    """(coordinates, eps) in increasing size; S is rational and not zero, every magnitude rational."""
    width = length * len(layer.inputs)
    for size in range(1, largest + 1):
        for *entries, offset in _tuples(width + 1, size):
            lists = {
                name: tuple(entries[start : start + length])
                for name, start in zip(layer.inputs, range(0, width, length), strict=True)
            }
            try:
                yield lists, _eps(layer, lists, length, offset)
            except exact.Irrational:
                continue


def _eps(layer: Layer, lists: dict, length: int, offset: Fraction) -> Fraction:
    """eps = offset where S is a sum; eps with S = offset where S is a root, or 0 for offset 0."""
    rooted = "sqrt" in layer.statistics["S"]
    if not rooted or offset == 0:
        scale = Numbers(layer, lists, {layer.length: Fraction(length), "eps": offset}).name("S")
        if scale == 0:
            raise exact.Irrational("S = 0")
        return offset
    spread = "var" if "var" in layer.statistics else None
    known = Numbers(layer, lists, {layer.length: Fraction(length), "eps": Fraction(0)})
    square = known.name(spread) if spread else sum(x * x for x in lists["x"]) / length
    if offset**2 <= square:
        raise exact.Irrational("eps would not be positive")
    return offset**2 - square


def _positions(layer: Layer, target: str, length: int) -> list[dict[str, int]]:
    if target != JACOBIAN:
        return [{"i": 1}]
    return [{"i": 1, "j": 1}] + ([{"i": 1, "j": 2}] if length > 1 else [])


def _tuples(count: int, size: int) -> Iterator[tuple[Fraction, ...]]:
    """Every tuple of non-negative integers with this sum, the largest first entries first."""
    if count == 0:
        if size == 0:
            yield ()
        return
    if count == 1:
        yield (Fraction(size),)
        return
    for first in range(size, -1, -1):
        for rest in _tuples(count - 1, size - first):
            yield (Fraction(first), *rest)


def _witness(case: Case, target: str, node: Node) -> Witness:
    def values() -> dict[str, object]:
        true = case.truth(target)
        try:
            mine: tuple = case.value(node)
        except ZeroDivisionError:
            return {"true": _one(true), "yours": UNDEFINED}
        except exact.Irrational:
            mine = tuple(map(str, case.value(node, Enclosures)))
        return {"true": _one(true[: len(mine)]), "yours": _one(mine)}

    found = values()
    if found["true"] == found["yours"]:
        raise AssertionError(f"{target} of {case.layer.name}: dual numbers contradict the right formula")
    names = [name for name in case.lists if not (target == JACOBIAN and name in ("g", "gx", "gy"))]
    inputs: dict[str, object] = {name: list(case.lists[name]) for name in names}
    return Witness(inputs | case.numbers | dict(case.positions), found, "=", values)


def _one(values: tuple) -> object:
    return values[0] if len(values) == 1 else list(values)
