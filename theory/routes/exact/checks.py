"""Decides one statement by exact evaluation: identities, inequalities with their certificates, counterexamples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from theory.certificate import Nonneg, NotProved
from theory.routes.exact.certificates import Assumption, Recheck, Rejected
from theory.routes.exact.evaluation import Evaluation
from theory.routes.exact.identities import Failure, evaluate_identities
from theory.routes.exact.nodes import Node
from theory.routes.exact.numbers import Unknown, rational, sign
from theory.routes.exact.questions import Question, domain, inputs_of, question
from theory.routes.exact.samples import Sample, sample_of
from theory.statements import UNDEFINED, Identity, Inequality

POINTS = 12  # small points at which the sides of an inequality are compared


@dataclass(frozen=True)
class Answer:
    """The status of a statement, its scope, what was done, the witness, and the function that decided."""

    status: str
    scope: str
    detail: str
    decider: Callable
    witness: Mapping[str, object] | None = None


def decide(statement: Identity | Inequality, seed: str) -> Answer:
    """The named counterexample first, then the identity or the certificate."""
    try:
        asked = question(statement)
        told = counterexample(statement, asked, seed)
        if told is not None:
            return told
        check = check_identity if isinstance(statement, Identity) else check_inequality
        return check(statement, asked, seed)
    except (Unknown, ArithmeticError) as reason:
        return Answer("undecided", "", str(reason) or "a side has no value", decide)


def counterexample(statement: Identity | Inequality, asked: Question, seed: str) -> Answer | None:
    """The statement refuted at the point that its file names, if it is; says whether random points find one as well."""
    at = statement.counterexample
    if at is None or not all(hypothesis.holds(at) for hypothesis in statement.hypotheses) or at.outside():
        return None
    inputs, _ = inputs_of(asked.nodes)
    values = values_at(asked, sample_of(at, set(inputs.lengths)))
    if not violated(statement.relation, values):
        return None
    witness = {"inputs": at.data(side for pair in asked.sides for side in pair), "values": shown(values)}
    found = next(violations(statement, asked, small_points(statement, asked.nodes, seed)), None)
    by_chance = "random points find none" if found is None else f"so does a random one with P = {found.length}"
    detail = f"the named counterexample violates it; {by_chance}{_derivatives(asked)}"
    return Answer("refuted", "one exact point", detail, counterexample, witness)


def check_identity(statement: Identity, asked: Question, seed: str) -> Answer:
    """Both sides at one random sample for each P."""
    found = evaluate_identities(statement, asked.differences(), asked.nodes, seed)
    if isinstance(found, Failure):
        simple = next(violations(statement, asked, small_points(statement, asked.nodes, seed)), found.sample)
        return _refuted(statement, asked, simple, check_identity)
    return Answer("consistent", found.scope(), found.detail() + _derivatives(asked), check_identity)


def check_inequality(statement: Inequality, asked: Question, seed: str) -> Answer:
    """Both sides compared at small points, which can only refute; then the certificate checked anew."""
    check, problem = _rechecked(statement, asked)
    points = small_points(statement, [*asked.nodes, *(assumed.value for assumed in check.assumptions)], seed)
    found = next(violations(statement, asked, points), None)
    if found is not None:
        return _refuted(statement, asked, found, check_inequality)
    problem = problem or unfounded(statement, check.assumptions, points)
    if not problem:
        found = evaluate_identities(statement, check.equalities, asked.nodes, seed, everywhere=True)
        if not isinstance(found, Failure):
            done = f"certificate checked anew: {check.rules} rules, {len(check.equalities)} equalities"
            detail = f"{done}; {found.detail()}{_derivatives(asked)}"
            return Answer("consistent", found.scope(), detail, check_inequality)
        problem = f"it is not an identity ({found.purpose})"
    detail = f"the certificate: {problem}; no violation at {len(points)} small points"
    return Answer("undecided", "", detail, check_inequality)


def _rechecked(statement: Inequality, asked: Question) -> tuple[Recheck, str]:
    """The certificates read, and what is wrong with them."""
    check = Recheck(asked.program, asked.reader)
    if statement.proof is None:
        return check, "there is none"
    try:
        certificates = statement.proof()
        certificates = [certificates] if isinstance(certificates, Nonneg) else list(certificates)
        recheck(check, asked, certificates, statement.strict)
    except (NotProved, Rejected) as reason:
        return check, str(reason)
    return check, ""


def recheck(check: Recheck, asked: Question, certificates: list[Nonneg], strict: bool) -> None:
    """Adds the equalities by which certificates prove right - left >= 0; `Rejected` where a rule does not apply."""
    if len(certificates) != len(asked.pairs):
        raise Rejected(f"{len(certificates)} certificates for {len(asked.pairs)} inequalities")
    for (_, difference), certificate in zip(asked.differences(), certificates, strict=True):
        if strict and not certificate.strict:
            raise Rejected("it shows >= 0, not > 0")
        value = check.value(certificate)
        check.equalities.append(("right - left", check.program.add(difference, check.negative(value))))


def unfounded(statement: Inequality, assumptions: list[Assumption], points: list[Sample]) -> str:
    """What a certificate assumes and the statement does not: by name, or at a point of its domain."""
    named = {hypothesis.text for hypothesis in statement.hypotheses}
    missing = [assumption.text for assumption in assumptions if assumption.text not in named]
    if missing:
        return f"it assumes {', '.join(dict.fromkeys(missing))}, which the statement does not name"
    for sample in points if assumptions else ():
        value = Evaluation(sample)
        for assumption in assumptions:
            try:
                if not all(sign(v) > 0 if assumption.strict else sign(v) >= 0 for v in _entries(value, assumption)):
                    return f"'{assumption.text}' does not give what it is used for"
            except (Unknown, IndexError):
                continue
    return ""


def small_points(statement: Identity | Inequality, nodes: list[Node], seed: str) -> list[Sample]:
    """Small points of the domain of a statement."""
    inputs, free = inputs_of(nodes)
    return list(islice(domain(statement, inputs, free, f"{seed} small"), POINTS))


def violations(statement: Identity | Inequality, asked: Question, points: list[Sample]) -> Iterator[Sample]:
    """The points at which the statement fails; a side without a value there decides nothing."""
    for sample in points:
        try:
            values = values_at(asked, sample)
            if UNDEFINED not in values and violated(statement.relation, values):
                yield sample
        except (Unknown, IndexError):
            continue


def values_at(asked: Question, sample: Sample) -> list[object]:
    """left, right, left, right, ... at a sample; "undefined" where a side divides by zero."""
    value = Evaluation(sample)
    values: list[object] = []
    for node in asked.nodes:
        try:
            values.append(value(node))
        except ZeroDivisionError:
            values.append(UNDEFINED)
    return values


def violated(relation: str, values: list[object]) -> bool:
    """Whether some pair does not satisfy the relation, exactly."""
    for left, right in zip(values[::2], values[1::2], strict=True):
        if UNDEFINED in (left, right):
            return True
        order = sign(right - left)
        if not {"=": order == 0, "<=": order >= 0, "<": order > 0}[relation]:
            return True
    return False


def shown(values: list[object]) -> dict[str, object]:
    """Values by the names that the witnesses of `theory.proof` use."""
    pairs = len(values) // 2
    names = [f"{side}{f' {n + 1}' if pairs > 1 else ''}" for n in range(pairs) for side in ("left", "right")]
    exact = (value if isinstance(value, str) or rational(value) else str(value) for value in values)
    return dict(zip(names, exact, strict=True))


def _refuted(statement: Identity | Inequality, asked: Question, sample: Sample, decider: Callable) -> Answer:
    sides = [side for pair in asked.sides for side in pair]
    witness = {"inputs": sample.point().data(sides), "values": shown(values_at(asked, sample))}
    detail = f"a random point with P = {sample.length} violates it{_derivatives(asked)}"
    return Answer("refuted", "one exact point", detail, decider, witness)


def _derivatives(asked: Question) -> str:
    if not asked.taken_by_sympy:
        return ""
    return f"; derivatives taken by SymPy, as they cannot be left standing ({asked.taken_by_sympy})"


def _entries(value: Evaluation, assumption: Assumption) -> Iterator[object]:
    """The values of an assumption at all positions of its indices but those that are excluded."""
    axes = value.axes(assumption.value)

    def walk(entry: object, places: tuple[int, ...]) -> Iterator[object]:
        if len(places) < len(axes):
            for place, deeper in enumerate(entry, start=1):
                yield from walk(deeper, (*places, place))
            return
        at = {**value.sample.positions, **dict(zip(axes, places, strict=True))}
        if not any(at.get(a, a) == at.get(b, b) for a, b in assumption.apart if a in at):
            yield entry

    yield from walk(value(assumption.value), ())
