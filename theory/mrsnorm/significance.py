"""significance: three seeds a configuration ensure statistical significance.

Claim: repeating every configuration with three seeds ensures that differences between two norms are significant.

Source: section 4, experimental setup. No test and no level is named; taken here: the two-sided permutation test of the
difference of means, which assumes nothing but exchangeable runs, at the usual 5 %.

Three against three runs can be split in C(6, 3) = 20 ways. A split and its mirror image have differences of opposite
sign and equal size, so at least 2 of the 20 are as large as the observed one, whatever the runs are: p >= 2/20 = 1/10,
reached when all runs of one norm beat all of the other. Nothing that three seeds can show is significant at 5 %. In
general p >= 2 / C(2n, n): four seeds are the fewest that can reach it (2/70). A one-sided test reaches 1/20 with three.
"""

from fractions import Fraction
from itertools import combinations
from math import comb

import sympy as sp

from theory.kinds.computed import Computed
from theory.statements import Identity

SEEDS = 3
LEVEL = Fraction(1, 20)
RUNS = sp.symbols("a_1:7", real=True)


def statistic(runs: tuple, group: tuple[int, ...]) -> object:
    """The difference of the two groups' sums, over the group size: a difference of means."""
    inside = sum(runs[n] for n in group)
    outside = sum(runs[n] for n in range(len(runs)) if n not in group)
    return (inside - outside) / sp.Integer(len(group))


def p_value(runs: tuple, sides: int = 2) -> Fraction:
    """The exact p-value of the permutation test: the first half of the runs against the second."""
    size = len(runs) // 2
    splits = list(combinations(range(len(runs)), size))

    def extreme(group: tuple[int, ...]) -> object:
        value = statistic(runs, group)
        return abs(value) if sides == 2 else -value

    observed = extreme(tuple(range(size)))
    return Fraction(sum(bool(extreme(group) >= observed) for group in splits), len(splits))


def separated(seeds: int) -> tuple:
    """Runs that speak as clearly as runs can: every one of the second group is above every one of the first."""
    return tuple(sp.Integer(n) for n in range(2 * seeds))


def derived() -> Fraction:
    """The p-value of the clearest runs."""
    return p_value(separated(SEEDS))


def printed() -> Fraction:
    """The level that it has to reach."""
    return LEVEL


def corrected() -> Fraction:
    """The smallest p-value that three seeds can give."""
    return Fraction(2, comb(2 * SEEDS, SEEDS))


def _mirrored() -> tuple[list[sp.Expr], list[sp.Expr]]:
    """The squared differences of the 20 splits, and those of their mirror images, for any runs."""
    everyone = range(2 * SEEDS)
    splits = list(combinations(everyone, SEEDS))
    others = [tuple(n for n in everyone if n not in group) for group in splits]
    return [statistic(RUNS, g) ** 2 for g in splits], [statistic(RUNS, g) ** 2 for g in others]


STATEMENTS = (
    Computed(
        "as printed",
        "the clearest runs of three seeds against three have a p-value of at most 1/20",
        lambda: [(derived(), printed())],
        scope="all 20 splits of six runs",
        relation="<=",
        inputs=lambda: {"runs": [Fraction(int(n)) for n in separated(SEEDS)]},
        expects="refuted",
    ),
    Computed(
        "corrected",
        "the smallest two-sided p-value of three seeds against three is 1/10, that of completely separated runs",
        lambda: [(derived(), corrected())],
        scope="all 20 splits of six runs",
    ),
    Identity(
        "a split and its mirror image",
        "their differences have the same size, so p >= 2/20 for any runs",
        _mirrored,
        scope="all 20 splits of any six real numbers",
    ),
    Computed(
        "four seeds",
        "four against four reach 2/70, below 1/20; three is the largest number that cannot reach 1/20",
        lambda: [(p_value(separated(4)), LEVEL), (LEVEL, p_value(separated(3)))],
        scope="all splits of six and of eight runs",
        relation="<=",
    ),
    Computed(
        "one-sided",
        "a one-sided test of three against three reaches 1/20 exactly",
        lambda: [(p_value(separated(SEEDS), sides=1), LEVEL)],
        scope="all 20 splits of six runs",
    ),
)

MUTANTS = {
    "one in ten": lambda: Fraction(1, 10),
    "one in five": lambda: Fraction(1, 5),
}
CORRECTED_MUTANTS = {
    "one-sided": lambda: Fraction(1, comb(2 * SEEDS, SEEDS)),
    "ordered splits": lambda: Fraction(2, 6 * 5 * 4),
    "all splits of six": lambda: Fraction(2, 2**6),
    "every split": lambda: Fraction(1),
}
