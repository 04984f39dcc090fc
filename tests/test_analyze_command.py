"""`analyze`: what is found, what is refused, and the command."""

import time

import pytest

from theory.analysis import analyze
from theory.analysis.normalizer import ArgumentError, FormulaError


def says(phi, psi, finding, **options):
    return analyze(phi, psi, **options)[finding].says


@pytest.mark.parametrize(
    ("phi", "psi", "finding", "part"),
    [
        ("r", "m", "uniform interference", "uniform: the same for every phasor"),
        ("2*r + 3", "m", "uniform interference", "uniform: the same for every phasor"),
        ("r*(1 + r) - r**2", "m", "uniform interference", "uniform: the same for every phasor"),
        ("r**2", "sqrt(m)", "uniform interference", "not uniform: phi'(2) = 4, phi'(0.5) = 1"),
        ("log(1 + r)", "m", "uniform interference", "not uniform"),
        ("r**2", "sqrt(m)", "scale invariance", "iff eps = 0"),
        ("log(r)", "exp(m)", "scale invariance", "iff eps = 0"),
        ("r", "m + 1", "scale invariance", "none for n >= 2"),
        ("r + r**2", "m", "homogeneity", "homogeneous of no degree"),
        ("log(1 + r)", "exp(m) - 1", "homogeneity", "homogeneous of no degree"),
        ("r**2", "m", "homogeneity", "S(c h) = c^(2) S(h)"),
        ("r**2", "m", "scale invariance", "c^(-1) o(h)"),
        ("r + r**2", "m", "output bound", "neither c r^p + b nor c log r + b"),
        ("r", "m + 1", "logit bound", "no closed form"),
        ("1/r", "1/m + 1", "output bound", "none for n >= 2"),
        ("r**2", "sqrt(m)", "at z_i = 0", "the gradient exists: phi'(0) = 0"),
        ("r", "m", "at z_i = 0", "no gradient unless Omega = 0: phi'(0) = 1"),
        ("r**(1/2)", "m**2", "at z_i = 0", "unbounded"),
        ("log(r)", "exp(m)", "at z_i = 0", "S has no value there"),
        ("r", "m", "at h = 0", "at eps = 0 the output is 0/0"),
        ("r", "m + 1", "at h = 0", "does not vanish"),
        ("r + r**2", "m", "one outlier", "only for S that is homogeneous"),
        ("Max(r, 1)", "m", "input gradient", "away from the kinks"),
    ],
)
def test_what_is_found(phi, psi, finding, part):
    assert part in says(phi, psi, finding)


@pytest.mark.parametrize(
    ("finding", "text"),
    [
        ("input gradient", "dL/dz_i = (-Omega*u_i + g_i*gamma_i)/S"),
        ("own block", "do_i/dz_i = (gamma_i/S)*(I - (1/P)*u_i zhat_i^T)"),
        ("cross block", "do_i/dz_j = -(gamma_i/S)*(1/P)*zhat_i u_j^T"),
        ("radial gain", "gain_i = (1 - r_i/(P*S))/S"),
        ("interference", "|interference_i| = Abs(Omega)/S"),
        ("output bound", "sup |o_i|/|gamma_i| = P"),
        ("logit bound", "sup |qhat . khat| = P**2"),
        ("at h = 0", "dL/dz_i = g_i*gamma_i/eps"),
        ("operator norm at eps = 0", "|J| = rms_dphi*rms_r/S**2"),
    ],
)
def test_mrsnorm_in_words(finding, text):
    assert analyze(norm="mrsnorm")[finding].text == text


def test_power_means_for_symbolic_p():
    found = analyze("r**p", "m**(1/p)", parameters=["p"])
    assert "iff p = 1" in found["uniform interference"].says
    assert found["output bound"].text == "sup |o_i|/|gamma_i| = P**(1/p)"
    assert found["logit bound"].text == "sup |qhat . khat| = P**Max(1, 2/p)"
    assert "if p > 1" in found["at z_i = 0"].says


def test_a_constant_added_to_phi_and_taken_off_in_psi_changes_nothing():
    plain, shifted = analyze("2*r**2", "sqrt(m)"), analyze("2*r**2 + 3", "sqrt(m - 3)")
    assert shifted["logit bound"] == plain["logit bound"] and shifted.settled
    assert shifted["logit bound"].text == "sup |qhat . khat| = P/2"


def test_a_parameter_with_a_value_is_that_number():
    given = analyze("r**p", "m**(1/p)", parameters={"p": "5/2"})
    assert given.findings == analyze("r**(5/2)", "m**(2/5)").findings


def test_only_differentiation_is_called_proved():
    proved = {"input gradient", "own block", "cross block", "radial gain", "interference"}
    assert {each.name for each in analyze(norm="rmsnorm").findings if each.status == "proved"} == proved


REFUSED = [
    ("r - 1", "m", "psi", "S = -0.5 + eps is negative"),
    ("-r", "m", "psi", "is negative"),
    ("log(r)", "m", "psi", "is negative"),
    ("r", "m - 1", "psi", "is negative"),
    ("r", "sqrt(m - 1)", "psi", "S is not real"),
    ("r", "log(m)", "psi", "is negative"),
    ("sqrt(r - 1)", "m", "phi", "it is not real"),
    ("(r - 1)**2", "m", "phi", "S vanishes"),
    ("Abs(r - 1)", "m", "phi", "S vanishes"),
    ("Max(r - 1, 0)", "m", "phi", "S vanishes"),
    ("(r**2 - 2)**2", "m", "phi", "positive root"),
    ("r**4 - 4*r**2 + 4", "sqrt(m)", "phi", "positive root"),
    ("sqrt(-1)*r", "m", "phi", "not real"),
    ("0*r", "m", "phi", "would not depend on the input"),
    ("3", "m", "phi", "would not depend on the input"),
    ("r", "2", "psi", "would not depend on the input"),
    ("r - r", "m", "phi", "would not depend on the input"),
    ("m", "m", "phi", "'m' is not known here"),
    ("r", "r", "psi", "'r' is not known here"),
    ("r", "m + eps", "psi", "'eps' is not known here"),
    ("9**9**9**9", "m", "phi", "an exponent is at most 64"),
    ("r", "m**(9**9)", "psi", "an exponent is at most 64"),
    ('__import__("os")', "m", "phi", "'__import__' is not known here"),
    ("r", "sum(k, m)", "psi", "'sum' is not known here"),
    ("1/(r - r)", "m", "phi", "always zero"),
    ("r**Min(r*2, 1/r)/(r**(Min(r*3, 2**r)))", "m + Max(log(m - m), 1)", "psi", "no real value"),
]


@pytest.mark.parametrize(("phi", "psi", "which", "reason"), REFUSED)
def test_a_normalizer_that_makes_no_sense_is_refused_with_the_reason(phi, psi, which, reason):
    started = time.process_time()
    with pytest.raises(FormulaError, match=which) as caught:
        analyze(phi, psi)
    assert caught.value.which == which and reason in caught.value.reason
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "phi", ["9**(9**(9**r))", "exp(exp(exp(exp(r))))", "r**r**r**r**r**r", "exp(-exp(exp(exp(r))))"]
)
def test_towers_are_analysed_quickly(phi):
    started = time.process_time()
    analyze(phi, "m")
    assert time.process_time() - started < 2


def test_what_could_not_be_shown_is_assumed_and_said():
    found = analyze("exp(r) - 1 - r - r**2/4", "m")
    assert found["positivity"].status == "assumed" and not found.settled
    assert analyze("exp(r) - 1", "log(1 + m)").settled


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": "layernorm"}, "subtracts the mean"),
        ({"norm": "ma-rmsnorm"}, "adds alpha W log S"),
        ({"norm": "batchnorm"}, "accepts mrsnorm"),
        ({"norm": "mrsnorm", "phi": "r"}, "no phi"),
        ({"phi": "r"}, "a formula for each"),
        ({"phi": "r", "psi": "m", "over": "rows"}, "accepts phasors or channels"),
        ({"phi": "r", "psi": "m", "eps": "both"}, "accepts outside or inside"),
        ({"phi": "r", "psi": "m", "parameters": ["r"]}, "a name other than"),
        ({"phi": "r", "psi": "m", "parameters": ["__import__('os')"]}, "a name other than"),
        ({"phi": "r", "psi": "m", "parameters": {"p": "-1"}}, "a positive number"),
        ({"phi": "r", "psi": "m", "parameters": {"p": "9" * 99}}, "a positive number"),
        ({"phi": "r", "psi": "m", "parameters": list("abcdf")}, "at most 4"),
    ],
)
def test_other_arguments_that_are_not_accepted(options, message):
    with pytest.raises(ArgumentError, match=message):
        analyze(**options)


# --- the command line


def test_the_command_prints_the_findings(command):
    found = command("analyze", "--phi", "r**(3/2)", "--psi", "m**(2/3)")
    assert (found.status, found.err) == (0, "")
    for part in ("input gradient (proved for every P)", "sup |qhat . khat| = P**(4/3)", "S > 0 for every input"):
        assert part in found.out


def test_the_command_prints_latex(command):
    assert r"\[ \frac{\partial L}{\partial z_i} = " in command("analyze", "--norm", "mrsnorm", "--latex").out


def test_the_command_writes_json(command):
    found = command("analyze", "--norm", "rmsnorm", "--json", "-")
    assert found.status == 0 and "input gradient" in found.err
    document = found.json()
    assert (document["schema_version"], document["over"], document["eps"]) == (1, "channels", "inside")
    assert {each["status"] for each in document["findings"]} == {"proved", "derived"}
    assert set(document["expressions"]["gradient"]) == {"text", "latex"}


def test_what_is_only_assumed_exits_with_3(command):
    assert command("analyze", "--phi", "exp(r) - 1 - r - r**2/4", "--psi", "m").status == 3


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "--phi: got 'no formula', accepts a formula for --phi and for --psi"),
        (["--phi", "r"], "--psi: got 'no formula'"),
        (["--norm", "mrsnorm", "--phi", "r"], "--norm: got 'mrsnorm', accepts no --phi"),
        (
            ["--norm", "layernorm"],
            "--norm: got 'layernorm', accepts mrsnorm, mrsnorm-eq11, rmsnorm (layernorm subtracts",
        ),
        (
            ["--phi", '__import__("os")', "--psi", "m"],
            "--phi: got '__import__(\"os\")', accepts a formula; at character 1",
        ),
        (
            ["--phi", "9**9**9**9", "--psi", "m"],
            "--phi: got '9**9**9**9', accepts a formula; at character 7: an exponent",
        ),
        (["--phi", "r", "--psi", "m-1"], "--psi: got 'm-1', accepts a formula with S real and positive"),
        (["--phi", "r", "--psi", "m", "--over", "x"], "--over: got 'x', accepts phasors or channels"),
        (["--phi", "r", "--psi", "m", "--eps", "x"], "--eps: got 'x', accepts outside or inside"),
        (["--phi", "r", "--psi", "m", "--param", "p=0"], "--param: got 'p=0', accepts a positive number"),
        (["--phi", "r", "--psi", "m", "--param", "r"], "--param: got 'r', accepts a name other than"),
        (["--phi", "r", "--psi", "m", "--json", "{tmp}/no/x"], "--json: got '{tmp}/no/x', accepts a file"),
    ],
)
def test_bad_usage_is_one_line(command, tmp_path, arguments, line):
    found = command("analyze", *(argument.replace("{tmp}", str(tmp_path)) for argument in arguments))
    assert found.status == 2 and found.out == "" and found.err.count("\n") == 1
    assert found.err.startswith("paper-checks: " + line.replace("{tmp}", str(tmp_path))), found.err
