"""ma-jacobian: the derivative of MA-RMSNorm, for every number of channels N = D.

Claim, for x != 0, with R = RMS(x), xhat = x / R, G = diag(gamma) and v = alpha G^-1 W:

    J = (s G (I - xhat xhat^T / N) + alpha W xhat^T / N) / R,      J x = alpha W,
    MA(c x) = MA(x) + alpha W log c for c > 0,
    det J = det(s G / R) <v, xhat> / (s N) = s^(N-1) det(G) alpha <G^-1 W, xhat> / (N R^N).

Source: none, the article prints no derivative; it completes the formula of its section 2.2. For RMSNorm J x = 0.

Route of the determinant: J = (s G / R) (I - u xhat^T / N) with u = xhat - v / s, entry by entry; then the matrix
determinant lemma. With b = xhat / N the product

    [I 0; b^T 1] [I - u b^T, -u; 0 1] [I 0; -b^T 1] = [I, -u; 0, 1 - b^T u]

is multiplied out for every N, so det(I - u b^T) = 1 - b^T u, since determinants multiply and that of a triangular
matrix is the product of its diagonal. For s, alpha, gamma_k != 0 it vanishes exactly on the fold <G^-1 W, x> = 0, where
J maps xhat - v / s to 0. The determinant written out for N = 2 and N = 3 is a second opinion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations

import sympy as sp
from sympy.combinatorics.permutations import Permutation

from theory.bordered import Bordered
from theory.exact import Point
from theory.magnitude_aware import MEAN, R, W, alignment, alpha, c, direction, output, rational_scale, s, slant
from theory.phasors import IndexSum, N, apart, derivative, e, eps, gamma, h, i, index_sum, j, substitute
from theory.proof import Step
from theory.standing import remembered
from theory.statements import Identity

S = sp.sqrt(MEAN + eps)  # with eps inside the root, as a layer needs it
NONZERO = (R, MEAN)


def derived() -> list[sp.Expr]:
    """d y_i / d x_i, and d y_i / d x_j for j != i, by differentiation."""
    return [derivative(output(i), h[i]), apart(derivative(output(i), h[j]))]


@dataclass(frozen=True)
class Claim:
    """What is claimed of the layer: two entries of J, (J x)_i, MA(c x)_i and det J / det(s G / R)."""

    entries: list[sp.Expr]
    radial: sp.Expr
    scaled: sp.Expr
    determinant: sp.Expr


def printed() -> Claim:
    """The claim."""
    level = alpha * W[i]
    return Claim(_entries(s, alpha), level, output(i) + level * sp.log(c), alignment() / (s * N))


def _entries(forward: sp.Expr, level: sp.Expr, scale: sp.Expr = R) -> list[sp.Expr]:
    unit = {k: h[k] / scale for k in (i, j)}
    return [
        (forward * gamma[i] * (delta - unit[i] * unit[k] / N) + level * W[i] * unit[k] / N) / scale
        for k, delta in ((i, 1), (j, 0))
    ]


def radial() -> sp.Expr:
    """(J x)_i, by differentiation and summation over the channels."""
    return index_sum(lambda k: derivative(output(i), h[k]) * h[k], N)


def scaled(k: sp.Expr) -> sp.Expr:
    """MA(c x)_k, with RMS(c x) = c R."""
    return s * gamma[k] * c * h[k] / (c * R) + alpha * W[k] * sp.log(c * R)


def kept(k: sp.Expr) -> sp.Expr:
    """u_k = xhat_k - v_k / s."""
    return direction(k) - slant(k) / s


def _zero(_: sp.Expr) -> sp.Integer:
    return sp.Integer(0)


@remembered
def product() -> tuple[sp.Expr, ...]:
    """The entries of the left side of the docstring's equation, multiplied out."""
    identity = sp.KroneckerDelta
    left = Bordered(identity, _zero, lambda k: direction(k) / N, sp.Integer(1))
    middle = Bordered(
        lambda p, q: identity(p, q) - kept(p) * direction(q) / N, lambda p: -kept(p), _zero, sp.Integer(1)
    )
    right = Bordered(identity, _zero, lambda k: -direction(k) / N, sp.Integer(1))
    return tuple((left @ middle @ right).entries())


def triangular() -> list[sp.Expr]:
    """The entries of its right side, with the claimed determinant in the corner."""
    return Bordered(sp.KroneckerDelta, lambda p: -kept(p), _zero, printed().determinant).entries()


def factored() -> list[sp.Expr]:
    """The entries of (s G / R) (I - u xhat^T / N)."""
    return [s * gamma[i] / R * (delta - kept(i) * direction(k) / N) for k, delta in ((i, 1), (j, 0))]


def written_out(count: int) -> tuple[sp.Expr, sp.Expr]:
    """det J for N = `count`, as the signed sum over permutations of differentiated entries, and as claimed."""
    index = [sp.Integer(n) for n in range(1, count + 1)]

    def expand(expr: sp.Expr) -> sp.Expr:
        if isinstance(expr, IndexSum):
            return sp.Add(*(expand(expr.body.xreplace({expr.index: n})) for n in index))
        if not expr.args or isinstance(expr, sp.Indexed):
            return sp.Integer(count) if expr == N else expr
        return expr.func(*(expand(argument) for argument in expr.args))

    rows = [[expand(derivative(output(p), h[q])) for q in index] for p in index]
    terms = (
        Permutation(order).signature() * sp.Mul(*(row[column] for row, column in zip(rows, order, strict=True)))
        for order in permutations(range(count))
    )
    volume = sp.Mul(*(s * gamma[p] / R for p in index))
    return sp.Add(*terms), expand(volume * printed().determinant)


def _mean(count: int) -> sp.Expr:
    return sp.Add(*(h[k] ** 2 / sp.Integer(count) for k in range(1, count + 1)))


def numbered(at: Point) -> Point:
    """The point with channels called by their numbers."""
    return Point(at.lists, at.numbers, {sp.Integer(n): n for n in (1, 2, 3)})


def gradient() -> tuple[sp.Expr, sp.Expr]:
    """dL/dx_i for L = sum e_k y_k, by differentiation and from the claimed J."""
    pull = index_sum(lambda k: e[k] * (s * gamma[k] * direction(k) - alpha * W[k]), N) / N
    return derivative(index_sum(lambda k: e[k] * output(k), N), h[i]), (s * gamma[i] * e[i] - direction(i) * pull) / R


def with_eps() -> tuple[list[sp.Expr], list[sp.Expr]]:
    """The entries of J, and (J x)_i, for S = sqrt(mean x^2 + eps) in place of R."""
    y = s * gamma[i] * h[i] / S + alpha * W[i] * sp.log(S)
    along = index_sum(lambda k: derivative(y, h[k]) * h[k], N)
    left = [derivative(y, h[i]), apart(derivative(y, h[j])), along]
    rest = eps / S**2
    return left, [*_entries(s, alpha, S), s * rest * gamma[i] * h[i] / S + (1 - rest) * alpha * W[i]]


_CLAIM = printed()

STATEMENTS = (
    Identity(
        "as printed",
        "J = (s G (I - xhat xhat^T / N) + alpha W xhat^T / N) / R",
        lambda: (derived(), printed().entries),
        nonzero=NONZERO,
        adjust=rational_scale,
        scope="every N",
        derivation=lambda: [Step("the layer", output(i))],
    ),
    Identity(
        "as printed",
        "J x = alpha W",
        lambda: (radial(), printed().radial),
        nonzero=NONZERO,
        adjust=rational_scale,
        scope="every N",
    ),
    Identity(
        "as printed",
        "MA(c x) = MA(x) + alpha W log c for c > 0",
        lambda: (
            [substitute(MEAN, {h: lambda k: c * h[k]}), scaled(i)],
            [c**2 * MEAN, printed().scaled],
        ),
        nonzero=(*NONZERO, c),
        adjust=rational_scale,
        scope="every N",
    ),
    Identity(
        "as printed",
        "J = (s G / R) (I - u xhat^T / N), and det(I - u xhat^T / N) = <v, xhat> / (s N)",
        lambda: ([*derived(), *product()], [*factored(), *triangular()]),
        nonzero=(*NONZERO, s, gamma),
        adjust=rational_scale,
        scope="every N",
        derivation=lambda: [Step("det J / det(s G / R)", printed().determinant)],
    ),
    Identity(
        "the determinant, written out",
        "det J as the signed sum over permutations, for N = 2 and N = 3",
        lambda: tuple(zip(*(written_out(count) for count in (2, 3)), strict=True)),
        nonzero=(
            s,
            gamma,
            *(_mean(2), _mean(3)),
        ),
        adjust=numbered,
        scope="N = 2 and N = 3",
    ),
    Identity(
        "the fold",
        "J (xhat - v/s) = (<v, xhat> / (N R)) G (xhat - v/s): on <G^-1 W, x> = 0 that vector is mapped to 0",
        lambda: (
            index_sum(lambda k: derivative(output(i), h[k]) * kept(k), N),
            alignment() / (N * R) * gamma[i] * kept(i),
        ),
        nonzero=(*NONZERO, s, gamma),
        adjust=rational_scale,
        scope="every N",
    ),
    Identity(
        "the input gradient",
        "dL/dx_i = (s gamma_i e_i - xhat_i (1/N) sum e_k (s gamma_k xhat_k - alpha W_k)) / R, e = dL/dy",
        gradient,
        nonzero=NONZERO,
        adjust=rational_scale,
        scope="every N",
    ),
    Identity(
        "with eps inside the root",
        "the same J with S and x/S for R and xhat; J x = s (eps/S^3) G x + (1 - eps/S^2) alpha W",
        with_eps,
        nonzero=(S, S**2, MEAN + eps),
        adjust=rational_scale,
        scope="every N",
    ),
)

MUTANTS = {
    "without 1/N": lambda: replace(_CLAIM, entries=[N * entry for entry in _entries(s, alpha)]),
    "W forgotten": lambda: replace(_CLAIM, entries=_entries(s, sp.Integer(0))),
    "s forgotten": lambda: replace(_CLAIM, entries=_entries(sp.Integer(1), alpha)),
    "s on both terms": lambda: replace(_CLAIM, entries=_entries(s, s * alpha)),
    "level term's sign flipped": lambda: replace(_CLAIM, entries=_entries(s, -alpha)),
    "not divided by R": lambda: replace(_CLAIM, entries=[R * entry for entry in _entries(s, alpha)]),
    "R held constant": lambda: replace(_CLAIM, entries=[s * gamma[i] / R, sp.Integer(0)]),
    "J x = 0, as for RMSNorm": lambda: replace(_CLAIM, radial=sp.Integer(0)),
    "homogeneous": lambda: replace(_CLAIM, scaled=output(i)),
    "s inside the logarithm": lambda: replace(_CLAIM, scaled=output(i) + alpha * W[i] * s * sp.log(c)),
    "determinant without 1/s": lambda: replace(_CLAIM, determinant=alignment() / N),
    "determinant of RMSNorm": lambda: replace(_CLAIM, determinant=sp.Integer(0)),
}
