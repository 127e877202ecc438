"""What is looked at before a run begins: names, keys, and whether candidates have neighbours."""

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphbo.errors import EmptyView, InvalidWeight, KeyNotUnique
from graphbo.stores import GraphStore, Surrounding, open_store, ready_view
from graphbo.stores.checks import unknown_names
from graphbo.stores.near_names import did_you_mean, nearest
from graphbo.stores.outlook import CANDIDATES, EGO_SIZE, look
from graphbo.types import View
from graphbo.types.notation import read_condition, read_path
from tests.backends import Neo4jBackend

VIEW = View(("Person",), ("KNOWS",), key="id")
TO_PLACE = "(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)"


def fill(store: GraphStore, count: int = 40) -> GraphStore:
    """People in a line, every second of whom nobody knows."""
    store.create_key(VIEW)
    store.write_nodes(VIEW, [(i, {"name": f"person {i}", "age": i}) for i in range(count)])
    store.write_relationships(VIEW, [(i, i + 4, {"years": 1.5}) for i in range(0, count - 4, 2)])
    return store


@pytest.fixture
def people(store: GraphStore) -> GraphStore:
    return fill(store)


@pytest.fixture
def few() -> Iterator[GraphStore]:
    """The same in memory, where the database does not matter."""
    with open_store("sqlite::memory:") as store:
        yield fill(store)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


def test_what_is_around_nodes(people: GraphStore) -> None:
    assert people.around(VIEW, [0, 4, 8, 1], 10) == [
        Surrounding("KNOWS", False, ("Person",), 2, ("years",)),
        Surrounding("KNOWS", True, ("Person",), 3, ("years",)),
    ]
    assert people.around(VIEW, [1], 10) == []
    assert people.around(VIEW, [4], 1) in [
        [Surrounding("KNOWS", outgoing, ("Person",), 1, ("years",))] for outgoing in (True, False)
    ]


def test_what_is_around_nodes_is_not_of_the_view(people: GraphStore) -> None:
    found = people.around(replace(VIEW, relationships=("NONE",)), [0], 10)

    assert [one.type for one in found] == ["KNOWS"]


def test_neighbours_of_a_sample(people: GraphStore) -> None:
    outlook = look(people, VIEW)

    assert len(outlook.keys) == CANDIDATES
    for key, count in zip(outlook.keys, outlook.neighbours, strict=True):
        assert count == min(len(people.neighbours(VIEW, [key], [0])), EGO_SIZE - 1)
    assert outlook.alone == sum(int(key) % 2 for key in outlook.keys) / CANDIDATES
    assert outlook.median in (0, 1, 2)


def test_more_neighbours_than_are_looked_at(few: GraphStore) -> None:
    few.write_relationships(VIEW, [(a, b, {}) for a in range(40) for b in range(a)])

    outlook = look(few, VIEW)

    assert outlook.median == EGO_SIZE - 1
    assert outlook.connected


def test_one_node_needs_nobody_beside_it() -> None:
    with open_store("sqlite::memory:") as store:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(1, {})])
        assert look(store, VIEW).connected


def test_candidates_with_nobody_beside_them_are_warned_of(
    few: GraphStore, caplog: pytest.LogCaptureFixture
) -> None:
    few.write_nodes(VIEW, [(i, {}) for i in range(100, 400)])

    assert ready_view(few, VIEW) == VIEW

    (line,) = warnings(caplog)
    assert "Person has no Person beside it by KNOWS (" in line
    assert "candidates that were looked at" in line


def test_a_graph_that_is_connected_is_no_news(
    few: GraphStore, caplog: pytest.LogCaptureFixture
) -> None:
    few.write_relationships(VIEW, [(i, i + 1, {}) for i in range(39)])

    assert ready_view(few, replace(VIEW, key=None)) == VIEW
    assert warnings(caplog) == []


@pytest.mark.parametrize(
    ("view", "error", "expected"),
    [
        (replace(VIEW, labels=("Persn",)), EmptyView, "did you mean 'Person'"),
        (replace(VIEW, relationships=("KNOW",)), EmptyView, "did you mean 'KNOWS'"),
        (replace(VIEW, relationships=("knows",)), EmptyView, "did you mean 'KNOWS'"),
        (replace(VIEW, weight="year"), InvalidWeight, "did you mean 'years'"),
        (replace(VIEW, key="nam"), KeyNotUnique, "did you mean 'name'"),
    ],
    ids=str,
)
def test_names_that_are_nearly_right(
    people: GraphStore, view: View, error: type[Exception], expected: str
) -> None:
    with pytest.raises(error, match=expected):
        ready_view(people, view)


def test_a_second_name_that_is_not_there_is_warned_of(
    few: GraphStore, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(KeyNotUnique, match="of Person and Place"):
        ready_view(few, replace(VIEW, labels=("Person", "Place"), relationships=("KNOWS", "KNOW")))

    lines = warnings(caplog)
    assert "no node has the label 'Place'" in lines
    assert "no relationship has the type 'KNOW' (did you mean 'KNOWS'?)" in lines


def test_a_property_that_no_filter_can_find(
    few: GraphStore, caplog: pytest.LogCaptureFixture
) -> None:
    view = replace(VIEW, where=read_condition("agee > 3 OR name IS NOT NULL"))

    ready_view(few, view)

    assert "no node that was looked at has the property 'agee' (did you mean 'age'?)" in warnings(
        caplog
    )


VISITS = (
    "(:Person)-[v:VISITS WHERE {visit}]->(:{label} WHERE {place})<-[:VISITS]-(:Person WHERE {end})"
)
RIGHT = {"visit": "hours > 0", "label": "Place", "place": "kind = 1", "end": "age > -1"}


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({}, []),
        ({"label": "Plce"}, ["no node has the label 'Plce' (did you mean 'Place'?)"]),
        ({"visit": "hour > 0"}, ["no relationship that was looked at has the property 'hour' (did you mean 'hours'?)"]),
        ({"place": "knd = 1"}, ["no node that was looked at has the property 'knd' (did you mean 'kind'?)"]),
        ({"end": "agee > -1"}, ["no node that was looked at has the property 'agee' (did you mean 'age'?)"]),
        ({"end": "NOT :Plces"}, ["no node has the label 'Plces' (did you mean 'Place'?)"]),
        ({"end": "NOT :Retired"}, []),
    ],
)  # fmt: skip
def test_names_inside_of_paths(few: GraphStore, wrong: dict[str, str], expected: list[str]) -> None:
    places = View(("Place",), ("VISITS",), key="id")
    few.create_key(places)
    few.write_nodes(places, [(i, {"kind": 1}) for i in range(4)])
    visits = replace(VIEW, relationships=("VISITS",))
    few.write_relationships(visits, [(i, i % 4, {"hours": 2}) for i in range(40)], target=places)
    path = read_path(VISITS.format(**RIGHT | wrong))

    assert unknown_names(few, View((), paths=(path,), key="id")) == expected


def test_types_of_paths_are_looked_for(few: GraphStore) -> None:
    with pytest.raises(EmptyView, match="no relationship has the type 'VISITS'"):
        ready_view(few, View(("Person",), key="id", paths=(read_path(TO_PLACE),)))


def test_internal_ids_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with open_store("sqlite::memory:") as store:
        fill(store)
        store.create_key(View(("Place",), ("KNOWS",), key="name"))
        store.write_nodes(View(("Place",), ("KNOWS",), key="name"), [("a", {})])
        view = ready_view(store, View(("Person", "Place"), ("KNOWS",)))

    assert view.key is None
    assert any("internal ids" in line for line in warnings(caplog))


@pytest.mark.neo4j
class TestKeysOfNeo4j:
    @pytest.fixture
    def nodes(self, neo4j_backend: Neo4jBackend) -> Neo4jBackend:
        neo4j_backend.run(
            "UNWIND range(1, 30) AS i CREATE (a:P {id: i, name: 'n' + i, twin: i / 2}) "
            "WITH collect(a) AS all UNWIND range(0, 28) AS i WITH all[i] AS a, all[i + 1] AS b "
            "CREATE (a)-[:R]->(b)"
        )
        return neo4j_backend

    def test_a_plain_index_will_do(
        self, nodes: Neo4jBackend, caplog: pytest.LogCaptureFixture
    ) -> None:
        view = View(("P",), ("R",), key="id")
        with nodes.open() as store:
            with pytest.raises(KeyNotUnique, match="unique so far"):
                ready_view(store, view)
            nodes.run("CREATE INDEX plain FOR (n:P) ON (n.id)")
            nodes.run("CALL db.awaitIndexes()")
            try:
                assert ready_view(store, view) == view
            finally:
                nodes.run("DROP INDEX plain")

        assert warnings(caplog) == ["the values of 'id' are unique now, and nothing keeps them so"]

    def test_an_index_of_shared_values_will_not(self, nodes: Neo4jBackend) -> None:
        nodes.run("CREATE INDEX shared FOR (n:P) ON (n.twin)")
        try:
            with nodes.open() as store, pytest.raises(KeyNotUnique, match="14 of its values"):
                ready_view(store, View(("P",), ("R",), key="twin"))
        finally:
            nodes.run("DROP INDEX shared")

    def test_several_unique_properties_are_named(
        self, nodes: Neo4jBackend, caplog: pytest.LogCaptureFixture
    ) -> None:
        for name in ("id", "name"):
            nodes.run(f"CREATE CONSTRAINT {name} FOR (n:P) REQUIRE n.{name} IS UNIQUE")
        try:
            with nodes.open() as store:
                assert ready_view(store, View(("P",), ("R",))).key is None
        finally:
            for name in ("id", "name"):
                nodes.run(f"DROP CONSTRAINT {name}")
        (record,) = [one for one in caplog.records if one.levelno >= logging.WARNING]
        assert "internal ids" in record.getMessage()
        assert record.facts["keys"] == "id or name"  # type: ignore[attr-defined]


@given(st.text(max_size=300), st.lists(st.text(max_size=300), max_size=8))
def test_hints_are_of_names_that_there_are(name: str, known: list[str]) -> None:
    found = nearest(name, known)
    assert found is None or (found in known and found != name)


def test_several_hints_at_once() -> None:
    assert did_you_mean(["Persn", "Xyz", "Plac"], ["Person", "Place"]) == (
        " (did you mean 'Person' and 'Place'?)"
    )
    assert did_you_mean(["Person"], ["Person"]) == ""
