"""Working on a run: why it ends, and what it survives."""

import contextlib
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from graphbo.errors import (
    InvalidObjective,
    NoSuchRun,
    ObjectiveBroken,
    RunError,
    StoreError,
    StoreUnavailable,
)
from graphbo.objectives import Node, Objective, from_callable
from graphbo.objectives.base import Evaluator
from graphbo.runs import Asked, Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.runs.value_files import read_values
from graphbo.runs.worker import Ending, Limits, Progress, work
from graphbo.stores import GraphStore, open_store
from graphbo.stores.sqlite.log import SqliteLog
from graphbo.types import View
from tests.runs.support import news_in

VIEW = View(("N",), ("R",), key="id")
NODES = 30
SETTINGS = RunSettings(strategy="random", seed=1, budget=6)


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where values are kept that cannot be told."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def file(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'graph.db'}"


@pytest.fixture
def embedded(file: str) -> Iterator[GraphStore]:
    with open_store(file, create=True) as store:
        yield fill(store)


@pytest.fixture
def run(embedded: GraphStore) -> Run:
    return Run.create(embedded, VIEW, "r", SETTINGS)


def fill(store: GraphStore) -> GraphStore:
    store.create_key(VIEW)
    store.write_relationships(VIEW, [(i, (i + 1) % NODES, {}) for i in range(NODES)])
    return store


def value(key: int) -> float:
    return float(key * 7 % 13)


def keys(run: Run) -> list[object]:
    return [one.key for one in run.history]


def on_call(number: int, action: Callable[[int], object]) -> Callable[[int], float]:
    """The objective, with something else happening in its ``number``-th call."""
    count = 0

    def objective(key: int) -> float:
        nonlocal count
        count += 1
        if count == number:
            action(key)
        return value(key)

    return objective


class TestEndings:
    def test_the_budget_is_used_up(self, store: GraphStore) -> None:
        run = Run.create(fill(store), VIEW, "r", SETTINGS)
        assert work(run, from_callable(value)) == Ending("budget", 6)
        assert (run.record.state, run.record.told, run.pending) == ("finished", 6, ())
        assert [one.value for one in run.history] == [value(int(one.key)) for one in run.history]
        assert work(run, from_callable(value)) == Ending("budget", 0)

    def test_the_graph_is_used_up(self, store: GraphStore) -> None:
        run = Run.create(fill(store), VIEW, "r", replace(SETTINGS, budget=None))
        assert work(run, from_callable(value)) == Ending("exhausted", NODES)
        assert run.record.state == "finished"
        assert sorted(int(str(key)) for key in keys(run)) == list(range(NODES))

    def test_nothing_improves(self, run: Run) -> None:
        values = iter([1.0, 5.0, 2.0, 3.0, 9.0])
        ending = work(run, from_callable(lambda key: next(values)), limits=Limits(patience=2))
        assert ending == Ending("patience", 4)
        assert run.record.state == "finished"

    def test_nothing_beats_what_was_known_beforehand(self, run: Run) -> None:
        """A known value is no evaluation, wherever in the history it is."""
        work(run, from_callable(lambda _: 1.0), limits=Limits(patience=2))
        runs_in(run.store).change(run.name, state="running")
        free = next(key for key in range(NODES) if key not in keys(run))
        run.tell_known({free: 9.0})
        ending = work(run, from_callable(lambda _: 2.0), limits=Limits(patience=5))
        assert (ending.reason, run.record.evaluations) == ("patience", 5)

    def test_the_time_is_over(self, run: Run) -> None:
        assert work(run, from_callable(value), limits=Limits(seconds=0.0)) == Ending("time", 0)
        slow = from_callable(on_call(2, lambda _: time.sleep(0.3)))
        assert work(run, slow, limits=Limits(seconds=0.25)).reason == "time"
        assert (run.record.state, run.pending) == ("running", ())

    def test_too_much_fails(self, run: Run) -> None:
        def fails(key: int) -> float:
            raise ValueError(f"no {key}")

        with pytest.raises(RunError, match=r"2 evaluations failed; the last .*ValueError: no \d+"):
            work(run, from_callable(fails), limits=Limits(failures=2))
        assert (run.record.failed, run.record.state) == (2, "running")
        # Whoever has mended the objective need not raise the limit as well.
        assert work(run, from_callable(value), limits=Limits(failures=2)) == Ending("budget", 4)
        assert run.record.evaluations == 6

    def test_ten_failures_in_a_row_mean_that_the_objective_is_broken(
        self, embedded: GraphStore
    ) -> None:
        run = Run.create(embedded, VIEW, "r", replace(SETTINGS, budget=NODES))
        count = 0

        def fails(key: int) -> float:
            nonlocal count
            count += 1
            if count == 10:
                return value(key)
            raise ValueError(f"in\nseveral lines: {count}")

        with pytest.raises(ObjectiveBroken, match=r"10 evaluations in a row failed") as broken:
            work(run, from_callable(fails))
        assert (run.record.failed, run.record.told, run.record.state) == (19, 1, "running")
        assert f"at {run.history[-1].key!r}, ended with: ValueError: in; mend" in str(broken.value)
        (note,) = broken.value.__notes__
        assert 'raise ValueError(f"in\\nseveral lines: {count}")' in note
        assert note.endswith("ValueError: in\nseveral lines: 20")
        assert "graphbo/objectives" not in note
        # It may be mended by then.
        assert work(run, from_callable(value)) == Ending("budget", 10)

    def test_failures_in_a_row_may_be_what_is_expected(self, embedded: GraphStore) -> None:
        run = Run.create(embedded, VIEW, "r", replace(SETTINGS, budget=NODES))

        def mostly_fails(key: int) -> float:
            if run.record.evaluations < NODES - 1:
                raise ValueError("no")
            return value(key)

        limits = Limits(failures_in_a_row=None)
        assert work(run, from_callable(mostly_fails), limits=limits) == Ending("budget", NODES)

    def test_failures_that_others_told_do_not_count(self, embedded: GraphStore) -> None:
        run = Run.create(embedded, VIEW, "r", replace(SETTINGS, budget=NODES))

        def action(_: int) -> None:
            for _ in range(9):
                by_hand = Run.open(embedded, "r")
                asked = by_hand.ask().pending
                assert asked is not None
                by_hand.tell(None, step=asked.step, error="not at home")
            raise ValueError("no")

        assert work(run, from_callable(on_call(2, action))) == Ending("budget", NODES - 9)
        assert run.record.failed == 10

    @pytest.mark.parametrize(
        "limits", [Limits(), Limits(patience=3), Limits(failures_in_a_row=None)]
    )
    def test_a_run_without_a_value_is_no_success(self, run: Run, limits: Limits) -> None:
        def fails(key: int) -> float:
            raise ValueError(f"no {key}")

        with pytest.raises(ObjectiveBroken, match=r"not one evaluation gave a value.*ValueError"):
            work(run, from_callable(fails), limits=limits)
        assert run.record.state == "finished"

    def test_somebody_stops_it(self, run: Run, embedded: GraphStore) -> None:
        stops = on_call(3, lambda _: runs_in(embedded).change("r", state="stopped"))
        assert work(run, from_callable(stops)) == Ending("ended", 3)
        assert (run.record.state, run.record.told, run.pending) == ("stopped", 3, ())

    def test_what_was_asked_for_by_hand_is_not_waited_for(
        self, run: Run, embedded: GraphStore
    ) -> None:
        by_hand = Run.open(embedded, "r").ask().pending
        assert by_hand is not None
        assert work(run, from_callable(value)) == Ending("budget", 5)
        assert (run.record.state, run.record.pending) == ("running", 1)
        runs_in(embedded).change("r", budget=100)
        assert work(run, from_callable(value)) == Ending("exhausted", NODES - 6)
        assert (run.record.state, run.record.pending) == ("running", 1)

    def test_others_are_waited_for(self, file: str, run: Run) -> None:
        """The last one that is at work may be slow; if it dies instead, somebody has to be there."""

        def other() -> None:
            with open_store(file) as store:
                theirs = Run.open(store, "r", worker="elsewhere:1:x")
                asked = theirs.ask(lease=60.0).pending
                assert asked is not None
                started.set()
                time.sleep(1.0)
                theirs.tell(1.0, step=asked.step, token=asked.token)

        started = threading.Event()
        thread = threading.Thread(target=other)
        thread.start()
        started.wait()
        assert work(run, from_callable(value)) == Ending("budget", 5)
        thread.join()
        assert (run.record.state, run.record.told) == ("finished", 6)

    def test_what_the_dead_left_is_evaluated_too(self, run: Run, embedded: GraphStore) -> None:
        dead = Run.open(embedded, "r", worker="elsewhere:1:x")
        left = dead.ask(lease=0.3).pending
        assert left is not None
        dead.leave([left.token])
        assert work(run, from_callable(value)) == Ending("budget", 6)
        assert left.key in keys(run)


class TestEvaluating:
    def test_everybody_who_watches_hears_of_it(self, run: Run) -> None:
        heard: list[Progress] = []
        work(run, from_callable(value), watch=heard.append)
        asked = [progress.asked.step for progress in heard if progress.asked]
        told = [progress.told.observation.step for progress in heard if progress.told]
        assert asked == told == [1, 2, 3, 4, 5, 6]
        assert all(progress.evaluation for progress in heard if progress.told)
        assert run.clock.database > 0
        assert run.clock.model > 0

    def test_properties_are_fetched_only_for_those_who_want_them(
        self, run: Run, embedded: GraphStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        embedded.write_nodes(VIEW, [(key, {"height": key / 2}) for key in range(NODES)])
        with monkeypatch.context() as patched:
            patched.setattr(Run, "properties", lambda *_: pytest.fail("nobody asked"))
            work(run, from_callable(value), limits=Limits(patience=2))
        runs_in(embedded).change("r", state="running")
        run.refresh()
        work(run, from_callable(lambda key, properties: properties["height"]))
        assert run.history[-1].value == int(run.history[-1].key) / 2

    def test_failures_are_recorded_and_survived(self, run: Run) -> None:
        def action(_: int) -> None:
            raise ValueError("out of order")

        assert work(run, from_callable(on_call(2, action))) == Ending("budget", 6)
        (failed,) = [one for one in run.history if one.failed]
        assert (failed.step, failed.error) == (2, "ValueError: out of order")

    def test_several_at_once(self, store: GraphStore) -> None:
        """All four are under way before the first is told."""
        run = Run.create(fill(store), VIEW, "r", replace(SETTINGS, budget=12))
        together = threading.Barrier(4)

        def objective(key: int) -> float:
            together.wait(30)
            return value(key)

        with ThreadPoolExecutor(4) as pool:
            ending = work(run, from_callable(objective), executor=pool, parallel=4)
        assert ending == Ending("budget", 12)
        assert len(set(keys(run))) == 12
        assert sorted(one.step for one in run.history) == list(range(1, 13))

    def test_a_batch_is_told_in_the_same_order_every_time(self, embedded: GraphStore) -> None:
        histories = []
        for name in ("evens", "odds"):
            run = Run.create(embedded, VIEW, name, replace(SETTINGS, budget=8))

            def unequal(key: int, late: int = len(name) % 2) -> float:
                time.sleep(0.02 * (key % 2 == late))
                return value(key)

            with ThreadPoolExecutor(4) as pool:
                work(run, from_callable(unequal), executor=pool, parallel=4, batch=True)
            histories.append([(one.step, one.seq, one.key) for one in run.history])
        assert histories[0] == histories[1]
        assert [step for step, _, _ in histories[0]] == [1, 2, 3, 4, 5, 6, 7, 8]

    def test_errors_of_ours_are_not_failures(self, run: Run) -> None:
        class Unbound(Evaluator):
            needs_properties = False

            def measure(self, node: Node, timeout: float | None) -> object:
                raise InvalidObjective("not bound")

        with pytest.raises(InvalidObjective):
            work(run, Objective("unbound", Unbound()))
        assert run.record.failed == 0

    def test_a_database_that_went_away_under_an_objective_is_asked_again(self, run: Run) -> None:
        class Flaky(Evaluator):
            needs_properties = False
            calls = 0

            def measure(self, node: Node, timeout: float | None) -> object:
                Flaky.calls += 1
                if Flaky.calls in (2, 3):
                    raise StoreUnavailable("gone")
                return 1.0

        assert work(run, Objective("flaky", Flaky())) == Ending("budget", 6)
        assert (run.record.failed, Flaky.calls) == (0, 8)

    def test_but_not_for_ever(self, run: Run) -> None:
        class Gone(Evaluator):
            needs_properties = False

            def measure(self, node: Node, timeout: float | None) -> object:
                raise StoreUnavailable("gone")

        with pytest.raises(StoreUnavailable):
            work(run, Objective("gone", Gone()))
        assert (run.record.failed, run.record.pending) == (0, 1)


class TestInterruptions:
    @pytest.fixture
    def expected(self, embedded: GraphStore) -> list[object]:
        run = Run.create(embedded, VIEW, "uninterrupted", SETTINGS)
        work(run, from_callable(value))
        return keys(run)

    @pytest.mark.parametrize("reopened", [False, True])
    def test_control_c_in_the_objective(
        self, run: Run, embedded: GraphStore, expected: list[object], reopened: bool
    ) -> None:
        def interrupt(_: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            work(run, from_callable(on_call(3, interrupt)))
        assert (run.record.told, run.record.pending) == (2, 1)
        # In the same process, as in a notebook; with the same object, or with a new one.
        again = Run.open(embedded, "r") if reopened else run
        assert work(again, from_callable(value)) == Ending("budget", 4)
        assert keys(again) == expected

    @pytest.mark.parametrize("moment", ["ask", "report"])
    def test_control_c_while_talking_to_the_database(
        self, run: Run, expected: list[object], moment: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        original, count = getattr(Run, moment), 0

        def interrupted(self: Run, *args: Any, **kwargs: Any) -> object:
            nonlocal count
            count += 1
            answer = original(self, *args, **kwargs)
            if count == 3:
                raise KeyboardInterrupt
            return answer

        with monkeypatch.context() as patched:
            patched.setattr(Run, moment, interrupted)
            with pytest.raises(KeyboardInterrupt):
                work(run, from_callable(value))
        work(run, from_callable(value))
        assert keys(run) == expected
        assert (run.record.state, run.record.told) == ("finished", 6)

    def test_what_had_not_begun_does_not_begin(self, run: Run) -> None:
        begun: list[int] = []

        def objective(key: int) -> float:
            begun.append(key)
            time.sleep(0.1)
            return value(key)

        def watch(progress: Progress) -> None:
            if progress.told:
                raise KeyboardInterrupt

        with ThreadPoolExecutor(1) as pool, pytest.raises(KeyboardInterrupt):
            work(run, from_callable(objective), executor=pool, parallel=5, watch=watch)
        assert len(begun) <= 2

    def test_a_released_node_is_somebody_elses(
        self, run: Run, embedded: GraphStore, caplog: pytest.LogCaptureFixture
    ) -> None:
        release = on_call(2, lambda key: Run.open(embedded, "r").release(key=key))
        assert work(run, from_callable(release)) == Ending("budget", 6)
        assert "was released" in caplog.text
        assert (run.record.told, run.record.steps, len(set(keys(run)))) == (6, 7, 6)

    def test_what_somebody_else_told_first_stays(self, run: Run, embedded: GraphStore) -> None:
        def tell(key: int) -> None:
            Run.open(embedded, "r").tell(99.0, key=key)

        heard: list[str] = []
        work(
            run,
            from_callable(on_call(2, tell)),
            watch=lambda progress: heard.append(progress.told.outcome) if progress.told else None,
        )
        assert heard.count("late") == 1
        assert run.record.best_value == 99.0
        assert (run.record.told, len(run.history)) == (6, 6)


class TestUntold:
    """Values that were measured and cannot be told are kept."""

    def test_if_the_run_was_removed(
        self, run: Run, embedded: GraphStore, directory: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        clean = on_call(3, lambda _: runs_in(embedded).clean("r"))
        with pytest.raises(NoSuchRun, match="is gone: somebody removed it"):
            work(run, from_callable(clean))
        ((node, found),) = untold(directory)
        assert found == value(int(node))
        assert f"node {node} has the value {found!r}" in caplog.text
        assert "it is kept in graphbo-r-untold.csv" in caplog.text

    def test_if_the_database_is_gone_for_good(
        self, run: Run, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """All that was measured by then is kept, and nothing is waited for twice."""
        monkeypatch.setattr("graphbo.runs.run.RECONNECT_SECONDS", 0.2)
        asked: list[int] = []

        def gone(*_: object, **__: object) -> None:
            asked.append(1)
            raise StoreUnavailable("gone")

        def watch(progress: Progress) -> None:
            if progress.asked is not None and progress.asked.step == 4:
                monkeypatch.setattr(SqliteLog, "transact", gone)

        with ThreadPoolExecutor(4) as pool, pytest.raises(StoreUnavailable):
            work(run, from_callable(value), executor=pool, parallel=4, batch=True, watch=watch)
        assert dict(untold(directory)) == {str(one.key): value(int(one.key)) for one in run.pending}
        assert len(untold(directory)) == 4
        assert 1 < len(asked) < 6

    def test_what_is_evaluated_beside_it_is_waited_for(
        self, run: Run, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is paid for as well, and was lost if its result came a moment later."""

        def broken(*_: object, **__: object) -> None:
            raise StoreError("the file is gone")

        monkeypatch.setattr(Run, "report", broken)
        slow = iter([0.0, 0.3, 0.6])

        def objective(key: int) -> float:
            time.sleep(next(slow))
            return value(key)

        with ThreadPoolExecutor(3) as pool, pytest.raises(StoreError, match="gone"):
            work(run, from_callable(objective), executor=pool, parallel=3)
        assert {int(node): found for node, found in untold(directory)} == {
            int(one.key): value(int(one.key)) for one in run.pending
        }
        assert len(untold(directory)) == 3

    def test_if_nothing_can_be_written(
        self, run: Run, embedded: GraphStore, directory: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (directory / "graphbo-r-untold.csv").mkdir()
        with pytest.raises(NoSuchRun):
            work(run, from_callable(on_call(2, lambda _: runs_in(embedded).clean("r"))))
        assert "has the value " in caplog.text
        assert "note it down" in caplog.text

    def test_if_somebody_released_the_node(
        self, run: Run, embedded: GraphStore, directory: Path
    ) -> None:
        release = on_call(2, lambda key: Run.open(embedded, "r").release(key=key))
        work(run, from_callable(release))
        ((node, found),) = untold(directory)
        assert found == value(int(node))

    def test_what_a_batch_had_is_told_when_it_is_interrupted(
        self, run: Run, embedded: GraphStore, directory: Path
    ) -> None:
        done = threading.Semaphore(0)

        def objective(key: int) -> float:
            if not done.acquire(timeout=0.3):
                done.release(3)
                raise KeyboardInterrupt
            return value(key)

        with ThreadPoolExecutor(4) as pool, pytest.raises(KeyboardInterrupt):
            work(run, from_callable(objective), executor=pool, parallel=4, batch=True)
        news = news_in(embedded, name="r")
        assert (news.record.told, news.record.pending) == (3, 1)
        assert run.record.told == 3
        assert untold(directory) == []


def untold(directory: Path) -> list[tuple[str, float | None]]:
    path = directory / "graphbo-r-untold.csv"
    return [(one.node, one.value) for one in read_values(path)] if path.exists() else []


class TestLeases:
    def test_are_renewed_while_the_objective_runs(self, run: Run, embedded: GraphStore) -> None:
        left: list[float | None] = []

        def slow(_: int) -> None:
            time.sleep(4.0)
            left.extend(one.lease_left for one in news_in(embedded, name="r").pending)

        work(
            run,
            from_callable(on_call(1, slow)),
            limits=Limits(patience=1),
            lease=3.0,
        )
        (found,) = left
        assert found is not None
        assert found > 0

    @pytest.mark.slow
    def test_an_objective_that_holds_the_interpreter_is_evaluated_once(
        self, file: str, run: Run, tmp_path: Path
    ) -> None:
        """No thread of its process can run meanwhile, for longer than a lease."""
        log = tmp_path / "log"
        program = (
            "import ctypes, graphbo, sys\n"
            "def objective(key):\n"
            "    print(key, file=open(sys.argv[2], 'a'))\n"
            "    ctypes.PyDLL(None).usleep(4_500_000)\n"
            "    return 1.0\n"
            "graphbo.optimize(objective, sys.argv[1], label='N', relationship='R', name='r', budget=2,\n"
            "                 strategy='random', seed=1, lease=3.0)\n"
        )
        workers = [
            subprocess.Popen([sys.executable, "-c", program, file, str(log)]) for _ in range(2)
        ]
        assert [worker.wait(60) for worker in workers] == [0, 0]
        run.refresh()
        assert Counter(log.read_text().split()) == Counter({str(key): 1 for key in keys(run)})
        assert run.record.told == 2

    @pytest.mark.parametrize("error", [KeyboardInterrupt, InvalidObjective])
    def test_end_with_a_worker_that_ends_early(
        self, run: Run, embedded: GraphStore, error: type[BaseException]
    ) -> None:
        """Whoever comes next, from whichever host, need not wait for what it left."""

        class Ends(Evaluator):
            needs_properties = False

            def measure(self, node: Node, timeout: float | None) -> object:
                raise error

        with pytest.raises(error):
            work(run, Objective("ends", Ends()))
        (left,) = news_in(embedded, name="r").pending
        assert left.lease_left is not None
        assert left.lease_left <= 0
        heir = Run.open(embedded, "r", worker="elsewhere:1:x")
        assert work(heir, from_callable(value)) == Ending("budget", 6)

    def test_to_be_interrupted_often_is_no_failure(self, run: Run, embedded: GraphStore) -> None:
        def interrupt(_: int) -> None:
            raise KeyboardInterrupt

        for _ in range(5):
            with pytest.raises(KeyboardInterrupt):
                work(Run.open(embedded, "r"), from_callable(on_call(1, interrupt)))
        assert work(run, from_callable(value)) == Ending("budget", 6)
        assert run.record.failed == 0

    def test_ending_does_not_wait_for_a_database_that_does_not_answer(
        self, run: Run, file: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Somebody else writes to the file, and takes long."""
        monkeypatch.setattr("graphbo.runs.run.FAREWELL_SECONDS", 0.2)
        other = sqlite3.connect(file.removeprefix("sqlite:"), isolation_level=None)

        def interrupt(_: int) -> None:
            other.execute("BEGIN IMMEDIATE")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            work(run, from_callable(on_call(3, interrupt)))
        assert "stays leased for a while" in caplog.text
        other.execute("ROLLBACK")
        other.close()

    def test_a_worker_does_not_take_over_what_it_is_doing(self, run: Run) -> None:
        """Nobody renews here, and every lease runs out at once."""
        done: list[int] = []

        def slow(key: int) -> float:
            done.append(key)
            time.sleep(0.05)
            return value(key)

        with ThreadPoolExecutor(3) as pool:
            work(run, from_callable(slow), executor=pool, parallel=3, lease=0.0)
        assert len(done) == len(set(done)) == 6


def deadly(key: int) -> float:
    """Ends its process at one node in three; a function that a process can import."""
    if key % 3 == 0:
        os._exit(1)
    return value(key)


def always_deadly(key: int) -> float:
    os._exit(1)


def deadly_at_sevens(key: int) -> float:
    if key % 7 == 0:
        os._exit(1)
    return value(key)


@dataclass(frozen=True)
class Deadly:
    """Writes down that it was called, and ends its process."""

    log: Path

    def __call__(self, key: int) -> float:
        with self.log.open("a") as file:
            file.write("x")
        os._exit(1)


class TestBrokenPools:
    def test_only_nodes_that_end_their_process_have_failed(self, run: Run) -> None:
        with ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as pool:
            work(run, from_callable(deadly), executor=pool, parallel=2)
        assert run.record.evaluations == 6
        assert {int(one.key) % 3 == 0 for one in run.history if one.failed} == {True}
        assert {int(one.key) % 3 == 0 for one in run.history if not one.failed} == {False}
        assert all("died" in (one.error or "") for one in run.history if one.failed)

    def test_an_objective_that_always_does_costs_little_of_the_budget(self, run: Run) -> None:
        with (
            ProcessPoolExecutor(2, mp_context=get_context("forkserver")) as pool,
            pytest.raises(RunError, match="3 evaluations in a row ended the process"),
        ):
            work(run, from_callable(always_deadly), executor=pool, parallel=2)
        assert run.record.failed == 3
        assert work(run, from_callable(value)) == Ending("budget", 3)

    def test_in_a_row_means_with_nothing_else_between(self, embedded: GraphStore) -> None:
        run = Run.create(embedded, VIEW, "all", replace(SETTINGS, budget=NODES))
        with ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as pool:
            work(run, from_callable(deadly_at_sevens), executor=pool)
        assert (run.record.failed, run.record.told) == (5, NODES - 5)

    @pytest.mark.parametrize(("tries", "calls"), [(1, 2), (2, 2), (3, 1)])
    def test_a_node_that_others_died_of_is_not_tried_more_often(
        self, embedded: GraphStore, tmp_path: Path, tries: int, calls: int
    ) -> None:
        class Tried(Run):
            def ask(self, *, lease: float | None = None, token: str | None = None) -> Asked:
                asked = super().ask(lease=lease, token=token)
                found = asked.pending
                return asked if found is None else Asked(replace(found, tries=tries))

        run = Tried.create(embedded, VIEW, "tried", replace(SETTINGS, budget=1))
        log = tmp_path / "calls"
        with (
            ProcessPoolExecutor(1, mp_context=get_context("forkserver")) as pool,
            contextlib.suppress(RunError),
        ):
            work(run, from_callable(Deadly(log)), executor=pool)
        assert run.record.failed == 1
        assert len(log.read_text()) == calls

    def test_another_executor_that_breaks_fails_nothing(self, run: Run) -> None:
        class Broken(Executor):
            def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
                future: Future[Any] = Future()
                future.set_exception(BrokenExecutor("lost"))
                return future

        with pytest.raises(RunError, match=r"broken.*lost"):
            work(run, from_callable(value), executor=Broken(), parallel=2)
        assert run.record.failed == 0
        assert work(run, from_callable(value)) == Ending("budget", 6)

    def test_what_else_an_executor_raises_is_a_failure(self, run: Run) -> None:
        class Lossy(Executor):
            def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
                future: Future[Any] = Future()
                future.set_exception(RuntimeError("worker lost"))
                return future

        with pytest.raises(ObjectiveBroken, match="RuntimeError: worker lost"):
            work(run, from_callable(value), executor=Lossy())
        assert {one.error for one in run.history} == {"RuntimeError: worker lost"}
