"""What holds for every strategy where some of the nodes only connect the others, on each store."""

from dataclasses import replace

from graphbo.search.graph import Graph
from graphbo.search.strategies import STRATEGIES, create_strategy
from graphbo.stores import GraphStore
from graphbo.types import View
from graphbo.types.notation import read_condition
from tests.search.strategies.support import simulate
from tests.stores.property_graphs import Node, PropertyGraph, Relationship, Written

SMALL = {
    "bayes": {"initial": 3, "size": 6, "patience": 3},
    "paper": {"initial": 3, "size": 6, "smallest": 3},
}
VIEW = View(("Rack",), ("IN", "NEXT"), key="id", candidates=("Machine",))


def racks() -> PropertyGraph:
    """Two machines in each of four racks in a row; the racks have no key."""
    machines = [Node(f"m{i}", ("Machine",), {"open": i != 3}) for i in range(8)]
    racks = [Node(f"r{i}", ("Rack",)) for i in range(4)]
    links = [Relationship(i, "IN", 8 + i // 2) for i in range(8)]
    links += [Relationship(8 + i, "NEXT", 9 + i) for i in range(3)]
    return PropertyGraph(machines + racks, links)


def test_all_candidates_are_measured_and_nothing_else(store: GraphStore) -> None:
    Written.into(store, racks())
    view = replace(VIEW, candidates_where=read_condition("open = true"))
    expected = {f"m{i}" for i in range(8)} - {"m3"}
    for name in STRATEGIES:
        door = Graph(store, view, seed=1)
        strategy = create_strategy(name, SMALL.get(name, {}))
        history = simulate(strategy, door, lambda key: float(str(key)[1:]), budget=20, seed=1)
        assert {one.key for one in history} == expected, name
        assert len(history) == len(expected), name
        # Connectors are not among the nodes that were looked at.
        assert door.revealed == len(expected), name


def test_a_graph_that_is_revealed_is_followed_through_its_connectors(store: GraphStore) -> None:
    Written.into(store, racks())
    for name in STRATEGIES:
        door = Graph(store, VIEW, seed=1, start=("m0",), reveal="evaluated")
        strategy = create_strategy(name, SMALL.get(name, {}))
        history = simulate(strategy, door, lambda key: float(str(key)[1:]), budget=20, seed=1)
        assert history[0].key == "m0", name
        assert {one.key for one in history} == {f"m{i}" for i in range(8)}, name
