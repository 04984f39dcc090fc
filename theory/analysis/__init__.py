"""Analyses of normalizers, and decisions about hand-derived formulas, for every number of channels.

`analyze` derives what follows from a normalizer S = psi(mean phi(r)) + eps; `check` decides whether a formula is the
derivative of a known layer. Both read formulas by an allow-list (`theory.expressions`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theory.analysis.analysis import Analysis
    from theory.analysis.checking import Check

__all__ = ["analyze", "check"]


def analyze(
    phi: str | None = None,
    psi: str | None = None,
    over: str = "phasors",
    *,
    eps: str = "outside",
    norm: str | None = None,
    parameters: Iterable[str] | Mapping[str, Any] = (),
) -> Analysis:
    """What follows from a normalizer S = psi(mean phi(r)) + eps, o_i = gamma_i z_i / S, for every number of inputs.

    Args:
        phi: a formula in r, the magnitude of a phasor (or of a scalar channel).
        psi: a formula in m, the mean of phi(r).
        over: "phasors" (z_i of two coordinates) or "channels" (scalars).
        eps: "outside" for psi(m) + eps, "inside" for psi(m + eps).
        norm: a known normalizer instead: "mrsnorm", "mrsnorm-eq11" (appendix A's S) or "rmsnorm".
        parameters: names of positive parameters of phi and psi, or names with values.

    Returns:
        An `Analysis`: SymPy expressions, `findings` in words, and `numpy_gradient`.

    Raises:
        theory.analysis.normalizer.FormulaError: a formula cannot be read, or S vanishes, is negative or complex.
        theory.analysis.normalizer.ArgumentError: another argument is not accepted.
    """
    from theory.analysis.analysis import known, run
    from theory.analysis.normalizer import ArgumentError

    if norm is not None:
        if phi is not None or psi is not None or parameters or (over, eps) != ("phasors", "outside"):
            raise ArgumentError("norm", norm, "no phi, psi, over, eps or parameters beside it")
        phi, psi, over, eps = known(norm)
    if phi is None or psi is None:
        raise ArgumentError("phi and psi", (phi, psi), "a formula for each, or norm")
    return run(phi, psi, over, eps, parameters)


def check(
    norm: str,
    *,
    gradient: str | None = None,
    weight_gradient: str | None = None,
    jacobian: str | None = None,
) -> Check:
    """Decides whether a formula is the derivative of a layer, for every number of channels.

    Args:
        norm: "rmsnorm", "layernorm", "mrsnorm" or "ma-rmsnorm"; `theory.analysis.layers` has their definitions.
        gradient: dL/dx_i for upstream gradients g_k = dL/do_k, one row; for mrsnorm the vector dL/dz_i, or its first
            coordinate.
        weight_gradient: dL/dgamma_i, one row.
        jacobian: do_i/dx_j, with `delta(i, j)`; for mrsnorm the 2 x 2 block do_i/dz_j, with `I` and `outer(a, b)`.

    Returns:
        A `Check`: `status` is "proved", "refuted" or "undecided", `outcome.witness` an exact point, `mistake` a name.

    Raises:
        theory.analysis.normalizer.ArgumentError: there is no such layer, or not exactly one formula.
        theory.syntax.ExpressionError: the formula cannot be read; it carries the position.
    """
    from theory.analysis.checking import decide
    from theory.analysis.layers import GRADIENT, JACOBIAN, LAYERS, WEIGHT_GRADIENT
    from theory.analysis.normalizer import ArgumentError

    if norm not in LAYERS:
        raise ArgumentError("norm", norm, ", ".join(LAYERS))
    formulas = {GRADIENT: gradient, WEIGHT_GRADIENT: weight_gradient, JACOBIAN: jacobian}
    given = {target: formula for target, formula in formulas.items() if formula is not None}
    if len(given) != 1:
        raise ArgumentError("check", ", ".join(given) or "no formula", f"exactly one of {', '.join(formulas)}")
    ((target, formula),) = given.items()
    return decide(norm, target, formula)
