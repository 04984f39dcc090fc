"""Sweeps in real processes: killed and resumed, sharing a store, losing workers, on a Dask cluster. Bit for bit."""

import contextlib
import json
import multiprocessing
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
import warnings
from types import SimpleNamespace

import pytest
from joblib.externals.loky import get_reusable_executor

from numerics.sweeps import matrix, run, shards
from numerics.sweeps.shards import Plan
from numerics.sweeps.store import Store
from paper_checks import commands_sweep
from paper_checks.usage import UsageProblem

SWEEP = ("sweep", "eq05", "eq18", "--scenario", "massive", "--dtype", "fp16", "--dtype", "fp32", "--trials", "150")


def sweep_command(*arguments):
    return [sys.executable, "-m", "paper_checks", *SWEEP, *map(str, arguments)]


@pytest.fixture
def started(spawn):
    """Starts the sweep with these arguments added."""
    return lambda *arguments: spawn(
        sweep_command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished_shards(path):
    if not path.exists():
        return 0
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT count(*) FROM shards").fetchone()[0]


def body(text):
    document = json.loads(text)
    document.pop("environment")
    return document


@pytest.fixture(scope="module")
def uninterrupted():
    """The JSON of the sweep, run from beginning to end by one process."""
    done = subprocess.run(sweep_command("--json", "-"), capture_output=True, text=True)
    assert body(done.stdout)["errors"] == {}, done.stderr
    return body(done.stdout)


@pytest.fixture(autouse=True)
def no_workers_stay():
    yield
    get_reusable_executor().shutdown(kill_workers=True)


def plan():
    return Plan(("eq05", "eq18"), matrix.select(["massive"]), ("fp16", "fp32"), trials=150)


def test_kill_9_loses_the_shards_in_flight_and_two_processes_at_once_go_on(started, tmp_path, uninterrupted):
    path = tmp_path / "sweep.db"
    process = started("--store", path, "--jobs", "2")
    while finished_shards(path) < 5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    kept = finished_shards(path)
    assert 5 <= kept < len(plan())
    both = [started("--store", path, "--json", "-") for _ in range(2)]
    for process in both:
        out, err = process.communicate()
        assert (process.returncode, body(out)) == (0, uninterrupted), err
        stored = int(re.search(rf"{len(plan())} shards, (\d+) of them from the store", err)[1])
        assert stored >= kept
    assert finished_shards(path) == len(plan())
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_another_process_has_finished_is_not_run_again(tmp_path, monkeypatch):
    """A second process that finishes everything while the first is at its first shard leaves nothing to do."""
    few = Plan(("eq18",), matrix.select(["none"]), ("fp32",), trials=8)
    path = str(tmp_path / "sweep.db")
    calls = []

    def slow(shard, code):
        calls.append(shard.key)
        if len(calls) == 1:
            other = Store(path, few.identity())
            run.sweep(few, run.Workers(), other)
            other.close()
        return shards.run_shard(shard, code)

    monkeypatch.setattr(run, "run_shard", slow)
    monkeypatch.setattr(run, "NEWS_SECONDS", 0.0)
    kept = Store(path, few.identity())
    swept = run.sweep(few, run.Workers(), kept)
    kept.close()
    assert len(calls) == len(few) + 1  # the first shard twice, each of the others once
    assert (swept.errors, swept.unfinished) == ({}, 0)
    assert len(list(swept.merged.cells(few))) == len(few) * 2


# workers that die


def is_guilty(shard):
    return shard.cell.phasors == 7 and shard.dtype == "fp32"


def always_kills(shard, code):
    if is_guilty(shard):
        os.kill(os.getpid(), signal.SIGKILL)
    return shard, shards.run_shard(shard, code)


def test_a_worker_killed_in_mid_sweep_costs_nothing_but_time():
    killed = []

    def kill_one(stored, finished):
        if finished == 5:
            killed.append(multiprocessing.active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    few = Plan(("eq05",), matrix.select(["massive"]), ("fp16", "fp32"), trials=64)
    swept = run.sweep(few, run.LocalProcesses(2), progress=kill_one)
    assert len(killed) == 1 and (swept.errors, swept.unfinished) == ({}, 0)
    expected = run.sweep(few, run.Workers()).merged.cells(few)
    assert list(map(repr, swept.merged.cells(few))) == list(map(repr, expected))


def test_a_shard_that_kills_its_worker_three_times_is_given_up_and_the_others_are_not(monkeypatch):
    """Twice here, to save a pool of workers."""
    assert run.GIVE_UP == 3
    monkeypatch.setattr(run, "GIVE_UP", 2)
    monkeypatch.setattr(run, "_pair", always_kills)
    few = Plan(("eq05",), matrix.select(["massive:1e3"]), ("fp16", "fp32"), trials=8)
    swept = run.sweep(few, run.LocalProcesses(2))
    monkeypatch.undo()
    (guilty,) = (shard for shard in few.shards() if is_guilty(shard))
    assert swept.errors == {guilty.key: "it ended its worker process 2 times"} and swept.unfinished == 0
    expected = run.sweep(few, run.Workers()).merged.cells(few)
    expected = [each for each in expected if not is_guilty(each)]
    assert list(map(repr, swept.merged.cells(few))) == list(map(repr, expected))


# Dask


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two worker processes of one thread each, on this machine."""
    distributed = pytest.importorskip("distributed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ports taken, clocks off: the cluster's, not ours
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as found:
            yield found


def test_a_dask_cluster_of_two_worker_processes_gives_the_same(started, cluster, uninterrupted):
    process = started("--backend", "dask", "--scheduler", cluster.scheduler_address, "--json", "-")
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert json.loads(out)["environment"]["backend"] == "dask"
    assert body(out) == uninterrupted


def test_a_dask_worker_killed_in_mid_sweep_costs_nothing_but_time(started, cluster, tmp_path, uninterrupted):
    path = tmp_path / "sweep.db"
    process = started("--backend", "dask", "--scheduler", cluster.scheduler_address, "--json", "-", "--store", path)
    while finished_shards(path) < 5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)  # its nanny starts another one
    out, err = process.communicate()
    assert (process.returncode, body(out)) == (0, uninterrupted), err


def test_a_scheduler_that_is_not_there_is_refused_in_one_line(command, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(commands_sweep, "CONNECT_SECONDS", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = command("sweep", "eq05", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert (found.status, found.out) == (2, "")
    assert found.err.count("\n") == 1 and "accepts the address of a running scheduler" in found.err


def test_only_workers_with_cuda_are_used_unless_the_cpu_is_asked_for():
    client = SimpleNamespace(run=lambda function: {"tcp://a": False, "tcp://b": True, "tcp://c": True})
    for device in ("auto", "cuda"):
        workers, found = commands_sweep._on_cluster(client, device)
        assert (workers.addresses, found) == (("tcp://b", "tcp://c"), "cuda")
    workers, found = commands_sweep._on_cluster(client, "cpu")
    assert (workers.addresses, found) == ((), "cpu")


def test_cuda_is_refused_where_no_worker_has_it():
    client = SimpleNamespace(run=lambda function: {"tcp://a": False})
    assert commands_sweep._on_cluster(client, "auto")[1] == "cpu"
    with pytest.raises(UsageProblem, match="no worker of the cluster finds a CUDA device"):
        commands_sweep._on_cluster(client, "cuda")


def test_without_dask_the_backend_is_refused_in_one_line(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    found = command("sweep", "eq05", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert found.status == 2 and "Dask is not installed (pip install 'paper-checks[distributed]'" in found.err
