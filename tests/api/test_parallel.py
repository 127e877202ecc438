"""Several at once: in threads, in processes, on a Dask cluster. What is in flight is seen, not timed."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from graphbo import Search, optimize
from graphbo.errors import GraphboError, InvalidObjective, RunError
from tests.objectives.functions import pid_when_four_are_here

AT_ONCE = 4


class Gate:
    """An objective that returns when four of its evaluations are at it, and at no other time."""

    def __init__(self) -> None:
        self._all_here = threading.Barrier(AT_ONCE, timeout=120)
        self.threads: set[str] = set()

    def __call__(self, node: int) -> float:
        self.threads.add(threading.current_thread().name)
        self._all_here.wait()
        return float(node)


@pytest.mark.parametrize("options", [{}, {"executor": "threads"}, {"batch_size": 4}], ids=str)
def test_four_workers_evaluate_four_at_once(options: dict[str, Any]) -> None:
    gate = Gate()
    result = optimize(gate, nx.path_graph(30), budget=12, workers=AT_ONCE, **options)
    assert [one.error for one in result.history] == [None] * 12
    assert len(gate.threads) == AT_ONCE
    assert threading.current_thread().name not in gate.threads


def test_a_pool_of_ones_own_is_used_as_it_is() -> None:
    with ThreadPoolExecutor(AT_ONCE) as pool:
        result = optimize(Gate(), nx.path_graph(30), budget=8, workers=AT_ONCE, executor=pool)
        assert [one.error for one in result.history] == [None] * 8
        assert pool.submit(int, "7").result() == 7


@pytest.mark.parametrize(
    "executor",
    ["threads", "processes", ThreadPoolExecutor(3)],
    ids=["threads", "processes", "a pool"],
)
def test_an_executor_without_workers_is_refused(executor: object) -> None:
    number = 3 if isinstance(executor, Executor) else 4
    with pytest.raises(RunError, match=f"how many nodes to evaluate at once: add workers={number}"):
        optimize(float, nx.path_graph(3), executor=executor)


@pytest.mark.parametrize(
    "executor", [4, object(), threading.Thread()], ids=["number", "object", "thread"]
)
def test_what_evaluates_nothing(executor: object) -> None:
    with pytest.raises(RunError, match=r"expected 'threads', 'processes', 'dask://HOST:PORT', a"):
        optimize(float, nx.path_graph(3), executor=executor, workers=2)
    with pytest.raises(GraphboError, match=r"dask://HOST:PORT"):
        optimize(float, nx.path_graph(3), executor="thread", workers=2)


def test_what_cannot_be_sent_to_processes_is_refused_before_the_first_evaluation() -> None:
    search = Search(nx.path_graph(9))
    with pytest.raises(
        InvalidObjective, match=r"cannot be sent to other processes .*: define it in"
    ):
        search.optimize(lambda node: 1.0, executor="processes", workers=2)
    with (
        ProcessPoolExecutor(2) as pool,
        pytest.raises(InvalidObjective, match=r"or use executor='threads'"),
    ):
        search.optimize(lambda node: 1.0, executor=pool, workers=2)
    assert search.history == search.pending == ()


@pytest.mark.slow
def test_four_processes_evaluate_four_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHBO_TEST_GATE", str(tmp_path))
    # Nodes that are texts: what is sent is the user's own.
    result = optimize(
        pid_when_four_are_here,
        nx.cycle_graph([f"n{n}" for n in range(9)]),
        executor="processes",
        workers=AT_ONCE,
        budget=4,
    )
    assert [one.error for one in result.history] == [None] * 4
    processes = {one.value for one in result.history}
    assert len(processes) == AT_ONCE
    assert os.getpid() not in processes


@pytest.mark.slow
def test_a_program_that_cannot_be_imported_starts_no_processes(tmp_path: Path) -> None:
    program, storage = tmp_path / "program.py", f"sqlite:{tmp_path / 'kept.db'}"
    program.write_text(
        "import sys, networkx as nx, graphbo\n"
        "def f(node): return float(node)\n"
        "graphbo.optimize(f, nx.path_graph(9), storage=sys.argv[1], workers=2, executor='processes')\n"
    )
    done = subprocess.run(
        [sys.executable, program, storage], capture_output=True, text=True, check=False
    )
    *_, last = done.stderr.splitlines()
    assert "put what the program does below if __name__ == '__main__'" in last
    with Search(nx.path_graph(9), storage=storage) as search:
        assert search.history == search.pending == ()


def test_threads_keep_nobody_waiting() -> None:
    began, release = threading.Event(), threading.Event()

    def slow(node: int) -> float:
        if node != first:
            began.set()
            release.wait(120)
        return 1.0

    search = Search(nx.path_graph(9))
    first = search.ask()
    search.release(first)

    def stop(_: Search) -> None:
        began.wait(120)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search.optimize(slow, workers=2, stop=stop)
    # One evaluation still goes on, for nobody: its node may be had at once.
    assert [one.key for one in search.history] == [first]
    assert len(search.pending) == 1
    assert search.ask() == search.pending[0]
    release.set()


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of a cluster inside this process, with four threads and no pages."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=AT_ONCE,
            processes=False,
            dashboard_address=None,
            protocol="tcp",
            host="127.0.0.1",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_a_dask_client_is_taken_as_it_is(client: Any) -> None:
    result = optimize(_gate, nx.path_graph(30), budget=8, executor=client)
    assert [one.error for one in result.history] == [None] * 8
    assert client.submit(int, "7").result() == 7


def test_a_dask_client_may_be_used_for_fewer(client: Any) -> None:
    result = optimize(float, nx.path_graph(5), budget=3, executor=client, workers=1)
    assert len(result.history) == 3


_GATE = Gate()


def _gate(node: int) -> float:
    return _GATE(node)
