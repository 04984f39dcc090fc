"""Eq. 2: every phasor is scaled by one factor, o_i = gamma_i z_i / S.

Claim: the map is isotropic on each phasor: one weight and one scale serve both channels.

Source: section 3, Eq. 2.

What follows, for every P:

- scale: with c > 0, N(c h) is the same map with eps / c for eps, so it has degree 0 if and only if eps = 0;
- N commutes with a separate rotation of every phasor (the group SO(2)^P);
- |o_i| <= P |gamma_i|, reached at eps = 0 by a vector with a single non-zero phasor (RMSNorm: sqrt N a channel).
"""

import sympy as sp

from theory.certificate import known, over, plus, positive, square, times, total, total_except
from theory.norms import mean_magnitude
from theory.phasors import P, eps, gamma, i, on_groups, phi, substitute, z
from theory.statements import Hypothesis, Identity, Inequality

S = mean_magnitude(z)
x, y = z.components
c = sp.Symbol("c", positive=True)
POSITIVE_SCALE = Hypothesis("S > 0", lambda at: at[eps] > 0 or any(at[x]) or any(at[y]))


def derived() -> sp.Matrix:
    """The channel-wise map diag(w) h / S with the weight gamma_i repeated on both channels of phasor i."""
    return sp.Matrix([[gamma[i], 0], [0, gamma[i]]]) * z[i] / S


def printed() -> sp.Matrix:
    """Eq. 2."""
    return gamma[i] * z[i] / S


def _scaled(expr: sp.Expr) -> sp.Expr:
    return substitute(expr, {base: (lambda k, b=base: c * b[k]) for base in (x, y, z.r)})


def _rotated(expr: sp.Expr) -> sp.Expr:
    """Every z_k turned by its own angle phi_k; magnitudes stay, which `rotation keeps magnitudes` proves."""
    return substitute(expr, {x: lambda k: _turn(k)[0], y: lambda k: _turn(k)[1]})


def _turn(k: sp.Expr) -> sp.Matrix:
    return sp.Matrix([[sp.cos(phi[k]), -sp.sin(phi[k])], [sp.sin(phi[k]), sp.cos(phi[k])]]) * z[k]


def _room() -> object:
    """P^2 S^2 - r_i^2 = (P S - r_i)(P S + r_i), with P S - r_i = sum_{k != i} r_k + P eps."""
    rest = total_except(i, lambda k: known(z.r[k]))
    whole, offset = total(lambda k: known(z.r[k])), times(known(P), known(eps))
    return times(plus(rest, offset), plus(whole, offset, known(z.r[i])))


ONE_HOT = [(1, {x: 1, y: 0, z.r: 1, gamma: sp.Symbol("gamma", real=True)}), (P - 1, {x: 0, y: 0, z.r: 0, gamma: 0})]

STATEMENTS = (
    Identity(
        "as printed",
        "o_i = gamma_i z_i / S, the same factor for both channels",
        lambda: (derived(), printed()),
        nonzero=(S,),
    ),
    Identity(
        "scaling",
        "N(c h) = gamma h / (mean r + eps / c) for c > 0: degree 0 iff eps = 0",
        lambda: (printed().applyfunc(_scaled), gamma[i] * z[i] / mean_magnitude(z, eps / c)),
        nonzero=(_scaled(S), mean_magnitude(z, eps / c), c),
    ),
    Identity(
        "rotation keeps magnitudes",
        "turning z_i by any angle keeps r_i",
        lambda: (_turn(i).dot(_turn(i)), z.r[i] ** 2),
    ),
    Identity(
        "rotation equivariance",
        "turning every phasor by its own angle turns every output by that angle",
        lambda: (printed().applyfunc(_rotated), gamma[i] * _turn(i) / S),
        nonzero=(S,),
    ),
    Inequality(
        "output bound",
        "|o_i|^2 <= P^2 gamma_i^2",
        lambda: (printed().dot(printed()), P**2 * gamma[i] ** 2),
        lambda: times(square(gamma[i]), over(_room(), times(positive(S, "S > 0"), positive(S, "S > 0")))),
        hypotheses=(POSITIVE_SCALE,),
        nonzero=(S,),
    ),
    Identity(
        "output bound is reached",
        "at eps = 0 a single non-zero phasor has |o_i| = P |gamma_i|",
        lambda: (
            on_groups(printed().dot(printed()).subs(eps, 0), ONE_HOT, {i: 0}),
            P**2 * sp.Symbol("gamma", real=True) ** 2,
        ),
    ),
)

MUTANTS = {
    "multiplied by S": lambda: gamma[i] * z[i] * S,
    "gamma squared": lambda: gamma[i] ** 2 * z[i] / S,
    "one weight a channel": lambda: sp.Matrix([gamma[i] * x[i], 2 * gamma[i] * y[i]]) / S,
    "channels swapped": lambda: gamma[i] * sp.Matrix([y[i], x[i]]) / S,
    "eps forgotten": lambda: gamma[i] * z[i] / mean_magnitude(z, sp.Integer(0)),
}
