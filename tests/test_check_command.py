"""The command `check`: what it prints, writes and returns."""

import pytest

RMS = "gamma[i]*g[i]/S - x[i]/(N*S**3)*sum(k, gamma[k]*g[k]*x[k])"
MRS = "(gamma[i]*g[i] - u[i]*sum(k, gamma[k]*dot(g[k], zhat[k]))/P)/S"


def test_the_command_proves(command):
    found = command("check", "--norm", "rmsnorm", "--gradient", RMS)
    assert (found.status, found.err) == (0, "")
    assert found.out == "rmsnorm, input gradient dL/dx_i: PROVED for every N\n"


def test_the_command_refutes_with_witness_and_name(command):
    found = command("check", "--norm", "RMSNorm", "--gradient", RMS.replace("gamma[k]", "gamma[k]**2"))
    assert found.status == 1
    for part in (
        "REFUTED",
        "known mistake: gamma counted twice",
        "gamma = (2)",
        "true:  0",
        "yours: -2",
        "right: gamma",
    ):
        assert part in found.out


def test_several_formulas_at_once_and_the_worst_decides(command):
    chosen = ("--gradient", MRS, "--weight-gradient", "dot(g[i], zhat[i])", "--jacobian", "I/S")
    found = command("check", "--norm", "mrsnorm", *chosen, "--json", "-")
    assert found.status == 1 and "PROVED for every P" in found.err
    document = found.json()
    assert document["schema_version"] == 1
    assert [each["status"] for each in document["checks"]] == ["proved", "proved", "refuted"]
    assert document["checks"][2]["witness"]["values"]["true"] != document["checks"][2]["witness"]["values"]["yours"]
    assert [part["text"] for part in document["checks"][2]["read_as"]] == ["1/S", "0", "0", "1/S"]


@pytest.mark.parametrize("nowhere", ["log(-1) - log(-1)", "sqrt(-1 - x[i]**2)*0"])
def test_a_formula_without_a_value_anywhere_is_refused(command, nowhere):
    found = command("check", "--norm", "rmsnorm", "--gradient", f"{RMS} + {nowhere}")
    assert found.status == 2
    assert "for no input at all" in found.err and len(found.err.splitlines()) == 1


def test_undecided_exits_with_3(command):
    found = command("check", "--norm", "rmsnorm", "--gradient", f"{RMS} + Max(x[i], 0) + Min(x[i], 0) - x[i]")
    assert found.status == 3 and "UNDECIDED" in found.out


def test_conditions_are_said(command):
    found = command("check", "--norm", "rmsnorm", "--gradient", f"x[i]/x[i]*({RMS})")
    assert found.status == 0 and "it has a value only where x[i] != 0" in found.out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--norm", "rmsnorm"], "check: got 'no formula', accepts one or more of --gradient"),
        (["--gradient", "1"], "Missing option"),
        (["--norm", "batchnorm", "--gradient", "1"], "--norm: got 'batchnorm', accepts one of rmsnorm, layernorm"),
        (
            ["--norm", "rmsnorm", "--gradient", '__import__("os").system("true")'],
            "--gradient: got '__import__(\"os\").system(\"true\")', accepts a formula; at character 1: '__import__' is",
        ),
        (
            ["--norm", "rmsnorm", "--jacobian", "9**9**9**9"],
            "--jacobian: got '9**9**9**9', accepts a formula; at character 7",
        ),
        (
            ["--norm", "rmsnorm", "--weight-gradient", "x[q]"],
            "--weight-gradient: got 'x[q]', accepts a formula; at character 3",
        ),
        (
            ["--norm", "rmsnorm", "--gradient", "1", "--json", "{tmp}/no/x.json"],
            "--json: got '{tmp}/no/x.json', accepts a file",
        ),
    ],
)
def test_bad_usage_is_one_line(command, tmp_path, arguments, line):
    found = command("check", *(argument.replace("{tmp}", str(tmp_path)) for argument in arguments))
    assert found.status == 2 and found.out == "" and found.err.count("\n") == 1
    assert found.err.startswith("paper-checks: " + line.replace("{tmp}", str(tmp_path))), found.err


def test_a_bad_formula_leaves_no_file(command, tmp_path):
    target = tmp_path / "x.json"
    assert command("check", "--norm", "rmsnorm", "--gradient", "x[", "--json", target).status == 2
    assert list(tmp_path.iterdir()) == []
