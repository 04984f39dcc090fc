"""isometry: the Jacobian of the layer is an isometry.

Claim: J = d zhat / d h, the full N x N matrix, stretches all directions by one factor: h as much as h with every phasor
turned by a right angle.

Source: section 6.

False wherever no phasor of h is 0, for every P and eps >= 0: J h = (eps / S^2) h, while J v = v / S for every v that
turns phasors only. All singular values, where no z_k is 0: with u the vector of all directions u_k (|u|^2 = P),
zhat = h / S, and any direction v,

    S^2 J^T J v = v - ((zhat . v) u + (u . v) zhat) / P + (mean r^2 / S^2) (u . v) u / P.

So S^2 J^T J is the identity on the complement of u and zhat (2P - 2 dimensions) and maps their plane into itself by a
2 x 2 matrix: the singular values of J are 1/S (2P - 2 times) and s_1 / S, s_2 / S with

    s_1 s_2 = eps / S,   s_1 - s_2 = rms(r) / S,   s_1^2 + s_2^2 = 2 - 2 mean(r) / S + mean(r^2) / S^2.

(If all magnitudes are equal, u and zhat are parallel; s_1, s_2 are 1 and eps / S.) At eps = 0 they are 0 and
rms(r) / mean(r), which is below sqrt(P) if P >= 2 and approaches it as one phasor outgrows the others (see
quadratic-outlier: the ratio is sqrt(2) S_RMS / S).

RMSNorm is closer to an isometry: its Jacobian is I / S_RMS on the complement of x and eps / S_RMS^3 on x.
"""

from collections.abc import Callable

import sympy as sp
from sympy.tensor.indexed import IndexedBase

from theory.certificate import Nonneg, known, over, plus, positive, square, times, total_except
from theory.exact import evaluate, point
from theory.lemmas import lemma
from theory.mrsnorm import quadratic_outlier
from theory.mrsnorm.eq04 import rational_root
from theory.norms import mean_magnitude, root_mean_square
from theory.phasors import (
    N,
    P,
    VectorFamily,
    apart,
    derivative,
    e,
    eps,
    gradient,
    h,
    i,
    index_sum,
    j,
    jacobian,
    key,
    on_groups,
    q,
    z,
)
from theory.standing import remembered
from theory.statements import Hypothesis, Identity, Inequality

S = mean_magnitude(z)
S_0 = mean_magnitude(z, sp.Integer(0))
S_RMS = root_mean_square(h)
MEAN, MEAN_SQUARE = S_0, index_sum(lambda k: z.r[k] ** 2) / P
Directions = Callable[[sp.Expr], sp.Matrix]  # index -> the direction's entries at that phasor


@remembered
def by_differentiation() -> list[sp.Expr]:
    """(J v)_i for v with entries q_k, and (J^T w)_i, the gradient of sum w_k . zhat_k, for w with entries k_k."""
    image = [index_sum(lambda k, row=row: (jacobian([row / S], z, k) * q[k])[0]) for row in z[i]]
    return [*image, *gradient(index_sum(lambda k: key[k].dot(z[k])) / S, z, i)]


def forward(v: Directions) -> sp.Matrix:
    """(J v)_i in closed form."""
    return (v(i) - zhat(i) * index_sum(lambda k: unit(k).dot(v(k))) / P) / S


def backward(w: Directions) -> sp.Matrix:
    """(J^T w)_i in closed form."""
    return (w(i) - unit(i) * index_sum(lambda k: zhat(k).dot(w(k))) / P) / S


def gram(v: Directions) -> sp.Matrix:
    """(S^2 J^T J v)_i."""
    image = forward(v)
    return S**2 * backward(lambda k: image.xreplace({i: k}))


def energy(vector: sp.Matrix) -> sp.Expr:
    """sum over phasors of the squared entries, from the entries at phasor i."""
    return index_sum(lambda k: vector.dot(vector).xreplace({i: k}))


def _entries(family: VectorFamily) -> Directions:
    return lambda k: family[k]


def unit(k: sp.Expr) -> sp.Matrix:
    """u_k."""
    return z.unit(k)


def zhat(k: sp.Expr) -> sp.Matrix:
    """z_k / S."""
    return z[k] / S


def across(k: sp.Expr) -> sp.Matrix:
    """z_k turned by a right angle."""
    return sp.Matrix([-z[k][1], z[k][0]])


def derived() -> sp.Expr:
    """|J h|^2."""
    return energy(forward(_entries(z)))


def printed() -> sp.Expr:
    """|J v|^2 for v the vector h with every phasor turned by a right angle, which is as long as h."""
    return energy(forward(across))


def plane() -> sp.Matrix:
    """S^2 J^T J on the plane of u and zhat, in that basis."""
    rest = 1 - MEAN / S
    return sp.Matrix([[rest + MEAN_SQUARE / S**2, -rest * MEAN_SQUARE / S**2], [-1, rest]])


def determinant() -> sp.Expr:
    """The determinant of `plane`, not multiplied out."""
    (a, b), (c, d) = plane().tolist()
    return a * d - b * c


def corrected() -> tuple[sp.Expr, sp.Expr]:
    """s_1^2 + s_2^2 and (s_1 s_2)^2."""
    return 2 - 2 * MEAN / S + MEAN_SQUARE / S**2, (eps / S) ** 2


def general() -> sp.Matrix:
    """(S^2 J^T J v)_i for any direction v with entries q_k, in closed form."""
    along_u = index_sum(lambda k: unit(k).dot(q[k]))
    along_zhat = index_sum(lambda k: zhat(k).dot(q[k]))
    mixed = (along_zhat * unit(i) + along_u * zhat(i)) / P
    return q[i] - mixed + MEAN_SQUARE / S**2 * along_u * unit(i) / P


@remembered
def in_plane() -> tuple[list[sp.Expr], list[sp.Expr]]:
    """The images of u and of zhat under S^2 J^T J, and what `plane` says they are."""
    images = [*gram(unit), *gram(zhat)]
    said = [entry for column in (0, 1) for entry in plane()[0, column] * unit(i) + plane()[1, column] * zhat(i)]
    return images, said


@remembered
def frobenius() -> sp.Expr:
    """The sum of the squares of all N^2 entries of J, blocks by differentiation."""
    own = jacobian(zhat(i), z, i)
    other = apart(jacobian(zhat(i), z, j))
    squares = sp.Add(*(entry**2 for entry in own))
    off = sp.Add(*(entry**2 for entry in other))
    row = squares + index_sum(lambda k: off.xreplace({j: k})) - off.xreplace({j: i})
    return index_sum(lambda k: row.xreplace({i: k}))


def rms_forward(v: IndexedBase) -> sp.Expr:
    """(J v)_i of RMSNorm for a direction with entries v_k, by differentiation."""
    return index_sum(lambda k: derivative(h[i] / S_RMS, h[k]) * v[k], N)


NONZERO = "z_i != 0"


def _never() -> Nonneg:
    """sum r^2 (1/S^2 - eps^2/S^4) = sum r^2 (mean r) (S + eps) / S^4 > 0."""
    radius, scale = positive(z.r[i], NONZERO), positive(S, "S > 0")
    energies = plus(times(radius, radius), total_except(i, lambda k: square(z.r[k])))
    mean = over(plus(radius, total_except(i, lambda k: known(z.r[k]))), known(P))
    return over(times(energies, mean, plus(scale, known(eps))), times(scale, scale, scale, scale))


def _below_p() -> Nonneg:
    """P - mean(r^2) / mean(r)^2 = P (T^2 - sum r^2) / T^2, T = sum r."""
    whole = positive(quadratic_outlier.TOTAL, "sum r > 0")
    return over(times(known(P), *lemma("mrsnorm.quadratic_outlier", "pairs of phasors")), times(whole, whole))


HAS_OTHERS = (
    *quadratic_outlier.HYPOTHESES,
    Hypothesis("sum r > 0", lambda at: evaluate(quadratic_outlier.TOTAL, at) > 0),
)
magnitude = sp.Symbol("r", positive=True)

STATEMENTS = (
    Identity(
        "as printed",
        "J stretches h as much as h with every phasor turned by a right angle, which is as long",
        lambda: (derived(), printed()),
        nonzero=(S, z.r),
        counterexample=point({eps: 0}, z=[(1, 0), (1, 0)]),
        expects="refuted",
    ),
    Identity(
        "corrected",
        "J v = (v - zhat (u . v) / P) / S and J^T w = (w - u (zhat . w) / P) / S",
        lambda: (by_differentiation(), [*forward(_entries(q)), *backward(_entries(key))]),
        nonzero=(S, z.r),
    ),
    Identity(
        "J^T J in closed form",
        "S^2 J^T J v = v - ((zhat . v) u + (u . v) zhat) / P + (mean r^2 / S^2) (u . v) u / P: v itself on the "
        "complement of u and zhat",
        lambda: (gram(_entries(q)), general()),
        nonzero=(S, z.r),
    ),
    Identity(
        "corrected",
        "the plane of u and zhat is invariant under S^2 J^T J; on its complement that is the identity, so 2P - 2 "
        "singular values are 1/S",
        in_plane,
        nonzero=(S, z.r),
    ),
    Identity(
        "corrected",
        "the other two, s_1 / S and s_2 / S, have s_1 s_2 = eps/S and s_1^2 + s_2^2 = 2 - 2 mean(r)/S + mean(r^2)/S^2",
        lambda: ([plane().trace(), determinant()], corrected()),
        nonzero=(S,),
    ),
    Identity(
        "their difference",
        "(s_1 - s_2)^2 = mean(r^2) / S^2, so S s_1 and S s_2 are (sqrt(mean(r^2) + 4 eps S) +- rms(r)) / 2",
        lambda: (corrected()[0] - 2 * eps / S, MEAN_SQUARE / S**2),
        nonzero=(S,),
    ),
    Identity(
        "all squared singular values together",
        "the squares of all entries of J add up to (2P - 2 + s_1^2 + s_2^2) / S^2",
        lambda: (frobenius(), (2 * P - 2 + corrected()[0]) / S**2),
        nonzero=(S, z.r),
    ),
    Identity(
        "at eps = 0",
        "s_1 = 0 and s_2 = rms(r) / mean(r)",
        lambda: ([entry.subs(eps, 0) for entry in corrected()], [MEAN_SQUARE / MEAN**2, 0]),
        nonzero=(S_0,),
    ),
    Inequality(
        "the largest singular value at eps = 0",
        "(rms(r) / mean(r))^2 < P if two phasors are non-zero",
        lambda: (MEAN_SQUARE / MEAN**2, P),
        _below_p,
        hypotheses=HAS_OTHERS,
        nonzero=(S_0, quadratic_outlier.TOTAL),
        strict=True,
    ),
    Identity(
        "equal magnitudes",
        "if all magnitudes are r, s_1 and s_2 are 1 and eps / S",
        lambda: (on_groups(corrected()[0], [(P, {z.r: magnitude})]), 1 + (eps / (magnitude + eps)) ** 2),
        nonzero=(magnitude + eps,),
    ),
    Inequality(
        "never an isometry",
        "where all z_k != 0, J stretches h by eps / S^2, less than the 1/S by which it stretches h with every phasor "
        "turned by a right angle, which is as long",
        lambda: (derived(), energy(forward(across))),
        _never,
        hypotheses=(
            Hypothesis(NONZERO, lambda at: at[z.r[i]] > 0),
            Hypothesis("S > 0", lambda at: evaluate(S, at) > 0),
        ),
        nonzero=(S, z.r),
        strict=True,
    ),
    Identity(
        "RMSNorm's Jacobian",
        "J v = (v - xhat (xhat . v) / N) / S_RMS, so v / S_RMS across x, and J x = (eps / S_RMS^3) x",
        lambda: (
            [rms_forward(e), rms_forward(h)],
            [
                (e[i] - h[i] / S_RMS * index_sum(lambda k: h[k] / S_RMS * e[k], N) / N) / S_RMS,
                eps / S_RMS**3 * h[i],
            ],
        ),
        nonzero=(S_RMS,),
        adjust=rational_root,
        scope="every N",
    ),
)

MUTANTS = {"h itself": lambda: energy(forward(_entries(z))), "as short": lambda: (eps / S**2) ** 2 * energy(z[i])}
CORRECTED_MUTANTS = {
    "an isometry": lambda: (sp.Integer(2), sp.Integer(1)),
    "blocked": lambda: (MEAN_SQUARE / S**2, sp.Integer(0)),
    "sum for mean": lambda: (2 - 2 * P * MEAN / S + P * MEAN_SQUARE / S**2, (eps / S) ** 2),
    "not squared": lambda: (2 - 2 * MEAN / S + MEAN_SQUARE / S**2, eps / S),
    "squared mean for mean square": lambda: (2 - 2 * MEAN / S + (MEAN / S) ** 2, (eps / S) ** 2),
}
