"""What is collected from a run, on each store."""

import pickle
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar

import networkx as nx
import numpy as np
import pytest

import graphbo
from graphbo.cli.as_printed import describe_best
from graphbo.errors import RunError
from graphbo.runs import Run, RunSettings
from graphbo.search.graph import Graph
from graphbo.search.model import KERNEL_NAMES
from graphbo.search.strategies import Option, Situation
from graphbo.seeing import facts_of, html_of
from graphbo.seeing import map as maps
from graphbo.seeing.data import page_data
from graphbo.seeing.html import embedded_json
from graphbo.stores import GraphStore, open_store
from graphbo.types import Candidate, Proposal
from tests.backends import Backend, on_sqlite
from tests.cli.runs import in_this_process
from tests.seeing.support import VIEW, load_graph, score, small_run


def test_the_map_of_a_small_graph_is_all_that_can_be_reached(store: GraphStore) -> None:
    load_graph(store)
    run = small_run(store, 20)
    facts = facts_of(run)

    assert facts.map is not None
    assert set(range(60)) <= set(facts.map.keys)
    assert {one.key for one in run.history} <= set(facts.map.keys)
    assert facts.map.nodes == 62
    assert facts.map.places.shape == (len(facts.map.keys), 2)
    row = facts.map.keys.index(42)
    assert facts.map.properties[row]["label"] == "node 42"
    assert not any("graphbo" in name for one in facts.map.properties for name in one)


def test_collecting_changes_nothing(backend: Backend) -> None:
    with backend.open() as store:
        load_graph(store)
        run = small_run(store, 15)
        run.ask()
        before = backend.dump()

        html_of(run)

        assert backend.dump() == before


@on_sqlite
def test_the_report_says_why_the_best_was_measured_and_what_speaks_for_others(
    store: GraphStore,
) -> None:
    load_graph(store)
    run = small_run(store, 25)
    facts = facts_of(run, caption="label")

    best = run.best()
    assert best is not None
    assert facts.best_why == run.why(best.key).text(facts.called)
    assert facts.belief is not None
    measured = {one.key for one in run.history}
    assert facts.reasons.keys() == {*facts.belief.subgraph} - measured
    assert any(f"node {key} (" in text for text in facts.reasons.values() for key in measured)


@on_sqlite
def test_without_a_model_there_is_nothing_to_say_of_why(store: GraphStore) -> None:
    load_graph(store)
    facts = facts_of(small_run(store, 6, strategy="local"))

    assert (facts.best_why, facts.reasons) == ("", {})


@on_sqlite
def test_the_map_of_a_large_graph_is_bounded(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_graph(store, size=400)
    run = small_run(store, 30)
    monkeypatch.setattr(maps, "MOST_NODES", 90)
    monkeypatch.setattr(maps, "MOST_EDGES", 70)

    drawn = facts_of(run).map

    assert drawn is not None
    assert len(drawn.keys) <= 90
    assert {one.key for one in run.history} <= set(drawn.keys)
    assert len(drawn.edges) == 70
    assert drawn.more_edges > 0
    assert not drawn.whole


@on_sqlite
def test_of_too_many_measured_nodes_the_best_are_drawn(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_graph(store)
    run = small_run(store, 30, strategy="random")
    monkeypatch.setattr(maps, "MOST_NODES", 20)

    facts = facts_of(run)

    assert facts.map is not None
    assert facts.best is not None
    assert len(facts.map.keys) <= 20
    assert facts.best.key in facts.map.keys
    assert run.history[-1].key in facts.map.keys
    assert facts.map.more_measured > 0
    assert "not drawn" in html_of(facts)
    assert "a few neighbours" not in html_of(facts)


@on_sqlite
def test_nothing_is_drawn_that_the_run_may_not_know(store: GraphStore) -> None:
    load_graph(store)
    run = small_run(store, 4, start=(5,), reveal="evaluated")
    evaluated = {one.key for one in run.history}
    known = {5, *evaluated, *store.neighbours(VIEW, sorted(evaluated), (0,))}

    drawn = facts_of(run).map

    assert drawn is not None
    assert set(drawn.keys) <= known
    assert drawn.nodes is None
    ends = {tuple(drawn.keys[row] for row in edge) for edge in drawn.edges}
    assert all(evaluated.intersection(edge) for edge in ends)


@on_sqlite
def test_edges_are_drawn_once_and_without_loops(store: GraphStore) -> None:
    store.create_key(VIEW)
    store.write_relationships(VIEW, [(0, 1, {}), (1, 0, {}), (1, 1, {}), (1, 2, {})])
    run = small_run(store, 3)

    drawn = facts_of(run).map

    assert drawn is not None
    assert len(drawn.edges) == 2


@pytest.mark.parametrize("kernel", KERNEL_NAMES)
@on_sqlite
def test_the_kernel_is_the_one_that_was_learned(store: GraphStore, kernel: str) -> None:
    load_graph(store)
    run = small_run(store, 10, options={"kernel": kernel, "initial": 8})
    learned = facts_of(run).kernel

    assert learned is not None
    assert learned.name == kernel
    assert learned.weights.mean() == pytest.approx(1.0)
    assert len(learned.weights) == len(learned.eigenvalues)
    assert (np.diff(learned.eigenvalues) >= 0).all()


@on_sqlite
def test_between_two_regions_the_latest_model_is_shown(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_graph(store)
    run = small_run(store, 14, options={"initial": 8})
    before_the_last = run.belief(told=13)
    belief = Run.belief
    monkeypatch.setattr(
        Run, "belief", lambda self, told=None: None if told is None else belief(self, told)
    )

    facts = facts_of(run)

    assert before_the_last is not None
    assert facts.belief is not None
    assert facts.belief.subgraph.keys == before_the_last.subgraph.keys
    assert facts.belief.posterior.mean == pytest.approx(before_the_last.posterior.mean)
    # It is the model that chose the last node: it said the same then.
    chosen = run.history[-1]
    row = facts.belief.subgraph.row(chosen.key)
    assert facts.belief.posterior.mean[row] == pytest.approx(chosen.mean)


@on_sqlite
def test_regret_needs_an_optimum_that_was_not_beaten(store: GraphStore) -> None:
    load_graph(store)
    run = small_run(store, 5)
    best = run.best()
    assert best is not None

    assert facts_of(run, optimum=12.0).regret == pytest.approx(12.0 - best.value)
    assert facts_of(run).regret is None
    assert facts_of(facts_of(run), optimum=12.0).regret == pytest.approx(12.0 - best.value)
    with pytest.raises(RunError, match="which is better"):
        facts_of(run, optimum=best.value - 1)


def test_times_are_those_of_the_database(store: GraphStore) -> None:
    load_graph(store)
    run = small_run(store, 6)

    seconds = facts_of(run).seconds

    assert len(seconds) == 6
    assert all(gap is not None and gap >= 0 for gap in seconds)


@on_sqlite
def test_the_command_does_the_run_again(
    backend: Backend,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "measuring.py").write_text(
        "def score(key):\n    return 10.0 - abs(key - 42) / 10\n"
    )
    with backend.open() as store:
        load_graph(store)
        run = small_run(
            store,
            14,
            objective="python:measuring:score",
            maximize=False,
            seed=3,
            options={"kernel": "matern", "initial": 6, "size": 40},
        )
        from graphbo.seeing.command import command_of  # noqa: PLC0415

        command = command_of("again", run.view, run.settings, backend.uri)
        words = shlex.split(command)
        here = in_this_process(backend, tmp_path, monkeypatch, capsys)
        answer = here(*words[1:])

        assert answer.code == 0, answer
        again = Run.open(store, "again")
        again.refresh()
        assert [one.key for one in again.history] == [one.key for one in run.history]


@on_sqlite
def test_the_command_of_a_run_by_hand_asks(store: GraphStore) -> None:
    load_graph(store)
    run = Run.create(store, VIEW, "by hand", RunSettings(start=(5,), reveal="ego", noise=0.5))
    html = html_of(run)

    assert "graphbo ask 'by hand'" in html
    assert "--start 5" in html
    assert "--noise 0.5" in html


def test_a_result_has_its_history_and_no_map() -> None:
    result = graphbo.optimize(lambda node: -abs(node - 7), nx.path_graph(30), budget=15)
    assert facts_of(result).map is not None
    # A file keeps the history, and no connection.
    result = pickle.loads(pickle.dumps(result))
    facts = facts_of(result)

    assert facts.best is not None
    assert facts.best.key == 7
    assert facts.map is None
    assert facts.kernel is None
    assert len(facts.region) == 15


def test_embedded_json_cannot_end_its_element() -> None:
    text = embedded_json(["</script>", "<!--", "\u2028\u2029", "&amp;", "\ud800"])

    assert not set("<>&\u2028\u2029") & set(text)
    assert text.isprintable()


@pytest.mark.slow
def test_importing_the_package_does_not_import_matplotlib() -> None:
    import subprocess  # noqa: PLC0415
    import sys  # noqa: PLC0415

    program = "import sys, graphbo, graphbo.cli, graphbo.seeing; print('matplotlib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert done.stdout.strip() == "False"


@on_sqlite
def test_a_run_on_a_task_knows_its_optimum(store: GraphStore) -> None:
    load_graph(store)
    most = max(score(key) for key in range(62))
    run = small_run(store, 12, optimum=most)

    assert facts_of(run).optimum == most
    assert facts_of(run, optimum=2 * most).optimum == 2 * most


@pytest.fixture
def memory() -> Iterator[GraphStore]:
    """For what does not depend on the database."""
    with open_store("sqlite::memory:") as store:
        load_graph(store)
        yield store


class Ascending:
    """A strategy that only its owner has: the nodes by their numbers."""

    name: ClassVar[str] = "ascending"
    options: ClassVar[Mapping[str, Option]] = {"last": 60}

    def propose(self, situation: Situation, graph: Graph) -> Proposal:
        free = [key for key in range(60) if key not in situation.taken]
        return Proposal(tuple(Candidate(key) for key in free), "search")


def test_a_strategy_of_one_s_own_is_shown_by_its_name(memory: GraphStore) -> None:
    facts = facts_of(small_run(memory, 5, strategy=Ascending()))

    assert [one.key for one in facts.history] == [0, 1, 2, 3, 4]
    assert facts.region == ()
    assert facts.kernel is None
    page = html_of(facts)
    assert "The strategy ascending has no region." in page
    assert "--strategy ascending --option last=60" in page


@on_sqlite
def test_the_report_numbers_evaluations_as_everything_else_does(store: GraphStore) -> None:
    """Two workers may tell in another order than they asked."""
    load_graph(store)
    run = Run.create(store, VIEW, "two", RunSettings(budget=2, strategy="random"))
    first, second = run.ask(token="one").pending, run.ask(token="other").pending
    assert first is not None
    assert second is not None
    run.tell(2.0, step=second.step)
    run.tell(1.0, step=first.step)
    best, data = run.best(), page_data(facts_of(run))

    assert best is not None
    assert "(evaluation 2)" in describe_best(best, run.record)[0]
    assert data["tiles"][0][:2] == ("Found with", "evaluation 2")
    assert data["steps"]["step"] == [2, 1]
    assert data["steps"]["x"] == [1, 2]
