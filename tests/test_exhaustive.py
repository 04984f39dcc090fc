"""Every finite fp16 phasor: the tables, the bands, the exact extremes, and going on after an interruption."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import torch

from numerics.exhaustive import PAIRS, VALUES, bands, component, survey, values
from numerics.exhaustive import survey as survey_of
from numerics.exhaustive.bands import BANDS, KEPT, ROWS, Table, blocks, scan, tangents
from numerics.exhaustive.parallel import finish
from numerics.exhaustive.state import State, StateProblem
from numerics.measure import Settings
from numerics.mrsnorm import eq03
from numerics.norms import mrs_norm, mrs_scale

THIRD = (3.0, 0.7001953125)
SMALL = (20000.5, 1.0)
survey_module = sys.modules["numerics.exhaustive.survey"]


def fractions(tensor):
    return [Fraction(float(value)) for value in tensor]


def exact_turn(table, pair):
    """tan D in rational numbers, None where there is no output."""
    (x, y), (a, b) = ([Fraction(float(t[k])) for k in pair] for t in (table.x, table.a))
    return abs(x * b - y * a) / (x * a + y * b) if x * a + y * b else None


def test_there_are_as_many_numbers_as_the_format_has():
    x = values()
    assert len(x) == VALUES == 31744 and PAIRS == 1_007_681_536
    assert bool(x.isfinite().all()) and float(x[0]) == 0 and float(x[-1]) == torch.finfo(torch.float16).max
    assert bool((x[1:] > x[:-1]).all())
    assert torch.equal(x.half().float(), x)
    assert BANDS * ROWS == VALUES


@pytest.mark.parametrize(("scale", "gamma"), [THIRD, SMALL, (2.0**-10, -1.7001953125)])
def test_a_change_of_sign_commutes_with_the_map_of_a_channel(scale, gamma):
    x = values()
    o = component(x, scale, gamma)
    assert torch.equal(component(-x, scale, gamma), -o)
    assert torch.equal(component(x, scale, -gamma), -o)


@pytest.mark.parametrize(("scale", "gamma"), [THIRD, SMALL, (2.0**-10, 1.7001953125)])
def test_the_map_of_a_channel_is_monotone(scale, gamma):
    o = component(values(), scale, gamma)
    assert bool((o[1:] >= o[:-1]).all())


def test_the_layer_maps_each_channel_so():
    rng = torch.Generator().manual_seed(0)
    h = (torch.randn(200, 16, generator=rng) * 10 ** (6 * torch.rand(200, 1, generator=rng) - 3)).half()
    weight = torch.randn(8, generator=rng).half()
    s = mrs_scale(h, 1e-6).float()
    o = mrs_norm(h, weight, 1e-6)
    for row in range(len(h)):
        for phasor in range(8):
            part = slice(2 * phasor, 2 * phasor + 2)
            assert torch.equal(o[row, part], component(h[row, part], float(s[row]), float(weight[phasor])))


@pytest.mark.parametrize("case", [(0.0, 1.0), (-1.0, 1.0), (float("inf"), 1.0), (0.1, 1.0), (1.0, float("nan"))])
def test_what_is_no_scale_and_weight_is_refused(case):
    with pytest.raises(ValueError, match="accepted: finite fp32 numbers"):
        component(values()[:3], *case)


def test_a_weight_of_zero_and_a_scale_without_normal_outputs_are_refused():
    with pytest.raises(ValueError, match="gamma is 0"):
        survey(1.0, 0.0)
    with pytest.raises(ValueError, match="two normal outputs"):
        survey(2.0**60, 1.0)


@pytest.mark.parametrize(("scale", "gamma"), [THIRD, SMALL, (2.0**-10, 1.0)])
def test_bands_visit_every_pair_once_up_to_exchange(scale, gamma):
    table = Table.of(scale, gamma)
    for number in (0, 1, 40, BANDS - 1):
        seen = torch.zeros(ROWS, VALUES, dtype=torch.uint8)
        for rows, columns, is_normal, weight in blocks(table, number):
            part = slice(rows.start - number * ROWS, rows.stop - number * ROWS)
            seen[part, columns] += weight
            normal = table.a[rows, None].minimum(table.a[columns]) >= bands.SMALLEST_NORMAL
            assert bool((normal == is_normal).all()) or (weight == 2 and not is_normal and not normal.any())
        row, column = torch.arange(number * ROWS, (number + 1) * ROWS)[:, None], torch.arange(VALUES)
        finite = ~(table.a[row].isinf() | table.a.isinf())
        chunk = row // 16 == column // 16  # in the squares on the diagonal both orders are visited
        split = (row < table.first_normal) == (column < table.first_normal)
        expected = torch.where(chunk & split, 1, torch.where(row < column, 2, 0)) * finite
        assert torch.equal(seen.long(), expected)


@pytest.mark.parametrize(("scale", "gamma"), [THIRD, SMALL, (2.0**-10, 1.0)])
def test_the_pairs_of_all_bands_are_all_pairs(scale, gamma):
    table, counted = Table.of(scale, gamma), 0
    for number in range(BANDS):
        counted += sum(
            weight * (rows.stop - rows.start) * (columns.stop - columns.start)
            for rows, columns, _, weight in blocks(table, number)
        )
    infinite = PAIRS - table.first_infinite**2
    assert counted + infinite == PAIRS
    band = scan(table, 63)
    above = VALUES - 63 * ROWS
    pairs = sum(w * (r.stop - r.start) * (c.stop - c.start) for r, c, _, w in blocks(table, 63))
    assert band.infinite == above**2 - pairs


@pytest.mark.parametrize(("scale", "gamma"), [THIRD, (1000.0, -1.7001953125)])
def test_exchanging_the_channels_changes_no_bit_of_a_tangent(scale, gamma):
    table = Table.of(scale, gamma)
    for rows, columns in ((slice(40, 60), slice(0, VALUES)), (slice(20000, 20020), slice(0, VALUES))):
        one = tangents(table, rows, columns)
        rng = torch.Generator().manual_seed(1)
        for column in torch.randint(VALUES, (50,), generator=rng).tolist():
            other = tangents(table, slice(column, column + 1), rows)
            assert torch.equal(one[:, column].abs().nan_to_num(9.0), other[0].abs().nan_to_num(9.0))


@pytest.mark.parametrize(("scale", "gamma"), [THIRD, SMALL])
def test_a_band_counts_what_is_lost_in_rational_numbers(scale, gamma, monkeypatch):
    small = 96  # a grid of the smallest numbers, small enough to be counted by hand
    whole = Table.of(scale, gamma)
    for name, value in (("VALUES", small), ("BANDS", 2), ("ROWS", small // 2)):
        monkeypatch.setattr(bands, name, value)
    table = Table(whole.x[:small], whole.a[:small], min(whole.first_normal, small), small)
    found = [scan(table, number) for number in (0, 1)]
    turns = [exact_turn(table, (row, column)) for row in range(small) for column in range(small) if row or column]
    lost = sum(turn is None or turn > Fraction(KEPT) for turn in turns)
    assert found[0].lost + found[1].lost <= lost <= sum(band.lost + band.near for band in found)
    assert sum(band.normal + band.infinite for band in found) == 0
    assert lost > small


@pytest.mark.parametrize(("scale", "gamma"), [THIRD, (1000.0, -1.7001953125)])
def test_a_tangent_is_off_by_less_than_is_allowed_for(scale, gamma):
    table, rng = Table.of(scale, gamma), random.Random(2)
    for _ in range(300):
        pair = (rng.randrange(1, VALUES), rng.randrange(1, VALUES))
        found = abs(float(tangents(table, slice(pair[0], pair[0] + 1), slice(pair[1], pair[1] + 1))))
        exact = exact_turn(table, pair)
        assert (exact is None and found != found) or abs(Fraction(found) - exact) <= exact / 2**22


@pytest.fixture(scope="module")
def third():
    return survey(*THIRD)


def test_no_phasor_with_normal_outputs_turns_further_than_u(third):
    assert 0 < third.worst <= third.bound == Fraction(1, 2**11)
    table = Table.of(*THIRD)
    index = {float(value): k for k, value in enumerate(table.x)}
    pair = tuple(index[float(value)] for value in third.worst_at)
    assert exact_turn(table, pair) == third.worst
    normal, most = VALUES - table.first_normal, random.Random(3)
    assert third.normal == normal**2
    for _ in range(20000):
        other = (most.randrange(table.first_normal, VALUES), most.randrange(table.first_normal, VALUES))
        assert exact_turn(table, other) <= third.worst


def test_the_phase_is_lost_only_close_to_zero(third):
    table = Table.of(*THIRD)
    index = {float(value): k for k, value in enumerate(table.x)}
    lost = tuple(index[float(value)] for value in third.largest_lost)
    turn = exact_turn(table, lost)
    assert turn is None or turn > Fraction(KEPT)
    radius = sum(value**2 for value in third.largest_lost)
    assert min(lost) < table.first_normal
    # outputs rounded to multiples of 2^-24 are off by 2^-25 each, no turn beyond u from |o| = sqrt(2) 2^-14 on
    assert radius * (Fraction(THIRD[1]) / Fraction(THIRD[0])) ** 2 <= 2 * Fraction(1, 2**28) * (1 + Fraction(1, 2**9))
    assert 0 < third.lost < third.pairs - third.normal
    longer = [index[float(value)] for value in third.largest_lost]
    for row in range(max(0, longer[0] - 60), longer[0] + 60):  # nothing further out nearby is lost
        for column in range(longer[1] - 3, longer[1] + 60):
            square = sum(Fraction(float(table.x[k])) ** 2 for k in (row, column))
            if square > radius:
                assert exact_turn(table, (row, column)) <= Fraction(KEPT)


def test_the_rounding_of_an_output_is_within_that_of_fp16_and_two_of_fp32(third):
    u16, u32 = Fraction(1, 2**11), Fraction(1, 2**24)
    assert 0 < third.rounding <= (1 + u16 / (1 + u16)) * (1 + u32 / (1 + u32)) ** 2 - 1
    o = Fraction(float(component(torch.tensor([float(third.rounding_at)]), *THIRD)))
    assert abs(o / (third.rounding_at * Fraction(THIRD[1]) / Fraction(THIRD[0])) - 1) == third.rounding


def test_a_power_of_two_turns_nothing():
    found = survey(0.5, 1.0)
    assert (found.worst, found.rounding, found.lost, found.largest_lost) == (0, 0, 0, None)
    assert found.infinite == PAIRS - (VALUES - 1024) ** 2  # the last binade doubles out of the range


def truncated(x, scale, gamma):
    """Rounds towards zero."""
    wide = x.float() / scale * gamma
    half = wide.half()
    return torch.where(half.float().abs() > wide.abs(), torch.nextafter(half, torch.zeros_like(half)), half)


def flushed(x, scale, gamma):
    """Has no subnormal outputs."""
    half = component(x, scale, gamma)
    return torch.where(half.abs() < torch.finfo(torch.float16).smallest_normal, torch.zeros_like(half), half)


def in_bf16(x, scale, gamma):
    """Keeps eight bits."""
    return (x.float() / scale * gamma).bfloat16().half()


def test_a_coarser_output_turns_phasors_further_than_u(monkeypatch):
    monkeypatch.setattr(bands, "component", in_bf16)
    table = Table.of(*THIRD)
    assert max(scan(table, number).worst for number in (50, 55, BANDS - 1)) > KEPT


def test_rounding_towards_zero_is_seen_in_the_rounding(monkeypatch, third):
    monkeypatch.setattr(bands, "component", truncated)
    error, _ = survey_module._rounding(Table.of(*THIRD), *THIRD)
    assert third.rounding < Fraction(1, 2**11) < error <= Fraction(1, 2**10)


def test_flushing_subnormals_loses_more_phases(monkeypatch):
    plain = scan(Table.of(*THIRD), 2).lost
    monkeypatch.setattr(bands, "component", flushed)
    assert scan(Table.of(*THIRD), 2).lost > plain


def test_a_missing_or_doubled_band_is_refused():
    found = [scan(Table.of(*SMALL), 0)] * 2
    with pytest.raises(ValueError, match="2 bands; accepted"):
        survey_of(*SMALL, found)


def test_several_processes_find_the_same_as_one(third):
    state = State(None, *THIRD, "cpu")
    finish(state, 2)
    assert survey(*THIRD, state.bands.values()) == third


def test_finished_bands_are_not_done_again(tmp_path, monkeypatch):
    path = tmp_path / "state.jsonl"
    first = State(path, *THIRD, "cpu")
    table = Table.of(*THIRD)
    for number in (5, 60):
        first.add(scan(table, number))
    again = State(path, *THIRD, "cpu")
    assert again.bands == first.bands and len(again.missing) == BANDS - 2
    with path.open("ab") as file:
        file.write(b'{"number": 7, "nor')  # killed while it wrote
    cut = State(path, *THIRD, "cpu")
    assert cut.bands == first.bands
    cut.add(scan(table, 7))
    assert set(State(path, *THIRD, "cpu").bands) == {5, 60, 7}


@pytest.mark.parametrize(
    "content", [b"something else\n", b"{}\n", b"x", b'{"format": "exhaustive fp16 phases, version 0"}\n', b"\n\n"]
)
def test_a_file_about_something_else_is_refused_and_kept(tmp_path, content):
    path = tmp_path / "state.jsonl"
    path.write_bytes(content)
    with pytest.raises(StateProblem, match="a file about"):
        State(path, *THIRD, "cpu")
    assert path.read_bytes() == content


def test_bands_of_another_case_and_damaged_ones_are_refused(tmp_path):
    path = tmp_path / "state.jsonl"
    State(path, *THIRD, "cpu").add(scan(Table.of(*THIRD), 0))
    with pytest.raises(StateProblem, match="it is about"):
        State(path, *SMALL, "cpu")
    lines = path.read_bytes().split(b"\n")
    for damaged in (lines[1] + b"\n" + lines[1], lines[1][:-5], b'{"number": 0}'):
        path.write_bytes(lines[0] + b"\n" + damaged + b"\n")
        with pytest.raises(StateProblem, match="is damaged"):
            State(path, *THIRD, "cpu")


def test_killed_and_started_again_it_ends_as_if_it_had_not_been(tmp_path, spawn, third):
    path, out = tmp_path / "state.jsonl", tmp_path / "out.json"
    command = [sys.executable, "-m", "paper_checks", "exhaustive", "--scale", "3", "--gamma", "0.7001953125"]
    command += ["--device", "cpu", "--store", str(path), "--json", str(out)]
    child = spawn(command, stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[1])
    while child.poll() is None and (not path.exists() or path.read_bytes().count(b"\n") < 5):
        time.sleep(0.005)
    child.send_signal(signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    assert not out.exists()
    before = path.read_bytes()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=Path(__file__).parents[1])
    whole = before[: before.rindex(b"\n") + 1]
    assert path.read_bytes().startswith(whole) and path.read_bytes().count(b"\n") == 1 + BANDS
    assert json.loads(out.read_text())["surveys"] == [json.loads(json.dumps(third.data()))]
    assert {name for name in os.listdir(tmp_path) if not name.endswith(".part")} == {"state.jsonl", "out.json"}


def test_ctrl_c_ends_two_workers_quietly_and_keeps_what_is_finished(tmp_path, spawn):
    path = tmp_path / "state.jsonl"
    command = [sys.executable, "-m", "paper_checks", "exhaustive", "--scale", "1000", "--device", "cpu", "--jobs", "2"]
    child = spawn(
        [*command, "--store", str(path)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
    )
    while child.poll() is None and not path.exists():
        time.sleep(0.005)
    os.killpg(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert (child.returncode, err) == (130, b"")
    assert State(path, 1000.0, 1.0, "cpu").bands


@pytest.mark.parametrize(
    "arguments",
    [
        ("--scale", "0"),
        ("--scale", "-1"),
        ("--scale", "1e60"),
        ("--scale", "three"),
        ("--gamma", "1"),
        ("--scale", "1", "--gamma", "0"),
        ("--scale", "1e20", "--gamma", "1"),
        ("--store", "a.jsonl"),
        ("--jobs", "0"),
        ("--scale", "1", "--device", "tpu"),
    ],
)
def test_bad_usage_is_one_line(command, arguments):
    found = command("exhaustive", *arguments)
    assert found.status == 2
    assert found.err.startswith("paper-checks: --") and found.err.count("\n") == 1


def test_a_deep_run_of_eq03_tries_every_phasor(monkeypatch, third):
    monkeypatch.setattr(eq03, "CASES", (THIRD,))
    monkeypatch.setattr(eq03, "survey", lambda scale, gamma, device: third)
    rows = [row for row in eq03.measure(Settings(dtypes=("fp16",), trials=2, full=True)) if row.kind == "exhaustive"]
    assert [(row.status, row.trials) for row in rows] == [("consistent", third.normal)]
    monkeypatch.setattr(eq03, "survey", lambda scale, gamma, device: replace(third, worst=Fraction(1, 2**11) * 2))
    rows = [row for row in eq03.measure(Settings(dtypes=("fp16",), trials=2, full=True)) if row.kind == "exhaustive"]
    assert [row.status for row in rows] == ["violated"]
    assert not [row for row in eq03.measure(Settings(dtypes=("fp16",), trials=2)) if row.kind == "exhaustive"]
