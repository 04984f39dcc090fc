"""The command `conform`: what it prints, writes and returns, and what becomes of a process that misbehaves."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from numerics.conformance.memory import Memory
from numerics.conformance.probes import PROPERTIES
from numerics.conformance.process import LONGEST, Child, Garbled
from paper_checks import commands_conform

ROOT = Path(__file__).parents[1]
TARGETS = Path(__file__).parent / "conformance_targets"
NAMES = [
    "forward",
    "input-gradient",
    "weight-gradient",
    "dtype-shape",
    "eps",
    "pairing",
    "independence",
    "gamma",
    "zero-row",
    "zero-pair",
    "fp16-range",
    "bf16-range",
    "spike",
    "scale-invariance",
    "widths",
    "rows",
    "layout-input",
    "layout-gradient",
    "purity",
    "determinism",
    "compile",
    "non-finite",
]
PAPER = '{"num_groups": 1, "num_channels": "{channels}", "channel_dim": -1}'


@pytest.fixture
def patient(monkeypatch):
    """Limits that a loaded machine keeps."""
    monkeypatch.setattr(commands_conform, "LIMITS", {False: ("600", 60.0), True: ("600", 60.0)})


def test_the_properties_are_those_of_the_document_in_its_order():
    assert list(PROPERTIES) == NAMES


def test_a_conforming_target_exits_with_0_and_prints_a_line_a_property_and_the_seed(command, patient):
    found = command("conform", "numerics.norms:MRSNorm", "--quick", "--seed", "11")
    lines = found.out.splitlines()
    assert (found.status, found.err) == (0, "")
    assert [line.split()[1] for line in lines[: len(NAMES)]] == NAMES
    assert {line.split()[0] for line in lines[: len(NAMES)]} == {"PASS", "N/A"}
    assert lines[-1].startswith("numerics.norms:MRSNorm conforms to mrsnorm: 21 PASS, 1 N/A")
    assert "seed 11)" in lines[-1]


def test_the_document_has_the_promised_form(command, patient, tmp_path):
    file = tmp_path / "found.json"
    target = f"{TARGETS}/wrong_gradients.py:StatisticDetached"
    found = command("conform", target, "--quick", "--json", file, "--dtype", "float32")
    document = json.loads(file.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert found.status == 1
    assert list(document) == ["schema_version", "target", "spec", "conforms", "properties"]
    assert (document["schema_version"], document["target"], document["spec"]) == (1, target, "mrsnorm")
    assert document["conforms"] is False
    assert [each["name"] for each in document["properties"]] == NAMES
    for each in document["properties"]:
        assert list(each) == ["name", "status", "diagnosis", "input"]
        assert each["status"] in ("PASS", "FAIL", "N/A") and each["diagnosis"]
        assert (each["input"] is None) == (each["status"] != "FAIL")
    by_name = {each["name"]: each for each in document["properties"]}
    assert by_name["input-gradient"]["diagnosis"].startswith("input gradient: statistic held constant")
    assert by_name["weight-gradient"]["status"] == "PASS"
    assert by_name["fp16-range"]["diagnosis"] == "fp16 was not asked for"


def test_the_document_goes_to_standard_output_and_the_table_beside_it(command, patient):
    found = command("conform", f"{TARGETS}/wrong_behaviour.py:Raises", "--quick", "--json", "-", "--seed", "1")
    assert found.status == 1 and found.json()["conforms"] is False
    assert "FAIL  forward           raises RuntimeError: there is no kernel for this" in found.err
    assert {each["status"] for each in found.json()["properties"]} == {"FAIL", "N/A"}


def test_a_message_that_no_terminal_takes_is_told_in_one_line(command, patient, tmp_path):
    file, target = tmp_path / "found.json", f"{TARGETS}/wrong_behaviour.py:RaisesOddly"
    found = command("conform", target, "--quick", "--json", file, "--dtype", "fp32")
    said = "raises RuntimeError: a lone surrogate ?, a bell ? and a second line"
    assert found.status == 1 and f"FAIL  forward           {said}" in found.out
    assert json.loads(file.read_text(encoding="utf-8"))["properties"][0]["diagnosis"] == said


def test_numbers_that_json_does_not_have_are_strings(command, patient):
    found = command("conform", f"{TARGETS}/wrong_values.py:EpsMissing", "--quick", "--json", "-", "--dtype", "fp32")
    by_name = {each["name"]: each for each in found.json()["properties"]}
    assert by_name["zero-row"]["input"]["got"] == "nan"


def test_the_papers_module_is_adapted_by_kwargs(command, patient):
    place = f"{TARGETS}/appendix_c.py:GroupMRSNorm"
    found = command("conform", place, "--kwargs", PAPER, "--quick", "--dtype", "fp32")
    assert found.status == 0 and "conforms to mrsnorm" in found.out


def test_a_new_seed_is_drawn_each_time(command, patient):
    lines = [
        command("conform", f"{TARGETS}/wrong_behaviour.py:Raises", "--quick").out.splitlines()[-1] for _ in range(2)
    ]
    assert lines[0].partition("seed")[2] != lines[1].partition("seed")[2]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "TARGET: got None, accepts package.module:Name or path/to/file.py:Name of a module class, a factory or"),
        (["torch.nn"], "TARGET: got 'torch.nn', accepts package.module:Name"),
        (["no/such.py:Norm"], "(there is no file no/such.py)"),
        (["no_such_module:Norm"], "(ModuleNotFoundError: No module named 'no_such_module')"),
        (["torch.nn:RMSNormal"], "(AttributeError: module 'torch.nn' has no attribute 'RMSNormal')"),
        (["math:pi"], "(TypeError: it is a float: not a class, a factory or a function)"),
        (["{targets}/broken.py:Syntax"], "(SyntaxError:"),
        (["{targets}/unloadable.py:Norm"], "(importing it ended the process (exit status 3))"),
        (["{targets}/appendix_c.py:GroupMRSNorm"], "(TypeError: GroupMRSNorm.__init__() missing"),
        (["torch.nn:RMSNorm", "--spec", "batchnorm"], "--spec: got 'batchnorm', accepts one of mrsnorm, group-mrsnorm"),
        (["torch.nn:RMSNorm", "--kwargs", "[1]"], "--kwargs: got '[1]', accepts a JSON object"),
        (["torch.nn:RMSNorm", "--kwargs", '{"no": 1}'], "unexpected keyword argument 'no'"),
        (["torch.nn:RMSNorm", "--dtype", "int8"], "--dtype: got 'int8', accepts one of fp16"),
        (["torch.nn:RMSNorm", "--seed", "-1"], "--seed: got '-1', accepts an integer from 0"),
        (["torch.nn:RMSNorm", "--time-limit", "0"], "--time-limit: got '0', accepts an integer from 1"),
        (["torch.nn:RMSNorm", "--json", "{targets}/no/x.json"], "accepts a file in a writable directory"),
        (["--backward", "math:pi"], "--backward: got 'math:pi', accepts package.module:Name or"),
    ],
)
def test_what_cannot_be_loaded_is_one_line_and_status_2(command, arguments, line, tmp_path):
    (tmp_path / "broken.py").write_text("def Syntax(:\n", encoding="utf-8")
    (tmp_path / "unloadable.py").write_text("import os\nos._exit(3)\n", encoding="utf-8")
    (tmp_path / "appendix_c.py").write_text((TARGETS / "appendix_c.py").read_text(encoding="utf-8"), encoding="utf-8")
    found = command("conform", *(each.replace("{targets}", str(tmp_path)) for each in arguments))
    assert (found.status, found.out) == (2, "")
    assert line in found.err and len(found.err.splitlines()) == 1


def test_a_module_in_the_working_directory_is_found_and_may_print_while_it_is_imported(tmp_path):
    source = "print('a banner')\nfrom numerics.norms import MRSNorm as Mine\n"
    (tmp_path / "my_norms_for_this_test.py").write_text(source, encoding="utf-8")
    code = "from paper_checks import cli; raise SystemExit(cli.call())"
    arguments = ["conform", "my_norms_for_this_test:Mine", "--quick", "--dtype", "fp32", "--time-limit", "500"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert "banner" not in found.stdout


def test_an_interrupted_check_leaves_no_process_behind(tmp_path, spawn):
    (tmp_path / "sleeper.py").write_text(
        "import os, pathlib, time\npathlib.Path('pid').write_text(str(os.getpid()))\ntime.sleep(600)\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "paper_checks", "conform", "sleeper.py:Norm"]
    process = spawn(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    pid = tmp_path / "pid"
    while not (pid.exists() and pid.read_text()):
        assert process.poll() is None
        time.sleep(0.05)
    child = int(pid.read_text())
    process.terminate()
    assert process.wait() == 128 + 15
    assert process.stderr.read() == b""
    process.stderr.close()
    for _ in range(400):
        if not running(child):
            break
        time.sleep(0.05)
    assert not running(child)


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    "answer",
    [
        "not a dict",
        {"wrong": 3},
        {"dtype": "fp32", "shape": [2, 2], "stride": [2, -1]},
        {"dtype": "fp32", "shape": [2**62, 2], "stride": [2, 1]},
        {"dtype": "fp32", "shape": [2, 2], "stride": [1]},
        {"dtype": "fp32", "shape": ["a"], "stride": ["b"]},
        {"dtype": "fp32", "shape": [0, 2**70], "stride": [1, 1]},
        {"dtype": "int64", "shape": [2], "stride": [1]},
        {"dtype": "fp32"},
    ],
    ids=lambda answer: json.dumps(answer)[:40],
)
def test_a_description_that_makes_no_sense_is_a_wrong_result_and_no_error(answer):
    memory = Memory()
    found = memory.found(answer, memory.room(64))
    assert found.values is None
    memory.file.close()


def test_an_answer_that_is_too_long_ends_the_process(monkeypatch):
    memory = Memory()
    child = Child(memory.file.fileno(), "cpu")
    head = (LONGEST + 1).to_bytes(4, "big")
    monkeypatch.setattr(child, "_exactly", lambda length, deadline: head)
    with pytest.raises(Garbled):
        child.ask({"op": "nothing"}, 60.0)
    assert child.ended and not running(child.pid)
    memory.file.close()
