"""radial-open measured: the radial gain of a phasor, and how an outlier loses it.

    gain = u_i^T (d zhat_i / d z_i) u_i = (1 - r_i / (P S)) / S

Source: MRSNorm paper, section 5.2, after Eq. 8, at z_i != 0. It is positive where eps > 0 or another phasor is not 0,
and at least 1/(2 S) where r_i <= P S / 2. It is not bounded below without such a condition: one phasor of magnitude P^2
among P - 1 of magnitude 1 has S gain <= 1/P at eps = 0.

How it is measured. The upstream gradient is u_i, rounded to the format (v), at phasor i and 0 elsewhere, for the
largest phasor of each row and for a random other one. The block is symmetric with u_i as an eigenvector, so the
gradient d_i that comes back has u_i . d_i = gain (u_i . v): dividing by u_i . v takes the rounding of v out again.

Bound. d_i is off by `rounding.own_gradient_error` and by its last rounding, so the gain by the norm of that pair over
u_i . v; the formula and the two products in fp64 add gamma_n / S, n the roundings in S and 8. A gain below what the
bound allows is not resolved; how many are is counted. Gradient ascent looks for the largest 1/(2 S) over the gain where
r_i <= P S / 2. That the gain is positive is a sign: there is no bound to come near to.

Outlier. Magnitudes are rounded to the format, P^2 and 1 by at most a factor 1 + 3u each (cosine, sine and the rounding;
|z| in that format), which S gain, (P - 1) / (P^2 + P - 1), carries over; the bound of the gain is added, times S.

Real activations. Only an experiment can say that such rows occur. The statement is supported if on some row of a
trained model's residual stream the largest phasor's S gain is below 0.15 and S |J|_2 is above 10, both measured in the
format by automatic differentiation: the first as above on every row; the second on one row as S |J^T v| / |v|, which is
at most S |J|_2 whatever v is, with v the top left singular vector of the explicit Jacobian in fp64. `worst` is the
largest of the two ratios and of a third, the disagreement between that decomposition and the closed form of
`numerics.amplification` over N u |J|_2, u of fp64 (the decomposition's backward error; the entries are off by less).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import torch
from torch import Generator, Tensor

from numerics import activations
from numerics.amplification import amplification, jacobian
from numerics.found_rows import found_batch, largest, places, searched
from numerics.gradients import input_gradient, own_gradient, pick
from numerics.inputs import WIDTHS, Batch, batch, batches, choose, formats, rows_batch
from numerics.judge import Tally
from numerics.measure import Measurement, Settings
from numerics.norms import mrs_norm, mrs_scale
from numerics.rounding import (
    FP64,
    Format,
    direction,
    own_gradient_error,
    rounded,
    roundings,
    scale_roundings,
    settle_overflow,
)

CHOSEN = 2
FLOOR_AT = ((2, 0.0), (8, 0.125))  # (P, eps) where one or two phasors can have r_i = P S / 2
ROUNDED_HALF = (1 - 2.0**-7) / 2  # magnitudes in bf16 are off by a factor of 1 + 2^-8 at most, and so is a share


def scale(z: Tensor, eps: float) -> Tensor:
    """S: (T, P, 2) -> (T, 1)."""
    return torch.linalg.vector_norm(z, dim=-1).mean(dim=-1, keepdim=True) + eps


def printed(z: Tensor, eps: float) -> Tensor:
    """The radial gain of every phasor that Eq. 8 gives: (T, P, 2) -> (T, P)."""
    s = scale(z, eps)
    return (1 - torch.linalg.vector_norm(z, dim=-1) / (z.shape[-2] * s)) / s


def least(scale: Tensor) -> Tensor:
    """What the gain is at least where r_i <= P S / 2, from S."""
    return 1 / (2 * scale)


def radial_gain(b: Batch, chosen: Tensor) -> tuple[Tensor, Tensor]:
    """Measured radial gains of the chosen phasors, and the bound of their error: (T, K) -> (T, K), (T, K)."""
    z, s = pick(b.z, chosen), mrs_scale(b.h.double(), b.eps)
    u = direction(z)
    v = u.to(b.fmt.dtype).double()
    d = own_gradient(partial(mrs_norm, weight=None, eps=b.eps), b.h, chosen, v).double()
    one, share = torch.ones_like(s), (u * v).sum(-1)
    lost = sum(own_gradient_error(z, v, one, s, b.phasors, f) for f in (b.fmt, FP64))
    zhat = z / s[..., None]
    exact = (v - u * (zhat * v).sum(-1, keepdim=True) / b.phasors) / s[..., None]
    d, _ = settle_overflow(d, exact, lost, b.fmt)
    allowed = torch.linalg.vector_norm(rounded(lost, exact, b.fmt), dim=-1) / share
    return (u * d).sum(-1) / share, allowed + roundings(scale_roundings(b.phasors) + 8, FP64) * 2 / s


def measure(settings: Settings) -> Iterator[Measurement]:
    """The gain's value, sign, floor (searched too), its collapse at an outlier, and real activations, a format."""
    for fmt in formats(settings):
        value, sign, floor = (Tally("as printed", fmt, settings) for _ in range(3))
        for b in batches("radial-open", fmt, settings):
            chosen = choose(b, CHOSEN, settings.seed)
            gain, allowed = radial_gain(b, chosen)
            s = mrs_scale(b.h.double(), b.eps)
            r = torch.linalg.vector_norm(b.z, dim=-1)
            at = pick(r, chosen)
            value.add(b, (gain - pick(printed(b.z, b.eps), chosen)).abs(), allowed, at > 0, chosen)
            alive = (at > 0) & ((b.eps > 0) | ((r > 0).sum(-1, keepdim=True) > 1))
            sign.add(b, torch.where(gain > 0, torch.zeros_like(gain), -gain), allowed, alive, chosen)
            sign.count("gains resolved as positive", (alive & (gain > allowed)).sum())
            sign.count("gains below what rounding resolves", (alive & ~(gain > allowed)).sum())
            small = (at > 0) & (at <= b.phasors * s / 2)
            floor.add(b, least(s).expand_as(gain), gain + allowed, small, chosen)
        yield value.measurement("z_i != 0")
        yield sign.measurement("another phasor is non-zero, or eps > 0; -gain over what rounding allows")
        yield floor.measurement("r_i <= P S / 2: 1/(2 S) over the gain")
        yield from _found_rows(fmt, settings)
        yield _outlier(fmt, settings)
        yield _real(fmt, settings)


def _floor_ratios(z: Tensor, eps: float, limit: float) -> Tensor:
    """1/(2 S) over the gain of every phasor, 0 where r_i is 0 or above limit P S: (R, P, 2) -> (R, P)."""
    r = torch.linalg.vector_norm(z, dim=-1)
    share = r / (r.sum(-1, keepdim=True) + z.shape[-2] * eps)  # r_i / (P S)
    return torch.where((share > 0) & (share <= limit), 1 / (2 * (1 - share)), torch.zeros_like(r))


def floor_ratio(points: Tensor, eps: float) -> Tensor:
    """The largest of `_floor_ratios` for a share that rounding to bf16 leaves below 1/2: (R, 1, P, 2) -> (R,)."""
    return _floor_ratios(points[:, 0], eps, ROUNDED_HALF).amax(-1)


def _found_rows(fmt: Format, settings: Settings) -> Iterator[Measurement]:
    for phasors, eps in places(settings, FLOOR_AT):
        found = largest("radial-open", floor_ratio, phasors, eps, settings, vectors=1)
        b, tally = found_batch(found, fmt, eps), Tally("as printed", fmt, settings)
        ratios = _floor_ratios(b.z, eps, 1 / 2)
        chosen = ratios.argmax(-1, keepdim=True)
        gain, allowed = radial_gain(b, chosen)
        tally.add(b, least(mrs_scale(b.h.double(), eps)), gain + allowed, pick(ratios, chosen) > 0, chosen)
        yield searched(tally, b, found, "r_i <= P S / 2: 1/(2 S) over the gain")


def lone_outlier(rng: Generator, trials: int, phasors: int, largest: float) -> Tensor:
    """One random phasor of magnitude P^2 among others of magnitude 1, at random angles."""
    angle = 2 * torch.pi * torch.rand(trials, phasors, generator=rng, dtype=torch.float64)
    z = torch.stack((angle.cos(), angle.sin()), dim=-1)
    z[torch.arange(trials), torch.randint(phasors, (trials,), generator=rng)] *= phasors**2
    return z


def _outlier(fmt: Format, settings: Settings) -> Measurement:
    tally = Tally("an outlier loses its radial gradient", fmt, settings)
    smallest = 1.0
    for phasors, _ in WIDTHS if settings.trials else ():
        if phasors == 1:
            continue  # no others to be an outlier among
        b = batch("radial-open", fmt, phasors, 0.0, settings.trials, settings, scenarios={"one of P^2": lone_outlier})
        chosen = choose(b, 1, settings.seed)
        gain, allowed = radial_gain(b, chosen)
        s = mrs_scale(b.h.double(), 0.0)
        smallest = min(smallest, (s * gain).min().item())
        rounding = (1 + 3 * fmt.unit_roundoff) / (1 - 3 * fmt.unit_roundoff)
        tally.add(b, s * gain, rounding * torch.full_like(gain, 1 / phasors) + s * allowed, chosen=chosen)
    return tally.measurement(f"S gain over 1/P; smallest S gain {smallest:.2g}")


GAIN_BELOW, AMPLIFIED_ABOVE, EPS = 0.15, 10.0, 1e-6


def _real(fmt: Format, settings: Settings) -> Measurement:
    """The largest phasor's gain on every row, and the amplification on the row where it is largest."""
    h = activations.rows("pre_norm").to(settings.device)
    b = rows_batch("real pre_norm", h, fmt, EPS)
    s = mrs_scale(b.h.double(), EPS)
    gains = (s * radial_gain(b, choose(b, 1, settings.seed))[0]).squeeze(-1)
    predicted = amplification(b.h.double(), EPS)
    row = int(predicted.argmax())
    explicit = jacobian(b.h[row].double(), EPS)
    left, singular, _ = torch.linalg.svd(explicit * s[row])
    v = left[:, 0].to(fmt.dtype)
    back = input_gradient(partial(mrs_norm, eps=EPS), b.h[row], v).double()
    amplified = (torch.linalg.vector_norm(back) / torch.linalg.vector_norm(v.double()) * s[row]).item()
    decomposed, closed = singular[0].item(), predicted[row].item()
    disagreement = abs(decomposed - closed) / (roundings(len(explicit), FP64) * decomposed)
    least, rows_below = gains.min().item(), int((gains < GAIN_BELOW).sum())
    ratios = torch.tensor([least / GAIN_BELOW, AMPLIFIED_ABOVE / amplified, disagreement])
    return Measurement(
        kind="experiment",
        statement="on real activations",
        scope=(
            f"{len(h)} rows of a sentence encoder's residual stream, P = {b.phasors}, eps = {EPS:g}: on some row the "
            f"largest phasor's gain is below {GAIN_BELOW}/S, and the operator norm of J is above {AMPLIFIED_ABOVE:g}/S"
        ),
        worst=ratios.max().item(),  # NaN if one of them is
        trials=len(h),
        dtype=fmt.name,
        device=settings.device,
        seed=settings.seed,
        detail=(
            f"largest phasor's gain down to {least:.3f}/S, below {GAIN_BELOW}/S on {rows_below} rows; "
            f"operator norm of J up to {decomposed:.2f}/S (decomposition), {closed:.2f}/S (closed form), "
            f"{amplified:.2f}/S reached in {fmt.name}; ceiling {b.phasors**0.5:.2f}/S"
        ),
        witness={"row": row, "S": s[row].item(), "largest r": torch.linalg.vector_norm(b.z[row], dim=-1).max().item()},
    )


MUTANTS = {
    "without 1/P": lambda z, eps: (1 - torch.linalg.vector_norm(z, dim=-1) / scale(z, eps)) / scale(z, eps),
    "sign flipped": lambda z, eps: (
        (1 + torch.linalg.vector_norm(z, dim=-1) / (z.shape[-2] * scale(z, eps))) / scale(z, eps)
    ),
    "not divided by S": lambda z, eps: 1 - torch.linalg.vector_norm(z, dim=-1) / (z.shape[-2] * scale(z, eps)),
    "blocked": lambda z, eps: torch.zeros_like(z[..., 0]),
    "eps forgotten": lambda z, eps: (
        (1 - torch.linalg.vector_norm(z, dim=-1) / (z.shape[-2] * scale(z, 0.0))) / scale(z, 0.0)
    ),
    "the tangential gain": lambda z, eps: (1 / scale(z, eps)).expand(z.shape[:-1]),
    "all NaN": lambda z, eps: torch.full_like(z[..., 0], torch.nan),
}
LEAST_MUTANTS = {
    "1/S": lambda s: 1 / s,
    "one tenth more": lambda s: 1.1 / (2 * s),
    "NaN": lambda s: s * torch.nan,
}
