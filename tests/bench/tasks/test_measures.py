"""Centralities, against networkx."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

import graphbo.bench.tasks.measures as module
from graphbo.bench.tasks.graphs import edges_of
from graphbo.bench.tasks.measures import adjacency, betweenness, eigenvector

GRAPHS = {
    "path": nx.path_graph(7),
    "star": nx.star_graph(6),
    "two components": nx.disjoint_union(nx.path_graph(4), nx.cycle_graph(5)),
    "isolated": nx.empty_graph(4),
    "ba": nx.barabasi_albert_graph(120, 2, seed=1),
    "ws": nx.watts_strogatz_graph(90, 4, 0.2, seed=1),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_betweenness_is_that_of_networkx(name: str) -> None:
    graph = GRAPHS[name]
    expected = list(nx.betweenness_centrality(graph).values())
    assert np.allclose(betweenness(edges_of(graph), len(graph)), expected, atol=1e-14)


@given(n=st.integers(3, 25), p=st.floats(0, 1), seed=st.integers(0, 10**6))
@settings(deadline=None)
def test_betweenness_of_any_graph(n: int, p: float, seed: int) -> None:
    graph = nx.gnp_random_graph(n, p, seed=seed)
    expected = list(nx.betweenness_centrality(graph).values())
    assert np.allclose(betweenness(edges_of(graph), n), expected, atol=1e-13)


def test_blocks_of_sources_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = edges_of(GRAPHS["ba"])
    whole = betweenness(edges, 120)
    monkeypatch.setattr(module, "_BLOCK", 1)
    assert np.allclose(betweenness(edges, 120), whole)


def test_pivots_rank_nodes_like_all_of_them() -> None:
    graph = nx.barabasi_albert_graph(800, 3, seed=2)
    edges = edges_of(graph)
    exact = betweenness(edges, 800)
    few = betweenness(edges, 800, np.random.default_rng(0).choice(800, 100, replace=False))
    assert few.argmax() == exact.argmax()
    assert spearmanr(few, exact).statistic > 0.9
    assert few.sum() == pytest.approx(exact.sum(), rel=0.05)


@pytest.mark.parametrize("name", ["path", "star", "ba", "ws"])
def test_eigenvector_is_that_of_networkx(name: str) -> None:
    graph = GRAPHS[name]
    expected = list(nx.eigenvector_centrality_numpy(graph).values())
    assert np.allclose(eigenvector(edges_of(graph), len(graph)), expected, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_eigenvector_is_the_dominant_one(seed: int) -> None:
    graph = nx.watts_strogatz_graph(300, 10, 0.1, seed=seed)
    links = adjacency(edges_of(graph), 300)
    vector = eigenvector(edges_of(graph), 300)
    largest = np.linalg.eigvalsh(links.toarray())[-1]
    assert np.allclose(links @ vector, largest * vector, atol=1e-8)
    assert (vector >= 0).all()
    assert np.linalg.norm(vector) == pytest.approx(1)
