"""rope: rotary position embedding rotates phases without altering the norm.

Claim: RoPE turns each pair z_k = (x_k, y_k) by an angle phi_k and leaves the norm of the vector as it is.

Source: section 2.2. Route: cos^2 + sin^2 = 1.

It holds for every pairing of channels. Whether a norm may be applied before or after RoPE does depend on the pairing:

- MRSNorm commutes with RoPE if RoPE pairs the channels that MRSNorm pairs, adjacent ones, for every P, gamma and eps;
- it does not if RoPE pairs channel c with channel c + d/2 ("half-split"), for every d >= 4: the channels 1 and 1 + d/2
  lie in two different phasors, so turning (1, 0) by (3/5, 4/5) changes the mean of the magnitudes from 1/P to 7/(5P)
  (at d = 2 both pairings are the same);
- RMSNorm without weights commutes with every pairing, as its scale only knows the sum of the squares. With one weight a
  channel it does not.
"""

from fractions import Fraction

import sympy as sp

from theory.certificate import Nonneg, known, over, plus
from theory.exact import point
from theory.norms import mean_magnitude
from theory.phasors import P, cross, eps, gamma, i, index_sum, on_groups, phi, substitute, z
from theory.proof import Step
from theory.statements import Identity, Inequality

x, y = z.components
S = mean_magnitude(z)
EXTRA = sp.Symbol("n", integer=True, nonnegative=True)  # P = 2 + n
COS, SIN = sp.symbols("cos sin", real=True)  # one rotation for both pairs of four channels
S_RMS = sp.sqrt(index_sum(lambda k: z.square(k)) / (2 * P) + eps)
TURN = {COS: Fraction(3, 5), SIN: Fraction(4, 5)}
FOUR = sp.symbols("h_1:5", real=True)


def turned(k: sp.Expr) -> sp.Matrix:
    """z_k turned by phi_k."""
    c, s = sp.cos(phi[k]), sp.sin(phi[k])
    return sp.Matrix([c * x[k] - s * y[k], s * x[k] + c * y[k]])


def derived() -> list[sp.Expr]:
    """|R z_i|^2, the parts of R z_i along z_i and across it (times r_i), and the squared norm of the whole vector."""
    new = turned(i)
    return [new.dot(new), z[i].dot(new), cross(z[i], new), index_sum(lambda k: turned(k).dot(turned(k)))]


def _stated(square: sp.Expr, angle: sp.Expr, whole: sp.Expr) -> list[sp.Expr]:
    return [square, z.r[i] ** 2 * sp.cos(angle), z.r[i] ** 2 * sp.sin(angle), whole]


def printed() -> list[sp.Expr]:
    """The same for a vector whose norms are kept and whose phase is larger by phi_i."""
    return _stated(z.r[i] ** 2, phi[i], index_sum(lambda k: z.square(k)))


def _after_rope(scale: sp.Expr) -> sp.Expr:
    """A scale written in coordinates, of the turned vector."""
    return substitute(scale, {x: lambda k: turned(k)[0], y: lambda k: turned(k)[1]})


def _mrs_both_orders() -> tuple[sp.Matrix, sp.Matrix]:
    in_coordinates = substitute(S, {z.r: lambda k: sp.sqrt(z.square(k))})
    return gamma[i] * turned(i) / _after_rope(in_coordinates), turned(i) * gamma[i] / S


def _half_split(h: tuple[sp.Expr, ...]) -> list[sp.Expr]:
    """Four channels, 1 and 3 turned as a pair, 2 and 4 as another, by the same angle."""
    return [COS * h[0] - SIN * h[2], COS * h[1] - SIN * h[3], SIN * h[0] + COS * h[2], SIN * h[1] + COS * h[3]]


def _mean_of_four(h: list[sp.Expr]) -> sp.Expr:
    return (sp.sqrt(h[0] ** 2 + h[1] ** 2) + sp.sqrt(h[2] ** 2 + h[3] ** 2)) / 2 + eps


def _half_split_both_orders() -> tuple[list[sp.Expr], list[sp.Expr]]:
    new = _half_split(FOUR)
    return [entry / _mean_of_four(new) for entry in new], [entry / _mean_of_four(list(FOUR)) for entry in new]


def _one_channel(*magnitudes: sp.Expr) -> sp.Expr:
    """S of P = 2 + n phasors, two of which have these magnitudes and the others 0."""
    groups = [(1, {z.r: r}) for r in magnitudes] + [(P - len(magnitudes), {z.r: 0})]
    return on_groups(S, groups).subs(P, 2 + EXTRA)


def _larger_by() -> Nonneg:
    """7/(5P) - 1/P = 2/(5P) > 0."""
    return over(known(sp.Rational(2, 5)), plus(known(2), known(EXTRA)))


def _weighted_rms_both_orders() -> tuple[sp.Expr, sp.Expr]:
    """The first channel of one pair under RMSNorm with weights (gamma_i, 0): RoPE first, and RoPE last."""
    return gamma[i] * turned(i)[0] / S_RMS, sp.cos(phi[i]) * gamma[i] * x[i] / S_RMS


STATEMENTS = (
    Identity(
        "as printed",
        "|R z_i| = r_i, R z_i is z_i turned by phi_i, and |R h| = |h|",
        lambda: (derived(), printed()),
        derivation=lambda: [Step("z_i turned by phi_i", turned(i))],
    ),
    Identity(
        "MRSNorm commutes with RoPE on adjacent pairs",
        "MRSNorm(R h) = R MRSNorm(h) for every P, gamma, eps and all angles",
        _mrs_both_orders,
        nonzero=(S, _after_rope(substitute(S, {z.r: lambda k: sp.sqrt(z.square(k))}))),
    ),
    Identity(
        "MRSNorm commutes with RoPE on half-split pairs",
        "at d = 4, channels (1, 3) and (2, 4) turned: MRSNorm(R h) = R MRSNorm(h)",
        _half_split_both_orders,
        nonzero=(_mean_of_four(list(FOUR)), _mean_of_four(_half_split(FOUR))),
        counterexample=point({eps: 0, P: 2, **TURN, **dict(zip(FOUR, (1, 0, 0, 0), strict=True))}),
        expects="refuted",
    ),
    Inequality(
        "half-split fails for every d >= 4",
        "turning one non-zero channel by (3/5, 4/5) changes S: 1/P + eps < 7/(5P) + eps, for P = 2 + n",
        lambda: (_one_channel(sp.Integer(1)), _one_channel(*map(sp.Rational, ("3/5", "4/5")))),
        _larger_by,
        nonzero=(2 + EXTRA,),
        strict=True,
        scope="every P >= 2, every eps >= 0",
    ),
    Identity(
        "RMSNorm without weights commutes with RoPE on any pairs",
        "RMSNorm(R h) = R RMSNorm(h): (x_k, y_k) may be any two channels, as long as each is in one pair",
        lambda: (turned(i) / _after_rope(S_RMS), turned(i) / S_RMS),
        nonzero=(_after_rope(S_RMS) ** 2, S_RMS**2),
    ),
    Identity(
        "RMSNorm with one weight a channel commutes with RoPE",
        "with the weights (gamma, 0) in one pair: the first channel of RMSNorm(R h) is that of R RMSNorm(h)",
        _weighted_rms_both_orders,
        nonzero=(S_RMS**2,),
        counterexample=point({eps: Fraction(1, 2)}, z=[(0, 1)], gamma=[1], phi=[Fraction(1, 2)]),
        expects="refuted",
    ),
)


MUTANTS = {
    "turned the other way": lambda: _stated(z.r[i] ** 2, -phi[i], index_sum(lambda k: z.square(k))),
    "twice the angle": lambda: _stated(z.r[i] ** 2, 2 * phi[i], index_sum(lambda k: z.square(k))),
    "twice the norm": lambda: _stated(4 * z.r[i] ** 2, phi[i], index_sum(lambda k: z.square(k))),
    "the norm of one phasor": lambda: _stated(z.r[i] ** 2, phi[i], z.square(i)),
}
