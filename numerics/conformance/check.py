"""Every property of one target: what is reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from numerics.conformance.probes import PROPERTIES
from numerics.conformance.probes.line import FAIL, NOT_APPLICABLE, PASS, Failed, Finding, Line, NotApplicable
from numerics.conformance.session import Options, Session
from numerics.conformance.specs import Spec
from numerics.conformance.target import Target, printable

__all__ = ["Report", "check"]


@dataclass(frozen=True)
class Report:
    """The findings in the order of `PROPERTIES`, and how many calls they rest on."""

    target: str
    spec: str
    findings: tuple[Finding, ...]
    calls: int

    @property
    def conforms(self) -> bool:
        """No property fails, and some hold."""
        statuses = {each.status for each in self.findings}
        return FAIL not in statuses and PASS in statuses


def check(
    target: Target,
    spec: Spec,
    options: Options,
    advance: Callable[[str], None] = lambda name: None,
    properties: tuple[str, ...] = tuple(PROPERTIES),
) -> Report:
    """Checks the properties of a target; `advance` is called with the name of each when it has been decided.

    Raises:
        LoadError: the target cannot be loaded.
    """
    target.check()
    session = Session(target, spec, options)
    try:
        session.load()
        session.detect()
        findings = []
        for name in properties:
            findings.append(_found(session, name))
            advance(name)
    finally:
        session.close()
    return Report(target.name, spec.name, tuple(findings), session.calls)


def _found(session: Session, name: str) -> Finding:
    line = Line(session, name)
    try:
        return Finding(name, PASS, printable(PROPERTIES[name](line)))
    except Failed as failed:
        return Finding(name, FAIL, printable(failed.fault.says), failed.fault.data())
    except NotApplicable as reason:
        return Finding(name, NOT_APPLICABLE, str(reason))
    except Exception as error:  # what a target returns may be stranger than foreseen; it is not passed then
        return Finding(name, FAIL, printable(f"could not be judged: {type(error).__name__}: {error}"))
