"""The decision procedure: an identity between sums of symbolic length holds for every P, or it does not.

Every quantity here is a rational function of a few singled-out phasors and of **moments**, sums over k of a monomial
in the per-phasor symbols (sum r_k, sum gamma_k a_k x_k, ...). To decide whether an expression vanishes:

1. each sum is expanded into moments, its monomials reduced by r_k^2 = x_k^2 + y_k^2 (y_k occurs at most once), and
   a constant monomial contributes the length P;
2. each square root becomes a symbol R with R^2 known, sin and cos of an angle a pair with sin^2 = 1 - cos^2
   (`theory.flatten` has the whole list);
3. everything is brought to one fraction and the numerator reduced by those relations. It vanishes or it does not.

Why zero means "for every P": each step is an equality that holds for every P.

Why non-zero means "not for every P" (so that the procedure is complete, not a hope): let f_1 .. f_n be the reduced
monomials that occur; together with 1 they are linearly independent functions of one phasor. If the differentials of
the moments M_a = sum_k f_a(z_k) were dependent at every configuration of P >= n phasors, a configuration of maximal
rank would give one combination sum_a c_a f_a with vanishing gradient everywhere, hence constant, against
independence. So the moments are algebraically independent for every P >= n, a numerator that is not the zero
polynomial in them and P vanishes identically for at most finitely many P >= n, and the identity fails.

Logarithms and powers with a symbolic exponent are treated as independent symbols. That is sound; an identity that
rests on a special relation between them is not recognized, and stays undecided.

Dividing is recorded: `denominators` lists what an expression divides by, and a proof has to name each as non-zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import sympy as sp

from theory.flatten import Flattener
from theory.ratio import NotMoments

__all__ = ["NotMoments", "denominators", "moment_terms", "vanishes"]


def vanishes(expr: sp.Expr) -> bool:
    """Whether `expr` is zero for every P and all values of its symbols (where its denominators are not zero).

    Raises `NotMoments` where the procedure does not apply; that is undecided, not false.
    """
    return _vanishes(sp.sympify(expr))


@cache
def _vanishes(expr: sp.Expr) -> bool:
    flat = Flattener()
    return flat.equal(flat(expr), sp.Integer(0))


def denominators(*expressions: sp.Expr) -> list[sp.Expr]:
    """Everything the expressions divide by, as written: S, r[i], P, ...

    A power whose exponent may be negative divides by its base, and a logarithm needs its argument to be non-zero.
    """
    found: dict[sp.Expr, None] = {}
    for expr in expressions:
        for node in sp.preorder_traversal(expr):
            divides = isinstance(node, sp.Pow) and not node.exp.is_nonnegative
            if divides or isinstance(node, sp.log):
                found.update(dict.fromkeys(_bases(node.args[0])))
    return list(found)


def _bases(expr: sp.Expr) -> Iterator[sp.Expr]:
    """What has to be non-zero for a product of powers to be so; numbers and symbols declared positive are."""
    for factor in sp.Mul.make_args(expr):
        if isinstance(factor, sp.Pow):
            yield from _bases(factor.base)
        elif not factor.is_number and not factor.is_positive:
            yield factor


def moment_terms(expr: sp.Expr) -> Iterator[tuple[str, str]]:
    """(symbol, meaning) for every moment that deciding `expr` introduces, for display."""
    flat = Flattener()
    flat(expr)
    for (length, powers), symbol in flat.moments.items():
        factors = sorted(f"{label}^{power}" if power != 1 else str(label) for label, power in powers)
        body = " ".join(factors)
        yield str(symbol), f"sum over {length} of {body}"
