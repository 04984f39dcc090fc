"""CONTRIBUTING.md is true: its files, written into a copy of the project, give the verdicts it promises."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("theory", "numerics", "paper_checks")
FILE = re.compile(r"^`(\S+/\S+)`\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A copy of the packages with the files of the walk added, and nothing else changed."""
    folder = tmp_path_factory.mktemp("walk")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__", "test_*"))
    for name, text in FILE.findall((ROOT / "CONTRIBUTING.md").read_text()):
        path = folder / name
        assert not path.exists(), f"{name} would overwrite a file"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


def run(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_the_toy_paper_gets_its_verdicts(copy):
    process = run(copy, "paper_checks", "run", "--paper", "toy", "--json", "-", "--trials", "4")
    assert process.returncode == 0, process.stderr
    claims = {claim["slug"]: claim for claim in json.loads(process.stdout)["claims"]}
    assert {slug: claim["verdict"] for slug, claim in claims.items()} == {"doubling": "PASS", "square": "FAIL"}
    assert claims["square"]["corrected"] == "(mean r)^2 <= mean r^2"
    assert "consistent" in {row["status"] for row in claims["doubling"]["evidence"]}


@pytest.mark.parametrize(("side", "verdict"), [("theory", "FAIL"), ("numerics", "PASS")])
def test_a_mutant_in_the_place_of_printed_is_noticed(copy, tmp_path, side, verdict):
    folder = tmp_path / "copy"
    shutil.copytree(copy, folder)
    path = folder / side / "toy" / "doubling.py"
    path.write_text(path.read_text() + '\n\nprinted = MUTANTS["four times"]\n')
    process = run(folder, "paper_checks", "run", "doubling", "--json", "-", "--trials", "4")
    assert process.returncode == 1
    (claim,) = json.loads(process.stdout)["claims"]
    assert claim["verdict"] == verdict  # a measurement alone does not change it: it contradicts the proof, loudly
    statuses = {row["status"] for row in claim["evidence"]}
    assert ("refuted" if side == "theory" else "violated") in statuses
