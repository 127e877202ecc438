"""That the default finds what it is for, where every seed is another graph; benchmarks/search.py has more of it."""

from collections.abc import Sequence
from typing import Any, cast

import networkx as nx
import numpy as np
from scipy.sparse import csr_array

from graphbo.ego import Graph
from graphbo.stores import GraphStore
from graphbo.strategies import create_strategy
from graphbo.types import FloatArray, Observation
from tests.strategies.support import VIEW, simulate, stored

SEEDS, BUDGET = 10, 100

#: The baselines that go the same way whatever the values are.
BLIND = ("random", "bfs", "dfs")


def betweenness(graph: "nx.Graph[int]") -> FloatArray:
    """Of every node: Brandes' algorithm from all sources at once, ten times as fast as networkx."""
    links: Any = csr_array(nx.to_scipy_sparse_array(graph)).astype(float)
    paths = np.eye(len(graph))
    hops = np.where(paths > 0, 0, -1)
    front, furthest = paths, 0
    while front.any():
        furthest += 1
        front = (links @ front) * (hops < 0)
        hops[front > 0] = furthest
        paths = paths + front
    through = np.zeros_like(paths)
    for hop in range(furthest - 1, 0, -1):
        share = np.where(hops == hop, (1 + through) / np.maximum(paths, 1), 0)
        through += np.where(hops == hop - 1, paths * (links @ share), 0)
    np.fill_diagonal(through, 0)
    return cast(FloatArray, through.sum(axis=1))


def eigenvector(graph: "nx.Graph[int]") -> FloatArray:
    return np.array(list(nx.eigenvector_centrality_numpy(graph).values()))


def test_betweenness_is_that_of_networkx() -> None:
    graph = nx.watts_strogatz_graph(60, 4, 0.2, seed=0)
    expected = np.array(list(nx.betweenness_centrality(graph, normalized=False).values()))
    np.testing.assert_allclose(betweenness(graph), 2 * expected)


def scale_free(seed: int) -> "nx.Graph[int]":
    """A Barabási-Albert graph whose nodes are numbered at random: by default the numbers tell age and degree."""
    graph = nx.barabasi_albert_graph(1000, 3, seed=seed)
    order = np.random.default_rng(seed).permutation(1000)
    result: nx.Graph[int] = nx.empty_graph(1000)
    result.add_edges_from(order[np.array(graph.edges)].tolist())
    return result


def regret(history: Sequence[Observation], values: FloatArray) -> FloatArray:
    """What the best node so far falls short of the optimum, relative to the range, after each evaluation."""
    best = np.maximum.accumulate([values[cast(int, one.key)] for one in history])
    return cast(FloatArray, (values.max() - best) / np.ptp(values))


def search(name: str, store: GraphStore, seed: int, values: FloatArray) -> list[Observation]:
    return simulate(
        create_strategy(name),
        Graph(store, VIEW, seed=seed),
        lambda key: float(values[cast(int, key)]),
        budget=BUDGET,
        seed=seed,
    )


def test_beats_every_baseline_on_scale_free_graphs() -> None:
    """Mean regret, and area under the regret curve paired by seed, for two centralities on ten graphs."""
    curves: dict[tuple[str, str], list[FloatArray]] = {}
    for seed in range(SEEDS):
        graph = scale_free(seed)
        tasks = {"betweenness": betweenness(graph), "eigenvector": eigenvector(graph)}
        with stored(graph) as store:
            blind = {name: search(name, store, seed, np.zeros(1000)) for name in BLIND}
            for task, values in tasks.items():
                guided = {name: search(name, store, seed, values) for name in ("bayes", "local")}
                for name, history in (blind | guided).items():
                    curves.setdefault((task, name), []).append(regret(history, values))
    for task in ("betweenness", "eigenvector"):
        ours = np.array(curves[task, "bayes"])
        assert ours[:, -1].mean() <= 0.02
        for baseline in ("local", *BLIND):
            theirs = np.array(curves[task, baseline])
            assert (theirs - ours).mean() > 0, baseline
