"""The store of a sweep: what it keeps, and that it refuses what is not its own without touching it."""

import contextlib
import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from numerics.sweeps import matrix, store
from numerics.sweeps.checks import Row
from numerics.sweeps.shards import Outcome, Plan
from numerics.sweeps.store import Refused, Store

SWEEP = ("sweep", "eq02", "--scenario", "massive:1e3", "--dtype", "fp32", "--trials", "8")
IDENTITY = {"seed": 0, "trials": 8}
OUTCOME = Outcome((Row("as printed", 0.1 + 0.2, 3, {"row": 1}), Row("b", float("nan"), 1, None)), 4)


def contents(directory):
    """Name and bytes of every file in a directory."""
    return {file.name: file.read_bytes() for file in directory.iterdir() if file.is_file()}


def sql(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def body(found):
    document = found.json()
    document.pop("environment")
    return document


@pytest.fixture
def finished(command, tmp_path):
    """A finished store, alone in its directory."""
    path = tmp_path / "store" / "sweep.db"
    path.parent.mkdir()
    assert command(*SWEEP, "--store", path).status == 0
    return path


def test_what_is_put_in_comes_out_exactly(tmp_path):
    kept = Store(str(tmp_path / "s"), IDENTITY)
    kept.put("one", OUTCOME)
    kept.put("one", Outcome())  # the first of two stays
    kept.put("two", Outcome(outside=2))
    assert kept.news() == ["one", "two"] and kept.news() == []
    found = dict(kept.outcomes())
    assert repr(found["one"]) == repr(OUTCOME) and found["two"] == Outcome(outside=2)
    kept.close()
    assert [file.name for file in tmp_path.iterdir()] == ["s"]


def test_many_outcomes_come_out_once_each(tmp_path):
    kept = Store(str(tmp_path / "s"), IDENTITY)
    with kept._connection:
        rows = [(str(n), "[[], 0]", store._digest(str(n), "[[], 0]")) for n in range(2500)]
        kept._connection.executemany("INSERT INTO shards (shard, outcome, digest) VALUES (?, ?, ?)", rows)
    assert sorted(int(shard) for shard, _ in kept.outcomes()) == list(range(2500))
    kept.close()


def test_a_store_uses_a_write_ahead_log_and_a_transaction_a_shard(tmp_path):
    kept = Store(str(tmp_path / "s"), IDENTITY)
    assert kept._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other = Store(str(tmp_path / "s"), IDENTITY)
    for number in range(3):
        kept.put(str(number), OUTCOME)
        assert other.news() == [str(number)]  # seen by others at once
    kept.close()
    other.close()


def test_a_finished_sweep_is_read_and_not_run_again(finished, command):
    again = command(*SWEEP, "--store", finished)
    assert again.status == 0 and "6 shards, 6 of them from the store" in again.out
    assert body(command(*SWEEP, "--store", finished, "--json", "-")) == body(command(*SWEEP, "--json", "-"))


def no_sqlite(path):
    path.write_bytes(b"a shopping list\n" * 100)


def truncated(path):
    path.write_bytes(path.read_bytes()[:5000])


def cut_within_a_page(path):
    path.write_bytes(path.read_bytes()[:-1000])


def overwritten(path):
    data = bytearray(path.read_bytes())
    data[8192:10240] = b"\xa5" * 2048
    path.write_bytes(data)


def one_bit_of_a_result(path):
    data = bytearray(path.read_bytes())
    place = data.index(b'"as printed", 0.') + len(b'"as printed", 0.')
    data[place] ^= 1  # another digit
    path.write_bytes(data)


def another_program(path):
    path.unlink()
    sql(path, "CREATE TABLE bookmarks (url TEXT)", "INSERT INTO bookmarks VALUES ('here')")


def another_version(path):
    sql(path, "PRAGMA user_version = 99")


def other_code(path):
    sql(path, "UPDATE plan SET value = '\"0123\"' WHERE name = 'code'")


def no_plan(path):
    sql(path, "DROP TABLE plan")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (no_sqlite, "it is not an SQLite file"),
        (lambda path: path.write_bytes(b""), "it is not an SQLite file"),
        (truncated, "it is damaged ("),
        (cut_within_a_page, "it is damaged ("),
        (overwritten, "it is damaged ("),
        (one_bit_of_a_result, "it is damaged (the row of shard eq02|massive:1e3/"),
        (another_program, "it is an SQLite file of another program"),
        (another_version, "it is a store of version 99, this program's is 1"),
        (other_code, 'it is the store of another sweep: code is "0123", here'),
        (no_plan, "it is damaged (no such table: plan)"),
    ],
    ids=lambda value: getattr(value, "__name__", "") if callable(value) else "",
)
def test_a_file_that_is_no_store_of_this_sweep_is_refused_and_left_untouched(finished, command, harm, said):
    harm(finished)
    before = contents(finished.parent)
    found = command(*SWEEP, "--store", finished)
    assert (found.status, found.out, found.err.count("\n")) == (2, "", 1)
    assert (
        found.err.startswith(f"paper-checks: --store: got '{finished}', accepts a new file, or the store")
        and said in found.err
    )
    assert contents(finished.parent) == before


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (("--seed", "1"), "seed"),
        (("--trials", "9"), "trials"),
        (("eq05",), "claims"),
        (("--dtype", "fp64"), "dtypes"),
        (("--scenario", "none"), "scenarios"),
    ],
)
def test_the_store_of_another_sweep_is_refused_and_left_untouched(finished, command, other, name):
    before = contents(finished.parent)
    found = command(*SWEEP, *other, "--store", finished)
    assert found.status == 2 and f"it is the store of another sweep: {name} is " in found.err
    assert contents(finished.parent) == before


def test_a_store_with_a_log_is_examined_without_touching_either(command, tmp_path):
    """What a killed process leaves: shards that are in the write-ahead log alone."""
    path = tmp_path / "sweep.db"
    code = (
        "import os\nfrom numerics.sweeps.store import Store\nfrom numerics.sweeps.shards import Outcome\n"
        f"kept = Store({str(path)!r}, {IDENTITY!r})\nkept.put('one', Outcome(outside=7))\nos._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (tmp_path / "sweep.db-wal").stat().st_size > 0
    before = {name: data for name, data in contents(tmp_path).items() if not name.endswith("-shm")}
    with pytest.raises(Refused, match="another sweep: seed is 0, here 1"):
        Store(str(path), IDENTITY | {"seed": 1})
    assert command(*SWEEP, "--store", path).status == 2
    assert {name: data for name, data in contents(tmp_path).items() if not name.endswith("-shm")} == before
    kept = Store(str(path), IDENTITY)
    assert dict(kept.outcomes()) == {"one": Outcome(outside=7)}
    kept.close()


def test_what_is_no_regular_file_is_refused(command, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "directory").mkdir()
    for name in ("pipe", "directory"):
        found = command(*SWEEP, "--store", tmp_path / name)
        assert found.status == 2 and "it is not a regular file" in found.err
    found = command(*SWEEP, "--store", tmp_path / "missing" / "sweep.db")
    assert found.status == 2 and "its directory does not exist" in found.err


def test_a_link_leads_to_the_store(finished, command, tmp_path):
    (tmp_path / "link").symlink_to(finished)
    assert "6 of them from the store" in command(*SWEEP, "--store", tmp_path / "link").out


@pytest.mark.parametrize("kilobytes", [2, 40])
def test_a_full_disk_ends_with_1_and_a_valid_store_from_which_it_goes_on(command, tmp_path, kilobytes):
    """No file may grow beyond a limit: too little for a store at all, and for all shards."""
    path = tmp_path / "sweep.db"
    limit = kilobytes * 1024
    found = subprocess.run(
        [sys.executable, "-m", "paper_checks", *SWEEP, "--store", str(path)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (1, "", 1), found.stderr
    assert found.stderr.startswith(f"paper-checks: --store: {path} cannot be written (")
    assert path.exists() == (kilobytes == 40)
    if path.exists():
        plan = Plan(("eq02",), matrix.select(["massive:1e3"]), ("fp32",), trials=8)
        kept = Store(str(path), plan.identity())
        assert 0 < len(dict(kept.outcomes())) < len(plan)
        kept.close()
    again = command(*SWEEP, "--store", path, "--json", "-")
    assert again.status == 0 and body(again) == body(command(*SWEEP, "--json", "-"))


def test_ctrl_c_leaves_a_valid_store(tmp_path, spawn):
    path = tmp_path / "sweep.db"
    arguments = ("sweep", "eq02", "--dtype", "fp32", "--trials", "1000", "--scenario", "none", "--store", path)
    process = spawn(
        [sys.executable, "-m", "paper_checks", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not (path.exists() and finished_shards(path)):
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30) == (b"", b"") and process.returncode == 130
    plan = Plan(("eq02",), matrix.select(["none"]), ("fp32",), trials=1000)
    kept = Store(str(path), plan.identity())
    assert 0 < len(dict(kept.outcomes())) < len(plan)
    kept.close()


def finished_shards(path):
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT count(*) FROM shards").fetchone()[0]
