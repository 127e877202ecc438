"""Working on a run: why it ends, and what it survives."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
)
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from graphbo.errors import InvalidObjective, RunError, StoreError, StoreUnavailable
from graphbo.objectives import Node, Objective, from_callable
from graphbo.objectives.base import Source
from graphbo.run import Run, RunSettings
from graphbo.stores import GraphStore, open_store
from graphbo.types import View
from graphbo.work import Ending, Limits, Progress, work

VIEW = View(("N",), ("R",), key="id")
NODES = 30
SETTINGS = RunSettings(strategy="random", seed=1, budget=6)


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
        run.store.runs.set_state(run.name, "running")
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

        with pytest.raises(RunError, match=r"2 evaluations failed, the last .*ValueError: no \d+"):
            work(run, from_callable(fails), limits=Limits(failures=2))
        assert (run.record.failed, run.record.state) == (2, "running")
        # Whoever has mended the objective need not raise the limit as well.
        assert work(run, from_callable(value), limits=Limits(failures=2)) == Ending("budget", 4)
        assert run.record.evaluations == 6

    def test_somebody_stops_it(self, run: Run, embedded: GraphStore) -> None:
        stops = on_call(3, lambda _: embedded.runs.set_state("r", "stopped"))
        assert work(run, from_callable(stops)) == Ending("ended", 3)
        assert (run.record.state, run.record.told, run.pending) == ("stopped", 3, ())

    def test_what_was_asked_for_by_hand_is_not_waited_for(
        self, run: Run, embedded: GraphStore
    ) -> None:
        by_hand = Run.open(embedded, "r").ask().pending
        assert by_hand is not None
        assert work(run, from_callable(value)) == Ending("budget", 5)
        assert (run.record.state, run.record.pending) == ("running", 1)
        embedded.runs.set_budget("r", 100)
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
        dead.give_up([left.token])
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
        embedded.runs.set_state("r", "running")
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
        class Unbound(Source):
            needs_properties = False

            def measure(self, node: Node, timeout: float | None) -> object:
                raise InvalidObjective("not bound")

        with pytest.raises(InvalidObjective):
            work(run, Objective("unbound", Unbound()))
        assert run.record.failed == 0

    def test_a_database_that_went_away_under_an_objective_is_asked_again(self, run: Run) -> None:
        class Flaky(Source):
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
        class Gone(Source):
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

    @pytest.mark.parametrize("moment", ["ask", "tell"])
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
        release = on_call(2, lambda key: embedded.runs.release("r", VIEW, key=key))
        assert work(run, from_callable(release)) == Ending("budget", 6)
        assert "was released" in caplog.text
        assert (run.record.told, run.record.steps, len(set(keys(run)))) == (6, 7, 6)

    def test_what_somebody_else_told_first_stays(self, run: Run, embedded: GraphStore) -> None:
        def tell(key: int) -> None:
            embedded.runs.tell("r", VIEW, value=99.0, key=key)

        heard: list[str] = []
        work(
            run,
            from_callable(on_call(2, tell)),
            watch=lambda progress: heard.append(progress.told.outcome) if progress.told else None,
        )
        assert heard.count("late") == 1
        assert run.record.best_value == 99.0
        assert (run.record.told, len(run.history)) == (6, 6)


class TestLeases:
    def test_are_renewed_while_the_objective_runs(
        self, run: Run, embedded: GraphStore, file: str
    ) -> None:
        left: list[float | None] = []

        def slow(_: int) -> None:
            time.sleep(1.2)
            left.extend(one.lease_left for one in embedded.runs.news("r", VIEW).pending)

        work(
            run,
            from_callable(on_call(1, slow)),
            limits=Limits(patience=1),
            lease=0.9,
            renewing=lambda: open_store(file),
        )
        (found,) = left
        assert found is not None
        assert found > 0

    def test_what_goes_wrong_with_a_renewal_is_logged_and_tried_again(
        self, run: Run, embedded: GraphStore, file: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        tries: list[int] = []
        renewed = threading.Event()

        def renewing() -> GraphStore:
            tries.append(1)
            if len(tries) == 1:
                raise StoreError("not now")
            renewed.set()
            return open_store(file)

        wait = on_call(1, lambda _: renewed.wait(30))
        work(run, from_callable(wait), limits=Limits(patience=1), lease=0.3, renewing=renewing)
        assert "could not be renewed: not now" in caplog.text
        assert len(tries) == 2

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
        assert run.record.failed == 2
        assert work(run, from_callable(value)) == Ending("budget", 4)

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

        assert work(run, from_callable(value), executor=Lossy()) == Ending("budget", 6)
        assert {one.error for one in run.history} == {"RuntimeError: worker lost"}
