"""The searches without a model, each by what sets it apart."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

import networkx as nx
import pytest
from scipy import stats

from graphbo.search.graph import Graph
from graphbo.search.strategies import create_strategy
from graphbo.types import NodeKey, Observation
from tests.search.strategies.support import VIEW, Measure, simulate, stored


def run(
    name: str, graph: "nx.Graph[Any]", measure: Measure = lambda _: 0.0, *, seed: int = 0
) -> list[Observation]:
    with stored(graph) as store:
        return simulate(
            create_strategy(name), Graph(store, VIEW, seed=seed), measure, budget=1000, seed=seed
        )


def keys(history: Sequence[Observation]) -> list[NodeKey]:
    return [observation.key for observation in history]


def test_random_is_uniform() -> None:
    with stored(nx.star_graph(9)) as store:
        firsts: Counter[NodeKey] = Counter()
        seconds: Counter[NodeKey] = Counter()
        for seed in range(400):
            door = Graph(store, VIEW, seed=seed)
            first, second = keys(
                simulate(create_strategy("random"), door, lambda _: 0.0, budget=2, seed=seed)
            )
            firsts[first] += 1
            seconds[second] += 1
    for counts in (firsts, seconds):
        assert stats.chisquare([counts[node] for node in range(10)]).pvalue > 1e-4


def test_breadth_first_measures_by_distance() -> None:
    graph = nx.balanced_tree(3, 4)
    history = run("bfs", graph)
    hops = nx.single_source_shortest_path_length(graph, history[0].key)
    distances = [hops[node] for node in keys(history)]
    assert distances == sorted(distances)


@pytest.mark.parametrize("seed", range(3))
def test_depth_first_goes_on_from_where_it_is(seed: int) -> None:
    graph = nx.barabasi_albert_graph(60, 2, seed=1)
    visited = keys(run("dfs", graph, seed=seed))
    for position, node in enumerate(visited[1:], start=1):
        # Backtracking: the last node that still had an unmeasured neighbour.
        left = set(visited[position:])
        here = next(old for old in reversed(visited[:position]) if left & set(graph[old]))
        assert node in graph[here]


@pytest.mark.parametrize("name", ["bfs", "dfs"])
def test_traversals_begin_elsewhere_when_they_run_dry(name: str) -> None:
    graph = nx.disjoint_union_all([nx.path_graph(4)] * 3)
    history = run(name, graph)
    assert [observation.restart for observation in history] == [0] * 4 + [1] * 4 + [2] * 4
    assert [observation.phase for observation in history[::4]] == ["initial", "restart", "restart"]
    for start in (0, 4, 8):
        assert len({cast(int, node) // 4 for node in keys(history[start : start + 4])}) == 1


def test_local_search_climbs_to_the_top_and_begins_elsewhere() -> None:
    # Two hills on a path; the tops are 5 and 25.
    graph = nx.path_graph(31)
    height = {node: -float(min(abs(node - 5), abs(node - 25))) for node in graph}
    history = run("local", graph, height.__getitem__)
    assert len(history) == 31
    climbs: dict[int, list[Observation]] = {}
    for observation in history:
        climbs.setdefault(observation.restart, []).append(observation)
    assert max(height[node] for node in keys(climbs[0])) == 0.0
    for number, climb in climbs.items():
        assert climb[0].phase == ("restart" if number else "initial")
        assert all(observation.phase == "search" for observation in climb[1:])
    # A restart comes only when every neighbour of the best node of the climb has been measured.
    done: set[NodeKey] = set()
    for climb in climbs.values():
        done.update(keys(climb))
        top = max(climb, key=lambda observation: cast(float, observation.value))
        assert done.issuperset(graph[top.key])


def test_local_search_moves_at_once_to_a_better_neighbour() -> None:
    graph = nx.cycle_graph(50)
    history = run("local", graph, lambda key: float(cast(int, key)))
    best = history[0]
    for observation in history[1:]:
        if observation.restart:
            break
        assert observation.key in graph[best.key]
        if cast(float, observation.value) > cast(float, best.value):
            best = observation
    assert best.key == 49
