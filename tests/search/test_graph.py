"""The door to the graph: what it lets through, what it remembers, what it counts."""

from collections.abc import Iterator
from typing import cast

import networkx as nx
import pytest

from graphbo.errors import InvalidView, NoSuchNode
from graphbo.search.graph import Graph, Reveal
from graphbo.stores import GraphStore
from graphbo.types import Ego
from tests.search.strategies.support import VIEW, SpyingStore, stored

#: 0 - 1 - 2 - … - 29
PATH: "nx.Graph[int]" = nx.path_graph(30)


@pytest.fixture
def path() -> Iterator[SpyingStore]:
    with stored(PATH) as store:
        yield SpyingStore(store)


def graph(
    spy: SpyingStore, *, seed: int = 0, start: tuple[int, ...] = (), reveal: Reveal = "all"
) -> Graph:
    return Graph(cast(GraphStore, spy), VIEW, seed=seed, start=start, reveal=reveal)


class TestEgoNetworks:
    def test_are_those_of_the_store(self, path: SpyingStore) -> None:
        found = graph(path).ego_networks([Ego(5, 3), Ego(20, 5)], (1,), (), ())
        assert set(found.keys) == {4, 5, 6, 18, 19, 20, 21, 22}

    def test_are_asked_for_once_while_nothing_changes(self, path: SpyingStore) -> None:
        door = graph(path)
        first = door.ego_networks([Ego(5, 3)], (1,), [3, 7], ())
        assert door.ego_networks([Ego(5, 3)], [1], [7, 3], [5]) is first
        assert path.calls == ["ego_networks"]

    def test_are_asked_for_again_when_anything_does(self, path: SpyingStore) -> None:
        door = graph(path)
        door.ego_networks([Ego(5, 2)], (1,), [4], ())
        door.ego_networks([Ego(6, 2)], (1,), [4], ())
        door.ego_networks([Ego(5, 3)], (1,), [4], ())
        door.ego_networks([Ego(5, 2)], (2,), [4], ())
        door.ego_networks([Ego(5, 2)], (1,), [6], ())
        assert len(path.calls) == 5

    def test_prefer_what_was_evaluated(self, path: SpyingStore) -> None:
        door = graph(path)
        for draw in range(5):
            assert set(door.ego_networks([Ego(5, 2)], (draw,), [6], ()).keys) == {5, 6}

    def test_depend_on_seed_and_draw(self) -> None:
        with stored(nx.star_graph(200)) as store:
            drawn = {
                (seed, draw): Graph(store, VIEW, seed=seed).ego_networks([Ego(0, 10)], draw, (), ())
                for seed in (0, 1)
                for draw in ((0,), (1,))
            }
            assert len({found.keys for found in drawn.values()}) == 4
            again = Graph(store, VIEW, seed=1).ego_networks([Ego(0, 10)], (1,), (), ())
            assert again.keys == drawn[1, (1,)].keys

    def test_of_a_node_that_is_not_there(self, path: SpyingStore) -> None:
        with pytest.raises(NoSuchNode):
            graph(path).ego_networks([Ego("nobody", 3)], (1,), (), ())

    def test_remembers_a_few_answers_only(self, path: SpyingStore) -> None:
        door = graph(path)
        for draw in range(50):
            door.ego_networks([Ego(5, 3)], (draw,), (), ())
        door.ego_networks([Ego(5, 3)], (0,), (), ())
        assert len(path.calls) == 51


class TestRandom:
    def test_excludes(self, path: SpyingStore) -> None:
        found = graph(path).random(100, (1,), range(10), ())
        assert sorted(cast(list[int], found)) == list(range(10, 30))

    def test_begins_at_the_start_nodes(self, path: SpyingStore) -> None:
        door = graph(path, start=(7, 3, 7))
        assert door.random(2, (1,), (), ()) == [7, 3]
        found = door.random(5, (1,), [7], ())
        assert found[0] == 3
        assert len(set(found)) == 5
        assert 7 not in found

    def test_is_asked_for_once_while_nothing_changes(self, path: SpyingStore) -> None:
        door = graph(path)
        assert door.random(3, (1,), (), ()) == door.random(3, (1,), (), [4])
        assert path.calls == ["random_keys"]


class TestSample:
    def test_has_what_is_known_of_each_node(self, path: SpyingStore) -> None:
        door = graph(path)
        found = door.sample(50, (1,), [3], ["nowhere"])
        assert set(found.keys) == {*range(30)} - {3}
        assert found.degrees is not None
        assert found.properties == {"nowhere": (None,) * 29}
        assert door.sample(50, (1,), [3], ["nowhere"]) is found
        assert path.calls == ["random_nodes"]
        assert door.revealed == 29

    def test_has_no_degrees_where_they_may_not_be_known(self, path: SpyingStore) -> None:
        door = Graph(cast(GraphStore, path), VIEW, seed=0, degrees=False)
        assert door.sample(5, (1,), ()).degrees is None

    def test_is_refused_in_an_unknown_graph(self, path: SpyingStore) -> None:
        with pytest.raises(InvalidView, match="being revealed"):
            graph(path, start=(1,), reveal="ego").sample(5, (1,), ())


class TestUnknownGraph:
    @pytest.mark.parametrize("reveal", ["ego", "evaluated"])
    def test_needs_a_start(self, path: SpyingStore, reveal: Reveal) -> None:
        with pytest.raises(InvalidView, match="name a start node"):
            graph(path, reveal=reveal)

    def test_has_to_be_one_of_the_three(self, path: SpyingStore) -> None:
        with pytest.raises(InvalidView, match="expected one of all, ego, evaluated"):
            graph(path, start=(1,), reveal=cast(Reveal, "some"))

    @pytest.mark.parametrize("reveal", ["ego", "evaluated"])
    def test_random_nodes_are_start_nodes_and_neighbours(
        self, path: SpyingStore, reveal: Reveal
    ) -> None:
        door = graph(path, start=(10, 20), reveal=reveal)
        assert door.random(5, (1,), (), ()) == [10, 20]
        assert set(door.random(5, (1,), [10], [10])) == {20, 9, 11}
        assert set(door.random(5, (1,), [10, 20, 9], [10, 20])) == {11, 19, 21}
        assert door.random(5, (1,), [0, 1, 10, 20], [0]) == []
        assert "random_keys" not in path.calls

    @pytest.mark.parametrize("reveal", ["ego", "evaluated"])
    def test_refuses_to_look_around_what_was_not_evaluated(
        self, path: SpyingStore, reveal: Reveal
    ) -> None:
        door = graph(path, start=(10,), reveal=reveal)
        with pytest.raises(InvalidView, match="9 has not been evaluated"):
            door.ego_networks([Ego(9, 5)], (1,), (), [10])
        with pytest.raises(InvalidView, match="9 has not been evaluated"):
            door.neighbours([10, 9], (1,), (), [10])
        assert path.calls == []

    def test_ego_reveals_ego_networks(self, path: SpyingStore) -> None:
        door = graph(path, start=(10,), reveal="ego")
        assert set(door.ego_networks([Ego(10, 5)], (1,), (), [10]).keys) == {8, 9, 10, 11, 12}

    @pytest.mark.parametrize("reveal", ["ego", "evaluated"])
    def test_does_not_tell_how_many_neighbours_there_are(
        self, path: SpyingStore, reveal: Reveal
    ) -> None:
        door = graph(path, start=(10,), reveal=reveal)
        first = door.ego_networks([Ego(10, 5)], (1,), (), [10])
        assert first.degrees is None
        assert door.ego_networks([Ego(10, 5)], (1,), (), [10]) is first
        known = graph(path).ego_networks([Ego(0, 3)], (1,), (), ()).degrees
        assert known is not None
        assert known.tolist() == [1, 2, 2]

    def test_evaluated_reveals_neighbours_of_evaluated_nodes_only(self, path: SpyingStore) -> None:
        door = graph(path, start=(10,), reveal="evaluated")
        found = door.ego_networks([Ego(10, 50)], (1,), (), [10, 11])
        assert set(found.keys) == {9, 10, 11, 12}
        more = door.ego_networks([Ego(10, 50)], (1,), (), [10, 11, 9])
        assert set(more.keys) == {8, 9, 10, 11, 12}

    def test_evaluated_hides_relationships_among_those_who_were_not(self) -> None:
        with stored(nx.complete_graph(5)) as store:
            door = Graph(store, VIEW, seed=0, start=(0,), reveal="evaluated")
            found = door.ego_networks([Ego(0, 50)], (1,), (), [0])
            assert found.adjacency.sum() == 2 * 4


class TestCounts:
    def test_each_node_once_and_each_call(self, path: SpyingStore) -> None:
        door = graph(path)
        assert (door.revealed, door.database_calls, door.database_seconds) == (0, 0, 0.0)
        door.ego_networks([Ego(5, 3)], (1,), (), ())
        door.ego_networks([Ego(5, 3)], (1,), (), ())
        assert (door.revealed, door.database_calls) == (3, 1)
        door.neighbours([5], (1,), (), ())
        door.random(30, (1,), (), ())
        assert (door.revealed, door.database_calls) == (30, 3)
        assert door.database_seconds > 0
