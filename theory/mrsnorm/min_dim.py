"""min-dim: two channels a block are the fewest for a periodic phase, and the fewest for an open radial gradient.

Claim, in two parts: with fewer than two channels a block (1) no continuous phase is possible and (2) no unblocked
radial gradient is; so two is the smallest number that keeps both.

Source: section 5.2.

The first part is true: in dimension 1 a direction is +1 or -1, and nothing continuous passes from one to the other; in
dimension 2 it is an angle. (The smallest dimension with both properties is therefore 2, for the sake of the phase
alone.) The second part is false: MRSNorm over blocks of b channels, S = (1/P) sum |z_k| + eps with z_k in R^b,
satisfies Eqs. 5, 6 and 8 for every b >= 1. At b = 1, where u_i is the sign of x_i and S = mean |x| + eps, the
interference is as uniform, and the radial gain (1/S) (1 - r_i / (P S)) as open, as at b = 2.

Route for every b: only inner products occur. With a_k = g_k . z_k, and for a direction v at block i with p = z_i . v
and t = g_i . v, the chain rule is dr_i = p / r_i and da_i = t in every dimension (2 r dr = d(z . z) = 2 p). A gradient
is known by its product with every v. Blocks of 1 and of 3 channels are differentiated in coordinates as well; 2 is
eq05 to eq08.
"""

import sympy as sp
from sympy.tensor.indexed import IndexedBase

from theory.certificate import Nonneg, known
from theory.exact import point
from theory.kinds.impossible import Fact, Impossible
from theory.norms import mean_magnitude
from theory.phasors import (
    P,
    VectorFamily,
    derivative,
    e,
    eps,
    gamma,
    gradient,
    h,
    i,
    index_sum,
    jacobian,
    theta_q,
    vector_family,
    z,
)
from theory.statements import Identity

S = mean_magnitude(z)
r, a = z.r, e  # magnitudes of blocks, and the inner products a_k = g_k . z_k, of any dimension
p, t = sp.symbols("p t", real=True)  # z_i . v and g_i . v


def along(expr: sp.Expr) -> sp.Expr:
    """The derivative along v at block i of an expression in r and a, by the chain rule of the docstring."""
    return derivative(expr, r[i]) * p / r[i] + derivative(expr, a[i]) * t


def derived() -> sp.Expr:
    """The radial gain u_i . (d zhat_i / d z_i) u_i in any dimension: v = u_i has z_i . v = r_i, so dz_i = u_i."""
    return 1 / S + r[i] * along(1 / S).subs(p, r[i])


def printed() -> sp.Expr:
    """0, for blocks of one channel: a radial gradient that is blocked."""
    return sp.Integer(0)


def gain() -> sp.Expr:
    """(1/S) (1 - r_i / (P S)), as for phasors."""
    return (1 - r[i] / (P * S)) / S


def any_dimension() -> list[sp.Expr]:
    """In any R^b and along any v, by the chain rule: three numbers that Eqs. 5, 6 and 8 are about.

    dL/dz_i . v; the squared length of gamma_i g_i / S - dL/dz_i, which is a multiple of z_i; and the coefficient of
    z_i in (d zhat_i / d z_i) v, whose other term is v / S.
    """
    value = index_sum(lambda k: gamma[k] * a[k]) / S
    multiple = -derivative(value, r[i]) / r[i]
    return [along(value), (multiple * r[i]) ** 2, along(1 / S)]


def corrected() -> list[sp.Expr]:
    """What Eqs. 5, 6 and 8 say that they are, with u_i = z_i / r_i and zhat_i . v = p / S."""
    omega = index_sum(lambda k: gamma[k] * a[k] / S) / P
    return [(gamma[i] * t - p / r[i] * omega) / S, (omega / S) ** 2, -(p / S) / (r[i] * P * S)]


def in_coordinates(family: VectorFamily, upstream: tuple[IndexedBase, ...]) -> tuple[list[sp.Expr], list[sp.Expr]]:
    """Eqs. 5, 6 and 8 for blocks of as many channels as the family has components, by differentiation."""
    scale = mean_magnitude(family)

    def g(k: sp.Expr) -> sp.Matrix:
        return sp.Matrix([base[k] for base in upstream])

    slope = gradient(index_sum(lambda k: gamma[k] * g(k).dot(family[k])) / scale, family, i)
    omega = index_sum(lambda k: gamma[k] * g(k).dot(family[k] / scale)) / P
    interference = gamma[i] * g(i) / scale - slope
    zhat = family[i] / scale
    left = [*slope, interference.dot(interference), *jacobian(zhat, family, i)]
    block = (sp.eye(len(upstream)) - family.unit(i) * zhat.T / P) / scale
    return left, [*((gamma[i] * g(i) - family.unit(i) * omega) / scale), (omega / scale) ** 2, *block]


LINE, SPACE = vector_family("x_1", "|x|_1"), vector_family("x_3 y_3 w_3", "r_3")
UNIT, CONTINUOUS, BOTH = "|u(s)| = 1 for every s", "u is continuous", "u takes the values 1 and -1"
u_between = sp.Symbol("u", real=True)


def _between() -> list[Fact]:
    return [
        Fact(u_between, "the intermediate value theorem: u is 0 somewhere", (CONTINUOUS, BOTH), u_between),
        Fact(u_between**2 - 1, "unit length there", (UNIT,), sp.Integer(-1)),
    ]


def _one() -> Nonneg:
    return known(1)


STATEMENTS = (
    Identity(
        "as printed",
        "with one channel a block the radial gradient is blocked: its gain is 0 (the channels are the "
        "first components of the witness)",
        lambda: (derived(), printed()),
        nonzero=(S, r[i]),
        counterexample=point({eps: 0}, z=[(1, 0), (1, 0)]),
        expects="refuted",
    ),
    Impossible(
        "as printed",
        "in dimension 1 no unit direction changes continuously from 1 to -1: there is no periodic phase",
        (UNIT, CONTINUOUS, BOTH),
        _between,
        _one,
        scope="every continuous u on a line or a circle",
    ),
    Identity(
        "a phase in dimension 2",
        "(cos, sin) is a unit direction at every angle, and takes the values (1, 0) and (-1, 0)",
        lambda: (sp.cos(theta_q[i]) ** 2 + sp.sin(theta_q[i]) ** 2, 1),
    ),
    Identity(
        "corrected",
        "for blocks of every dimension b >= 1: Eqs. 5, 6 and 8 hold, along every direction; only a continuous phase "
        "needs b >= 2",
        lambda: (any_dimension(), corrected()),
        nonzero=(S, r[i]),
        scope="every P, every b >= 1",
    ),
    Identity(
        "the radial gain",
        "in every dimension it is (1/S) (1 - r_i / (P S)), as for phasors",
        lambda: (derived(), gain()),
        nonzero=(S, r[i]),
        scope="every P, every b >= 1",
    ),
    Identity(
        "blocks of one channel",
        "Eqs. 5, 6 and 8 at b = 1, in coordinates",
        lambda: in_coordinates(LINE, (h,)),
        nonzero=(mean_magnitude(LINE), LINE.r[i]),
    ),
    Identity(
        "blocks of three channels",
        "Eqs. 5, 6 and 8 at b = 3, in coordinates",
        lambda: in_coordinates(SPACE, (h, e, z.components[0])),
        nonzero=(mean_magnitude(SPACE), SPACE.r[i]),
    ),
)

MUTANTS = {"the gain of phasors": gain}


def _corrected_mutant(gradient_share: sp.Expr = 1, length: sp.Expr = 1, block_share: sp.Expr = 1) -> list[sp.Expr]:
    omega = index_sum(lambda k: gamma[k] * a[k] / S) / P
    first = (gamma[i] * t - gradient_share * p / r[i] * omega) / S
    return [first, (length * omega / S) ** 2, -block_share * (p / S) / (r[i] * P * S)]


CORRECTED_MUTANTS = {
    "1/N for 1/P": lambda: _corrected_mutant(gradient_share=sp.Rational(1, 2)),
    "zhat for u": lambda: _corrected_mutant(gradient_share=r[i] / S, length=r[i] / S),
    "interference twice as long": lambda: _corrected_mutant(length=sp.Integer(2)),
    "nothing subtracted from the block": lambda: _corrected_mutant(block_share=sp.Integer(0)),
    "sign flipped": lambda: _corrected_mutant(gradient_share=sp.Integer(-1)),
}
