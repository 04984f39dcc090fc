"""Matrices of symbolic size N + 1, one row and column apart from the rest: enough for block elimination at every N."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from theory.phasors import N, apart, i, index_sum, j


@dataclass(frozen=True)
class Bordered:
    """An (N+1) x (N+1) matrix [block, column; row, corner], block entries as a function of two indices."""

    block: Callable[[sp.Expr, sp.Expr], sp.Expr]
    column: Callable[[sp.Expr], sp.Expr]
    row: Callable[[sp.Expr], sp.Expr]
    corner: sp.Expr

    def __matmul__(self, other: Bordered) -> Bordered:
        """The product, its sums over k of length N."""
        a, b = self, other
        return Bordered(
            lambda p, q: index_sum(lambda k: a.block(p, k) * b.block(k, q), N) + a.column(p) * b.row(q),
            lambda p: index_sum(lambda k: a.block(p, k) * b.column(k), N) + a.column(p) * b.corner,
            lambda q: index_sum(lambda k: a.row(k) * b.block(k, q), N) + a.corner * b.row(q),
            index_sum(lambda k: a.row(k) * b.column(k), N) + a.corner * b.corner,
        )

    def entries(self) -> list[sp.Expr]:
        """One entry of each sort: on the diagonal, off it, in the column, in the row, the corner."""
        general = self.block(i, j)
        return [general.xreplace({j: i}), apart(general), self.column(i), self.row(i), self.corner]
