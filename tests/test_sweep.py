"""Sweeps: the matrix, the rows of its cells, what is measured on them, and what the command prints and refuses."""

import itertools
import json
import math
import random

import pytest
import torch

from numerics.measure import DTYPES, Settings
from numerics.mrsnorm import eq05, eq18
from numerics.rounding import FORMATS, check_domain
from numerics.sweeps import checks, matrix, rows, run
from numerics.sweeps.checks import Row
from numerics.sweeps.matrix import Cell
from numerics.sweeps.merge import Merged
from numerics.sweeps.shards import Outcome, Plan, Shard, block_size, run_shard

COVERING = matrix.covering()
CELL = Cell("massive:1e4", 64, "wide", 1e-6, "zeros", "strided")
FEW = ("--scenario", "massive:1e4", "--dtype", "fp16", "--dtype", "fp32", "--trials", "16")


def drawn(cell, dtype="fp32", trials=64, slug="t", seed=0, block=0):
    source = rows.CellRows(cell, block)
    settings = Settings(dtypes=(dtype,), trials=trials, seed=seed, source=source)
    return list(source.batches(slug, FORMATS[dtype], settings, math.inf, False, False)), source


def batch(cell, dtype="fp32", **options):
    (found,), _ = drawn(cell, dtype, **options)
    return found


# the matrix


def test_every_two_values_of_different_axes_meet_in_a_cell_of_the_covering():
    def pairs(cell):
        values = (cell.outlier, cell.phasors, cell.gamma, cell.eps, cell.content, cell.layout)
        return set(itertools.combinations(enumerate(values), 2))

    wanted = {
        ((a, x), (b, y))
        for (a, xs), (b, ys) in itertools.combinations(enumerate(matrix.AXES), 2)
        for x, y in itertools.product(xs, ys)
    }
    assert set().union(*map(pairs, COVERING)) == wanted
    assert len(COVERING) < 1.2 * len(matrix.OUTLIERS) * len(matrix.PHASORS)


def test_a_cell_has_one_name_and_the_name_one_cell():
    names = [cell.name for cell in matrix.product()]
    assert len(set(names)) == len(names) == 25_920
    assert CELL.name == "massive:1e4/P64/wide/eps1e-6/zeros/strided"
    assert matrix.select([CELL.name]) == (CELL,)


def test_a_selection_is_by_kind_by_magnitude_by_width_and_by_cell():
    assert {cell.kind for cell in matrix.select(["massive", "none"])} == {"massive", "none"}
    assert {cell.outlier for cell in matrix.select(["tail:t1"])} == {"tail:t1"}
    assert {cell.phasors for cell in matrix.select(phasors=[7, 64])} == {7, 64}
    assert len(matrix.select(["none"], [64], full=True)) == 3 * 3 * 6 * 5
    assert matrix.select() == COVERING


# rows


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("cell", COVERING[::3], ids=lambda cell: cell.name)
def test_the_rows_of_a_cell_lie_in_the_domain_or_are_counted(cell, dtype):
    found, source = drawn(cell, dtype, trials=16)
    assert sum(len(b.h) for b in found) + source.outside == 16
    for b in found:
        r = torch.linalg.vector_norm(b.z, dim=-1)
        check_domain(r, b.fmt)
        assert (r > 0).any(dim=-1).all() and b.h.isfinite().all()
        assert (b.phasors, b.eps, b.scenarios) == (cell.phasors, cell.eps, (cell.name,))


def test_only_subnormal_cells_lie_outside_the_domain():
    """fp16 is computed in fp32, which has its subnormal numbers; in the other formats nothing is claimed there."""
    for cell, dtype in itertools.product(COVERING, DTYPES):
        _, source = drawn(cell, dtype, trials=4)
        if cell.content != "subnormal":
            assert source.outside == 0, (cell.name, dtype)
        elif dtype != "fp16" and cell.kind == "none":
            assert source.outside == 4, (cell.name, dtype)


@pytest.mark.parametrize(("outlier", "factor"), [("massive:1e3", 1e3), ("massive:1e5", 1e5)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_massive_channels_are_the_same_in_all_rows_and_so_many_times_the_median(outlier, factor, dtype):
    cell = Cell(outlier, 64, "ones", 0.0, "dense", "contiguous")
    found = torch.cat([batch(cell, dtype, block=block).h.double().abs() for block in (0, 1)])
    place = found.topk(4, dim=-1).indices.sort(dim=-1).values
    assert (place == place[0]).all()
    ratio = found.gather(-1, place) / found.median(dim=-1, keepdim=True).values
    assert factor / 1.3 <= ratio.min() and ratio.max() <= 1.3 * factor  # the massive channels moved the median


@pytest.mark.parametrize(("outlier", "count"), [("channel:1e3", 1), ("phasor:1e3", 2)])
def test_an_outlier_is_one_channel_or_one_phasor_at_a_random_place(outlier, count):
    h = batch(Cell(outlier, 64, "ones", 0.0, "dense", "contiguous")).h.abs()
    large = h > 20
    assert large.sum(-1).float().mean().sub(count).abs() < 0.2
    assert large.any(0).sum() > 30


def test_every_eighth_row_is_an_outlier_token():
    scale = batch(Cell("token:1e3", 64, "ones", 0.0, "dense", "contiguous")).h.abs().median(-1).values
    large = scale > 100
    assert large.nonzero().flatten().tolist() == list(range(0, 64, 8))


def test_tails_get_heavier():
    shares = []
    for outlier in ("none", "tail:t3", "tail:t2", "tail:t1"):
        h = batch(Cell(outlier, 192, "ones", 0.0, "dense", "contiguous")).h.abs()
        shares.append(float((h > 10 * h.median()).float().mean()))
    assert shares == sorted(shares) and len(set(shares)) == 4


def test_contents_are_what_they_are_called():
    def z(content, dtype="fp16"):
        return batch(Cell("none", 64, "ones", 0.0, content, "contiguous"), dtype).z

    assert ((z("zeros") == 0).all(-1).sum(-1) == 32).all()
    assert ((z("axis") == 0).sum(-1) >= 1).all()
    assert (z("subnormal").abs() < FORMATS["fp16"].smallest_normal).float().mean() > 0.99
    assert z("huge").abs().max() > FORMATS["fp16"].largest / 4
    bf16 = FORMATS["bf16"]
    assert z("tiny", "bf16").abs().median() < bf16.smallest_normal**0.25
    assert z("huge", "bf16").abs().median() > bf16.largest**0.25


def test_weights_are_what_they_are_called():
    def gamma(name):
        return batch(Cell("none", 64, name, 0.0, "dense", "contiguous")).gamma

    assert (gamma("ones") == 1).all()
    for name in ("mixed", "wide"):
        assert (gamma(name) < 0).any() and (gamma(name) > 0).any() and (gamma(name) == 0).sum() == 1
    assert gamma("wide").abs().max() > 50


@pytest.mark.parametrize("layout", matrix.LAYOUTS)
def test_a_layout_changes_the_strides_and_not_the_numbers(layout):
    x = torch.arange(24.0).reshape(4, 6)
    assert torch.equal(rows.laid_out(x, layout), x)
    b = batch(Cell("none", 7, "mixed", 0.0, "dense", layout))
    strides = {"contiguous": (14, 1), "transposed": (1, 64), "strided": (28, 2), "offset": (17, 1), "expanded": (14, 1)}
    assert b.h.stride() == strides[layout]
    assert b.g.stride() == ((0, 1) if layout == "expanded" else strides[layout])
    assert b.gamma.stride() == (2 if layout == "strided" else 1,)


# what is measured


@pytest.mark.parametrize("claim", checks.CLAIMS)
def test_every_claim_is_measured_on_a_cell_and_only_there(claim):
    source = rows.CellRows(Cell("phasor:10", 7, "mixed", 1e-6, "dense", "offset"), 0)
    found = list(checks.measured(claim, Settings(dtypes=("fp32",), trials=8, source=source)))
    tried = {row.trials for row in found}
    assert tried & {8, 16, 24} and max(tried) <= 24  # some statements have two or three parts, each tried on every row
    assert len({row.statement for row in found}) == len(found)
    scenarios = {row.witness["scenario"] for row in found if row.witness and "scenario" in row.witness}
    assert scenarios <= {source.cell.name}


@pytest.mark.parametrize("label", eq05.MUTANTS)
def test_a_sweep_rejects_every_wrong_formula_of_eq05(label, monkeypatch):
    monkeypatch.setattr(eq05, "printed", eq05.MUTANTS[label])
    swept = run.sweep(Plan(("eq05",), matrix.select(["none"]), ("fp32",), trials=16), run.Workers())
    assert any(each.status == "violated" for each in swept.merged.cells(Plan(("eq05",), COVERING, ("fp32",))))


@pytest.mark.parametrize("label", eq18.CORRECTED_MUTANTS)
def test_a_sweep_rejects_every_wrong_bound_of_eq18(label, monkeypatch):
    monkeypatch.setattr(eq18, "corrected", eq18.CORRECTED_MUTANTS[label])
    plan = Plan(("eq18",), matrix.select(["phasor"]), ("fp32",), trials=16)
    found = [each for each in run.sweep(plan, run.Workers()).merged.cells(plan) if each.statement == "corrected"]
    assert any(each.status == "violated" for each in found)


def test_the_inequalities_are_statements_that_are_swept():
    source = rows.CellRows(Cell("phasor:10", 7, "mixed", 1e-6, "dense", "contiguous"), 0)
    settings = Settings(dtypes=("fp32",), trials=2, source=source)
    claims = {claim for claim, _ in checks.INEQUALITIES}
    assert {
        (claim, row.statement) for claim in claims for row in checks.measured(claim, settings)
    } >= checks.INEQUALITIES


def test_the_worst_input_is_found_again_from_the_seed_the_block_and_the_row():
    plan = Plan(("eq05",), (CELL,), ("bf16",), trials=2 * block_size(64), seed=3)
    (worst, *_) = run.sweep(plan, run.Workers()).merged.cells(plan)
    shard = next(shard for shard in plan.shards() if shard.block == worst.block)
    (again, *_) = run_shard(shard, plan.code).rows
    assert (again.worst, again.witness) == (worst.worst, worst.witness)


# shards and merging


def test_a_plan_has_every_shard_once_and_all_trials():
    plan = Plan(("eq05", "eq18"), COVERING, ("fp16", "fp64"), trials=2500)
    shards = list(plan.shards())
    assert len({shard.key for shard in shards}) == len(shards) == len(plan)
    assert sum(shard.trials for shard in shards) == 2500 * 2 * 2 * len(COVERING)
    assert all(0 < shard.trials <= block_size(shard.cell.phasors) for shard in shards)


def outcomes():
    cells = (CELL, COVERING[0])
    found = []
    for number, (block, cell) in enumerate(itertools.product(range(5), cells)):
        worst = (0.5, 0.25, math.nan, 0.5, 2.0, 0.1, math.nan, 0.3, 0.0, 0.0)[number]
        rows = (Row("a", worst, number % 3, {"row": number}), Row("b", 0.5, 1, {"row": number}))
        found.append((Shard("eq05", cell, "fp16", "cpu", block, 3, 0), Outcome(rows, number)))
    return found


def merged(found):
    into = Merged()
    for shard, outcome in found:
        into.take(shard, outcome)
    return [repr(each) for each in into.cells(Plan(("eq05",), (CELL, COVERING[0]), ("fp16",)))]


def test_merging_does_not_depend_on_the_order():
    found = outcomes()
    expected = merged(found)
    for seed in range(20):
        random.Random(seed).shuffle(found)
        assert merged(found) == expected


def test_merging_keeps_a_nan_and_of_equals_the_first_block_and_adds_trials():
    first = merged(outcomes())
    assert "worst=nan" in first[0] and "block=1" in first[0] and "trials=5" in first[0] and "outside=20" in first[0]
    assert "worst=0.5, trials=5" in first[1] and "block=0" in first[1]


def test_a_worse_ratio_without_trials_does_not_count():
    assert checks.worse(Row("a", 0.5, 3), Row("a", 0.0, 0)).worst == 0.5
    assert checks.worse(Row("a", 9.0, 0), Row("a", 0.1, 2)).worst == 0.1
    assert math.isnan(checks.worse(Row("a", math.nan, 1), Row("a", 2.0, 1)).worst)


def test_a_worker_with_other_code_does_not_answer():
    (shard, *_) = Plan(("eq05",), (CELL,), ("fp16",)).shards()
    assert "the worker has other code" in run_shard(shard, "0123").error


# the command


def test_the_table_is_worst_first_and_the_summary_by_scenario(command):
    found = command("sweep", "eq5", "eq18", *FEW)
    lines = found.out.splitlines()
    assert (found.status, found.err) == (0, "")
    ratios = [float(line.split()[0]) for line in lines[2 : lines.index("") - 1]]
    assert ratios == sorted(ratios, reverse=True) and len(ratios) == 10 and ratios[0] <= 1
    assert "worst error by scenario" in found.out and "massive:1e4" in found.out and "shards" in lines[-1]
    assert "refuted as printed: eq18" in found.out


@pytest.mark.parametrize("columns", [80, 100, 120])
def test_the_tables_fit_the_terminal(command, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    tables = command("sweep", "eq05", *FEW).out.split("the first one again")[0].splitlines()
    assert tables and max(map(len, tables)) <= columns
    assert all(line.split()[1].isdigit() and " eq05 " in line and "massive:1e4/P" in line for line in tables[2:])


def test_json_has_every_cell_with_its_input_and_any_number_of_processes_gives_the_same(command):
    one, two = (command("sweep", "eq05", "eq18", *FEW, "--json", "-", "--jobs", jobs).json() for jobs in ("1", "2"))
    for document in (one, two):
        assert document.pop("environment")["device"] == "cpu"
    assert one == two
    assert one["summary"]["violated"] == 0 and one["errors"] == {} and one["unfinished"] == 0
    assert {cell["dtype"] for cell in one["cells"]} == {"fp16", "fp32"}
    for cell in one["cells"]:
        assert cell["reason"] if cell["status"] == "not run" else "row" in cell["witness"]


def test_a_cell_that_is_named_gives_what_it_gave_among_others(command):
    among = command("sweep", "eq05", *FEW, "--json", "-").json()["cells"]
    name = among[-1]["scenario"]
    alone = command("sweep", "eq05", *FEW[2:], "--scenario", name, "--json", "-").json()["cells"]
    assert alone == [cell for cell in among if cell["scenario"] == name]


def test_a_violation_exits_with_1_and_names_the_row(command, monkeypatch):
    monkeypatch.setattr(eq05, "printed", eq05.MUTANTS["sign flipped"])
    found = command("sweep", "eq05", *FEW)
    assert found.status == 1
    assert "VIOLATED  eq05: 'as printed' is" in found.out and "block 0, row" in found.out


def test_a_shard_that_raises_is_incomplete_and_never_a_pass(command, monkeypatch):
    def broken(*args):
        raise ArithmeticError("boom")

    monkeypatch.setattr(eq05, "printed", broken)
    found = command("sweep", "eq05", "eq18", *FEW)
    assert found.status == 3 and "INCOMPLETE  eq05|" in found.out and "ArithmeticError: boom" in found.out


def test_a_sweep_that_tried_nothing_is_incomplete(command):
    cell = "none/P64/ones/eps0/subnormal/contiguous"
    found = command("sweep", "eq05", "--scenario", cell, "--dtype", "fp32")
    assert found.status == 3 and "INCOMPLETE  nothing was tried" in found.out
    assert "2 not run: every row lies outside the domain of the error bounds" in found.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "SLUG: got 'nonsense'"),
        (["no-1d"], "SLUG: got 'no-1d', accepts a claim that is swept: eq01, "),
        (["--scenario", "huge"], "--scenario: got 'huge', accepts none, channel, "),
        (["--pairs", "3"], "--pairs: got 3, accepts 1, 2, 7, 64, 192, 1024"),
        (["--pairs", "x"], "--pairs: got 'x', accepts an integer"),
        (["--scenario", CELL.name, "--pairs", "7"], "--pairs: got '7', accepts a P that"),
        (["--trials", "0"], "--trials: got '0'"),
        (["--trials", "1000000", "--full"], "--trials: got '1000000', accepts at most 1000000 shards"),
        (["--dtype", "fp8"], "--dtype: got 'fp8'"),
        (["--jobs", "0"], "--jobs: got '0'"),
        (["--backend", "spark"], "--backend: got 'spark', accepts local or dask"),
        (["--backend", "dask"], "--backend: got 'dask', accepts --scheduler"),
        (["--scheduler", "tcp://h:1"], "--scheduler: got 'tcp://h:1', accepts nothing without --backend dask"),
        (["--backend", "dask", "--scheduler", "tcp://h:1", "--jobs", "2"], "--jobs: got 2, accepts nothing beside"),
        (["--top", "-1"], "--top: got '-1'"),
    ],
)
def test_bad_usage_is_one_line(command, arguments, said):
    found = command("sweep", *arguments)
    assert (found.status, found.out, found.err.count("\n")) == (2, "", 1)
    assert found.err.startswith("paper-checks: ") and said in found.err


def test_the_store_is_not_the_json(command, tmp_path):
    found = command("sweep", "--store", tmp_path / "x", "--json", tmp_path / "x")
    assert found.status == 2 and "--store: got" in found.err and list(tmp_path.iterdir()) == []


def test_the_help_has_the_exit_statuses_and_examples(command):
    text = command("sweep", "--help").out
    assert "Exit status:" in text and "--backend dask --scheduler" in text and "sweep.db" in text


def test_a_nan_in_the_json_is_a_string(command, monkeypatch):
    monkeypatch.setattr(eq05, "printed", eq05.MUTANTS["all NaN"])
    document = json.loads(command("sweep", "eq05", *FEW, "--json", "-").out)
    assert {cell["worst_error_over_bound"] for cell in document["cells"]} >= {"NaN"}
