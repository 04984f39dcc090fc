"""blockade-untrainable: the blocked radial gradient cuts amplitude parameters off from training.

Claim: if each phasor is projected to the unit circle, o_i = gamma_i z_i / |z_i|, an amplitude parameter gets no
gradient.

Source: section 5.2.

It is no consequence of the blockade. The projection annihilates the radial gradient of z_i, but the amplitude that the
layer passes on is gamma_i, and dL/dgamma_i = g_i . u_i *is* the radial part of the error. Between them z_i and gamma_i
receive all of it, wherever gamma_i != 0:

    g_i = u_i dL/dgamma_i + (r_i / gamma_i) dL/dz_i.

With the squared error |o_i - t_i|^2 / 2, one step of rate 1 on gamma_i takes the amplitude to its optimum t_i . u_i.
What is cut off is whatever acts on r_i alone, of which the output is independent by design.
"""

import sympy as sp

from theory.exact import point
from theory.phasors import derivative, eps, g, gamma, gradient, i, index_sum, key, z
from theory.statements import Identity

LOSS = index_sum(lambda k: gamma[k] * g[k].dot(z.unit(k)))  # L = sum g_k . o_k, o_k = gamma_k u_k
TARGET = key[i]


def derived() -> sp.Expr:
    """dL/dgamma_i, by differentiation."""
    return derivative(LOSS, gamma[i])


def printed() -> sp.Expr:
    """0."""
    return sp.Integer(0)


def corrected() -> sp.Expr:
    """g_i . u_i, the radial part of the error."""
    return g[i].dot(z.unit(i))


def one_step() -> sp.Expr:
    """gamma_i after a step of rate 1 down the squared error |gamma_i u_i - t_i|^2 / 2, by differentiation."""
    error = gamma[i] * z.unit(i) - TARGET
    return gamma[i] - derivative(error.dot(error) / 2, gamma[i])


STATEMENTS = (
    Identity(
        "as printed",
        "after the projection to the unit circle an amplitude parameter has gradient 0",
        lambda: (derived(), printed()),
        nonzero=(z.r[i],),
        counterexample=point({eps: 0}, z=[(1, 0)], g=[(1, 0)], gamma=[1]),
        expects="refuted",
    ),
    Identity(
        "corrected",
        "dL/dgamma_i = g_i . u_i: the amplitude parameter receives the radial part of the error",
        lambda: (derived(), corrected()),
        nonzero=(z.r[i],),
    ),
    Identity(
        "nothing of the error is lost",
        "g_i = u_i dL/dgamma_i + (r_i / gamma_i) dL/dz_i",
        lambda: (g[i], z.unit(i) * derived() + z.r[i] / gamma[i] * gradient(LOSS, z, i)),
        nonzero=(z.r[i], gamma[i]),
    ),
    Identity(
        "the amplitude is trained",
        "one gradient step of rate 1 on |o_i - t_i|^2 / 2 takes gamma_i to its optimum t_i . u_i",
        lambda: (one_step(), TARGET.dot(z.unit(i))),
        nonzero=(z.r[i],),
    ),
)

MUTANTS = {"the radial part of the error": lambda: g[i].dot(z.unit(i))}
CORRECTED_MUTANTS = {
    "the projection on z": lambda: g[i].dot(z[i]),
    "weighted": lambda: gamma[i] * g[i].dot(z.unit(i)),
    "the tangential part": lambda: (g[i][1] * z[i][0] - g[i][0] * z[i][1]) / z.r[i],
    "zero": lambda: sp.Integer(0),
}
