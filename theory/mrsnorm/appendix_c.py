"""appendix-c: the listed module implements Eqs. 1 and 2.

Claim: GroupMRSNorm computes S as the mean of the P phasor magnitudes plus eps, and gamma_i z_i / S.

Source: appendix C. What it computes is stated here in our own words and code; the listing is not reproduced.

The channel axis of 2P entries becomes (groups, P/groups, 2). Magnitudes are taken over the last of the three, and
averaged over *every* axis after the groups: those of the group's phasors and all axes that follow the channels. So the
claim holds where the channels are the last axis and there is one group, for every P and any leading axes. For feature
maps (B, C, H, W) the mean runs over P H W / groups magnitudes, so that each position depends on all the others, as in
GroupNorm; Eq. 1 would give each position a scale of its own.

Whatever the format of the input, the listing computes in fp32: fp64 inputs lose what fp32 does not hold.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod

import sympy as sp

from theory.exact import rational_sqrt
from theory.kinds.computed import Computed
from theory.norms import mean_magnitude
from theory.phasors import P, eps, index_sum, z
from theory.statements import Condition, Identity

B, T, G, M = sp.symbols("B T G M", integer=True, positive=True)  # leading sizes, groups, what follows the channels
OFFSET = Fraction(1, 4)
VECTORS = ((3, 4), (5, 12), (-8, 6), (0, 5), (0, 0), (15, -8), (-7, 24), (1, 0), (20, 21), (0, -2), (9, 40), (-4, 3))
Pair = tuple[Fraction, Fraction]
ROWS = ((2,), (8,), (3, 4), (2, 2, 6))  # shapes with the channels last
SPACE = (1, 2, 2)  # one feature map of two channels and two positions


def reduced(shape: Sequence[sp.Expr], channel: int, groups: sp.Expr) -> list[sp.Expr]:
    """The sizes of the axes that one scale of the listing is averaged over: those after the groups."""
    return [sp.sympify(shape[channel]) / 2 / groups, sp.Integer(1), *shape[channel + 1 :]]


def count(shape: Sequence[sp.Expr], channel: int, groups: sp.Expr) -> sp.Expr:
    """How many magnitudes one scale of the listing averages."""
    return sp.Mul(*reduced(shape, channel, groups))


def derived() -> sp.Expr:
    """The listing's scale for an input (B, T, 2P) with one group."""
    return index_sum(lambda k: z.r[k]) / count((B, T, 2 * P), 2, sp.Integer(1)) + eps


def listing(values: dict, shape: Sequence[int], channel: int, groups: int, gamma: Sequence[int]) -> dict:
    """What the listing returns, exactly: phasors by position (b..., k, m...), k counting phasors, to output phasors."""
    size = shape[channel] // 2 // groups
    found = {}
    for place, (x, y) in values.items():
        lead, k = place[:channel], place[channel]
        inside = range(k // size * size, (k // size + 1) * size)
        after = [range(n) for n in shape[channel + 1 :]]
        mates = [values[(*lead, n, *tail)] for n, *tail in product(inside, *after)]
        scale = sum(map(magnitude, mates), Fraction(0)) / len(mates) + OFFSET
        found[place] = (gamma[k] * x / scale, gamma[k] * y / scale)
    return found


def magnitude(pair: Pair) -> Fraction:
    """|z|, rational for the phasors here."""
    return rational_sqrt(pair[0] ** 2 + pair[1] ** 2)


def printed(row: Sequence[Pair], gamma: Sequence[int]) -> list[Pair]:
    """Eqs. 1 and 2 for the phasors at one position."""
    scale = sum(map(magnitude, row), Fraction(0)) / len(row) + OFFSET
    return [(weight * x / scale, weight * y / scale) for (x, y), weight in zip(row, gamma, strict=True)]


def _inputs(shape: Sequence[int], channel: int) -> dict:
    sizes = (*shape[:channel], shape[channel] // 2, *shape[channel + 1 :])
    places = product(*map(range, sizes))
    return {place: tuple(map(Fraction, VECTORS[n % len(VECTORS)])) for n, place in enumerate(places)}


def both(shape: Sequence[int], channel: int, groups: int = 1) -> list[tuple[Fraction, Fraction]]:
    """Every output component by the listing, beside the one by Eqs. 1 and 2."""
    phasors = shape[channel] // 2
    gamma = [(-1) ** n * (n + 2) for n in range(phasors)]
    values = _inputs(shape, channel)
    found, pairs = listing(values, shape, channel, groups, gamma), []
    for place in values:
        lead, k, after = place[:channel], place[channel], place[channel + 1 :]
        row = printed([values[(*lead, n, *after)] for n in range(phasors)], gamma)
        pairs += list(zip(found[place], row[k], strict=True))
    return pairs


def _computed(
    name: str, shapes: Sequence[Sequence[int]], channel: int, groups: int = 1, expects: str = "proved"
) -> Computed:
    shown = ", ".join(str(tuple(shape)) for shape in shapes)
    return Computed(
        name,
        f"the outputs are those of Eqs. 1 and 2, {groups} group(s), channels at {channel}, shapes {shown}",
        lambda: [pair for shape in shapes for pair in both(shape, channel % len(shape), groups)],
        scope=f"shapes {shown}, exact inputs",
        inputs=lambda: {"shape": list(shapes[0]), "channel_dim": channel, "num_groups": groups, "eps": OFFSET},
        expects=expects,
    )


LAST = Condition(
    "no axis follows the channels (channel_dim = -1)",
    _computed("a feature map", (SPACE,), 1).decide,
)
ONE_GROUP = Condition("num_groups = 1", _computed("two groups", ((4,),), -1, groups=2).decide)

STATEMENTS = (
    Identity(
        "as printed",
        "for an input (B, T, 2P) one scale averages P magnitudes",
        lambda: (count((B, T, 2 * P), 2, sp.Integer(1)), P),
        (LAST, ONE_GROUP),
    ),
    Identity(
        "as printed",
        "and it is Eq. 1's",
        lambda: (derived(), mean_magnitude(z)),
        (LAST, ONE_GROUP),
    ),
    _computed("as printed", ROWS, -1),
    Identity(
        "feature maps",
        "for an input (B, 2P, H, W) with G groups one scale averages P H W / G magnitudes, for H = T, W = M",
        lambda: (count((B, 2 * P, T, M), 1, G), P * T * M / G),
        nonzero=(G,),
    ),
    _computed("feature maps are normalized by Eqs. 1 and 2", (SPACE, (2, 4, 3)), 1, expects="refuted"),
)


def _with_scale(scale: object) -> object:
    def output(row: Sequence[Pair], gamma: Sequence[int]) -> list[Pair]:
        value = scale([magnitude(pair) for pair in row])
        return [(weight * x / value, weight * y / value) for (x, y), weight in zip(row, gamma, strict=True)]

    return output


def _mean(r: Sequence[Fraction]) -> Fraction:
    return sum(r, Fraction(0)) / len(r) + OFFSET


MUTANTS = {
    "a sum for the mean": _with_scale(lambda r: sum(r, Fraction(0)) + OFFSET),
    "eps forgotten": _with_scale(lambda r: sum(r, Fraction(0)) / len(r) or Fraction(1)),
    "channels for phasors": _with_scale(lambda r: sum(r, Fraction(0)) / prod((2, len(r))) + OFFSET),
    "gamma forgotten": lambda row, gamma: _with_scale(_mean)(row, [1] * len(row)),
    "the largest for the mean": _with_scale(lambda r: max(r) + OFFSET),
}
