"""ma-collapse-claim: is it the magnitude that keeps attention from collapsing?

Claim: retaining the magnitude is what prevents the collapse: with the second term the logits of a query spread less.

Source: section 3.3, last sentence.

False. With q any query (after the key projection) and keys j, j' the difference of their logits is

    s <q, G (xhat_j - xhat_j')> + (l_j - l_j') <q, alpha W>.

The first part is s times RMSNorm's, which is what drives the collapse as s grows; the second part is 0 where the keys
have the same magnitude, does not depend on s, and widens the spread as often as it narrows it: it changes sign with W.
At N = 1, q = W = 1, s = 2, alpha = 1/10, directions 1 and -1 and levels 1 and 0 the spread rises from 4 to 41/10. For
two keys a larger spread is a smaller entropy.
"""

from fractions import Fraction

import sympy as sp

from theory.exact import point
from theory.magnitude_aware import W, alpha, s
from theory.phasors import N, e, gamma, h, index_sum, scalar_family, substitute
from theory.statements import Identity, Inequality

query = scalar_family("q")
first, second = sp.symbols("l_j l_j'", real=True)
SPREAD = point({N: 1, s: 2, alpha: Fraction(1, 10), first: 1, second: 0}, h=[1], e=[-1], gamma=[1])
SPREAD = SPREAD.with_({W: (Fraction(1),), query: (Fraction(1),)})


def logit(direction: sp.IndexedBase, level: sp.Expr) -> sp.Expr:
    """<q, y> for a key with this direction xhat and this level l."""
    return index_sum(lambda k: query[k] * (s * gamma[k] * direction[k] + alpha * W[k] * level), N)


def derived() -> sp.Expr:
    """The difference of two keys' logits; their directions are h and e."""
    return logit(h, first) - logit(e, second)


def plain() -> sp.Expr:
    """The same without the second term: s times RMSNorm's."""
    return s * index_sum(lambda k: query[k] * gamma[k] * (h[k] - e[k]), N)


def level_part() -> sp.Expr:
    """What the second term adds."""
    return (first - second) * alpha * index_sum(lambda k: query[k] * W[k], N)


def printed() -> sp.Expr:
    """The square that the squared difference is claimed to stay below: that without the second term."""
    return plain() ** 2


def corrected() -> sp.Expr:
    """The difference, in its two parts."""
    return plain() + level_part()


STATEMENTS = (
    Inequality(
        "as printed",
        "the logits of two keys are closer with the second term than without it",
        lambda: (derived() ** 2, printed()),
        counterexample=SPREAD,
        scope="every N",
        strict=True,
        expects="refuted",
    ),
    Identity(
        "corrected",
        "logits differ by s times RMSNorm's difference plus alpha (l_j - l_j') <q, W>, 0 for keys of equal magnitude",
        lambda: (
            [derived(), derived().xreplace({second: first})],
            [corrected(), plain()],
        ),
        scope="every N",
    ),
    Identity(
        "as often wider as narrower",
        "with -W for W the second part changes its sign",
        lambda: (substitute(derived(), {W: lambda k: -W[k]}) - plain(), -(derived() - plain())),
        scope="every N",
    ),
)

MUTANTS = {
    "twice the sum of both squares, and one": lambda: 2 * plain() ** 2 + 2 * level_part() ** 2 + 1,
    "the spread itself, and one": lambda: derived() ** 2 + 1,
}
CORRECTED_MUTANTS = {
    "no second part": plain,
    "s on both parts": lambda: plain() + s * level_part(),
    "only the level of one key": lambda: plain() + first * alpha * index_sum(lambda k: query[k] * W[k], N),
}
