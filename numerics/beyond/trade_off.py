"""trade-off measured: no power mean has both uniform interference and scores of at most d/2.

For every exponent p two searches try to break one property each: `power_mean.most_spread` looks for a vector whose
interference differs between phasors, `power_mean_logit.most` for a pair whose |score| is large, both at P = d/2 = 8 and
eps = 0. The statement says that for every p at least one of them succeeds: the smaller of

    (d/2) / |score|   and   1 / spread

is below 1. Both are certified: |score| less what rounding may have added, and the least spread that rounding allows
(`numerics.logit_bounds`, `numerics.beyond.power_mean`). p < 1 breaks both.

Source: no source states it; the bound is that of the MRSNorm paper's appendix B, Eq. 18, the uniformity its Eq. 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch

from numerics.beyond import power_mean, power_mean_logit
from numerics.inputs import formats
from numerics.logit_bounds import certified_score
from numerics.measure import Measurement, Settings
from numerics.rounding import Format
from numerics.search import Found

SLUG = "trade-off"
EXPONENTS = (0.5, 1.0, 1.5, 3.0)
WIDTH = 2 * power_mean.SEARCHED  # d


def printed(d: int) -> float:
    """The bound of |score| that no scale with uniform interference keeps."""
    return d / 2


MUTANTS: dict[str, Callable[[int], float]] = {
    "a bound that p = 1 keeps": lambda d: d**2 / 4,
    "d^2": lambda d: d**2,
    "NaN": lambda d: math.nan,
}


def measure(settings: Settings) -> Iterator[Measurement]:
    """For every p and format: which of the two properties the searches break."""
    pairs = {p: power_mean_logit.most(p, WIDTH, settings, SLUG) for p in EXPONENTS}
    vectors = {p: power_mean.most_spread(p, settings, SLUG) for p in EXPONENTS}
    for fmt in formats(settings):
        for p in EXPONENTS:
            yield _broken(p, pairs[p], vectors[p], fmt, settings)


def _broken(p: float, pair: Found, vector: Found, fmt: Format, settings: Settings) -> Measurement:
    rows = pair.rounded(fmt.dtype)
    size = certified_score(rows[:1], rows[1:], power_mean_logit.DEFINITIONS[p], 0.0).item()
    spread, _ = power_mean.certified_spread(vector, p, fmt)
    ratios = torch.tensor([printed(WIDTH) / size, 1 / spread], dtype=torch.float64)
    return Measurement(
        kind="adversarial",
        statement="as printed",
        scope=f"p = {p:g}, d = {WIDTH}, eps = 0, found by gradient ascent",
        worst=ratios.amin().item(),  # NaN if one of them is
        trials=pair.restarts + vector.restarts,
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail=f"|score| at least {size:.6g}, largest over smallest interference at least {spread:.6g}",
    )
