"""Eq. 2: every phasor is scaled by one factor, o_i = gamma_i z_i / S.

Claim: the map is isotropic on each phasor: one weight and one scale serve both channels.

Source: section 3, Eq. 2.

What follows, for every P:

- scale: multiplying h by c > 0 has the effect of dividing eps by c, and changes nothing if and only if eps = 0;
- turning each phasor by an angle of its own turns the outputs alike (equivariance under SO(2)^P);
- no output is longer than P |gamma_i|, which a phasor alone among zeros attains at eps = 0 (RMSNorm: sqrt N a channel).
"""

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, positive, square, times, total, total_except
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


def _room() -> Nonneg:
    """P^2 S^2 - r_i^2 = (P S - r_i)(P S + r_i), with P S - r_i = sum_{k != i} r_k + P eps."""
    rest = total_except(i, lambda k: known(z.r[k]))
    whole, offset = total(lambda k: known(z.r[k])), times(known(P), known(eps))
    return times(plus(rest, offset), plus(whole, offset, known(z.r[i])))


def _larger() -> Nonneg:
    """c / (c mean r + eps) - 1 / S = (c - 1) eps / (S (c mean r + eps))."""
    offset = positive(eps, "eps > 0")
    before, after = (
        plus(over(total(lambda k, f=f: times(known(f), known(z.r[k]))), known(P)), offset) for f in (sp.Integer(1), c)
    )
    return over(times(positive(c - 1, "c > 1"), offset), times(before, after))


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
        "for c > 0 the output at c h is gamma_i z_i / (mean r + eps / c): that at h, if eps = 0",
        lambda: (printed().applyfunc(_scaled), gamma[i] * z[i] / mean_magnitude(z, eps / c)),
        nonzero=(_scaled(S), mean_magnitude(z, eps / c), c),
    ),
    Inequality(
        "eps > 0 breaks it",
        "for eps > 0 and c > 1 the factor on z_i is larger at c h than at h: 1/S < c / (c mean r + eps)",
        lambda: (1 / S, c / _scaled(S)),
        _larger,
        hypotheses=(
            Hypothesis("eps > 0", lambda at: at[eps] > 0),
            Hypothesis("c > 1", lambda at: at[c] > 1),
        ),
        nonzero=(S, _scaled(S)),
        strict=True,
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
