"""power-mean: which power means of the magnitudes treat every phasor alike in the backward pass?

Theorem, for every P, with S_p = (mean r^p)^(1/p), p > 0, eps = 0 and every z_k != 0: what the input gradient contains
beside the direct term gamma_i g_i / S_p, the interference, has at phasor i the norm

    |Omega_p| (r_i / S_p)^(p-1) / S_p,   Omega_p = (1/P) sum_k gamma_k g_k . z_k / S_p.

It is the same at every phasor if p = 1. If p > 1 it is strictly longer at the larger of two phasors, and if p < 1
strictly shorter, wherever Omega_p != 0; such vectors exist for every P >= 2. So it is uniform for every h iff p = 1.

Stronger: a positive scale S(r) that is continuously differentiable for r > 0, homogeneous of degree 1, and has uniform
interference, is a multiple of the mean magnitude (lemmas in `theory.uniform_interference`). The degree matters: S + eps
is uniform as well.
"""

import sympy as sp

from theory.certificate import Nonneg, known, monotone, over, plus, positive, power, times
from theory.exact import evaluate
from theory.kinds.deduction import Deduction
from theory.norms import loss
from theory.phasors import P, apart, g, gamma, gradient, i, index_sum, j, on_groups, z
from theory.power_means import p, power_mean, squared_magnitudes
from theory.statements import Hypothesis, Identity, Inequality
from theory.uniform_interference import LEMMAS, UNIQUE

S = power_mean(z)
NONZERO = (p, index_sum(lambda k: z.r[k] ** p), z.r)
EXTRA = sp.Symbol("n", integer=True, nonnegative=True)  # P = 2 + n

EVERY = Hypothesis("every z_k != 0", lambda at: all(at.entry(z.r, k + 1) for k in range(int(at[P]))))
LARGER = Hypothesis("r_i > r_j", lambda at: at[z.r[i]] > at[z.r[j]])
HEARD = Hypothesis("Omega_p != 0", lambda at: evaluate(total_projection(), at) != 0)
ABOVE = Hypothesis("p > 1", lambda at: at[p] > 1)
BELOW = Hypothesis("p < 1", lambda at: at[p] < 1)


def total_projection() -> sp.Expr:
    """sum_k gamma_k g_k . z_k = P S_p Omega_p."""
    return index_sum(lambda k: gamma[k] * g[k].dot(z[k]))


def derived(index: sp.Symbol = i) -> sp.Expr:
    """The squared norm of gamma_i g_i / S_p - dL/dz_i, by differentiation."""
    vector = gamma[index] * g[index] / S - gradient(loss(z, g, S), z, index)
    return vector.dot(vector)


def printed(index: sp.Symbol = i) -> sp.Expr:
    """(|Omega_p| (r_i / S_p)^(p-1) / S_p)^2."""
    omega = total_projection() / (P * S)
    return (omega * (z.r[index] / S) ** (p - 1) / S) ** 2


def at_one(expr: sp.Expr) -> sp.Expr:
    """The expression for p = 1."""
    return expr.subs(p, 1)


def _pair(number: sp.Expr, text: str) -> tuple[Nonneg, Nonneg]:
    """r_i^(2s) - r_j^(2s) > 0 for s = `number` > 0, and what |interference|^2 has as a factor beside r^(2p-2)."""
    exponent = times(known(2), positive(number, text))
    own = positive(z.r[j], EVERY.text)
    powers = monotone(positive(z.r[i] - z.r[j], LARGER.text), own, exponent)
    scale = positive(S, EVERY.text)
    factor = over(positive(total_projection() ** 2, HEARD.text), times(*(known(P),) * 2, *(scale,) * 4))
    return powers, times(factor, power(scale, 2 - 2 * p))


def _longer() -> Nonneg:
    powers, factor = _pair(p - 1, ABOVE.text)
    return times(factor, powers)


def _shorter() -> Nonneg:
    powers, factor = _pair(1 - p, BELOW.text)
    magnitudes = plus(positive(z.r[i] - z.r[j], LARGER.text), positive(z.r[j], EVERY.text))
    product = times(magnitudes, positive(z.r[j], EVERY.text))
    return times(factor, over(powers, power(product, 2 - 2 * p)))


def _example() -> sp.Expr:
    """Omega_p at one phasor (2, 0) among P - 1 phasors (1, 0), with g = z and gamma = 1, for P = 2 + n."""
    (x, y), (g_x, g_y) = z.components, g.components
    two, one = ({x: v, y: 0, z.r: v, g_x: v, g_y: 0, gamma: 1} for v in (2, 1))
    return on_groups(total_projection() / (P * S), [(1, two), (P - 1, one)]).subs(P, 2 + EXTRA)


def _example_proof() -> Nonneg:
    others = plus(known(1), known(EXTRA))
    number = plus(known(1), others)
    scale = over(plus(power(known(2), p), others), number)
    return over(plus(known(4), others), times(number, power(scale, 1 / p)))


LONGER = Inequality(
    "longer for p > 1",
    "for p > 1 the interference is strictly longer at the larger of two phasors, if Omega_p != 0",
    lambda: (apart(derived(j)), derived(i)),
    _longer,
    hypotheses=(ABOVE, LARGER, HEARD, EVERY),
    nonzero=NONZERO,
    strict=True,
)
SHORTER = Inequality(
    "shorter for p < 1",
    "for p < 1 the interference is strictly shorter at the larger of two phasors, if Omega_p != 0",
    lambda: (derived(i), apart(derived(j))),
    _shorter,
    hypotheses=(BELOW, LARGER, HEARD, EVERY),
    nonzero=NONZERO,
    adjust=squared_magnitudes,
    strict=True,
)
EXISTS = Inequality(
    "two different phasors",
    "a phasor (2, 0) among P - 1 phasors (1, 0), with g = z and gamma = 1, has Omega_p > 0; P = 2 + n",
    lambda: (0, _example()),
    _example_proof,
    nonzero=(p, 2 + EXTRA),
    scope="every P >= 2",
    strict=True,
)
STATEMENTS = (
    Identity(
        "as printed",
        "the interference at phasor i has the norm |Omega_p| (r_i / S_p)^(p-1) / S_p",
        lambda: (derived(), printed()),
        hypotheses=(EVERY,),
        nonzero=NONZERO,
        adjust=squared_magnitudes,
    ),
    Identity(
        "as printed",
        "for p = 1 it is the same at all phasors",
        lambda: (at_one(derived(i)), at_one(apart(derived(j)))),
        hypotheses=(EVERY,),
        nonzero=(at_one(S), z.r),
    ),
    LONGER,
    SHORTER,
    EXISTS,
    Deduction(
        "as printed",
        "for P >= 2 the interference is uniform for every h only if p = 1",
        (LONGER, SHORTER, EXISTS),
        "cases: for p > 1 and for p < 1 the vector with two different phasors has two different norms",
        lambda: sp.Implies(sp.Ne(p, 1), sp.Ne(printed(j), printed(i)), evaluate=False),
        "every P >= 2",
    ),
    *LEMMAS,
    UNIQUE,
)

MUTANTS = {
    "the same for every p": lambda index=i: (total_projection() / (P * S**2)) ** 2,
    "the power p": lambda index=i: (total_projection() / (P * S**2) * (z.r[index] / S) ** p) ** 2,
    "the power 1 - p": lambda index=i: (total_projection() / (P * S**2) * (z.r[index] / S) ** (1 - p)) ** 2,
    "sum for mean": lambda index=i: (total_projection() / S**2 * (z.r[index] / S) ** (p - 1)) ** 2,
    "p in front": lambda index=i: (p * total_projection() / (P * S**2) * (z.r[index] / S) ** (p - 1)) ** 2,
}
