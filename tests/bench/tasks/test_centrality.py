"""The most central node."""

import numpy as np
import pytest

from graphbo.bench.tasks.centrality import Centrality
from graphbo.bench.tasks.graphs import EXACT
from graphbo.bench.tasks.measures import betweenness, eigenvector
from graphbo.errors import TaskError


def test_values_belong_to_the_nodes_of_the_shuffled_graph() -> None:
    problem = Centrality(n=150).problem(1)
    assert np.allclose(problem.values, betweenness(problem.edges, 150))
    problem = Centrality(graph="ws", n=150, measure="eigenvector").problem(1)
    assert np.allclose(problem.values, eigenvector(problem.edges, 150), atol=1e-8)


def test_the_number_of_a_node_tells_nothing_of_its_age() -> None:
    problems = [Centrality(n=100).problem(seed) for seed in range(20)]
    ranks = [int(problem.values.argmax()) for problem in problems]
    assert 20 < np.mean(ranks) < 80


def test_large_graphs_are_sampled() -> None:
    task = Centrality(n=EXACT + 1, pivots=2, m=1)
    problem = task.problem(0)
    assert problem.n == EXACT + 1
    assert (problem.values > 0).any()
    assert np.array_equal(problem.values, task.problem(0).values)
    assert not np.array_equal(
        problem.values, Centrality(n=EXACT + 1, pivots=3, m=1).problem(0).values
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"graph": "er"}, "graph is er: expected ba, ws"),
        ({"n": 3}, "n is 3: expected an integer from 10 to"),
        ({"n": 100.0}, "n is 100.0: expected an integer"),
        ({"n": True}, "n is True: expected an integer"),
        ({"p": 0.5}, "p is 0.5, but it is only for graph=ws"),
        ({"graph": "ws", "m": 4}, "m is 4, but it is only for graph=ba"),
        ({"graph": "ws", "k": 7}, "k is 7: expected an even number"),
        ({"graph": "ws", "k": 20, "n": 20}, "less than n=20"),
        ({"n": 12, "m": 12}, "m is 12: expected less than n=12"),
        ({"graph": "ws", "p": float("nan")}, "p is nan: expected a number from 0.01 to 1"),
    ],
)
def test_wrong_parameters(given: dict[str, object], expected: str) -> None:
    with pytest.raises(TaskError) as raised:
        Centrality(**given)  # type: ignore[arg-type]
    assert expected in str(raised.value)
    assert str(raised.value).startswith("centrality: ")


def test_seeds_begin_with_zero() -> None:
    with pytest.raises(TaskError, match="the seed is -1"):
        Centrality().problem(-1)
