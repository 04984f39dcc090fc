"""clipper: the layer acts as a gradient clipper that is built in.

Claim: however large the upstream gradient is, the input gradient stays below a threshold C.

Source: abstract; section 1.

False for every C: the backward pass is linear in the upstream gradient, c g upstream gives c times the input gradient,
and an upstream gradient of weighted length 2 C S across z_i gives an input gradient of length 2 C. Nothing is clipped.
What exists is a gain that does not depend on g: |dL/dz_i| <= (2 - eps/S) M / S, M = max |gamma_k| |g_k|.

Nor is the gain of the whole layer smaller than RMSNorm's. In the 2-norm, with unit weights, RMSNorm's is at most
1 / S_RMS. MRSNorm's is at least 1 / S for P >= 2, and at eps = 0 the upstream gradient zhat - u is amplified by
(rms(r) / mean(r)) / S, which tends to sqrt(P) / S under one outlier (see isometry).
"""

from dataclasses import replace

import sympy as sp

from theory.certificate import Nonneg, known, over, plus, positive, square, times
from theory.exact import evaluate, point
from theory.lemmas import lemma
from theory.mrsnorm import homogeneity
from theory.mrsnorm.eq04 import rational_root
from theory.mrsnorm.eq05 import S
from theory.norms import loss, mean_magnitude, root_mean_square
from theory.phasors import N, P, derivative, e, eps, g, gamma, gradient, h, i, index_sum, substitute, z
from theory.statements import Hypothesis, Identity, Inequality

S_0 = mean_magnitude(z, sp.Integer(0))
S_RMS = root_mean_square(h)
c = sp.Symbol("c", positive=True)
C = sp.Symbol("C", positive=True)  # the threshold


def scaled_gradient() -> sp.Matrix:
    """dL/dz_i for the upstream gradient c g, by differentiation."""
    upstream = {base: (lambda k, b=base: c * b[k]) for base in (*g.components, g.r)}
    return gradient(substitute(loss(z, g, S), upstream), z, i)


def derived() -> sp.Expr:
    """|dL/dz_i|^2 for the upstream gradient c g."""
    return scaled_gradient().dot(scaled_gradient())


def printed() -> sp.Expr:
    """What a clipper would guarantee for every c: C^2."""
    return C**2


def corrected() -> sp.Matrix:
    """What dL/dz_i is for the upstream gradient c g: c times what it is for g."""
    return c * gradient(loss(z, g, S), z, i)


def over_the_threshold() -> sp.Expr:
    """|dL/dz_i|^2 for gamma_i g_i = 2 C S v, v the unit vector across z_i, and no other upstream gradient."""
    own = gradient(gamma[i] * g[i].dot(z[i]) / S, z, i)
    across = 2 * C * S / gamma[i] * sp.Matrix([-z[i][1], z[i][0]]) / z.r[i]
    own = own.xreplace(dict(zip(g[i], across, strict=True)))
    return own.dot(own)


def rms_energy() -> sp.Expr:
    """sum_k (dL/dx_k)^2 of RMSNorm with unit weights, by differentiation."""
    channel = derivative(index_sum(lambda k: e[k] * h[k], N) / S_RMS, h[i])
    return index_sum(lambda k: channel.xreplace({i: k}) ** 2, N)


def _rms_room() -> Nonneg:
    """|e|^2 / S^2 - sum (dL/dx)^2 = (e . x)^2 (1 + eps / S^2) / (N S^4)."""
    scale = positive(S_RMS, "S_RMS > 0")
    excess = plus(known(1), over(known(eps), times(scale, scale)))
    return over(times(square(index_sum(lambda k: e[k] * h[k], N)), excess), times(known(N), scale, scale, scale, scale))


def _upstream(k: sp.Expr) -> sp.Matrix:
    """zhat_k - u_k at eps = 0."""
    return z[k] / S_0 - z.unit(k)


def mrs_energy() -> sp.Expr:
    """sum_k |dL/dz_k|^2 of MRSNorm with unit weights at eps = 0, for the upstream gradient zhat - u."""
    vector = gradient(index_sum(lambda k: g[k].dot(z[k])) / S_0, z, i)
    upstream = {base: (lambda k, a=axis: _upstream(k)[a]) for axis, base in enumerate(g.components)}
    vector = vector.applyfunc(lambda entry: substitute(entry, upstream))
    return index_sum(lambda k: vector.dot(vector).xreplace({i: k}))


STATEMENTS = (
    Inequality(
        "as printed",
        "|dL/dz_i| <= C whatever the factor c of the upstream gradient is",
        lambda: (derived(), printed()),
        nonzero=(S, z.r[i]),
        counterexample=point({eps: 0, c: 10, C: 1}, z=[(1, 0), (1, 0)], g=[(0, 1), (0, 0)], gamma=[1, 1]),
        expects="refuted",
    ),
    Identity(
        "corrected",
        "the backward pass is linear: c g upstream gives c times the input gradient",
        lambda: (scaled_gradient(), corrected()),
        nonzero=(S, z.r[i]),
    ),
    replace(
        homogeneity.STATEMENTS[1],
        proof=lambda: lemma("mrsnorm.homogeneity", "corrected"),
        text="the gain is bounded: |Omega| <= (1 - eps/S) M and |dL/dz_i| <= (2 - eps/S) M / S, "
        "M = max |gamma_k| |g_k|",
    ),
    Identity(
        "no threshold holds",
        "gamma_i g_i = 2 C S v with v across z_i, |v| = 1, has |dL/dz_i| = 2 C, for every C and every z_i != 0",
        lambda: (over_the_threshold(), 4 * C**2),
        nonzero=(S, z.r[i], gamma[i]),
    ),
    Inequality(
        "RMSNorm's gain in the 2-norm",
        "sum (dL/dx_k)^2 <= sum (dL/do_k)^2 / S_RMS^2 for unit weights",
        lambda: (rms_energy(), index_sum(lambda k: e[k] ** 2, N) / S_RMS**2),
        _rms_room,
        hypotheses=(Hypothesis("S_RMS > 0", lambda at: evaluate(S_RMS**2, at) > 0),),
        nonzero=(S_RMS,),
        adjust=rational_root,
        scope="every N",
    ),
    Identity(
        "MRSNorm's gain in the 2-norm",
        "at eps = 0 the upstream gradient zhat - u is amplified by (rms(r) / mean(r)) / S",
        lambda: (
            mrs_energy(),
            index_sum(lambda k: z.r[k] ** 2) / P / S_0**4 * index_sum(lambda k: _upstream(k).dot(_upstream(k))),
        ),
        nonzero=(S_0, z.r),
    ),
)

MUTANTS = {"the gradient itself": lambda: derived()}
CORRECTED_MUTANTS = {
    "unchanged": lambda: gradient(loss(z, g, S), z, i),
    "clipped to C": lambda: C * gradient(loss(z, g, S), z, i),
    "c squared": lambda: c**2 * gradient(loss(z, g, S), z, i),
}
