"""What every store guarantees of graphs as they are: connectors, hubs, paths and filters."""

from dataclasses import replace

import numpy as np
import pytest

from graphbo.errors import EmptyView, InvalidView, InvalidWeight
from graphbo.stores import GraphStore, ready_view
from graphbo.types import Direction, Ego, View
from graphbo.types.conditions import Comparison
from graphbo.types.notation import read_condition, read_path
from tests.backends import on_every_version, on_sqlite
from tests.stores.property_graphs import (
    DIRECTIONS,
    Node,
    PropertyGraph,
    Relationship,
    Written,
)

RNG = np.random.default_rng


def visits(people: int, places: int, seed: int, each: int = 3) -> PropertyGraph:
    """People who visit places, some of them twice, and know each other now and then."""
    rng = RNG(seed)
    nodes = [Node(i, ("Person",), {"age": int(rng.integers(5, 90))}) for i in range(people)]
    nodes += [
        Node(
            f"p{i}",
            ("Place", "Open") if i % 3 else ("Place",),
            {"kind": "bar" if i % 2 else "gym"},
        )
        for i in range(places)
    ]
    found = []
    for person in range(people):
        for place in rng.integers(0, places, each):
            hours = int(rng.integers(1, 6))
            found.append(Relationship(person, "VISITS", people + int(place), {"hours": hours}))
        if rng.random() < 0.3:
            found.append(Relationship(person, "KNOWS", int(rng.integers(0, people)), {"w": 2.0}))
    return PropertyGraph(nodes, unique(found))


def unique(relationships: list[Relationship]) -> list[Relationship]:
    """Those that are equal in everything are one relationship."""
    kept: dict[object, Relationship] = {}
    for one in relationships:
        key = (one.source, one.type, one.target, tuple(sorted(one.properties.items())))
        kept.setdefault(key, one)
    return list(kept.values())


def racks() -> PropertyGraph:
    """Machines in racks in rows, and one type that nearly all of them have."""
    nodes = [Node(f"m{i}", ("Machine",), {"cores": i % 4}) for i in range(24)]
    nodes += [Node(f"r{i}", ("Rack",)) for i in range(6)]
    nodes += [Node(f"w{i}", ("Row",)) for i in range(2)]
    nodes += [Node("t", ("Type",))]
    found = [Relationship(i, "IN", 24 + i // 4) for i in range(24)]
    found += [Relationship(24 + i, "IN", 30 + i // 3) for i in range(6)]
    found += [Relationship(i, "HAS", 32) for i in range(20)]
    return PropertyGraph(nodes, found)


SHARED = read_path("(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)")
PEOPLE = View(("Person",), paths=(SHARED,), key="id")
MACHINES = View(
    ("Rack", "Row", "Type"), ("IN", "HAS"), key="id", candidates=("Machine",), hub_limit=10
)


class TestCandidates:
    @on_every_version
    def test_alone_are_drawn_counted_and_measured(self, store: GraphStore) -> None:
        Written.into(store, racks())
        assert store.resolve(replace(MACHINES, key=None)) == MACHINES
        assert store.count_nodes(MACHINES) == 24
        everyone = store.random_keys(MACHINES, 99, [0])
        assert sorted(everyone) == sorted(f"m{i}" for i in range(24))
        assert set(store.nodes_with_property(MACHINES, "id", 99)) == set(everyone)
        found = store.ego_networks(MACHINES, [Ego("m0", 12)], [0])
        assert len(found) == 12
        assert all(str(key).startswith("m") for key in found.keys)
        assert ready_view(store, MACHINES) == MACHINES

    def test_have_the_properties_and_degrees_that_are_asked_for(self, store: GraphStore) -> None:
        Written.into(store, racks())
        found = store.ego_networks(MACHINES, [Ego("m0", 12)], [0], read=["cores"])
        wanted = tuple(int(str(key)[1:]) % 4 for key in found.keys)
        assert found.connectors
        assert found.properties == {"cores": wanted}
        drawn = store.random_nodes(MACHINES, 30, [1], read=["cores"])
        assert sorted(drawn.keys) == sorted(f"m{i}" for i in range(24))
        assert drawn.properties["cores"] == tuple(int(str(key)[1:]) % 4 for key in drawn.keys)
        network = store.ego_networks(MACHINES, [Ego(key, 1) for key in drawn.keys], [0])
        assert drawn.degrees is not None
        assert network.degrees is not None
        assert drawn.degrees.tolist() == network.degrees.tolist()

    def test_of_people_who_meet_are_counted_along_paths(self, store: GraphStore) -> None:
        Written.into(store, visits(20, 6, 1))
        drawn = store.random_nodes(PEOPLE, 99, [1], read=["age"])
        network = store.ego_networks(PEOPLE, [Ego(key, 1) for key in drawn.keys], [0], read=["age"])
        assert network.keys == drawn.keys
        assert network.properties == drawn.properties
        assert network.degrees is not None
        assert drawn.degrees is not None
        assert drawn.degrees.tolist() == network.degrees.tolist()

    @on_every_version
    def test_are_known_by_key_even_where_connectors_have_none(self, store: GraphStore) -> None:
        graph = racks()
        written = Written.into(store, graph)
        found = store.ego_networks(MACHINES, [Ego("m0", 5)], [0])
        assert set(found.connectors) <= set(written.ids)
        assert {graph.nodes[row].labels[0] for row in written.rows(found, MACHINES)[5:]} <= {
            "Rack",
            "Row",
        }

    @on_every_version
    def test_a_network_is_whole_with_the_connectors_that_hold_it_together(
        self, store: GraphStore
    ) -> None:
        graph = racks()
        written = Written.into(store, graph)
        for seed in range(3):
            found = store.ego_networks(MACHINES, [Ego("m5", 9), Ego("m22", 4)], [seed])
            rows = written.rows(found, MACHINES)
            assert len(found.connectors) <= 9 + 4
            assert np.array_equal(found.adjacency, graph.adjacency(MACHINES, rows))
            assert found.adjacency.shape == (len(rows), len(rows))
            assert [len(ego) for ego in found.egos] == [9, 4]
            assert max(row for ego in found.egos for row in ego) < len(found)

    def test_connectors_are_bounded_by_the_size(self, store: GraphStore) -> None:
        nodes = [Node(0, ("A",)), Node(1, ("A",)), *(Node(f"c{i}", ("C",)) for i in range(50))]
        links = [Relationship(end, "R", 2 + i) for i in range(50) for end in (0, 1)]
        view = View(("C",), ("R",), key="id", candidates=("A",))
        Written.into(store, PropertyGraph(nodes, links))
        found = store.ego_networks(view, [Ego(0, 3)], [0])
        assert set(found.keys) == {0, 1}
        assert len(found.connectors) == 3
        assert found.connectors != store.ego_networks(view, [Ego(0, 3)], [1]).connectors

    @on_every_version
    def test_hubs_are_skipped_and_reported(self, store: GraphStore) -> None:
        graph = racks()
        written = Written.into(store, graph)
        found = store.ego_networks(MACHINES, [Ego("m0", 24)], [0])
        assert found.hubs == {written.ids[32]}
        assert written.ids[32] not in found.connectors
        # Through racks and the row, but not through the type: half of the machines.
        assert set(found.keys) == {f"m{i}" for i in range(12)}
        wide = replace(MACHINES, hub_limit=20)
        whole = store.ego_networks(wide, [Ego("m0", 24)], [0])
        assert (len(whole), whole.hubs) == (24, frozenset())

    @on_every_version
    def test_a_connector_beyond_the_limit_is_not_looked_into(self, store: GraphStore) -> None:
        """However many neighbours it has: nothing of them is in the answer."""
        nodes = [Node(i, ("A",)) for i in range(400)] + [Node("c", ("C",)), Node("d", ("C",))]
        links = [Relationship(i, "R", 400) for i in range(400)]
        links += [Relationship(i, "R", 401) for i in range(10)]
        written = Written.into(store, PropertyGraph(nodes, links))
        view = View(("C",), ("R",), key="id", candidates=("A",), hub_limit=10)
        found = store.ego_networks(view, [Ego(0, 50)], [0])
        assert set(found.keys) == set(range(10))
        assert found.connectors == (written.ids[401],)
        assert found.hubs == {written.ids[400]}
        assert set(store.neighbours(view, [0], [0])) == set(range(1, 10))

    @on_every_version
    def test_connectors_are_passed_while_the_graph_is_revealed(self, store: GraphStore) -> None:
        graph = racks()
        written = Written.into(store, graph)
        found = store.ego_networks(MACHINES, [Ego("m0", 24)], [0], through=["m0"])
        # The machines of its rack, and of the racks of its row: the connectors between are walked on.
        assert set(found.keys) == {f"m{i}" for i in range(12)}
        rows = written.rows(found, MACHINES)
        assert np.array_equal(found.adjacency, graph.adjacency(MACHINES, rows))
        nothing = store.ego_networks(MACHINES, [Ego("m0", 24)], [0], through=[])
        assert nothing.keys == ("m0",)
        assert nothing.connectors == ()

    @on_every_version
    def test_neighbours_are_the_nearest_through_connectors_alone(self, store: GraphStore) -> None:
        graph = racks()
        written = Written.into(store, graph)
        for node in (0, 13, 23):
            wanted = {graph.nodes[other].key for other in graph.neighbours(MACHINES, node)}
            found = store.neighbours(MACHINES, [f"m{node}"], [0])
            assert set(found) == wanted
            assert len(found) == len(set(found))
            assert store.neighbours(MACHINES, [f"m{node}"], [0], limit=3) == found[:3]
            rest = store.neighbours(MACHINES, [f"m{node}"], [0], exclude=found[:2])
            assert rest == found[2:]
        assert written.store is store

    @on_every_version
    def test_may_be_some_of_the_nodes_with_a_label(self, store: GraphStore) -> None:
        graph = racks()
        written = Written.into(store, graph)
        view = replace(
            MACHINES, candidates=("Machine",), candidates_where=read_condition("cores >= 2")
        )
        wanted = {f"m{i}" for i in range(24) if i % 4 >= 2}
        assert store.count_nodes(view) == 12
        assert set(store.random_keys(view, 99, [0])) == wanted
        found = store.ego_networks(view, [Ego("m2", 24)], [0])
        assert set(found.keys) == {f"m{i}" for i in (2, 3, 6, 7, 10, 11)}
        # What has left the filter is known all the same, to whoever knew it before.
        assert set(store.properties(view, ["m0"])) == {"m0"}
        left = store.ego_networks(view, [Ego("m0", 3)], [0])
        assert left.keys[0] == "m0"
        assert set(left.keys) & wanted
        assert written.rows(found, view)[6:]

    @on_every_version
    def test_a_filter_is_on_every_node(self, store: GraphStore) -> None:
        graph = visits(40, 12, 3)
        written = Written.into(store, graph)
        view = View(("Person",), ("KNOWS",), key="id", where=read_condition("age > 30"))
        wanted = {node.key for node in graph.nodes if node.properties.get("age", 0) > 30}  # type: ignore[operator]
        assert set(store.random_keys(view, 99, [0])) == wanted
        assert store.count_nodes(view) == len(wanted)
        for key in sorted(wanted, key=str)[:8]:
            node = written.node(key, view)
            assert set(store.neighbours(view, [key], [0])) == {
                graph.nodes[other].key for other in graph.neighbours(view, node)
            }


PATHS = [
    "(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)",
    "(:Person)-[:VISITS]->(:Place&Open)<-[:VISITS]-(:Person)",
    "(:Person)-[v:VISITS WHERE v.hours > 2]->(:Place)<-[:VISITS]-(:Person)",
    '(:Person)-[:VISITS]->(p:Place WHERE p.kind = "bar")<-[:VISITS]-(:Person)',
    "(:Person)-[:VISITS]-()-[:VISITS]-(:Person)",
    "(:Person WHERE age > 30)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)",
    "(:Person)-[:KNOWS]->(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)",
    "(:Person)-[:KNOWS]->(:Person)<-[:KNOWS]-(:Person)",
    "(:Person)-[:KNOWS]->(:Person)",
    "(:Person)-[:KNOWS|VISITS]-(:Person)",
    "(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)",
]


class TestBeforeARun:
    def test_a_type_in_a_path_that_nobody_has_heard_of(self, store: GraphStore) -> None:
        Written.into(store, visits(5, 2, 0))
        assert ready_view(store, PEOPLE) == PEOPLE
        wrong = read_path("(:Person)-[:VISIT]->(:Place)<-[:VISIT]-(:Person)")
        with pytest.raises(EmptyView, match="no relationship has the type 'VISIT'"):
            ready_view(store, replace(PEOPLE, paths=(wrong,)))

    def test_a_filter_that_no_node_fulfils(self, store: GraphStore) -> None:
        Written.into(store, visits(5, 2, 0))
        with pytest.raises(EmptyView, match=r"no :Person node .* fulfils age > 200"):
            ready_view(store, replace(PEOPLE, where=read_condition("age > 200")))

    @on_sqlite
    def test_a_statement_that_answers_with_edges_needs_a_server(self, store: GraphStore) -> None:
        Written.into(store, visits(5, 2, 0))
        view = replace(PEOPLE, hop="MATCH (n) RETURN 1")
        with pytest.raises(InvalidView, match="needs a Neo4j"):
            ready_view(store, view)
        with pytest.raises(InvalidView, match="needs a Neo4j"):
            store.ego_networks(view, [Ego(0, 3)], [0])


class TestPaths:
    @pytest.mark.parametrize("direction", DIRECTIONS)
    @pytest.mark.parametrize("text", PATHS)
    @pytest.mark.parametrize("limit", [1000, 12])
    def test_weigh_what_all_their_ways_weigh(
        self, store: GraphStore, text: str, direction: Direction, limit: int
    ) -> None:
        graph = visits(30, 9, len(text))
        written = Written.into(store, graph)
        view = View(("Person",), (), direction, key="id", paths=(read_path(text),), hub_limit=limit)
        for seed, size in [(0, 30), (1, 8)]:
            found = store.ego_networks(view, [Ego(4, size), Ego(17, 3)], [seed])
            rows = written.rows(found, view)
            np.testing.assert_allclose(
                found.adjacency, graph.adjacency(view, rows), rtol=1e-9, atol=1e-12
            )
            assert found.degrees is not None
            assert found.degrees.tolist() == [graph.trend_degree(view, row) for row in rows]
        for node in (4, 17, 0):
            found_keys = store.neighbours(view, [node], [0])
            assert set(found_keys) == {
                graph.nodes[other].key for other in graph.neighbours(view, node)
            }

    @on_every_version
    def test_several_add_up_with_relationships(self, store: GraphStore) -> None:
        graph = visits(25, 8, 11)
        written = Written.into(store, graph)
        paths = (SHARED, read_path("(:Person)-[:KNOWS]->(:Person)-[:VISITS]->(:Place)"))
        view = View(("Person", "Place"), ("KNOWS",), key="id", paths=paths, candidates=("Person",))
        found = store.ego_networks(view, [Ego(3, 25)], [2])
        rows = written.rows(found, view)
        assert found.connectors
        np.testing.assert_allclose(found.adjacency, graph.adjacency(view, rows), rtol=1e-9)

    def test_two_who_share_three_places_are_nearer_than_two_who_share_one(
        self, store: GraphStore
    ) -> None:
        nodes = [Node(i, ("Person",)) for i in range(3)]
        nodes += [Node(f"p{i}", ("Place",)) for i in range(4)]
        links = [Relationship(0, "VISITS", 3 + i) for i in range(4)]
        links += [Relationship(1, "VISITS", 3 + i) for i in range(3)]
        links += [Relationship(2, "VISITS", 6)]
        Written.into(store, PropertyGraph(nodes, links))
        found = store.ego_networks(PEOPLE, [Ego(0, 3)], [0])
        near, far = (found.adjacency[found.row(0), found.row(other)] for other in (1, 2))
        assert (near, far) == (pytest.approx(3 / 2), pytest.approx(1 / 2))

    @on_every_version
    def test_the_nearest_are_taken_first(self, store: GraphStore) -> None:
        """Those who share most, at places that few visit; what was measured comes before them."""
        nodes = [Node(i, ("Person",)) for i in range(30)]
        nodes += [Node(name, ("Place",)) for name in ("station", "home", "club")]
        links = [Relationship(i, "VISITS", 30) for i in range(30)]
        links += [Relationship(i, "VISITS", 31) for i in (0, 7)]
        links += [Relationship(i, "VISITS", 32) for i in (0, 7, 19, 20)]
        Written.into(store, PropertyGraph(nodes, links))
        for seed in range(3):
            found = store.ego_networks(PEOPLE, [Ego(0, 4)], [seed])
            assert found.keys[:2] == (0, 7)
            assert set(found.keys) == {0, 7, 19, 20}
            known = store.ego_networks(PEOPLE, [Ego(0, 3)], [seed], first=[25])
            assert set(known.keys) == {0, 25, 7}

    @on_every_version
    def test_a_place_that_everybody_visits_is_skipped_and_reported(self, store: GraphStore) -> None:
        nodes = [Node(i, ("Person",)) for i in range(60)]
        nodes += [Node("station", ("Place",)), Node("home", ("Place",))]
        links = [Relationship(i, "VISITS", 60) for i in range(60)]
        links += [Relationship(i, "VISITS", 61) for i in range(5)]
        written = Written.into(store, PropertyGraph(nodes, links))
        view = replace(PEOPLE, hub_limit=20)
        found = store.ego_networks(view, [Ego(0, 30)], [0])
        assert set(found.keys) == set(range(5))
        assert found.hubs == {written.ids[60]}
        assert found.degrees is not None
        assert found.degrees.tolist() == [4] * 5
        assert set(store.neighbours(view, [0], [0])) == set(range(1, 5))

    @on_every_version
    def test_count_while_the_graph_is_revealed_if_one_end_is(self, store: GraphStore) -> None:
        graph = visits(20, 6, 5)
        written = Written.into(store, graph)
        found = store.ego_networks(PEOPLE, [Ego(0, 20)], [0], through=[0, 1])
        rows = written.rows(found, PEOPLE)
        known = {row for row, node in enumerate(rows) if node in (0, 1)}
        expected = graph.adjacency(PEOPLE, rows)
        for a in range(len(rows)):
            for b in range(len(rows)):
                if a not in known and b not in known:
                    expected[a, b] = 0.0
        np.testing.assert_allclose(found.adjacency, expected, rtol=1e-9)
        assert set(rows) - {0, 1} <= graph.beside(PEOPLE, 0) | graph.beside(PEOPLE, 1)

    @on_every_version
    def test_of_names_that_are_hostile_are_paths(self, store: GraphStore) -> None:
        label, kind, name = (
            "it's `L`",
            'x"} ]->(n) DETACH DELETE n //',
            "p'`\"; DROP TABLE node; --",
        )
        nodes = [Node(i, (label,), {name: i}) for i in range(3)] + [
            Node("c", ("C `x`",), {name: 9})
        ]
        links = [Relationship(i, kind, 3, {name: i}) for i in range(3)]
        Written.into(store, PropertyGraph(nodes, links))

        def quoted(text: str) -> str:
            return "`" + text.replace("`", "``") + "`"

        text = (
            f"(:{quoted(label)})-[:{quoted(kind)} WHERE {quoted(name)} >= 0]->"
            f"(:{quoted('C `x`')} WHERE {quoted(name)} = 9)<-[:{quoted(kind)}]-(:{quoted(label)})"
        )
        view = View((label,), paths=(read_path(text),), key="id", where=Comparison(name, "<", 2))
        found = store.ego_networks(view, [Ego(0, 9)], [0])
        assert set(found.keys) == {0, 1}
        assert found.adjacency.sum() == pytest.approx(2 / 3)

    @on_every_version
    def test_that_are_given_twice_are_walked_from_each_end_once(self, store: GraphStore) -> None:
        graph = visits(20, 6, 8)
        written = Written.into(store, graph)
        path = read_path("(:Person)-[:KNOWS]->(:Person)-[:VISITS]->(:Place)<-[:VISITS]-(:Person)")
        view = replace(PEOPLE, paths=(path, path.turned))
        found = store.ego_networks(view, [Ego(0, 20)], [0])
        rows = written.rows(found, view)
        np.testing.assert_allclose(found.adjacency, graph.adjacency(view, rows), rtol=1e-9)
        assert found.degrees is not None
        assert found.degrees.tolist() == [graph.trend_degree(view, row) for row in rows]

    def test_the_answer_is_the_same_each_time(self, store: GraphStore) -> None:
        Written.into(store, visits(40, 12, 1))
        first, second = (store.ego_networks(PEOPLE, [Ego(3, 15)], [7]) for _ in range(2))
        assert first.keys == second.keys
        assert np.array_equal(first.adjacency, second.adjacency)


class TestWeightsOfSeveralKinds:
    @on_every_version
    def test_factors_defaults_and_distances(self, store: GraphStore) -> None:
        nodes = [Node(i, ("N",)) for i in range(3)]
        links = [
            Relationship(0, "ROUTE", 1, {"w": 4.0}),
            Relationship(0, "CODESHARE", 1, {"w": 10}),
            Relationship(1, "CODESHARE", 2),
        ]
        Written.into(store, PropertyGraph(nodes, links))
        view = View(("N",), ("ROUTE", "CODESHARE"), key="id", weight="w")
        factors = replace(view, factors=(("CODESHARE", 0.2),), default_weight=3.0)
        found = store.ego_networks(factors, [Ego(0, 3)], [0])
        rows = [found.row(i) for i in range(3)]
        assert found.adjacency[rows[0], rows[1]] == pytest.approx(4 + 0.2 * 10)
        assert found.adjacency[rows[1], rows[2]] == pytest.approx(0.2 * 3)
        distances = replace(factors, weight_as="distance")
        found = store.ego_networks(distances, [Ego(0, 3)], [0])
        assert found.adjacency[rows[0], rows[1]] == pytest.approx(1 / 4 + 0.2 / 10)
        unweighted = replace(factors, weight=None, default_weight=None)
        found = store.ego_networks(unweighted, [Ego(0, 3)], [0])
        assert found.adjacency[rows[0], rows[1]] == pytest.approx(1.2)
        with pytest.raises(InvalidWeight):
            store.ego_networks(view, [Ego(0, 3)], [0])
