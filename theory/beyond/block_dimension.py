"""block-dimension: Eqs. 5, 6 and 8 hold for blocks of every dimension.

Theorem, for every P and every block dimension b >= 1, with z_k in R^b, o_k = gamma_k z_k / S, u_k = z_k / |z_k|,
S = (1/P) sum |z_k| + eps, zhat_k = z_k / S, and wherever z_i != 0:

    dL/dz_i = (gamma_i g_i - u_i Omega) / S,   Omega = (1/P) sum_k gamma_k g_k . zhat_k      (Eq. 5)
    |u_i Omega / S| = |Omega| / S                                                            (Eq. 6)
    d zhat_i / d z_i = (I - u_i zhat_i^T / P) / S,   d zhat_j / d z_i = -zhat_j u_i^T / (P S) for j != i   (Eq. 8)

b = 1 is a layer over scalar channels, u = sign x and S = mean |x| + eps; b = 2 is MRSNorm; b = N is one block. Nothing
in the three equations singles out b = 2: what needs it is a continuous phase.

Route: the coordinates of z_i and g_i are families of symbolic length b. The other blocks are constants here; whatever
their number, they enter through two sums over k != i, of |z_k| and of gamma_k g_k . z_k.
"""

from fractions import Fraction

import sympy as sp

from theory.exact import Point, evaluate
from theory.phasors import P, derivative, eps, index_sum, scalar_family
from theory.statements import Hypothesis, Identity

b = sp.Symbol("b", integer=True, positive=True)  # the dimension of a block
a, c = sp.symbols("a c", integer=True)  # two coordinates
x = scalar_family("z_i")  # coordinates of z_i, over 1..b
y = scalar_family("g_i")  # coordinates of g_i
t = scalar_family("t")  # coordinates of a direction in R^b
weight = sp.Symbol("gamma", real=True)  # gamma_i
sizes = sp.Symbol("R", nonnegative=True)  # sum of |z_k| over k != i
projections = sp.Symbol("G", real=True)  # sum of gamma_k g_k . z_k over k != i
other = sp.Symbol("z_j", real=True)  # a coordinate of another block

SQUARE = index_sum(lambda s: x[s] ** 2, b)
SIZE = sp.sqrt(SQUARE)  # |z_i|
S = (sizes + SIZE) / P + eps
NON_ZERO = Hypothesis("z_i != 0", lambda at: evaluate(SQUARE, at) != 0)


def dot(first: sp.IndexedBase, second: sp.IndexedBase) -> sp.Expr:
    """The inner product of two vectors of R^b."""
    return index_sum(lambda s: first[s] * second[s], b)


def loss() -> sp.Expr:
    """L = sum_k g_k . o_k."""
    return (projections + weight * dot(y, x)) / S


def derived() -> sp.Expr:
    """A coordinate of dL/dz_i, by differentiation."""
    return derivative(loss(), x[a])


def omega() -> sp.Expr:
    """Omega, the mean of gamma_k g_k . zhat_k."""
    return (projections + weight * dot(y, x)) / (P * S)


def printed() -> sp.Expr:
    """A coordinate of Eq. 5."""
    return (weight * y[a] - x[a] / SIZE * omega()) / S


def interference() -> sp.Expr:
    """|gamma_i g_i / S - dL/dz_i|^2, by differentiation."""
    entry = weight * y[a] / S - derived()
    return index_sum(lambda s: entry.xreplace({a: s}) ** 2, b)


def block_image() -> sp.Expr:
    """A coordinate of (d zhat_i / d z_i) t for a direction t, by differentiation."""
    entry = derivative(x[a] / S, x[c])
    return index_sum(lambda s: entry.xreplace({c: s}) * t[s], b)


def rational_size(at: Point) -> Point:
    """The point with b = 3 and |z_i| rational: z_i is a multiple of (2, 3, 6)."""
    scale = at.numbers.get(weight, Fraction(1))
    lists = {x: (2 * scale, 3 * scale, -6 * scale), y: (Fraction(1), Fraction(2), Fraction(-3))}
    lists |= {t: (Fraction(3), Fraction(-1), Fraction(5))}
    return Point({**at.lists, **lists}, {**at.numbers, b: Fraction(3)}, {a: 1, c: 2})


NONZERO = (SQUARE, S)
STATEMENTS = (
    Identity(
        "as printed",
        "Eq. 5: dL/dz_i = (gamma_i g_i - u_i Omega) / S for blocks of every dimension",
        lambda: (derived(), printed()),
        hypotheses=(NON_ZERO,),
        nonzero=NONZERO,
        adjust=rational_size,
        scope="every P, every b",
    ),
    Identity(
        "as printed",
        "Eq. 6: the subtracted term has the norm |Omega| / S",
        lambda: (interference(), (omega() / S) ** 2),
        hypotheses=(NON_ZERO,),
        nonzero=NONZERO,
        adjust=rational_size,
        scope="every P, every b",
    ),
    Identity(
        "as printed",
        "Eq. 8: (d zhat_i / d z_i) t = (t - u_i (zhat_i . t) / P) / S for every direction t",
        lambda: (block_image(), (t[a] - x[a] / SIZE * dot(x, t) / (P * S)) / S),
        hypotheses=(NON_ZERO,),
        nonzero=NONZERO,
        adjust=rational_size,
        scope="every P, every b",
    ),
    Identity(
        "as printed",
        "blocks off the diagonal: d zhat_j / d z_i = -zhat_j u_i^T / (P S) for j != i",
        lambda: (derivative(other / S, x[a]), -other / S * x[a] / SIZE / (P * S)),
        hypotheses=(NON_ZERO,),
        nonzero=NONZERO,
        adjust=rational_size,
        scope="every P, every b",
    ),
)

MUTANTS = {
    "without 1/P": lambda: (weight * y[a] - x[a] / SIZE * P * omega()) / S,
    "the mean over channels": lambda: (weight * y[a] - x[a] / SIZE * omega() / b) / S,
    "zhat for u": lambda: (weight * y[a] - x[a] / S * omega()) / S,
    "gamma forgotten": lambda: (y[a] - x[a] / SIZE * omega()) / S,
    "sign flipped": lambda: (weight * y[a] + x[a] / SIZE * omega()) / S,
    "S held constant": lambda: weight * y[a] / S,
}
