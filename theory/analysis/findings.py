"""Everything that is found out about a normalizer: its derivatives here, its bounds and edges in their own files."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from theory.analysis.bounds import bounds
from theory.analysis.edges import edges
from theory.analysis.finding import (
    ASSUMED,
    DERIVED,
    NOT_DERIVED,
    PROVED,
    Context,
    Finding,
    Omega,
    S,
    finding,
    formula,
    g_i,
    gamma_i,
    r_i,
    r_j,
    u_i,
)
from theory.analysis.floats import evaluate
from theory.analysis.general import PHASORS, proved
from theory.analysis.normalizer import Normalizer, r
from theory.analysis.positivity import at_zero


def findings(normalizer: Normalizer) -> tuple[Finding, ...]:
    """Everything that is found out about a normalizer, in a fixed order."""
    c = Context(normalizer)
    return (*_scale(c), *_derivatives(c), *_uniform(c), *bounds(c), *edges(c))


def _scale(c: Context) -> Iterator[Finding]:
    inner = formula(c.normalizer.phi.xreplace({r: sp.Symbol("r_k", positive=True)}))
    says = f"m is the mean of {inner.text} over the {c.n} {c.block}s"
    yield finding("scale", DERIVED, says, "S", c.scale)
    if c.normalizer.positive or (c.mean and c.mean.form.is_positive):
        yield Finding("positivity", DERIVED, "S > 0 for every input that is not zero")
    else:
        says = "S > 0 for every input that is not zero could not be shown; no point was found where it fails"
        yield Finding("positivity", ASSUMED, says)


def _derivatives(c: Context) -> Iterator[Finding]:
    gradient = (gamma_i * g_i - c.rate(r_i) * Omega * u_i) / S
    says = f"wherever S != 0 and {_nonzero(c.normalizer)}; Omega = (1/{c.n}) sum_k gamma_k g_k . z_k / S"
    if c.normalizer.over != PHASORS:
        says += "; z_i is the channel x_i, r_i = |x_i|, u_i = sign(x_i)"
    yield finding("input gradient", _basis(c), says, "dL/dz_i", gradient)
    own, cross = (formula(c.rate(magnitude) / c.n) for magnitude in (r_i, r_j))
    yield Finding(
        "own block",
        _basis(c),
        "the derivative of an output by its own input",
        f"do_i/dz_i = (gamma_i/S)*(I - {_factor(own.text)}u_i zhat_i^T)",
        rf"\frac{{\partial o_i}}{{\partial z_i}} = \frac{{\gamma_i}}{{S}}"
        rf"\left(I - {own.latex}\, u_i \hat z_i^\top\right)",
    )
    yield Finding(
        "cross block",
        _basis(c),
        "the derivative of an output by another input, j != i",
        f"do_i/dz_j = -(gamma_i/S)*{_factor(cross.text)}zhat_i u_j^T",
        rf"\frac{{\partial o_i}}{{\partial z_j}} = -\frac{{\gamma_i}}{{S}} {cross.latex}\, \hat z_i u_j^\top",
    )
    gain = (1 - c.rate(r_i) * r_i / (c.n * S)) / S
    yield finding("radial gain", _basis(c), "how much of a change of r_i reaches |zhat_i|", "gain_i", gain)


def _uniform(c: Context) -> Iterator[Finding]:
    norm = sp.Abs(c.rate(r_i)) * sp.Abs(Omega) / S
    yield finding(
        "interference", _basis(c), "the norm of what is subtracted from gamma_i g_i / S", "|interference_i|", norm
    )
    rate = sp.expand(c.normalizer.dphi)
    name, whole = "uniform interference", f"every input with n >= 2 {c.block}s and Omega != 0"
    if not rate.has(r):
        yield Finding(name, DERIVED, f"uniform: the same for every {c.block}, at every input, since phi' is constant")
        return
    if c.mean and c.normalizer.parameters and c.mean.order.free_symbols:
        yield Finding(name, DERIVED, f"uniform for {whole} iff {sp.sstr(c.mean.order)} = 1")
        return
    found = _two_rates(c, rate)
    if found is None:
        yield Finding(name, NOT_DERIVED, "whether phi' is constant was not settled")
    else:
        (a, first), (b, second) = found
        yield Finding(name, DERIVED, f"not uniform: phi'({a:g}) = {first:.6g}, phi'({b:g}) = {second:.6g}")


def _two_rates(c: Context, rate: sp.Expr) -> tuple | None:
    values = dict.fromkeys(c.normalizer.parameters, 1.5)
    points = [(a, float(evaluate(rate, {**values, r: a}))) for a in (2.0, 0.5, 3.0, 0.25, 5.0)]
    usable = [(a, value) for a, value in points if abs(value) < 1e12]
    pairs = [(p, q) for p in usable for q in usable if abs(p[1] - q[1]) > 1e-6 * (abs(p[1]) + abs(q[1]))]
    return pairs[0] if pairs else None


def _basis(c: Context) -> str:
    return PROVED if proved(c.normalizer.over, c.normalizer.inside) else NOT_DERIVED


def _nonzero(normalizer: Normalizer) -> str:
    places = "z_i != 0" if at_zero(normalizer.phi, r) is not None else "every z_k != 0"
    kinks = normalizer.dphi.has(sp.Heaviside, sp.sign) or normalizer.dpsi.has(sp.Heaviside, sp.sign)
    return f"{places}, away from the kinks of phi and psi" if kinks else places


def _factor(text: str) -> str:
    """A coefficient as a factor in a product."""
    return "" if text == "1" else f"({text})*"
