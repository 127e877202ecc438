"""What every store guarantees: the same tests on each, and some on the long-term release of Neo4j, too."""

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from scipy import stats

from graphbo.errors import (
    EmptyView,
    InvalidName,
    InvalidView,
    InvalidWeight,
    KeyNotUnique,
    NoSuchNode,
    StoreError,
)
from graphbo.stores import EdgeRow, GraphStore, WriteCounts, open_store, ready_view
from graphbo.types import Direction, Ego, NodeKey, Property, Sample, Subgraph, View
from tests.backends import Backend, on_every_version

VIEW = View(("N",), ("R",), key="id")

# Where ids depend on what the server did before, a test of randomness cannot be repeated exactly. It fails by chance
# once in a million.
BY_CHANCE = 1e-6


def fill(
    store: GraphStore,
    edges: Sequence[tuple[NodeKey, NodeKey]],
    nodes: Sequence[NodeKey] = (),
    view: View = VIEW,
) -> None:
    store.create_key(view)
    store.write_nodes(view, [(key, {}) for key in nodes])
    store.write_relationships(view, [(a, b, {}) for a, b in edges])


def path(store: GraphStore, length: int) -> None:
    fill(store, [(i, i + 1) for i in range(length - 1)])


def edges_of(subgraph: Subgraph) -> set[frozenset[NodeKey]]:
    keys = subgraph.keys
    ends = zip(subgraph.sources, subgraph.targets, strict=True)
    return {frozenset((keys[a], keys[b])) for a, b in ends}


def degrees_of(subgraph: Subgraph | Sample) -> dict[NodeKey, int]:
    assert subgraph.degrees is not None
    return dict(zip(subgraph.keys, subgraph.degrees.tolist(), strict=True))


class TestAccess:
    @on_every_version
    def test_opens_the_same_database_again(
        self, store: GraphStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path(store, 3)
        monkeypatch.chdir(tmp_path)
        with open_store(store.access) as other:
            assert other.address == store.address
            assert other.count_nodes(VIEW) == 3
        assert store.count_nodes(VIEW) == 3

    def test_of_a_database_in_memory_there_is_none(self) -> None:
        with open_store("sqlite::memory:") as store:
            assert store.access is None


class TestCounts:
    def test_of_an_empty_database_are_zero(self, store: GraphStore) -> None:
        assert store.count_nodes(VIEW) == 0
        assert store.count_relationships(VIEW) == 0

    def test_see_only_the_view(self, store: GraphStore) -> None:
        fill(store, [(1, 2), (2, 3)], nodes=[9])
        fill(store, [("a", "b")], view=View(("Other",), ("S",), key="id"))
        assert store.count_nodes(VIEW) == 4
        assert store.count_relationships(VIEW) == 2

    def test_of_several_labels_add_up(self, store: GraphStore) -> None:
        fill(store, [(1, 2)])
        fill(store, [("a", "b")], view=View(("Other",), ("S",), key="id"))
        both = View(("N", "Other"), ("R", "S"), key="id")
        assert store.count_nodes(both) == 4
        assert store.count_relationships(both) == 2

    def test_follow_deletes(self, store: GraphStore, backend: Backend) -> None:
        path(store, 10)
        backend.delete_nodes("N", [0, 5])
        assert store.count_nodes(VIEW) == 8


class TestNodesWithProperty:
    def test_are_those_that_have_it_up_to_the_limit(self, store: GraphStore) -> None:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [("a", {"x": 1.5}), ("b", {}), ("c", {"x": "?"}), ("d", {"x": 2})])
        assert store.nodes_with_property(VIEW, "x", 10) == {"a": 1.5, "c": "?", "d": 2}
        # In the order of ids, which a server may have used before.
        everything = list(store.nodes_with_property(VIEW, "x", 10))
        assert list(store.nodes_with_property(VIEW, "x", 2)) == everything[:2]
        assert store.nodes_with_property(VIEW, "nothing", 10) == {}

    def test_hostile_names_are_names(self, store: GraphStore) -> None:
        name = 'it\'s `x` "y"} 🚉'
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(1, {name: 3})])
        assert store.nodes_with_property(VIEW, name, 10) == {1: 3}


class TestProperties:
    @on_every_version
    def test_come_back_as_written_in_the_order_asked(self, store: GraphStore) -> None:
        store.create_key(VIEW)
        rich: dict[str, Property] = {
            "name": "Åsa `x` 🚉",
            "size": 3,
            "share": 0.5,
            "open": True,
            "lines": ["a", "b"],
        }
        store.write_nodes(VIEW, [(1, rich), (2, {})])
        assert store.properties(VIEW, [2, 1]) == {2: {"id": 2}, 1: {**rich, "id": 1}}
        assert list(store.properties(VIEW, [2, 1])) == [2, 1]

    def test_of_a_missing_node_are_an_error_that_names_it(self, store: GraphStore) -> None:
        path(store, 3)
        with pytest.raises(NoSuchNode, match="'nobody'"):
            store.properties(VIEW, [1, "nobody"])

    def test_of_a_key_that_fits_into_no_database_are_an_error(self, store: GraphStore) -> None:
        path(store, 3)
        with pytest.raises(StoreError, match=r"beyond 64 bits|no node"):
            store.properties(VIEW, [2**70])

    @on_every_version
    def test_keys_are_not_confused_with_their_spelling(self, store: GraphStore) -> None:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(1, {"kind": "integer"}), ("1", {"kind": "text"})])
        assert store.properties(VIEW, [1])[1]["kind"] == "integer"
        assert store.properties(VIEW, ["1"])["1"]["kind"] == "text"


class TestWriting:
    @on_every_version
    def test_twice_changes_nothing(self, store: GraphStore, backend: Backend) -> None:
        def load() -> WriteCounts:
            store.create_key(VIEW)
            nodes = store.write_nodes(VIEW, [(i, {"x": i / 3}) for i in range(5)])
            edges = [(i, i + 1, {"w": 0.1 * i}) for i in range(6)]
            return nodes + store.write_relationships(VIEW, edges)

        first = load()
        before = backend.dump()
        assert (first.nodes_created, first.relationships_created) == (7, 6)
        assert load() == WriteCounts()
        assert backend.dump() == before

    def test_updates_what_differs(self, store: GraphStore) -> None:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(1, {"a": 1, "b": 1})])
        counts = store.write_nodes(VIEW, [(1, {"b": 2}), (2, {})])
        assert counts.nodes_created == 1
        assert counts.properties_set > 0
        assert store.properties(VIEW, [1])[1] == {"id": 1, "a": 1, "b": 2}

    def test_a_pair_that_occurs_again_keeps_the_last_weight(self, store: GraphStore) -> None:
        view = View(("N",), ("R",), weight="w", key="id")
        store.create_key(view)
        store.write_relationships(view, [(1, 2, {"w": 5.0}), (1, 2, {"w": 7.0})])
        assert store.count_relationships(view) == 1
        assert store.ego_networks(view, [Ego(1, 5)], [0]).weights.tolist() == [7.0]

    @on_every_version
    def test_replacing_deletes_the_view_and_nothing_else(self, store: GraphStore) -> None:
        path(store, 5)
        other = View(("Other",), ("R",), key="id")
        fill(store, [("a", "b")], view=other)
        store.delete_graph(VIEW)
        assert store.count_nodes(VIEW) == 0
        assert store.count_nodes(other) == 2
        assert store.count_relationships(other) == 1

    def test_needs_a_key(self, store: GraphStore) -> None:
        with pytest.raises(InvalidView, match="needs a key property"):
            store.write_nodes(View(("N",), ("R",)), [(1, {})])


class TestSeveralLabels:
    persons = View(("Person",), ("KNOWS",), key="name")
    employees = View(("Employee",), ("KNOWS",))

    def write(self, store: GraphStore) -> None:
        store.create_key(self.persons)
        store.write_nodes(self.persons, [("a", {"no": 1}), ("b", {"no": 2})], ["Employee", "Adult"])
        store.write_nodes(self.persons, [("c", {"no": 3})])
        store.write_relationships(self.persons, [("a", "b", {}), ("b", "c", {})])

    @on_every_version
    def test_a_node_is_found_by_each(self, store: GraphStore) -> None:
        self.write(store)
        assert store.count_nodes(self.persons) == 3
        assert store.count_nodes(self.employees) == 2
        assert {"Person", "Employee", "Adult"} <= set(store.names()[0])
        (key,) = store.random_keys(self.employees, 1, [0])
        found = store.nodes_with_keys(self.employees, [key])
        assert set(found[key][0].labels) == {"Person", "Employee", "Adult"}
        assert sorted(store.nodes_with_property(self.employees, "no", 9).values()) == [1, 2]  # type: ignore[type-var]
        network = store.ego_networks(self.employees, [Ego(key, 9)], [0])
        assert len(network) == 2
        assert sorted(degrees_of(network).values()) == [1, 2]

    @on_every_version
    def test_a_node_of_two_labels_counts_once(self, store: GraphStore) -> None:
        self.write(store)
        both = View(("Person", "Employee"), ("KNOWS",))
        assert store.count_nodes(both) == 3
        assert len(store.random_keys(both, 9, [0])) == 3

    def test_they_are_added_and_never_taken_away(self, store: GraphStore, backend: Backend) -> None:
        self.write(store)
        store.write_nodes(self.persons, [("c", {})], ["Employee"])
        assert store.count_nodes(self.employees) == 3
        store.write_nodes(self.persons, [("c", {})], ["Adult"])
        before = backend.dump()
        store.write_nodes(self.persons, [("c", {}), ("a", {"no": 1})], ["Adult", "Person"])
        assert backend.dump() == before
        found = store.nodes_with_keys(self.persons, ["c"])
        assert set(found["c"][0].labels) == {"Person", "Employee", "Adult"}

    @on_every_version
    def test_any_of_them_may_have_a_key_of_its_own(self, store: GraphStore) -> None:
        self.write(store)
        numbered = replace(self.employees, key="no")
        store.create_key(numbered)
        assert store.check_key(numbered).constrained
        assert store.resolve(self.employees).key == "no"
        assert store.properties(numbered, [2])[2]["name"] == "b"
        assert set(store.ego_networks(numbered, [Ego(1, 9)], [0])) == {1, 2}
        # They follow what is written.
        store.write_nodes(self.persons, [("b", {"no": 22})])
        assert set(store.random_keys(numbered, 9, [0])) == {1, 22}
        store.write_nodes(self.persons, [("d", {"no": 4})], ["Employee"])
        assert store.neighbours(numbered, [1], [0]) == [22]
        assert set(store.properties(numbered, [4, 1])) == {4, 1}
        # A node that has the label is known by it, whichever of its labels came first.
        assert (
            store.write_nodes(numbered, [(4, {"name": "d"}), (5, {"name": "e"})]).nodes_created == 1
        )
        assert store.count_nodes(numbered) == 4
        assert store.count_nodes(self.persons) == 4

    @on_every_version
    def test_a_key_that_two_would_share_is_refused(
        self, store: GraphStore, backend: Backend
    ) -> None:
        self.write(store)
        store.create_key(replace(self.employees, key="no"))
        before = backend.dump()
        with pytest.raises(KeyNotUnique):
            store.write_nodes(self.persons, [("d", {"no": 1})], ["Employee"])
        with pytest.raises(KeyNotUnique):
            store.write_nodes(self.persons, [("b", {"no": 1})])
        assert backend.dump() == before
        store.write_nodes(self.persons, [("d", {"no": 7}), ("e", {"no": 7})], ["Adult"])
        with pytest.raises(KeyNotUnique):
            store.create_key(View(("Adult",), ("KNOWS",), key="no"))

    @on_every_version
    def test_a_graph_is_deleted_by_any_of_its_labels(self, store: GraphStore) -> None:
        self.write(store)
        store.delete_graph(self.employees)
        assert store.count_nodes(self.persons) == 1
        assert store.count_nodes(self.employees) == 0
        assert store.count_relationships(self.persons) == 0
        assert degrees_of(store.ego_networks(self.persons, [Ego("c", 1)], [0])) == {"c": 0}

    def test_hostile_names_are_names(self, store: GraphStore) -> None:
        names = ["it's `x`", 'a "b"} 🚉', "x) DETACH DELETE (n"]
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(1, {})], names)
        for name in names:
            assert store.count_nodes(View((name,), ("R",))) == 1
        with pytest.raises(InvalidName):
            store.write_nodes(VIEW, [(2, {})], ["a\\u0060b"])
        assert store.count_nodes(VIEW) == 1


class TestRelationshipsBetweenLabels:
    people = View(("Person",), ("VISITS",), key="name")
    places = View(("Place",), ("VISITS",), key="id")
    both = View(("Person", "Place"), ("VISITS",))

    @on_every_version
    def test_each_end_is_known_by_its_own_label_and_key(self, store: GraphStore) -> None:
        store.create_key(self.people)
        store.create_key(self.places)
        store.write_nodes(self.people, [(1, {}), (2, {})])
        store.write_nodes(self.places, [(1, {"size": 5})])
        visits: list[EdgeRow] = [(1, 1, {"hours": 2}), (2, 1, {"hours": 1}), (2, 9, {})]
        counts = store.write_relationships(self.people, visits, target=self.places)
        assert (counts.nodes_created, counts.relationships_created) == (1, 3)
        assert store.write_relationships(self.people, visits, target=self.places) == WriteCounts()
        assert (store.count_nodes(self.people), store.count_nodes(self.places)) == (2, 2)
        assert store.properties(self.places, [9]) == {9: {"id": 9}}
        (first,) = store.random_keys(replace(self.places, key=None), 1, [0])
        network = store.ego_networks(self.both, [Ego(first, 9)], [0])
        assert len(network) == 4
        assert network.adjacency.sum() == 2 * 3

    def test_a_node_is_found_by_a_label_that_is_not_its_first(self, store: GraphStore) -> None:
        employees = View(("Employee",), ("VISITS",), key="no")
        store.create_key(employees)
        store.create_key(self.people)
        store.write_nodes(self.people, [("a", {"no": 1})], ["Employee"])
        store.write_relationships(employees, [(1, 5, {})], target=self.places)
        assert store.count_nodes(self.people) == 1
        assert degrees_of(store.ego_networks(self.people, [Ego("a", 1)], [0])) == {"a": 1}


class TestParallelRelationships:
    view = View(("N",), ("R",), weight="w", key="id")

    def weight(self, store: GraphStore, a: NodeKey, b: NodeKey) -> float:
        network = store.ego_networks(self.view, [Ego(a, 9)], [0])
        return float(network.adjacency[network.row(a), network.row(b)])

    @on_every_version
    def test_a_pair_has_one_for_each_set_of_properties(
        self, store: GraphStore, backend: Backend
    ) -> None:
        store.create_key(self.view)
        rows: list[EdgeRow] = [
            (1, 2, {"w": 1.0, "on": "monday"}),
            (1, 2, {"on": "tuesday", "w": 1.0}),
            (1, 2, {"w": 1.0, "on": "monday"}),
            (2, 1, {"w": 1.0}),
            (3, 3, {"w": 1.0}),
            (3, 3, {"w": 2.0}),
        ]
        counts = store.write_relationships(self.view, rows, parallel=True)
        assert (counts.nodes_created, counts.relationships_created) == (3, 5)
        assert store.count_relationships(self.view) == 5
        assert self.weight(store, 1, 2) == 2.0
        network = store.ego_networks(self.view, [Ego(1, 1), Ego(3, 1)], [0])
        assert degrees_of(network) == {1: 3, 3: 2}
        before = backend.dump()
        assert store.write_relationships(self.view, rows, parallel=True) == WriteCounts()
        assert backend.dump() == before
        more = store.write_relationships(self.view, [(1, 2, {"w": 5.0})], parallel=True)
        assert more.relationships_created == 1
        assert self.weight(store, 1, 2) == 7.0

    def test_without_it_every_one_of_a_pair_is_set(self, store: GraphStore) -> None:
        store.create_key(self.view)
        store.write_relationships(
            self.view, [(1, 2, {"w": 1.0}), (1, 2, {"w": 2.0})], parallel=True
        )
        store.write_relationships(self.view, [(1, 2, {"w": 4.0})])
        assert store.count_relationships(self.view) == 2
        assert self.weight(store, 1, 2) == 8.0

    def test_are_gone_with_their_nodes(self, store: GraphStore) -> None:
        store.create_key(self.view)
        store.write_relationships(
            self.view, [(1, 2, {"w": 1.0}), (1, 2, {"w": 2.0})], parallel=True
        )
        store.delete_graph(self.view)
        assert store.count_relationships(self.view) == 0


class TestKeys:
    def test_are_found_where_one_is_constrained(self, store: GraphStore) -> None:
        path(store, 3)
        assert store.resolve(View(("N",), ("R",))).key == "id"

    @on_every_version
    def test_without_one_are_internal_ids(self, store: GraphStore) -> None:
        path(store, 5)
        anonymous = View(("N",), ("R",))
        (key,) = store.random_keys(anonymous, 1, [1])
        assert isinstance(key, str)
        subgraph = store.ego_networks(anonymous, [Ego(key, 5)], [1])
        assert len(subgraph) == 5
        assert subgraph.degrees is not None
        assert sorted(subgraph.degrees) == [1, 1, 2, 2, 2]
        assert sorted(p["id"] for p in store.properties(anonymous, subgraph.keys).values()) == [  # type: ignore[type-var]
            0, 1, 2, 3, 4,
        ]  # fmt: skip

    @pytest.mark.parametrize("wrong", ["nobody", "4:no:1", "", "-1", "1.0", 10**9])
    def test_an_internal_id_that_is_none_is_an_error(
        self, store: GraphStore, wrong: NodeKey
    ) -> None:
        path(store, 5)
        with pytest.raises(NoSuchNode):
            store.properties(View(("N",), ("R",)), [wrong])

    def test_a_ready_view_has_nodes_and_a_constrained_key(self, store: GraphStore) -> None:
        with pytest.raises(EmptyView, match="'N'"):
            ready_view(store, VIEW)
        path(store, 4)
        assert ready_view(store, View(("N",), ("R",))) == VIEW

    @on_every_version
    def test_an_unconstrained_key_is_refused_with_what_is_wrong(
        self, store: GraphStore, backend: Backend
    ) -> None:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(i, {"name": "twin"} if i < 2 else {}) for i in range(5)])
        store.write_relationships(VIEW, [(0, 1, {})])
        before = backend.dump()
        by_name = View(("N",), ("R",), key="name")
        report = store.check_key(by_name)
        assert (report.constrained, report.missing, report.duplicates) == (False, 3, 1)
        with pytest.raises(KeyNotUnique, match="'name'"):
            ready_view(store, by_name)
        with pytest.raises(KeyNotUnique):
            store.create_key(by_name)
        assert backend.dump() == before


class TestRandomKeys:
    def test_are_different_and_repeatable(self, store: GraphStore) -> None:
        path(store, 50)
        keys = store.random_keys(VIEW, 20, [7])
        assert len(set(keys)) == 20
        assert store.random_keys(VIEW, 20, [7]) == keys
        assert store.random_keys(VIEW, 20, [8]) != keys

    @on_every_version
    def test_leave_out_what_is_excluded_to_the_last_node(self, store: GraphStore) -> None:
        path(store, 30)
        taken: list[NodeKey] = []
        while new := store.random_keys(VIEW, 7, [len(taken)], exclude=taken):
            taken += new
        assert sorted(taken, key=int) == list(range(30))

    def test_of_an_empty_view_are_none(self, store: GraphStore) -> None:
        assert store.random_keys(VIEW, 3, [0]) == []

    @pytest.mark.parametrize("situation", ["plain", "a third deleted", "rare label"])
    def test_are_uniform(self, store: GraphStore, backend: Backend, situation: str) -> None:
        keys = list(range(60))
        if situation == "rare label":
            # Nodes of another label before, between and after ours.
            other = View(("Other",), ("R",), key="id")
            store.create_key(other)
            store.create_key(VIEW)
            for batch in range(6):
                store.write_nodes(other, [(f"{batch}-{i}", {}) for i in range(100)])
                store.write_nodes(VIEW, [(i, {}) for i in keys[batch::6]])
            store.write_nodes(other, [(f"last-{i}", {}) for i in range(300)])
        else:
            fill(store, [(i, i + 1) for i in range(89)])
            if situation == "a third deleted":
                backend.delete_nodes("N", list(range(0, 90, 3)))
                keys = [key for key in range(90) if key % 3]
            else:
                keys = list(range(90))
        size, draws = 10, 150
        hits: Counter[NodeKey] = Counter()
        for seed in range(draws):
            hits.update(store.random_keys(VIEW, size, [seed]))
        assert set(hits) == set(keys)
        statistic = stats.chisquare([hits[key] for key in keys]).statistic
        # Draws without replacement vary less than independent ones.
        corrected = statistic * (len(keys) - 1) / (len(keys) - size)
        assert stats.chi2.sf(corrected, len(keys) - 1) > BY_CHANCE
        assert stats.chi2.cdf(corrected, len(keys) - 1) > BY_CHANCE


class TestRandomNodes:
    @on_every_version
    def test_come_with_their_degrees_and_what_is_read(self, store: GraphStore) -> None:
        path(store, 40)
        kinds: tuple[dict[str, Property], ...] = (
            {"a": 1.5, "b": [0.5, 1.0]},
            {"a": "x", "c": True},
            {},
        )
        store.write_nodes(VIEW, [(key, kinds[key % 3]) for key in range(40)])
        found = store.random_nodes(VIEW, 40, [3], read=["a", "b", "c", "nowhere"])
        # A few may be missing: they are drawn among ids, of which some are free on a server.
        assert 30 <= len(set(found.keys)) == len(found.keys) <= 40
        assert degrees_of(found) == {key: 1 if key in (0, 39) else 2 for key in found.keys}
        for name, values in found.properties.items():
            assert list(values) == [kinds[int(key) % 3].get(name) for key in found.keys]
        assert set(found.properties) == {"a", "b", "c", "nowhere"}
        assert store.random_nodes(VIEW, 3, [3]).properties == {}

    def test_are_those_that_random_keys_begins_with(self, store: GraphStore) -> None:
        path(store, 60)
        assert list(store.random_nodes(VIEW, 9, [5]).keys) == store.random_keys(VIEW, 9, [5])
        without = list(range(0, 60, 2))
        found = list(store.random_nodes(VIEW, 9, [5], without).keys)
        assert found == store.random_keys(VIEW, 9, [5], without)
        assert len(found) == 9

    def test_of_an_empty_view_are_none(self, store: GraphStore) -> None:
        found = store.random_nodes(VIEW, 3, [0], read=["a"])
        assert (found.keys, dict(found.properties)) == ((), {"a": ()})

    def test_are_fewer_where_draws_miss(self, store: GraphStore) -> None:
        view = View(("Rare",), ("R",), key="id")
        store.create_key(VIEW)
        store.create_key(view)
        store.write_nodes(view, [("first", {})])
        store.write_nodes(VIEW, [(i, {}) for i in range(3_000)])
        store.write_nodes(view, [("last", {})])
        assert len(store.random_nodes(view, 2, [0]).keys) < 2
        assert len(store.random_keys(view, 2, [0])) == 2

    def test_names_that_cannot_be_are_refused(self, store: GraphStore) -> None:
        path(store, 3)
        for name in ("", "a\\b"):
            with pytest.raises(InvalidName):
                store.random_nodes(VIEW, 3, [0], read=[name])
            with pytest.raises(InvalidName):
                store.ego_networks(VIEW, [Ego(1, 3)], [0], read=[name])


class TestEgoNetworks:
    def test_takes_whole_hops_while_they_fit(self, store: GraphStore) -> None:
        path(store, 9)
        subgraph = store.ego_networks(VIEW, [Ego(4, 5)], [0])
        assert subgraph.keys[0] == 4
        assert set(subgraph.keys[1:3]) == {3, 5}
        assert set(subgraph.keys[3:]) == {2, 6}
        assert edges_of(subgraph) == {frozenset(pair) for pair in [(2, 3), (3, 4), (4, 5), (5, 6)]}
        assert subgraph.egos == ((0, 1, 2, 3, 4),)

    @on_every_version
    def test_has_the_size_that_was_asked_for(self, store: GraphStore) -> None:
        graph = nx.barabasi_albert_graph(300, 3, seed=1)
        fill(store, list(graph.edges))
        for size in (1, 2, 17, 100, 300):
            subgraph = store.ego_networks(VIEW, [Ego(250, size)], [size])
            assert len(subgraph) == size
            induced = {frozenset(edge) for edge in graph.subgraph(subgraph.keys).edges}
            assert edges_of(subgraph) == induced

    def test_hops_are_complete_before_the_next_begins(self, store: GraphStore) -> None:
        graph = nx.barabasi_albert_graph(300, 2, seed=2)
        fill(store, list(graph.edges))
        distance = nx.single_source_shortest_path_length(graph, 200)
        subgraph = store.ego_networks(VIEW, [Ego(200, 60)], [3])
        hops = [distance[key] for key in subgraph.keys]
        assert hops == sorted(hops)
        for hop in range(max(hops)):
            reached = sum(d == hop for d in hops)
            assert reached == sum(d == hop for d in distance.values())

    def test_ends_with_its_component(self, store: GraphStore) -> None:
        fill(store, [(0, 1), (1, 2), (10, 11)], nodes=[99])
        assert set(store.ego_networks(VIEW, [Ego(0, 100)], [0])) == {0, 1, 2}
        lonely = store.ego_networks(VIEW, [Ego(99, 100)], [0])
        assert lonely.keys == (99,)
        assert lonely.adjacency.tolist() == [[0.0]]

    def test_goes_as_far_as_a_sparse_graph_needs(self, store: GraphStore) -> None:
        path(store, 120)
        subgraph = store.ego_networks(VIEW, [Ego(60, 101)], [0])
        assert set(subgraph) == set(range(10, 111))
        assert len(edges_of(subgraph)) == 100

    def test_of_several_centres_share_rows_and_relationships(self, store: GraphStore) -> None:
        path(store, 12)
        subgraph = store.ego_networks(VIEW, [Ego(3, 3), Ego(5, 5), Ego(11, 1)], [0])
        assert set(subgraph) == {2, 3, 4, 5, 6, 7, 11}
        assert [{subgraph.keys[row] for row in ego} for ego in subgraph.egos] == [
            {2, 3, 4},
            {3, 4, 5, 6, 7},
            {11},
        ]
        assert len(edges_of(subgraph)) == 5

    def test_the_same_seed_gives_the_same_answer(self, store: GraphStore, backend: Backend) -> None:
        fill(store, list(nx.barabasi_albert_graph(200, 3, seed=3).edges))

        def ask(where: GraphStore, seed: int) -> Subgraph:
            return where.ego_networks(VIEW, [Ego(150, 40), Ego(20, 30)], [seed, 1], first=[5, 6])

        first = ask(store, 4)
        with backend.open() as again:
            second = ask(again, 4)
        assert first.keys == second.keys
        assert first.egos == second.egos
        assert np.array_equal(first.adjacency, second.adjacency)
        assert ask(store, 5).keys != first.keys

    def test_of_the_hop_that_does_not_fit_the_given_keys_come_first(
        self, store: GraphStore
    ) -> None:
        fill(store, [("hub", i) for i in range(50)])
        for seed in range(5):
            subgraph = store.ego_networks(VIEW, [Ego("hub", 8)], [seed], first=[3, 41, 17, "gone"])
            assert {3, 17, 41} <= set(subgraph)
            assert len(subgraph) == 8

    @on_every_version
    def test_which_keys_come_first_is_said_anew_each_time(
        self, store: GraphStore, backend: Backend
    ) -> None:
        fill(store, [("hub", i) for i in range(50)] + [("hub", str(i)) for i in range(50)])
        questions: list[list[NodeKey]] = [[3, 41], [3, 41, 17], ["41", 17], [], [17, "17"], [3, 41]]
        for first in questions:
            found = store.ego_networks(VIEW, [Ego("hub", 8)], [4], first=first)
            with backend.open() as another:
                alone = another.ego_networks(VIEW, [Ego("hub", 8)], [4], first=first)
            assert found.keys == alone.keys
            assert set(first) <= set(found.keys[1 : 1 + len(first)])

    def test_of_a_missing_centre_is_an_error(self, store: GraphStore) -> None:
        path(store, 3)
        with pytest.raises(NoSuchNode, match="77"):
            store.ego_networks(VIEW, [Ego(1, 5), Ego(77, 5)], [0])

    def test_a_hub_gives_no_more_than_its_share(self, store: GraphStore) -> None:
        fill(store, [("hub", i) for i in range(3000)] + [(i, i + 1) for i in range(600)])
        subgraph = store.ego_networks(VIEW, [Ego("hub", 100)], [0])
        assert len(subgraph) == 100
        assert sum("hub" in edge for edge in edges_of(subgraph)) == 99
        near = store.ego_networks(VIEW, [Ego(30, 40)], [0])
        assert len(near) == 40
        assert near.adjacency[near.row("hub")].sum() == 39

    def test_what_is_taken_from_a_hop_is_random(self, store: GraphStore) -> None:
        leaves, size, draws = 60, 15, 200
        fill(store, [("hub", i) for i in range(leaves)])
        taken = np.zeros((draws, leaves), dtype=bool)
        for seed in range(draws):
            keys = store.ego_networks(VIEW, [Ego("hub", size + 1)], [seed, 9]).keys[1:]
            taken[seed, np.array(keys, dtype=int)] = True
        # Each leaf is taken equally often.
        expected = draws * size / leaves
        statistic = float(((taken.sum(0) - expected) ** 2 / expected).sum())
        corrected = statistic * (leaves - 1) / (leaves - size)
        assert stats.chi2.sf(corrected, leaves - 1) > BY_CHANCE
        # Neighbours in the order of loading, whose ids are adjacent, are taken together as often as any two.
        pairs = int((taken[:, 1:] & taken[:, :-1]).sum())
        chance = size * (size - 1) / (leaves * (leaves - 1))
        trials = draws * (leaves - 1)
        assert stats.binomtest(pairs, trials, chance).pvalue > BY_CHANCE

    def test_direction_restricts_the_way_but_not_the_model(self, store: GraphStore) -> None:
        fill(store, [(0, 1), (1, 2), (3, 1), (2, 0)])
        out = store.ego_networks(View(("N",), ("R",), "out", key="id"), [Ego(1, 9)], [0])
        assert out.keys == (1, 2, 0)
        assert np.array_equal(out.adjacency, np.ones((3, 3)) - np.eye(3))
        into = store.ego_networks(View(("N",), ("R",), "in", key="id"), [Ego(3, 9)], [0])
        assert into.keys == (3,)

    @on_every_version
    def test_leads_only_through_the_nodes_that_may_be_passed(self, store: GraphStore) -> None:
        #  0 - 1 - 2 - 3,  1 - 4,  2 - 4,  4 - 5
        fill(store, [(0, 1), (1, 2), (2, 3), (1, 4), (2, 4), (4, 5)])
        revealed = store.ego_networks(VIEW, [Ego(1, 9)], [0], through=[1])
        assert set(revealed) == {0, 1, 2, 4}
        # 2 and 4 are linked, but nobody has asked either of them yet.
        assert edges_of(revealed) == {frozenset(pair) for pair in [(0, 1), (1, 2), (1, 4)]}
        more = store.ego_networks(VIEW, [Ego(1, 9)], [0], through=[1, 4])
        assert set(more) == {0, 1, 2, 4, 5}
        assert frozenset((2, 4)) in edges_of(more)
        assert set(store.ego_networks(VIEW, [Ego(1, 9)], [0], through=[])) == {1}

    def test_stays_within_the_labels_and_types(self, store: GraphStore) -> None:
        other = View(("N",), ("S",), key="id")
        fill(store, [(0, 1), (1, 2)])
        fill(store, [(2, 3), (0, 2)], view=other)
        assert set(store.ego_networks(VIEW, [Ego(0, 9)], [0])) == {0, 1, 2}
        both = View(("N",), ("R", "S"), key="id")
        assert set(store.ego_networks(both, [Ego(0, 9)], [0])) == {0, 1, 2, 3}

    @on_every_version
    def test_have_the_properties_that_are_asked_for(self, store: GraphStore) -> None:
        path(store, 9)
        name = 'a `hostile" } name'
        store.write_nodes(VIEW, [(4, {name: 7, "vector": [1.0, -2.5]}), (5, {"vector": [0.0]})])
        found = store.ego_networks(VIEW, [Ego(4, 3), Ego(8, 1)], [0], read=[name, "vector"])
        assert {name: len(values) for name, values in found.properties.items()} == {
            name: 4,
            "vector": 4,
        }
        rows = [found.row(key) for key in (4, 5, 3, 8)]
        assert [found.properties[name][row] for row in rows] == [7, None, None, None]
        vectors = [found.properties["vector"][row] for row in rows]
        assert vectors == [[1.0, -2.5], [0.0], None, None]
        plain = store.ego_networks(VIEW, [Ego(4, 3), Ego(8, 1)], [0])
        assert plain.keys == found.keys
        assert plain.properties == {}

    @pytest.mark.parametrize(
        ("direction", "expected"),
        [("both", {0: 5, 1: 2, 9: 0}), ("out", {0: 4, 1: 1, 9: 0}), ("in", {0: 2, 1: 1, 9: 0})],
    )
    @on_every_version
    def test_know_the_degrees_in_the_whole_graph(
        self, store: GraphStore, direction: Direction, expected: dict[NodeKey, int]
    ) -> None:
        fill(store, [(0, 0), (0, 1), (1, 0), (0, 2), (0, 3)], nodes=[9])
        view = View(("N",), ("R",), direction, key="id")
        assert (
            degrees_of(store.ego_networks(view, [Ego(key, 1) for key in expected], [0])) == expected
        )

    def test_degrees_are_those_of_the_types_and_follow_what_is_written(
        self, store: GraphStore
    ) -> None:
        other = View(("N",), ("S",), key="id")
        fill(store, [(0, 1), (0, 1)])
        fill(store, [(0, 2), (3, 0)], view=other)
        both = View(("N",), ("R", "S"), key="id")
        for view, degree in [(VIEW, 1), (other, 2), (both, 3)]:
            assert degrees_of(store.ego_networks(view, [Ego(0, 1)], [0])) == {0: degree}
        fill(store, [(0, 1), (0, 7)])
        assert degrees_of(store.ego_networks(VIEW, [Ego(0, 1)], [0])) == {0: 2}

    def test_degrees_forget_what_was_deleted(self, store: GraphStore) -> None:
        cities = View(("City",), ("R",), key="id")
        fill(store, [(0, 1), (1, 2), (2, 2)])
        fill(store, [("a", "b")], view=cities)
        store.delete_graph(VIEW)
        fill(store, [(0, 1)])
        assert degrees_of(store.ego_networks(VIEW, [Ego(0, 9)], [0])) == {0: 1, 1: 1}
        assert degrees_of(store.ego_networks(cities, [Ego("a", 9)], [0])) == {"a": 1, "b": 1}


class TestWeights:
    view = View(("N",), ("R", "S"), weight="w", key="id")

    def write(self, store: GraphStore, kind: str, *edges: tuple[int, int, object]) -> None:
        view = View(("N",), (kind,), key="id")
        store.create_key(view)
        rows = [(a, b, {} if w is None else {"w": w}) for a, b, w in edges]
        store.write_relationships(view, rows)  # type: ignore[arg-type]

    def test_are_one_without_a_property(self, store: GraphStore) -> None:
        self.write(store, "R", (0, 1, 7.5))
        assert store.ego_networks(VIEW, [Ego(0, 5)], [0]).weights.tolist() == [1.0]

    def test_add_up_when_parallel_and_the_larger_direction_counts(self, store: GraphStore) -> None:
        self.write(store, "R", (0, 1, 2.0), (1, 0, 9.0), (1, 2, 0))
        self.write(store, "S", (0, 1, 3))
        adjacency = store.ego_networks(self.view, [Ego(0, 5)], [0]).adjacency
        assert adjacency.tolist() == [[0, 9, 0], [9, 0, 0], [0, 0, 0]]
        self.write(store, "S", (1, 2, 4.0), (2, 2, 5.0))
        adjacency = store.ego_networks(self.view, [Ego(0, 5)], [0]).adjacency
        assert adjacency.tolist() == [[0, 9, 0], [9, 0, 4], [0, 4, 0]]

    @pytest.mark.parametrize("bad", [None, -1.0, "heavy", True])
    @on_every_version
    def test_that_are_none_are_an_error_that_names_the_relationship(
        self, store: GraphStore, bad: object
    ) -> None:
        self.write(store, "R", (0, 1, 2.0), (1, 2, bad))
        with pytest.raises(InvalidWeight, match=r"from 1 to 2 .*'w'"):
            store.ego_networks(self.view, [Ego(0, 5)], [0])


class TestNeighbours:
    def test_are_distinct_and_not_among_the_given(self, store: GraphStore) -> None:
        fill(store, list(itertools.combinations(range(5), 2)))
        fill(store, [(0, 10), (1, 10), (4, 11)])
        assert set(store.neighbours(VIEW, [0, 1], [0])) == {2, 3, 4, 10}
        assert set(store.neighbours(VIEW, [0, 1], [0], exclude=[3, 10, "gone"])) == {2, 4}
        assert set(store.neighbours(VIEW, [0, 1], [0], exclude=[2, "3"])) == {3, 4, 10}
        assert set(store.neighbours(VIEW, [0, 1], [0])) == {2, 3, 4, 10}

    @on_every_version
    def test_are_limited_in_seeded_order(self, store: GraphStore) -> None:
        fill(store, [("hub", i) for i in range(40)])
        everyone = store.neighbours(VIEW, ["hub"], [5])
        assert len(everyone) == 40
        assert store.neighbours(VIEW, ["hub"], [5], limit=6) == everyone[:6]
        assert store.neighbours(VIEW, ["hub"], [6]) != everyone
        assert store.neighbours(VIEW, ["hub"], [5], limit=0) == []

    def test_follow_the_direction(self, store: GraphStore) -> None:
        fill(store, [(0, 1), (2, 0)])
        assert store.neighbours(View(("N",), ("R",), "out", key="id"), [0], [0]) == [1]
        assert store.neighbours(View(("N",), ("R",), "in", key="id"), [0], [0]) == [2]

    def test_of_a_missing_node_are_an_error(self, store: GraphStore) -> None:
        path(store, 3)
        with pytest.raises(NoSuchNode, match="88"):
            store.neighbours(VIEW, [0, 88], [0])


@on_every_version
def test_a_view_of_several_labels_is_one_graph(store: GraphStore) -> None:
    cities = View(("City",), ("R",), key="id")
    fill(store, [(1, 2)])
    fill(store, [("a", "b")], view=cities)
    both = View(("N", "City"), ("R",), key="id")
    assert set(store.random_keys(both, 9, [0])) == {1, 2, "a", "b"}
    assert set(store.ego_networks(both, [Ego(1, 9), Ego("b", 9)], [0])) == {1, 2, "a", "b"}
    assert store.properties(both, ["a", 1]) == {"a": {"id": "a"}, 1: {"id": 1}}


@on_every_version
def test_info_says_what_the_database_is(store: GraphStore, backend: Backend) -> None:
    before = backend.dump()
    info = store.info()
    assert info.writable
    assert info.address == backend.uri
    assert info.version[0].isdigit()
    assert backend.dump() == before


def test_an_in_memory_store_is_gone_when_closed() -> None:
    with open_store("sqlite::memory:") as store:
        path(store, 3)
        assert store.count_nodes(VIEW) == 3
    with open_store("sqlite::memory:") as store:
        assert store.count_nodes(VIEW) == 0


class TestBeforeARun:
    """What would be found out by an evaluation that was paid for is found out before the first."""

    def test_a_type_that_nobody_has_heard_of(self, store: GraphStore) -> None:
        path(store, 3)
        with pytest.raises(EmptyView, match=r"no relationship has the type 'RR'.*choose among R"):
            ready_view(store, replace(VIEW, relationships=("RR",)))

    @pytest.mark.parametrize("weight", [None, -1.0, "heavy"])
    def test_a_weight_that_is_none(self, store: GraphStore, weight: Property | None) -> None:
        store.create_key(VIEW)
        bad: dict[str, Property] = {} if weight is None else {"w": weight}
        store.write_relationships(VIEW, [(i, i + 1, {"w": 1.0}) for i in range(9)])
        ready_view(store, replace(VIEW, weight="w"))
        store.write_relationships(VIEW, [(4, 2, bad)])
        with pytest.raises(InvalidWeight, match="from 4 to 2"):
            ready_view(store, replace(VIEW, weight="w"))

    def test_a_disk_without_room(self, store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
        path(store, 3)
        ready_view(store, VIEW)
        monkeypatch.setattr(type(store), "room", lambda _: 1_000_000)
        with pytest.raises(StoreError, match="1 MB left"):
            ready_view(store, VIEW)
