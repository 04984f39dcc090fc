"""no-1d: no periodic function on the line has a derivative of constant absolute value.

Claim: there is no continuously differentiable, periodic f: R -> R with |f'(x)| = c > 0 for every x.

Source: section 5.2.

The paper's route: f'/c is continuous with values in {-1, 1}, hence one sign s by the intermediate value theorem;
integrated, f(x) = s c x + d; then f(x + T) - f(x) = s c T, which is not 0.

Continuity of f' is more than is needed. Wherever f is differentiable, the mean value theorem gives
f(x + T) - f(x) = T f'(xi), so T c = 0 for a periodic f. (Darboux's theorem is behind it: a derivative has the
intermediate value property even where it is not continuous.) The same argument bounds every differentiable f:

    T inf |f'| <= |f(x + T) - f(x)|.

Almost everywhere is not enough: the triangle wave through (0, 0), (1, 1), (2, 0) is continuous, has period 2, and
|f'| = 1 except at the integers.
"""

from fractions import Fraction
from itertools import pairwise

import sympy as sp

from theory.certificate import Nonneg, given, positive, square, times
from theory.kinds.impossible import Fact, Impossible
from theory.proof import Witness
from theory.statements import Hypothesis, Identity, Inequality

x, d, start, end, slope = sp.symbols("x d f(x) f(x+T) f'(xi)", real=True)
s = sp.Symbol("s", real=True)  # the sign of f'
c = sp.Symbol("c", real=True)
T = sp.Symbol("T", real=True)

PERIODIC = "f has the period T"
CONSTANT = "|f'(x)| = c for every x"
CONTINUOUS = "f' is continuous"
DIFFERENTIABLE = "f is differentiable at every x"
ALMOST = "f is continuous, and differentiable except at isolated points"
POSITIVE_C, POSITIVE_T = "c > 0", "T > 0"
TRIANGLE = ((Fraction(0), Fraction(0)), (Fraction(1), Fraction(1)), (Fraction(2), Fraction(0)))


def derived() -> sp.Expr:
    """f(x + T) - f(x), by the mean value theorem."""
    return T * slope


def printed(argument: sp.Expr) -> sp.Expr:
    """f, as the paper integrates it."""
    return s * c * argument + d


def _squared() -> Nonneg:
    """(c T)^2 > 0."""
    return times(*(positive(c, POSITIVE_C),) * 2, *(positive(T, POSITIVE_T),) * 2)


def _by_integration() -> list[Fact]:
    return [
        Fact(s**2 - 1, "the intermediate value theorem: f'/c has one sign", (CONTINUOUS, CONSTANT), -((c * T) ** 2)),
        Fact(
            printed(x + T) - printed(x),
            "the fundamental theorem of calculus, and periodicity",
            (CONTINUOUS, PERIODIC),
            s * c * T,
        ),
    ]


def _by_mean_value(exists_everywhere: str) -> list[Fact]:
    return [
        Fact(slope**2 - c**2, "the constant size of f'", (CONSTANT,), -(T**2)),
        Fact(end - start - derived(), "the mean value theorem on [x, x + T]", (exists_everywhere,), -T * slope),
        Fact(end - start, "periodicity", (PERIODIC,), T * slope),
    ]


def _mean_value_bound() -> Inequality:
    """(T m)^2 <= (f(x + T) - f(x))^2 where m <= |f'|, as m^2 <= f'(xi)^2."""
    m = sp.Symbol("m", real=True)
    text = "m^2 <= f'(xi)^2"
    return Inequality(
        "differentiable functions",
        "(T m)^2 <= (f(x + T) - f(x))^2 = (T f'(xi))^2 for every m with 0 <= m <= |f'|",
        lambda: ((T * m) ** 2, derived() ** 2),
        lambda: times(square(T), given(slope**2 - m**2, text)),
        hypotheses=(Hypothesis(text, lambda at: at[m] ** 2 <= at[slope] ** 2),),
        scope="every differentiable f",
    )


def triangle_wave() -> Witness:
    """T inf |f'| <= |f(x + T) - f(x)| fails for the piecewise linear f through `TRIANGLE`."""

    def values() -> dict[str, Fraction]:
        pieces = list(pairwise(TRIANGLE))
        sizes = {abs((v - u) / (b - a)) for (a, u), (b, v) in pieces}
        if len(sizes) != 1:
            raise ValueError("the pieces do not have one absolute slope")
        (a, first), (b, last) = TRIANGLE[0], TRIANGLE[-1]
        return {"left": (b - a) * min(sizes), "right": abs(last - first)}

    inputs = {"x": [a for a, _ in TRIANGLE], "f(x)": [v for _, v in TRIANGLE], "T": TRIANGLE[-1][0] - TRIANGLE[0][0]}
    return Witness(inputs, values(), "<=", values)


_EVERYWHERE = (PERIODIC, CONSTANT, DIFFERENTIABLE, POSITIVE_C, POSITIVE_T)

STATEMENTS = (
    Impossible(
        "as printed",
        "no continuously differentiable f of period T has |f'| = c > 0 (by integration)",
        (PERIODIC, CONSTANT, CONTINUOUS, POSITIVE_C, POSITIVE_T),
        _by_integration,
        _squared,
    ),
    Identity(
        "as printed",
        "the function that the paper integrates to has |f'| = c, for either sign",
        lambda: ([printed(x).diff(x).subs(s, sign) ** 2 for sign in (1, -1)], [c**2, c**2]),
        scope="every c, d, x",
    ),
    Impossible(
        "differentiable is enough",
        "no f of period T that is differentiable everywhere has |f'| = c > 0 (by the mean value theorem)",
        _EVERYWHERE,
        lambda: _by_mean_value(DIFFERENTIABLE),
        _squared,
    ),
    _mean_value_bound(),
    Impossible(
        "differentiable almost everywhere is enough",
        "no continuous f of period T has |f'| = c > 0 except at isolated points",
        (PERIODIC, CONSTANT, ALMOST, POSITIVE_C, POSITIVE_T),
        lambda: _by_mean_value(DIFFERENTIABLE),
        _squared,
        counterexample=triangle_wave,
        expects="refuted",
    ),
)

MUTANTS = {
    "a constant": lambda argument: d,
    "a parabola": lambda argument: s * c * argument**2 + d,
    "the wrong slope": lambda argument: 2 * s * c * argument + d,
    "a sine": lambda argument: s * c * sp.sin(argument) + d,
}
