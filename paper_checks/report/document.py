"""JSON: the results of a run as data (`schema_version` 1), and back.

Only standard JSON is written. A number that JSON lacks becomes the string "NaN", "Infinity" or "-Infinity", which
`float(...)` and JavaScript's `Number(...)` read back; null means that a field does not apply. Two runs with the same
seed, device and versions differ in `environment` and `seconds` alone.

Beside the verdicts, `summary` counts in `routes` the claims that one, two, and three or more routes decide
(`paper_checks.routes`), and names in `not_run` the provers that are not there, with the reason. `problems` lists what
makes a run fail, `reason` says why a claim is OPEN, and `routes` of a claim is the least number of routes that decide
one of its statements. In a row of evidence

    kind    is `symbolic` (SymPy's proof), `exact` (SymPy's refutation, or the route of that name), `smt`, `interval`,
            `coq`, or the kind of measurement
    route   is `sympy`, `exact`, `smt`, `interval` or `coq`, null for a measurement
    text    is the text of the statement, which tells apart the parts of one name; for Coq the part that its theorem
            decides, "" if that is all of it
    place   is "file:line" of the statement, or of what an independent route decides it by; "" for a measurement
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from paper_checks import routes
from paper_checks.claims import VERDICTS, Claim
from paper_checks.evidence import Evidence
from paper_checks.run import Result
from paper_checks.usage import UsageProblem
from paper_checks.verdict import decide

SCHEMA_VERSION = 1


def document(results: Sequence[Result], environment: Mapping) -> dict:
    """The run as plain data."""
    return {
        "schema_version": SCHEMA_VERSION,
        "environment": dict(environment),
        "summary": {**summary(results), "routes": routes.counts(results), "not_run": routes.absent(results)},
        "problems": [problem for result in results for problem in result.problems],
        "claims": [claim_data(result) for result in results],
    }


def claim_data(result: Result) -> dict:
    """One claim as plain data."""
    claim, verdict = result.claim, result.verdict
    return {
        "slug": claim.slug,
        "paper": claim.paper,
        "source": claim.source,
        "statement": claim.statement,
        "verdict": verdict.verdict,
        "conditions": list(verdict.conditions),
        "corrected": verdict.corrected,
        "reason": result.reason or None,
        "routes": routes.fewest(result.evidence),
        "evidence": [dataclasses.asdict(row) for row in result.evidence],
    }


def summary(results: Iterable[Result]) -> dict[str, int]:
    """How many claims have each verdict."""
    counts = Counter(result.verdict.verdict for result in results)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def dumps(data: object) -> str:
    """Data as JSON text."""
    return json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def results_from(text: str, claims: Iterable[Claim], argument: str, path: str) -> list[Result]:
    """The results that `dumps(document(...))` wrote, each with its verdict computed again from its evidence.

    Raises:
        UsageProblem: the text is not such a document, or names a claim that the ledger lacks.
    """
    known = {(claim.paper, claim.slug): claim for claim in claims}
    try:
        data = json.loads(text)
        if data["schema_version"] != SCHEMA_VERSION:
            raise ValueError(f"its schema_version is {data['schema_version']}")
        return [_result(entry, known[entry["paper"], entry["slug"]]) for entry in data["claims"]]
    except (ValueError, TypeError, KeyError) as error:
        accepted = f"a file written by `paper-checks run --json` ({type(error).__name__}: {error})"
        raise UsageProblem(argument, path, accepted) from error


def _result(entry: Mapping, claim: Claim) -> Result:
    rows = tuple(Evidence(**row) for row in entry["evidence"])
    rows = tuple(dataclasses.replace(row, worst_error_over_bound=_number(row.worst_error_over_bound)) for row in rows)
    return Result(claim, decide(rows), rows)


def _number(value: float | str | None) -> float | None:
    return None if value is None else float(value)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return str(value)
