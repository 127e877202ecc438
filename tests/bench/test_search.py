"""One search, evaluation by evaluation."""

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from graphbo.bench.methods import parse_method
from graphbo.bench.search import Curves, loaded, search
from graphbo.bench.tasks.base import Problem
from tests.bench.support import Ring


def searched(method: str, problem: Problem, budget: int = 15) -> Curves:
    with loaded(problem) as store:
        return search(parse_method(method), problem, store, seed=0, budget=budget)


@pytest.mark.parametrize("method", ["bayes", "paper", "local", "random", "bfs", "dfs"])
def test_regret_only_falls_without_noise(method: str) -> None:
    found = searched(method, Ring(60).problem(0))

    assert found.regret.shape == found.milliseconds.shape == found.revealed.shape == (15,)
    assert np.all(np.diff(found.regret) <= 0)
    assert np.array_equal(found.regret, found.observed_regret)
    assert np.all(np.diff(found.revealed) >= 0)


@pytest.mark.parametrize("method", ["bayes", "random"])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_everything_is_found_when_every_node_is_measured(method: str, noise: float) -> None:
    found = searched(method, Ring(12, noise).problem(0), budget=100)

    assert len(found.regret) == 12
    assert found.observed_regret[-1] == 0
    if not noise:
        assert found.regret[-1] == 0


def test_under_noise_regret_is_without_it_and_the_papers_with_it() -> None:
    problem = Ring(60, 3.0).problem(0)
    found = searched("random", problem)

    differences = set(np.round(problem.optimum - problem.values, 9))
    assert set(np.round(found.regret, 9)) <= differences
    assert np.all(np.diff(found.observed_regret) <= 0)
    assert not np.allclose(found.regret, found.observed_regret)


def test_a_model_answers_by_what_it_believes() -> None:
    """A very lucky node is not the answer of a model, and is that of a search without one."""
    calm = Ring(40, 0.1).problem(0)
    errors = np.zeros(40)
    errors[int(np.argmin(calm.values))] = 40.0  # the worst node seems to be the best by far
    problem = Problem(calm.edges, calm.values, 0.1, errors)

    def worst(method: str, budget: int) -> float:
        return float(searched(method, problem, budget).regret[-1])

    assert worst("random", 40) == problem.optimum - problem.values.min()
    assert worst("bayes:size=40", 39) < worst("random", 40)


def test_the_answer_does_not_change_the_search() -> None:
    """With noise the model is asked for its answer beside its proposals: it proposes the same, at no further cost."""
    quiet = Ring(60).problem(3)
    same = Problem(quiet.edges, quiet.values, 1e-9, np.zeros(quiet.n))
    one, other = searched("paper:initial=3", quiet), searched("paper:initial=3", same)

    assert np.array_equal(one.observed_regret, other.observed_regret)
    assert np.array_equal(one.revealed, other.revealed)


def test_what_a_problem_hides_no_method_knows() -> None:
    graph = nx.barabasi_albert_graph(400, 2, seed=1)
    degrees = np.array([graph.degree[node] for node in range(400)], dtype=float)
    shown = Problem(np.array(graph.edges), degrees)
    hidden = replace(shown, hides_degrees=True)

    def revealed(method: str, problem: Problem) -> list[int]:
        return list(searched(method, problem, budget=30).revealed)

    assert revealed("bayes", hidden) == revealed("bayes:degrees=false", hidden)
    assert revealed("bayes", shown) != revealed("bayes:degrees=false", shown)


def test_a_check_ends_it() -> None:
    def check() -> None:
        raise InterruptedError

    problem = Ring().problem(0)
    with loaded(problem) as store, pytest.raises(InterruptedError):
        search(parse_method("local"), problem, store, seed=0, budget=5, check=check)


class TestPrototype:
    """A file that returns a curve."""

    def run(self, tmp_path: Path, problem: Problem, body: str) -> Curves:
        path = tmp_path / "prototype.py"
        path.write_text(
            "import numpy as np\n\n"
            "def run(n, edges, values, seed, T, noise=None, times=None, info=None):\n"
            f"    {body}\n"
        )
        return searched(f"prototype:{path}", problem)

    def test_its_curve_is_taken(self, tmp_path: Path) -> None:
        body = "info['revealed'] = 7; times += [.001, .003]; return [5.0] * (T - 1) + [1.0]"
        found = self.run(tmp_path, Ring().problem(0), body)

        assert found.regret.tolist() == [5.0] * 14 + [1.0]
        assert found.milliseconds[0] == pytest.approx(2.0)
        assert found.revealed[-1] == 7

    def test_a_short_curve_stays_where_it_ends(self, tmp_path: Path) -> None:
        found = self.run(tmp_path, Ring().problem(0), "return [4.0, 2.0]")

        assert found.regret.tolist() == [4.0] + [2.0] * 14

    def test_under_noise_the_node_behind_its_best_measurement_counts(self, tmp_path: Path) -> None:
        problem = Ring(40, 2.0).problem(1)
        found = self.run(tmp_path, problem, "return np.full(T, values.max() - values[7])")

        assert found.observed_regret[0] == pytest.approx(problem.noisy.max() - problem.noisy[7])
        assert found.regret[0] == pytest.approx(problem.optimum - problem.values[7])
