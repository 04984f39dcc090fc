"""ma-training: is convergence the same for every s?

Claim: with every scaling factor training converges exactly as the baseline, RMSNorm, does.

Source: section 2.3; section 3.5.

False. For a norm that feeds a linear map, f = sum w_k y_k, MA-RMSNorm with (s, alpha, w) and learning rate eta takes
the same steps as the layer with (1, alpha / s, A = s w) in which A alone has another learning rate: s^2 eta under SGD.
So s is a learning rate of the next layer, and its initial scale. Under Adam the rate is s eta with eps / s in the
denominator and decoupled weight decay lambda / s. gamma and W keep their rates.

In f alone: with gamma and W held, a step on the squared error multiplies f - target by 1 - eta sum y_k^2, and for
gamma = 1, alpha = 0 that is 1 - eta N s^2. N = 1 and eta = 1/2: it is 1/2 for RMSNorm, -1 for the printed s = 2, which
never converges, and -23/2 for s = 5, which diverges.
"""

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from theory.exact import point
from theory.magnitude_aware import W, alpha, log_R, polar, s, xhat
from theory.phasors import N, derivative, gamma, i, index_sum, scalar_family, substitute
from theory.statements import Identity

weight = scalar_family("w")  # one row of the linear map
eta, target, moment = sp.symbols("eta f_0 m", real=True)
factor, start, rate, guard, second, decay = sp.symbols("s w eta epsilon v lambda", positive=True)
CASE = point({N: 1, s: 2, alpha: Fraction(1, 10), log_R: 0, eta: Fraction(1, 2), target: 0}, gamma=[1])
CASE = CASE.with_({W: (Fraction(0),), weight: (Fraction(1),), xhat: (Fraction(1),)})


def prediction() -> sp.Expr:
    """f = sum w_k y_k."""
    return index_sum(lambda k: weight[k] * polar(k), N)


def slope(family: sp.IndexedBase) -> sp.Expr:
    """The derivative of (f - target)^2 / 2 by the i-th entry of a family, by differentiation."""
    return derivative((prediction() - target) ** 2 / 2, family[i])


def after_step() -> sp.Expr:
    """f after one SGD step of w, gamma and W, all from the same f."""
    return substitute(prediction(), {family: _moved(family) for family in (weight, gamma, W)})


def _moved(family: sp.IndexedBase) -> Callable[[sp.Expr], sp.Expr]:
    """The entries of a family after an SGD step; the sums in the slope do not depend on the entry."""
    change = eta * slope(family)
    return lambda k: family[k] - change.xreplace({i: k})


def baseline(expr: sp.Expr) -> sp.Expr:
    """The same for RMSNorm: s = 1, alpha = 0."""
    return expr.xreplace({s: sp.Integer(1), alpha: sp.Integer(0)})


def derived() -> sp.Expr:
    """The squared error after a step of MA-RMSNorm."""
    return (after_step() - target) ** 2


def printed() -> sp.Expr:
    """What it is claimed to equal: that of RMSNorm with the same weights and learning rate."""
    return baseline(derived())


def absorbed(expr: sp.Expr) -> sp.Expr:
    """The expression for the layer with (1, alpha / s, s w)."""
    plain = expr.xreplace({s: sp.Integer(1), alpha: alpha / s})
    return substitute(plain, {weight: lambda k: s * weight[k]})


def stepped() -> list[sp.Expr]:
    """f, and after an SGD step s w_i, gamma_i and W_i."""
    return [prediction(), s * (weight[i] - eta * slope(weight)), *(f[i] - eta * slope(f) for f in (gamma, W))]


def corrected() -> list[sp.Expr]:
    """The same four from the layer with (1, alpha / s, A = s w): rate s^2 eta for A, eta for gamma and W."""
    return _model(absorbed, s**2, sp.Integer(1))


def _model(change: Callable[[sp.Expr], sp.Expr], map_rate: sp.Expr, gamma_rate: sp.Expr) -> list[sp.Expr]:
    return [
        change(prediction()),
        s * weight[i] - map_rate * eta * change(slope(weight)),
        gamma[i] - gamma_rate * eta * change(slope(gamma)),
        W[i] - eta * change(slope(W)),
    ]


def adam() -> tuple[list[sp.Expr], list[sp.Expr]]:
    """s w after a step of Adam, without and with decoupled weight decay, and A after one with the changed constants.

    The gradient by w is s times that by A, so its two moments are s m and s^2 v where those of A are m and v.
    """
    step = rate * factor * moment / (sp.sqrt(factor**2 * second) + guard)
    model = rate * factor * moment / (sp.sqrt(second) + guard / factor)
    whole = factor * start
    return (
        [factor * (start - step), factor * (start - step - rate * decay * start)],
        [whole - model, whole - model - rate * factor * (decay / factor) * whole],
    )


def only_map() -> tuple[list[sp.Expr], list[sp.Expr]]:
    """f - target after a step of w alone, and sum y^2 for gamma = 1, alpha = 0."""
    after = substitute(prediction(), {weight: _moved(weight)})
    energy = index_sum(lambda k: polar(k) ** 2, N)
    bare = substitute(energy.xreplace({alpha: sp.Integer(0)}), {gamma: lambda k: sp.Integer(1)})
    return [after - target, bare], [
        (1 - eta * energy) * (prediction() - target),
        s**2 * index_sum(lambda k: xhat[k] ** 2, N),
    ]


STATEMENTS = (
    Identity(
        "as printed",
        "after a step from the same weights the squared error is that of RMSNorm, whatever s is",
        lambda: (derived(), printed()),
        counterexample=CASE,
        scope="every N",
        expects="refuted",
    ),
    Identity(
        "corrected",
        "(s, alpha, w, eta) takes the SGD steps of (1, alpha / s, s w) with the rate s^2 eta for s w alone",
        lambda: (stepped(), corrected()),
        nonzero=(s,),
        scope="every N",
    ),
    Identity(
        "Adam",
        "the same with the rate s eta, eps / s, and lambda / s for decoupled weight decay",
        adam,
        nonzero=(factor, sp.sqrt(second) + guard / factor, factor * sp.sqrt(second) + guard),
        scope="every step, s > 0",
    ),
    Identity(
        "the rate of convergence",
        "a step of w multiplies f - target by 1 - eta sum y^2; sum y^2 = s^2 |xhat|^2 for gamma = 1, alpha = 0",
        only_map,
        scope="every N",
    ),
)

MUTANTS = {"that of MA-RMSNorm": lambda: derived()}
CORRECTED_MUTANTS = {
    "rate s eta": lambda: _model(absorbed, s, sp.Integer(1)),
    "the same rate": lambda: _model(absorbed, sp.Integer(1), sp.Integer(1)),
    "gamma's rate changed as well": lambda: _model(absorbed, s**2, s**2),
    "alpha not divided": lambda: _model(
        lambda x: substitute(x.xreplace({s: sp.Integer(1)}), {weight: lambda k: s * weight[k]}), s**2, sp.Integer(1)
    ),
    "w not scaled": lambda: _model(lambda x: x.xreplace({s: sp.Integer(1), alpha: alpha / s}), s**2, sp.Integer(1)),
}
