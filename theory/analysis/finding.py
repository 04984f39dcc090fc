"""One finding about a normalizer, and what every finding is derived from.

`status` says on what a finding rests: "proved" (differentiation and the moment normal form, for every P, in
`theory.analysis.general`), "derived" (the argument in the docstrings of `general` and `family`), "assumed", or
"not derived".

Symbols: n is the number of phasors P or channels N, m = mean phi(r), r_i = |z_i|, u_i = z_i / r_i, zhat_i = z_i / S,
g_i = dL/do_i, Omega = (1/n) sum_k gamma_k g_k . zhat_k.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import sympy as sp

from theory.analysis.family import PowerMean, power_mean
from theory.analysis.general import PHASORS
from theory.analysis.normalizer import Normalizer, r
from theory.phasors import N, P

PROVED, DERIVED, ASSUMED, NOT_DERIVED = "proved", "derived", "assumed", "not derived"

eps = sp.Symbol("eps", nonnegative=True)
S, r_i, r_j, A = sp.symbols("S r_i r_j A", positive=True)
gamma_i, g_i, u_i, Omega = sp.symbols("gamma_i g_i u_i Omega", real=True)
MEAN_RATE, RMS_R, RMS_RATE = sp.symbols("mean_r_dphi rms_r rms_dphi", real=True)
LATEX = {
    eps: r"\epsilon",
    gamma_i: r"\gamma_i",
    Omega: r"\Omega",
    MEAN_RATE: r"\overline{r \phi'(r)}",
    RMS_R: r"\operatorname{rms}(r)",
    RMS_RATE: r"\operatorname{rms}(\phi'(r))",
}

LEFT = {
    "S": "S",
    "dL/dz_i": r"\frac{\partial L}{\partial z_i}",
    "gain_i": r"u_i^\top \frac{\partial \hat z_i}{\partial z_i} u_i",
    "|interference_i|": r"\left|\frac{\gamma_i g_i}{S} - \frac{\partial L}{\partial z_i}\right|",
    "degree": "d",
    "sup |o_i|/|gamma_i|": r"\sup \frac{|o_i|}{|\gamma_i|}",
    "sup |qhat . khat|": r"\sup |\hat q \cdot \hat k|",
    "|J|": r"\|J\|",
    "S*gain_1": r"S \cdot u_1^\top \frac{\partial \hat z_1}{\partial z_1} u_1",
    "weight_i": r"\psi'(m) \phi'(r_i)",
}  # what a formula is for, in text and in LaTeX


@dataclass(frozen=True)
class Finding:
    """One quantity: its name, its basis, what is said about it, and its formula (empty texts if there is none)."""

    name: str
    status: str
    says: str
    text: str = ""
    latex: str = ""
    formula: sp.Expr | None = None


@dataclass(frozen=True)
class Context:
    """A normalizer with what all its findings need."""

    normalizer: Normalizer

    @property
    def n(self) -> sp.Symbol:
        """The number of phasors or channels."""
        return P if self.normalizer.over == PHASORS else N

    @property
    def block(self) -> str:
        """What one input is called."""
        return "phasor" if self.normalizer.over == PHASORS else "channel"

    @cached_property
    def mean(self) -> PowerMean | None:
        """The power mean that S is a function of."""
        return power_mean(self.normalizer)

    @property
    def argument(self) -> sp.Expr:
        """What psi is applied to."""
        return self.normalizer.m + eps if self.normalizer.inside else self.normalizer.m

    @cached_property
    def dpsi(self) -> sp.Expr:
        """psi' there."""
        return self.normalizer.dpsi.xreplace({self.normalizer.m: self.argument})

    @cached_property
    def scale(self) -> sp.Expr:
        """S."""
        scale = self.normalizer.psi.xreplace({self.normalizer.m: self.argument})
        return scale if self.normalizer.inside else scale + eps

    def rate(self, magnitude: sp.Symbol) -> sp.Expr:
        """psi'(m) phi'(r)."""
        return self.dpsi * self.normalizer.dphi.xreplace({r: magnitude})


@dataclass(frozen=True)
class Shown:
    """A formula in two forms."""

    text: str
    latex: str


def formula(expr: sp.Expr) -> Shown:
    """An expression as text and as LaTeX."""
    return Shown(sp.sstr(expr), sp.latex(expr, symbol_names=LATEX))


def finding(name: str, status: str, says: str, left: str, expr: sp.Expr) -> Finding:
    """A finding that says `left` = `expr`."""
    shown = formula(expr)
    return Finding(name, status, says, f"{left} = {shown.text}", f"{LEFT[left]} = {shown.latex}", expr)
