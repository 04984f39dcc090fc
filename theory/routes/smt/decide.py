"""How a statement is put to z3, and what its answers are worth.

    identity     left - right, one fraction: is there a point where its numerator is not zero?
    inequality   the whole goal: is there a point where right < left? Where z3 does not say, its certificate's steps

at 1, 2 and 3 phasors, as far as z3 gets within its limits (2 where an exponent is a symbol, which gets a value), and
for every P at once where no sum depends on it. One phasor alone is not enough. The hypotheses are those that the
certificate assumes; that they can be met at all is a query as well. "unsat" proves, within that scope; "sat" refutes
if its model holds up (`theory.routes.smt.models`); "unknown" ends the search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, product

import sympy as sp
from sympy.tensor.indexed import IndexedBase

from theory.certificate import Nonneg, NotProved
from theory.lemmas import recording
from theory.phasors import N, P
from theory.proof import Witness
from theory.routes.smt.models import Mismatch, counterexample
from theory.routes.smt.solver import Solver
from theory.routes.smt.steps import Steps, hypotheses
from theory.routes.smt.translate import Inexpressible, Translation, bases_of, lengths_of, positions_of, shortest
from theory.statements import Statement, entries_of

LONGEST = 3
ENOUGH = 2  # one phasor alone is no evidence about sums
PATIENCE = 6  # queries without an answer, after which nothing larger is asked about a statement
WHOLE = "the whole goal"
EXPONENTS = (Fraction(1), Fraction(2), Fraction(3), Fraction(1, 2), Fraction(3, 2))


@dataclass
class Answer:
    """What z3 said: `status` as in a `Finding`, where, and how."""

    status: str
    scope: str = ""
    detail: str = ""
    witness: Witness | None = None


@dataclass
class Query:
    """One statement at one length: its translation, what is assumed, and its pairs as fractions."""

    statement: Statement
    solver: Solver
    translate: Translation
    sides: Sequence[tuple[sp.Expr, sp.Expr]]
    certificates: Sequence[Nonneg] = ()
    assumed: list[object] = field(default_factory=list)
    answer: tuple[str, object | None] | None = None

    def __post_init__(self) -> None:
        self.pairs = [(self.translate(a), self.translate(b)) for a, b in self.sides]
        for divisor in self.statement.nonzero:
            if isinstance(divisor, IndexedBase):
                for k in range(1, self.translate.length + 1):
                    self.translate.not_zero(self.translate(divisor[k]))
            else:
                self.translate.not_zero(self.translate(divisor))
        for certificate in self.certificates:
            for value, strict in hypotheses(certificate, self.translate):
                term = self.solver.term(value.numerator_with_sign())
                self.assumed.append(term > 0 if strict else term >= 0)

    def known(self) -> list[object]:
        """Everything that may be assumed."""
        return [*self.translate.known(), *self.assumed]

    def wrong(self) -> Iterator[object]:
        """For each pair, that it does not satisfy the relation."""
        for a, b in self.pairs:
            gap = b - a
            if self.statement.relation == "=":
                yield gap
            else:
                term = self.solver.term(gap.numerator_with_sign())
                yield term <= 0 if self.statement.relation == "<" else term < 0

    def whole(self) -> tuple[str, object | None]:
        """unsat if every pair holds, sat with a model if one fails, else unknown; asked once."""
        if self.answer is None:
            self.answer = self._whole()
        return self.answer

    def _whole(self) -> tuple[str, object | None]:
        unsure = False
        for wrong in self.wrong():
            if self.statement.relation == "=":
                answer, model = self.solver.is_zero(wrong, self.translate, *self.assumed)
            else:
                answer, model = self.solver.ask(wrong, *self.known())
            if answer == "sat":
                return answer, model
            if answer == "unknown" and (self.certificates or self.solver.unknown >= PATIENCE):
                return answer, None
            unsure |= answer == "unknown"
        return ("unknown" if unsure else "unsat"), None

    def steps(self) -> tuple[bool, str]:
        """Whether z3 accepts every node of the certificates, and that they are the differences of the sides."""
        checker = Steps(self.solver, self.translate, self.assumed)
        for (a, b), certificate in zip(self.pairs, self.certificates, strict=True):
            if self.statement.strict and not certificate.strict:
                return False, "the certificate shows >= 0, not > 0"
            if not checker.equal(b - a, self.translate(certificate.expr)):
                return False, "z3 does not find the certificate equal to the difference of the sides"
            if not checker.accept(certificate):
                return False, checker.refused
        return True, f"{checker.count} steps"


def decide(statement: Statement, solver: Solver) -> Answer:
    """z3's answer about an identity or an inequality; raises `Inexpressible` where it is not real arithmetic."""
    return _Search(statement, solver).answer()


class _Search:
    """The queries about one statement, from one phasor upwards."""

    def __init__(self, statement: Statement, solver: Solver) -> None:
        self.statement, self.solver = statement, solver
        self.problem = ""
        self.certificates = self._certificates()
        left, right = (entries_of(side) for side in statement.sides())
        self.sides = list(zip(left, right, strict=True))
        proofs = [node.expr for certificate in self.certificates for node in certificate.walk()]
        self.expressions = [*left, *right, *proofs, *(e for e in statement.nonzero if not isinstance(e, IndexedBase))]
        self.positions = positions_of(self.expressions)
        self.free = {s for e in self.expressions for s in e.free_symbols if s.is_Symbol and not isinstance(s, sp.Dummy)}
        self.free -= set(self.positions)
        self.free -= {base.label for base in bases_of(self.expressions)}
        self.lengths = lengths_of(self.expressions)
        self.unsure = ""
        self.queries: dict[tuple, Query] = {}
        self.shortest = shortest(self.expressions)

    def _certificates(self) -> list[Nonneg]:
        proof = getattr(self.statement, "proof", None)
        if proof is None:
            return []
        try:
            with recording():
                found = proof()
        except NotProved as reason:
            self.problem = str(reason)
            return []
        found = [found] if isinstance(found, Nonneg) else list(found)
        named = {hypothesis.text for hypothesis in self.statement.hypotheses}
        unnamed = [text for certificate in found for text in certificate.hypotheses if text not in named]
        if unnamed:
            self.problem = f"the certificate assumes '{unnamed[0]}', which the statement does not name"
            return []
        return found

    def answer(self) -> Answer:
        """Proved within a scope, refuted by a model that holds up, or undecided."""
        found = []
        for fixed in self._exponents():
            answer = self._every_length(fixed) if self.lengths else self._at_once(fixed)
            if answer.status == "refuted":
                return answer
            if answer.status == "proved":
                found.append((", ".join([answer.scope, *(f"{s} = {v}" for s, v in fixed.items())]), answer.detail))
        if not found:
            if any(e.has(sp.log) for e in self.expressions):
                raise Inexpressible("it rests on what a logarithm is")
            return Answer("undecided", detail=self.unsure or self.problem or "z3 has not decided it within its limits")
        return Answer("proved", "; ".join(scope for scope, _ in found), "; ".join(dict.fromkeys(d for _, d in found)))

    def _exponents(self) -> list[dict[sp.Symbol, Fraction]]:
        """Values for the symbols in exponents that meet the hypotheses about them: the first choice that does."""
        powers = {node.exp for e in self.expressions for node in e.atoms(sp.Pow)}
        symbols = sorted({s for exponent in powers for s in exponent.free_symbols}, key=str)
        if not symbols:
            return [{}]
        if any(s not in self.free for s in symbols):
            raise Inexpressible("an exponent that differs from phasor to phasor")
        leaves = {n.expr: n.strict for c in self.certificates for n in c.walk() if n.hypothesis}
        about = {e: strict for e, strict in leaves.items() if e.free_symbols and e.free_symbols <= set(symbols)}

        def meets(values: dict[sp.Symbol, Fraction]) -> bool:
            exact = {s: sp.Rational(v.numerator, v.denominator) for s, v in values.items()}
            if any(s.is_integer and v.denominator != 1 for s, v in values.items()):
                return False
            return all(e.subs(exact) > 0 if strict else e.subs(exact) >= 0 for e, strict in about.items())

        choices = (dict(zip(symbols, values, strict=True)) for values in product(EXPONENTS, repeat=len(symbols)))
        found = list(islice((choice for choice in choices if meets(choice)), 1))
        if not found:
            raise Inexpressible(f"no exponent among {', '.join(map(str, EXPONENTS))} meets the hypotheses")
        return found

    def _query(self, length: int, fixed: dict, squares: bool, integers: bool = False) -> Query:
        key = (length, tuple(fixed.items()), squares, integers)
        if key not in self.queries:
            self.queries[key] = self._translated(*key[:1], fixed, squares, integers)
        return self.queries[key]

    def _translated(self, length: int, fixed: dict, squares: bool, integers: bool) -> Query:
        lengths = self.lengths | ({P, N} if self.lengths else set())
        lengths |= {s for s in self.free if s.is_integer} if integers else set()
        translate = Translation(self.solver, length, lengths, bases_of(self.expressions), fixed, squares)
        translate.positions = self.positions
        return Query(self.statement, self.solver, translate, self.sides, self.certificates)

    def _at_once(self, fixed: dict) -> Answer:
        """No sum: one query for every P, P being any real number from 1."""
        status, detail = self._at(self.shortest, fixed)
        if status == "unsat":
            return Answer("proved", "every P" if P in self.free else self.statement.scope, detail)
        for length in range(1, max(LONGEST, self.shortest) + 1) if status == "sat" else ():
            refuted = self._refuted(length, fixed, integers=True)
            if refuted:
                return refuted
        return Answer("undecided")

    def _every_length(self, fixed: dict) -> Answer:
        reached: dict[str, int] = {}
        lengths: list[int] = []
        whole = proving = True
        for length in range(1, (ENOUGH if fixed else LONGEST) + 1):
            try:
                status, how = self._at(length, fixed, whole)
                if status == "unknown" and self.solver.unknown >= PATIENCE:
                    break
                if status in ("sat", "unknown"):
                    refuted = self._refuted(length, fixed)
                    if refuted or status == "sat":
                        return refuted or Answer("undecided")
            except (IndexError, ZeroDivisionError):
                continue  # no such phasor, or nothing to divide by, at this P
            proving &= status != "unknown"
            if status == "unknown" and self.certificates:
                break
            if status == "unsat" and proving:
                lengths.append(length)
                reached[how] = length
                whole = how == WHOLE
        if not lengths or lengths[-1] < ENOUGH:
            self.unsure = self.unsure or "z3 has decided it for one phasor only"
            return Answer("undecided")
        name = "P" if P in self.lengths else str(min(self.lengths, key=str))
        scope = f"{name} <= {lengths[-1]}" if lengths[0] == 1 else f"{lengths[0]} <= {name} <= {lengths[-1]}"
        return Answer("proved", scope, "; ".join(f"{how} at {name} <= {length}" for how, length in reached.items()))

    def _at(self, length: int, fixed: dict, whole: bool = True) -> tuple[str, str]:
        """(answer, how): unsat, sat, unknown, or "empty" where the assumptions cannot be met."""
        query = self._query(length, fixed, squares=False)
        answer = query.whole()[0] if whole else "unknown"
        how = WHOLE
        if answer == "unknown" and self.certificates:
            accepted, how = query.steps()
            self.unsure = self.unsure if accepted else how
            answer = "unsat" if accepted else "unknown"
        if answer == "unsat":
            possible = self._possible(length, fixed)
            if possible != "sat":
                self.unsure = "z3 has not found that the hypotheses can be met"
            return {"sat": "unsat", "unsat": "empty", "unknown": "unknown"}[possible], how
        return answer, how

    def _possible(self, length: int, fixed: dict) -> str:
        """Whether anything satisfies what is assumed: a proof about nothing is none."""
        for squares in (False, True):
            answer = self.solver.ask(*self._query(length, fixed, squares).known())[0]
            if answer != "unknown":
                break
        return answer

    def _refuted(self, length: int, fixed: dict, integers: bool = False) -> Answer | None:
        """A refutation by a model that holds up, with the coordinates as they are or as complex squares."""
        for squares in (True, False):
            try:
                query = self._query(length, fixed, squares, integers)
                answer, model = query.whole()
                if answer != "sat":
                    continue
                refuted = counterexample(self.statement, query.translate, model, self.free)
            except Mismatch as reason:
                self.unsure = str(reason)
            except (IndexError, ZeroDivisionError):
                return None
            else:
                return Answer("refuted", "one exact point", "z3's model, evaluated again", refuted.witness)
        return None
