"""Sweeps in real processes: killed and resumed, sharing a store, losing workers, on a Dask cluster. Bit for bit."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import warnings

import pytest
from joblib.externals.loky import get_reusable_executor

from numerics.sweeps import matrix, run, shards
from numerics.sweeps.shards import Outcome, Plan

SWEEP = ("sweep", "eq05", "eq18", "--scenario", "massive", "--dtype", "fp16", "--dtype", "fp32", "--trials", "300")


def started(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "paper_checks", *SWEEP, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
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
    out, err = started("--json", "-").communicate()
    assert body(out)["errors"] == {}, err
    return body(out)


@pytest.fixture(autouse=True)
def no_workers_stay():
    yield
    get_reusable_executor().shutdown(kill_workers=True)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_kill_9_loses_at_most_the_shards_in_flight_and_the_same_command_goes_on(tmp_path, jobs, uninterrupted):
    path = tmp_path / "sweep.db"
    process = started("--store", path, "--jobs", jobs)
    while finished_shards(path) < 5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    kept = finished_shards(path)
    process = started("--store", path, "--json", "-")
    out, err = process.communicate()
    total = len(list(plan().shards()))
    assert 5 <= kept < total and f"{total} shards, {kept} of them from the store" in err
    assert (process.returncode, body(out)) == (0, uninterrupted)


def plan():
    return Plan(("eq05", "eq18"), matrix.select(["massive"]), ("fp16", "fp32"), trials=300)


def test_two_processes_share_one_store(tmp_path, uninterrupted):
    path = tmp_path / "sweep.db"
    both = [started("--store", path, "--json", tmp_path / name) for name in ("a", "b")]
    for process in both:
        out, err = process.communicate()
        assert (process.returncode, err) == (0, ""), out
    for name in ("a", "b"):
        assert body((tmp_path / name).read_text()) == uninterrupted
    assert finished_shards(path) == len(plan())
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_what_another_process_has_finished_is_not_run_again(tmp_path, monkeypatch):
    """A second process that finishes everything while the first is at its first shard leaves nothing to do."""
    from numerics.sweeps.store import Store

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


def small():
    return Plan(("eq05",), matrix.select(["massive:1e3"]), ("fp16", "fp32"), trials=64)


def cells(swept, of):
    return [repr(each) for each in swept.merged.cells(of)]


def kills_once(shard, code, flag):
    """Ends its worker the first time that one particular shard is run."""
    if shard.cell.phasors == 7 and shard.dtype == "fp32":
        with contextlib.suppress(FileExistsError):
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
    return shard, shards.run_shard(shard, code)


def always_kills(shard, code):
    if shard.cell.phasors == 7 and shard.dtype == "fp32":
        os.kill(os.getpid(), signal.SIGKILL)
    return shard, Outcome()


def test_a_worker_killed_in_mid_sweep_costs_nothing_but_time(tmp_path, monkeypatch):
    import functools

    flag = tmp_path / "killed"
    monkeypatch.setattr(run, "_pair", functools.partial(kills_once, flag=str(flag)))
    swept = run.sweep(small(), run.LocalProcesses(2))
    monkeypatch.undo()
    assert flag.exists() and (swept.errors, swept.unfinished) == ({}, 0)
    assert cells(swept, small()) == cells(run.sweep(small(), run.Workers()), small())


def test_a_worker_killed_from_outside_costs_nothing_but_time(tmp_path, uninterrupted):
    path = tmp_path / "sweep.db"
    process = started("--store", path, "--jobs", "2", "--json", "-")
    while finished_shards(path) < 5:
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    out, err = process.communicate()
    assert (process.returncode, body(out)) == (0, uninterrupted), err


def workers_of(pid):
    """Processes started by a process that run joblib's worker loop."""
    listed = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(pid)], capture_output=True, text=True, check=True)
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if "popen_loky" in line]


def test_a_shard_that_kills_its_worker_three_times_is_given_up_and_reported(monkeypatch):
    monkeypatch.setattr(run, "_pair", always_kills)
    swept = run.sweep(small(), run.LocalProcesses(2))
    guilty = {shard.key for shard in small().shards() if shard.cell.phasors == 7 and shard.dtype == "fp32"}
    assert swept.errors == dict.fromkeys(guilty, "it ended its worker process 3 times")
    assert swept.unfinished == 0


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


def test_a_dask_cluster_of_two_worker_processes_gives_the_same(cluster, uninterrupted):
    process = started("--backend", "dask", "--scheduler", cluster.scheduler_address, "--json", "-")
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert json.loads(out)["environment"]["backend"] == "dask"
    assert body(out) == uninterrupted


def test_a_dask_worker_killed_in_mid_sweep_costs_nothing_but_time(cluster, tmp_path, uninterrupted):
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
    from paper_checks import commands_sweep

    monkeypatch.setattr(commands_sweep, "CONNECT_SECONDS", 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = command("sweep", "eq05", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert (found.status, found.out) == (2, "")
    assert found.err.count("\n") == 1 and "accepts the address of a running scheduler" in found.err


def test_cuda_is_refused_where_no_worker_has_it(cluster):
    import torch

    if torch.cuda.is_available():
        pytest.skip("the workers of this machine have CUDA")
    process = started("--backend", "dask", "--scheduler", cluster.scheduler_address, "--device", "cuda")
    _, err = process.communicate()
    assert process.returncode == 2 and "no worker of the cluster finds a CUDA device" in err


def test_without_dask_the_backend_is_refused_in_one_line(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    found = command("sweep", "eq05", "--backend", "dask", "--scheduler", "tcp://127.0.0.1:9")
    assert found.status == 2 and "Dask is not installed (pip install 'paper-checks[distributed]'" in found.err
