"""`analyze`: what follows from a normalizer S = psi(mean phi(r)) + eps, for every number of phasors or channels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from theory.analysis.findings import Finding, findings
from theory.analysis.general import CHANNELS, PHASORS, instance
from theory.analysis.normalizer import INSIDE, OUTSIDE, ArgumentError, Normalizer, r, read
from theory.analysis.positivity import FormulaError

if TYPE_CHECKING:
    import numpy as np

NORMS = {
    "mrsnorm": ("r", "m", PHASORS, OUTSIDE),
    "mrsnorm-eq11": ("r**2", "sqrt(m)", PHASORS, INSIDE),
    "rmsnorm": ("r**2", "sqrt(m)", CHANNELS, INSIDE),
}
OTHER_FORMS = {
    "layernorm": "layernorm subtracts the mean: it is no S = psi(mean phi(r))",
    "ma-rmsnorm": "ma-rmsnorm adds alpha W log S: it is not o = gamma z / S",
}


@dataclass(frozen=True)
class Analysis:
    """The formulas, and everything found out about them.

    `scale`, `gradient` (dL/dz_i), `own_block` (do_i/dz_i), `cross_block` (do_i/dz_j, j != i), `radial_gain` and
    `interference_norm` are SymPy expressions in the families of `theory.phasors`, with sums of symbolic length.
    """

    phi: str
    psi: str
    normalizer: Normalizer
    findings: tuple[Finding, ...]

    def __getitem__(self, name: str) -> Finding:
        """The finding of this name."""
        return next(found for found in self.findings if found.name == name)

    @property
    def settled(self) -> bool:
        """Whether S > 0 was shown, and not only assumed."""
        return self["positivity"].status != "assumed"

    @cached_property
    def scale(self) -> sp.Expr:
        """S."""
        return self._instance(self.normalizer.general.scale)

    @cached_property
    def gradient(self) -> sp.Matrix:
        """dL/dz_i, one entry a coordinate."""
        return self._instance(self.normalizer.general.gradient())

    @cached_property
    def own_block(self) -> sp.Matrix:
        """do_i/dz_i."""
        return self._instance(self.normalizer.general.own_block())

    @cached_property
    def cross_block(self) -> sp.Matrix:
        """do_i/dz_j for j != i."""
        return self._instance(self.normalizer.general.cross_block())

    @cached_property
    def radial_gain(self) -> sp.Expr:
        """The derivative of |z_i| / S by |z_i|."""
        return self._instance(self.normalizer.general.radial_gain())

    @cached_property
    def interference_norm(self) -> sp.Expr:
        """The norm of what is subtracted from gamma_i g_i / S in the gradient."""
        from theory.phasors import i

        general = self.normalizer.general
        return self._instance(sp.Abs(general.rate(i)) * sp.Abs(general.omega) / general.scale)

    def _instance(self, expr: sp.Expr | sp.Matrix) -> sp.Expr | sp.Matrix:
        return instance(expr, self.normalizer.functions)

    def numpy_gradient(
        self, z: np.ndarray, gamma: np.ndarray, g: np.ndarray, eps: float, **parameters: float
    ) -> np.ndarray:
        """dL/dz in floating point, for one vector.

        Args:
            z: the input, (P, 2) over phasors and (N,) over channels.
            gamma: the weights, (P,) or (N,).
            g: dL/do, of the shape of z.
            eps: eps >= 0.
            parameters: a value for each parameter that has none.

        Returns:
            dL/dz, of the shape of z. At an entry that is zero u is taken as 0, as torch's vector_norm does; it is NaN
            where phi'(0) is not finite.

        Raises:
            ArgumentError: shapes do not fit, or a parameter has no value.
        """
        import numpy as np

        from theory.analysis.floats import evaluate

        z, gamma, g = (np.asarray(value, dtype=np.float64) for value in (z, gamma, g))
        self._check(z, gamma, g, parameters)
        pairs = z.reshape(len(z), -1)  # (n, 2) or (n, 1)
        upstream = g.reshape(pairs.shape)
        values = {symbol: np.float64(parameters[symbol.name]) for symbol in self.normalizer.parameters}
        magnitudes = np.hypot(pairs[:, 0], pairs[:, 1]) if pairs.shape[1] == 2 else np.abs(pairs[:, 0])
        normalizer, m = self.normalizer, self.normalizer.m
        mean = np.mean(evaluate(normalizer.phi, {**values, r: magnitudes}))
        argument = {**values, m: mean + eps if normalizer.inside else mean}
        scale = evaluate(normalizer.psi, argument) + (0.0 if normalizer.inside else eps)
        slope = evaluate(normalizer.dphi, {**values, r: magnitudes})  # one number where phi' is constant
        rate = np.broadcast_to(evaluate(normalizer.dpsi, argument) * slope, magnitudes.shape)
        with np.errstate(all="ignore"):
            units = np.where(magnitudes[:, None] > 0, pairs / magnitudes[:, None], 0.0)
            omega = np.sum(gamma[:, None] * upstream * pairs) / (len(pairs) * scale)
            gradient = (gamma[:, None] * upstream - (rate * omega)[:, None] * units) / scale
        return gradient.reshape(z.shape)

    def _check(self, z: np.ndarray, gamma: np.ndarray, g: np.ndarray, parameters: Mapping[str, float]) -> None:
        expected = "(P, 2)" if self.normalizer.over == PHASORS else "(N,)"
        fits = z.ndim == 2 and z.shape[1] == 2 if self.normalizer.over == PHASORS else z.ndim == 1
        if not fits or len(z) == 0:
            raise ArgumentError("z", z.shape, f"shape {expected} with at least one entry")
        if gamma.shape != z.shape[:1] or g.shape != z.shape:
            raise ArgumentError("gamma, g", (gamma.shape, g.shape), f"shapes {z.shape[:1]} and {z.shape}")
        names = {symbol.name for symbol in self.normalizer.parameters}
        if names != set(parameters):
            raise ArgumentError("parameters", sorted(parameters), f"a value for each of {sorted(names)}")


def known(norm: str) -> tuple[str, str, str, str]:
    """(phi, psi, over, eps) of a known normalizer.

    Raises:
        ArgumentError: there is none of this name, or it has another form.
    """
    if norm not in NORMS:
        reason = f" ({OTHER_FORMS[norm]})" if norm in OTHER_FORMS else ""
        raise ArgumentError("norm", norm, f"{', '.join(NORMS)}{reason}")
    return NORMS[norm]


def run(phi: str, psi: str, over: str, eps: str, parameters: Iterable[str] | Mapping[str, Any]) -> Analysis:
    """The analysis of two formulas; see `theory.analysis.analyze`."""
    try:
        normalizer = read(phi, psi, over, eps, parameters)
        return Analysis(phi, psi, normalizer, findings(normalizer))
    except (FormulaError, ArgumentError):
        raise
    except (ValueError, TypeError) as error:  # SymPy's own, for example from an exponent that is a Min
        reason = f"with psi = {psi} it is beyond what SymPy can handle ({error})"
        raise FormulaError("phi", phi, reason) from error
