"""A run asks and tells; all it knows is in the database."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from benchmarks._wire import Wire, wire_to
from graphbo.errors import (
    EmptyView,
    NoSuchNode,
    NoSuchRun,
    NotAsked,
    RunError,
    RunExists,
    RunMismatch,
    StoreUnavailable,
    ValueConflict,
)
from graphbo.runs import Asked, Fingerprint, Run, RunSettings, best_of
from graphbo.runs.registry import RunRegistry, runs_in
from graphbo.stores import GraphStore, open_store
from graphbo.stores.neo4j.log import Neo4jLog
from graphbo.stores.sqlite.log import SqliteLog
from graphbo.types import NodeKey, Pending, View
from tests.backends import Backend, Neo4jBackend, on_sqlite

VIEW = View(("N",), ("R",), key="id")
NODES = 40
RANDOM = RunSettings(strategy="random", seed=1, budget=5)


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    return fill(store)


@pytest.fixture
def embedded() -> Iterator[GraphStore]:
    """For what does not depend on the database."""
    with open_store("sqlite::memory:") as store:
        yield fill(store)


def fill(store: GraphStore) -> GraphStore:
    store.create_key(VIEW)
    store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(NODES - 1)])
    return store


def got(asked: Asked) -> Pending:
    assert asked.pending is not None, asked.why_not
    return asked.pending


def advance(run: Run, steps: int) -> None:
    for _ in range(steps):
        pending = got(run.ask())
        run.tell(float(int(pending.key) % 7), step=pending.step)


class TestSettings:
    def test_come_back_as_they_were(self, filled: GraphStore) -> None:
        settings = RunSettings(
            strategy="bayes",
            options={"initial": 4, "size": 20},
            seed=11,
            maximize=False,
            start=(3, 5),
            reveal="evaluated",
            objective="property:id",
            noise=0.5,
            budget=9,
            prefix="mine",
            labelled=False,
        )
        Run.create(filled, VIEW, "all", settings)
        found = Run.open(filled, "all")
        assert replace(found.settings, options={}) == replace(settings, options={})
        # With the defaults of what was not said, which a later version may change.
        assert found.settings.options.items() >= {"initial": 4, "size": 20, "patience": 15}.items()
        # Only the model can make use of the noise.
        assert found.strategy.options["noise"] == 0.5
        assert found.view == VIEW

    def test_noise_is_nothing_to_a_strategy_without_a_model(self, embedded: GraphStore) -> None:
        run = Run.create(embedded, VIEW, "r", replace(RANDOM, noise=0.5))
        assert (run.settings.noise, run.strategy.options) == (0.5, {})

    def test_the_key_is_found(self, filled: GraphStore) -> None:
        run = Run.create(filled, View(("N",), ("R",)), "r", RANDOM)
        assert run.view == VIEW

    def test_what_cannot_be_worked_on_is_refused_before_anything_is_written(
        self, filled: GraphStore
    ) -> None:
        with pytest.raises(EmptyView):
            Run.create(filled, View(("Nobody",), ("R",)), "r", RANDOM)
        with pytest.raises(NoSuchNode, match="99"):
            Run.create(filled, VIEW, "r", replace(RANDOM, start=(1, 99)))
        assert runs_in(filled).all() == []
        with pytest.raises(NoSuchRun):
            Run.open(filled, "r")


class TestResuming:
    def test_goes_on_where_it_was(self, filled: GraphStore) -> None:
        whole = Run.create(filled, VIEW, "whole", RANDOM)
        advance(whole, 5)
        first = Run.open_or_create(filled, VIEW, "parts", RANDOM)
        advance(first, 2)
        second = Run.open_or_create(filled, VIEW, "parts", RANDOM)
        advance(second, 3)
        assert [(o.key, o.value) for o in second.history] == [
            (o.key, o.value) for o in whole.history
        ]
        assert second.ask() == Asked(None, "budget")

    @pytest.mark.parametrize(
        ("other", "difference"),
        [
            (replace(RANDOM, strategy="local"), "strategy was 'random', not 'local'"),
            (replace(RANDOM, seed=2), "seed was 1, not 2"),
            (replace(RANDOM, maximize=False), "direction was 'maximize', not 'minimize'"),
            (replace(RANDOM, start=(1,)), r"start was \[\], not \[1\]"),
            (replace(RANDOM, noise=0.1), "noise was None, not 0.1"),
            (replace(RANDOM, labelled=False), "labels was True, not False"),
        ],
    )
    def test_refuses_other_options_with_the_difference(
        self, embedded: GraphStore, other: RunSettings, difference: str
    ) -> None:
        Run.create(embedded, VIEW, "r", RANDOM)
        with pytest.raises(RunMismatch, match=difference):
            Run.open_or_create(embedded, VIEW, "r", other)

    @on_sqlite
    def test_compares_what_of_an_objective_is_not_stored(self, filled: GraphStore) -> None:
        def settings(secret: str | None) -> RunSettings:
            fingerprint = None if secret is None else Fingerprint.of(secret)
            return replace(RANDOM, objective="https://host/?…", fingerprint=fingerprint)

        Run.create(filled, VIEW, "r", settings("token=hunter2"))
        # Each process has a salt of its own.
        again = Run.open_or_create(filled, VIEW, "r", settings("token=hunter2"))
        assert "hunter2" not in str(again.record)
        assert again.settings.fingerprint is not None
        assert again.settings.fingerprint.secret is None
        assert Run.open_or_create(filled, VIEW, "r", again.settings).name == "r"
        for other in ("token=hunter3", None):
            with pytest.raises(RunMismatch, match="query or user name was another one"):
                Run.open_or_create(filled, VIEW, "r", settings(other))
        Run.create(filled, VIEW, "older", settings(None))
        Run.open_or_create(filled, VIEW, "older", settings("token=hunter2"))

    def test_refuses_another_view_and_other_options_of_the_strategy(
        self, embedded: GraphStore
    ) -> None:
        Run.create(embedded, VIEW, "r", RunSettings(options={"size": 20}, objective="property:id"))
        with pytest.raises(RunMismatch, match=r"view was .*-\(\)', not .*->\(\)'"):
            Run.open_or_create(
                embedded,
                replace(VIEW, direction="out"),
                "r",
                RunSettings(options={"size": 20}, objective="property:id"),
            )
        with pytest.raises(RunMismatch, match=r"size was 20, not 30; objective was .*property:b"):
            Run.open_or_create(
                embedded, VIEW, "r", RunSettings(options={"size": 30}, objective="property:b")
            )

    def test_the_budget_may_change_and_what_had_ended_goes_on(self, filled: GraphStore) -> None:
        run = Run.create(filled, VIEW, "r", replace(RANDOM, budget=1))
        advance(run, 1)
        run.finish()
        assert run.ask().why_not == "budget"
        again = Run.open_or_create(filled, VIEW, "r", replace(RANDOM, budget=2))
        assert (again.record.state, again.record.budget) == ("running", 2)
        assert got(again.ask()).step == 2
        assert (
            Run.open_or_create(filled, VIEW, "r", replace(RANDOM, budget=None)).record.budget == 2
        )

    def test_of_several_who_start_at_once_one_creates_it(
        self, embedded: GraphStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Run.create(embedded, VIEW, "r", RANDOM)
        # Looked before the other had created it.
        monkeypatch.setattr(RunRegistry, "find", lambda self, name: None)
        assert Run.open_or_create(embedded, VIEW, "r", RANDOM).name == "r"
        with pytest.raises(RunMismatch):
            Run.open_or_create(embedded, VIEW, "r", replace(RANDOM, seed=9))
        with pytest.raises(RunExists):
            Run.create(embedded, VIEW, "r", RANDOM)


class TestAsking:
    @pytest.fixture
    def run(self, filled: GraphStore) -> Run:
        return Run.create(filled, VIEW, "r", RANDOM)

    def test_the_same_request_gets_the_same_node(self, run: Run) -> None:
        first, again = got(run.ask(token="a")), got(run.ask(token="a"))
        assert (first.step, first.key) == (again.step, again.key)
        assert len(run.pending) == 1

    @on_sqlite
    def test_says_why_there_is_none(self, run: Run, filled: GraphStore) -> None:
        runs_in(filled).change("r", state="stopped")
        assert run.ask().why_not == "ended"
        runs_in(filled).change("r", state="running")
        for _ in range(5):
            run.ask()
        assert run.ask().why_not == "budget"

    @on_sqlite
    def test_a_graph_may_be_smaller_than_the_budget(self, store: GraphStore) -> None:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(1, 2, {})])
        run = Run.create(store, VIEW, "small", RANDOM)
        advance(run, 1)
        last = got(run.ask())
        assert run.ask().why_not == "waiting"
        run.tell(1.0, step=last.step)
        assert run.ask().why_not == "exhausted"

    def test_an_unknown_graph_begins_at_its_start(self, filled: GraphStore) -> None:
        settings = replace(RANDOM, start=(20,), reveal="evaluated")
        run = Run.create(filled, VIEW, "unknown", settings)
        advance(run, 3)
        assert run.history[0].key == 20
        assert {run.history[1].key} <= {19, 21}
        assert run.graph.revealed < 10

    def test_a_slow_worker_keeps_what_it_holds(self, run: Run, filled: GraphStore) -> None:
        held = got(run.ask(lease=0.0))
        other = got(run.ask(lease=0.0))
        assert other.step != held.step
        # To somebody else they look abandoned.
        heir = Run.open(filled, "r", worker="elsewhere:1:x")
        assert got(heir.ask(lease=60.0)).step in (held.step, other.step)

    def test_what_was_given_up_is_taken_over_by_the_same_process(self, run: Run) -> None:
        held = got(run.ask(lease=60.0))
        assert got(run.ask(lease=60.0)).step != held.step
        run.leave([held.token])
        assert got(run.ask(lease=60.0)).step == held.step

    def test_the_dead_of_this_host_are_known(self, embedded: GraphStore) -> None:
        run = Run.create(embedded, VIEW, "r", RANDOM)
        ended = subprocess.run(
            [sys.executable, "-c", "from graphbo.runs import worker_name; print(worker_name())"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        kept = got(Run.open(embedded, "r", worker=f"not-{ended}").ask(lease=60.0))
        dead = got(Run.open(embedded, "r", worker=ended).ask(lease=60.0))
        assert got(run.ask(lease=60.0)).step == dead.step
        assert got(run.ask(lease=60.0)).step not in (kept.step, dead.step)

    def test_what_a_person_asked_for_is_never_taken_over(
        self, run: Run, filled: GraphStore
    ) -> None:
        by_hand = got(Run.open(filled, "r").ask())
        assert got(run.ask(lease=60.0)).step != by_hand.step


class TestTelling:
    @pytest.fixture
    def run(self, filled: GraphStore) -> Run:
        return Run.create(filled, VIEW, "r", RANDOM)

    @pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
    @on_sqlite
    def test_only_numbers(self, run: Run, bad: float) -> None:
        asked = got(run.ask())
        with pytest.raises(RunError, match="finite"):
            run.tell(bad, step=asked.step)
        with pytest.raises(RunError, match="finite"):
            run.tell_known({1: bad})
        assert run.history == ()

    @on_sqlite
    def test_by_node_and_by_step(self, run: Run) -> None:
        first, second = got(run.ask()), got(run.ask())
        run.tell(1.0, key=second.key)
        run.tell(None, step=first.step, error="no")
        assert [(one.step, one.value, one.error) for one in run.history] == [
            (second.step, 1.0, None),
            (first.step, None, "no"),
        ]
        assert run.pending == ()

    def test_a_step_and_a_node_are_the_same_place(self, run: Run) -> None:
        first, second = got(run.ask()), got(run.ask())
        with pytest.raises(NotAsked, match=f"step {first.step} at {second.key}"):
            run.tell(1.0, step=first.step, key=second.key)
        with pytest.raises(NotAsked):
            run.release(step=first.step, key=second.key)
        with pytest.raises(RunError, match="neither a step nor a node"):
            run.tell(1.0)
        with pytest.raises(RunError, match="neither a step nor a node"):
            run.release()
        assert not run.history
        run.tell(1.0, step=second.step, key=second.key)
        assert [one.key for one in run.history] == [second.key]

    def test_known_values_cost_nothing_and_are_not_asked_for(self, run: Run) -> None:
        values: dict[NodeKey, float] = {number: float(number) for number in range(NODES - 1)}
        assert run.tell_known(values) == NODES - 1
        assert run.tell_known(values) == 0
        assert got(run.ask()).key == NODES - 1
        assert (run.record.evaluations, run.record.warm) == (0, NODES - 1)
        best = run.best()
        assert best is not None
        assert best.value == NODES - 2.0

    def test_a_released_node_is_free_again(self, run: Run) -> None:
        asked = got(run.ask())
        assert run.release(step=asked.step).key == asked.key
        assert run.pending == ()

    def test_a_value_replaces_a_failure_and_no_failure_a_value(self, run: Run) -> None:
        first, second = got(run.ask()), got(run.ask())
        run.tell(None, step=first.step, error="broken")
        run.tell(2.0, step=second.step)
        with pytest.raises(ValueConflict, match="not replaced by a failure"):
            run.tell(None, step=second.step, amend=True)
        assert run.tell(1.0, step=first.step).outcome == "amended"
        assert [(one.value, one.error) for one in run.history] == [(1.0, "broken"), (2.0, None)]

    def test_everybody_learns_of_an_amendment(self, run: Run, filled: GraphStore) -> None:
        advance(run, 3)
        other = Run.open(filled, "r")
        other.refresh()
        run.tell(100.0, step=2, amend=True)
        assert [one.value for one in run.history][1] == 100.0
        pending = got(other.ask())
        assert [one.value for one in other.history][1] == 100.0
        other.tell(1.0, step=pending.step)
        best = other.best()
        assert best is not None
        assert (best.step, best.value) == (2, 100.0)

    def test_what_others_told_is_heard_with_the_next_question(
        self, run: Run, filled: GraphStore
    ) -> None:
        other = Run.open(filled, "r")
        advance(run, 2)
        advance(other, 1)
        advance(run, 1)
        assert [one.seq for one in run.history] == [1, 2, 3, 4]


class TestBest:
    def test_is_the_first_of_equals(self, embedded: GraphStore) -> None:
        run = Run.create(embedded, VIEW, "r", RANDOM)
        assert run.best() is None
        for value in (1.0, 3.0, 3.0):
            run.tell(value, step=got(run.ask()).step)
        assert best_of(run.history, maximize=True) == run.history[1]
        assert best_of(run.history, maximize=False) == run.history[0]

    def test_may_be_the_smallest(self, embedded: GraphStore) -> None:
        run = Run.create(embedded, VIEW, "r", replace(RANDOM, maximize=False))
        for value in (2.0, -3.0, 5.0):
            run.tell(value, step=got(run.ask()).step)
        best = run.best()
        assert best is not None
        assert (best.value, best.mean) == (-3.0, None)

    def test_under_noise_is_what_the_model_believes(self, embedded: GraphStore) -> None:
        """Seven nodes in a row are good, and one that is nowhere near them was lucky."""
        settings = RunSettings(options={"size": NODES, "initial": 1}, noise=3.0, budget=20)
        run = Run.create(embedded, VIEW, "noisy", settings)
        around = dict.fromkeys(range(10, 17), 5.0)
        low = dict.fromkeys((*range(24, 30), *range(31, 38)), 0.0)
        run.tell_known(around | low | {30: 5.5})
        best = run.best()
        assert best is not None
        assert best.key in around
        assert best.value == 5.0
        assert best.mean is not None
        assert best.mean > 2.0

    def test_properties_are_those_that_the_run_did_not_write(self, filled: GraphStore) -> None:
        filled.write_nodes(VIEW, [(key, {"grapes": 1}) for key in range(NODES)])
        run = Run.create(filled, VIEW, "r", replace(RANDOM, prefix="gra"))
        asked = got(run.ask())
        run.tell(1.0, step=asked.step)
        assert "graValue" in filled.properties(VIEW, [asked.key])[asked.key]
        assert run.properties(asked.key) == {"id": asked.key, "grapes": 1}


class TestWaiting:
    """A database that goes away is waited for, once the run has been read."""

    def test_asks_again(self, embedded: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
        run = Run.create(embedded, VIEW, "r", RANDOM)
        run.refresh()
        failures = [StoreUnavailable("gone")] * 2
        original = SqliteLog.transact

        def flaky(*args: Any, **kwargs: Any) -> object:
            if failures:
                raise failures.pop()
            return original(*args, **kwargs)

        monkeypatch.setattr(SqliteLog, "transact", flaky)
        assert got(run.ask()).step == 1
        assert failures == []

    def test_not_for_ever(self, embedded: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
        run = Run.create(embedded, VIEW, "r", RANDOM)
        run.refresh()

        def gone(*args: object, **kwargs: object) -> object:
            raise StoreUnavailable("gone")

        monkeypatch.setattr("graphbo.runs.run.RECONNECT_SECONDS", 0.05)
        monkeypatch.setattr(SqliteLog, "read_news", gone)
        with pytest.raises(StoreUnavailable):
            run.refresh()


@pytest.mark.neo4j
@pytest.mark.parametrize("strategy", ["bayes", "random"])
def test_alone_with_its_run_a_worker_asks_and_tells_in_two_trips_each(
    neo4j_backend: Neo4jBackend, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a worker believes has to be what the database gives back, to the last digit."""
    options = {"initial": 3} if strategy == "bayes" else {}
    settings = RunSettings(strategy=strategy, options=options, seed=4, budget=9)
    trips: list[tuple[str, int]] = []
    with (
        wire_to(neo4j_backend.uri, 0.0) as wire,
        open_store(replace(neo4j_backend.address, uri=wire.uri)) as store,
    ):
        fill(store)
        run = Run.create(store, VIEW, "alone", settings)
        run.refresh()
        # Trips for the graph are not counted: how many it takes to find a random node is chance.
        for question in ("transact", "read_news"):
            monkeypatch.setattr(Neo4jLog, question, counting(question, wire, trips))
        for _ in range(8):
            pending = got(run.ask(lease=60.0))
            run.tell(int(pending.key) % 7 / 3, step=pending.step, token=pending.token)
    assert trips == [("transact", 2)] * 16


def counting(request: str, wire: Wire, trips: list[tuple[str, int]]) -> Callable[..., object]:
    """The same request, that writes down how often it went over the wire."""
    inner: Callable[..., object] = getattr(Neo4jLog, request)

    def counted(*args: object, **options: object) -> object:
        wire.reset()
        answer = inner(*args, **options)
        trips.append((request, wire.trips))
        return answer

    return counted


def test_a_run_is_the_same_on_the_same_store_twice(filled: GraphStore, backend: Backend) -> None:
    histories = []
    for name in ("one", "two"):
        run = Run.create(filled, VIEW, name, RunSettings(options={"initial": 3}, seed=4, budget=8))
        advance(run, 8)
        histories.append([(one.key, one.value) for one in run.history])
    assert histories[0] == histories[1]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"seed": 2**63}, "the seed is "),
        ({"seed": -1}, "the seed is "),
        ({"budget": 10**30}, "the budget is 1"),
        ({"noise": float("inf")}, "the noise is inf"),
        ({"noise": float("nan")}, "the noise is nan"),
        ({"noise": 1e151}, "the noise is 1e"),
    ],
)
def test_settings_that_no_database_holds(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(RunError, match=message):
        RunSettings(**settings)


@pytest.mark.parametrize("lease", [-1.0, 1e300, float("inf"), float("nan")])
def test_leases_that_nobody_can_hold(embedded: GraphStore, lease: float) -> None:
    run = Run.create(embedded, VIEW, "short", RANDOM)
    with pytest.raises(RunError, match="the lease is"):
        run.ask(lease=lease)
    assert run.record.steps == 0


def test_settings_at_the_ends_of_their_ranges(filled: GraphStore) -> None:
    settings = replace(RANDOM, seed=2**63 - 1, budget=2**63 - 1, noise=1e150, prefix="mine")
    run = Run.create(filled, VIEW, "n" * 200, settings)
    pending = got(run.ask(lease=1e9))
    run.tell(1.7e308, step=pending.step)
    assert RunSettings.of(runs_in(filled).get(run.name)) == settings
