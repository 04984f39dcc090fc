"""What a normalizer does at zero and under one outlier."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from theory.analysis.family import t
from theory.analysis.finding import (
    DERIVED,
    NOT_DERIVED,
    A,
    Context,
    Finding,
    eps,
    finding,
    g_i,
    gamma_i,
    r_i,
)
from theory.analysis.normalizer import r
from theory.analysis.positivity import at_zero

_ZERO = "for eps > 0; at eps = 0 the output is 0/0"
_ZERO_ANY = "S does not vanish there, whatever eps is"


def edges(c: Context) -> Iterator[Finding]:
    """Behaviour at h = 0, at z_i = 0, and as one magnitude grows."""
    yield from _at_zero(c)
    yield from _outlier(c)


def _at_zero(c: Context) -> Iterator[Finding]:
    start = at_zero(c.normalizer.phi, r)
    scale = None if start is None else at_zero(c.normalizer.psi.xreplace({c.normalizer.m: start + t}), t)
    if scale is None:
        yield Finding("at h = 0", NOT_DERIVED, "phi or psi has no value there that could be written down")
    elif c.normalizer.inside:
        whole = c.scale.xreplace({c.normalizer.m: start})
        yield finding("at h = 0", DERIVED, _ZERO if scale == 0 else _ZERO_ANY, "dL/dz_i", gamma_i * g_i / whole)
    else:
        gradient = gamma_i * g_i / (scale + eps)
        yield finding("at h = 0", DERIVED, _ZERO if scale == 0 else _ZERO_ANY, "dL/dz_i", gradient)
    yield _at_one_zero(c)


def _at_one_zero(c: Context) -> Finding:
    name, beside = "at z_i = 0", "beside inputs that are not zero"
    order = c.mean.order if c.mean else None
    slope = at_zero(c.normalizer.dphi, r)
    if slope is not None and slope.is_number:
        exists = "the gradient exists" if slope == 0 else "there is no gradient unless Omega = 0"
        return Finding(name, DERIVED, f"{beside} {exists}: phi'(0) = {sp.sstr(slope)}")
    if order is not None and order.is_nonpositive:
        return Finding(name, DERIVED, "S has no value there: phi(r) is unbounded as r -> 0")
    if order is not None and order.is_number and order < 1:
        return Finding(name, DERIVED, f"{beside} the interference is unbounded: phi'(r) is, as r -> 0")
    if order is not None and order.is_positive:
        p = sp.sstr(order)
        says = (
            f"the gradient exists if {p} > 1, for {p} = 1 only if Omega = 0; for {p} < 1 the interference is unbounded"
        )
        return Finding(name, DERIVED, says)
    return Finding(name, NOT_DERIVED, "phi'(r) as r -> 0 was not found")


def _outlier(c: Context) -> Iterator[Finding]:
    name = "one outlier"
    mean = c.mean
    if mean is None or mean.degree is None or not mean.order.is_positive:
        yield Finding(name, NOT_DERIVED, "only for S that is homogeneous and a power mean of positive order")
        return
    growth = mean.constant * (A * c.n ** (-1 / mean.order)) ** mean.degree
    yield finding(name, DERIVED, "r_1 = A -> oo, the others fixed: S grows as", "S", sp.powsimp(growth, force=True))
    left = 1 - mean.degree
    yield finding("gain of the outlier", DERIVED, "S times its own radial gain tends to", "S*gain_1", left)
    says = "psi'(m) phi'(r_i) at another input, the weight of the interference there, behaves as"
    weight = mean.constant * mean.degree * (A * c.n ** (-1 / mean.order)) ** (mean.degree - mean.order)
    yield finding("interference beside it", DERIVED, says, "weight_i", sp.powsimp(weight * r_i ** (mean.order - 1)))
