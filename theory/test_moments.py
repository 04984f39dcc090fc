"""The decision procedure says zero exactly for identities that hold for every P."""

import pytest
import sympy as sp

from theory.moments import NotMoments, denominators, vanishes
from theory.norms import mean_magnitude
from theory.phasors import N, P, eps, gamma, h, i, index_sum, phi, q, theta_k, theta_q, z

x, y = z.components


def sum_of(body):
    return index_sum(body)


p, c = sp.symbols("p c", positive=True)
mean_power = sum_of(lambda k: z.r[k] ** p) / P
mean_square = sum_of(lambda k: z.r[k] ** 2) / P

TRUE = {
    "x^2 + y^2 = r^2 under a sum": sum_of(lambda k: z.square(k) - z.r[k] ** 2),
    "unit vectors": sum_of(lambda k: z.unit(k).dot(z.unit(k))) - P,
    "a root that is a magnitude": sum_of(lambda k: sp.sqrt(z.square(k)) - z.r[k]),
    "a root of a scaled magnitude": sum_of(lambda k: sp.sqrt(4 * c**2 * z.square(k)) - 2 * c * z.r[k]),
    "square of a sum": sum_of(lambda k: x[k]) ** 2 - sum_of(lambda k: sum_of(lambda m: x[k] * x[m])),
    "Lagrange, one dimension": (
        sum_of(lambda k: x[k] ** 2) * sum_of(lambda k: gamma[k] ** 2)
        - sum_of(lambda k: x[k] * gamma[k]) ** 2
        - sum_of(lambda k: sum_of(lambda m: (x[k] * gamma[m] - x[m] * gamma[k]) ** 2)) / 2
    ),
    "a root and its square": sp.sqrt(sum_of(lambda k: z.r[k] ** 2) / P + eps) ** 4
    - (sum_of(lambda k: z.square(k)) / P + eps) ** 2,
    "addition theorem": sum_of(lambda k: sp.sin(theta_q[k] + theta_k[k]) - sp.sin(theta_k[k] + theta_q[k])),
    "Pythagoras": sum_of(lambda k: sp.cos(phi[k]) ** 2 + sp.sin(phi[k]) ** 2) - P,
    "constant body": sum_of(lambda k: sp.Integer(3)) - 3 * P,
    "a cube root and its cube": sp.cbrt(sum_of(lambda k: z.r[k])) ** 3 - sum_of(lambda k: z.r[k]),
    "a root under a sum": sum_of(lambda k: sp.sqrt(z.r[k]) ** 3 * sp.sqrt(z.r[k]) - z.r[k] ** 2),
    "symbolic powers": sum_of(lambda k: z.r[k] ** (2 * p - 1) * z.r[k]) - sum_of(lambda k: (z.r[k] ** p) ** 2),
    "a power mean and its power": ((mean_power ** (1 / p)) ** (p - 1)) * mean_power ** (1 / p) - mean_power,
    "a power of a quotient": mean_power ** (1 / p) - sum_of(lambda k: z.r[k] ** p) ** (1 / p) / P ** (1 / p),
    "a power of a power": sum_of(lambda k: (z.r[k] ** p) ** (1 / p) - z.r[k]),
    "a scaled power under a sum": sum_of(lambda k: (z.r[k] ** 2 / mean_square) ** (p / 2))
    - sum_of(lambda k: z.r[k] ** p) / mean_square ** (p / 2),
    "logarithm of a root": sp.log(sp.sqrt(mean_square)) - sp.log(mean_square) / 2,
    "logarithm of a product": sp.log(c * mean_square) - sp.log(c) - sp.log(mean_square),
    "logarithm of a magnitude": sum_of(lambda k: sp.log(c * z.r[k])) - P * sp.log(c) - sum_of(lambda k: sp.log(z.r[k])),
    "length N": index_sum(lambda k: h[k] ** 2, N) - index_sum(lambda k: h[k] * h[k], N),
}
FALSE = {
    "two families of one name": sum_of(lambda k: gamma[k])
    - sum_of(lambda k: sp.IndexedBase("gamma", positive=True)[k]),
    "true only at P = 1": sum_of(lambda k: x[k]) ** 2 - sum_of(lambda k: x[k] ** 2),
    "true only at P = 1, with a unit vector": z.unit(i)[0] * sum_of(lambda k: z.r[k]) - sum_of(lambda k: x[k]),
    "true only at P = 2": (P - 2) * sum_of(lambda k: x[k]),
    "two different moments": sum_of(lambda k: z.r[k]) - sum_of(lambda k: gamma[k]),
    "mean and root mean square": mean_magnitude(q) ** 2 - sum_of(lambda k: q.r[k] ** 2) / P,
    "root with the wrong sign": sp.sqrt(sum_of(lambda k: z.r[k] ** 2)) + sp.sqrt(sum_of(lambda k: z.square(k))),
    "lengths P and N": index_sum(lambda k: h[k], N) - index_sum(lambda k: h[k]),
    "a root pulled out of a sum": sum_of(lambda k: sp.sqrt(z.r[k]) * x[k]) * P
    - sum_of(lambda k: sp.sqrt(z.r[k])) * sum_of(lambda k: x[k]),
    "two symbolic powers": sum_of(lambda k: z.r[k] ** p) - sum_of(lambda k: z.r[k] ** (p + 1)),
    "logarithm of a sum": sp.log(mean_square) - sum_of(lambda k: sp.log(z.r[k])),
    "tiny coefficient": sp.Rational(1, 10**12) * z.r[i],
    "cosine of sum and difference": sum_of(lambda k: sp.cos(theta_q[k] + theta_k[k]) - sp.cos(theta_q[k] - theta_k[k])),
}


@pytest.mark.parametrize("name", TRUE)
def test_identity_is_zero(name):
    assert vanishes(TRUE[name])


@pytest.mark.parametrize("name", FALSE)
def test_falsehood_is_not_zero(name):
    assert not vanishes(FALSE[name])


def test_a_sum_it_cannot_expand_is_refused_not_decided():
    with pytest.raises(NotMoments, match="monomial"):
        vanishes(sum_of(lambda k: 1 / (1 + z.r[k])))
    with pytest.raises(NotMoments, match="inside a sum"):
        vanishes(sum_of(lambda k: x[k] * sp.sqrt(x[k] ** 2 + 1)) - sum_of(lambda k: x[k]))
    with pytest.raises(NotMoments, match="inside a sum"):
        vanishes(sum_of(lambda k: sp.log(z.r[k] + gamma[i])))
    with pytest.raises(NotMoments):
        vanishes(sp.exp(sum_of(lambda k: z.r[k])))


def test_division_by_zero_is_an_error():
    with pytest.raises(ZeroDivisionError):
        vanishes(1 / (sum_of(lambda k: z.square(k)) - sum_of(lambda k: z.r[k] ** 2)))


def test_denominators_are_listed_as_written():
    S = mean_magnitude(z)
    assert set(denominators(x[i] / z.r[i] / S**2)) == {z.r[i], S}  # P is declared positive
    p = sp.Symbol("p", real=True)
    assert denominators(z.r[i] ** (1 - p), sp.log(x[i])) == [z.r[i], x[i]]
