"""One search, evaluation by evaluation."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from graphbo.bench.methods import parse_method
from graphbo.bench.search import VIEW, Curves, loaded, search
from graphbo.bench.tasks.base import Problem
from graphbo.errors import BenchError
from graphbo.runs import Run, RunSettings
from graphbo.runs.registry import runs_in
from tests.bench.support import Ring

ROOT = Path(__file__).parents[2]


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


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_a_search_is_a_run(noise: float) -> None:
    problem = Ring(60, noise).problem(4)
    found = searched("bayes:initial=4", problem)

    with loaded(problem) as store:
        settings = RunSettings(options={"initial": 4}, budget=15)
        run = Run.create(store, VIEW, "by hand", settings)
        while (pending := run.ask().pending) is not None:
            run.tell(float(problem.noisy[int(pending.key)]), step=pending.step)
        best = run.best(noisy=bool(noise))
    measured = problem.noisy[[int(one.key) for one in run.history]]
    observed = problem.noisy.max() - np.maximum.accumulate(measured)
    assert np.array_equal(found.observed_regret, observed)
    assert best is not None
    assert found.regret[-1] == problem.optimum - problem.values[int(best.key)]


@pytest.mark.parametrize("budget", [5, 100])
def test_nothing_of_a_search_stays_in_the_store(budget: int) -> None:
    problem = Ring(12).problem(0)
    with loaded(problem) as store:
        search(parse_method("bayes:initial=3"), problem, store, seed=0, budget=budget)

        assert runs_in(store).all() == []
        nodes = store.properties(VIEW, list(range(12)))
        assert nodes == {node: {"id": node} for node in range(12)}


def test_a_check_ends_it() -> None:
    def check() -> None:
        raise InterruptedError

    problem = Ring().problem(0)
    with loaded(problem) as store:
        with pytest.raises(InterruptedError):
            search(parse_method("local"), problem, store, seed=0, budget=5, check=check)
        assert runs_in(store).all() == []


#: Measures the nodes that a function of the number of those before names.
PROTOTYPE = """
from pathlib import Path

class Search:
    def __init__(self, n, edges, seed):
        self.n, self.edges, self.seed, self.told = n, edges, seed, {{}}

    def ask(self):
        step = len(self.told)
        return {ask}

    def tell(self, node, value):
        self.told[node] = value
{more}

search = Search
"""


class TestPrototype:
    """A file that is asked and told."""

    def run(
        self, tmp_path: Path, problem: Problem, ask: str, more: str = "", seed: int = 0
    ) -> Curves:
        path = tmp_path / "prototype.py"
        path.write_text(PROTOTYPE.format(ask=ask, more=more))
        with loaded(problem) as store:
            return search(parse_method(f"prototype:{path}"), problem, store, seed=seed, budget=15)

    def test_its_regret_is_worked_out_from_what_it_asks_for(self, tmp_path: Path) -> None:
        problem = Ring(40).problem(0)
        found = self.run(tmp_path, problem, "step + 3")

        best = np.maximum.accumulate(problem.values[3:18])
        assert found.regret.tolist() == (problem.optimum - best).tolist()
        assert found.revealed.tolist() == [40] * 15
        assert np.all(found.milliseconds >= 0)

    def test_it_measures_each_node_once_at_most(self, tmp_path: Path) -> None:
        assert len(self.run(tmp_path, Ring(7).problem(0), "step").regret) == 7

    def test_it_is_told_the_measurements(self, tmp_path: Path) -> None:
        kept = tmp_path / "told"
        problem = Ring(40, 1.0).problem(2)
        self.run(tmp_path, problem, f"(Path({str(kept)!r}).write_text(repr(self.told)), step)[1]")

        told = ast.literal_eval(kept.read_text())
        assert told == dict(enumerate(problem.noisy[:14].tolist()))

    def test_what_it_does_to_the_graph_changes_nothing(self, tmp_path: Path) -> None:
        problem = Ring().problem(0)
        before = problem.edges.copy()
        self.run(tmp_path, problem, "(self.edges.fill(0), step)[1]")

        assert np.array_equal(problem.edges, before)

    def test_its_seed_is_not_the_problems(self, tmp_path: Path) -> None:
        """Seeded like the problem, it could repeat the shuffle that says which node is which."""
        kept = tmp_path / "seeds"
        keep = f"(Path({str(kept)!r}).write_text(str(self.seed)), step)[1]"
        problem = Ring(40).problem(3)
        self.run(tmp_path, problem, keep, seed=3)

        drawn = np.random.default_rng(int(kept.read_text())).permutation(40)
        for problems in ([3], [3, 0], [3, 1]):
            assert not np.array_equal(drawn, np.random.default_rng(problems).permutation(40))

    def test_under_noise_it_answers_with_its_best_measurement(self, tmp_path: Path) -> None:
        problem = Ring(40, 2.0).problem(1)
        found = self.run(tmp_path, problem, "step")

        place = int(np.argmax(problem.noisy[:15]))
        assert found.observed_regret[-1] == problem.noisy.max() - problem.noisy[place]
        assert found.regret[-1] == problem.optimum - problem.values[place]

    def test_or_with_what_it_believes(self, tmp_path: Path) -> None:
        first = "    def best(self):\n        return next(iter(self.told))"
        noisy, quiet = Ring(40, 2.0).problem(1), Ring(40).problem(1)

        found = self.run(tmp_path, noisy, "step + 5", first)
        assert set(found.regret) == {noisy.optimum - noisy.values[5]}
        # Without noise the best measurement is the best node.
        plain = self.run(tmp_path, quiet, "step + 5")
        assert np.array_equal(self.run(tmp_path, quiet, "step + 5", first).regret, plain.regret)

    @pytest.mark.parametrize(
        ("ask", "message"),
        [
            ("7", "asked for the node 7 a second time"),
            ("-1", "asked for -1: expected a node from 0 to 39"),
            ("40", "asked for 40: expected a node from 0 to 39"),
            ("'seven'", "asked for 'seven': expected a node"),
            ("None", "asked for None: expected a node"),
        ],
    )
    def test_nodes_that_cannot_be_measured_end_it(
        self, tmp_path: Path, ask: str, message: str
    ) -> None:
        with pytest.raises(BenchError, match=message):
            self.run(tmp_path, Ring(40).problem(0), ask)

    def test_an_answer_is_a_node_that_was_measured(self, tmp_path: Path) -> None:
        other = "    def best(self):\n        return self.n - 1"
        with pytest.raises(BenchError, match="answers with 39: expected a node that it asked for"):
            self.run(tmp_path, Ring(40, 1.0).problem(0), "step", other)

    def test_it_has_to_ask_and_to_tell(self, tmp_path: Path) -> None:
        path = tmp_path / "prototype.py"
        path.write_text("def search(n, edges, seed):\n    return [0.0]\n")
        with pytest.raises(BenchError, match=r"returns a list: expected an object with ask\(\)"):
            searched(f"prototype:{path}", Ring().problem(0))

    def test_it_is_not_shown_what_a_task_hides(self, tmp_path: Path) -> None:
        hidden = replace(Ring().problem(0), hides_degrees=True)
        with pytest.raises(BenchError, match="this task hides what the graph would tell"):
            self.run(tmp_path, hidden, "step")

    def test_the_example_of_the_guide_searches(self, tmp_path: Path) -> None:
        guide = (ROOT / "docs" / "guide" / "bench.md").read_text(encoding="utf-8")
        (code,) = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
        path = tmp_path / "climb.py"
        path.write_text(code, encoding="utf-8")

        assert searched(f"prototype:{path}", Ring(30).problem(0), budget=30).regret[-1] == 0
