"""The derivatives of S = psi(mean phi(r)) + eps for unknown differentiable phi and psi, proved for every P.

With m = mean phi(r_k), u_i = z_i / r_i, zhat_k = z_k / S, Omega = (1/P) sum_k gamma_k g_k . zhat_k and upstream
gradients g_k = dL/do_k of o_k = gamma_k z_k / S:

    dL/dz_i   = (gamma_i g_i - psi'(m) phi'(r_i) Omega u_i) / S
    do_i/dz_i = (gamma_i / S) (I - psi'(m) phi'(r_i) u_i zhat_i^T / P)
    do_i/dz_j = -(gamma_i / S) psi'(m) phi'(r_j) zhat_i u_j^T / P,  j != i
    u_i . (d zhat_i/dz_i) u_i = (1/S) (1 - psi'(m) phi'(r_i) r_i / (P S)),  the radial gain

wherever S and the magnitudes by which is differentiated are not zero. Each is derived by differentiating the definition
and compared with the form above, phi and psi staying symbols; so every particular phi and psi is an instance. The same
holds over N scalar channels, with r = |x| and u = sign(x), and with eps inside: S = psi(mean phi(r) + eps).

With J the Jacobian for gamma = 1, v a vector with grad S . v = 0 gives J v = v / S. On what is left, the span of z and
grad S, the two singular values of S J are t_1 >= 1 >= t_2 with

    t_1 t_2 = |1 - kappa|,   t_1^2 + t_2^2 = 2 - 2 kappa + omega^2,
    kappa = psi'(m) mean(r phi'(r)) / S,   omega = psi'(m) rms(r) rms(phi'(r)) / S,

because S J = I - z (grad S)^T / S is a perturbation of I of rank one, with z . grad S = kappa S and
|z| |grad S| = omega S. The larger one is the operator norm, except over a single channel, where the norm is t_1 t_2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import sympy as sp
from sympy.tensor.indexed import IndexedBase

from theory.analysis.opaque import Equality
from theory.phasors import (
    N,
    P,
    VectorFamily,
    apart,
    derivative,
    e,
    eps,
    g,
    gamma,
    gradient,
    i,
    index_sum,
    j,
    jacobian,
    vector_family,
    z,
)


class PhiPrime(sp.Function):
    """phi', for an unknown phi."""

    is_real = True


class Phi(sp.Function):
    """An unknown phi."""

    is_real = True

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """phi'."""
        return PhiPrime(self.args[0])


class PsiPrime(sp.Function):
    """psi', for an unknown psi."""

    is_real = True


class Psi(sp.Function):
    """An unknown psi."""

    is_real = True

    def fdiff(self, argindex: int = 1) -> sp.Expr:
        """psi'."""
        return PsiPrime(self.args[0])


@dataclass(frozen=True)
class Blocks:
    """What is normalized: phasors of two coordinates, or scalar channels."""

    name: str
    inputs: VectorFamily
    upstream: VectorFamily
    length: sp.Symbol


PHASORS, CHANNELS = "phasors", "channels"


@cache
def blocks(over: str) -> Blocks:
    """The families of vectors; those of channels are declared when they are first asked for."""
    if over == PHASORS:
        return Blocks(over, z, g, P)
    return Blocks(over, vector_family("x_c", "a"), VectorFamily((e,), IndexedBase("|e|", nonnegative=True)), N)


@dataclass(frozen=True)
class General:
    """The quantities of the general normalizer, as derived and in closed form."""

    over: str
    inside: bool

    @property
    def blocks(self) -> Blocks:
        """What is normalized."""
        return blocks(self.over)

    @property
    def argument(self) -> sp.Expr:
        """What psi is applied to: the mean m, or m + eps."""
        mean = index_sum(lambda k: Phi(self.blocks.inputs.r[k]), self.blocks.length) / self.blocks.length
        return mean + eps if self.inside else mean

    @property
    def scale(self) -> sp.Expr:
        """S."""
        return Psi(self.argument) + (0 if self.inside else eps)

    def rate(self, index: sp.Symbol) -> sp.Expr:
        """psi'(m) phi'(r): P times the derivative of S in a magnitude."""
        return PsiPrime(self.argument) * PhiPrime(self.blocks.inputs.r[index])

    @property
    def omega(self) -> sp.Expr:
        """Omega, the mean projection of the weighted upstream gradient on the normalized input."""
        inputs, upstream, length = self.blocks.inputs, self.blocks.upstream, self.blocks.length
        return index_sum(lambda k: gamma[k] * upstream[k].dot(inputs[k]), length) / (length * self.scale)

    def gradient(self) -> sp.Matrix:
        """dL/dz_i."""
        inputs, upstream = self.blocks.inputs, self.blocks.upstream
        return (gamma[i] * upstream[i] - self.rate(i) * self.omega * inputs.unit(i)) / self.scale

    def own_block(self) -> sp.Matrix:
        """do_i/dz_i."""
        inputs, length = self.blocks.inputs, self.blocks.length
        inner = self.rate(i) * inputs.unit(i) * inputs[i].T / (length * self.scale)
        return gamma[i] * (sp.eye(len(inputs.components)) - inner) / self.scale

    def cross_block(self) -> sp.Matrix:
        """do_i/dz_j for j != i."""
        inputs, length = self.blocks.inputs, self.blocks.length
        return -gamma[i] * self.rate(j) * inputs[i] * inputs.unit(j).T / (length * self.scale**2)

    def radial_gain(self) -> sp.Expr:
        """How much of a change of r_i reaches the magnitude of zhat_i."""
        inputs, length = self.blocks.inputs, self.blocks.length
        return (1 - self.rate(i) * inputs.r[i] / (length * self.scale)) / self.scale


@cache
def proved(over: str, inside: bool) -> bool:
    """Whether differentiation of the definition gives the four closed forms, for every P and all phi and psi."""
    general = General(over, inside)
    inputs, upstream, length = general.blocks.inputs, general.blocks.upstream, general.blocks.length
    scale = general.scale
    loss = index_sum(lambda k: gamma[k] * upstream[k].dot(inputs[k]), length) / scale
    own = jacobian(inputs[i] / scale, inputs, i)
    pairs = [
        *zip(gradient(loss, inputs, i), general.gradient(), strict=True),
        *zip(gamma[i] * own, general.own_block(), strict=True),
        *zip(apart(jacobian(gamma[i] * inputs[i] / scale, inputs, j)), general.cross_block(), strict=True),
        ((inputs.unit(i).T * own * inputs.unit(i))[0], general.radial_gain()),
        *(
            (derivative(scale, component[i]), general.rate(i) * component[i] / inputs.r[i] / length)
            for component in inputs.components
        ),
    ]
    same = Equality()
    return all(same(derived, closed) for derived, closed in pairs)


def instance(expr: sp.Expr | sp.Matrix, functions: dict[type, sp.Lambda]) -> sp.Expr | sp.Matrix:
    """The expression for a particular phi and psi: each unknown function replaced."""
    for unknown, known in functions.items():
        expr = expr.replace(unknown, known)
    return expr
