"""Where nodes are evaluated: here, in processes, on a Dask cluster."""

import os
import socket
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from graphbo.errors import GraphboError
from graphbo.objectives import Evaluation, Node, evaluate, from_callable
from graphbo.runs.executors import open_executor


def test_one_worker_needs_no_pool() -> None:
    for workers in (None, 1):
        with open_executor(workers=workers) as pool:
            assert (pool.executor, pool.size) == (None, 1)


def test_processes_are_others() -> None:
    with open_executor(workers=2) as pool:
        assert pool.size == 2
        assert pool.executor is not None
        assert pool.executor.submit(os.getpid).result() != os.getpid()


def test_what_processes_do_is_not_awaited_when_something_goes_wrong() -> None:
    def interrupted() -> None:
        with open_executor(workers=2) as pool:
            assert pool.executor is not None
            pool.executor.submit(os.getpid).result()
            pool.executor.submit(time.sleep, 600)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()


@pytest.mark.parametrize(
    "address",
    ["dask://", "dask://host", "dask://host:port", "tcp://host:1", "host:1", "", "dask://[:1"],
)
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(GraphboError, match=r"dask://HOST:PORT"), open_executor(address):
        pass


def test_dask_is_an_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(GraphboError, match=r"pip install 'graphbo\[dask\]'"),
        open_executor("dask://localhost:8786"),
    ):
        pass


class TestDask:
    @pytest.fixture
    def cluster(self) -> Iterator[Any]:
        """A cluster inside this process, with two threads and no pages."""
        distributed = pytest.importorskip("distributed")
        with distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            processes=False,
            dashboard_address=None,
            protocol="tcp",
            host="127.0.0.1",
            silence_logs=50,
        ) as cluster:
            yield cluster

    def test_evaluates_there(self, cluster: Any) -> None:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        objective = from_callable(abs)
        with open_executor(address) as pool:
            assert pool.size == 2
            assert pool.executor is not None
            futures = [pool.executor.submit(evaluate, objective, Node(-n)) for n in range(5)]
            found: list[Evaluation] = [future.result(timeout=60) for future in futures]
        assert [one.value for one in found] == [0, 1, 2, 3, 4]
        with open_executor(address, workers=7) as pool:
            assert pool.size == 7

    def test_nobody_there_is_one_clear_line(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("distributed")
        monkeypatch.setattr("graphbo.runs.executors.CONNECT_SECONDS", 0.3)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            address = f"dask://127.0.0.1:{taken.getsockname()[1]}"
            with (
                pytest.raises(GraphboError, match="no Dask scheduler answers at dask://127"),
                open_executor(address),
            ):
                pass
