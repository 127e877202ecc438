"""Databases that go away, and answers that get lost on the way: a worker asks again, and nothing happens twice."""

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks._wire import Wire, wire_to
from graphbo.errors import ServerError, TimedOut
from graphbo.objectives import from_callable
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.runs.worker import work
from graphbo.stores import Address, open_store
from graphbo.stores.neo4j import connection
from tests.backends import Neo4jBackend
from tests.faults.workers import (
    VIEW,
    Measure,
    Task,
    evaluations,
    history,
    load,
    perform_elsewhere,
    uninterrupted,
    working,
)
from tests.neo4j_fixture import StartNeo4j

pytestmark = pytest.mark.neo4j

#: How a client says COMMIT in Bolt: one chunk, an empty structure of this kind.
COMMIT = bytes.fromhex("0002b0120000")


class Losing:
    """Loses the answers to some of the commits, once it is switched on.

    Args:
        which: tells by their number, from 1.
    """

    def __init__(self, wire: Wire, which: Callable[[int], bool]) -> None:
        self.lost = 0
        self._which = which
        self.commits = 0
        wire.loses, wire.lost = self._loses, self._count

    def _loses(self, data: bytes) -> bool:
        commits = COMMIT in data
        self.commits += commits
        return commits and self._which(self.commits)

    def _count(self) -> None:
        self.lost += 1


@pytest.fixture
def task(neo4j_backend: Neo4jBackend, tmp_path: Path) -> Task:
    with neo4j_backend.open() as store:
        load(store)
        settings = RunSettings(strategy="random", budget=12, seed=2)
        Run.create(store, VIEW, "unlucky", settings)
    return Task.on(neo4j_backend, "unlucky", tmp_path, settings)


@pytest.fixture
def wire(task: Task) -> Iterator[Wire]:
    with wire_to(task.address.uri, 0.0) as wire:
        yield wire


@contextmanager
def loaded(wire: Wire, task: Task) -> Iterator[Run]:
    """The run through the wire: from here on it knows how to wait."""
    with open_store(replace(task.address, uri=wire.uri)) as store:
        run = Run.open(store, task.name)
        run.refresh()
        yield run


def test_asking_again_after_a_commit_of_unknown_fate_gives_the_same_node(
    task: Task, wire: Wire
) -> None:
    with loaded(wire, task) as run:
        # Random search first reads the graph; only the second commit hands something out.
        losing = Losing(wire, lambda number: number == 2)
        asked = run.ask(lease=60.0, token="mine").pending
        assert losing.lost == 1
        assert asked is not None
        assert (asked.step, asked.token, run.record.steps) == (1, "mine", 1)
        assert run.pending == (asked,)


def test_telling_again_after_a_commit_of_unknown_fate_changes_nothing(
    task: Task, wire: Wire
) -> None:
    with loaded(wire, task) as run:
        asked = run.ask(lease=60.0).pending
        assert asked is not None
        losing = Losing(wire, lambda number: number == 1)
        told = run.tell(0.5, step=asked.step, token=asked.token)
        assert losing.lost == 1
        assert told.outcome == "repeated"
        assert [(one.seq, one.key, one.value) for one in run.history] == [(1, asked.key, 0.5)]
        assert (run.pending, run.record.told) == ((), 1)


def test_a_run_survives_that_every_third_answer_is_lost(task: Task, wire: Wire) -> None:
    with loaded(wire, task) as run:
        losing = Losing(wire, lambda number: number % 3 == 0)
        work(run, from_callable(Measure(task.log)))
    assert losing.lost >= 12
    assert history(task) == uninterrupted(task)
    assert len(evaluations(task)) == 12


def test_a_worker_may_die_between_the_commit_and_its_answer(task: Task, wire: Wire) -> None:
    far = replace(task, address=replace(task.address, uri=wire.uri))
    # Reading, asking and telling follow each other: each of them gets its turn.
    for number in (14, 15, 16):
        with working(far) as worker:
            losing = Losing(wire, lambda count, last=number: count == last)  # type: ignore[misc]
            wire.lost = lambda: os.kill(worker.pid, signal.SIGKILL)
            assert worker.outcome() is None
        assert losing.commits == number
    assert perform_elsewhere(task) is not None
    assert history(task) == uninterrupted(task)
    assert len(evaluations(task)) == 12


@pytest.fixture
def vanished(task: Task, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Thread]:
    """A worker whose network goes between asking and the commit, so that it keeps the lock; limits are two seconds."""
    monkeypatch.setattr(connection, "STEP_SECONDS", 2.0)
    cut = threading.Event()
    commits = itertools.count(1)

    def cuts(data: bytes) -> bool:
        # Random search first reads the graph; only the second commit hands something out.
        if COMMIT in data and next(commits) == 2:
            cut.set()
        return COMMIT in data and cut.is_set() and not wire.mended.is_set()

    with loaded(wire, task) as run:
        wire.cuts = cuts
        thread = threading.Thread(target=run.ask, kwargs={"lease": 60.0}, daemon=True)
        thread.start()
        assert cut.wait(10)
        yield thread
        wire.mended.set()
        thread.join(60)
        assert not thread.is_alive()


def test_a_worker_that_vanishes_with_the_lock_does_not_keep_it(
    task: Task, vanished: threading.Thread, neo4j_backend: Neo4jBackend
) -> None:
    started = time.monotonic()
    with neo4j_backend.open() as store:
        runs_in(store).change(task.name, state="stopped")
        seconds = time.monotonic() - started
        record = runs_in(store).get(task.name)
    assert vanished.is_alive()
    # Nothing that it did was committed, and the lock was waited for.
    assert (record.state, record.steps) == ("stopped", 0)
    assert seconds > 0.5


def test_who_waits_too_long_for_a_lock_says_so(
    task: Task, neo4j_backend: Neo4jBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "STEP_SECONDS", 1.0)
    monkeypatch.setattr(connection, "LOCK_PATIENCE_SECONDS", 3.0)
    with (
        neo4j_backend.open() as store,
        neo4j_backend.session() as session,
        session.begin_transaction() as holding,
    ):
        holding.run("MATCH (r:GraphboRun) SET r.lockedBy = 'somebody'").consume()
        started = time.monotonic()
        with pytest.raises(TimedOut, match="did not answer within 1 s: another transaction may"):
            runs_in(store).change(task.name, state="stopped")
        assert time.monotonic() - started > 3.0
        holding.rollback()
        runs_in(store).change(task.name, state="stopped")


def test_a_worker_waits_for_a_server_that_is_restarted(
    start_neo4j: StartNeo4j, tmp_path: Path
) -> None:
    server = start_neo4j()
    address = Address(server.uri, server.username, server.password, server.database)
    with open_store(address) as store:
        load(store)
    settings = RunSettings(strategy="random", budget=20, seed=4)
    task = Task(address, "restarts", tmp_path / "restarts.log", settings, seconds=0.05)
    with working(task) as worker:
        await_evaluations(task, 10)
        # It says goodbye, and is ended in the middle of it.
        with suppress(ServerError):
            server.local.stop(timeout=0.1)
        server.local.kill()
        server.local.start()
        assert worker.outcome() is not None
    assert history(task) == uninterrupted(task)
    assert len(evaluations(task)) == 20


def await_evaluations(task: Task, count: int) -> None:
    deadline = time.monotonic() + 60
    while not task.log.exists() or len(evaluations(task)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.01)
