"""Places for nodes."""

import networkx as nx
import numpy as np
import pytest

from graphbo.seeing.layout import layout
from graphbo.types import FloatArray


def placed(graph: "nx.Graph[int]") -> FloatArray:
    edges = np.array(list(graph.edges()), dtype=np.int64).reshape(-1, 2)
    return layout(len(graph), edges)


GRAPHS = {
    "nothing": nx.empty_graph(0),
    "one": nx.empty_graph(1),
    "pair": nx.path_graph(2),
    "loop": nx.Graph([(0, 0)]),
    "isolated": nx.empty_graph(40),
    "path": nx.path_graph(60),
    "star": nx.star_graph(80),
    "complete": nx.complete_graph(30),
    "parts": nx.disjoint_union(nx.cycle_graph(30), nx.path_graph(5)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_every_node_has_a_place_of_its_own(name: str) -> None:
    places = placed(GRAPHS[name])

    assert places.shape == (len(GRAPHS[name]), 2)
    assert np.isfinite(places).all()
    assert np.abs(places).max(initial=0.0) <= 0.5 + 1e-9
    apart = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(len(places))
    assert apart.min(initial=1.0) > 1e-4


def test_the_same_graph_is_drawn_the_same() -> None:
    graph = nx.connected_watts_strogatz_graph(300, 4, 0.1, seed=1)

    assert np.array_equal(placed(graph), placed(graph))


def test_neighbours_are_closer_than_others() -> None:
    places = placed(nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 12)))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    edges = np.array(list(nx.convert_node_labels_to_integers(nx.grid_2d_graph(12, 12)).edges()))

    assert apart[edges[:, 0], edges[:, 1]].mean() < apart.mean() / 4


def test_communities_are_told_apart() -> None:
    graph = nx.random_partition_graph([40, 40, 40], 0.3, 0.005, seed=1)
    places = placed(graph)
    centres = [places[40 * part : 40 * part + 40].mean(axis=0) for part in range(3)]
    spread = max(places[40 * part : 40 * part + 40].std() for part in range(3))

    gaps = [np.linalg.norm(centres[a] - centres[b]) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert min(gaps) > spread
