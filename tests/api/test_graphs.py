"""Graphs in Python: what is read of each kind, and what is no graph."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from graphbo import Search, optimize
from graphbo.api.graphs import read_graph
from graphbo.errors import GraphboError, InvalidAddress, InvalidView, InvalidWeight
from graphbo.stores import open_store
from graphbo.types.view_texts import ViewTexts

PLAIN = ViewTexts()
WEIGHED = ViewTexts(weight="w")
DISTANT = ViewTexts(weight="w", weight_as="distance")


def edges_of(given: Any, texts: ViewTexts = PLAIN) -> set[tuple[object, object, float | None]]:
    """The edges by their nodes."""
    graph = read_graph(given, texts)
    return {(graph.nodes[a], graph.nodes[b], weight) for a, b, weight in graph.edges}


@pytest.mark.parametrize(
    "kind",
    [sparse.csr_array, sparse.coo_matrix, sparse.lil_array, np.asarray],
    ids=["csr", "coo", "lil", "dense"],
)
def test_matrices(kind: Any) -> None:
    symmetric = np.array([[9, 2, 0], [2, 0, 1], [0, 1, 0]])
    graph = read_graph(kind(symmetric), PLAIN)
    assert (graph.nodes, graph.directed, graph.weight) == ((0, 1, 2), False, "weight")
    assert edges_of(kind(symmetric)) == {(0, 1, 2.0), (1, 2, 1.0)}
    assert edges_of(kind(symmetric.astype(bool))) == {(0, 1, 1.0), (1, 2, 1.0)}
    one_way = read_graph(kind(np.triu(symmetric)), PLAIN)
    assert one_way.directed


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.ones((2, 3)), "the shape (2, 3): expected (n, n)"),
        (np.array([["a"]]), "the type <U1: expected weights"),
        (np.array([[0, -1.5], [0, 0]]), "-1.5 in row 0, column 1"),
        (np.array([[0, np.nan], [0, 0]]), "nan in row 0, column 1"),
        (sparse.csr_array((0, 0)), "the graph has no node"),
    ],
    ids=str,
)
def test_matrices_that_are_no_graph(given: Any, expected: str) -> None:
    with pytest.raises((InvalidView, InvalidWeight)) as error:
        read_graph(given, PLAIN)
    assert expected in str(error.value)


def test_tables() -> None:
    table = pd.DataFrame({"source": ["a", "b", "a"], "n": 1, "target": ["b", "c", "b"]})
    assert edges_of(table.iloc[:2]) == {("a", "b", 1.0), ("b", "c", 1.0)}
    # Rows of the same pair are parallel edges.
    assert edges_of(table) == {("a", "b", 2.0), ("b", "c", 1.0)}
    weighed = pd.DataFrame({"from": [1, 1], "to": [2, 3], "w": [0.5, 2]})
    assert edges_of(weighed, WEIGHED) == {(1, 2, 0.5), (1, 3, 2.0)}
    assert all(type(node) is int for node in read_graph(weighed, WEIGHED).nodes)


@pytest.mark.parametrize(
    ("table", "texts", "expected"),
    [
        (
            {"a": [1], "b": [2], "c": [3]},
            PLAIN,
            "has the columns a, b, c: call those with the ends",
        ),
        ({"source": [1, None], "target": [2, 3]}, PLAIN, "'source' is empty in row 1"),
        ({"source": [1], "target": [2], "W": [1]}, WEIGHED, "no column 'w' (did you mean 'W'?)"),
        ({"source": [1], "target": [2], "w": [-1]}, WEIGHED, "from 1 to 2 has the weight -1"),
        ({"source": [1], "target": [2], "w": [None]}, WEIGHED, "from 1 to 2 has no weight in 'w'"),
        ({"source": [], "target": []}, PLAIN, "the graph has no node"),
    ],
    ids=str,
)
def test_tables_that_are_no_graph(table: Any, texts: ViewTexts, expected: str) -> None:
    with pytest.raises((InvalidView, InvalidWeight)) as error:
        read_graph(pd.DataFrame(table), texts)
    assert expected in str(error.value)


def test_parallel_weights_add_up() -> None:
    graph: Any = nx.MultiGraph([(0, 1, {"w": 1}), (1, 0, {"w": 3}), (1, 2, {"w": 5})])
    assert edges_of(graph, WEIGHED) == {(0, 1, 4.0), (1, 2, 5.0)}
    # Two ways of 1 and 3 are as good as one of 0.75.
    assert edges_of(graph, DISTANT) == {(0, 1, 0.75), (1, 2, 5.0)}
    assert edges_of(graph) == {(0, 1, 2.0), (1, 2, 1.0)}
    assert edges_of(nx.MultiGraph([(0, 1), (1, 2)])) == {(0, 1, 1.0), (1, 2, 1.0)}
    both_ways: Any = nx.MultiDiGraph([(0, 1), (1, 0), (0, 1)])
    assert edges_of(both_ways) == {(0, 1, 2.0), (1, 0, 1.0)}


def test_the_model_sees_that_parallel_weights_added_up() -> None:
    graph: Any = nx.MultiGraph([(0, 1, {"w": 1.0}), (0, 1, {"w": 2.0}), (1, 2, {"w": 4.0})])
    search = Search(graph, weight="w")
    found = search.run.graph.ego_networks([_ego(0)], [0], (), ())
    assert sorted(found.weights.tolist()) == [3.0, 4.0]


def _ego(centre: int) -> Any:
    from graphbo.types import Ego  # noqa: PLC0415 - for this test only

    return Ego(centre, 10)


def test_a_weight_that_no_edge_has_is_a_mistake() -> None:
    graph = nx.Graph([(0, 1, {"strength": 1})])
    calls: list[int] = []
    with pytest.raises(InvalidWeight, match=r"attribute 'strenght' \(did you mean 'strength'\?\)"):
        optimize(calls.append, graph, weight="strenght")
    # One edge among many is found, too, before anything is paid for.
    graph.add_edges_from((node, node + 1, {"strength": 1}) for node in range(1, 500))
    graph.add_edge(400, 402)
    with pytest.raises(InvalidWeight, match="edge from 400 to 402 has no weight in 'strength'"):
        optimize(calls.append, graph, weight="strength")
    graph.add_edge(400, 402, strength="7")
    with pytest.raises(InvalidWeight, match="the weight '7' in 'strength'"):
        optimize(calls.append, graph, weight="strength")
    assert not calls


@pytest.mark.parametrize(
    "given",
    [
        nx.Graph([(0, 1, {"weight": 2.0})]),
        pd.DataFrame({"source": [0], "target": [1], "weight": [2.0]}),
    ],
    ids=["networkx", "a table"],
)
def test_a_weight_that_nobody_asked_for_is_noted(
    given: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "graphbo.api")
    Search(given)
    assert "the edges have 'weight', which is not used: weight='weight' takes it" in caplog.messages
    caplog.clear()
    Search(given, weight="weight")
    assert not caplog.messages


@pytest.mark.parametrize("weight", [np.float32(2), np.int64(2), np.float64(2), 2], ids=str)
def test_weights_of_numpy_are_weights(weight: Any) -> None:
    assert edges_of(nx.Graph([(0, 1, {"w": weight})]), WEIGHED) == {(0, 1, 2.0)}


@pytest.mark.parametrize("weight", [True, Decimal(1), "1", float("inf"), -1e-9], ids=str)
def test_weights_that_are_none(weight: Any) -> None:
    with pytest.raises(InvalidWeight, match="every edge needs a finite number, 0 or more"):
        read_graph(nx.Graph([(0, 1, {"w": weight})]), WEIGHED)


@pytest.mark.parametrize(
    "given",
    [None, [(0, 1)], {0: [1]}, 7, object(), nx, pd.Series([1, 2])],
    ids=["nothing", "a list", "a dict", "a number", "an object", "a module", "a series"],
)
def test_what_is_no_graph(given: Any) -> None:
    with pytest.raises(InvalidView, match=r"the graph is .*: expected a networkx graph") as error:
        optimize(float, given)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("graph.db", "the graph is the path 'graph.db': write 'sqlite:graph.db'"),
        (Path("graph.db"), "write 'sqlite:graph.db'"),
        ("roads.graphml", "'roads.graphml', which is no address: .* is read with networkx"),
        ("", "'', which is no address"),
        ("http://localhost", "unknown scheme"),
    ],
    ids=str,
)
def test_a_path_in_place_of_an_address(given: Any, expected: str) -> None:
    with pytest.raises(InvalidAddress, match=expected):
        optimize(float, given)
    assert not Path("graph.db").exists()


@pytest.mark.parametrize("given", ["graph.db", Path("graph.db"), "data/graph"], ids=str)
def test_a_path_is_no_store(given: Any) -> None:
    with pytest.raises(InvalidAddress, match=f"sqlite:{given}"):
        open_store(given)


@pytest.mark.parametrize(
    "option",
    [
        {"label": "Cell"},
        {"relationship": "ROAD"},
        {"key": "id"},
        {"candidates": "Cell"},
        {"hop": "RETURN 1"},
    ],
    ids=str,
)
def test_names_of_a_database_are_not_ignored(option: Any) -> None:
    (name,) = option
    with pytest.raises(InvalidView, match=f"neither labels nor types: leave out {name}"):
        optimize(float, nx.path_graph(3), **option)


@pytest.mark.parametrize("direction", ["minimize", "MAXIMIZE", "min"])
def test_the_direction_is_that_of_edges(direction: Any) -> None:
    wanted = direction.lower().startswith("max")
    with pytest.raises(GraphboError, match=f"write maximize={wanted}"):
        optimize(float, nx.path_graph(3), direction=direction)


@pytest.mark.parametrize("direction", ["sideways", 1, ""])
def test_directions_that_are_none(direction: Any) -> None:
    with pytest.raises(GraphboError, match="expected both, out or in"):
        optimize(float, nx.DiGraph([(0, 1)]), direction=direction)
