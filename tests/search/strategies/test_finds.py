"""That the default finds what it is for, where every seed is another graph; `graphbo bench` has more of it."""

from collections.abc import Sequence
from typing import cast

import networkx as nx
import numpy as np
import pytest

from graphbo.bench.tasks.graphs import edges_of
from graphbo.bench.tasks.measures import betweenness, eigenvector
from graphbo.search.graph import Graph
from graphbo.search.strategies import create_strategy
from graphbo.stores import GraphStore
from graphbo.types import FloatArray, Observation
from tests.search.strategies.support import VIEW, simulate, stored

SEEDS, BUDGET = 5, 100

#: The baselines that go the same way whatever the values are.
BLIND = ("random", "bfs", "dfs")


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


@pytest.mark.slow
def test_beats_every_baseline_on_scale_free_graphs() -> None:
    """Mean regret, and area under the regret curve paired by seed, for two centralities on five graphs."""
    curves: dict[tuple[str, str], list[FloatArray]] = {}
    for seed in range(SEEDS):
        graph = scale_free(seed)
        edges = edges_of(graph)
        tasks = {
            "betweenness": betweenness(edges, len(graph)),
            "eigenvector": eigenvector(edges, len(graph)),
        }
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
