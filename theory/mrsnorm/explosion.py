"""explosion: averaging magnitudes instead of squares removes numerical overflow in mixed precision.

Claim: with inputs of one number format and intermediate results in another (the accumulation format), no intermediate
result of MRSNorm overflows.

Source: section 1; section 2.1.

A result overflows where it reaches T, half a unit above the largest number: rounding to nearest turns it into infinity.
Magnitudes contain squares, so for single inputs both norms overflow in the same place, |x| >= sqrt(T):

| input x accumulation | x_i^2 + y_i^2 overflows (both norms) | sum x^2 (RMSNorm) | sum r (MRSNorm) |
|---|---|---|---|
| fp16 x fp16 | from abs x = 256 on | from 65520 on | from 65520 on |
| bf16 x fp32, fp32 x fp32 | from abs x = 2^64 on | from 2^128 - 2^103 on | from there on |
| fp64 x fp64 | from abs x = 2^512 on | from 2^1024 - 2^970 on | from there on |
| fp16 x fp32 | never | never for P <= 2^94 | never for P <= 2^94 |
| bf16 x fp64, fp32 x fp64 | never | never for P <= 2^766 | never for P <= 2^766 |

These are the exact sums; "never" says that they stay within range, not what a rounded summation does.

What is true is an inclusion. Where an intermediate result of MRSNorm overflows, RMSNorm's sum of squares does too (for
P <= T), and in fp16 accumulation not conversely: N = 4096 channels with all x = 4 have sum x^2 = 65536 and
sum r = 11585.2. With the accumulation format that mixed precision usually has, fp32 for fp16, both sums stay within
range.

The square root of a sum of squares that is safe against overflow (hypot) is not enough: r_i itself can be out of range
where x_i and y_i are not. Dividing by m = max |x| first is enough for both norms: S = m S(z / m) at eps = 0.
"""

import sympy as sp

from theory.certificate import Nonneg, given, known, over, plus, positive, square, times, total, total_except
from theory.exact import Point, point
from theory.norms import mean_magnitude
from theory.phasors import P, i, index_sum, on_groups, z
from theory.statements import Hypothesis, Identity, Inequality

x, y = z.components
m = sp.Symbol("m", positive=True)  # max |x| over all channels
LARGEST = {  # of each format, and half a unit in its last place
    "fp16": (65504, 16),
    "bf16": (2**128 - 2**120, 2**119),
    "fp32": (2**128 - 2**104, 2**103),
    "fp64": (2**1024 - 2**971, 2**970),
}
FIRST = {"fp16": 2**8, "fp32": 2**64, "fp64": 2**512}  # the smallest power of two whose square overflows
SQUARES = index_sum(lambda k: z.square(k))  # sum x^2 over all channels
TOTAL = index_sum(lambda k: z.r[k])


def overflow(accumulation: str) -> sp.Integer:
    """T: where rounding to nearest gives infinity."""
    return sp.Integer(sum(LARGEST[accumulation]))


def derived() -> sp.Expr:
    """x_i^2 + y_i^2, an intermediate result of MRSNorm and part of one of RMSNorm."""
    return z.square(i)


def printed(accumulation: str) -> sp.Expr:
    """What it is said to stay below."""
    return overflow(accumulation)


def corrected() -> tuple[sp.Expr, sp.Expr]:
    """In terms of RMSNorm's sum of squares, what MRSNorm's r_i^2 and (sum r)^2 are at most."""
    return SQUARES, P * SQUARES


def _overflows(source: str, accumulation: str) -> Inequality:
    return Inequality(
        "as printed",
        f"{source} input, {accumulation} accumulation: x_i^2 + y_i^2 stays below {_power(overflow(accumulation))}",
        lambda: (derived(), printed(accumulation)),
        counterexample=point(z=[(FIRST[accumulation], 0)]),
        strict=True,
        scope=f"{source} input, {accumulation} accumulation",
        expects="refuted",
    )


def _never(source: str, accumulation: str, exponent: int) -> Inequality:
    """sum x^2 <= 2 P L^2 < T for inputs of at most L in magnitude and P <= 2^exponent."""
    bound, most, largest = overflow(accumulation), sp.Integer(2) ** exponent, sp.Integer(LARGEST[source][0])
    inputs, few = f"|x_k|, |y_k| <= {_power(largest)}", f"P <= 2^{exponent}"

    def proof() -> Nonneg:
        squares = total(lambda k: plus(*(given(largest**2 - base[k] ** 2, inputs) for base in (x, y))))
        room = times(known(2 * largest**2), given(most - P, few))
        return plus(squares, room, known(bound - 2 * largest**2 * most))

    def inside(at: Point) -> bool:
        return all(abs(value) <= largest for base in (x, y) for value in at[base])

    return Inequality(
        f"{source} in {accumulation} never overflows",
        f"the exact sum of x^2 over all channels, hence every r_i^2, stays within range, below {_power(bound)}, for "
        f"inputs of at most {_power(largest)}",
        lambda: (SQUARES, bound),
        proof,
        hypotheses=(Hypothesis(inputs, inside), Hypothesis(few, lambda at: at[P] <= most)),
        strict=True,
        scope=f"every P <= 2^{exponent}",
    )


def _power(number: sp.Integer) -> str:
    """A large number by its powers of two."""
    number = int(number)
    top = number.bit_length()
    return str(number) if top < 32 else f"2^{top} - 2^{(2**top - number).bit_length() - 1}"


def _inclusion() -> list[Nonneg]:
    """sum r^2 - r_i^2, and P sum r^2 - (sum r)^2 by Lagrange's identity."""
    spread = total(lambda k: total(lambda n: square(z.r[k] - z.r[n])))
    return [total_except(i, lambda k: square(z.r[k])), over(spread, known(2))]


def _all_four(expr: sp.Expr) -> sp.Expr:
    """The value at 2048 phasors (4, 4)."""
    return on_groups(expr, [(2048, {x: 4, y: 4, z.r: sp.sqrt(32)})])


def _not_conversely() -> tuple[list[sp.Expr], list[sp.Expr]]:
    bound = overflow("fp16")
    return [_all_four(TOTAL**2), bound], [bound**2, _all_four(SQUARES)]


INPUT_RANGE = "|x_i|, |y_i| <= m"
IN_RANGE = Hypothesis(INPUT_RANGE, lambda at: max(abs(at[x[i]]), abs(at[y[i]])) <= at[m])

STATEMENTS = (
    _overflows("fp16", "fp16"),
    _overflows("bf16", "fp32"),
    _overflows("fp32", "fp32"),
    _overflows("fp64", "fp64"),
    Inequality(
        "corrected",
        "r_i^2 <= sum x^2 and (sum r)^2 <= P sum x^2: for P <= T, where MRSNorm's sums overflow, RMSNorm's does too",
        lambda: ([z.r[i] ** 2, TOTAL**2], corrected()),
        _inclusion,
    ),
    Inequality(
        "corrected",
        "not conversely with fp16 accumulation: N = 4096 and all x = 4 have (sum r)^2 < 65520^2 but sum x^2 >= 65520",
        _not_conversely,
        lambda: [known(right - left) for left, right in zip(*_not_conversely(), strict=True)],
        scope="one vector",
    ),
    _never("fp16", "fp32", 94),
    _never("bf16", "fp64", 766),
    _never("fp32", "fp64", 766),
    Inequality(
        "a safe magnitude is enough",
        "r_i is in range where x_i and y_i are: r_i <= m for |x_i|, |y_i| <= m",
        lambda: (z.square(i), m**2),
        hypotheses=(IN_RANGE,),
        counterexample=point({m: 3 * 10**38}, z=[(3 * 10**38, 3 * 10**38)]),
        expects="refuted",
    ),
    Inequality(
        "after division by the largest channel",
        "(x_i^2 + y_i^2) / m^2 <= 2 for m = max |x|: no square overflows",
        lambda: (z.square(i) / m**2, 2),
        lambda: over(
            plus(*(given(m**2 - base[i] ** 2, INPUT_RANGE) for base in (x, y))), times(positive(m, "m > 0"), known(m))
        ),
        hypotheses=(IN_RANGE, Hypothesis("m > 0", lambda at: at[m] > 0)),
        nonzero=(m,),
    ),
    Identity(
        "the scale by way of the largest channel",
        "S = m S(z / m) at eps = 0",
        lambda: (mean_magnitude(z, sp.Integer(0)), m * index_sum(lambda k: z.r[k] / m) / P),
        nonzero=(m,),
    ),
)

MUTANTS = {
    "the intermediate result itself": lambda accumulation: derived() + 1,
    "twice what it is": lambda accumulation: 2 * derived() + 1,
}
CORRECTED_MUTANTS = {
    "the first power of P": lambda: (SQUARES, SQUARES),
    "half the sum of squares": lambda: (SQUARES / 2, P * SQUARES),
    "the mean of squares": lambda: (SQUARES / P, P * SQUARES),
}
