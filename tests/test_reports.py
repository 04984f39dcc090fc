"""Reports: valid in their format, complete, and honest about what was not run."""

import dataclasses
import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from numerics.measure import Settings
from paper_checks import run
from paper_checks.claims import Claim, load
from paper_checks.evidence import Evidence
from paper_checks.report import document, junit, markdown, words
from paper_checks.run import Result
from paper_checks.usage import UsageProblem
from paper_checks.verdict import decide

QUICK = ("--device", "cpu", "--dtype", "fp32")
ROW_FIELDS = [
    *("kind", "statement", "status", "scope", "witness", "trials", "worst_error_over_bound"),
    *("dtype", "device", "seed", "seconds", "detail", "route", "text", "place"),
]
CLAIM_FIELDS = {"slug", "paper", "source", "statement", "verdict", "conditions", "corrected", "evidence"}
VOID = {"meta", "br", "link", "img", "hr", "input"}


def result(status="proved", expected="PASS", errors=(), **fields):
    claim = Claim("toy", "eq01", "Eq. 1", "x.", expected, open="later" if expected == "OPEN" else None)
    rows = (Evidence("symbolic", "as printed", status, **fields),) if status else ()
    return Result(claim, decide(rows), rows, errors)


class Page(HTMLParser):
    """Collects what a page loads, and checks that its tags nest."""

    def __init__(self):
        super().__init__()
        self.open, self.loads, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.loads += [value for name, value in attrs if name in ("src", "href") and not value.startswith("#")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_json_has_the_fields_of_the_schema(toy, command):
    data = command("run", *QUICK, "--json", "-").json()
    assert data["schema_version"] == 1
    assert {"schema_version", "environment", "summary", "claims"} <= data.keys()
    assert {"python", "platform", "torch", "sympy", "device", "device_name", "threads", "seed"} <= data[
        "environment"
    ].keys()
    for claim in data["claims"]:
        assert claim.keys() >= CLAIM_FIELDS
        assert all(list(row) == ROW_FIELDS for row in claim["evidence"])


@pytest.mark.parametrize(("worst", "written"), [("nan", "NaN"), ("inf", "Infinity"), ("0.25", 0.25)])
def test_numbers_that_json_lacks_are_strings_that_read_back(toy, command, worst, written):
    toy.write_numerics("eq01", worst=f"float('{worst}')")
    (claim,) = command("run", "eq01", *QUICK, "--json", "-").json()["claims"]
    row = claim["evidence"][-1]
    assert row["worst_error_over_bound"] == written
    assert row["witness"] == {"x": [1.0, "Infinity"]}


def test_json_reads_back_as_the_same_results(toy):
    results = run.run(load()[0].claims, Settings(dtypes=("fp32",)))
    text = document.dumps(document.document(results, {}))
    again = document.results_from(text, load()[0].claims, "--from", "x")
    assert document.dumps(document.document(again, {})) == text


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema_version": 2, "claims": []}', "not json"])
def test_what_is_no_result_file_is_refused(text):
    with pytest.raises(UsageProblem, match=r"--from: got 'x\.json', accepts a file written by"):
        document.results_from(text, [], "--from", "x.json")


def test_a_forged_verdict_is_not_believed(toy):
    results = run.run(load()[0].claims)
    data = document.document(results, {})
    for claim in data["claims"]:
        claim["verdict"] = "PASS"
    again = document.results_from(json.dumps(data), load()[0].claims, "--from", "x")
    assert [r.verdict.verdict for r in again] == ["PASS", "FAIL", "PASS IF", "OPEN"]


@pytest.mark.parametrize(
    ("case", "tag"),
    [
        (result(), None),
        (result("refuted", "FAIL"), None),
        (result(None, "OPEN"), "skipped"),
        (result("undecided", "OPEN"), "skipped"),
        (result("refuted", "PASS"), "failure"),
        (result("undecided", "PASS"), "failure"),
        (result(errors=("it broke",)), "error"),
    ],
)
def test_junit_counts_only_what_is_reproduced_as_passed(case, tag):
    suite = ET.fromstring(junit.render([case])).find("testsuite")
    outcomes = [child.tag for child in suite.find("testcase") if child.tag in ("skipped", "failure", "error")]
    assert outcomes == ([tag] if tag else [])
    assert [suite.get(name) for name in ("tests", "skipped", "failures", "errors")] == [
        "1", *(str(int(tag == name)) for name in ("skipped", "failure", "error"))
    ]  # fmt: skip


def test_junit_skips_a_claim_whose_measurement_was_not_run():
    rows = (Evidence("symbolic", "as printed", "proved"), Evidence("random", "as printed", "not run", detail="no GPU"))
    case = dataclasses.replace(result(), evidence=rows, verdict=decide(rows))
    skipped = ET.fromstring(junit.render([case])).find("testsuite/testcase/skipped")
    assert "no GPU" in skipped.get("message")


def test_junit_survives_control_characters():
    ET.fromstring(junit.render([result(errors=("bell \x07 and \ud800",))]))


def test_html_is_one_well_formed_page_that_loads_nothing(toy, command, tmp_path):
    toy.write_claims((tmp_path / "claims/toy.toml").read_text().replace("x + x is 2 x.", "x + x < 2 <b>x</b> & more."))
    assert command("run", *QUICK, "--html", tmp_path / "x.html").status == 0
    page = Page()
    page.feed((tmp_path / "x.html").read_text())
    page.close()
    assert (page.open, page.loads) == ([], [])
    for part in (
        "x + x < 2 <b>x</b> & more.",
        "2⋅x = y",
        "FAIL",
        "corrected: x + x = 2 x",
        "x != 0",
        "not examined yet",
    ):
        assert part in page.text


def test_html_shows_what_is_wrong(toy, command):
    toy.write_numerics("eq01", worst="2.0")
    found = command("run", *QUICK, "--html", "-")
    assert found.status == 1 and "Not as recorded" in found.out and "a measurement violates it" in found.out


def test_markdown_has_every_claim_with_verdict_evidence_and_scope(toy, command):
    text = command("report", "--markdown").out
    for part in ("### eq01", "### taste", "`PASS IF`", "- x != 0", "Corrected: x + x = 2 x.", "Open: not examined yet.",
                 "| as printed: x + x = 2 x | symbolic: proved | every P |",
                 "exact: refuted, 2 = 1 is false | x = 1 |",
                 "random: violated | x up to 1; fp16, bf16, fp32, fp64 |"):  # fmt: skip
        assert part in text


def test_markdown_does_not_depend_on_the_machine(toy):
    results = run.run(load()[0].claims, Settings(dtypes=("fp16", "fp32")))

    def elsewhere(row):
        ratio = row.worst_error_over_bound and row.worst_error_over_bound * 1.01
        device = row.device and "cuda"
        return dataclasses.replace(row, seconds=123.456, device=device, worst_error_over_bound=ratio)

    moved = [dataclasses.replace(r, evidence=tuple(map(elsewhere, r.evidence))) for r in results]
    there, here = (markdown.render(each, load()) for each in (moved, results))
    assert "Measured on: cpu.\n" in here  # where it was measured is said, and nothing else differs
    assert there == here.replace("Measured on: cpu.\n", "Measured on: cuda.\n")


def test_report_renders_results_of_an_earlier_run(toy, command, tmp_path):
    command("run", "--device", "cpu", "--json", tmp_path / "x.json")
    assert command("report", "--markdown", "--from", tmp_path / "x.json").out == command("report", "--markdown").out


def test_report_of_a_regression_exits_with_1(toy, command):
    toy.write_numerics("eq01", worst="2.0")
    found = command("report", "--markdown")
    assert found.status == 1 and "a measurement violates it" in found.err


def test_nan_is_the_worst_ratio():
    rows = tuple(
        Evidence("random", "as printed", "violated", worst_error_over_bound=w) for w in (5.0, float("nan"), 1e9)
    )
    assert words.ratio(words.worst(dataclasses.replace(result(), evidence=rows), "as printed")) == "nan"


@pytest.mark.parametrize(
    ("values", "relation", "says"),
    [
        ({"left": "25/8", "right": "2"}, "<=", "25/8 <= 2 is false"),
        ({"a": "1", "b": "1", "c": "1", "d": "2"}, "=", "1 = 2 is false"),
        ({"left": "undefined", "right": "1"}, "=", "undefined = 1 is false"),
        ({"left": "1", "right": "2"}, "<", ""),
        ({"left": "1", "right": "2"}, "is near", ""),
    ],
)
def test_a_witness_is_summed_up_by_the_side_that_fails(values, relation, says):
    assert words.failing_side({"values": values, "relation": relation}) == says
