"""ma-example: what RMSNorm makes of (1, 1) and of (100, 100).

Claim: both become (1/sqrt 2, 1/sqrt 2), times gamma: RMSNorm scales the length of its input to 1.

Source: section 2.1.

Both become the same vector, as claimed, but it is (1, 1): RMSNorm divides by the root of the *mean* square, so the root
mean square becomes 1 and the length sqrt N. The printed vector is what L2 normalization gives. Values are compared by
their squares, which are rational.
"""

import sympy as sp

from theory.kinds.computed import Computed
from theory.magnitude_aware import MEAN, R, c, direction
from theory.phasors import N, h, i, index_sum, on_groups
from theory.statements import Identity

EXAMPLES = (1, 100)


def entry(value: sp.Expr, count: sp.Expr) -> sp.Expr:
    """An entry of RMSNorm((value, ..., value)) over `count` channels, with gamma = 1."""
    return on_groups(direction(i), [(count, {h: value})], {i: 0}).subs(N, count)


def derived() -> list[sp.Expr]:
    """The entries that (1, 1) and (100, 100) get, and the length of the output."""
    found = [entry(sp.Integer(value), sp.Integer(2)) for value in EXAMPLES]
    return [*found, sp.sqrt(2 * found[0] ** 2)]


def printed() -> list[sp.Expr]:
    """The same three as printed."""
    return [1 / sp.sqrt(2), 1 / sp.sqrt(2), sp.Integer(1)]


def corrected() -> list[sp.Expr]:
    """The entry that a constant positive vector gets, the mean square of an output and its sum of squares."""
    return [sp.Integer(1), sp.Integer(1), N]


STATEMENTS = (
    Computed(
        "as printed",
        "RMSNorm maps (1, 1) and (100, 100) to (1/sqrt 2, 1/sqrt 2), of length 1 (squares compared)",
        lambda: [(left**2, right**2) for left, right in zip(derived(), printed(), strict=True)],
        scope="N = 2",
        inputs=lambda: {"x": [[value] * 2 for value in EXAMPLES]},
        expects="refuted",
    ),
    Identity(
        "corrected",
        "every constant positive vector is mapped to (1, ..., 1); the output has mean square 1 and length sqrt N",
        lambda: (
            [entry(c, N), index_sum(lambda k: direction(k) ** 2, N) / N, index_sum(lambda k: direction(k) ** 2, N)],
            corrected(),
        ),
        nonzero=(R, MEAN),
        scope="every N",
    ),
    Computed(
        "the two outputs are equal",
        "RMSNorm maps (1, 1) and (100, 100) to the same vector",
        lambda: [(derived()[0], derived()[1])],
        scope="N = 2",
    ),
)

MUTANTS = {"what the definition gives": lambda: [sp.Integer(1), sp.Integer(1), sp.sqrt(2)]}
CORRECTED_MUTANTS = {
    "L2 normalization": lambda: [1 / sp.sqrt(N), 1 / N, sp.Integer(1)],
    "length 1": lambda: [sp.Integer(1), sp.Integer(1), sp.Integer(1)],
    "length N": lambda: [sp.Integer(1), sp.Integer(1), N**2],
}
