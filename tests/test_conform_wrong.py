"""Deliberately wrong implementations: each is found, by the line it breaks, and named there."""

import re
from pathlib import Path

import pytest

from numerics.conformance.check import check
from numerics.conformance.session import Options
from numerics.conformance.specs import find
from numerics.conformance.target import Target
from numerics.rounding import FP64, roundings

TARGETS = Path(__file__).parent / "conformance_targets"
OPTIONS = Options(seed=20, quick=True, call_limit=60.0, time_limit=600.0)
VALUES = [  # (class, the property that fails, how it is named)
    ("EpsInsideRoot", "eps", "eps inside the root"),
    ("EpsInsideRoot", "input-gradient", "input gradient: eps inside the root"),
    ("EpsMissing", "eps", "eps missing"),
    ("EpsMissing", "zero-row", "eps missing"),
    ("EpsClamped", "eps", "eps clamped"),
    ("EpsSwallowed", "eps", "eps swallowed: 1e-06 is 1.013e-06 in fp16"),
    ("EpsSwallowed", "zero-row", "eps swallowed: 1e-08 is 0 in fp16"),
    ("HalfSplit", "pairing", "half-split pairs"),
    ("SumForMean", "forward", "forward: sum in place of the mean"),
    ("RootMeanSquare", "forward", "S of Eq. 11: the root of the mean square"),
    ("MeanOverTokens", "independence", "leaks across all tokens"),
    ("MeanOverTokens", "forward", "statistic over all tokens"),
    ("MeanOverBatch", "independence", "leaks across the batch"),
    ("TimeLeak", "independence", r"leaks across time: .* moves later tokens"),
    ("GammaTwice", "gamma", "gamma counted twice"),
    ("GammaMissing", "gamma", "gamma missing"),
    ("GammaMissing", "weight-gradient", "weight gradient zero"),
    ("NoGamma", "gamma", "gamma missing: the instance has no parameters"),
    ("OnePlusGamma", "gamma", r"1 \+ gamma in place of gamma"),
    ("GammaPerChannel", "gamma", r"shapes \{'weight': \(16,\)\}.*one entry a channel"),
    ("GammaAfterCast", "gamma", "gamma applied after the cast to fp16"),
    ("GammaBeforeCast", "gamma", "gamma applied before the cast from fp16"),
    ("SquaresInHalf", "fp16-range", "entries of 300: forward: squares overflow in fp16"),
    ("ThroughHalf", "forward", "as if something is rounded to half precision"),
    ("WrongDtype", "dtype-shape", "output of dtype fp32 for fp16 input"),
    ("HidesNan", "non-finite", "nan in the input is hidden"),
    ("EightChannelsOnly", "widths", "2 channels: raises ValueError: 2 channels are not a multiple of 4"),
    ("NoEmptyBatch", "rows", "0 rows: raises RuntimeError"),
    ("Clipped", "spike", "one spike: forward: error"),
    ("Clipped", "scale-invariance", r"x times 2\^11"),
    ("Clipped", "bf16-range", r"entries of 1e\+05"),
]
GRADIENTS = [
    ("StatisticDetached", "input-gradient", "input gradient: statistic held constant"),
    ("InputDetached", "input-gradient", "input gradient zero"),
    ("WeightDetached", "weight-gradient", "weight gradient zero"),
    ("NanAtZeroPair", "zero-pair", "a zero pair among live ones: input gradient: NaN where a phasor is 0"),
    ("ZeroGradientAroundZeroPair", "zero-pair", "input gradient zero in 1 of 6 rows"),
    ("GammaCountedTwice", "input-gradient", "input gradient: gamma counted twice"),
    ("InputHalfWritten", "input-gradient", "input gradient: (memory left unwritten|error|NaN|infinite)"),
    ("WeightAddedUpInHalf", "weight-gradient", "as if something is rounded to half precision"),
    ("WeightBufferNotCleared", "weight-gradient", "right in a fresh process, wrong in call"),
    ("WeightZero", "weight-gradient", "weight gradient zero"),
    ("WeightMean", "weight-gradient", "weight gradient: mean over rows in place of the sum"),
    ("WeightUndivided", "weight-gradient", "weight gradient: division by S missing"),
    ("WeightFirstBlock", "weight-gradient", "weight gradient: rows past 1,024 left out"),
    ("UpstreamContiguous", "layout-gradient", "strided upstream gradient read as if it were contiguous"),
    ("UpstreamOnes", "input-gradient", "upstream gradient ignored, taken as ones"),
    ("UpstreamModified", "purity", "the upstream gradient is modified in place"),
]
BEHAVIOUR = [
    ("Stateful", "forward", "right in a fresh process, wrong in call"),
    ("FirstCalls", "forward", "right in a fresh process, wrong in call 20 of the series: forward: returns zeros"),
    ("CachedByPointer", "forward", "the result of an earlier call: something is cached"),
    ("CachedByShape", "forward", "right in a fresh process, wrong in call"),
    ("CachesGamma", "forward", "right in a fresh process, wrong in call"),
    ("OneBuffer", "forward", "another call before the output is read: forward"),
    ("SavesOnTheModule", "input-gradient", "another forward pass before the backward pass: input gradient"),
    ("BothOrNone", "input-gradient", "with frozen parameters: input gradient zero"),
    ("BothOrNone", "weight-gradient", "with an input that needs no gradient: weight gradient zero"),
    ("Zeros", "forward", "forward: returns zeros"),
    ("Unwritten", "forward", "forward: memory left unwritten"),
    ("Grid", "rows", "65,537 rows: forward: rows past 65,535 untouched"),
    ("Grid", "weight-gradient", "weight gradient: rows past 65,535 left out"),
    ("TampersWithTorch", "forward", "forward: returns zeros"),
    ("ReturnsSubclass", "forward", "a Lying is returned, not a tensor"),
    ("IgnoresStrides", "layout-input", "strided input read as if it were contiguous"),
    ("NeedsContiguous", "layout-input", "raises RuntimeError: view size"),
    ("InPlace", "purity", "the input is modified in place"),
    ("WritesWeight", "purity", "the parameter weight is modified in place"),
    ("SetsDefaultDtype", "purity", "changes torch's default dtype"),
    ("Noisy", "determinism", "differs on a second run"),
    ("Raises", "forward", "raises RuntimeError: there is no kernel for this"),
    ("Exits", "forward", r"it ended the process \(exit status 0\)"),
    ("Crashes", "forward", r"it crashed the process \(SIGSEGV\)"),
    ("Prints", "purity", "it prints on standard output: 'normalizing"),
    ("Text", "forward", "output: a str is returned"),
    ("Pair", "dtype-shape", "2 outputs, not 1"),
    ("WrongShape", "dtype-shape", r"output of shape \(2, 3, 1\), not \(2, 3, 16\)"),
    ("Devours", "forward", "raises RuntimeError.*can't allocate memory"),
    ("Interferes", "forward", "interfered with the process it runs in"),
    ("KillsItsParent", "forward", r"crashed the process \(SIGKILL\)"),
]
CASES = [
    pytest.param(file, *case, id=f"{case[0]}-{case[1]}")
    for file, cases in (("wrong_values", VALUES), ("wrong_gradients", GRADIENTS), ("wrong_behaviour", BEHAVIOUR))
    for case in cases
]


def found(file, name, *properties, spec="mrsnorm", backward=False, options=OPTIONS, kwargs=None):
    place = f"{TARGETS / file}.py:{name}"
    target = Target(None, place) if backward else Target(place, None, kwargs)
    report = check(target, find(spec), options, properties=properties)
    return {each.name: each for each in report.findings}


@pytest.mark.parametrize(("file", "name", "line", "named"), CASES)
def test_a_wrong_implementation_is_found_and_named_by_its_line(file, name, line, named):
    finding = found(file, name, line)[line]
    assert finding.status == "FAIL"
    assert re.search(named, finding.diagnosis), finding.diagnosis


def test_there_are_many_wrong_implementations():
    assert len({(file, name) for file, name, *_ in (case.values for case in CASES)}) >= 50


@pytest.mark.parametrize(
    ("file", "name", "other"),
    [
        ("wrong_values", "EpsMissing", "pairing"),
        ("wrong_values", "GammaTwice", "eps"),
        ("wrong_values", "HidesNan", "forward"),
        ("wrong_gradients", "StatisticDetached", "weight-gradient"),
        ("wrong_gradients", "WeightZero", "input-gradient"),
        ("wrong_behaviour", "InPlace", "forward"),
        ("wrong_behaviour", "Noisy", "forward"),
        ("wrong_behaviour", "Prints", "determinism"),
    ],
)
def test_a_line_that_has_nothing_to_do_with_the_mistake_passes(file, name, other):
    assert found(file, name, other)[other].status == "PASS"


def test_a_target_that_hangs_is_given_up_after_two_calls():
    options = Options(seed=1, quick=True, call_limit=1.0)
    lines = found("wrong_behaviour", "Hangs", "forward", "rows", "non-finite", options=options)
    assert {each.status for each in lines.values()} == {"FAIL"}
    assert all("did not return within 1 s in 2 calls" in each.diagnosis for each in lines.values())


def test_the_time_limit_ends_the_calls_and_passes_nothing():
    options = Options(seed=1, quick=True, time_limit=0.0)
    lines = found("right", "Phasors", "forward", "rows", options=options)
    assert {each.status for each in lines.values()} == {"FAIL"}
    assert "the time limit of 0 s is used up" in lines["rows"].diagnosis


def test_a_failing_input_is_made_small_and_still_fails():
    finding = found("wrong_gradients", "StatisticDetached", "input-gradient")["input-gradient"]
    assert finding.input["shape"] == [1, 1, 2]
    assert len(finding.input["x"][0][0]) == len(finding.input["upstream"][0][0]) == 2
    assert abs(finding.input["got"] - finding.input["true"]) > finding.input["bound"]
    x, y = finding.input["x"][0][0]
    gx, gy = (finding.input["gamma"][0] * each for each in finding.input["upstream"][0][0])
    r, eps = (x * x + y * y) ** 0.5, finding.input["eps"]
    omega = (gx * x + gy * y) / (r + eps)
    by_hand = [(gx - x / r * omega) / (r + eps), (gy - y / r * omega) / (r + eps)]
    # r has 3 roundings, r + eps 1 more, omega and a quotient at most 12 more, gamma g 1, on either side
    largest = (abs(gx) + abs(gy)) * (1 + r / (r + eps)) / (r + eps)
    assert abs(by_hand[finding.input["entry"][1]] - finding.input["true"]) <= 2 * roundings(20, FP64) * largest


def test_what_is_wrong_when_compiled_only_is_found_by_its_line():
    options = Options(seed=1, dtypes=("fp32",), call_limit=60.0, time_limit=600.0)
    finding = found("wrong_behaviour", "WrongWhenCompiled", "compile", options=options)["compile"]
    if finding.diagnosis != "torch.compile finds no C++ compiler here":
        assert finding.status == "FAIL" and finding.diagnosis.startswith("compiled: forward: ")


def test_a_target_that_hangs_when_it_is_imported_again_is_given_up(tmp_path):
    (tmp_path / "twice.py").write_text(
        "import os, pathlib, time\nfrom numerics.norms import MRSNorm\n"
        "note = pathlib.Path(__file__).with_name('note')\n"
        "while note.exists(): time.sleep(1)\n"
        "class Norm(MRSNorm):\n"
        "    def forward(self, x):\n"
        "        note.touch()\n"
        "        os._exit(1)\n",
        encoding="utf-8",
    )
    target = Target(f"{tmp_path}/twice.py:Norm")
    options = Options(seed=1, quick=True, time_limit=3.0)
    report = check(target, find("mrsnorm"), options, properties=("forward", "rows"))
    assert [each.status for each in report.findings] == ["FAIL", "FAIL"]


def test_what_cannot_be_judged_is_not_passed(monkeypatch):
    from numerics.conformance import diagnosis

    monkeypatch.setattr(diagnosis, "name", lambda *arguments: 1 / 0)
    finding = found("wrong_values", "EpsMissing", "eps")["eps"]
    assert (finding.status, finding.diagnosis) == ("FAIL", "could not be judged: ZeroDivisionError: division by zero")


def test_the_same_seed_replays_and_another_draws_other_inputs():
    runs = [
        found("wrong_values", "EpsMissing", "forward", options=Options(seed, quick=True))["forward"].input["x"]
        for seed in (3, 3, 4)
    ]
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize(
    ("name", "line", "named"),
    [
        ("gamma_counted_twice", "input-gradient", "input gradient: gamma counted twice"),
        ("weight_zero", "weight-gradient", "weight gradient zero"),
        ("weight_mean", "weight-gradient", "mean over rows in place of the sum"),
        ("upstream_contiguous", "layout-gradient", "read as if it were contiguous"),
        ("upstream_ones", "input-gradient", "upstream gradient ignored"),
    ],
)
def test_a_wrong_backward_function_is_named(name, line, named):
    finding = found("wrong_gradients", name, line, backward=True)[line]
    assert finding.status == "FAIL" and named in finding.diagnosis


@pytest.mark.parametrize(
    ("name", "spec", "line", "named"),
    [
        ("RmsEpsOutside", "rmsnorm", "eps", "eps outside the root"),
        ("RmsEpsOutside", "rmsnorm", "forward", "eps outside the root"),
        ("RmsCentred", "rmsnorm", "forward", "the mean is subtracted first"),
        ("RmsDetached", "rmsnorm", "input-gradient", "statistic held constant"),
        ("LayerNormBiased", "layernorm", "forward", "variance with N - 1"),
        ("MaWithoutW", "ma-rmsnorm", "input-gradient", "the term of W missing"),
        ("OneGroup", "group-mrsnorm", "forward", "one scale for all groups"),
        ("OneGroup", "group-mrsnorm", "independence", "leaks from one group of channels into the others"),
        ("KeyByQuery", "qk-norm", "forward", "error"),
    ],
)
def test_mistakes_in_the_other_layers_are_named(name, spec, line, named):
    finding = found("wrong_specs", name, line, spec=spec)[line]
    assert finding.status == "FAIL" and named in finding.diagnosis
