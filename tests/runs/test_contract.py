"""Asking and telling, the same on every store: nothing is lost, nothing is handed out twice."""

import json
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from benchmarks._wire import wire_to
from graphbo import __version__
from graphbo.errors import (
    InvalidName,
    NoSuchNode,
    NoSuchRun,
    NotAsked,
    PrefixTaken,
    RunDamaged,
    RunExists,
    ValueConflict,
)
from graphbo.runs import Run
from graphbo.runs.records import AskAnswer, News, RunRecord
from graphbo.runs.registry import runs_in
from graphbo.stores import GraphStore, open_store
from graphbo.stores.neo4j.statements import statement
from graphbo.types import Candidate, NodeKey, Pending, Proposal, View
from tests.backends import Backend, Neo4jBackend, SqliteBackend, on_sqlite
from tests.runs.support import hand_out, news_in, tell

VIEW = View(("N",), ("R",), key="id")
RECORD = RunRecord(
    "search",
    True,
    VIEW,
    {"strategy": "bayes", "nested": {"size": 100}},
    seed=7,
    prefix="",
    budget=5,
)


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    store.create_key(VIEW)
    store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(40)])
    return store


def proposal(*keys: NodeKey) -> Proposal:
    candidates = tuple(Candidate(key, 1.5, 0.5, -2.0) for key in keys)
    return Proposal(candidates, "model", restart=2, modelled=(1, 2), theta=(0.1,))


def ask(
    store: GraphStore,
    *keys: NodeKey,
    token: str = "t",
    lease: float | None = None,
    adopt: tuple[str, ...] = (),
    worker: str = "me",
) -> AskAnswer:
    return hand_out(store, proposal(*keys), token=token, worker=worker, lease=lease, adopt=adopt)


def got(answer: AskAnswer) -> Pending:
    assert answer.pending is not None, answer
    return answer.pending


def late_values(backend: Backend) -> list[float]:
    """What was kept beside the first step of the run, as somebody who looks into the database finds it."""
    if isinstance(backend, Neo4jBackend):
        text = "MATCH (:GraphboRun)-[r {step: 1}]->() RETURN r.late AS late"
        (row,) = backend.run(text)
        return list(row["late"])
    assert isinstance(backend, SqliteBackend)
    with closing(sqlite3.connect(backend.path)) as connection:
        (text,) = connection.execute("SELECT properties FROM event WHERE step = 1").fetchone()
    return list(json.loads(text)["late"])


class TestCreating:
    def test_a_run_comes_back_as_it_was_created(self, filled: GraphStore) -> None:
        created = runs_in(filled).create(RECORD)
        assert created.started_at
        assert created.written_by == __version__
        plain = replace(created, started_at="", updated_at="", written_by="")
        assert plain == replace(RECORD, prefix="graphbo")
        assert runs_in(filled).get("search") == created
        assert runs_in(filled).all() == [created]
        assert runs_in(filled).find("other") is None

    def test_names_are_unique(self, filled: GraphStore) -> None:
        runs_in(filled).create(RECORD)
        with pytest.raises(RunExists, match="'search'"):
            runs_in(filled).create(RECORD)

    def test_prefixes_belong_to_one_run(self, filled: GraphStore) -> None:
        runs_in(filled).create(RECORD)
        assert runs_in(filled).create(replace(RECORD, name="second")).prefix == "graphbo2"
        with pytest.raises(PrefixTaken, match="'search'"):
            runs_in(filled).create(replace(RECORD, name="third", prefix="graphbo"))
        assert [run.name for run in runs_in(filled).all()] == ["search", "second"]

    @pytest.mark.parametrize(
        "bad", ["a`b", r"\u0060", "a b", "x" * 20_000, "a\0", "1", "a;b", "🚉", "a\nb"]
    )
    @on_sqlite
    def test_a_prefix_is_a_word(self, filled: GraphStore, backend: Backend, bad: str) -> None:
        before = backend.dump()
        with pytest.raises(InvalidName):
            runs_in(filled).create(replace(RECORD, prefix=bad))
        assert backend.dump() == before

    def test_a_name_may_be_anything(self, filled: GraphStore) -> None:
        for odd in ("a`b'\"; DROP", "🚉 <script>", "two\nlines"):
            runs_in(filled).create(replace(RECORD, name=odd))
            assert runs_in(filled).get(odd).name == odd

    def test_a_missing_run_is_an_error_that_lists_those_there_are(self, filled: GraphStore) -> None:
        with pytest.raises(NoSuchRun, match="none yet"):
            ask(filled, 1)
        runs_in(filled).create(replace(RECORD, name="other"))
        for call in (
            lambda: runs_in(filled).get("search"),
            lambda: news_in(filled),
            lambda: tell(filled, 1.0, step=1),
            lambda: Run.open(filled, "search").tell_known({1: 1.0}),
            lambda: Run.open(filled, "search").release(step=1),
            lambda: runs_in(filled).clean("search"),
        ):
            with pytest.raises(NoSuchRun, match="'other'"):
                call()


class TestAsking:
    @pytest.fixture(autouse=True)
    def run(self, filled: GraphStore) -> None:
        runs_in(filled).create(RECORD)

    def test_gives_the_first_free_candidate_and_counts_steps(self, filled: GraphStore) -> None:
        first = ask(filled, 3, 4, token="a")
        second = ask(filled, 3, 4, 5, token="b")
        assert (got(first).key, got(first).step) == (3, 1)
        assert (got(second).key, got(second).step) == (4, 2)
        assert first.outcome == second.outcome == "new"
        assert ask(filled, 3, 4, token="c").outcome == "taken"
        assert runs_in(filled).get("search").pending == 2

    def test_what_was_believed_is_kept(self, filled: GraphStore) -> None:
        ask(filled, 3)
        (pending,) = news_in(filled).pending
        assert pending.candidate == Candidate(3, 1.5, 0.5, -2.0)
        assert pending.proposal.restart == 2
        assert pending.proposal.modelled == (1, 2)
        tell(filled, 1.0, step=1)
        (observation,) = news_in(filled).observations
        assert (observation.mean, observation.std, observation.acquisition) == (1.5, 0.5, -2.0)
        assert (observation.restart, observation.phase) == (2, "model")
        assert (observation.modelled, observation.theta) == ((1, 2), (0.1,))
        assert observation.at

    def test_a_repeated_request_gets_the_same_answer(self, filled: GraphStore) -> None:
        first = ask(filled, 3, token="same")
        again = ask(filled, 9, token="same")
        assert again.outcome == "repeated"
        assert got(again).key == got(first).key
        assert runs_in(filled).get("search").steps == 1

    def test_the_budget_counts_what_is_pending(self, filled: GraphStore) -> None:
        for number in range(5):
            ask(filled, number, token=str(number))
        assert ask(filled, 9, token="x").outcome == "budget"
        tell(filled, 1.0, step=1)
        tell(filled, None, error="no", step=2)
        assert ask(filled, 9, token="x").outcome == "budget"
        Run.open(filled, "search").release(step=3)
        assert ask(filled, 9, token="x").outcome == "new"
        runs_in(filled).change("search", budget=6)
        assert ask(filled, 10, token="y").outcome == "new"

    def test_a_stopped_run_hands_out_nothing(self, filled: GraphStore) -> None:
        runs_in(filled).change("search", state="stopped")
        assert ask(filled, 1).outcome == "ended"
        runs_in(filled).change("search", state="running")
        assert ask(filled, 1).outcome == "new"

    def test_an_expired_lease_is_taken_over(self, filled: GraphStore) -> None:
        ask(filled, 3, token="dead", lease=0.05)
        time.sleep(0.1)
        answer = ask(filled, 9, token="alive", lease=60.0, worker="other")
        assert answer.outcome == "taken over"
        assert (got(answer).key, got(answer).step, got(answer).worker) == (3, 1, "other")
        assert got(ask(filled, 9, token="next")).key == 9

    def test_a_renewed_lease_is_not(self, filled: GraphStore) -> None:
        ask(filled, 3, token="slow", lease=0.05)
        assert filled.log.renew("search", ["slow", "unknown"], 60.0) == [1]
        time.sleep(0.1)
        assert ask(filled, 9, token="alive").outcome == "new"
        (pending, _) = news_in(filled).pending
        assert pending.lease_left is not None
        assert 50 < pending.lease_left <= 60

    def test_by_hand_there_is_no_lease(self, filled: GraphStore) -> None:
        ask(filled, 3, token="hand", lease=None)
        assert ask(filled, 9, token="other").outcome == "new"

    def test_the_dead_are_named(self, filled: GraphStore) -> None:
        ask(filled, 3, token="dead", lease=1000.0)
        answer = ask(filled, 9, token="heir", adopt=("dead",))
        assert answer.outcome == "taken over"
        assert got(answer).key == 3

    def test_nobody_gets_what_another_has(self, filled: GraphStore, backend: Backend) -> None:
        runs_in(filled).change("search", budget=1000)
        given: list[Pending] = []

        def worker(name: int) -> None:
            with backend.open() as store:
                for round_ in range(5):
                    answer = ask(store, *range(40), token=f"{name}-{round_}", worker=str(name))
                    given.append(got(answer))
                    if round_ % 2:
                        tell(store, 1.0, step=got(answer).step)

        threads = [threading.Thread(target=worker, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(given) == 30
        assert {pending.step for pending in given} == set(range(1, 31))
        assert len({pending.key for pending in given}) == 30
        news = news_in(filled)
        assert [one.seq for one in news.observations] == list(range(1, 13))
        assert len(news.pending) == 18


class TestTelling:
    @pytest.fixture(autouse=True)
    def run(self, filled: GraphStore) -> None:
        runs_in(filled).create(RECORD)
        for number, key in enumerate((10, 11, 12)):
            ask(filled, key, token=f"t{number + 1}")

    def test_records_in_the_order_of_telling(self, filled: GraphStore) -> None:
        tell(filled, 2.0, step=3)
        told = tell(filled, 5.0, key=10)
        assert told.outcome == "recorded"
        assert (told.observation.step, told.observation.seq) == (1, 2)
        news = news_in(filled)
        assert [(one.step, one.seq, one.key, one.value) for one in news.observations] == [
            (3, 1, 12, 2.0),
            (1, 2, 10, 5.0),
        ]
        assert (news.record.told, news.record.pending, news.record.best_value) == (2, 1, 5.0)
        assert told.news.record == replace(news.record, updated_at=told.news.record.updated_at)

    def test_who_tells_learns_when_the_database_wrote_it(self, filled: GraphStore) -> None:
        news = news_in(filled)
        told = [
            tell(filled, 2.0, step=1),
            tell(filled, None, error="broken", step=2, since=1),
            tell(filled, 2.0, step=1, since=2),
        ]
        assert [one.outcome for one in told] == ["recorded", "recorded", "repeated"]
        found = news_in(filled).observations
        assert [one.observation for one in told] == [found[0], found[1], found[0]]
        assert told[1].news.observations == found[1:]
        assert all(datetime.fromisoformat(one.at) for one in found)
        # Also where it was guessed what would be written.
        believed = replace(
            news, record=runs_in(filled).get("search"), pending=news.pending[2:], observations=()
        )
        last = tell(filled, 3.0, step=3, since=2, believed=believed)
        assert (last.observation,) == news_in(filled, since=2).observations

    def test_only_what_is_new_is_told_back(self, filled: GraphStore) -> None:
        tell(filled, 2.0, step=3)
        told = tell(filled, 3.0, step=2, since=1)
        assert [one.seq for one in told.news.observations] == [2]
        assert [one.seq for one in news_in(filled, since=1).observations] == [2]

    def test_the_node_shows_it(self, filled: GraphStore) -> None:
        tell(filled, 2.5, step=1)
        assert filled.properties(VIEW, [10])[10] == {
            "id": 10,
            "graphboValue": 2.5,
            "graphboStep": 1,
            "graphboMean": 1.5,
            "graphboStd": 0.5,
            "graphboAcquisition": -2.0,
        }

    def test_a_failure_counts_and_is_never_best(self, filled: GraphStore) -> None:
        told = tell(filled, None, error="out of order", attempts=3, step=1)
        assert told.observation.failed
        (observation,) = news_in(filled).observations
        assert (observation.error, observation.value) == ("out of order", None)
        record = runs_in(filled).get("search")
        assert (record.failed, record.told, record.best_step) == (1, 0, None)
        assert "graphboValue" not in filled.properties(VIEW, [10])[10]

    def test_the_same_value_again_is_nothing_new(
        self, filled: GraphStore, backend: Backend
    ) -> None:
        tell(filled, 2.0, step=1)
        before = news_in(filled).observations
        assert tell(filled, 2.0, step=1).outcome == "repeated"
        assert tell(filled, 2.0, key=10).outcome == "repeated"
        assert tell(filled, 2.0, step=1, token="t1").outcome == "repeated"
        assert news_in(filled).observations == before

    def test_another_value_is_refused(self, filled: GraphStore) -> None:
        tell(filled, 2.0, step=1)
        with pytest.raises(ValueConflict, match="amend it to replace it"):
            tell(filled, 3.0, step=1)
        (observation,) = news_in(filled).observations
        assert observation.value == 2.0

    def test_unless_it_amends(self, filled: GraphStore) -> None:
        tell(filled, 9.0, step=1)
        tell(filled, 5.0, step=2)
        told = tell(filled, 3.0, step=1, amend=True, since=2)
        assert told.outcome == "amended"
        assert [one.value for one in told.news.observations] == [3.0, 5.0]
        record = runs_in(filled).get("search")
        assert (record.best_step, record.best_value, record.amended) == (2, 5.0, 1)
        assert filled.properties(VIEW, [10])[10]["graphboValue"] == 3.0

    def test_a_late_worker_is_no_error(self, filled: GraphStore) -> None:
        tell(filled, 2.0, step=1, token="heir")
        told = tell(filled, 3.0, step=1, token="t1")
        assert told.outcome == "late"
        assert told.observation.value == 2.0
        assert tell(filled, None, error="x", step=1, token="t1").outcome == "repeated"
        assert len(news_in(filled).observations) == 1

    @pytest.mark.parametrize("first", [2.0, None])
    def test_a_late_value_is_kept_beside_what_was_told_first(
        self, filled: GraphStore, backend: Backend, first: float | None
    ) -> None:
        tell(filled, first, error="no", step=1, token="heir")
        before = runs_in(filled).get("search")
        for value in (3.0, 4.0, 3.0):
            told = tell(filled, value, step=1, token="t1")
            assert (told.outcome, told.observation.value) == ("late", first)
        assert late_values(backend) == [3.0, 4.0]
        (observation,) = news_in(filled).observations
        assert (observation.value, observation.failed) == (first, first is None)
        after = runs_in(filled).get("search")
        assert replace(after, updated_at="") == replace(before, updated_at="")

    def test_what_nobody_asked_for_is_an_error_that_says_what_is_pending(
        self, filled: GraphStore
    ) -> None:
        with pytest.raises(NotAsked, match=r"step 77: pending are 1 \(10\)"):
            tell(filled, 1.0, step=77)
        with pytest.raises(NotAsked, match="30"):
            tell(filled, 1.0, key=30)
        with pytest.raises(NotAsked):
            Run.open(filled, "search").release(key=30)

    def test_a_released_node_may_be_asked_for_again(self, filled: GraphStore) -> None:
        assert Run.open(filled, "search").release(key=11).step == 2
        assert got(ask(filled, 11, token="again")).step == 4

    def test_known_values_cost_nothing_and_count_once(self, filled: GraphStore) -> None:
        assert Run.open(filled, "search").tell_known({20: 1.0, 21: 8.0, 10: 3.0}) == 2
        assert Run.open(filled, "search").tell_known({20: 1.0, 21: 9.0, 22: 2.0}) == 1
        record = runs_in(filled).get("search")
        assert (record.warm, record.evaluations, record.seq, record.best_value) == (3, 0, 3, 8.0)
        observations = news_in(filled).observations
        assert [(one.key, one.value, one.source, one.step) for one in observations] == [
            (20, 1.0, "warm", -1),
            (21, 8.0, "warm", -2),
            (22, 2.0, "warm", -3),
        ]
        assert ask(filled, 20, 21, 22, token="x").outcome == "taken"

    def test_a_known_value_of_no_node_is_refused_with_all_the_others(
        self, filled: GraphStore
    ) -> None:
        with pytest.raises(NoSuchNode, match="'nobody'"):
            Run.open(filled, "search").tell_known({20: 1.0, "nobody": 8.0})
        assert runs_in(filled).get("search").warm == 0

    def test_many_known_values_of_which_the_run_has_some(self, filled: GraphStore) -> None:
        filled.write_relationships(VIEW, [(i, i + 1, {}) for i in range(40, 1000)])
        # 10, 11 and 12 are being measured.
        values: dict[NodeKey, float] = {key: float(key) for key in range(1000)}
        assert Run.open(filled, "search").tell_known(dict.fromkeys(range(300), 0.5)) == 297
        assert Run.open(filled, "search").tell_known(values) == 700
        observations = news_in(filled).observations
        assert [one.key for one in observations if one.value == 0.5] == [
            key for key in range(300) if key not in (10, 11, 12)
        ]
        assert [one.key for one in observations if one.value != 0.5] == list(range(300, 1000))

    def test_what_was_told_of_a_node_goes_with_it(
        self, filled: GraphStore, backend: Backend
    ) -> None:
        tell(filled, 1.0, step=1)
        tell(filled, 2.0, step=2)
        backend.delete_nodes("N", [10, 12])
        news = news_in(filled)
        assert [(one.seq, one.key, one.value) for one in news.observations] == [(2, 11, 2.0)]
        assert (news.pending, news.record.pending, runs_in(filled).get("search").pending) == (
            (),
            0,
            0,
        )
        with pytest.raises(NotAsked):
            tell(filled, 1.0, step=3)
        # The run goes on.
        assert got(ask(filled, 10, 11, 13, token="next")).key == 13
        assert tell(filled, 3.0, key=13).observation.seq == 3
        runs_in(filled).clean("search")


class TestGuessing:
    """Whoever thinks to know how a run stands is quicker if that is true; what comes of it is always the same."""

    @pytest.fixture(autouse=True)
    def run(self, filled: GraphStore) -> None:
        runs_in(filled).create(RECORD)

    def ask(self, store: GraphStore, believed: News, *keys: NodeKey, token: str) -> AskAnswer:
        return hand_out(
            store,
            proposal(*keys),
            token=token,
            worker="me",
            lease=60.0,
            since=believed.record.seq,
            believed=believed,
        )

    def test_a_run_that_is_as_believed(self, filled: GraphStore) -> None:
        news = news_in(filled)
        for number, key in enumerate((10, 11, 12), start=1):
            answer = self.ask(filled, news, key, 30, token=f"t{number}")
            assert (answer.outcome, got(answer).key, got(answer).step) == ("new", key, number)
            news = news_in(filled, since=news.record.seq)
            told = tell(
                filled,
                -float(number),
                step=number,
                token=f"t{number}",
                since=news.record.seq,
                believed=news,
            )
            assert (told.outcome, told.observation.seq) == ("recorded", number)
            news = told.news
        found = news_in(filled)
        assert [(one.seq, one.key, one.value) for one in found.observations] == [
            (1, 10, -1.0),
            (2, 11, -2.0),
            (3, 12, -3.0),
        ]
        assert replace(found.record, updated_at="") == replace(told.news.record, updated_at="")
        assert (found.record.best_step, found.record.best_value) == (1, -1.0)
        assert filled.properties(VIEW, [12])[12]["graphboValue"] == -3.0

    def test_the_first_candidate_is_taken(self, filled: GraphStore) -> None:
        news = news_in(filled)
        ask(filled, 10, token="other", worker="other")
        answer = self.ask(filled, news, 10, 11, token="mine")
        assert (answer.outcome, got(answer).key, got(answer).step) == ("new", 11, 2)

    def test_somebody_else_has_asked(self, filled: GraphStore) -> None:
        news = news_in(filled)
        ask(filled, 10, token="other", worker="other")
        answer = self.ask(filled, news, 11, token="mine")
        assert (got(answer).key, got(answer).step) == (11, 2)
        assert [one.step for one in news_in(filled).pending] == [1, 2]

    def test_somebody_else_has_told(self, filled: GraphStore) -> None:
        ask(filled, 10, token="other", worker="other")
        mine = got(ask(filled, 11, token="mine"))
        news = news_in(filled)
        tell(filled, 9.0, step=1)
        told = tell(filled, 1.0, step=mine.step, token="mine", believed=news)
        assert told.observation.seq == 2
        assert [one.value for one in told.news.observations] == [9.0, 1.0]
        record = runs_in(filled).get("search")
        assert (record.best_step, record.told, record.seq) == (1, 2, 2)

    @pytest.mark.parametrize(("change", "outcome"), [("stop", "ended"), ("budget", "budget")])
    def test_the_run_has_ended(
        self, filled: GraphStore, backend: Backend, change: str, outcome: str
    ) -> None:
        news = news_in(filled)
        if change == "stop":
            runs_in(filled).change("search", state="stopped")
        else:
            runs_in(filled).change("search", budget=0)
        answer = self.ask(filled, news, 10, token="mine")
        assert (answer.outcome, answer.pending) == (outcome, None)
        after = runs_in(filled).get("search")
        assert (after.steps, after.pending) == (0, 0)
        assert filled.properties(VIEW, [10])[10] == {"id": 10}

    def test_an_abandoned_node_comes_first(self, filled: GraphStore) -> None:
        news = news_in(filled)
        ask(filled, 10, token="dead", worker="dead", lease=0.0)
        time.sleep(0.01)
        answer = self.ask(filled, news, 11, token="mine")
        assert (answer.outcome, got(answer).key, got(answer).step) == ("taken over", 10, 1)
        assert runs_in(filled).get("search").steps == 1

    def test_a_repeated_request_gets_the_same_answer(self, filled: GraphStore) -> None:
        news = news_in(filled)
        for outcome in ("new", "repeated"):
            answer = self.ask(filled, news, 10, token="same")
            assert (answer.outcome, got(answer).key, got(answer).step) == (outcome, 10, 1)
        news = news_in(filled)
        for outcome in ("recorded", "repeated"):
            told = tell(filled, 1.0, step=1, token="same", believed=news)
            assert told.outcome == outcome
        assert runs_in(filled).get("search").told == 1


@pytest.mark.neo4j
def test_a_right_guess_halves_the_trips(neo4j_backend: Neo4jBackend) -> None:
    with (
        wire_to(neo4j_backend.uri, 0.0) as wire,
        open_store(replace(neo4j_backend.address, uri=wire.uri)) as store,
    ):
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(9)])
        runs_in(store).create(RECORD)
        trips = {}
        for guessing in (True, False):
            believed = news_in(store)
            wire.reset()
            answer = hand_out(
                store,
                proposal(3 + guessing),
                token=f"{guessing}",
                worker="me",
                lease=60.0,
                view=VIEW,
                believed=believed if guessing else None,
            )
            asking = wire.trips
            believed = replace(believed, pending=(got(answer),))
            wire.reset()
            tell(
                store,
                1.0,
                step=got(answer).step,
                view=VIEW,
                believed=believed if guessing else None,
            )
            trips[guessing] = (asking, wire.trips)
    assert trips == {True: (2, 2), False: (4, 4)}


@pytest.mark.neo4j
def test_known_values_are_looked_for_all_at_once(server: Neo4jBackend) -> None:
    """Also where no index helps: a scan for each of many keys would take minutes."""
    view = View(("Unindexed",), ("R",), key="id")
    server.run("UNWIND range(1, 2000) AS i CREATE (:Unindexed {id: i})")
    server.run(
        "MATCH (n:Unindexed) WHERE n.id <= 300 MERGE (r:GraphboRun {name: 'search'}) "
        "CREATE (r)-[:GRAPHBO_OBSERVED]->(n)"
    )
    with server.session() as session:
        given = {"run": "search", "keys": list(range(1, 1001))}
        text, values = statement("run_known").call(given, view)
        result = session.run(f"PROFILE {text}", values)
        (row,) = result.data()
        profile = result.consume().profile
    keys = {one["id"]: one["key"] for one in row["found"]}
    assert sorted(keys.values()) == list(range(1, 1001))
    assert sorted(keys[one] for one in row["known"]) == list(range(1, 301))
    assert profile is not None
    assert hits(profile) < 20_000


@pytest.mark.neo4j
def test_many_known_values_are_told_where_the_index_is_gone(server: Neo4jBackend) -> None:
    view = View(("Unindexed",), ("R",), key="id")
    server.run("UNWIND range(1, 20000) AS i CREATE (:Unindexed {id: i})")
    with server.open() as store:
        runs_in(store).create(replace(RECORD, view=view))
        assert Run.open(store, "search").tell_known(dict.fromkeys(range(1, 301), 1.0)) == 300
        # A second is enough; holding every node for every value takes all of the server's memory, and fails.
        assert Run.open(store, "search").tell_known(dict.fromkeys(range(1, 1001), 2.0)) == 700


def hits(profile: dict[str, Any]) -> int:
    """How often a plan and all of its parts read something."""
    return int(profile.get("dbHits", 0)) + sum(map(hits, profile.get("children", [])))


def test_who_reads_while_others_tell_sees_whole_steps(filled: GraphStore, backend: Backend) -> None:
    """Nobody locks a run to look at it, and what is asked for goes away as it is told."""
    steps = 41
    runs_in(filled).create(replace(RECORD, budget=steps))
    seen: list[News] = []
    over = threading.Event()

    def read() -> None:
        with backend.open() as store:
            while not over.is_set():
                seen.append(news_in(store))

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for key in range(steps):
                pending = got(ask(filled, key, token=f"t{key}"))
                tell(filled, 1.0, step=pending.step)
        finally:
            over.set()
        for reader in readers:
            reader.result()
    for news in seen:
        both = {one.step for one in news.pending} & {one.step for one in news.observations}
        assert not both
        assert all(one.value == 1.0 for one in news.observations)


@pytest.mark.neo4j
@pytest.mark.parametrize(
    "damage",
    [
        "MATCH (r:GraphboRun) REMOVE r.view",
        "MATCH (r:GraphboRun) SET r.view = '{'",
        "MATCH (:GraphboRun)-[p:GRAPHBO_PENDING]->() REMOVE p.token",
        "MATCH (:GraphboRun)-[o:GRAPHBO_OBSERVED]->() REMOVE o.step",
    ],
)
def test_a_record_that_somebody_changed_is_said_to_be_damaged(
    neo4j_backend: Neo4jBackend, damage: str
) -> None:
    with neo4j_backend.open() as store:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(1, 2, {})])
        runs_in(store).create(RECORD)
        tell(store, 1.0, step=got(ask(store, 1)).step)
        ask(store, 2, token="other")
        neo4j_backend.run(damage)
        with pytest.raises(RunDamaged, match="the record of the run 'search' is damaged"):
            news_in(store)


def test_minimising_keeps_the_smallest(filled: GraphStore) -> None:
    runs_in(filled).create(replace(RECORD, maximize=False))
    for step, value in enumerate((5.0, 2.0, 7.0), start=1):
        ask(filled, step, token=str(step))
        tell(filled, value, step=step)
    assert runs_in(filled).get("search").best_value == 2.0


def test_cleaning_leaves_no_trace(filled: GraphStore, backend: Backend) -> None:
    before = backend.dump()
    for name in ("search", "other"):
        runs_in(filled).create(replace(RECORD, name=name, budget=None))
        view_keys = range(6) if name == "search" else range(3, 9)
        for key in view_keys:
            answer = hand_out(filled, proposal(key), name=name, token=f"{name}{key}", worker="w")
            if key % 3 == 0:
                tell(filled, float(key), name=name, step=got(answer).step)
            elif key % 3 == 1:
                tell(filled, None, name=name, error="no", step=got(answer).step)
        Run.open(filled, name).tell_known({20: 1.0})
    runs_in(filled).clean("search")
    left = filled.properties(VIEW, [3, 20])
    assert "graphbo2Value" in left[3]
    assert "graphboValue" not in left[3]
    assert [run.name for run in runs_in(filled).all()] == ["other"]
    runs_in(filled).clean("other")
    assert backend.dump() == before


@pytest.mark.neo4j
def test_constraints_come_with_the_first_run_and_go_with_the_last(server: Neo4jBackend) -> None:
    def constraints() -> set[str]:
        rows = server.run("SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'graphbo_'")
        return {row["name"] for row in rows}

    server.dump()  # drops what an earlier test has left
    assert constraints() == set()
    with server.open() as store:
        runs_in(store).create(RECORD)
        runs_in(store).create(replace(RECORD, name="other"))
        three = {"graphbo_run_name", "graphbo_run_prefix", "graphbo_observed_step"}
        assert constraints() == three
        runs_in(store).clean("search")
        assert constraints() == three
        runs_in(store).clean("other")
    assert constraints() == set()


@pytest.mark.neo4j
def test_labels_show_where_it_looked_and_what_is_best(server: Neo4jBackend) -> None:
    with server.open() as store:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(9)])
        runs_in(store).create(RECORD)
        for step, value in enumerate((5.0, 2.0, 7.0), start=1):
            ask(store, step, token=str(step))
            tell(store, value, step=step)
        Run.open(store, "search").tell_known({8: 6.0})
        tell(store, 1.0, step=3, amend=True)

    def labelled(label: str) -> list[int]:
        rows = server.run(f"MATCH (n:{label}) RETURN n.id AS id ORDER BY id")
        return [row["id"] for row in rows]

    assert labelled("GraphboObserved") == [1, 2, 3, 8]
    assert labelled("GraphboBest") == [8]
    with server.open() as store:
        ask(store, 4, token="fails")
        tell(store, None, error="no", step=4)
        ask(store, 5, token="dead", lease=0.0)
        time.sleep(0.01)
        assert ask(store, 6, token="heir", worker="other").outcome == "taken over"
        assert len(news_in(store).observations) == 5
        runs_in(store).clean("search")
    assert labelled("GraphboObserved") == labelled("GraphboBest") == labelled("GraphboRun") == []


@pytest.mark.neo4j
def test_without_labels_none_are_written(neo4j_backend: Neo4jBackend) -> None:
    with neo4j_backend.open() as store:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(1, 2, {})])
        runs_in(store).create(replace(RECORD, labelled=False))
        ask(store, 1)
        tell(store, 1.0, step=1)
    assert neo4j_backend.run("MATCH (n:N) RETURN DISTINCT labels(n) AS labels") == [
        {"labels": ["N"]}
    ]
