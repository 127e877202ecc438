"""Problems: what a measurement gives, and what it is compared with."""

import numpy as np
import pytest

from graphbo.bench.tasks import Problem
from graphbo.errors import TaskError

EDGES = np.array([(0, 1), (1, 2)])
PROBLEM = Problem(EDGES, np.array([1.0, 5.0, 2.0]), properties={"name": ["a", "b", "c"]})


def test_the_optimum_and_the_distance_to_it() -> None:
    assert PROBLEM.n == 3
    assert PROBLEM.optimum == 5.0
    assert PROBLEM.spread == 3.0
    assert Problem(EDGES, np.ones(3)).spread == 1.0


def test_shuffled_keeps_what_belongs_together() -> None:
    rng = np.random.default_rng(0)
    found = PROBLEM.with_noise(0.1, rng).shuffled(rng)
    at = {str(name): row for row, name in enumerate(found.properties["name"])}
    assert [found.values[at[name]] for name in "abc"] == [1.0, 5.0, 2.0]
    assert {frozenset(pair) for pair in found.edges.tolist()} == {
        frozenset((at["a"], at["b"])),
        frozenset((at["b"], at["c"])),
    }
    assert found.errors is not None
    assert np.array_equal(found.noisy, found.values + found.errors)


def test_no_noise_is_no_errors() -> None:
    exact = PROBLEM.with_noise(0.0, np.random.default_rng(0))
    assert exact.errors is None
    assert exact.noisy is exact.values


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(TaskError, match="two ends per edge"):
        Problem(np.zeros((2, 3), dtype=np.int64), np.ones(3))
    with pytest.raises(TaskError, match="2 entries of name: expected one for each of 3 nodes"):
        Problem(EDGES, np.ones(3), properties={"name": ["a", "b"]})


def test_what_is_hidden_stays_hidden() -> None:
    rng = np.random.default_rng(0)
    problem = Problem(np.array([(0, 1)]), np.array([1.0, 2.0]), hides_degrees=True)
    assert problem.shuffled(rng).hides_degrees
    assert problem.with_noise(1.0, rng).hides_degrees
