"""Route `smt`: an SMT solver, z3, decides the statements again at fixed P.

| statement | asked of z3 |
|---|---|
| `Identity` | a point where the two sides differ |
| `Inequality` | a point where it fails; where z3 cannot say, every step of its certificate |
| `Impossible` | values that satisfy its facts |
| `Deduction` | its premises; the theorem it cites is not z3's |

"proved" is z3's "unsat" within the scope, for example P <= 3; the detail says how far the whole goal went and how far
the steps. "refuted" is a model that `theory.exact` has evaluated again. An "unknown" is "undecided". What is no real
arithmetic (enumerations, logarithms that matter, exponents that stay symbolic) has no finding. z3 is the optional extra
`provers`; without it every finding is "not run".
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import ModuleType

from theory.kinds.deduction import Deduction
from theory.kinds.impossible import Impossible
from theory.routes.finding import Finding, place_of
from theory.routes.smt import decide, further
from theory.routes.smt.solver import NotInstalled, Solver
from theory.routes.smt.translate import Inexpressible
from theory.statements import Identity, Inequality

__all__ = ["findings"]

DECIDE = {
    Identity: decide.decide,
    Inequality: decide.decide,
    Deduction: further.deduction,
    Impossible: further.impossible,
}


def findings(module: ModuleType) -> Iterator[Finding]:
    """What z3 says about each statement of a claim module; "not run" for all of them where it is not installed."""
    for statement in module.STATEMENTS:
        how = DECIDE.get(type(statement))
        if how is None:
            continue
        start = time.perf_counter()
        try:
            answer = how(statement, Solver())
        except NotInstalled as reason:
            answer = decide.Answer("not run", detail=str(reason))
        except Inexpressible:
            continue
        yield Finding(
            "smt",
            statement.name,
            statement.text,
            answer.status,
            answer.scope,
            answer.detail,
            place_of(how),
            answer.witness.data() if answer.witness else None,
            time.perf_counter() - start,
        )
