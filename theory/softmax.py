"""The softmax of n logits and its entropy: how they change with a logit, for every n.

With logits a_k and exponentials w_k = e^(a_k), the weights are w_k / sum w and the entropy is

    H = log(sum w) - (sum w_k a_k) / sum w.

The exponentials are differentiated as such and then become symbols, so that every statement is one about moments. Three
bounds rest on these lemmas (`mrsnorm.softmax_collapse`): the minimum of H at a corner, log n - D^2/8 and log n - D.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from theory.certificate import Nonneg, given, known, over, plus, positive, square, times, total, total_except
from theory.phasors import derivative, i, index_sum, scalar_family
from theory.statements import Hypothesis, Identity, Inequality

n = sp.Symbol("n", integer=True, positive=True)  # keys
t = sp.Symbol("t", positive=True)  # e^-D
D, s = sp.symbols("D s", real=True)
a, w = scalar_family("a"), scalar_family("w", nonnegative=True)  # logits, and their exponentials

SOME = Hypothesis("sum w_k > 0", lambda at: sum(at[w]) > 0)
RANGE = "0 <= a_k <= D for every k"
INSIDE = Hypothesis(RANGE, lambda at: all(0 <= v <= at[D] for v in at[a]))


def total_weight() -> sp.Expr:
    """sum_k w_k over the n keys."""
    return index_sum(lambda k: w[k], n)


def exponentials(expr: sp.Expr) -> sp.Expr:
    """The expression with w[k] for every exp(a[k]) or exp(s a[k])."""
    if isinstance(expr, sp.exp):
        (base,) = expr.atoms(sp.Indexed)
        return w[base.indices[0]]
    if not expr.args or isinstance(expr, sp.Indexed):
        return expr
    return expr.func(*(exponentials(argument) for argument in expr.args))


def entropy(scale: sp.Expr = sp.S.One) -> sp.Expr:
    """H of the softmax of scale * a: log of the sum of exponentials, less the mean exponent."""
    whole = index_sum(lambda k: sp.exp(scale * a[k]), n)
    return sp.log(whole) - scale * index_sum(lambda k: a[k] * sp.exp(scale * a[k]), n) / whole


def mean(body: Callable[[sp.Expr], sp.Expr]) -> sp.Expr:
    """The mean over keys with the softmax weights."""
    return index_sum(lambda k: w[k] * body(k), n) / total_weight()


def variance() -> sp.Expr:
    """The variance of the logits under the weights."""
    return mean(lambda k: a[k] ** 2) - mean(lambda k: a[k]) ** 2


def deviation() -> sp.Expr:
    """sum_k w_k (a_k - a_i), whose sign is that of the slope of H in a_i."""
    return index_sum(lambda k: w[k] * (a[k] - a[i]), n)


def _deviation_slope() -> sp.Expr:
    """Its derivative in a_i, for w_k = exp(a_k)."""
    return exponentials(derivative(index_sum(lambda k: sp.exp(a[k]) * (a[k] - a[i]), n), a[i]))


def _popoviciu() -> Nonneg:
    """D^2/4 - V = (mean - D/2)^2 + mean of a_k (D - a_k)."""
    inside = total(lambda k: times(known(w[k]), given(a[k], RANGE), given(D - a[k], RANGE)), n)
    return plus(square(mean(lambda k: a[k]) - D / 2), over(inside, positive(total_weight(), SOME.text)))


SLOPE = Identity(
    "the slope of the entropy",
    "dH/da_i = w_i (sum_k w_k (a_k - a_i)) / (sum w)^2: the sign of the mean logit less a_i",
    lambda: (exponentials(derivative(entropy(), a[i])), w[i] * deviation() / total_weight() ** 2),
    nonzero=(total_weight(),),
    scope="every n",
)
FALLING = Inequality(
    "it changes its sign once",
    "sum_k w_k (a_k - a_i) falls as a_i rises: its slope is -sum_{k != i} w_k <= 0",
    lambda: (_deviation_slope(), 0),
    lambda: total_except(i, lambda k: known(w[k]), n),
    scope="every n",
)
LOSS = Identity(
    "the slope of the loss of entropy",
    "for logits s a_k the loss log n - H has the slope s V(s), V the variance of the logits",
    lambda: (-exponentials(derivative(entropy(s), s)), s * variance()),
    nonzero=(total_weight(),),
    scope="every n",
)
POPOVICIU = Inequality(
    "the variance of the logits",
    "V <= D^2/4 for 0 <= a_k <= D (Popoviciu)",
    lambda: (variance(), D**2 / 4),
    _popoviciu,
    hypotheses=(INSIDE, SOME),
    nonzero=(total_weight(),),
    scope="every n",
)
MEAN_LOGIT = Inequality(
    "the mean logit",
    "it is at most D, for 0 <= a_k <= D",
    lambda: (mean(lambda k: a[k]), D),
    lambda: over(total(lambda k: times(known(w[k]), given(D - a[k], RANGE)), n), positive(total_weight(), SOME.text)),
    hypotheses=(INSIDE, SOME),
    nonzero=(total_weight(),),
    scope="every n",
)
SMALLEST_MEAN = Inequality(
    "the mean of the exponentials",
    "(1/n) sum w_k >= 1, for w_k = e^(a_k) >= 1",
    lambda: (1, total_weight() / n),
    lambda: over(total(lambda k: given(w[k] - 1, "w_k >= 1 for every k"), n), known(n)),
    hypotheses=(Hypothesis("w_k >= 1 for every k", lambda at: all(v >= 1 for v in at[w])),),
    nonzero=(n,),
    scope="every n",
)
