"""Workers that can be killed: processes of their own, forked from one that has imported everything already."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from pathlib import Path

from graphbo.objectives import from_callable
from graphbo.runs import Run, RunSettings
from graphbo.runs.worker import work
from graphbo.stores import Address, EdgeRow, GraphStore, address_from, open_store
from graphbo.types import Observation, View
from tests.backends import Backend
from tests.faults.points import die_at
from tests.faults.processes import FORKING
from tests.runs.support import news_in

VIEW = View(("N",), ("R",), key="id")
NODES = 300
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Measure:
    """An objective that writes down every evaluation, whatever becomes of its value."""

    log: Path
    seconds: float = 0.0

    def __call__(self, key: int) -> float:
        file = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, f"{key}\n".encode())
        os.close(file)
        time.sleep(self.seconds)
        return value_of(key)


def value_of(key: int) -> float:
    """Something with no pattern to it."""
    return (key * 7919 % 1009) / 1009


@dataclass(frozen=True)
class Task:
    """What a worker works on."""

    address: Address
    name: str
    log: Path
    settings: RunSettings = field(default_factory=lambda: RunSettings(strategy="random", budget=20))
    seconds: float = 0.0
    lease: float = 60.0
    die_at: str = ""

    @classmethod
    def on(cls, backend: Backend, name: str, directory: Path, settings: RunSettings) -> "Task":
        """A task on a database."""
        address = address_from(backend.uri, environment=backend.environment)
        return cls(address, name, directory / f"{name}.log", settings)


@dataclass(frozen=True)
class Outcome:
    """What a worker says when it is done."""

    reason: str
    evaluations: int
    fits: int


def perform(task: Task, watch: Callable[[], None] = lambda: None) -> Outcome:
    """Work on a task until the run is finished; in this process."""
    with open_store(task.address) as store:
        watch()
        run = Run.open_or_create(store, VIEW, task.name, task.settings)
        ending = work(
            run,
            from_callable(Measure(task.log, task.seconds)),
            lease=task.lease,
        )
    return Outcome(ending.reason, ending.evaluations, run.fits)


def _main(task: Task, pipe: Connection) -> None:
    if task.die_at:
        die_at(task.die_at)
    pipe.send(perform(task, lambda: pipe.send("ready")))


class Worker:
    """A process that works on a task."""

    def __init__(self, task: Task) -> None:
        self._ours, theirs = FORKING.Pipe()
        self._process = FORKING.Process(target=_main, args=(task, theirs), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    def wait_until_ready(self) -> None:
        """Until it has connected."""
        assert self._ours.poll(PATIENCE_SECONDS)
        assert self._ours.recv() == "ready"

    def kill(self) -> None:
        """SIGKILL, now."""
        self._process.kill()
        self._process.join()

    def outcome(self) -> Outcome | None:
        """What it says; None if it died first."""
        found = None
        try:
            while not isinstance(found, Outcome):
                assert self._ours.poll(PATIENCE_SECONDS), "the worker does not come to an end"
                found = self._ours.recv()
        except EOFError:
            return None
        finally:
            self._process.join()
        return found


@contextmanager
def working(task: Task) -> Iterator[Worker]:
    """A worker that does not outlive the test."""
    worker = Worker(task)
    try:
        yield worker
    finally:
        worker.kill()


def perform_elsewhere(task: Task) -> Outcome | None:
    """Work on a task in a process of its own; None if it died."""
    with working(task) as worker:
        return worker.outcome()


def load(store: GraphStore) -> None:
    """A ring with chords."""
    store.create_key(VIEW)
    ring: list[EdgeRow] = [(i, (i + 1) % NODES, {}) for i in range(NODES)]
    chords: list[EdgeRow] = [(i, (i * 37 + 11) % NODES, {}) for i in range(NODES)]
    store.write_relationships(VIEW, [edge for edge in ring + chords if edge[0] != edge[1]])


def uninterrupted(task: Task) -> list[tuple[int, object, float | None]]:
    """The history of a run with the same seed that nothing happened to."""
    name = f"{task.name}-uninterrupted"
    assert perform_elsewhere(
        replace(task, name=name, log=task.log.with_suffix(".reference"), seconds=0.0, die_at="")
    )
    with open_store(task.address) as store:
        return told(news_in(store, name=name).observations)


def told(observations: tuple[Observation, ...]) -> list[tuple[int, object, float | None]]:
    """What has to be the same, whatever happened."""
    return [(one.step, one.key, one.value) for one in observations]


def evaluations(task: Task) -> list[int]:
    """Every node that was evaluated, as often as it was."""
    return [int(line) for line in task.log.read_text().split()]


def history(task: Task) -> list[tuple[int, object, float | None]]:
    """What was told in a run, after checking that it is all there: nothing lost, nothing twice, nothing left over."""
    with open_store(task.address) as store:
        news = news_in(store, name=task.name)
        properties = store.properties(VIEW, [one.key for one in news.observations])
    found, budget = news.observations, task.settings.budget
    assert budget is not None
    assert len(found) == budget
    assert len({one.key for one in found}) == budget
    assert sorted(one.step for one in found) == list(range(1, budget + 1))
    assert [one.seq for one in found] == list(range(1, budget + 1))
    assert [one.value for one in found] == [value_of(int(one.key)) for one in found]
    assert news.pending == ()
    assert (news.record.state, news.record.steps) == ("finished", budget)
    assert (news.record.told, news.record.failed) == (budget, 0)
    assert news.record.best_value == max(one.value or 0.0 for one in found)
    prefix = news.record.prefix
    assert [properties[one.key][f"{prefix}Value"] for one in found] == [one.value for one in found]
    assert {one.key for one in found} <= set(evaluations(task))
    return told(found)
