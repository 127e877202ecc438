"""What people do by hand, the same on every store: nodes are left alone, values retracted, answers collected."""

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from graphbo.errors import NoSuchNode, NotAsked, RunError
from graphbo.runs import Run, RunSettings
from graphbo.runs.records import PLAIN_SCHEMA, SCHEMA
from graphbo.runs.registry import runs_in
from graphbo.stores import GraphStore
from graphbo.types import NodeKey, View
from tests.backends import Backend, Neo4jBackend, SqliteBackend, on_sqlite

VIEW = View(("N",), ("R",), key="id")
SIZE = 12


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    store.create_key(VIEW)
    store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(SIZE - 1)])
    return store


@pytest.fixture
def run(filled: GraphStore) -> Run:
    return begin(filled)


def begin(store: GraphStore, **settings: Any) -> Run:
    return Run.create(store, VIEW, "search", RunSettings(strategy="random", **settings))


def another(run: Run) -> Run:
    """The same run as somebody else sees it."""
    other = Run.open(run.store, "search")
    other.refresh()
    return other


def measured(run: Run, value: float) -> NodeKey:
    pending = run.ask().pending
    assert pending is not None
    run.tell(value, step=pending.step)
    return pending.key


def set_on(backend: Backend, key: NodeKey, **properties: object) -> None:
    """Set properties of a node behind graphbo's back, as Browser or any other program does; None removes."""
    if isinstance(backend, Neo4jBackend):
        backend.run("MATCH (n:N {id: $key}) SET n += $all", key=key, all=properties)
        return
    assert isinstance(backend, SqliteBackend)
    with closing(sqlite3.connect(backend.path)) as connection, connection:
        (text,) = connection.execute("SELECT properties FROM node WHERE key = ?", (key,)).fetchone()
        changed = json.loads(text) | properties
        kept = {name: value for name, value in changed.items() if value is not None}
        connection.execute("UPDATE node SET properties = ? WHERE key = ?", (json.dumps(kept), key))


def shown(run: Run, key: NodeKey) -> dict[str, object]:
    return run.store.properties(VIEW, [key])[key]


class TestLeavingAlone:
    def test_nodes_are_never_proposed_and_others_hear_of_it(self, run: Run) -> None:
        measured(run, 1.0)
        worker = another(run)
        done = run.exclude(range(1, SIZE), reason="no access", by="ann")
        left = {key for key in range(SIZE) if key not in done.keys}
        assert len(done.keys) == SIZE - 1
        assert [(one.by, one.reason) for one in run.excluded] == [("ann", "no access")] * (SIZE - 1)
        assert all(one.at for one in run.excluded)
        # The other one was under way: what it believes of the run is old.
        asked = worker.ask()
        found = {asked.pending.key} if asked.pending else set()
        assert found <= left
        assert {one.key for one in worker.excluded} == set(range(1, SIZE))
        if asked.pending:
            worker.tell(2.0, step=asked.pending.step)
        assert worker.ask().why_not == "exhausted"
        assert (worker.record.steps, worker.record.schema) == (1 + len(found), SCHEMA)
        # What is excluded already is so no more than once.
        assert run.exclude([1]).keys == ()
        assert worker.include([3, 5]) == (3, 5)
        assert run.ask().pending is not None
        assert len(run.excluded) == SIZE - 3

    def test_a_node_that_waits_for_a_person_is_given_back(self, run: Run) -> None:
        pending = run.ask().pending
        assert pending is not None
        done = run.exclude([pending.key])
        assert [one.step for one in done.released] == [pending.step]
        assert done.awaited == run.pending == ()
        assert run.record.evaluations == 0
        with pytest.raises(RunError, match="is excluded from the run 'search': include it"):
            run.ask_for(pending.key)

    def test_what_a_worker_evaluates_is_still_recorded(self, run: Run) -> None:
        worker = another(run)
        pending = worker.ask(lease=60).pending
        assert pending is not None
        done = run.exclude([pending.key])
        assert [one.step for one in done.awaited] == [pending.step]
        assert done.released == ()
        told = worker.tell(3.0, step=pending.step, token=pending.token)
        assert told.outcome == "recorded"
        assert another(run).record.best_value == 3.0

    def test_what_a_dead_worker_has_left_is_not_taken_over(self, run: Run) -> None:
        worker = another(run)
        pending = worker.ask(lease=60).pending
        assert pending is not None
        run.exclude([pending.key])
        worker.leave([pending.token])
        asked = run.ask()
        assert asked.pending is not None
        assert asked.pending.key != pending.key
        assert [one.key for one in another(run).pending] == [asked.pending.key]

    def test_cleaning_leaves_no_trace(self, filled: GraphStore, backend: Backend) -> None:
        before = backend.dump()
        run = begin(filled)
        measured(run, 1.0)
        run.exclude([0, 1, 2])
        run.retract(step=1)
        runs_in(filled).clean("search")
        assert backend.dump() == before

    @on_sqlite
    def test_all_or_none(self, run: Run) -> None:
        with pytest.raises(NoSuchNode, match="no node has the key 99: nothing was changed"):
            run.exclude([1, 99])
        assert run.excluded == ()
        run.exclude([1])
        with pytest.raises(RunError, match="2 is not excluded"):
            run.include([1, 2])
        assert [one.key for one in another(run).excluded] == [1]

    @on_sqlite
    def test_a_run_without_is_as_it_was(self, run: Run) -> None:
        measured(run, 1.0)
        assert runs_in(run.store).get("search").schema == PLAIN_SCHEMA


class TestAskingForMore:
    def test_several_at_once(self, run: Run) -> None:
        asked = run.ask_many(3, token="mine")
        assert len({one.key for one in asked.pending}) == 3
        assert asked.why_not == ""
        # The same request again gets the same nodes.
        assert [one.step for one in another(run).ask_many(3, token="mine").pending] == [1, 2, 3]

    @on_sqlite
    def test_no_more_than_the_budget_has(self, filled: GraphStore) -> None:
        asked = begin(filled, budget=2).ask_many(5)
        assert (len(asked.pending), asked.why_not) == (2, "budget")

    def test_a_node_that_somebody_names(self, run: Run) -> None:
        first = measured(run, 1.0)
        key = next(one for one in range(SIZE) if one != first)
        pending = run.ask_for(key)
        assert (pending.key, pending.step, pending.proposal.phase) == (key, 2, "chosen")
        for refused, why in ((key, "is pending already"), (first, "has the value 1.0 already")):
            with pytest.raises(RunError, match=why):
                run.ask_for(refused)
        with pytest.raises(NoSuchNode):
            run.ask_for("nobody")
        assert run.tell(5.0, key=key).observation.phase == "chosen"


class TestRetracting:
    def test_a_value_counts_no_more_and_stays_on_record(self, run: Run, backend: Backend) -> None:
        first, best = measured(run, 1.0), measured(run, 9.0)
        worker = another(run)
        retracted = run.retract(key=best, reason="it was another house")
        assert (retracted.step, retracted.value) == (2, 9.0)
        record = another(run).record
        assert (record.told, record.best_step, record.best_value) == (1, 1, 1.0)
        assert record.schema == SCHEMA
        (kept,) = run.retracted()
        assert (kept.observation.value, kept.reason, kept.at > "2") == (
            9.0,
            "it was another house",
            True,
        )
        assert run.retried() == []
        assert shown(run, best) == {"id": best}
        if isinstance(backend, Neo4jBackend):
            labelled = backend.run("MATCH (n:GraphboBest) RETURN n.id AS id")
            assert [row["id"] for row in labelled] == [first]
        # The node may be asked for again, also by those who knew its value.
        assert worker.ask_for(best).step == 3
        assert worker.tell(4.0, step=3).outcome == "recorded"
        assert [(one.step, one.value) for one in another(run).history] == [(1, 1.0), (3, 4.0)]
        assert shown(run, best)["graphboValue"] == 4.0

    def test_the_only_value(self, filled: GraphStore) -> None:
        run = begin(filled, budget=1)
        measured(run, 1.0)
        assert another(run).record.state == "finished"
        run.retract(step=1)
        record = another(run).record
        assert (record.state, record.best_value, record.left) == ("stopped", None, 1)

    def test_known_values_too_and_no_step_is_given_twice(self, run: Run) -> None:
        run.tell_known({1: 1.0, 2: 2.0})
        assert run.retract(key=1).step == -1
        run.tell_known({1: 5.0, 3: 3.0})
        assert sorted(one.step for one in another(run).history) == [-4, -3, -2]
        assert another(run).record.warm == 3

    @on_sqlite
    def test_what_cannot_be_retracted(self, run: Run) -> None:
        pending = run.ask().pending
        assert pending is not None
        with pytest.raises(NotAsked, match=r"nothing was told for .* yet: it is pending"):
            run.retract(key=pending.key)
        run.tell(None, step=1, error="no")
        with pytest.raises(RunError, match="has failed, and no value to retract: retry it"):
            run.retract(step=1)
        with pytest.raises(NotAsked, match="nobody asked for step 7"):
            run.retract(step=7)


class TestNotes:
    def test_on_what_is_pending_and_what_was_told(self, run: Run) -> None:
        pending = run.ask().pending
        assert pending is not None
        run.note("ring twice", key=pending.key)
        assert run.pending[0].note == "ring twice"
        other = another(run)
        assert run.tell(1.0, step=1).observation.note == "ring twice"
        other.refresh()
        run.note("dog", step=1)
        other.refresh()
        assert [one.note for one in other.history] == ["dog"]
        run.note(None, step=1)
        assert [one.note for one in run.history] == [None]
        with pytest.raises(NotAsked):
            run.note("who", key=99)


class TestCollecting:
    def test_answers_are_told_and_taken_off(self, run: Run, backend: Backend) -> None:
        one, two, three = run.ask_many(3).pending
        set_on(backend, one.key, graphboAnswer=3)
        set_on(backend, two.key, graphboAnswer="failed: not at home")
        set_on(backend, three.key, graphboAnswer="3,5")
        worker = another(run)
        collected = run.collect()
        assert [told.observation.value for told in collected.told] == [3.0, None]
        (refused,) = collected.refused
        assert refused.reason == "'3,5' is not a number: write it with a point, like 3.5"
        assert shown(run, one.key)["graphboValue"] == 3.0
        assert "graphboAnswer" not in shown(run, one.key)
        assert shown(run, two.key) == {"id": two.key}
        assert shown(run, three.key) == {
            "id": three.key,
            "graphboAnswer": "3,5",
            "graphboAnswerError": refused.reason,
        }
        assert [found.error for found in run.history] == [None, "not at home"]
        # Said once.
        assert run.collect().refused == ()
        set_on(backend, three.key, graphboAnswer="3.5")
        # Any worker does it, as it asks.
        assert worker.ask().pending is not None
        assert [told.value for told in worker.history] == [3.0, None, 3.5]
        assert shown(run, three.key).keys() == {"id", "graphboValue", "graphboStep"}

    def test_an_answer_beside_what_a_worker_tells(self, run: Run, backend: Backend) -> None:
        one, two = run.ask_many(2, lease=60).pending
        set_on(backend, one.key, graphboAnswer=3.5)
        set_on(backend, two.key, graphboAnswer=4.5)
        assert run.tell(1.0, step=1, token=one.token).observation.value == 1.0
        # A failure is no reason to lose a value.
        told = run.tell(None, step=2, token=two.token, error="crashed").observation
        assert (told.value, told.error) == (4.5, "crashed")
        for key in (one.key, two.key):
            assert "graphboAnswer" not in shown(run, key)
        assert another(run).record.told == 2

    def test_an_answer_that_was_removed_leaves_nothing_said(
        self, run: Run, backend: Backend
    ) -> None:
        pending = run.ask().pending
        assert pending is not None
        set_on(backend, pending.key, graphboAnswer=True)
        assert len(run.collect().refused) == 1
        set_on(backend, pending.key, graphboAnswer=None)
        run.collect()
        assert shown(run, pending.key) == {"id": pending.key}

    def test_who_gives_a_node_back_does_not_lose_an_answer(
        self, run: Run, backend: Backend
    ) -> None:
        pending = run.ask().pending
        assert pending is not None
        set_on(backend, pending.key, graphboAnswer=1.5)
        with pytest.raises(RunError, match=r"has the answer 1.5 in the database: collect it"):
            run.release(step=1)
        assert run.exclude([pending.key]).released == ()
        set_on(backend, pending.key, graphboAnswer="dunno")
        run.collect()
        run.release(step=1)
        assert shown(run, pending.key) == {"id": pending.key}

    def test_the_names_belong_to_the_run(self, filled: GraphStore, backend: Backend) -> None:
        before = backend.dump()
        run = begin(filled)
        one, two = run.ask_many(2).pending
        set_on(backend, one.key, graphboAnswer="what?")
        set_on(backend, two.key, graphboAnswer=2.5)
        run.change_prefix("mine")
        run.refresh()
        assert shown(run, one.key) == {"id": one.key, "mineAnswer": "what?"}
        assert "mineAnswer" not in run.properties(one.key)
        assert [told.observation.value for told in run.collect().told] == [2.5]
        assert "mineAnswerError" in shown(run, one.key)
        runs_in(filled).clean("search")
        assert backend.dump() == before

    def test_a_node_that_has_such_a_property_of_its_own_is_not_handed_out(
        self, run: Run, backend: Backend
    ) -> None:
        set_on(backend, 3, graphboAnswer=1)
        with pytest.raises(RunError, match="the node 3 has 'graphboAnswer' of its own"):
            run.ask_for(3)
        assert run.pending == ()
