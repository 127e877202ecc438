"""Statements of the user's that answer with edges, on a real server."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from graphbo.errors import InvalidView, InvalidWeight, NoSuchNode, StoreError
from graphbo.stores.neo4j.hops import Hop
from graphbo.stores.neo4j.store import Neo4jStore
from graphbo.types import Ego, NodeKey, View
from graphbo.types.notation import read_condition
from tests.backends import Neo4jBackend

BESIDE = "UNWIND $keys AS key MATCH (a:N {id: key})-[r:R]->(b) RETURN key, b.id, r.w"
VIEW = View(("N",), hop=BESIDE, key="id")


@pytest.fixture
def store(neo4j_session: Neo4jBackend) -> Iterator[Neo4jStore]:
    neo4j_session.wipe()
    with neo4j_session.open() as found:
        assert isinstance(found, Neo4jStore)
        found.create_key(VIEW)
        edges = [(i, i + 1, {"w": 1.0 + i}) for i in range(6)]
        found.write_relationships(View(("N",), ("R",), key="id"), [*edges, (3, 2, {"w": 9.0})])
        neo4j_session.run("MATCH (n:N {id: 5}) CREATE (n)-[:R {w: 1.0}]->(:Other {id: 99})")
        yield found


@pytest.mark.neo4j
def test_they_are_the_edges_of_the_graph(store: Neo4jStore) -> None:
    assert store.resolve(replace(VIEW, key=None)) == VIEW
    found = store.ego_networks(VIEW, [Ego(0, 4)], [0])
    assert set(found.keys) == {0, 1, 2, 3}
    rows = [found.row(key) for key in range(4)]
    assert found.adjacency[rows[0], rows[1]] == 1.0
    # The larger weight of either direction.
    assert found.adjacency[rows[3], rows[2]] == 9.0
    assert store.neighbours(VIEW, [2], [0]) == [3]
    # The nearest come first.
    assert set(store.ego_networks(VIEW, [Ego(3, 2)], [0]).keys) == {3, 2}
    # What is no candidate is dropped.
    assert store.neighbours(VIEW, [5], [0]) == [6]
    assert set(store.ego_networks(VIEW, [Ego(4, 9)], [0]).keys) == {4, 5, 6}
    with pytest.raises(NoSuchNode):
        store.ego_networks(VIEW, [Ego(77, 4)], [0])


@pytest.mark.neo4j
def test_they_add_up_with_relationships_filters_and_what_is_revealed(store: Neo4jStore) -> None:
    wide = replace(VIEW, relationships=("R",), where=read_condition("id < 4"))
    found = store.ego_networks(wide, [Ego(1, 9)], [0], first=[2])
    assert set(found.keys) == {0, 1, 2, 3}
    assert found.adjacency[found.row(0), found.row(1)] == 2.0
    seen = store.ego_networks(VIEW, [Ego(1, 9)], [0], through=[1])
    assert set(seen.keys) == {1, 2}
    read = store.ego_networks(VIEW, [Ego(1, 9)], [0], read=["id", "nowhere"])
    assert dict(read.properties) == {"id": read.keys, "nowhere": (None,) * len(read)}
    drawn = store.random_nodes(VIEW, 99, [0], read=["id"])
    assert drawn.properties["id"] == drawn.keys


@pytest.mark.neo4j
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("UNWIND $keys AS key MERGE (n:N {id: key}) RETURN key, n.id, 1", "would write"),
        ("UNWIND $keys AS key RETURN key", "1 columns"),
        ("RETURN nonsense, 1, 2", "cannot be used"),
        (" ", "cannot be used"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_written(
    store: Neo4jStore, neo4j_session: Neo4jBackend, text: str, wrong: str
) -> None:
    before = neo4j_session.dump()
    with pytest.raises(InvalidView, match=wrong):
        store.resolve(replace(VIEW, hop=text))
    assert neo4j_session.dump() == before


@pytest.mark.neo4j
def test_what_looks_harmless_and_writes_is_refused_by_the_server(
    store: Neo4jStore, neo4j_session: Neo4jBackend
) -> None:
    """A statement that was not checked, since somebody else wrote it into the database."""
    before = neo4j_session.dump()
    for text in (
        "UNWIND $keys AS key CREATE (n:N {id: 100}) RETURN key, key, 1.0",
        "UNWIND $keys AS key MATCH (n:N {id: key}) SET n.id = 7 RETURN key, key, 1.0",
    ):
        with pytest.raises(StoreError):
            store.ego_networks(replace(VIEW, hop=text), [Ego(1, 4)], [0])
    assert neo4j_session.dump() == before


@pytest.mark.neo4j
def test_hostile_answers_are_values(store: Neo4jStore, neo4j_session: Neo4jBackend) -> None:
    before = neo4j_session.dump()
    hostile = (
        "UNWIND $keys AS key UNWIND ['`) DETACH DELETE n //', '$keys', 2] AS to RETURN key, to, 1"
    )
    found = store.ego_networks(replace(VIEW, hop=hostile), [Ego(1, 4)], [0])
    assert set(found.keys) == {1, 2}
    assert neo4j_session.dump() == before


def hop_of(*rows: list[object], most: int = 10) -> Hop:
    def answers(keys: object) -> list[list[object]]:
        return list(rows)

    return Hop(answers, most)


@pytest.mark.parametrize("weight", [-1, float("nan"), float("inf"), "1", None, True])
def test_a_weight_is_a_finite_number(weight: object) -> None:
    with pytest.raises(InvalidWeight, match="from 1 to 2"):
        hop_of([1, 2, weight]).edges([1])


@pytest.mark.parametrize("row", [[1, 2], [1, None, 1.0], [5, 2, 1.0], [1, [2], 1.0]])
def test_a_row_is_two_keys_and_a_weight(row: list[object]) -> None:
    with pytest.raises(InvalidView, match="statement of the view"):
        hop_of(row).edges([1])


def test_the_heaviest_rows_of_a_source_are_kept() -> None:
    hop = hop_of([1, 2, 1.0], [1, "b", 3.0], [1, "a", 3], most=2)
    keys: list[NodeKey] = [1]
    assert hop.edges(keys) == [(1, "a", 3.0), (1, "b", 3.0)]
