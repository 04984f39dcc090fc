"""JUnit XML: one test case a claim.

A case passes when the evidence gives the verdict that the ledger records; a FAIL that was expected is reproduced and
so passes, with its verdict named. An OPEN claim, and one whose evidence is incomplete, is skipped, never passed.
A regression or a contradiction is a failure, and a module that raised is an error. The provers that decide a claim are
its property `routes`; one that is not installed is the property `NAME not run`, and makes the case skipped only if it
was asked for by name.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence

from paper_checks import routes
from paper_checks.report import words
from paper_checks.run import Result

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(results: Sequence[Result]) -> str:
    """The results as one JUnit test suite."""
    suite = ET.Element("testsuite", name="paper-checks", tests=str(len(results)))
    for result in results:
        suite.append(_case(result))
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    suite.set("time", f"{sum(_seconds(result) for result in results):.3f}")
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _case(result: Result) -> ET.Element:
    claim, verdict = result.claim, result.verdict
    case = ET.Element("testcase", classname=claim.paper, name=claim.slug, time=f"{_seconds(result):.3f}")
    properties = ET.SubElement(case, "properties")
    for name, value in (
        ("verdict", verdict.verdict),
        ("source", claim.source),
        ("evidence", words.strongest(result)),
        ("routes", words.routes_of(result)),
        *((f"{prover} not run", reason) for prover, reason in routes.absent([result]).items()),
    ):
        ET.SubElement(properties, "property", name=name, value=_clean(value))
    if result.errors:
        ET.SubElement(case, "error", message=_clean(result.errors[0])).text = _clean("\n".join(result.problems))
    elif result.problems:
        ET.SubElement(case, "failure", message=_clean(result.problems[0])).text = _clean("\n".join(result.problems))
    elif result.gaps or verdict.verdict == "OPEN":
        ET.SubElement(case, "skipped", message=_clean("; ".join(result.gaps) or result.reason))
    ET.SubElement(case, "system-out").text = _clean("\n".join([claim.statement, *words.notes(result)]))
    return case


def _seconds(result: Result) -> float:
    return sum(row.seconds or 0.0 for row in result.evidence)


def _clean(text: str) -> str:
    """The text without the control characters that XML cannot hold."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
