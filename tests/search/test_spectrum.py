import copy
import pickle
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graphbo.errors import ModelError
from graphbo.search.kernels import Diffusion
from graphbo.search.spectrum import Spectrum, laplacian
from graphbo.types import FloatArray, Subgraph


def adjacency(graph: "nx.Graph[int]") -> FloatArray:
    return np.asarray(nx.to_numpy_array(graph), dtype=np.float64)


def test_the_laplacian_of_two_joined_nodes() -> None:
    assert np.array_equal(laplacian([[0, 1], [1, 0]]), [[0.5, -0.5], [-0.5, 0.5]])


def test_the_laplacian_of_a_weighted_path_by_hand() -> None:
    # Degrees 2, 5, 3: the entries are -w / (2 √(d_i d_j)).
    expected = np.array(
        [
            [0.5, -1 / np.sqrt(10), 0],
            [-1 / np.sqrt(10), 0.5, -1.5 / np.sqrt(15)],
            [0, -1.5 / np.sqrt(15), 0.5],
        ]
    )
    assert np.allclose(laplacian([[0, 2, 0], [2, 0, 3], [0, 3, 0]]), expected, atol=1e-15)


def test_an_isolated_node_has_a_zero_row() -> None:
    result = laplacian([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert not result[2].any()
    assert not result[:, 2].any()


@pytest.mark.parametrize("factor", [1e-300, 1e-9, 1e9, 1e300])
def test_the_scale_of_the_weights_does_not_matter(factor: float) -> None:
    weights = np.array([[0, 2.0, 0.5], [2.0, 0, 1], [0.5, 1, 0]])
    assert np.allclose(laplacian(factor * weights), laplacian(weights), atol=1e-14)


def test_self_loops_are_ignored() -> None:
    assert np.array_equal(laplacian([[7, 1], [1, 3]]), laplacian([[0, 1], [1, 0]]))


@pytest.mark.parametrize(
    ("matrix", "complaint"),
    [
        (np.zeros((0, 0)), "shape"),
        (np.zeros((2, 3)), "shape"),
        (np.zeros(4), "shape"),
        ([[0, -1], [-1, 0]], "negative"),
        ([[0, np.nan], [np.nan, 0]], "infinite"),
        ([[0, np.inf], [np.inf, 0]], "infinite"),
        ([[0, 1], [0, 0]], "symmetric"),
    ],
)
def test_a_matrix_that_is_no_adjacency_is_refused(matrix: object, complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        Spectrum.from_adjacency(matrix)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("graph", "zeros", "order"),
    [
        (nx.empty_graph(1), 1, 2),
        (nx.empty_graph(7), 7, 2),
        (nx.path_graph(2), 1, 2),
        (nx.path_graph(3), 1, 2),
        (nx.path_graph(4), 1, 3),
        (nx.path_graph(5), 1, 4),
        (nx.path_graph(6), 1, 5),
        (nx.path_graph(60), 1, 5),
        (nx.complete_graph(9), 1, 2),
        (nx.star_graph(20), 1, 2),
        (nx.disjoint_union(nx.path_graph(4), nx.complete_graph(5)), 2, 3),
        (nx.disjoint_union(nx.empty_graph(3), nx.cycle_graph(8)), 4, 4),
    ],
)
def test_zero_modes_and_order(graph: "nx.Graph[int]", zeros: int, order: int) -> None:
    spectrum = Spectrum.from_adjacency(adjacency(graph))
    assert (spectrum.zeros, spectrum.order) == (zeros, order)


@pytest.mark.parametrize(("largest", "order"), [(2, 2), (3, 3), (8, 8), (80, 59)])
def test_the_largest_order_can_be_chosen(largest: int, order: int) -> None:
    spectrum = Spectrum.from_adjacency(adjacency(nx.path_graph(60)), largest)
    assert spectrum.order == order
    assert len(spectrum.powers) == order


def test_an_order_that_learns_nothing_is_refused() -> None:
    with pytest.raises(ModelError, match="expected at least 2"):
        Spectrum.from_adjacency(adjacency(nx.path_graph(4)), 1)


def test_known_eigenvalues() -> None:
    clique = Spectrum.from_adjacency(adjacency(nx.complete_graph(5)))
    assert np.allclose(clique.eigenvalues, [0, *[5 / 8] * 4])
    star = Spectrum.from_adjacency(adjacency(nx.star_graph(4)))
    assert np.allclose(star.eigenvalues, [0, 0.5, 0.5, 0.5, 1])


def test_the_zero_mode_is_the_root_of_the_degree() -> None:
    spectrum = Spectrum.from_adjacency(adjacency(nx.star_graph(4)))
    expected = np.sqrt([4, 1, 1, 1, 1]) / np.sqrt(8)
    assert np.allclose(np.abs(spectrum.eigenvectors[:, 0]), expected)


def test_it_comes_from_a_subgraph_row_by_row() -> None:
    subgraph = Subgraph.from_edges(["c", "a", "b"], [("a", "b"), ("b", "c")])
    spectrum = Spectrum.of(subgraph)
    assert len(spectrum) == 3
    rebuilt = spectrum.eigenvectors * spectrum.eigenvalues @ spectrum.eigenvectors.T
    assert np.allclose(rebuilt, laplacian([[0, 0, 1], [0, 0, 1], [1, 1, 0]]))


def test_it_cannot_change_and_copies_are_the_same_object() -> None:
    spectrum = Spectrum.from_adjacency(adjacency(nx.path_graph(4)))
    with pytest.raises(ValueError, match="read-only"):
        spectrum.eigenvectors[0, 0] = 1
    assert copy.deepcopy(spectrum) is spectrum
    again = pickle.loads(pickle.dumps(spectrum))
    assert np.array_equal(again.eigenvectors, spectrum.eigenvectors)


symmetric = st.integers(1, 12).flatmap(
    lambda n: arrays(np.float64, (n, n), elements=st.sampled_from([0.0, 0.0, 0.3, 1.0, 50.0]))
)


@given(symmetric)
def test_the_eigenpairs_rebuild_the_laplacian(half: FloatArray) -> None:
    weights = np.maximum(half, half.T)
    spectrum = Spectrum.from_adjacency(weights)
    values, vectors = spectrum.eigenvalues, spectrum.eigenvectors
    assert values.min() >= 0
    assert values.max() <= 1
    assert np.allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-12)
    assert np.allclose((vectors * values) @ vectors.T, laplacian(weights), atol=1e-8)
    graph = nx.from_numpy_array(weights)
    components = [graph.subgraph(part) for part in nx.connected_components(graph)]
    assert spectrum.zeros == len(components)
    assert spectrum.order == min(5, max(2, *(nx.diameter(part) for part in components)))


class TestConnectors:
    """People 0, 1, 2, of whom 0 and 1 visit a place, which is row 3."""

    def subgraph(self) -> Subgraph:
        ends = np.array([[0, 3], [1, 3]])
        return Subgraph(
            ("ada", "bob", "eve"), ends[:, 0], ends[:, 1], np.ones(2), connectors=("place",)
        )

    def test_have_modes_and_no_rows(self) -> None:
        spectrum = Spectrum.of(self.subgraph())
        assert len(spectrum) == 3
        assert spectrum.modes == 4
        assert spectrum.eigenvectors.shape == (3, 4)

    def test_candidates_are_as_alike_as_in_the_whole_matrix(self) -> None:
        subgraph = self.subgraph()
        whole = Spectrum.from_adjacency(subgraph.adjacency)
        seen = Diffusion.scaled(Spectrum.of(subgraph))(range(3))
        assert np.allclose(seen, Diffusion.scaled(whole)(range(4))[:3, :3])
        assert seen[0, 1] > 10 * abs(seen[0, 2])

    def test_a_row_of_a_connector_is_none_of_the_models(self) -> None:
        with pytest.raises(ModelError, match="from 0 to 2"):
            Diffusion.scaled(Spectrum.of(self.subgraph()))([3])


def test_it_comes_from_a_networkx_graph_node_by_node() -> None:
    graph: Any = nx.path_graph(["c", "a", "b"])
    nx.set_edge_attributes(graph, {("c", "a"): 1.0, ("a", "b"): 4.0}, "w")
    plain, weighted = Spectrum.of(graph), Spectrum.of(graph, weight="w")
    assert plain.nodes == weighted.nodes == ("c", "a", "b")
    np.testing.assert_allclose(plain.adjacency, adjacency(nx.path_graph(3)))
    np.testing.assert_allclose(weighted.adjacency * 4, [[0, 1, 0], [1, 0, 4], [0, 4, 0]])
    assert plain.rows(["b", "c"]).tolist() == [2, 0]
    with pytest.raises(ModelError, match="no node 'd'"):
        plain.rows(["a", "d"])
    # Rows of a matrix have no names.
    with pytest.raises(ModelError, match="no node 'a'"):
        Spectrum.from_adjacency(adjacency(nx.path_graph(3))).rows(["a"])


def test_directions_and_parallel_edges_are_those_of_the_model() -> None:
    one_way: Any = nx.DiGraph()
    one_way.add_weighted_edges_from([(0, 1, 2.0), (1, 0, 3.0), (1, 2, 1.0)])
    expected = np.array([[0, 3, 0], [3, 0, 1], [0, 1, 0]])
    np.testing.assert_allclose(3 * Spectrum.of(one_way, weight="weight").adjacency, expected)
    parallel: Any = nx.MultiGraph([(0, 1, {"w": 1}), (0, 1, {"w": 2}), (1, 2, {"w": 1})])
    np.testing.assert_allclose(3 * Spectrum.of(parallel, weight="w").adjacency, expected)
    # Without a weight, each of them counts 1.
    np.testing.assert_allclose(
        2 * Spectrum.of(parallel).adjacency, [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    )


@pytest.mark.parametrize(
    ("graph", "weight", "complaint"),
    [
        (nx.Graph(), None, "the graph has no node"),
        (nx.path_graph(3), "w", "from 0 to 1 has the weight None in 'w'"),
        (nx.Graph([(0, 1, {"w": "2"})]), "w", "the weight '2' in 'w': expected a number"),
        (nx.Graph([(0, 1, {"w": -1})]), "w", "negative"),
        (None, None, "the graph is a NoneType: expected a networkx graph"),
        ([(0, 1)], None, "the graph is a list: expected a networkx graph"),
    ],
    ids=["empty", "no weight", "a text", "negative", "nothing", "a list"],
)
def test_what_has_no_spectrum(graph: Any, weight: str | None, complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        Spectrum.of(graph, weight=weight)
