"""trade-off: uniform interference and the logit bound d/2 exclude each other.

Theorem, for every P = d/2 >= 2: no power mean S_p, p > 0, eps = 0, has both uniform interference for every h and
|score| <= d/2 for all q, k != 0. The first needs p = 1 (`power_mean`), the second p >= 2 (`power_mean_logit`): for
p < 2 a single non-zero phasor q = k has the score P^(2/p) > P. MRSNorm's p = 1 exceeds the bound by the factor P.

At P = 1 every p has both.
"""

from dataclasses import replace

import sympy as sp

from theory.beyond import power_mean, power_mean_logit
from theory.certificate import Nonneg, known, monotone, over, plus, positive, times
from theory.kinds.deduction import Deduction
from theory.lemmas import lemma
from theory.phasors import P
from theory.power_means import p
from theory.statements import Hypothesis, Identity, Inequality

EXTRA = power_mean.EXTRA  # P = 2 + n
BELOW_TWO = Hypothesis("p < 2", lambda at: at[p] < 2)


def derived() -> sp.Expr:
    """The score of q = k with a single non-zero phasor."""
    return power_mean_logit.at_equal_pairs(sp.Integer(1))


def printed() -> sp.Expr:
    """What that score exceeds for every p < 2: d/2."""
    return P


def _at_least_two(expr: sp.Expr) -> sp.Expr:
    return sp.sympify(expr).subs(P, 2 + EXTRA)


def _excess() -> Nonneg:
    """P^(2/p) - P = P (P^(2/p - 1) - 1) > 0."""
    others = plus(known(1), known(EXTRA))
    exponent = over(positive(2 - p, BELOW_TWO.text), known(p))
    return times(plus(known(1), others), monotone(others, known(1), exponent))


EXCEEDED = Inequality(
    "as printed",
    "for p < 2 a single non-zero phasor q = k has a score above d/2; P = 2 + n",
    lambda: (_at_least_two(printed()), _at_least_two(derived())),
    _excess,
    hypotheses=(BELOW_TWO,),
    nonzero=(p,),
    scope="every P >= 2",
    strict=True,
)

NEEDED = tuple(
    replace(statement, proof=lambda name=statement.name: lemma("beyond.power_mean", name))
    for statement in (power_mean.LONGER, power_mean.SHORTER, power_mean.EXISTS)
)

STATEMENTS = (
    EXCEEDED,
    *NEEDED,
    Deduction(
        "as printed",
        "no p > 0 has both uniform interference and |score| <= d/2",
        (*NEEDED, EXCEEDED),
        "cases: p > 1 and p < 1 are not uniform, and p = 1 < 2 exceeds d/2",
        lambda: sp.Implies(
            sp.Eq(p, 1, evaluate=False), sp.StrictLessThan(P, derived(), evaluate=False), evaluate=False
        ),
        "every P >= 2, every p > 0",
    ),
    Identity(
        "MRSNorm's factor",
        "for p = 1 the score of a single non-zero phasor with itself is P times d/2",
        lambda: (derived().subs(p, 1), P * P),
    ),
)

MUTANTS = {
    "(d/2)^2": lambda: P**2,
    "the other side of it": lambda: P ** (2 / p) + 1,
    "P^(2/p)": lambda: P ** (2 / p),
    "d^2": lambda: 4 * P**2,
}
