"""Homogeneity, sharp bounds of outputs and logits, and the operator norm of a normalizer."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from theory.analysis.family import is_other, t
from theory.analysis.finding import (
    DERIVED,
    MEAN_RATE,
    NOT_DERIVED,
    RMS_R,
    RMS_RATE,
    Context,
    Finding,
    S,
    eps,
    finding,
    formula,
)
from theory.analysis.floats import evaluate
from theory.analysis.general import PHASORS


def bounds(c: Context) -> Iterator[Finding]:
    """Homogeneity, the bounds and the operator norm."""
    yield from _homogeneity(c)
    yield _output_bound(c)
    yield _logit_bound(c)
    yield from _operator_norm(c)


def _homogeneity(c: Context) -> Iterator[Finding]:
    name, invariance = "homogeneity", "scale invariance"
    if c.mean and c.mean.degree is not None:
        degree = sp.sstr(c.mean.degree)
        factor = "c" if degree == "1" else f"c^({degree})"
        yield finding(name, DERIVED, f"at eps = 0, S(c h) = {factor} S(h) for c > 0", "degree", c.mean.degree)
        if c.mean.degree == 1:
            yield Finding(invariance, DERIVED, "o(c h) = o(h) for every c > 0 iff eps = 0")
        elif c.mean.degree.is_number:
            yield Finding(invariance, DERIVED, f"none: at eps = 0, o(c h) = c^({1 - c.mean.degree}) o(h) for c > 0")
        else:
            yield Finding(invariance, DERIVED, f"iff {degree} = 1 and eps = 0")
        return
    varies = is_other(c.normalizer) or _local_degree_varies(c)
    if varies:
        yield Finding(name, DERIVED, "S is homogeneous of no degree for n >= 2, even at eps = 0")
        yield Finding(invariance, DERIVED, "none for n >= 2, even at eps = 0")
    else:
        yield Finding(name, NOT_DERIVED, "whether S is homogeneous was not settled")
        yield Finding(invariance, NOT_DERIVED, "it depends on the homogeneity")


def _local_degree_varies(c: Context) -> bool:
    if not c.mean or c.normalizer.parameters:
        return False
    degree = t * c.mean.form.diff(t) / c.mean.form
    values = [float(evaluate(degree, {t: point})) for point in (0.5, 0.75, 1.25, 2.0, 3.0)]
    finite = [value for value in values if abs(value) < 1e6]
    return len(finite) > 1 and max(finite) - min(finite) > 1e-6 * max(map(abs, finite))


def _output_bound(c: Context) -> Finding:
    return _bound(c, "output bound", lambda p: c.n ** (1 / p), 1, "|o_i|/|gamma_i|", "a single one is not zero")


def _logit_bound(c: Context) -> Finding:
    def share(p: sp.Expr) -> sp.Expr:
        return c.n ** sp.Max(2 / p, 1)

    single = "a single one is not zero" if not c.mean or c.mean.order != 2 else "any input"
    at = single if c.mean and (c.mean.order - 2).is_nonpositive else "all magnitudes are equal"
    at = at if c.mean and c.mean.order.is_number else "a single one is not zero (p <= 2) or all are equal"
    return _bound(c, "logit bound", share, 2, "|qhat . khat|", at + " and k = q")


def _bound(c: Context, name: str, share: object, times: int, left: str, attained: str) -> Finding:
    mean = c.mean
    if mean is None:
        return Finding(name, NOT_DERIVED, "phi is recognized as neither c r^p + b nor c log r + b")
    if mean.order.is_nonpositive:
        return Finding(name, DERIVED, "none for n >= 2: one magnitude can grow while S stays the same")
    if not mean.order.is_positive:
        return Finding(name, NOT_DERIVED, "the sign of the exponent is not known")
    if c.normalizer.inside and not c.normalizer.dpsi.is_nonnegative:
        return Finding(name, NOT_DERIVED, "eps is inside, and that S grows with eps was not shown")
    factor = share(mean.order)
    if mean.degree == 1:
        bound = factor / mean.constant**times
        says = f"sharp: the supremum over inputs and eps, attained at eps = 0 where {attained}"
        return finding(name, DERIVED, says, f"sup {left}", bound)
    if mean.degree is not None and mean.degree.is_number:
        if mean.degree < 1:
            return Finding(name, DERIVED, "none: |zhat| grows without bound with the input")
        if c.normalizer.inside:
            return Finding(name, NOT_DERIVED, "S is not homogeneous of degree 1, and eps is inside")
        d, c = mean.degree, mean.constant
        peak = (d - 1) / (d * eps) * (eps / ((d - 1) * c)) ** (1 / d)
        says = "sharp, for eps > 0; at eps = 0 there is none: |zhat| grows without bound as the input shrinks"
        return finding(name, DERIVED, says, f"sup {left}", sp.powsimp(factor * peak**times))
    inner = formula(mean.form).text
    power = "" if times == 1 else f"^{times}"
    says = f"no closed form: {formula(factor).text} times the supremum over t > 0 of (t/({inner} + eps)){power}"
    return Finding(name, NOT_DERIVED, says)


def _operator_norm(c: Context) -> Iterator[Finding]:
    kappa, omega = c.dpsi * MEAN_RATE / S, sp.Abs(c.dpsi) * RMS_R * RMS_RATE / S
    total = 2 - 2 * kappa + omega**2
    norm = sp.sqrt((total + sp.sqrt(total**2 - 4 * (1 - kappa) ** 2)) / 2) / S
    says = (
        "for gamma = 1; mean_r_dphi is the mean of r phi'(r), rms_r and rms_dphi are root mean squares of r and phi'(r)"
    )
    if c.normalizer.over != PHASORS:
        says += "; for N >= 2"
    first, second = formula(kappa), formula(omega)
    text = "|J| = sqrt((T + sqrt(T**2 - 4*(1 - kappa)**2))/2)/S, T = 2 - 2*kappa + omega**2"
    latex = (
        r"\|J\| = \frac{1}{S}\sqrt{\frac{T + \sqrt{T^2 - 4(1 - \kappa)^2}}{2}},\quad T = 2 - 2\kappa + \omega^2,"
        rf"\quad \kappa = {first.latex},\quad \omega = {second.latex}"
    )
    text = f"{text}, kappa = {first.text}, omega = {second.text}"
    yield Finding("operator norm", DERIVED, says, text, latex, norm)
    if c.mean and c.mean.degree == 1:
        says = "for gamma = 1 and eps = 0, where the singular values of S J are 1, 0 (along the input) and S times this"
        yield finding("operator norm at eps = 0", DERIVED, says, "|J|", omega / S)
