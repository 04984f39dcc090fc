"""Identities at random points, one for each P, with the probability that a false one passes.

Every difference that has to vanish is evaluated at one sample for each P in `LENGTHS` (and for each value of an
exponent that is a symbol), drawn from a set so large that the bound of `degrees` is at most 2^-`SURE`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from theory.exact import Irrational
from theory.routes.exact.degrees import Degrees, Size
from theory.routes.exact.evaluation import Evaluation
from theory.routes.exact.nodes import Node
from theory.routes.exact.numbers import Unknown, rational, sign
from theory.routes.exact.questions import LENGTHS, holds, inputs_of, positions, widened
from theory.routes.exact.samples import Inputs, Sample, sample_of
from theory.statements import Statement

SURE = 64
STATED, STATED_TO = "a term as stated", 3  # what a certificate says its terms are is compared for P up to 3
TRIES = 8  # draws, until the conditions of a statement hold; a union bound over them costs 3 bits


@dataclass
class Tally:
    """What was evaluated: sizes and bits by P, how many points, which exponents, what was adjusted."""

    sizes: dict[int, tuple[Size, int]] = field(default_factory=dict)
    points: int = 0
    exponents: set[Fraction] = field(default_factory=set)
    adjusted: set[str] = field(default_factory=set)
    bounded: bool = True
    passed_over: dict[str, str] = field(default_factory=dict)

    def scope(self) -> str:
        """The P, and the exponents, at which all was evaluated."""
        lengths = f"P in {{{', '.join(map(str, self.sizes))}}}"
        if not self.exponents:
            return lengths
        return f"{lengths}, exponents in {{{', '.join(map(str, sorted(self.exponents)))}}}"

    def detail(self) -> str:
        """Degree, points and probability in words."""
        length = max(self.sizes)
        size, bits = self.sizes[length]
        roots = f" with 2^{size.doublings} conjugates" if size.doublings else ""
        text = (
            f"degree <= {size.numerator}{roots} at P = {length}; {self.points} points, "
            f"each coordinate drawn from 2^{bits} integers at P = {length}"
        )
        if self.adjusted:
            text += f"; moved to where the conditions hold: {', '.join(sorted(self.adjusted))}"
        if self.bounded:
            return f"{text}; a false identity passes at one point with probability <= 2^-{SURE} (Schwartz-Zippel)"
        return f"{text}; no probability is claimed, as the degree of what was moved is not known"


@dataclass
class Failure:
    """A sample at which a difference is not zero, or has no value."""

    sample: Sample
    number: int
    purpose: str


def evaluate_identities(
    statement: Statement, differences: list[tuple[str, Node]], sides: list[Node], seed: str, everywhere: bool = False
) -> Tally | Failure:
    """Evaluates all differences at all P; with `everywhere`, at points where the conditions need not hold.

    What the `sides` read is drawn as well, even where it drops out of the differences.

    Raises `Unknown` where some P, or all exponents, cannot be evaluated.
    """
    inputs, free = inputs_of([*(node for _, node in differences), *sides])
    tally = Tally()
    inputs = inputs if everywhere else widened(statement, inputs, free)
    for length in (n for n in LENGTHS if n >= inputs.least):
        rng = random.Random(f"{seed} {length}")
        here = [pair for pair in differences if length <= STATED_TO or pair[0] != STATED]
        for places in positions(free, length, rng):
            done = 0
            for exponent in inputs.exponents_at(length):
                try:
                    sample = _sample(statement, inputs, free, here, length, places, exponent, rng, everywhere, tally)
                    if sample is None:
                        continue
                    failed = first_failure(here, sample)
                except Unknown as reason:
                    if not inputs.exponents:
                        raise
                    tally.passed_over[str(exponent)] = str(reason)
                    continue
                if failed is not None:
                    return failed
                tally.points += 1
                done += 1
                tally.exponents |= {exponent} if inputs.exponents else set()
            if not done:
                reasons = "; ".join(tally.passed_over.values()) or "no sample inside the domain"
                raise Unknown(f"P = {length}: {reasons}")
    return tally


def first_failure(differences: list[tuple[str, Node]], sample: Sample) -> Failure | None:
    """The first difference that is not zero at a sample; `Unknown` where that cannot be told."""
    value = Evaluation(sample)
    for number, (purpose, node) in enumerate(differences):
        try:
            entries = list(_flat(value(node)))
        except ZeroDivisionError:
            return Failure(sample, number, purpose)
        if any(sign(entry) for entry in entries if not rational(entry) or entry):
            return Failure(sample, number, purpose)
    return None


def _sample(
    statement: Statement,
    inputs: Inputs,
    free: frozenset,
    differences: list[tuple[str, Node]],
    length: int,
    places: dict,
    exponent: Fraction,
    rng: random.Random,
    everywhere: bool,
    tally: Tally,
) -> Sample | None:
    """A sample inside the domain: as drawn, or else as the statement adjusts it."""
    degrees = Degrees(inputs, length, exponent, free)
    numerator = max(degrees(node)[0] for _, node in differences)
    size = Size(numerator, sum(degrees.roots.values()))
    bits = size.bits(SURE + TRIES.bit_length() - 1)
    tally.sizes[length] = max(tally.sizes.get(length, (size, bits)), (size, bits), key=lambda pair: pair[1])
    for attempt in range(TRIES):
        sample = inputs.draw(rng, length, bits, places, exponent, "inside" if attempt % 2 else "generic")
        if everywhere or holds(statement, sample.point()):
            return sample
    at = sample.point()
    try:
        moved = statement.adjust(at)
    except (Irrational, LookupError, ValueError):
        return None
    if not holds(statement, moved):
        return None
    changed = {name: value for name, value in moved.numbers.items() if at.numbers.get(name) != value}
    changed |= {name: value for name, value in moved.lists.items() if at.lists.get(name) != value}
    tally.adjusted |= {str(name) for name in changed}
    tally.bounded &= all(value == 0 for value in changed.values())
    return sample_of(moved, set(inputs.lengths))


def _flat(value: object) -> Iterator[object]:
    if isinstance(value, list):
        for entry in value:
            yield from _flat(entry)
    else:
        yield value
