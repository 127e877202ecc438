"""Runs on graphs as they are, the same on every store: what is measured, and what stays."""

from dataclasses import replace

import pytest

from graphbo.objectives import from_callable
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from graphbo.runs.worker import work
from graphbo.search.strategies import STRATEGIES
from graphbo.seeing.annotate import annotate
from graphbo.stores import EdgeRow, GraphStore
from graphbo.types import NodeKey, View
from graphbo.types.notation import read_condition, read_path
from tests.backends import Backend, on_sqlite

PERSON = View(("Person",), ("VISITS",), key="id")
PLACE = replace(PERSON, labels=("Place",))
SHARED = read_path("(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)")
PEOPLE, PLACES, STATION = 28, 7, 1_000

THROUGH_PLACES = View((), key="id", paths=(SHARED,), hub_limit=20)
FILTERED = replace(THROUGH_PLACES, where=read_condition("age < 24 OR age IS NULL"))
PLACES_ARE_NODES = View(("Place",), ("VISITS",), key="id", candidates=("Person",), hub_limit=20)
STATEMENT = View(
    ("Person",),
    key="id",
    hop="UNWIND $keys AS key MATCH (:Person {id: key})-[:VISITS]->(p)<-[:VISITS]-(q:Person) "
    "WHERE p.id <> 1000 AND q.id <> key RETURN key, q.id, count(*)",
)
VIEWS = {
    "paths and a filter": FILTERED,
    "connectors": PLACES_ARE_NODES,
    "statement": STATEMENT,
}


@pytest.fixture
def town(store: GraphStore) -> GraphStore:
    """People who visit two places each, which have keys like those of people, and all of them the station."""
    for view in (PERSON, PLACE):
        store.create_key(view)
    store.write_nodes(PERSON, [(person, {"age": person}) for person in range(PEOPLE)])
    visits: list[EdgeRow] = [
        (person, place, {})
        for person in range(PEOPLE)
        for place in (person // 4, (person // 4 + 1) % PLACES, STATION)
    ]
    store.write_relationships(PERSON, visits, target=PLACE)
    return store


def value(person: NodeKey) -> float:
    return -abs(float(person) - 17.0)


def searched(store: GraphStore, view: View, strategy: str = "bayes", budget: int = 12) -> Run:
    options = {"initial": 4} if strategy in ("bayes", "paper") else {}
    settings = RunSettings(strategy=strategy, options=options, seed=1, budget=budget)
    run = Run.create(store, store.resolve(view), "search", settings)
    work(run, from_callable(value))
    return run


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        *(("sqlite", name) for name in VIEWS if name != "statement"),
        *(pytest.param("neo4j", name, marks=pytest.mark.neo4j) for name in VIEWS),
    ],
    indirect=["backend"],
)
def test_nothing_is_left_of_a_run(town: GraphStore, backend: Backend, name: str) -> None:
    before = backend.dump()
    run = searched(town, VIEWS[name])
    annotate(town, "search", posterior=True)
    assert backend.dump() != before

    assert len(run.history) == 12
    keys = {one.key for one in run.history}
    assert len(keys) == 12
    assert keys <= set(range(24 if name == "paths and a filter" else PEOPLE))
    runs_in(town).clean("search")
    assert backend.dump() == before


@on_sqlite
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("view", [THROUGH_PLACES, PLACES_ARE_NODES], ids=["paths", "connectors"])
def test_every_strategy_measures_candidates_alone(
    town: GraphStore, strategy: str, view: View
) -> None:
    run = searched(town, view, strategy, budget=PEOPLE + 5)

    assert sorted(one.key for one in run.history) == list(range(PEOPLE))
