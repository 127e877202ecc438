"""What connects candidates, and the same written between them by hand."""

from itertools import combinations

import numpy as np
import pytest

from graphbo.bench.tasks import Problem
from graphbo.bench.tasks.base import Connectors
from graphbo.bench.tasks.connected import ConnectedTask, projection
from graphbo.bench.tasks.machines import Machines
from graphbo.bench.tasks.papers import Papers
from graphbo.bench.tasks.visits import Visits

TASKS = [Machines, Visits, Papers]


def together(problem: Problem) -> set[frozenset[int]]:
    """Every two candidates with a connector in common, one connector after the other."""
    found: set[frozenset[int]] = set()
    for kind in problem.connectors:
        for connector in set(kind.links[:, 1].tolist()):
            members = set(kind.links[kind.links[:, 1] == connector, 0].tolist())
            found |= {frozenset(pair) for pair in combinations(members, 2)}
    return found


def test_the_projection_of_two_kinds() -> None:
    racks = Connectors("RACK", np.array([[0, 7], [1, 7], [2, 9]]))
    types = Connectors("TYPE", np.array([[2, 0], [0, 0], [1, 1]]))
    assert projection((racks, types)).tolist() == [[0, 1], [0, 2]]
    assert projection(()).shape == (0, 2)


@pytest.mark.parametrize("task", TASKS)
class TestEveryTask:
    def test_equal_seeds_are_equal_problems(self, task: type[ConnectedTask]) -> None:
        first, again, other = (task(n=60).problem(seed) for seed in (1, 1, 2))  # type: ignore[call-arg]
        assert np.array_equal(first.values, again.values)
        assert not np.array_equal(first.values, other.values)

    def test_it_is_the_same_problem_however_candidates_become_neighbours(
        self, task: type[ConnectedTask]
    ) -> None:
        paths, nodes, projected = (
            task(n=60, through=through).problem(3)  # type: ignore[call-arg]
            for through in ("paths", "nodes", "projection")
        )
        assert np.array_equal(paths.values, projected.values)
        assert np.array_equal(paths.values, nodes.values)
        assert {frozenset(pair) for pair in projected.edges.tolist()} == together(paths)
        assert not len(paths.edges)
        assert not projected.connectors

    def test_every_candidate_is_connected(self, task: type[ConnectedTask]) -> None:
        problem = task(n=60).problem(0)  # type: ignore[call-arg]
        assert problem.n == 60
        linked = np.concatenate([kind.links[:, 0] for kind in problem.connectors])
        assert set(linked.tolist()) == set(range(60))
