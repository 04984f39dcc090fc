"""The house: what may import what, and claims and evidence files that match both ways."""

import ast
import importlib
import re
import subprocess
import sys
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from paper_checks import run
from paper_checks.claims import load

ROOT = Path(__file__).parents[1]
PACKAGES = ("theory", "numerics", "paper_checks")
FORBIDDEN = {
    "theory": {"torch", "numpy", "scipy", "numerics", "paper_checks"},
    "numerics": {"sympy", "theory", "paper_checks"},
    "paper_checks/verdict.py": {"torch", "sympy", "theory", "numerics"},
    "paper_checks/claims": {"torch", "sympy", "theory", "numerics"},
    "paper_checks/report": {"torch", "theory", "numerics"},
}
ALLOWED = {(f"theory/analysis/{name}.py", "numpy") for name in ("analysis", "floats")}  # formulas on a user's arrays
CLAIMS = [claim for paper in load() for claim in paper.claims]
MODULES = {
    (claim.paper, claim.slug): f"{claim.paper}/{claim.slug}.py".replace("-", "_") for claim in CLAIMS
}  # (paper, slug) -> path below theory/ and numerics/
DECIDED = [claim for claim in CLAIMS if claim.expected != "OPEN"]
PAPERS = {claim.paper.replace("-", "_") for claim in CLAIMS}


def sources(part):
    path = ROOT / part
    return [path] if path.is_file() else [file for file in path.rglob("*.py") if not file.name.startswith("test_")]


def imported(path):
    """The top-level packages that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]


@pytest.mark.parametrize("part", FORBIDDEN)
def test_data_flows_one_way(part):
    files = sources(part)
    assert files
    found = {(str(file.relative_to(ROOT)), name) for file in files for name in imported(file)}
    assert {pair for pair in found if pair[1] in FORBIDDEN[part]} - ALLOWED == set()


@pytest.mark.parametrize(("package", "heavy"), [("theory", "torch"), ("numerics", "sympy")])
def test_no_package_imports_the_other_sides_library_at_run_time(package, heavy):
    names = sorted(".".join(file.relative_to(ROOT).with_suffix("").parts) for file in sources(package))
    code = f"import importlib, sys\nfor n in {names!r}: importlib.import_module(n)\nsys.exit({heavy!r} in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (0, "")


@pytest.mark.parametrize("claim", DECIDED, ids=lambda claim: claim.slug)
def test_a_decided_claim_has_evidence_on_both_sides(claim):
    for side in ("theory", "numerics"):
        assert (ROOT / side / MODULES[claim.paper, claim.slug]).is_file()


@pytest.mark.parametrize("side", ["theory", "numerics"])
def test_an_evidence_file_has_a_claim(side):
    found = {
        str(file.relative_to(ROOT / side))
        for paper in PAPERS
        for file in (ROOT / side / paper).glob("*.py")
        if file.name != "__init__.py" and not file.name.startswith("test_")
    }
    assert found - set(MODULES.values()) == set()


@pytest.mark.parametrize("side", ["theory", "numerics"])
def test_a_package_of_a_paper_has_a_ledger(side):
    """A folder that holds evidence files is named after a paper: its modules would be found by no claim otherwise."""
    folders = {file.parent.name for file in (ROOT / side).glob("*/eq[0-9]*.py")}
    assert folders <= PAPERS


def test_every_evidence_file_is_found_by_the_run():
    from numerics.measure import Settings

    found = {task.module.replace(".", "/") + ".py" for task in run.tasks(CLAIMS, Settings())}
    possible = {f"{side}/{path}" for side in ("theory", "numerics") for path in MODULES.values()}
    assert found == {path for path in possible if (ROOT / path).is_file()}


@pytest.mark.parametrize("claim", DECIDED, ids=lambda claim: claim.slug)
def test_an_evidence_module_has_what_the_contract_asks_for(claim):
    name = MODULES[claim.paper, claim.slug].removesuffix(".py").replace("/", ".")
    theory, numerics = (importlib.import_module(f"{side}.{name}") for side in ("theory", "numerics"))
    assert callable(theory.derived) and callable(theory.printed) and theory.MUTANTS
    assert any(statement.name == "as printed" for statement in theory.STATEMENTS)
    assert callable(numerics.measure) and callable(numerics.printed) and numerics.MUTANTS


@pytest.mark.parametrize("package", PACKAGES)
def test_files_stay_small_and_say_what_they_are(package):
    for file in (ROOT / package).rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert text.count("\n") <= 300, file
        assert not text.strip() or ast.get_docstring(ast.parse(text)), file


def test_the_wheel_would_hold_every_data_file():
    """Every tracked kind of file that is no Python source is named in the package data."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    package_data = config["tool"]["setuptools"]["package-data"]
    packed = {file for package, globs in package_data.items() for glob in globs for file in (ROOT / package).glob(glob)}
    files = {file for package in ("numerics", "paper_checks") for file in (ROOT / package).rglob("*") if file.is_file()}
    assert {file for file in files - packed if file.suffix not in (".py", ".pyc")} == set()


def test_everything_the_project_asks_for_is_pinned():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {
        re.split(r"[\[><=~ ]", requirement)[0].lower()
        for requirement in [*config["dependencies"], *chain(*config["optional-dependencies"].values())]
    }
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    assert wanted - pinned.keys() == set()
    assert pinned["torch"] == "2.13.0"
