"""Which independent routes there are, and how many of them decide each claim.

Verdicts rest on SymPy. A route decides the same statements by other means (`theory.routes`); `run` asks those that its
option --provers names, and counts for each claim how many routes, SymPy among them, decide it:

- a statement is decided by the routes with a row that proves it, refutes it or finds it true at every point tried, and
  none that contradicts another route; of a statement in several parts a route may decide some only;
- a claim has as many routes as the one of "as printed" and "corrected" that has fewest;
- claims that the ledger leaves open are not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from paper_checks.evidence import CORRECTED, PRINTED, Evidence
from paper_checks.verdict import HOLDS, disagreements

if TYPE_CHECKING:
    from paper_checks.run import Result

MODULES = {  # route -> the module with its `findings`, in the order of the reports
    "exact": "theory.routes.exact",
    "smt": "theory.routes.smt",
    "interval": "theory.routes.interval",
    "coq": "theory.routes.kernel",
}
MOST = 3  # three routes and more are counted together


def deciding(evidence: Iterable[Evidence]) -> dict[str, set[str]]:
    """The routes that decide each of the statements "as printed" and "corrected" that the evidence is about."""
    rows = [row for row in evidence if row.route is not None]
    contradicted = {id(row) for pair in disagreements(rows) for row in pair}
    found: dict[str, set[str]] = {}
    for name in (PRINTED, CORRECTED):
        own = [row for row in rows if row.statement == name]
        wrong = {row.route for row in own if id(row) in contradicted}
        if own:
            found[name] = {row.route for row in own if row.status in HOLDS} - wrong
    return found


def fewest(evidence: Iterable[Evidence]) -> int:
    """How many routes decide a claim: the least number over its statements, 0 if nothing is decided."""
    return min((len(routes) for routes in deciding(evidence).values()), default=0)


def counts(results: Iterable[Result]) -> dict[str, int]:
    """How many claims have one, two, and three or more routes."""
    found = Counter(min(fewest(result.evidence), MOST) for result in results if result.claim.expected != "OPEN")
    return {str(number): found[number] for number in range(1, MOST + 1)}


def alone(results: Iterable[Result]) -> list[str]:
    """The slugs of the claims that no more than one route decides."""
    return [r.claim.slug for r in results if r.claim.expected != "OPEN" and fewest(r.evidence) < 2]


def absent(results: Iterable[Result]) -> dict[str, str]:
    """The routes that were not run, with the reason that one of their rows gives."""
    rows = [row for result in results for row in result.evidence if row.route and row.status == "not run"]
    return {row.route: row.detail for row in reversed(rows)}
