"""What runs write has names. What is somebody's own under such a name stays as it was, on every store."""

import threading
from dataclasses import replace
from typing import Any

import pytest

from graphbo.errors import KeyNotUnique, NameInUse, NoSuchRun, PrefixTaken, RunError
from graphbo.runs import Run
from graphbo.runs.records import RunRecord
from graphbo.runs.registry import runs_in
from graphbo.runs.written_names import region_properties, written_labels, written_properties
from graphbo.stores import GraphStore, ready_view
from graphbo.types import Candidate, NodeKey, Pending, Proposal, View
from tests.backends import Backend, Neo4jBackend, all_on_sqlite_and_one_on_neo4j
from tests.runs.support import hand_out, news_in, tell

VIEW = View(("N",), ("R",), key="id")
RECORD = RunRecord("search", True, VIEW, {"strategy": "random"}, seed=7, prefix="", budget=None)
NAMES = {**written_properties("graphbo"), **region_properties("graphbo")}


@pytest.fixture
def filled(store: GraphStore) -> GraphStore:
    store.create_key(VIEW)
    store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(40)])
    return store


def ask(store: GraphStore, key: NodeKey, token: str = "t", name: str = "search") -> Pending:
    proposal = Proposal((Candidate(key, 1.5, 0.5, -2.0),), "model")
    answer = hand_out(store, proposal, token=token, worker="me", lease=None)
    assert answer.pending is not None, answer
    return answer.pending


def measure(store: GraphStore, key: NodeKey, value: float, name: str = "search") -> None:
    pending = ask(store, key, f"t{key}", name)
    tell(store, value, name=name, step=pending.step)


def own(store: GraphStore, key: NodeKey, **properties: Any) -> None:
    """Give a node properties of its own."""
    store.write_nodes(VIEW, [(key, properties)])


def label(backend: Backend, key: NodeKey, name: str) -> None:
    assert isinstance(backend, Neo4jBackend)
    backend.run(f"MATCH (n:N {{id: $key}}) SET n:{name}", key=key)


class TestBeforeARun:
    def test_the_default_prefix_steps_aside(self, filled: GraphStore) -> None:
        own(filled, 3, graphboValue="mine")
        own(filled, 4, graphbo2MeanNow=[1, 2])
        assert runs_in(filled).create(RECORD).prefix == "graphbo3"

    def test_and_comes_back_when_the_names_are_free_again(self, filled: GraphStore) -> None:
        runs_in(filled).create(RECORD)
        measure(filled, 1, 2.0)
        runs_in(filled).clean("search")
        assert runs_in(filled).create(RECORD).prefix == "graphbo"

    @all_on_sqlite_and_one_on_neo4j("name", ["delayValue", "delayStdNow"])
    def test_a_prefix_that_is_named_is_refused_with_one_to_use(
        self, filled: GraphStore, backend: Backend, name: str
    ) -> None:
        own(filled, 3, **{name: 1.0})
        before = backend.dump()
        with pytest.raises(NameInUse, match=f"'{name}' of their own.*the write prefix 'graphbo"):
            runs_in(filled).create(replace(RECORD, prefix="delay"))
        assert backend.dump() == before

    def test_a_key_is_never_overwritten(self, store: GraphStore, backend: Backend) -> None:
        view = View(("N",), ("R",), key="nodeStep")
        store.create_key(view)
        store.write_relationships(view, [(1, 2, {})])
        before = backend.dump()
        with pytest.raises(NameInUse, match="'nodeStep'"):
            runs_in(store).create(replace(RECORD, view=view, prefix="node"))
        assert backend.dump() == before

    def test_prefixes_that_differ_in_case_are_one(self, filled: GraphStore) -> None:
        runs_in(filled).create(replace(RECORD, prefix="delay"))
        with pytest.raises(PrefixTaken, match="'search'"):
            runs_in(filled).create(replace(RECORD, name="other", prefix="Delay"))

    @pytest.mark.neo4j
    def test_labels_and_types_are_counted(self, neo4j_backend: Neo4jBackend) -> None:
        with neo4j_backend.open() as store:
            store.create_key(VIEW)
            store.write_relationships(VIEW, [(1, 2, {})])
            # Anywhere: a label says nothing of where else it is.
            neo4j_backend.run("CREATE (:Elsewhere:GraphboBest)")
            assert runs_in(store).create(RECORD).prefix == "graphbo2"
            with pytest.raises(NameInUse, match="'GraphboBest'"):
                runs_in(store).create(replace(RECORD, name="other", prefix="graphbo"))
            neo4j_backend.run("CREATE (:A)-[:GRAPHBO_FAILED]->(:B)")
            with pytest.raises(NameInUse, match="type 'GRAPHBO_FAILED'"):
                runs_in(store).create(replace(RECORD, name="third"))


class TestDuringARun:
    """What was not there, or was not seen, when the run began."""

    @pytest.fixture(autouse=True)
    def run(self, filled: GraphStore) -> None:
        runs_in(filled).create(RECORD)

    @all_on_sqlite_and_one_on_neo4j("name", written_properties("graphbo").values())
    def test_such_a_node_is_not_handed_out(
        self, filled: GraphStore, backend: Backend, name: str
    ) -> None:
        own(filled, 5, **{name: 7})
        before = filled.properties(VIEW, [5])
        with pytest.raises(NameInUse, match=f"'{name}'.*the write prefix 'graphbo2'"):
            ask(filled, 5)
        assert filled.properties(VIEW, [5]) == before
        assert runs_in(filled).get("search").pending == 0
        runs_in(filled).clean("search")
        assert filled.properties(VIEW, [5]) == before

    @pytest.mark.parametrize("guessing", [True, False])
    def test_nor_written_to_when_it_got_them_while_it_was_measured(
        self, filled: GraphStore, guessing: bool
    ) -> None:
        pending = ask(filled, 5)
        own(filled, 5, graphboMean="mine")
        before = filled.properties(VIEW, [5])
        told = tell(
            filled,
            3.0,
            step=pending.step,
            believed=news_in(filled) if guessing else None,
        )
        # The value was paid for.
        assert (told.outcome, told.observation.value) == ("recorded", 3.0)
        assert told.in_use == ("graphboMean",)
        (observation,) = news_in(filled).observations
        assert (observation.value, observation.unwritten) == (3.0, True)
        assert filled.properties(VIEW, [5]) == before
        tell(filled, 4.0, step=pending.step, amend=True)
        Run.open(filled, "search").annotate()
        assert filled.properties(VIEW, [5]) == before
        runs_in(filled).clean("search")
        assert filled.properties(VIEW, [5]) == before

    def test_known_values_are_written_to_all_nodes_or_to_none(self, filled: GraphStore) -> None:
        own(filled, 6, graphboStep=0)
        before = filled.properties(VIEW, [5, 6])
        with pytest.raises(NameInUse, match="'graphboStep'"):
            Run.open(filled, "search").tell_known({5: 1.0, 6: 2.0})
        assert filled.properties(VIEW, [5, 6]) == before
        assert runs_in(filled).get("search").warm == 0

    def test_annotations_too(self, filled: GraphStore, backend: Backend) -> None:
        measure(filled, 1, 2.0)
        region = [Candidate(2, 1.0, 0.5, 0.1), Candidate(3, 1.0, 0.5, 0.1)]
        Run.open(filled, "search").annotate(region[:1])
        own(filled, 3, graphboStdNow="mine")
        before = backend.dump()
        with pytest.raises(NameInUse, match="'graphboStdNow'"):
            Run.open(filled, "search").annotate(region)
        assert without_lock(backend.dump()) == without_lock(before)
        assert filled.properties(VIEW, [2])[2]["graphboMeanNow"] == 1.0
        runs_in(filled).clean("search")
        assert filled.properties(VIEW, [2, 3]) == {
            2: {"id": 2},
            3: {"id": 3, "graphboStdNow": "mine"},
        }

    def test_what_somebody_added_beside_stays(self, filled: GraphStore) -> None:
        """A run that drew a node at random expects nothing there: the other names are not its own."""
        proposal = Proposal((Candidate(8),), "initial")
        answer = hand_out(filled, proposal, token="t", worker="me", lease=None)
        assert answer.pending is not None
        tell(filled, 1.0, step=answer.pending.step)
        own(filled, 8, graphboMean="mine")
        Run.open(filled, "search").annotate()
        runs_in(filled).clean("search")
        assert filled.properties(VIEW, [8])[8] == {"id": 8, "graphboMean": "mine"}

    def test_another_prefix_goes_on(self, filled: GraphStore, backend: Backend) -> None:
        before = {key: dict(all_) for key, all_ in filled.properties(VIEW, range(41)).items()}
        measure(filled, 1, 2.0)
        pending = ask(filled, 5)
        own(filled, 5, graphboMean="mine")
        tell(filled, 3.0, step=pending.step)
        Run.open(filled, "search").annotate([Candidate(9, 1.0, 0.5)])
        waiting = ask(filled, 7, "waiting")
        Run.open(filled, "search").change_prefix("other")
        found = filled.properties(VIEW, range(41))
        assert found[1]["otherValue"] == 2.0
        assert "graphboValue" not in found[1]
        assert (found[5]["otherValue"], found[5]["graphboMean"]) == (3.0, "mine")
        assert (found[9]["otherMeanNow"], "graphboMeanNow" in found[9]) == (1.0, False)
        news = news_in(filled)
        assert news.record.prefix == "other"
        assert [one.unwritten for one in news.observations] == [False, False]
        if isinstance(backend, Neo4jBackend):
            rows = backend.run(
                "MATCH (n:N) UNWIND labels(n) AS l WITH n, l WHERE l <> 'N' RETURN n.id AS id, l ORDER BY id, l"
            )
            assert [(row["id"], row["l"]) for row in rows] == [
                (1, "OtherObserved"),
                (5, "OtherBest"),
                (5, "OtherObserved"),
                (7, "OtherPending"),
                (9, "OtherRegion"),
            ]
        tell(filled, 1.0, step=waiting.step)
        runs_in(filled).clean("search")
        assert filled.properties(VIEW, range(41)) == before | {5: {"id": 5, "graphboMean": "mine"}}

    def test_another_prefix_must_be_free(self, filled: GraphStore, backend: Backend) -> None:
        measure(filled, 1, 2.0)
        runs_in(filled).create(replace(RECORD, name="second"))
        own(filled, 1, otherStep="mine")
        before = backend.dump()
        with pytest.raises(PrefixTaken, match="'second'"):
            Run.open(filled, "search").change_prefix("Graphbo2")
        with pytest.raises(NameInUse, match="'otherStep'"):
            Run.open(filled, "search").change_prefix("other")
        assert backend.dump() == before


@pytest.mark.neo4j
@pytest.mark.parametrize("what", ["observed", "best", "pending"])
def test_a_label_of_somebody_stays(neo4j_backend: Neo4jBackend, what: str) -> None:
    name = written_labels("graphbo")[what]

    def labels() -> list[str]:
        (row,) = neo4j_backend.run("MATCH (n:N {id: 5}) RETURN labels(n) AS labels")
        return sorted(row["labels"])

    with neo4j_backend.open() as store:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(9)])
        runs_in(store).create(RECORD)
        label(neo4j_backend, 5, name)
        with pytest.raises(NameInUse, match=f"'{name}'"):
            ask(store, 5)
        pending = ask(store, 6)
        measure(store, 7, 1.0)
        label(neo4j_backend, 6, "GraphboBest")
        assert tell(store, 9.0, step=pending.step).in_use
        runs_in(store).clean("search")
    assert labels() == sorted(["N", name])
    assert [r["id"] for r in neo4j_backend.run("MATCH (n:GraphboBest) RETURN n.id AS id")] == (
        [5, 6] if what == "best" else [6]
    )


@pytest.mark.neo4j
def test_a_run_without_labels_takes_none_off(neo4j_backend: Neo4jBackend) -> None:
    with neo4j_backend.open() as store:
        store.create_key(VIEW)
        store.write_relationships(VIEW, [(i, i + 1, {}) for i in range(9)])
        runs_in(store).create(replace(RECORD, labelled=False))
        measure(store, 5, 1.0)
        Run.open(store, "search").annotate([Candidate(6, 1.0, 0.5)])
        label(neo4j_backend, 5, "GraphboObserved")
        label(neo4j_backend, 6, "GraphboRegion")
        Run.open(store, "search").annotate([Candidate(7, 1.0, 0.5)])
        Run.open(store, "search").change_prefix("other")
        runs_in(store).clean("search")
    rows = neo4j_backend.run(
        "MATCH (n:GraphboObserved|GraphboRegion) RETURN n.id AS id, size(labels(n)) AS n ORDER BY id"
    )
    assert [(row["id"], row["n"]) for row in rows] == [(5, 2), (6, 2)]


class TestCleaning:
    @all_on_sqlite_and_one_on_neo4j("round_", range(3))
    @pytest.mark.slow
    def test_beside_workers_leaves_nothing(
        self, filled: GraphStore, backend: Backend, round_: int
    ) -> None:
        """Whoever asks or tells meanwhile does so before, or learns that the run is gone."""
        filled.write_relationships(VIEW, [(i, i + 1, {}) for i in range(40, 2000)])
        before = filled.properties(VIEW, range(2001))
        runs_in(filled).create(RECORD)
        ends: list[BaseException] = []

        def work(number: int) -> None:
            with backend.open() as store:
                try:
                    for key in range(number, 2001, 3):
                        measure(store, key, float(key))
                except RunError as error:
                    ends.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        while runs_in(filled).get("search").told < 4 + 3 * round_:
            pass
        runs_in(filled).clean("search")
        for thread in threads:
            thread.join()
        assert [type(end) for end in ends] == [NoSuchRun] * 3
        assert filled.properties(VIEW, range(2001)) == before
        if isinstance(backend, Neo4jBackend):
            rows = backend.run("MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label")
            assert [row["label"] for row in rows] == ["N"]

    def test_what_an_earlier_clean_left_is_found_and_removed(
        self, filled: GraphStore, backend: Backend
    ) -> None:
        runs_in(filled).create(RECORD)
        own(filled, 3, graphboValue=1.0, mine=2)
        if isinstance(backend, Neo4jBackend):
            label(backend, 4, "GraphboPending")
        with pytest.raises(RunError, match="belongs to the run 'search'"):
            runs_in(filled).strays("graphbo")
        runs_in(filled).clean("search")
        by_label = runs_in(filled).strays("graphbo")
        assert len(by_label) == (backend.name == "neo4j")
        strays = runs_in(filled).strays("graphbo", scan=True)
        assert len(strays) == len(by_label) + 1
        runs_in(filled).remove_strays("graphbo", strays)
        assert runs_in(filled).strays("graphbo", scan=True) == []
        assert filled.properties(VIEW, [3, 4]) == {3: {"id": 3, "mine": 2}, 4: {"id": 4}}

    @pytest.mark.neo4j
    @pytest.mark.parametrize("mended_by", ["create", "clean"])
    def test_somebody_was_killed_who_made_a_constraint(
        self, neo4j_backend: Neo4jBackend, mended_by: str
    ) -> None:
        """Its index is there already, and was in the way of everybody else for ever."""
        neo4j_backend.dump()  # drops what an earlier test has left
        make = "CREATE INDEX graphbo_run_name FOR (r:GraphboRun) ON (r.name)"
        neo4j_backend.run(make)
        with neo4j_backend.open() as store:
            if mended_by == "create":
                runs_in(store).create(RECORD)
                runs_in(store).clean("search")
            else:
                with pytest.raises(NoSuchRun):
                    runs_in(store).clean("search")
        assert neo4j_backend.run("SHOW INDEXES YIELD name WHERE name STARTS WITH 'graphbo_'") == []

    @pytest.mark.neo4j
    def test_somebody_was_killed_who_cleaned_the_last_run(
        self, neo4j_backend: Neo4jBackend
    ) -> None:
        with neo4j_backend.open() as store:
            runs_in(store).create(RECORD)
            neo4j_backend.run("MATCH (r:GraphboRun) DETACH DELETE r")
            with pytest.raises(NoSuchRun):
                runs_in(store).clean("search")
        assert (
            neo4j_backend.run("SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'graphbo_'") == []
        )

    @pytest.mark.neo4j
    def test_the_last_clean_beside_the_first_create(self, neo4j_backend: Neo4jBackend) -> None:
        """A run never is without its constraints, and they never are without a run."""
        wrong: list[object] = []
        for round_ in range(6):
            with neo4j_backend.open() as one, neo4j_backend.open() as two:
                runs_in(one).create(RECORD)
                creating = threading.Thread(
                    target=runs_in(two).create, args=(replace(RECORD, name="next"),)
                )
                cleaning = threading.Thread(target=runs_in(one).clean, args=("search",))
                for thread in (creating, cleaning)[:: 1 if round_ % 2 else -1]:
                    thread.start()
                creating.join()
                cleaning.join()
                found = neo4j_backend.run(
                    "SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'graphbo_'"
                )
                wrong += [found] * (len(found) != 3)
                runs_in(one).clean("next")
                wrong += neo4j_backend.run(
                    "SHOW CONSTRAINTS YIELD name WHERE name STARTS WITH 'graphbo_'"
                )
        assert wrong == []


class TestKeysThatLabelsShare:
    """Person 1 and place 1, in a view of both."""

    BOTH = View(("Person", "Place"), ("VISITS",), key="id")

    @pytest.fixture
    def shared(self, store: GraphStore) -> GraphStore:
        for name in ("Person", "Place"):
            view = View((name,), ("VISITS",), key="id")
            store.create_key(view)
            store.write_relationships(view, [(i, i + 1, {}) for i in range(5)])
        return store

    def test_a_sample_shows_it_before_a_run(self, shared: GraphStore) -> None:
        with pytest.raises(KeyNotUnique, match=r"belongs to several.*Person.*Place"):
            ready_view(shared, self.BOTH)
        ready_view(shared, View(("Person",), ("VISITS",), key="id"))

    def test_and_so_does_a_node_that_is_asked_for(
        self, shared: GraphStore, backend: Backend
    ) -> None:
        runs_in(shared).create(replace(RECORD, view=self.BOTH))
        before = backend.dump()
        for believed in (None, news_in(shared)):
            with pytest.raises(KeyNotUnique, match="the key 3 belongs to several nodes"):
                hand_out(shared, Proposal((Candidate(3),), "initial"), token="t", believed=believed)
        with pytest.raises(KeyNotUnique):
            Run.open(shared, "search").tell_known({3: 1.0})
        assert without_lock(backend.dump()) == without_lock(before)

    def test_keys_that_they_do_not_share_are_fine(self, store: GraphStore) -> None:
        for name, first in (("Person", 0), ("Place", 100)):
            view = View((name,), ("VISITS",), key="id")
            store.create_key(view)
            store.write_relationships(view, [(first + i, first + i + 1, {}) for i in range(5)])
        assert ready_view(store, self.BOTH) == self.BOTH


def without_lock(dump: object) -> str:
    """A dump as text, without what says who came last."""
    if isinstance(dump, tuple):
        nodes, *rest = dump
        bare = [
            node | {"all": {k: v for k, v in node["all"].items() if k != "lockedBy"}}
            for node in nodes
        ]
        return repr((bare, rest))
    return repr(dump)
