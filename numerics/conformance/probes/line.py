"""A line of the report while it is being found out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from numerics.conformance.case import Case
from numerics.conformance.judge import EVERYTHING, OUTPUT, Fault, judge, shrink
from numerics.conformance.session import Result, Session
from numerics.rounding import Format

PASS, FAIL, NOT_APPLICABLE = "PASS", "FAIL", "N/A"


@dataclass(frozen=True)
class Finding:
    """A line: the property's name, PASS, FAIL or N/A, a sentence, and for FAIL the smallest input that was found."""

    name: str
    status: str
    diagnosis: str
    input: dict[str, Any] | None = None


class Failed(Exception):
    """The property does not hold."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.says)
        self.fault = fault


class NotApplicable(Exception):
    """The property says nothing about this target."""


@dataclass
class Line:
    """What a probe works with: the session, and the largest error over its bound in each format."""

    session: Session
    name: str
    worst: dict[str, float] = field(default_factory=dict)

    @property
    def formats(self) -> tuple[Format, ...]:
        """The formats that the target accepts."""
        return tuple(self.session.formats.values())

    @property
    def first(self) -> Format:
        """fp32 where it is accepted, for what need not be tried in every format."""
        return self.session.formats.get("fp32", self.formats[0])

    def needs_forward(self) -> None:
        """Raises NotApplicable where only a backward pass is checked."""
        if self.session.target.forward is None:
            raise NotApplicable("a backward pass alone has no forward to check")

    def check(self, case: Case, wanted: tuple[str, ...] = EVERYTHING, hint: str = "", **flags: Any) -> Result:
        """Calls the target and judges the parts that are wanted; raises Failed, with a smaller case if there is one."""
        if case.g is None:
            wanted = (OUTPUT,)
        result = self.session.call(case, **flags)
        fault = judge(self.session, case, result, wanted, self.worst)
        if fault is not None:
            if not flags:
                fault = shrink(self.session, fault, wanted)
            self.fail(fault, hint)
        return result

    def fail(self, fault: Fault | str, hint: str = "") -> NoReturn:
        """Raises Failed."""
        fault = Fault(fault) if isinstance(fault, str) else fault
        raise Failed(replace(fault, says=hint + fault.says))

    def errors(self) -> str:
        """The largest errors over their bounds, in words."""
        found = ", ".join(f"{name} {ratio:.2g}" for name, ratio in self.worst.items())
        return f"largest error over bound: {found}" if found else ""
