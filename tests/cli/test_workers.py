"""Several processes on one run: workers that share it through the database, and pools that evaluate for one of them."""

import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from graphbo.runs.registry import runs_in
from tests.backends import Backend, on_sqlite
from tests.cli.runs import (
    OPTIONS,
    SIZE,
    InProcess,
    end_group,
    history,
    load,
    started,
    wait_for_lines,
    wait_until,
    write_objective,
)
from tests.objectives.processes import all_gone

pytestmark = pytest.mark.slow

NAME = ("--name", "shared")
RANDOM = (*OPTIONS, "--strategy", "random")


def test_two_workers_share_a_run(loaded: Backend, here: InProcess, tmp_path: Path) -> None:
    # The first evaluation of each worker waits for the other one.
    spec = write_objective(
        tmp_path,
        "open(f'{os.getpid()}.seen', 'w').close()\n"
        "    while sum(name.endswith('.seen') for name in os.listdir()) < 2: time.sleep(0.01)\n"
        "    time.sleep(0.05)",
    )
    options = ("run", *RANDOM, *NAME, "--objective", spec, "--budget", 30, "--worker")
    with (
        started(loaded, tmp_path, *options) as one,
        started(loaded, tmp_path, *options) as other,
    ):
        for worker in (one, other):
            out, err = worker.communicate(timeout=100)
            assert worker.returncode == 0, err
            assert "30 of 30 evaluations" in out
    told = history(here, "shared")
    assert sorted(one["step"] for one in told) == list(range(1, 31))
    assert set(Counter(one["key"] for one in told).values()) == {1}
    assert here("status", "shared", "--json").json["state"] == "finished"


def test_others_are_named_and_stop_ends_them(
    loaded: Backend, here: InProcess, tmp_path: Path
) -> None:
    # The other process is busy with its second evaluation until it may go on.
    spec = write_objective(
        tmp_path,
        f"while os.getpid() != {os.getpid()} and len(calls) > 1 and not os.path.exists('go'): "
        "time.sleep(0.01)",
    )
    options = ("run", *RANDOM, *NAME, "--objective", spec, "--budget", 40)
    with started(loaded, tmp_path, *options) as first, loaded.open() as store:
        wait_for_lines(first, 1)
        wait_until(lambda: runs_in(store).get("shared").pending == 1)
        joined = here("run", *NAME, "--time", "0.05s")
        assert f":{first.pid}" in joined.err
        assert "Others are at work on it: " in joined.err
        assert "The time is over: " in joined.out
        assert f":{first.pid} for " in here("status", "shared").out
        stopped = here("stop", "shared")
        assert "is stopped" in stopped.out
        assert "1 being evaluated will still be told" in stopped.out
        (tmp_path / "go").touch()
        out, err = first.communicate(timeout=60)
    assert first.returncode == 0, err
    assert "The run was stopped: " in out
    assert here("status", "shared", "--json").json["pending"] == []

    before = loaded.dump()
    worker = here("run", *NAME, "--worker")
    assert (worker.code, "is stopped" in worker.out) == (0, True)
    assert loaded.dump() == before
    count = len(history(here, "shared"))
    more = here("run", *NAME, "--budget", count + 2, "--json")
    assert "Resuming shared (it was stopped)" in more.err
    assert more.json["evaluations"] == count + 2


@on_sqlite
def test_a_worker_does_not_change_a_run(loaded: Backend, here: InProcess) -> None:
    assert here("ask", "shared", *RANDOM, "--budget", 5).code == 0
    options = ("run", *NAME, "--objective", "property:score", "--worker")
    assert "has a budget of 5, not 9" in here(*options, "--budget", 9).failed_with_one_line()
    assert here(*options, "--json").json["evaluations"] == 4


@on_sqlite
def test_a_pool_of_processes(loaded: Backend, here: InProcess, tmp_path: Path) -> None:
    # Two evaluations at once, or it would wait for ever.
    spec = write_objective(
        tmp_path,
        "open(f'{os.getpid()}.seen', 'w').close()\n"
        "    while sum(name.endswith('.seen') for name in os.listdir()) < 2: time.sleep(0.01)",
    )
    options = ("run", *RANDOM, *NAME, "--objective", spec, "--budget", 12)
    result = here(*options, "--workers", 2, "--json")
    assert result.code == 0, result
    assert result.json["evaluations"] == 12
    told = history(here, "shared")
    assert len({one["key"] for one in told}) == 12
    assert {one["value"] for one in told} == {10.0 - abs(one["key"] - 42) / 10 for one in told}
    assert len(list(tmp_path.glob("*.seen"))) == 2


@on_sqlite
def test_batches_give_the_same_history_with_and_without_a_pool(
    loaded: Backend, here: InProcess, tmp_path: Path
) -> None:
    spec = write_objective(tmp_path)
    options = ("run", *OPTIONS, "--objective", spec, "--budget", 14, "--batch-size", 4)
    assert here(*options, "--name", "alone").code == 0
    assert here(*options, "--name", "pool", "--workers", 2).code == 0
    assert history(here, "alone") == history(here, "pool")


@on_sqlite
def test_a_dask_cluster(loaded: Backend, here: InProcess, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    spec = write_objective(tmp_path)
    options = ("run", *RANDOM, *NAME, "--objective", spec, "--budget", 8, "--json")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        dashboard_address=None,
        protocol="tcp",
        host="127.0.0.1",
        silence_logs=50,
    ) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        result = here(*options, "--executor", address)
    assert result.code == 0, result
    assert result.json["evaluations"] == 8
    assert len({one["key"] for one in history(here, "shared")}) == 8


@on_sqlite
def test_ctrl_c_ends_a_pool_at_once(loaded: Backend, here: InProcess, tmp_path: Path) -> None:
    spec = write_objective(tmp_path, "time.sleep(60 * (len(calls) > 1))")
    options = ("run", *RANDOM, *NAME, "--objective", spec, "--budget", 12, "--workers", 2)
    with started(loaded, tmp_path, *options) as process, loaded.open() as store:
        wait_for_lines(process, 2)
        wait_until(lambda: runs_in(store).get("shared").pending == 2)
        _, err = end_group(process, signal.SIGINT)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert "Saved: 2 of 12 evaluations. What was being evaluated (" in err
    assert "--workers 2" in err


@pytest.mark.parametrize("pool", [(), ("--workers", 2)])
@on_sqlite
def test_a_node_that_ends_its_process_is_tried_three_times_at_most(
    loaded: Backend, here: InProcess, tmp_path: Path, pool: tuple[object, ...]
) -> None:
    spec = write_objective(
        tmp_path, "print(key, file=open('log', 'a'))\n    if key % 20 == 7: os._exit(9)"
    )
    options = ("run", *RANDOM, *NAME, "--objective", spec, "--budget", SIZE, *pool)
    for _ in range(10):
        with started(loaded, tmp_path, *options) as process:
            process.communicate(timeout=100)
        if process.returncode != 9:
            break
    assert process.returncode == 0
    told = history(here, "shared")
    assert {one["key"] for one in told if one["value"] is None} == {7, 27, 47}
    tries = Counter((tmp_path / "log").read_text().split())
    assert {tries[key] for key in ("7", "27", "47")} == ({2} if pool else {3})


#: Each says who it is and does not come to an end by itself; the last one lets no other thread run meanwhile.
ENDLESS = {
    "python": "time.sleep(60)",
    "holding": "__import__('ctypes').PyDLL(None).sleep(60)",
}


@pytest.mark.parametrize("kind", ["python", "holding", "limited", "command"])
@pytest.mark.parametrize("workers", [1, 3])
def test_nothing_outlives_a_worker_that_is_killed(
    sqlite_backend: Backend, tmp_path: Path, kind: str, workers: int
) -> None:
    load(sqlite_backend)
    pids = tmp_path / "pids"
    endless = ENDLESS.get(kind, ENDLESS["holding"])
    spec = write_objective(tmp_path, f"print(os.getpid(), file=open('pids', 'a')); {endless}")
    if kind == "command":
        spec = f"command:sh -c 'echo $$ >> {pids}; sleep 60 & echo $! >> {pids}; wait'"
    options = (
        "--objective",
        spec,
        "--workers",
        workers,
        *(["--timeout", "50s"] * (kind == "limited")),
    )
    expected = workers * (2 if kind == "command" else 1)
    with started(sqlite_backend, tmp_path, "run", *RANDOM, *NAME, *options) as process:
        wait_until(lambda: pids.exists() and len(pids.read_text().split()) == expected)
        others = [*map(int, pids.read_text().split()), *descendants(process.pid)]
        process.kill()
        assert all_gone(others, 10.0)
        process.communicate()


def descendants(pid: int) -> list[int]:
    """The processes that a process has started, and those that these have started."""
    table = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout
    pairs = [tuple(map(int, line.split())) for line in table.splitlines()]
    found = [pid]
    for parent in found:
        found += [child for child, of in pairs if of == parent]
    return found[1:]


def test_an_objective_in_cypher_in_a_pool(here: InProcess, loaded: Backend, tmp_path: Path) -> None:
    (tmp_path / "score.cypher").write_text("MATCH (n:N {id: $key}) RETURN n.score")
    options = ("run", *RANDOM, "--objective", "cypher:score.cypher", "--budget", 6)
    if loaded.name == "sqlite":
        before = loaded.dump()
        assert "needs Neo4j" in here(*options).failed_with_one_line()
        assert loaded.dump() == before
        return
    for more in (("--name", "alone"), ("--name", "pool", "--workers", 2)):
        answer = here(*options, *more)
        assert answer.code == 0, answer
    assert {one["value"] for one in history(here, "alone")} == {
        one["value"] for one in history(here, "pool")
    }
