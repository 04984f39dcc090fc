"""zero-overhead: the scores cost nothing extra, since no magnitude of a phasor is ever computed.

Claim: the forward pass needs only the dot product of the normalized vectors; no r_k, no angle; so nothing is added to
what attention computes anyway.

Source: appendix A.4.

True for Eq. 11 and beside QK-RMSNorm: S^2 = (1/P) sum (x_k^2 + y_k^2) + eps is a function of the sum of the squares of
the channels, and costs what RMSNorm's scale costs, operation for operation. Under Eq. 1 the magnitudes have to be
computed: from a sum of squares of 50 alone nobody can tell magnitudes (5, 5), with the scale 5, from (1, 7), with the
scale 4. That is P square roots in place of one. And beside attention without a norm, every norm is extra work.

Costs are counted from the formulas themselves, written in coordinates: additions, multiplications and divisions that
involve an input, and square roots.
"""

import sympy as sp

from theory.exact import point
from theory.norms import mean_magnitude, rms_magnitude
from theory.phasors import IndexSum, P, eps, index_sum, key, q
from theory.statements import Condition, Hypothesis, Identity, refute

SQUARES = index_sum(lambda k: q.square(k))
RMS_SCALE = sp.sqrt(SQUARES / (2 * P) + eps)  # QK-RMSNorm, over 2P channels
EQ_11 = sp.sqrt(SQUARES / P + eps)
EQ_1 = index_sum(lambda k: sp.sqrt(q.square(k))) / P + eps


def operations(expr: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """(square roots, other operations) that evaluating the expression takes, for every P; constants are free."""
    if not expr.has(sp.Indexed):
        return sp.Integer(0), sp.Integer(0)
    if isinstance(expr, sp.Indexed):
        if expr.base in (q.r, key.r):
            raise ValueError(f"{expr} is to be written in coordinates")
        return sp.Integer(0), sp.Integer(0)
    if isinstance(expr, IndexSum):
        roots, others = operations(expr.body)
        return expr.length * roots, expr.length * others + expr.length - 1
    varying = [argument for argument in expr.args if argument.has(sp.Indexed)]
    roots, others = (sp.Add(*counts) for counts in zip(*map(operations, varying), strict=True))
    if isinstance(expr, sp.Add | sp.Mul):
        constant = int(len(varying) < len(expr.args))  # several constants are one
        return roots, others + len(varying) + constant - 1
    if isinstance(expr, sp.Pow) and expr.exp == sp.Rational(1, 2):
        return roots + 1, others
    if isinstance(expr, sp.Pow) and expr.exp == 2:
        return roots, others + 1
    raise ValueError(f"the cost of {expr} is not known")


def derived() -> list[sp.Expr]:
    """The operations that Eq. 11 takes beyond those of QK-RMSNorm's scale."""
    return [new - old for new, old in zip(operations(EQ_11), operations(RMS_SCALE), strict=True)]


def printed() -> list[sp.Expr]:
    """None."""
    return [sp.Integer(0), sp.Integer(0)]


def _same_squares(at: object) -> bool:
    return sum(v**2 for b in q.components for v in at[b]) == sum(v**2 for b in key.components for v in at[b])


_FROM_SQUARES = Identity(
    "Eq. 1 is a function of the sum of the squares",
    "vectors with the same sum of squares have the same scale under Eq. 1",
    lambda: (mean_magnitude(q), mean_magnitude(key)),
    hypotheses=(Hypothesis("sum |q_k|^2 = sum |k_k|^2", _same_squares),),
)
_AGAINST_NOTHING = Identity("no more than attention without a norm", "", lambda: (list(operations(EQ_11)), printed()))

CONDITIONS = (
    Condition(
        "S is the root mean square of Eq. 11, not the mean of Eq. 1",
        lambda: refute(_FROM_SQUARES, point({eps: 0}, q=[(3, 4), (5, 0)], key=[(1, 0), (0, 7)])),
    ),
    Condition(
        "compared with QK-RMSNorm, not with attention without a norm",
        lambda: refute(_AGAINST_NOTHING, point({P: 1})),
    ),
)

STATEMENTS = (
    Identity(
        "as printed",
        "S is a function of the sum of the squares of the channels: S^2 = (1/P) sum (x_k^2 + y_k^2) + eps",
        lambda: (rms_magnitude(q) ** 2, EQ_11**2),
        CONDITIONS,
    ),
    Identity(
        "as printed",
        "Eq. 11 takes no square root and no other operation beyond those of QK-RMSNorm's scale",
        lambda: (derived(), printed()),
        CONDITIONS,
    ),
    Identity(
        "Eq. 1 takes P square roots",
        "P - 1 square roots more than QK-RMSNorm's scale, and as many other operations",
        lambda: ([operations(EQ_1)[n] - operations(RMS_SCALE)[n] for n in (0, 1)], [P - 1, 0]),
    ),
    Identity(
        "what Eq. 11 takes",
        "one square root and 4P + 1 other operations a vector",
        lambda: (list(operations(EQ_11)), [1, 4 * P + 1]),
    ),
)

MUTANTS = {
    "one root a phasor": lambda: [P - 1, sp.Integer(0)],
    "one operation a channel": lambda: [sp.Integer(0), 2 * P],
    "one root more": lambda: [sp.Integer(1), sp.Integer(0)],
}
