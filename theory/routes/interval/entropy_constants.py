"""Constants of the softmax: weights and entropies, from the exponentials themselves.

With weights w_k = e^(a_k) / sum e^(a), H = -sum w_k log w_k. The claims' files have H as log Q less a mean logit, and
compare powers of rational bounds; here the entropy is summed as it is defined, in balls.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from theory.routes.interval.balls import Comparison, ball, flint, rational
from theory.routes.interval.constant import Constant

SOFTMAX, MA_ENTROPY = "mrsnorm.softmax_collapse", "ma_rmsnorm.ma_entropy"


def softmax(logits: Sequence) -> list:
    """The weights: exponentials over their sum."""
    parts = [flint().arb(logit).exp() for logit in logits]
    whole = sum(parts, flint().arb(0))
    return [part / whole for part in parts]


def entropy(weights: Sequence, counts: Sequence[int] | None = None) -> object:
    """-sum_k n_k w_k log w_k, each weight w_k occurring n_k times."""
    counts = counts or [1] * len(weights)
    return -sum((n * w * w.log() for w, n in zip(weights, counts, strict=True)), flint().arb(0))


def corner(keys: int, top: int, gap: object) -> object:
    """H with `top` keys at logit 0 and the others at -gap."""
    low = (-flint().arb(gap)).exp()
    whole = top + (keys - top) * low
    return entropy([1 / whole, low / whole], [top, keys - top])


def heaviest(keys: object, gap: object) -> object:
    """The weight of one key at the top, all the others `gap` below it."""
    return 1 / (1 + (keys - 1) * (-flint().arb(gap)).exp())


def _fewest_keys(claimed: tuple) -> Iterable[Comparison]:
    """n keys keep the weight at 1/2 or less and n - 1 do not, for both widths."""
    half = rational(Fraction(1, 2))
    for width, keys in zip((64, 128), claimed, strict=True):
        gap = flint().arb(width).sqrt()
        yield heaviest(keys, gap), "<=", half
        yield half, "<", heaviest(keys - 1, gap)


def _what_one_key_weighs(claimed: tuple) -> Iterable[Comparison]:
    """Eq. 11's bound at d = 64, n = 1024 within 1/1000; Eq. 1's, of 10^11 keys, closer to 1 than 10^-digits."""
    low, high, digits = claimed
    eleven = heaviest(1024, flint().arb(64).sqrt())
    one = 1 - heaviest(flint().arb(10) ** 11, flint().arb(64) ** 3 / (2 * flint().arb(64).sqrt() ** 3))
    yield ball(low), "<", eleven
    yield eleven, "<", ball(high)
    yield one, "<", flint().arb(10) ** -digits


def _two_at_the_top(claimed: tuple) -> Iterable[Comparison]:
    """At e^-D = 1/2 and n = 4 the corner m = 2 has less entropy than m = 1, and both have what the text says."""
    second, first = claimed
    log, gap = (lambda x: flint().arb(x).log()), flint().arb(2).log()
    yield corner(4, 2, gap), "<", corner(4, 1, gap)
    for top, (inside, share) in ((2, second), (1, first)):
        stated = ball(inside).log() + ball(share) * log(2)
        yield abs(corner(4, top, gap) - stated), "<", ball(Fraction(1, 10**12))


def attention(level: object, projections: object) -> list:
    """The weights over keys 1 and -1 for the query 1: one channel of MA-RMSNorm, alpha = W = gamma = 1.

    y = s x / |x| + log |x|; the logits are projections y_q y_k.
    """
    outputs = [level * x / abs(x) + abs(x).log() for x in (flint().arb(1), flint().arb(-1))]
    return softmax([projections * outputs[0] * y for y in outputs])


def _kept_at_eight(claimed: tuple) -> Iterable[Comparison]:
    """H at s = 8 with projections log 3 / 128, against a share of log 2."""
    (share,) = claimed
    yield ball(share) * flint().arb(2).log(), "<=", entropy(attention(8, flint().arb(3).log() / 128))


def _less_than_at_two(claimed: tuple) -> Iterable[Comparison]:
    """H of RMSNorm, s = 1, against that of another level, for projections log 2 / 2."""
    (level,) = claimed
    projections = flint().arb(2).log() / 2
    yield entropy(attention(1, projections)), "<", entropy(attention(ball(level), projections))


def _guaranteed(claimed: tuple) -> Iterable[Comparison]:
    """Every corner of this range keeps 99.5 %."""
    (gap,) = claimed
    least = ball(Fraction(995, 1000)) * flint().arb(64).log()
    return [(least, "<=", corner(64, top, ball(gap))) for top in range(1, 64)]


def _missed(claimed: tuple) -> Iterable[Comparison]:
    """One corner of this range has less than 99.5 %."""
    top, gap = claimed
    yield corner(64, top, ball(gap)), "<", ball(Fraction(995, 1000)) * flint().arb(64).log()


CONSTANTS = (
    Constant(
        SOFTMAX,
        "guaranteed from n = 2982 at d = 64 and from n = 81939 at d = 128, for D = sqrt(d)",
        _fewest_keys,
        (2982, 81939),
        ((2981, 81939), (2983, 81939), (2982, 81938), (2982, 81940)),
        "d = 64 and 128, both sides of the threshold",
    ),
    Constant(
        SOFTMAX,
        "at d = 64 and n = 1024 between 0.744 and 0.745 with Eq. 11; with Eq. 1's D = 256, 1 - 1e-100 of 10^11 keys",
        _what_one_key_weighs,
        (Fraction(744, 1000), Fraction(745, 1000), 100),
        (
            (Fraction(745, 1000), Fraction(746, 1000), 100),
            (Fraction(743, 1000), Fraction(744, 1000), 100),
            (Fraction(744, 1000), Fraction(745, 1000), 101),
        ),
        "d = 64, these numbers of keys",
    ),
    Constant(
        SOFTMAX,
        "e^-D = 1/2, n = 4: log 3 + (1/3) log 2 at m = 2 is below log(5/2) + (3/5) log 2 at m = 1 (as powers)",
        _two_at_the_top,
        ((3, Fraction(1, 3)), (Fraction(5, 2), Fraction(3, 5))),
        (
            ((Fraction(5, 2), Fraction(3, 5)), (3, Fraction(1, 3))),
            ((3, Fraction(2, 3)), (Fraction(5, 2), Fraction(3, 5))),
            ((3, Fraction(1, 3)), (Fraction(5, 2), Fraction(2, 5))),
        ),
        "n = 4; the closed forms within 10^-12",
    ),
    Constant(
        MA_ENTROPY,
        "H >= 0.995 log n at s = 8, as n^199 <= e^(200 H)",
        _kept_at_eight,
        (Fraction(995, 1000),),
        ((Fraction(81, 100),),),
        "n = 2, keys 1 and -1, projections log 3 / 128",
    ),
    Constant(
        MA_ENTROPY,
        "RMSNorm (s = 1) has less entropy than s = 2, as powers e^(51 H)",
        _less_than_at_two,
        (Fraction(2),),
        ((Fraction(1, 2),), (Fraction(9, 10),)),
        "n = 2, keys 1 and -1, projections log 2 / 2",
    ),
    Constant(
        MA_ENTROPY,
        "n = 64: H >= 0.995 log n for all logits of range 0.4083",
        _guaranteed,
        (Fraction(4083, 10000),),
        ((Fraction(4084, 10000),), (Fraction(41, 100),)),
        "n = 64, every corner; that a corner is least is the deduction's",
    ),
    Constant(
        MA_ENTROPY,
        "n = 64: H < 0.995 log n with 28 keys at the top and 36 at 0.4084 below, as n (e^H / n)^200 < 1",
        _missed,
        (28, Fraction(4084, 10000)),
        ((28, Fraction(4083, 10000)), (20, Fraction(4084, 10000))),
        "n = 64, this corner",
    ),
)
