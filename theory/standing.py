"""Derivatives that are left standing, so that a second prover can take them by means of its own.

Inside `standing()` the calculus of `theory.phasors` takes no derivative: `derivative(expr, variable)` is a `Slope`, and
no Kronecker delta is collapsed. A slope is a closure. What is substituted into it afterwards is kept as a list of steps
and never carried out inside `expr`, because substituting first and differentiating then is something else:

    d/dt (t^2) at t = 0 is `Slope(t^2, t)` with the step {t: 0}.

A slope cannot be rebuilt from its arguments. Whatever rewrites expressions that way, and could change the meaning of a
slope without saying so, meets `CannotStand`; the derivative has then to be taken the ordinary way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps

import sympy as sp
from sympy.tensor.indexed import Indexed

ANY = sp.Dummy("any", integer=True)  # in a step: the index of a family that is replaced at every index
_STANDING: ContextVar[bool] = ContextVar("derivatives are left standing", default=False)


class CannotStand(ValueError):
    """An operation whose effect on a derivative is not known before the derivative is taken."""


@contextmanager
def standing() -> Iterator[None]:
    """Leaves derivatives standing inside the block."""
    token = _STANDING.set(True)
    try:
        yield
    finally:
        _STANDING.reset(token)


def is_standing() -> bool:
    """Whether derivatives are being left standing."""
    return _STANDING.get()


def remembered(function: Callable) -> Callable:
    """`functools.cache`, which neither answers nor learns inside `standing()`."""
    cached = cache(function)

    @wraps(function)
    def answer(*arguments: object) -> object:
        return function(*arguments) if is_standing() else cached(*arguments)

    return answer


class Slope(sp.Expr):
    """d expr / d variable, followed by substitutions: `steps`, each a tuple of simultaneous (old, new) pairs."""

    is_commutative = True

    def __new__(cls, *args: object) -> Slope:
        """Always raises `CannotStand`: see `Slope.of`."""
        raise CannotStand("a standing derivative cannot be rebuilt from its parts")

    @classmethod
    def of(cls, expr: sp.Expr, variable: sp.Expr, steps: tuple = ()) -> Slope:
        """The standing derivative of `expr` by a symbol or an indexed symbol."""
        return sp.Expr.__new__(cls, sp.sympify(expr), variable, sp.Tuple(*steps))

    expr = property(lambda self: self.args[0])
    variable = property(lambda self: self.args[1])
    steps = property(lambda self: self.args[2])

    @property
    def free_symbols(self) -> set:
        """What the value depends on, after all steps."""
        free = self.expr.free_symbols | self.variable.free_symbols
        for step in self.steps:
            olds, news = zip(*step, strict=True)
            free = free - set(olds) | set().union(*(new.free_symbols for new in news)) - {ANY}
        return free

    def then(self, rule: Mapping[sp.Expr, sp.Expr]) -> Slope:
        """The slope with one more step; what does not occur in it is left out.

        Raises `CannotStand` for what is neither a symbol, nor a delta, nor an entry that occurs at that index alone.
        """
        pairs = [sp.Tuple(old, sp.sympify(new)) for old, new in rule.items() if self._concerns(old)]
        return Slope.of(self.expr, self.variable, (*self.steps, sp.Tuple(*pairs))) if pairs else self

    def _concerns(self, old: sp.Expr) -> bool:
        if isinstance(old, sp.KroneckerDelta):
            return True
        if isinstance(old, Indexed):
            entries = {node for node in self.atoms(Indexed) if node.base == old.base}
            if ANY not in old.free_symbols and entries - {old}:
                raise CannotStand(f"{old} replaced in a derivative in which {old.base} has other indices")
            return bool(entries)
        if not old.is_Symbol and old.free_symbols <= self.free_symbols:
            raise CannotStand(f"{old} replaced in a derivative")
        return old in self.free_symbols

    def _xreplace(self, rule: Mapping) -> tuple[sp.Expr, bool]:
        if self in rule:
            return rule[self], True
        moved = self.then(rule)
        return moved, moved is not self

    def _eval_subs(self, old: sp.Expr, new: sp.Expr) -> sp.Expr:
        return self.then({old: new})

    def _eval_derivative(self, variable: sp.Expr) -> sp.Expr:
        raise CannotStand("a standing derivative differentiated by SymPy")

    def _eval_is_real(self) -> bool | None:
        return True if self.expr.is_real else None
