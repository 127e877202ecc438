"""Functions on a grid."""

import networkx as nx
import numpy as np
import pytest

from graphbo.bench.tasks.grid import Grid, ackley, rosenbrock, sphere
from graphbo.types import FloatArray


def points(*values: float) -> FloatArray:
    return np.array(values)


def test_the_functions_have_their_well_known_values() -> None:
    assert ackley(points(0, 1), points(0, 0)) == pytest.approx([0, 2.637531], abs=1e-6)
    assert rosenbrock(points(1, 0, -1), points(1, 0, 1)) == pytest.approx([0, 1, 4])
    assert sphere(points(0, 3), points(0, 4)) == pytest.approx([0, 25])


@pytest.mark.parametrize("function", ["ackley", "rosenbrock", "sphere"])
@pytest.mark.parametrize("side", [2, 5, 50])
def test_the_optimum_is_on_one_node_inside_and_is_zero(function: str, side: int) -> None:
    for seed in range(5):
        problem = Grid(function=function, side=side).problem(seed)  # type: ignore[arg-type]
        best = np.flatnonzero(problem.values == 0.0)
        assert problem.optimum == 0.0
        assert str(problem.optimum) == "0.0"
        assert len(best) == 1
        for name in ("row", "col"):
            place = int(str(problem.properties[name][best[0]]))
            assert 0.2 * side - 1 <= place <= 0.8 * side


def test_seeds_move_the_optimum() -> None:
    places = set()
    for seed in range(10):
        problem = Grid().problem(seed)
        best = int(problem.values.argmax())
        places.add((problem.properties["row"][best], problem.properties["col"][best]))
    assert len(places) > 5


def test_neighbours_are_a_step_apart() -> None:
    problem = Grid(side=6).problem(0)
    assert nx.is_isomorphic(nx.Graph(problem.edges.tolist()), nx.grid_2d_graph(6, 6))
    row, col = (np.array(problem.properties[name]) for name in ("row", "col"))
    a, b = problem.edges.T
    assert (np.abs(row[a] - row[b]) + np.abs(col[a] - col[b]) == 1).all()


def test_noise_changes_measurements_and_nothing_else() -> None:
    exact, noisy = Grid(side=30).problem(7), Grid(side=30, noise=0.5).problem(7)
    assert noisy.noise == 0.5
    assert np.array_equal(exact.values, noisy.values)
    assert np.array_equal(exact.edges, noisy.edges)
    assert (noisy.noisy - noisy.values).std() == pytest.approx(0.5, rel=0.1)
    assert np.array_equal(exact.noisy, exact.values)
