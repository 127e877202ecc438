"""Random graphs: networkx's own where they are small, the like where they are large."""

import networkx as nx
import numpy as np
import pytest

from graphbo.bench.tasks.graphs import EXACT, barabasi_albert, edges_of, watts_strogatz
from graphbo.types import IntArray

LARGE = EXACT + 2000


def degrees(edges: IntArray, n: int) -> IntArray:
    return np.bincount(edges.ravel(), minlength=n)


def assert_simple(edges: IntArray, n: int) -> None:
    assert edges.dtype == np.int64
    assert edges.min() >= 0
    assert edges.max() < n
    assert (edges[:, 0] != edges[:, 1]).all()
    assert len(np.unique(np.sort(edges, axis=1), axis=0)) == len(edges)


def test_small_ones_are_those_of_networkx() -> None:
    ba = nx.barabasi_albert_graph(50, 2, seed=3)
    assert nx.utils.edges_equal(ba.edges, nx.Graph(barabasi_albert(50, 2, 3).tolist()).edges)
    ws = nx.watts_strogatz_graph(50, 4, 0.3, seed=3)
    assert nx.utils.edges_equal(ws.edges, nx.Graph(watts_strogatz(50, 4, 0.3, 3).tolist()).edges)


def test_self_loops_are_no_edges() -> None:
    assert edges_of(nx.Graph([(0, 0), (0, 1)])).tolist() == [[0, 1]]
    assert edges_of(nx.empty_graph(3)).shape == (0, 2)


@pytest.mark.parametrize("m", [1, 3])
def test_a_large_barabasi_albert_graph(m: int) -> None:
    edges = barabasi_albert(LARGE, m, 0)
    assert_simple(edges, LARGE)
    assert nx.is_connected(nx.Graph(edges.tolist()))
    assert 0.995 * m * (LARGE - m) < len(edges) <= m * (LARGE - m)
    # As unequal as networkx's: few nodes have most of the edges.
    found = np.sort(degrees(edges, LARGE))
    graph = nx.barabasi_albert_graph(LARGE, m, seed=1)
    like = np.sort([degree for _, degree in graph.degree()])
    for share in (0.5, 0.9, 0.99, 0.999):
        row = int(share * LARGE)
        assert found[row] == pytest.approx(like[row], rel=0.2, abs=1)
    assert 0.3 < found[-1] / like[-1] < 3


@pytest.mark.parametrize(("k", "p"), [(4, 1.0), (10, 0.1)])
def test_a_large_watts_strogatz_graph(k: int, p: float) -> None:
    edges = watts_strogatz(LARGE, k, p, 0)
    assert_simple(edges, LARGE)
    assert len(edges) == LARGE * k // 2
    apart = np.abs(edges[:, 0] - edges[:, 1])
    elsewhere = np.minimum(apart, LARGE - apart) > k // 2
    assert elsewhere.mean() == pytest.approx(p, abs=0.02)
    assert degrees(edges, LARGE).std() == pytest.approx(np.sqrt(k / 2 * p * (2 - p)), rel=0.1)


def test_the_seed_decides() -> None:
    first, same, other = (barabasi_albert(LARGE, 2, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)
    first, same, other = (watts_strogatz(LARGE, 4, 0.1, seed) for seed in (1, 1, 2))
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)
