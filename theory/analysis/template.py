"""Formulas with slots: what fills them when they are right, and how known mistakes fill them.

A mistake fills some slots differently; two mistakes that touch different slots can be made at once. `{S}` is the scale
in the direct term, `{T}` the one in the correction: a mistake about what S is changes both, unless it says otherwise.
A mistake may have several forms, each with a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

TWICE, FORGOTTEN, OUTSIDE = "gamma counted twice", "weight forgotten", "gamma outside the sum"
CONSTANT, MEAN_CONSTANT = "statistic held constant", "mean held constant"
COUNT, COUNT_S = "1/N missing", "1/N missing in S"
NO_EPS, EPS_OUT, EPS_IN = "eps forgotten", "eps placed outside the root", "eps placed inside the root"
SIGN, POWER_S = "sign of the correction flipped", "wrong power of S"
OWN_INDEX, OWN_TERM = "sum differentiated by its own bound index", "cross terms forgotten"
NO_G, UNCENTRED, UNBIASED = "upstream gradient forgotten", "mean not subtracted", "N - 1 in place of N in the variance"

TRANSPOSED, NO_DELTA = "transposed", "delta(i, j) forgotten"
ROOT_FOR_MEAN, VARIANCE_CONSTANT = "root mean square in place of the mean", "variance held constant"
PHASOR_COUNT, HALF_COUNT = "1/P missing", "1/N in place of 1/P"

Change = Mapping[str, str]
Mistake = tuple[str, Change]


@dataclass(frozen=True)
class Template:
    """A formula with slots, what fills them when it is right, and the known mistakes."""

    text: str
    slots: Change
    mistakes: tuple[Mistake, ...]

    def fill(self, *changes: Change) -> str:
        """The formula, with the changes made; T follows S unless it is changed itself."""
        slots = {"all": "1", "sign": "1", "S": "S", "T": "", **self.slots}
        for change in changes:
            slots |= change
        slots["T"] = slots["T"] or slots["S"]
        return self.text.format_map({slot: f"({value})" for slot, value in slots.items()})

    def wrong(self) -> Iterator[tuple[str, str]]:
        """(name, formula) of every single mistake, then of every pair of mistakes in different slots."""
        for name, change in self.mistakes:
            yield name, self.fill(change)
        for (first, change), (second, other) in combinations(self.mistakes, 2):
            if first != second and not change.keys() & other.keys():
                yield f"{first}; {second}", self.fill(change, other)


def powers(*wrong: str) -> tuple[Mistake, ...]:
    """The mistake of another power of S in the correction."""
    return tuple((POWER_S, {"power": power}) for power in wrong)


R, DEVIATION, MAGNITUDE = "sqrt(sum(k, x[k]**2)/N)", "sqrt(var)", "sum(k, r[k])/P"
L2, SPREAD = "sqrt(sum(k, x[k]**2) + eps)", "sqrt(N*var/(N - 1) + eps)"
ROOT = "sqrt(sum(k, r[k]**2)/P + eps)"
INSIDE = "sum(k, sqrt(r[k]**2 + eps))/P"

RMS_SCALES: tuple[Mistake, ...] = (
    (NO_EPS, {"S": R}),
    (NO_EPS + " in the correction", {"T": R}),
    (EPS_OUT, {"S": f"{R} + eps"}),
    (COUNT_S, {"S": L2}),
)
SPREADS: tuple[Mistake, ...] = (
    (NO_EPS, {"S": DEVIATION}),
    (NO_EPS + " in the correction", {"T": DEVIATION}),
    (EPS_OUT, {"S": f"{DEVIATION} + eps"}),
    (UNBIASED, {"S": SPREAD}),
)
PHASOR_SCALES: tuple[Mistake, ...] = (
    (NO_EPS, {"S": MAGNITUDE}),
    (NO_EPS + " in the correction", {"T": MAGNITUDE}),
    (EPS_IN, {"S": INSIDE}),
    (ROOT_FOR_MEAN, {"S": ROOT}),
    ("1/P missing in S", {"S": "sum(k, r[k]) + eps"}),
)
