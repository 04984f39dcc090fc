"""The command line: what it prints, what it refuses, and its exit statuses."""

import json
import os
import resource
import shlex
import subprocess
import sys

import pytest

from paper_checks import cli

QUICK = ("--device", "cpu", "--dtype", "fp32")


def without_machine(text):
    document = json.loads(text)
    document.pop("environment")
    for claim in document["claims"]:
        for row in claim["evidence"]:
            row.pop("seconds")
    return document


def test_list_names_every_claim(toy, command):
    found = command("list")
    assert found.status == 0
    assert [line.split()[0] for line in found.out.splitlines()] == ["toy:", "eq01", "eq02", "eq02-rms", "taste"]


def test_list_as_json(toy, command):
    (first, *_, last) = command("list", "--json", "--paper", "toy").json()
    assert (first["slug"], first["source"], first["expected"]) == ("eq01", "section 1, Eq. 1", "PASS")
    assert last["open"] == "not examined yet"


def test_show_gives_statement_derivation_and_verdict(toy, command):
    found = command("show", "eq1")
    assert found.status == 0
    for part in ("eq01  (toy, section 1, Eq. 1)", "x + x is 2 x.", "1. both sides", "2⋅x = y", "verdict: PASS"):
        assert part in found.out


def test_show_gives_witness_and_corrected_statement(toy, command):
    found = command("show", "2")
    assert found.status == 0
    for part in ("x = 1", "left = 2", "right = 1", "verdict: FAIL", "corrected: x + x = 2 x", "assumes: x is real"):
        assert part in found.out


def test_show_as_latex(toy, command):
    assert r"\[ 2 x = y \]" in command("show", "eq01", "--latex").out


def test_show_as_json_has_the_steps_in_both_forms(toy, command):
    shown = command("show", "2-rms", "--json").json()
    assert (shown["verdict"], shown["conditions"]) == ("PASS IF", ["x != 0"])
    (derivation,) = shown["derivation"]
    assert derivation["steps"] == [{"title": "both sides", "text": "2⋅x = y", "latex": "2 x = y"}]


def test_show_of_a_broken_claim_fails_in_one_line(toy, command):
    toy.write_theory("eq01", "raise ValueError('boom')")
    found = command("show", "eq01")
    assert found.status == 1
    assert "ValueError: boom" in found.out and "Traceback" not in found.out + found.err


def test_run_lists_every_claim_then_a_summary(toy, command):
    found = command("run", *QUICK)
    assert found.status == 0 and found.err == ""
    lines = found.out.splitlines()
    assert [line.split()[0] for line in lines[1:7]] == ["eq01", "eq02", "corrected:", "eq02-rms", "if", "taste"]
    assert "PASS" in lines[1] and "proved: every P" in lines[1] and lines[1].endswith("0.5")
    assert "FAIL" in lines[2] and "2 = 1 is false" in lines[2] and lines[2].endswith("3")
    assert lines[-1].startswith("4 claims: 1 PASS, 1 PASS IF, 1 FAIL, 1 OPEN")


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_the_table_fits_the_terminal(toy, command, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert max(len(line) for line in command("run", *QUICK).out.splitlines()) <= columns


def test_the_claims_keep_the_order_of_the_ledger(toy, command):
    document = command("run", "taste", "2", "eq1", *QUICK, "--json", "-").json()
    assert [claim["slug"] for claim in document["claims"]] == ["eq01", "eq02", "taste"]


def test_a_dash_leaves_standard_output_to_the_json(toy, command):
    found = command("run", *QUICK, "--json", "-")
    document = found.json()
    assert document["schema_version"] == 1
    counts = {"PASS": 1, "PASS IF": 1, "FAIL": 1, "OPEN": 1}
    assert document["summary"] == {**counts, "routes": {"1": 3, "2": 0, "3": 0}, "not_run": {}}
    assert "4 claims" in found.err


def test_options_reach_the_measurements(toy, command):
    chosen = ("--dtype", "float16", "--dtype", "BF16", "--dtype", "half", "--trials", "7", "--seed", "5")
    (claim,) = command("run", "eq01", "--device", "cpu", *chosen, "--json", "-").json()["claims"]
    rows = [row for row in claim["evidence"] if row["dtype"]]
    assert [(row["dtype"], row["trials"], row["seed"]) for row in rows] == [("fp16", 7, 5), ("bf16", 7, 5)]


def test_two_runs_with_the_same_seed_agree_whatever_the_number_of_processes(toy, command):
    runs = [command("run", *QUICK, "--json", "-", "--jobs", jobs).out for jobs in ("1", "1", "2")]
    assert without_machine(runs[0]) == without_machine(runs[1]) == without_machine(runs[2])


def test_a_regression_is_loud_and_exits_with_1(toy, command):
    toy.write_claims((toy.directory / "claims" / "toy.toml").read_text().replace('"FAIL"', '"PASS"'))
    found = command("run", *QUICK)
    assert found.status == 1
    assert found.out.splitlines()[-1] == "WRONG  eq02: the evidence says FAIL, the ledger PASS"


def test_a_contradiction_is_loud_and_exits_with_1(toy, command):
    toy.write_numerics("eq01", worst="2.0")
    found = command("run", *QUICK)
    assert found.status == 1 and "PASS" in found.out
    assert "WRONG  eq01: 'as printed' is proved, but a measurement violates it" in found.out


def test_an_open_claim_that_was_asked_for_exits_with_3(toy, command):
    assert command("run", "taste", *QUICK).status == 3
    assert command("run", *QUICK).status == 0


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "eq03"], "SLUG: got 'eq03', accepts a claim of `paper-checks list`; did you mean eq02?"),
        (["show", "nothing-like-it"], "SLUG: got 'nothing-like-it', accepts a claim of `paper-checks list`"),
        (["list", "--paper", "toi"], "--paper: got 'toi', accepts one of toy"),
        (["run", "--dtype", "int8"], "--dtype: got 'int8', accepts one of fp16, bf16, fp32, fp64"),
        (["run", "--trials", "-1"], "--trials: got '-1', accepts an integer from 1"),
        (["run", "--trials", "0"], "--trials: got '0', accepts an integer from 1"),
        (["run", "--trials", "1e3"], "--trials: got '1e3', accepts an integer from 1"),
        (["run", "--seed", "-1"], "--seed: got '-1', accepts an integer from 0"),
        (["run", "--seed", "x"], "--seed: got 'x', accepts an integer from 0"),
        (["run", "--jobs", "0"], "--jobs: got '0', accepts an integer from 1"),
        (["run", "--device", "tpu"], "--device: got 'tpu', accepts one of auto, cpu, cuda"),
        (["run", "--json", "{tmp}/no/such/x.json"], "--json: got '{tmp}/no/such/x.json', accepts a file in a writable"),
        (["run", "--html", "{tmp}"], "--html: got '{tmp}', accepts a file in a writable directory"),
        (["run", "--json", "{tmp}/x", "--junit", "{tmp}/x"], "--junit: got '{tmp}/x', accepts an output other than"),
        (["report"], "report: got 'no format', accepts --markdown"),
        (
            ["report", "--markdown", "--from", "{tmp}/none.json"],
            "--from: got '{tmp}/none.json', accepts",
        ),
        (["run", "--bogus"], "No such option"),
        (["bogus"], "No such command"),
    ],
)
def test_bad_usage_is_one_line_and_exits_with_2(toy, command, tmp_path, arguments, line):
    before = sorted(tmp_path.rglob("*"))
    found = command(*(argument.format(tmp=tmp_path) for argument in arguments))
    assert found.status == 2 and found.out == ""
    assert found.err.startswith("paper-checks: " + line.format(tmp=tmp_path)), found.err
    assert found.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_cuda_without_cuda_is_refused_and_leaves_no_file(toy, command, tmp_path, monkeypatch):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    found = command("run", "--device", "cuda", "--json", tmp_path / "x.json")
    assert found.status == 2 and found.err.startswith("paper-checks: --device: got 'cuda', accepts auto or cpu here")
    assert list(tmp_path.glob("*x.json*")) == []


def test_a_malformed_ledger_is_one_line(toy, command):
    toy.write_claims("[paper", name="broken")
    found = command("list")
    assert found.status == 2 and "broken.toml" in found.err and found.err.count("\n") == 1


def test_an_error_while_writing_leaves_what_was_there(toy, command, tmp_path, monkeypatch):
    target = tmp_path / "x.json"
    target.write_text("before")

    def no_space(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_space)
    found = command("run", *QUICK, "--json", target)
    assert found.status == 2 and "No space left on device" in found.err
    assert target.read_text() == "before" and list(tmp_path.glob(".*")) == []


def test_an_output_keeps_the_mode_of_the_file_and_follows_a_link(toy, command, tmp_path):
    target, link = tmp_path / "x.json", tmp_path / "link.json"
    target.touch(mode=0o640)
    link.symlink_to(target)
    assert command("run", *QUICK, "--json", link).status == 0
    assert link.is_symlink() and target.stat().st_mode & 0o777 == 0o640
    assert json.loads(target.read_text())["schema_version"] == 1


def test_a_device_file_is_written_and_not_replaced(toy, command):
    assert command("run", *QUICK, "--json", os.devnull).status == 0
    assert not os.path.isfile(os.devnull)


def test_no_colour_when_it_is_not_wanted(toy, command, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in command("run", *QUICK).out


def test_a_reader_that_stops_reading_is_no_error(toy):
    script = shlex.join(toy.driver()) + " list | head -n 1"
    found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert (found.stdout, found.stderr) == ("toy:\n", "")


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["run", "--help"]])
def test_start_up_takes_under_half_a_second(arguments):
    def seconds():
        """Processor time: what the clock on the wall says where nothing else runs."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "paper_checks", *arguments], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(3)) < 0.5


def test_listing_imports_nothing_heavy():
    code = "import sys; from paper_checks import cli; cli.call(['list']); print(*sys.modules, file=sys.stderr)"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"torch", "sympy", "numpy", "rich", "joblib", "jinja2"} & set(found.stderr.split())


def test_help_documents_exit_statuses_and_examples(command):
    for arguments in ([], ["--help"], ["run", "--help"]):
        shown = command(*arguments).out
        assert "Exit status:" in shown and "Examples:" in shown


def test_version(command):
    assert command("--version").out.strip() == cli.__version__
