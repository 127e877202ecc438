"""What an ego-network costs in views with paths and connectors: no more for a hub, or for a larger graph.

Work is counted, not timed: SQLite counts the steps of its virtual machine, Neo4j how often it looked into its store.
"""

from dataclasses import replace
from typing import Any

import pytest

from graphbo.stores import EdgeRow, GraphStore
from graphbo.stores.neo4j.statements import statement
from graphbo.stores.seeded_order import SeededOrder
from graphbo.stores.sqlite.store import SqliteStore
from graphbo.types import Ego, NodeKey, View
from graphbo.types.notation import read_path
from tests.backends import Backend, Neo4jBackend

LIMIT, VERY_MANY, SIZE = 60, 1_500, 20
PERSON = View(("N",), ("VISITS",), key="id")
PLACE = replace(PERSON, labels=("Place",))
SHARED = read_path("(:N)-[:VISITS]->(:Place)<-[:VISITS]-(:N)")
VIEWS = {
    "path": View((), key="id", paths=(SHARED,), hub_limit=LIMIT),
    "connector": View(("Place",), ("VISITS",), key="id", candidates=("N",), hub_limit=LIMIT),
}
#: Who visits the place that is just no hub, and who the one that everybody visits.
AT_LIMIT, BEYOND = 0, LIMIT


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_one_beyond_the_limit_costs_no_more_than_one_at_it(
    store: GraphStore, backend: Backend, view: View
) -> None:
    for one in (PERSON, PLACE):
        store.create_key(one)
    visits: list[EdgeRow] = [(person, 0, {}) for person in range(LIMIT)]
    visits += [(LIMIT + person, 1, {}) for person in range(VERY_MANY)]
    store.write_relationships(PERSON, visits, target=PLACE)

    # The first time, statements are made and planned.
    work(store, backend, view, AT_LIMIT)
    at, beyond = (work(store, backend, view, person) for person in (AT_LIMIT, BEYOND))
    assert 0 < beyond <= at
    assert store.ego_networks(view, [Ego(BEYOND, SIZE)], [0]).keys == (BEYOND,)
    # That this counts what it should: without the limit, all of them are looked at.
    everybody = work(store, backend, replace(view, hub_limit=2 * VERY_MANY), BEYOND)
    assert everybody > 5 * at


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_it_costs_the_same_however_many_people_there_are(
    store: GraphStore, backend: Backend, view: View
) -> None:
    for one in (PERSON, PLACE):
        store.create_key(one)

    def let_live(people: range) -> None:
        """Each visits places near their home, and the one that everybody visits."""
        visits: list[EdgeRow] = [
            (person, place, {})
            for person in people
            for place in (-1, person // 4, person // 4 + 1, person // 4 + 2)
        ]
        store.write_relationships(PERSON, visits, target=PLACE)

    let_live(range(300))
    work(store, backend, view, 100)
    before = work(store, backend, view, 100)
    let_live(range(300, 3_000))
    assert 0 < work(store, backend, view, 100) <= 1.1 * before


def work(store: GraphStore, backend: Backend, view: View, person: NodeKey) -> int:
    """How much an ego-network of this person takes."""
    if isinstance(backend, Neo4jBackend):
        return _hits(backend, view, person)
    assert isinstance(store, SqliteStore)
    return _steps(store, view, person)


def _steps(store: SqliteStore, view: View, person: NodeKey) -> int:
    taken = 0

    def count() -> None:
        nonlocal taken
        taken += 1

    connection = store._file.connection
    connection.set_progress_handler(count, 10)
    try:
        store.ego_networks(view, [Ego(person, SIZE)], [0])
    finally:
        connection.set_progress_handler(None, 0)
    return taken


def _hits(backend: Neo4jBackend, view: View, person: NodeKey) -> int:
    parameters = {
        "egos": [{"centre": person, "size": SIZE}],
        "keys": [person],
        "first": [],
        "limit": SIZE,
        "everywhere": True,
        "through": [],
        **SeededOrder.from_seed([0]).parameters,
    }
    text, values = statement("ego_networks_along_paths").call(parameters, view)
    with backend.session() as session:
        profile = session.run(f"PROFILE {text}", values).consume().profile
    assert profile is not None
    return _summed(profile)


def _summed(plan: dict[str, Any]) -> int:
    return int(plan.get("dbHits", 0)) + sum(map(_summed, plan.get("children", [])))
