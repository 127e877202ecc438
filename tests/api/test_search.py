"""The object to hold: what it keeps, what it is asked and told, and what leaves it whole."""

import gc
import logging
import pickle
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import graphbo
from graphbo import Search, optimize
from graphbo.errors import (
    GraphboError,
    InvalidAddress,
    InvalidObjective,
    InvalidView,
    ModelError,
    NotAsked,
    ObjectiveBroken,
    RunError,
    RunMismatch,
    ValueConflict,
)
from graphbo.runs.registry import runs_in
from graphbo.runs.worker import Progress
from graphbo.seeing import html_of
from graphbo.stores import open_store
from graphbo.types import View
from tests.backends import Backend

Grid = Any


@pytest.fixture
def grid() -> Grid:
    """Nodes are pairs of numbers."""
    return nx.grid_2d_graph(8, 8)


@pytest.fixture
def storage(tmp_path: Path) -> str:
    return f"sqlite:{tmp_path / 'kept.db'}"


def corner(node: Any) -> float:
    return float(node[0] + node[1])


def _value(search: Search) -> float:
    return search.best.value if search.best else 0.0


def nodes_of(search: Any) -> list[Any]:
    return [one.key for one in search.history]


# Asking and telling


def test_asks_for_nodes_and_is_told_their_values(grid: Grid) -> None:
    search = Search(grid, seed=1)
    assert search.best is None
    for _ in range(12):
        node = search.ask()
        assert node in grid
        assert search.pending == (node,)
        search.tell(node, corner(node))
    assert search.pending == ()
    assert len(nodes_of(search)) == 12
    assert search.best is not None
    assert search.best.value == corner(search.best.key) == max(map(corner, nodes_of(search)))
    # The same as if it had been evaluated by the search itself.
    assert nodes_of(search) == nodes_of(optimize(corner, grid, budget=12, seed=1))


def test_the_end_of_a_graph_is_no_node() -> None:
    search = Search(nx.path_graph(["a", "b"]))
    while (node := search.ask()) is not None:
        search.tell(node, 1.0)
    assert sorted(nodes_of(search)) == ["a", "b"]


def test_values_that_cannot_be_told(grid: Grid) -> None:
    search = Search(grid)
    node = search.ask()
    with pytest.raises(RunError, match=r"the value of \(\d, \d\) is 'high': expected a number"):
        search.tell(node, "high")  # type: ignore[arg-type]  # what is refused
    with pytest.raises(RunError, match="nan"):
        search.tell(node, float("nan"))
    with pytest.raises(InvalidView, match=r"the graph has no node \[0\]"):
        search.tell([0], 1.0)
    other = next(one for one in grid if one != node)
    with pytest.raises(NotAsked, match=r"record it with tell_known\(\{\(\d, \d\): 2\.0\}\)"):
        search.tell(other, 2.0)
    assert search.pending == (node,)
    search.tell(node, np.float32(2.0))
    with pytest.raises(ValueConflict):
        search.tell(node, 3.0)
    search.tell(node, 3.0, amend=True)
    assert search.tell_known({other: 4}) == 1
    assert [(one.key, one.value) for one in search.history] == [(node, 3.0), (other, 4.0)]


def test_what_failed_is_told_and_tried_again(grid: Grid) -> None:
    search = Search(grid)
    node = search.ask()
    search.tell(node, None, error="the sensor was wet")
    assert [one.error for one in search.history] == ["the sensor was wet"]
    assert search.retry([node]) == 1
    assert search.history == ()
    other = search.ask()
    search.release(other)
    assert search.pending == ()


def test_several_are_asked_for_at_once(grid: Grid) -> None:
    search = Search(grid, seed=1)
    nodes = search.ask_many(3)
    assert len(set(nodes)) == 3
    assert set(search.pending) == set(nodes)
    assert len(Search(nx.path_graph(2)).ask_many(5)) == 2
    with pytest.raises(RunError, match="count is 0"):
        search.ask_many(0)


def test_what_cannot_be_measured_is_excluded(grid: Grid) -> None:
    search = Search(grid, seed=1)
    first = search.ask()
    search.exclude(first, (7, 7), reason="under water")
    assert set(search.excluded) == {first, (7, 7)}
    search.optimize(corner, budget=62)
    assert set(grid) - set(nodes_of(search)) == {first, (7, 7)}
    search.include((7, 7))
    assert search.ask() == (7, 7)
    search.tell((7, 7), 99.0)
    search.retract((7, 7), reason="a typo")
    assert search.best is not None
    assert search.best.value == 13.0


# Graphs of every kind, and nodes of every kind


def test_the_same_graph_in_every_form_gives_the_same_history() -> None:
    graph = nx.barabasi_albert_graph(80, 2, seed=3)
    # In the order of the matrix, which decides what is drawn.
    graph = nx.from_scipy_sparse_array(nx.to_scipy_sparse_array(graph))
    matrix = nx.to_scipy_sparse_array(graph, weight=None)
    given = [graph, matrix, sparse.csr_matrix(matrix), matrix.toarray()]
    histories = [nodes_of(optimize(lambda node: -abs(node - 40), one, budget=25)) for one in given]
    assert histories[0] == histories[1] == histories[2] == histories[3]


def test_nodes_of_a_table_are_those_of_its_cells() -> None:
    ring = pd.DataFrame(
        {"source": [f"s{n}" for n in range(30)], "target": [f"s{(n + 1) % 30}" for n in range(30)]}
    )
    result = optimize(lambda name: float(name[1:]), ring, budget=30)
    assert result.best is not None
    assert result.best.key == "s29"


def test_the_users_own_objects_come_back() -> None:
    class Place:
        pass

    places = [Place() for _ in range(12)]
    search = Search(nx.cycle_graph(places))
    seen: list[Place] = []
    search.optimize(lambda place: seen.append(place) or 1.0, budget=12)  # type: ignore[func-returns-value]
    assert set(seen) == set(nodes_of(search)) == set(places)


# Kept in a storage


def test_a_search_is_kept_and_gone_on_with(grid: Grid, storage: str) -> None:
    in_memory = optimize(corner, grid, budget=20, seed=4, maximize=False)
    with Search(grid, storage=storage, seed=4, maximize=False) as search:
        search.optimize(corner, budget=12)
    # Somebody else has the same graph, in another order, and says nothing of how the search was started.
    nodes, edges = list(grid.nodes), list(grid.edges)
    random.Random(1).shuffle(nodes)
    random.Random(2).shuffle(edges)
    shuffled: Grid = nx.Graph()
    shuffled.add_nodes_from(nodes)
    shuffled.add_edges_from((b, a) for a, b in edges)

    with Search(shuffled, storage=storage) as again:
        assert (again.name, again.run.record.maximize, len(again.history)) == ("search", False, 12)
        again.optimize(corner, budget=20)
        assert nodes_of(again) == nodes_of(in_memory)
        assert again.best is not None
        assert corner(again.best.key) == again.best.value
        # A budget is how many evaluations there are in all.
        assert len(again.optimize(corner, budget=20).history) == 20


def test_another_graph_is_refused(grid: Grid, storage: str) -> None:
    optimize(corner, grid, budget=3, storage=storage)
    grid.remove_edge((0, 0), (0, 1))
    with pytest.raises(
        RunMismatch, match="is on another graph than a networkx graph of 64 nodes and 111 edges"
    ):
        Search(grid, storage=storage)
    # It may be kept there all the same.
    optimize(corner, grid, budget=3, storage=storage, name="other")
    with open_store(storage) as store:
        assert [(one.name, one.told) for one in runs_in(store).all()] == [
            ("search", 3),
            ("other", 3),
        ]


def test_a_storage_may_be_any_database(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, setting in backend.environment.items():
        monkeypatch.setenv(name, setting)
    backend.open().close()  # which makes it, where it is a file
    ring: Any = nx.cycle_graph([("a", n) for n in range(12)])
    with Search(ring, storage=backend.uri, seed=3) as search:
        search.optimize(lambda node: float(node[1]), budget=4)
        asked = search.ask()
    with Search(ring, storage=backend.uri) as again:
        assert (len(again.history), again.pending) == (4, (asked,))
        again.tell(asked, float(asked[1]))
        assert set(nodes_of(again)) <= set(ring)
        assert again.optimize(lambda node: float(node[1]), budget=12).best.key == ("a", 11)  # type: ignore[union-attr]
    ring.add_edge(("a", 0), ("a", 5))
    with pytest.raises(RunMismatch, match="on another graph"):
        Search(ring, storage=backend.uri)


@pytest.mark.parametrize(
    "change",
    [
        lambda graph: graph.add_node("new"),
        lambda graph: graph.add_edge("a", "c"),
        lambda graph: graph.edges["a", "b"].update(w=3),
        lambda graph: graph.nodes["c"].update(kind="rack"),
    ],
)  # fmt: skip
def test_what_tells_graphs_apart(storage: str, change: Any) -> None:
    graph: Any = nx.path_graph(["a", "b", "c", "d"])
    nx.set_node_attributes(graph, dict.fromkeys(graph, "machine"), "kind")
    nx.set_edge_attributes(graph, dict.fromkeys(graph.edges, 1.0), "w")
    options: Any = {"weight": "w", "where": 'kind = "machine"', "storage": storage}
    Search(graph, **options).close()
    Search(graph.copy(), **options).close()
    # What nobody looks at is nobody's business.
    graph.graph["name"] = graph.nodes["a"]["colour"] = "red"
    Search(graph, **options).close()
    if "new" in str(change(graph) or graph.nodes):
        graph.add_edge("new", "a", w=1)
        graph.nodes["new"]["kind"] = "machine"
    nx.set_edge_attributes(
        graph, {edge: 1.0 for edge in graph.edges if "w" not in graph.edges[edge]}, "w"
    )
    with pytest.raises(RunMismatch, match="on another graph"):
        Search(graph, **options)


def test_a_graph_that_was_half_written_is_written_again(grid: Grid, storage: str) -> None:
    with Search(grid, storage=storage) as search:
        view = search.run.view
    with open_store(storage) as store:
        label, kind = view.labels[0], view.relationships[0]
    whole = Path(storage.removeprefix("sqlite:"))
    whole.unlink()
    with open_store(storage, create=True) as store:
        plain = View((label,), (kind,), key="id")
        store.create_key(plain)
        store.write_nodes(plain, [(str(node), {}) for node in list(grid)[:20]])
    with Search(grid, storage=storage) as search:
        assert search.run.store.count_nodes(view) == 64
        assert search.run.store.count_relationships(view) == 112


def test_nodes_that_can_be_kept(storage: str) -> None:
    nodes = [1, "1", (1,), (1, ("a", 2)), "x y", np.int64(7)]
    with Search(nx.path_graph(nodes), storage=storage) as search:
        search.optimize(lambda node: 1.0, budget=6)
        assert set(nodes_of(search)) == set(nodes)
    with open_store(storage) as store:
        kept = (
            {one.key for one in graphbo.Run.open(store, "search").best_history()} if False else None
        )
        assert kept is None
        run = graphbo.Run.open(store, "search")
        run.refresh()
        assert {one.key for one in run.history} == {1, "1", "(1,)", "(1, ('a', 2))", "x y", 7}


@pytest.mark.parametrize(
    ("node", "kind"),
    [
        (1.5, "float"),
        (frozenset("a"), "frozenset"),
        (True, "bool"),
        ((1, None), "NoneType"),
        (2**70, "int"),
        ((), "tuple"),
    ],
    ids=repr,
)
def test_nodes_that_cannot_be_kept(storage: str, node: Any, kind: str) -> None:
    graph = nx.path_graph(["a", node])
    with pytest.raises(InvalidView, match=f"is a {kind}, which a storage cannot keep"):
        Search(graph, storage=storage)
    assert not Path(storage.removeprefix("sqlite:")).exists()
    assert Search(graph).optimize(lambda _: 1.0, budget=2).ending in ("budget", "exhausted")


def test_nodes_that_would_be_kept_as_the_same(storage: str) -> None:
    with pytest.raises(InvalidView, match="would be kept as the same: rename one"):
        Search(nx.path_graph([(0, 1), "(0, 1)"]), storage=storage)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("kept.db", "the storage is the path 'kept.db': write 'sqlite:kept.db'"),
        (Path("kept.db"), "write 'sqlite:kept.db'"),
        (7, "the storage is 7: expected an address"),
    ],
    ids=str,
)
def test_storages_that_are_none(grid: Grid, given: Any, expected: str) -> None:
    with pytest.raises(InvalidAddress, match=expected):
        Search(grid, storage=given)


def test_what_is_wrong_leaves_no_file_behind(grid: Grid, storage: str) -> None:
    for options in (
        {"strategy": "best"},
        {"seed": -1},
        {"options": {"colour": 1}},
        {"noise": -1.0},
    ):
        with pytest.raises(GraphboError):
            Search(grid, storage=storage, **options)
    with pytest.raises(InvalidObjective):
        optimize(lambda: 1.0, grid, storage=storage)
    assert not Path(storage.removeprefix("sqlite:")).exists()


def test_a_database_is_its_own_storage(storage: str) -> None:
    with pytest.raises(InvalidView, match="leave out storage"):
        Search(storage, storage=storage)


def test_a_search_in_a_database_is_gone_on_with_by_its_name(storage: str) -> None:
    view = View(("Cell",), ("NEXT_TO",), key="id")
    with open_store(storage, create=True) as store:
        store.create_key(view)
        store.write_relationships(view, [(n, (n + 1) % 20, {}) for n in range(20)])
    with Search(storage, name="cells", label="Cell", relationship="NEXT_TO", seed=7) as search:
        search.optimize(float, budget=5)
    with Search(storage, name="cells") as search:
        assert search.run.record.seed == 7
        node = search.ask()
        search.tell(np.int64(node), 1.0)
        assert len(search.history) == 6


# What leaves it whole


def test_what_interrupts_an_optimization_leaves_the_search_whole(grid: Grid) -> None:
    search = Search(grid, seed=2)
    for stranger in (KeyboardInterrupt(), ZeroDivisionError("mine"), SystemExit(3)):
        done = len(search.history)

        def interrupt(_: Search, stranger: BaseException = stranger, done: int = done) -> None:
            if len(search.history) == done + 4:
                raise stranger

        with pytest.raises(type(stranger)):
            search.optimize(corner, budget=30, stop=interrupt)
        assert (len(search.history), search.pending) == (done + 4, ())
    # Ctrl-C in the middle of an evaluation: its node comes first then.
    asked: list[object] = []

    def interrupted(node: object) -> float:
        asked.append(node)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        search.optimize(interrupted, budget=30)
    result = search.optimize(corner, budget=30)
    assert result.history[12].key == asked[0]
    assert nodes_of(result) == nodes_of(optimize(corner, grid, budget=30, seed=2))


def test_a_broken_function_ends_the_search_with_its_own_exception(
    grid: Grid, caplog: pytest.LogCaptureFixture
) -> None:
    search = Search(grid)

    def broken(node: object) -> float:
        raise LookupError(f"no table for {node}")

    with pytest.raises(
        ObjectiveBroken, match=r"10 evaluations in a row failed; the last one, at \(\d, \d\)"
    ) as error:
        search.optimize(broken, budget=60)
    (note,) = error.value.__notes__
    assert "test_search.py" in note
    assert 'raise LookupError(f"no table for {node}")' in note
    assert "10 of 10 evaluations failed and gave no value: LookupError: no table for" in caplog.text
    assert len(search.history) == 10
    search.retry()
    assert search.optimize(corner, budget=15).best is not None


def test_what_failed_is_warned_of_in_the_end(grid: Grid, caplog: pytest.LogCaptureFixture) -> None:
    def moody(node: tuple[int, int]) -> float:
        if node[0] == 3:
            raise OSError("out of paper")
        return corner(node)

    result = optimize(moody, grid, budget=64)
    assert result.ending in ("budget", "exhausted")
    (line,) = [one for one in caplog.messages if "failed and gave no value" in one]
    assert line == "8 of 64 evaluations failed and gave no value: OSError: out of paper (8 times)"


@pytest.mark.parametrize("budget", [4, 25])
def test_values_that_are_all_the_same_are_remarked_on(
    grid: Grid, caplog: pytest.LogCaptureFixture, budget: int
) -> None:
    optimize(lambda _: 2.5, grid, budget=budget)
    (line,) = [one for one in caplog.messages if "is the function meant to be" in one]
    assert line.startswith(f"all {min(budget, 10)} values so far are 2.5")
    caplog.clear()
    optimize(corner, grid, budget=budget)
    assert not caplog.messages


def test_who_expected_more_evaluations_is_told_why(
    grid: Grid, caplog: pytest.LogCaptureFixture
) -> None:
    search = Search(grid)
    asked = search.ask()
    assert len(search.optimize(corner, budget=5).history) == 4
    (line,) = caplog.messages
    assert line.startswith("asked for and not told yet")
    assert line.endswith(f": {asked!r}; tell them, or release them")
    caplog.clear()
    search.tell(asked, 1.0)
    search.optimize(corner, budget=5)
    assert caplog.messages == [
        "nothing was evaluated: the budget of 5 includes the 5 evaluations before"
    ]


# When to stop


def test_a_callback_stops_a_search(grid: Grid) -> None:
    result = optimize(corner, grid, budget=50, stop=lambda search: _value(search) >= 8)
    assert result.ending == "stop"
    assert [corner(one.key) >= 8 for one in result.history][-2:] == [False, True]
    search = Search(grid)
    assert search.optimize(corner, budget=50, stop=lambda one: one.stop()).ending == "stop"
    assert len(search.history) == 1
    assert search.optimize(corner, budget=3).ending == "budget"


def test_batches(grid: Grid) -> None:
    events: list[str] = []

    def watch(progress: Progress) -> None:
        events.append("asked" if progress.asked else "told")
        one: Any = progress.asked or (progress.told and progress.told.observation)
        assert one.key in grid

    optimize(corner, grid, budget=6, batch_size=3, watch=watch)
    assert events == [*["asked"] * 3, *["told"] * 3] * 2


def test_a_time_ends_a_search(grid: Grid) -> None:
    result = optimize(lambda _: time.sleep(0.05) or 1.0, grid, time=0.1)  # type: ignore[func-returns-value]
    assert result.ending == "time"
    assert 1 <= len(result.history) < 60


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *(("budget", value) for value in (0, -1, 2.5, "10", True, float("nan"))),
        *(("workers", value) for value in (0, -2, 1.5, "4", False)),
        *(("batch_size", value) for value in (0, 1.0)),
        *(("patience", value) for value in (0, "x")),
        *(("max_failures", value) for value in (0, -1)),
    ],
)
def test_counts_are_positive_whole_numbers(grid: Grid, option: str, value: Any) -> None:
    calls: list[object] = []
    with pytest.raises(
        RunError, match=f"{option} is .*: expected a whole number from 1 up"
    ) as error:
        optimize(calls.append, grid, **{option: value})
    assert "--" not in str(error.value)
    assert not calls


@pytest.mark.parametrize("value", [0, -1.0, "10m", True, float("inf")])
def test_times_are_seconds(grid: Grid, value: Any) -> None:
    with pytest.raises(RunError, match=r"time is .*: expected a number of seconds above 0"):
        optimize(corner, grid, time=value)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"maximize": "no"}, "maximize is 'no': expected True or False"),
        ({"name": 3}, "name is 3: expected a text"),
        ({"name": ""}, "name is '': expected a text"),
        ({"known": [1.0]}, r"known is \[1.0\]: expected a dict of values by node"),
        ({"start": 3}, r"start is 3: expected a list of nodes, as in \[3\]"),
        ({"start": "abc"}, r"expected a list of nodes, as in \['abc'\]"),
        ({"stop": True}, "stop is True: expected a function"),
        ({"watch": 1}, "watch is 1: expected a function"),
    ],
    ids=str,
)
def test_what_is_of_another_kind_is_named(grid: Grid, options: Any, expected: str) -> None:
    calls: list[object] = []
    with pytest.raises(RunError, match=expected):
        optimize(calls.append, grid, **options)
    assert not calls


def test_a_function_comes_before_its_graph(grid: Grid) -> None:
    with pytest.raises(InvalidObjective, match=r"write optimize\(function, graph\)"):
        optimize(grid, corner)


def test_counts_of_numpy_are_counts(grid: Grid) -> None:
    assert len(optimize(corner, grid, budget=np.int64(3)).history) == 3  # type: ignore[arg-type]  # mypy knows better


# What it shows


def test_a_result_leads_to_its_search(grid: Grid) -> None:
    result = optimize(corner, grid, budget=12)
    assert result.search is not None
    assert result.search.optimize(corner, budget=15).history[:12] == result.history
    assert pickle.loads(pickle.dumps(result)) == result


def test_a_result_from_a_file_leads_to_its_search(grid: Grid, storage: str) -> None:
    result = optimize(corner, grid, budget=3, storage=storage)
    assert result.search is not None
    assert result.search.is_open
    assert result.search.name == "search"
    assert len(result.search.optimize(corner, budget=5).history) == 5
    result.search.close()


def test_what_was_in_memory_is_gone_when_it_was_closed(grid: Grid) -> None:
    with Search(grid, name="brief") as search:
        search.optimize(corner, budget=2)
    assert repr(search) == "Search('brief', closed)"
    with pytest.raises(RunError, match="in memory and was closed: give it a storage"):
        search.ask()


def test_nothing_stays_open_when_nobody_holds_it(grid: Grid, storage: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        closed: list[str] = []
        kind = type(open_store("sqlite::memory:"))
        plain = kind.close

        def close(store: Any) -> None:
            closed.append(store.address)
            plain(store)

        patch.setattr(kind, "close", close)
        optimize(corner, grid, budget=2)
        Search(grid, storage=storage)
        gc.collect()
        assert sorted(set(closed)) == sorted(["sqlite::memory:", storage])


def test_figures_have_the_users_nodes(grid: Grid) -> None:
    search = optimize(corner, grid, budget=20).search
    assert search is not None
    best = search.best
    assert best is not None
    axes: Any = search.plot.map().axes[0]
    assert str(best.key) in [text.get_text() for text in axes.texts]
    page = html_of(search)
    assert str(best.key) in page
    assert "graphbo ask" not in page
    for name in ("convergence", "kernel", "region", "calibration"):
        assert getattr(search.plot, name)().axes
    assert "convergence()" in repr(search.plot)
    assert search.result().plot.map().axes


def test_why_a_node_is_told_in_the_users_words(grid: Grid) -> None:
    search = Search(grid, seed=1)
    search.optimize(corner, budget=15)
    node = search.ask()
    why = search.why()
    assert (why.key, why.standing) == (node, "pending")
    named = [part.key for part in why.parts if part.kind == "node"]
    assert named
    assert set(named) <= set(grid)
    measured = search.why(search.history[12].key)
    assert (measured.key, measured.value) == (search.history[12].key, search.history[12].value)


def test_figures_show_themselves_in_a_notebook_without_magic(grid: Grid) -> None:
    figure: Any = Search(grid, known={(0, 0): 1.0}).plot.convergence()
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_what_things_say_of_themselves_is_one_line(grid: Grid, storage: str) -> None:
    result = optimize(corner, grid, budget=3, name="short", storage=storage)
    search = result.search
    assert search is not None
    assert result.best is not None
    best = f"best {result.best.key!r} with {result.best.value:g}"
    assert repr(result) == f"Result('short', 3 evaluations, {best}, ended by budget)"
    assert repr(search) == (
        f"Search('short' on a networkx graph of 64 nodes and 112 edges, 3 evaluations, {best}, {storage})"
    )
    assert (
        repr(search.run)
        == f"Run('short', 3 evaluations, best {result.best.value:g}, finished, {storage})"
    )
    assert repr(Search(grid, name="new")) == (
        "Search('new' on a networkx graph of 64 nodes and 112 edges, 0 evaluations, no value yet)"
    )
    for shown in (result, search, search.run):
        assert str(result.best.key) in shown._repr_html_()
    search.close()


def test_the_history_as_a_table(grid: Grid) -> None:
    search = Search(grid)
    assert len(search.to_dataframe()) == 0
    search.optimize(corner, budget=4)
    assert search.to_dataframe()["key"].tolist() == nodes_of(search)


def test_a_careful_colleague_notes_what_happens(
    grid: Grid, storage: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "graphbo")
    optimize(corner, grid, budget=12, storage=storage, name="noted")
    optimize(lambda node: 1 / 0, grid, budget=13, storage=storage, name="noted")
    said = "\n".join(caplog.messages)
    for part in (
        f"the run 'noted' begins in {storage}: maximize on",
        "strategy bayes, seed 0",
        "the best so far",
        "the run 'noted': ended by budget after 12 evaluations, 0 of which failed",
        "the run 'noted' goes on after 12 evaluations",
        "evaluation 13: (",
        "failed: ZeroDivisionError: division by zero",
    ):
        assert part in said
    assert said.count("the best so far") < 12


_PROGRAM = """
import sys, networkx as nx, graphbo
def slow(node):
    print(node, flush=True)
    if len(search.history) == 3:
        import signal, os
        os.kill(os.getpid(), signal.SIGINT)
    return float(node)
search = graphbo.Search(nx.path_graph(20), storage=sys.argv[1])
search.optimize(slow, budget=10)
"""


@pytest.mark.slow
def test_ctrl_c_in_a_program_keeps_what_was_measured(storage: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, storage], capture_output=True, text=True, check=False
    )
    assert "KeyboardInterrupt" in done.stderr
    asked = [int(line) for line in done.stdout.split()]
    with Search(nx.path_graph(20), storage=storage) as search:
        assert nodes_of(search) == asked[:3]
        assert search.ask() == asked[3]


# What is known of nodes


@pytest.mark.parametrize("features", ["auto", "income", ["income", "kind"]], ids=str)
def test_attributes_of_nodes_are_features(features: Any, storage: str) -> None:
    generator = np.random.default_rng(0)
    graph = nx.random_regular_graph(4, 400, seed=1)
    for node, own in graph.nodes.items():
        own["income"] = np.float64(generator.lognormal(10, 1))
        own["kind"] = None if node % 5 == 0 else "ab"[node % 2]
        own["vector"] = generator.normal(size=3)
        own["odd"] = {"a": 1}
        own["nan"] = float("nan") if node % 2 else 1.0

    def measure(node: Any) -> float:
        return float(graph.nodes[node]["income"])

    found = graphbo.optimize(measure, graph, budget=15, features=features, storage=storage)
    assert found.best is not None
    assert found.best.value >= np.quantile([measure(node) for node in graph], 0.99)
    assert found.search is not None
    names = found.search.run.record.config["options"]["features"]
    expected = {"auto": ["income", "kind", "vector"], "income": ["income"]}
    assert names == expected.get(str(features), ["income", "kind"])
    again = Search(graph, features=features, storage=storage)
    assert len(again.history) == 15


def test_an_attribute_that_is_none_is_one_clear_line(grid: Grid) -> None:
    with pytest.raises(ModelError, match="'height' can be no feature: no node has it"):
        Search(grid, features="height")
