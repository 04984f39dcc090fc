"""Eq. 5: what MRSNorm passes back to its input.

Claim, for all P >= 1, all weights, all upstream gradients g and all eps >= 0, at phasors z_i != 0:

    dL/dz_i = (gamma_i g_i - u_i Omega) / S,   Omega = (1/P) sum_k gamma_k g_k . zhat_k,   zhat_k = z_k / S.

Source: section 5.1, Eq. 5.
Route: differentiation of the loss sum_k g_k . o_k with the number of phasors left symbolic.

The symbol zhat means something else in Eq. 2, the output after the affine weight. Read that way, Eq. 5 counts gamma
twice; the difference is a sum with the factors gamma_k (gamma_k - 1), so weights of 0 and 1 do no harm. At z_i = 0 the
slopes along d and along -d add up to -2 Omega / S for every direction d, so a gradient exists only if Omega = 0.
"""

import sympy as sp

from theory.exact import point
from theory.norms import loss, mean_magnitude
from theory.phasors import P, derivative, eps, g, gamma, gradient, i, index_sum, phi, z
from theory.proof import Step
from theory.statements import Condition, Identity, refute

S = mean_magnitude(z)


def derived() -> sp.Matrix:
    """dL/dz_i by differentiation, two components."""
    return gradient(loss(z, g, S), z, i)


def omega() -> sp.Expr:
    """Omega, the mean projection of the weighted upstream gradient on the normalized phasors."""
    return index_sum(lambda k: gamma[k] * g[k].dot(z[k] / S)) / P


def printed() -> sp.Matrix:
    """Eq. 5 with zhat_k = z_k / S."""
    return (gamma[i] * g[i] - z.unit(i) * omega()) / S


def post_affine() -> sp.Matrix:
    """Eq. 5 read with the zhat_k that Eq. 2 defines, gamma_k z_k / S."""
    doubled = index_sum(lambda k: gamma[k] * g[k].dot(gamma[k] * z[k] / S)) / P
    return (gamma[i] * g[i] - z.unit(i) * doubled) / S


def one_sided_slope(direction: tuple[sp.Expr | int, sp.Expr | int]) -> sp.Expr:
    """The derivative of L at z_i = 0 along z_i = t d, t >= 0, for a unit vector d (the other phasors as they are)."""
    t = sp.Symbol("t", nonnegative=True)
    upper = index_sum(lambda k: gamma[k] * g[k].dot(z[k])) + t * gamma[i] * g[i].dot(sp.Matrix(direction))
    lower = (index_sum(lambda k: z.r[k]) + t) / P + eps
    return derivative(upper / lower, t).subs(t, 0)


def _both_ways(direction: tuple[sp.Expr, sp.Expr]) -> sp.Expr:
    return one_sided_slope(direction) + one_sided_slope((-direction[0], -direction[1]))


_POST_AFFINE = Identity("Eq. 5 with post-affine zhat", "", lambda: (derived(), post_affine()))
_SLOPES = Identity("a two-sided slope at z_i = 0", "", lambda: (one_sided_slope((1, 0)), -one_sided_slope((-1, 0))))

CONDITIONS = (
    Condition(
        "zhat_k is taken before the affine weight (z_k / S, not Eq. 2's gamma_k z_k / S)",
        lambda: refute(_POST_AFFINE, point({eps: 0}, z=[(1, 0)], g=[(1, 0)], gamma=[2])),
    ),
    Condition(
        "z_i != 0",
        lambda: refute(_SLOPES, point({eps: 0}, z=[(0, 0), (1, 0)], g=[(0, 0), (1, 0)], gamma=[1, 1])),
        lambda at: at[z.r[i]] != 0,
    ),
)

STATEMENTS = (
    Identity(
        "as printed",
        "dL/dz_i = (gamma_i g_i - u_i Omega) / S",
        lambda: (derived(), printed()),
        CONDITIONS,
        nonzero=(S, z.r[i]),
        derivation=lambda: [Step("the loss with upstream gradient g", loss(z, g, S)), Step("Omega", omega())],
    ),
    Identity(
        "error of the post-affine reading",
        "true minus post-affine: u_i sum gamma_k (gamma_k - 1) g_k . z_k / (P S^2), 0 if every gamma_k is 0 or 1",
        lambda: (
            derived() - post_affine(),
            z.unit(i) * index_sum(lambda k: gamma[k] * (gamma[k] - 1) * g[k].dot(z[k])) / (P * S**2),
        ),
        nonzero=(S, z.r[i]),
    ),
    Identity(
        "no gradient at z_i = 0",
        "the slopes along d and -d at z_i = 0 add up to -2 Omega / S, not to 0, for every unit d = (cos, sin)(phi_i)",
        lambda: (_both_ways((sp.cos(phi[i]), sp.sin(phi[i]))), -2 * omega() / S),
        nonzero=(S,),
    ),
)

MUTANTS = {
    "without 1/P": lambda: (gamma[i] * g[i] - z.unit(i) * P * omega()) / S,
    "sign flipped": lambda: (gamma[i] * g[i] + z.unit(i) * omega()) / S,
    "zhat for u": lambda: (gamma[i] * g[i] - z[i] / S * omega()) / S,
    "post-affine zhat": post_affine,
    "gamma forgotten": lambda: (g[i] - z.unit(i) * omega()) / S,
    "S held constant": lambda: gamma[i] * g[i] / S,
    "eps forgotten": lambda: derived().xreplace({eps: sp.Integer(0)}),
}
