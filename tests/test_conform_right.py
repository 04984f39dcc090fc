"""Right implementations, written in different ways, pass whole."""

from pathlib import Path

import pytest
import torch

from numerics.conformance.check import check
from numerics.conformance.probes import PROPERTIES
from numerics.conformance.session import Options
from numerics.conformance.specs import find
from numerics.conformance.target import Target

TARGETS = Path(__file__).parent / "conformance_targets"
OPTIONS = Options(seed=7, quick=True, call_limit=60.0, time_limit=600.0)
PAPER = {"num_groups": 1, "num_channels": "{channels}", "channel_dim": -1}


def whole(place, spec="mrsnorm", kwargs=None, backward=None, options=OPTIONS, groups=2):
    report = check(Target(place, backward, kwargs), find(spec, groups), options)
    assert tuple(each.name for each in report.findings) == tuple(PROPERTIES)
    return report, {each.name: each for each in report.findings if each.status != "PASS"}


@pytest.mark.parametrize("name", ["Phasors", "Complex", "Einsum", "loops", "HandWritten", "Compiled"])
def test_a_right_implementation_passes_whole(name):
    report, others = whole(f"{TARGETS}/right.py:{name}")
    assert {name: each.diagnosis for name, each in others.items()} == {"compile": "not tried with --quick"}
    assert report.conforms


@pytest.mark.parametrize(
    ("place", "spec"),
    [
        ("numerics.norms:MRSNorm", "mrsnorm"),
        ("numerics.norms:RMSNorm", "rmsnorm"),
        ("numerics.norms:MARMSNorm", "ma-rmsnorm"),
        ("torch.nn:RMSNorm", "rmsnorm"),
    ],
)
def test_the_layers_of_this_project_and_torchs_rmsnorm_conform(place, spec):
    report, others = whole(place, spec)
    assert report.conforms, others
    assert others.keys() == {"compile"} | (set() if spec == "mrsnorm" else {"pairing", "zero-pair"})


def test_the_module_of_appendix_c_conforms_and_is_said_to_compute_in_fp32():
    report, others = whole(f"{TARGETS}/appendix_c.py:GroupMRSNorm", kwargs=PAPER)
    assert report.conforms and others.keys() == {"compile"}
    assert report.findings[0].diagnosis.endswith("fp64 is computed in fp32")


def test_its_groups_are_those_of_group_mrsnorm():
    report, others = whole(
        f"{TARGETS}/appendix_c.py:GroupMRSNorm", "group-mrsnorm", {**PAPER, "num_groups": "{groups}"}
    )
    assert report.conforms and others.keys() == {"compile"}


def test_a_right_layernorm_and_right_query_key_norm_pass_whole():
    for name, spec in (("LayerNorm", "layernorm"), ("QueryKey", "qk-norm")):
        report, others = whole(f"{TARGETS}/right_specs.py:{name}", spec)
        assert report.conforms, others
        assert others.keys() == {"compile"} | (
            {"weight-gradient", "gamma"} if spec == "qk-norm" else {"pairing", "zero-pair"}
        )


def test_torchs_layernorm_keeps_its_statistics_in_half_precision_and_is_said_to():
    """On a CPU, mean and 1/S of fp16 and bf16 rows are stored in that dtype for the backward pass."""
    options = Options(seed=7, quick=True, dtypes=("fp32", "fp64"), call_limit=60.0, time_limit=600.0)
    report, others = whole("torch.nn:LayerNorm", "layernorm", options=options)
    assert report.conforms, others
    report, others = whole("torch.nn:LayerNorm", "layernorm")
    assert not report.conforms
    assert "as if something is rounded to" in others["weight-gradient"].diagnosis
    assert torch.native_layer_norm(torch.ones(2, 8, dtype=torch.half), [8], None, None, 1e-6)[1].dtype == torch.half


@pytest.mark.parametrize("place", ["numerics.norms:mrs_norm", f"{TARGETS}/right.py:factory"])
def test_functions_and_factories_are_told_apart(place):
    findings = check(Target(place), find("mrsnorm"), OPTIONS, properties=("dtype-shape", "gamma", "eps")).findings
    assert {each.status for each in findings} == {"PASS"}


def test_a_right_backward_function_passes_by_itself():
    report, others = whole(None, backward=f"{TARGETS}/right.py:by_hand")
    assert report.conforms
    assert others.keys() == {"forward", "gamma", "compile"}
    assert {each.status for each in others.values()} == {"N/A"}


def test_a_forward_is_checked_with_the_backward_function_given_beside_it():
    _, others = whole(f"{TARGETS}/right.py:Phasors", backward=f"{TARGETS}/wrong_gradients.py:gamma_counted_twice")
    assert "input gradient: gamma counted twice" in others["input-gradient"].diagnosis
    assert {"forward", "gamma", "eps", "weight-gradient"} & others.keys() == set()


def test_a_target_for_rows_in_one_dtype_is_checked_as_far_as_it_goes():
    report, others = whole(f"{TARGETS}/right.py:RowsOnly")
    assert {name: each.status for name, each in others.items()} == {
        "dtype-shape": "FAIL",
        "fp16-range": "N/A",
        "bf16-range": "N/A",
        "compile": "N/A",
    }
    assert others["dtype-shape"].diagnosis.startswith("only (T, N) is accepted")
    assert others["fp16-range"].diagnosis == "fp16 is not accepted"
    assert not report.conforms


def test_a_dtype_that_is_asked_for_has_to_be_accepted():
    options = Options(seed=7, quick=True, dtypes=("fp32", "bf16"), call_limit=60.0, time_limit=600.0)
    target = Target(f"{TARGETS}/right.py:Fp32Only")
    findings = check(target, find("mrsnorm"), options, properties=("forward", "dtype-shape")).findings
    assert [each.status for each in findings] == ["PASS", "FAIL"]
    assert findings[1].diagnosis == "bf16 is not accepted: raises TypeError: x has dtype torch.bfloat16, not float32"


def test_a_narrow_view_of_a_wide_buffer_is_read_with_its_strides():
    target = Target(f"{TARGETS}/right.py:Padded")
    findings = check(target, find("mrsnorm"), OPTIONS, properties=("forward", "input-gradient", "widths")).findings
    assert [each.status for each in findings] == ["PASS"] * 3


def test_one_instance_is_called_more_than_forty_times():
    from numerics.conformance.probes import values

    assert values.CALLS >= 40


def test_compile_is_judged_by_the_same_truth():
    options = Options(seed=7, call_limit=60.0, time_limit=600.0, dtypes=("fp32",))
    target = Target("numerics.norms:MRSNorm")
    (finding,) = check(target, find("mrsnorm"), options, properties=("compile",)).findings
    assert finding.status == "PASS" or finding.diagnosis == "torch.compile finds no C++ compiler here"
