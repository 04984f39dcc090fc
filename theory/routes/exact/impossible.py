"""Impossibilities: the combination of the facts is what the certificate proves positive, or an object refutes it."""

from __future__ import annotations

from theory.certificate import NotProved
from theory.kinds.computed import HOLDS
from theory.kinds.impossible import Impossible
from theory.routes.exact.certificates import Recheck, Rejected
from theory.routes.exact.checks import Answer
from theory.routes.exact.identities import Failure, evaluate_identities
from theory.routes.exact.nodes import Program
from theory.routes.exact.numbers import Unknown
from theory.routes.exact.reading import Reader
from theory.standing import CannotStand, standing


def decide(statement: Impossible, seed: str) -> Answer:
    """Refuted by the object that is named, consistent by the contradiction, or undecided."""
    if statement.counterexample is not None:
        witness = statement.counterexample()
        values = dict(witness.recompute())
        if not HOLDS[witness.relation](values["left"], values["right"]):
            found = {"inputs": dict(witness.inputs), "values": values}
            return Answer(
                "refuted",
                "one exact object",
                "the named object has the properties; its values are those that the claim's file recomputes",
                decide,
                found,
            )
    try:
        return _contradiction(statement, seed)
    except (CannotStand, NotProved, Rejected, Unknown) as reason:
        return Answer("undecided", "", str(reason), decide)


def _contradiction(statement: Impossible, seed: str) -> Answer:
    with standing():
        facts = list(statement.facts())
    positive = statement.positive()
    program = Program()
    reader = Reader(program)
    check = Recheck(program, reader)
    value = check.value(positive)
    missing = [need for fact in facts for need in fact.needs if need not in statement.assumes]
    missing += [assumption.text for assumption in check.assumptions if assumption.text not in statement.assumes]
    if missing:
        return Answer("undecided", "", f"uses what is not assumed: {', '.join(dict.fromkeys(missing))}", decide)
    if not positive.strict:
        return Answer("undecided", "", "the certificate shows >= 0, not > 0", decide)
    combination = program.add(*(program.mul(reader(fact.cofactor), reader(fact.expr)) for fact in facts))
    check.equal("the combination of the facts", combination, value)
    found = evaluate_identities(None, check.equalities, [combination, value], seed, everywhere=True)
    if isinstance(found, Failure):
        return Answer("undecided", "", "the facts do not add up to the positive expression", decide)
    detail = f"{len(facts)} facts combined, {check.rules} rules checked anew; {found.detail()}"
    return Answer("consistent", "the contradiction; the theorems behind the facts are not checked", detail, decide)
