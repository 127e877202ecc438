"""Networks of real people."""

import networkx as nx
import numpy as np
import pytest

from graphbo.bench.tasks.influence import Influence
from tests.bench.tasks.data import DATA, needs_data


def test_the_most_influential_person_of_a_novel() -> None:
    problem = Influence().problem(3)
    best = int(problem.values.argmax())
    assert problem.properties["name"][best] == "Valjean"
    assert problem.optimum == 36


@pytest.mark.parametrize(
    "data", ["karate", "les-miserables", "florentine-families", "southern-women"]
)
def test_values_are_degrees(data: str) -> None:
    problem = Influence(data=data).problem(0)  # type: ignore[arg-type]
    graph: nx.Graph[int] = nx.Graph(problem.edges.tolist())
    assert len(graph) == problem.n
    assert all(problem.values[node] == degree for node, degree in graph.degree())


@needs_data
@pytest.mark.parametrize(
    ("data", "nodes", "edges"),
    [("enron", 33_696, 180_811), ("facebook-pages", 13_866, 86_811), ("twitch", 7_126, 35_324)],
)
def test_data_sets(data: str, nodes: int, edges: int) -> None:
    problem = Influence(data=data, data_dir=DATA).problem(0)  # type: ignore[arg-type]
    assert (problem.n, len(problem.edges)) == (nodes, edges)
    assert np.sum(problem.values) == 2 * edges
