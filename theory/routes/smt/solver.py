"""z3, its limits, and fractions whose denominators are kept as factors.

z3 is optional (`pip install paper-checks[provers]`) and imported when it is first used. Every query has a limit that z3
counts itself (`rlimit`), so that an answer does not depend on how busy the machine is; a limit on the wall time, far
above it, is there in case the count is off. What z3 does not decide within them is "unknown".
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from fractions import Fraction
from types import ModuleType

LIMIT = 40_000  # z3's own count for one query: a few hundredths of a second to half a second
BLOWUP = 100  # how many times as many monomials an expansion may have
LARGEST = 300  # monomials of a polynomial, past which it is left undecided
WALL_MS = 20_000
INSTALL = "z3 is not installed: pip install z3-solver (the extra `provers`)"


_NAME = re.compile(r"[^\s()|]+")
Relation = tuple[object, int, object, object]  # (root, degree, top, bottom): root^degree = top / bottom


class NotInstalled(ImportError):
    """There is no z3."""


def load() -> ModuleType:
    """The module `z3`, or `NotInstalled`."""
    try:
        import z3
    except ImportError as reason:
        raise NotInstalled(INSTALL) from reason
    return z3


@dataclass
class Solver:
    """One z3 context, so that no query depends on what was asked before it was opened; counts what it asks."""

    limit: int = LIMIT
    z3: ModuleType = field(default_factory=load)
    queries: int = 0
    unknown: int = 0

    def __post_init__(self) -> None:
        self.context = self.z3.Context()
        self.fresh = 0
        self.kept: dict[int, object] = {}

    def real(self, name: str) -> object:
        """A new real variable."""
        self.fresh += 1
        return self.z3.Real(f"{name}!{self.fresh}", self.context)

    def term(self, value: object) -> object:
        """A z3 term, also of a `Fraction`."""
        if isinstance(value, Fraction | int):
            return self.z3.RealVal(f"{Fraction(value)}", self.context)
        return value

    def ask(self, *assertions: object, limit: int | None = None) -> tuple[str, object | None]:
        """("unsat", None), ("sat", model) or ("unknown", None) for all assertions together."""
        self.queries += 1
        solver = self.z3.SolverFor("QF_NRA", ctx=self.context)
        solver.set("rlimit", limit or self.limit)
        solver.set("timeout", WALL_MS)
        solver.add(*assertions)
        answer = str(solver.check())
        self.unknown += answer == "unknown"
        return answer, (solver.model() if answer == "sat" else None)

    def is_zero(self, gap: Ratio, translate: object, *assumed: object) -> tuple[str, object | None]:
        """Whether a fraction vanishes: its normal form modulo what is known of roots, then the solver on "not zero"."""
        if isinstance(gap.num, Fraction):
            return ("unsat", None) if gap.num == 0 else self.ask(*translate.known(), *assumed)
        named = self._named(gap, translate)
        plain = self.expanded(self.z3.substitute(gap.num, *named))
        if self._is_null(plain):
            return "unsat", None
        inside = self.variables(plain)
        for root, degree, top, bottom in reversed(translate.relations):
            if len(plain.children()) > LARGEST:
                return "unknown", None
            if str(root) in inside:
                plain = self._reduced(plain, root, degree, self.z3.substitute(self.term(top), *named), bottom)
                inside = self.variables(plain)
        if self._is_null(plain):
            return "unsat", None
        if len(plain.children()) > LARGEST:
            return "unknown", None
        return self.ask(gap.num != 0, *translate.known(), *assumed)

    def _is_null(self, plain: object) -> bool:
        null = self.z3.is_rational_value(plain) and plain.as_fraction() == 0
        self.queries += null
        return null

    def _named(self, gap: Ratio, translate: object) -> list[tuple[object, object]]:
        """A name for each divisor such as S = mean r + eps, put in by way of eps: its powers then stay monomials."""
        roots = {str(root) for root, *_ in translate.relations}
        named = []
        for factor in gap.divisors():
            inside = self.variables(factor)
            if factor.num_args() == 0 or roots & inside:
                continue
            for variable in translate.numbers.values():
                if isinstance(variable, Fraction) or str(variable) not in inside:
                    continue
                rest = self.z3.simplify(factor - variable)
                if str(variable) not in self.variables(rest):
                    named.append((variable, self.real("divisor") - rest))
                    break
            if named:
                break
        return named

    def split(self, term: object) -> tuple[Fraction, object]:
        """A term as a number times a term without one in front."""
        if self.z3.is_mul(term) and term.num_args() == 2 and self.z3.is_rational_value(term.arg(0)):
            return Fraction(term.arg(0).as_fraction()), term.arg(1)
        return Fraction(1), term

    @staticmethod
    def variables(term: object) -> set[str]:
        """The names in a term, read off its text, which z3 writes much faster than Python walks it."""
        return set(_NAME.findall(term.sexpr()))

    def _reduced(self, plain: object, root: object, degree: int, top: object, bottom: object) -> object:
        """A multiple, by a power of `bottom`, of a polynomial, with root^degree replaced by top / bottom."""
        monomials = [self._monomial(m, root) for m in (plain.children() if self.z3.is_add(plain) else [plain])]
        most = max(power // degree for power, _ in monomials)
        if most == 0:
            return plain
        terms = []
        for power, factors in monomials:
            often = power // degree
            factors += [root] * (power % degree) + [top] * often + [bottom] * (most - often)
            terms.append(self.z3.Product([self.term(factor) for factor in factors]) if factors else self.term(1))
        return self.expanded(self.z3.Sum(terms))

    def expanded(self, value: object) -> object:
        """A polynomial as a sum of monomials, z3's normal form; short of that where it would grow without end."""
        return self.z3.simplify(value, som=True, som_blowup=BLOWUP)

    def _monomial(self, term: object, root: object) -> tuple[int, list[object]]:
        """The power of `root` in a monomial in normal form, and its other factors."""
        power, others = 0, []
        stack = [term]
        while stack:
            factor = stack.pop()
            if self.z3.is_mul(factor):  # 2 x x is 2 times the product x x
                stack += factor.children()
                continue
            raised = factor.decl().kind() == self.z3.Z3_OP_POWER
            base, exponent = (factor.arg(0), factor.arg(1).as_long()) if raised else (factor, 1)
            if base.eq(root):
                power += exponent
            else:
                others.append(factor)
        return power, others


@dataclass(frozen=True)
class Ratio:
    """num / product of den: `num` is a `Fraction` or a z3 term, `den` maps a term's id to the term and its power.

    Terms are shared in z3, so the same factor has the same id and is not multiplied twice in a common denominator.
    """

    solver: Solver
    num: object
    den: dict[int, tuple[object, int]] = field(default_factory=dict)

    def __add__(self, other: Ratio) -> Ratio:
        if isinstance(self.num, Fraction) and self.num == 0:
            return other
        if isinstance(other.num, Fraction) and other.num == 0:
            return self
        common = dict(self.den)
        for name, (term, power) in other.den.items():
            common[name] = (term, max(power, common.get(name, (term, 0))[1]))
        return Ratio(self.solver, _plus(self.solver, self._over(common), other._over(common)), common)

    def __mul__(self, other: Ratio) -> Ratio:
        num = _times(self.solver, self.num, other.num)
        if isinstance(num, Fraction) and num == 0:
            return Ratio(self.solver, num)
        den = dict(self.den)
        for name, (term, power) in other.den.items():
            den[name] = (term, power + den.get(name, (term, 0))[1])
        return Ratio(self.solver, num, den)

    def __neg__(self) -> Ratio:
        return self * Ratio(self.solver, Fraction(-1))

    def __sub__(self, other: Ratio) -> Ratio:
        return self + -other

    def inverse(self) -> Ratio:
        """1 / self; what is divided by is then among the factors of `den`. ZeroDivisionError for a plain 0."""
        top = self.denominator()
        if isinstance(self.num, Fraction):
            return Ratio(self.solver, _times(self.solver, top, 1 / self.num))
        number, term = self.solver.split(self.num)
        return Ratio(self.solver, _times(self.solver, top, 1 / number), {term.get_id(): (term, 1)})

    def __pow__(self, exponent: int) -> Ratio:
        if exponent < 0:
            return self.inverse() ** -exponent
        if exponent == 0:
            return Ratio(self.solver, Fraction(1))
        den = {name: (term, power * exponent) for name, (term, power) in self.den.items()}
        return Ratio(self.solver, _power(self.solver, self.num, exponent), den)

    def divisors(self) -> list[object]:
        """The factors of the denominator."""
        return [term for term, _ in self.den.values()]

    def denominator(self) -> object:
        """The denominator multiplied out, as far as z3 does."""
        value: object = Fraction(1)
        for term, power in self.den.values():
            value = _times(self.solver, value, _power(self.solver, term, power))
        return value

    def numerator_with_sign(self) -> object:
        """A term with the sign of the ratio, wherever it is defined: the numerator times every odd factor once."""
        value = self.num
        for term, power in self.den.values():
            if power % 2:
                value = _times(self.solver, value, term)
        return value

    def key(self) -> tuple:
        """The same for ratios that z3's polynomial normal form makes equal."""
        return (_identity(self.solver, self.num), tuple(sorted((name, power) for name, (_, power) in self.den.items())))

    def _over(self, common: dict) -> object:
        value = self.num
        for name, (term, power) in common.items():
            missing = power - self.den.get(name, (term, 0))[1]
            value = _times(self.solver, value, _power(self.solver, term, missing))
        return value


def _identity(solver: Solver, value: object) -> object:
    if isinstance(value, Fraction):
        return value
    plain = solver.expanded(value)
    solver.kept[plain.get_id()] = plain  # an id is only the term's own while the term is alive
    return plain.get_id()


def _plus(solver: Solver, a: object, b: object) -> object:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a + b
    return solver.term(a) + solver.term(b)


def _times(solver: Solver, a: object, b: object) -> object:
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return a * b
    if a == 0 if isinstance(a, Fraction) else (b == 0 if isinstance(b, Fraction) else False):
        return Fraction(0)
    if isinstance(a, Fraction) and a == 1:
        return b
    if isinstance(b, Fraction) and b == 1:
        return a
    return solver.term(a) * solver.term(b)


def _power(solver: Solver, value: object, exponent: int) -> object:
    if isinstance(value, Fraction):
        return value**exponent
    result: object = Fraction(1)
    for _ in range(exponent):
        result = _times(solver, result, value)
    return result
