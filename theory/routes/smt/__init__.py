"""Route `smt`: an SMT solver, z3, decides the statements again at fixed P.

| statement | asked of z3 |
|---|---|
| `Identity` | a point where the two sides differ |
| `Inequality` | a point where it fails; where z3 cannot say, every step of its certificate |
| `Impossible` | a solution of its facts |
| `Deduction` | its premises; the theorem it cites is not z3's |

"proved" is z3's "unsat" within the scope, for example P <= 3; the detail says how far the whole goal went and how far
the steps. "refuted" is a model that `theory.exact` has evaluated again. An "unknown" is "undecided". Statements that
are no real arithmetic (enumerations, logarithms that matter, exponents that stay symbolic) have no finding.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import ModuleType

from theory.kinds.deduction import Deduction
from theory.kinds.impossible import Impossible
from theory.routes.finding import Finding, place_of
from theory.routes.smt import decide
from theory.routes.smt.solver import NotInstalled, Solver, load
from theory.routes.smt.translate import Inexpressible
from theory.statements import Identity, Inequality

__all__ = ["findings"]

APPLIES = (Identity, Inequality)


def findings(module: ModuleType) -> Iterator[Finding]:
    """What z3 says about each statement of a claim module; "not run" for all of them where it is not installed."""
    for statement in module.STATEMENTS:
        if isinstance(statement, APPLIES):
            start = time.process_time()
            try:
                answer = decide.decide(statement, Solver())
            except NotInstalled as reason:
                yield Finding("smt", statement.name, statement.text, "not run", "", str(reason))
                continue
            except Inexpressible as reason:
                print("INEXPR", module.__name__, statement.name, reason)
                continue
            yield Finding("smt", statement.name, statement.text, answer.status, answer.scope, answer.detail,
               place_of(decide), answer.witness.data() if answer.witness else None, time.process_time()-start)
