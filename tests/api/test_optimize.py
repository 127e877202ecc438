"""The one call for people with a Python function and a graph."""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import networkx as nx
import pytest

from graphbo import optimize
from graphbo.errors import (
    GraphboError,
    InvalidObjective,
    InvalidView,
    InvalidWeight,
    RunError,
)
from graphbo.objectives import parse_objective
from graphbo.runs.registry import runs_in
from graphbo.search.kernels import Diffusion
from graphbo.search.strategies.random import RandomSearch
from graphbo.seeing import facts_of, html_of
from graphbo.stores import GraphStore, open_store
from graphbo.types import View
from tests.backends import Backend
from tests.runs.support import news_in


@pytest.fixture
def grid() -> "nx.Graph[tuple[int, int]]":
    """Nodes are pairs of numbers."""
    graph: nx.Graph[tuple[int, int]] = nx.grid_2d_graph(8, 8)
    return graph


def corner(node: Any) -> float:
    return float(node[0] + node[1])


def test_finds_the_best_node_of_a_networkx_graph(grid: "nx.Graph[tuple[int, int]]") -> None:
    result = optimize(corner, grid, budget=30, seed=1)
    assert result.best is not None
    assert result.best.value >= 12.0
    assert corner(result.best.key) == result.best.value
    assert len(result.history) == len({one.key for one in result.history}) == 30
    assert [one.step for one in result.history] == list(range(1, 31))
    assert {one.key for one in result.history} <= set(grid)
    assert (result.ending, result.maximize) == ("budget", True)
    assert 30 <= result.revealed <= 64
    # Nothing of it is kept between two calls.
    assert optimize(corner, grid, budget=30, seed=1).history[-1].key == result.history[-1].key


def test_the_smallest(grid: "nx.Graph[tuple[int, int]]") -> None:
    result = optimize(corner, grid, budget=30, seed=1, maximize=False)
    assert result.best is not None
    assert result.best.value <= 2.0


def test_nodes_may_be_anything_hashable() -> None:
    graph: nx.Graph[object] = nx.Graph()
    graph.add_edges_from([("a", 1), (1, ("b", 2)), (("b", 2), frozenset("c"))])
    graph.add_node("alone")
    seen: list[object] = []

    def objective(node: object) -> float:
        seen.append(node)
        return 1.0

    result = optimize(objective, graph, budget=10)
    assert set(seen) == set(graph)
    assert result.ending == "exhausted"


def test_a_graph_of_one_node() -> None:
    graph: nx.Graph[str] = nx.Graph()
    graph.add_node("only")
    result = optimize(len, graph)
    assert result.best is not None
    assert (result.best.key, result.best.value, result.ending) == ("only", 4.0, "exhausted")


def test_isolated_nodes_are_nodes() -> None:
    graph: nx.Graph[int] = nx.empty_graph(12)
    result = optimize(float, graph, budget=12, options={"initial": 3})
    assert result.best is not None
    assert result.best.key == 11


def test_no_node_at_all() -> None:
    with pytest.raises(InvalidView, match="no node"):
        optimize(float, nx.Graph())


def test_attributes_for_those_who_take_two_arguments() -> None:
    graph: nx.Graph[str] = nx.path_graph(["a", "b", "c"])
    nx.set_node_attributes(graph, {"a": 1.0, "b": 5.0, "c": 2.0}, "height")
    result = optimize(lambda node, attributes: attributes["height"], graph)
    assert result.best is not None
    assert (result.best.key, result.best.value) == ("b", 5.0)
    # Missing ones are the objective's own business.
    graph.add_edge("c", "d")
    failed = [one for one in optimize(_height, graph).history if one.failed]
    assert [(one.key, one.error) for one in failed] == [("d", "KeyError: 'height'")]


def _height(node: str, attributes: dict[str, float]) -> float:
    return attributes["height"]


def test_weights_are_an_edge_attribute() -> None:
    graph: nx.Graph[int] = nx.Graph()
    graph.add_edges_from((node, node + 1, {"strength": 2.0}) for node in range(19))
    options = {"initial": 2}
    assert len(optimize(float, graph, weight="strength", budget=9, options=options).history) == 9
    graph.add_edge(0, 10)
    with pytest.raises(InvalidWeight, match="no weight"):
        optimize(float, graph, weight="strength", budget=20, options=options)


def test_known_values_are_a_start(grid: "nx.Graph[tuple[int, int]]") -> None:
    known: dict[object, float] = {(x, 7): float(x + 7) for x in range(6)}
    result = optimize(corner, grid, budget=8, known=known, options={"initial": 3})
    warm = [one for one in result.history if one.source == "warm"]
    assert known == {one.key: one.value for one in warm}
    assert len(result.history) == 6 + 8
    assert not {one.key for one in result.history if one.source == "run"} & known.keys()
    with pytest.raises(InvalidView, match=r"no node \(9, 9\)"):
        optimize(corner, grid, known={(9, 9): 1.0})


def test_an_unknown_graph_is_entered_at_its_start(grid: "nx.Graph[tuple[int, int]]") -> None:
    result = optimize(corner, grid, budget=6, start=[(0, 0)], reveal="evaluated", strategy="bfs")
    assert corner(result.history[0].key) == 0
    assert all(corner(one.key) <= 3 for one in result.history)


def test_several_at_once_and_patience(grid: "nx.Graph[tuple[int, int]]") -> None:
    with ThreadPoolExecutor(3) as pool:
        result = optimize(lambda node: 1.0, grid, executor=pool, workers=3, patience=5, budget=50)
    assert result.ending == "patience"
    assert 6 <= len(result.history) <= 9


def test_too_many_failures(grid: "nx.Graph[tuple[int, int]]") -> None:
    with pytest.raises(RunError, match="3 evaluations failed"):
        optimize(lambda node: float("nan"), grid, max_failures=3)


def test_wrong_names_are_noticed_before_anything_is_paid_for(backend: Backend) -> None:
    view = View(("Cell",), ("NEXT_TO",), key="id")
    calls: list[object] = []
    with backend.open() as store:
        store.create_key(view)
        store.write_relationships(view, [(n, n + 1, {"weight": 1.0}) for n in range(9)])
        for wrong, expected in (
            ({"relationship": "NEXTTO"}, "no relationship has the type 'NEXTTO' .*mean 'NEXT_TO'"),
            ({"weight": "weigth"}, "has no weight in 'weigth'"),
            ({"label": "Cel"}, "no node has the label 'Cel' .*mean 'Cell'"),
            ({"key": "name"}, "name"),
        ):
            named: dict[str, Any] = {"label": "Cell", "relationship": "NEXT_TO", **wrong}
            with pytest.raises(GraphboError, match=expected):
                optimize(calls.append, store, **named)
        assert runs_in(store).all() == []
    assert not calls


def test_a_database_keeps_the_run(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    view = View(("N",), ("R",), key="id")
    for name, setting in backend.environment.items():
        monkeypatch.setenv(name, setting)
    with backend.open() as store:
        store.create_key(view)
        store.write_relationships(view, [(f"n{i}", f"n{i + 1}", {}) for i in range(30)])
        result = optimize(_number, store, label="N", relationship="R", budget=5, name="kept")
        assert len(result.history) == 5
    # By its address, in another connection: it goes on.
    result = optimize(_number, backend.uri, label="N", relationship="R", budget=8, name="kept")
    assert len(result.history) == 8
    assert result.best is not None
    assert result.best.value == max(one.value or 0.0 for one in result.history)


def test_a_long_evaluation_is_not_taken_over(backend: Backend) -> None:
    view = View(("N",), ("R",), key="id")
    left: list[float | None] = []

    def slow(key: int) -> float:
        # Neo4j has to be connected to first, which takes a while on a busy machine.
        for _ in range(400):
            time.sleep(0.1)
            with backend.open() as other:
                (pending,) = news_in(other, name="slow").pending
            left.append(pending.lease_left)
            if len(left) > 1 and (left[-1] or 0.0) > (left[-2] or 0.0):
                break
        return 1.0

    with backend.open() as store:
        store.create_key(view)
        store.write_relationships(view, [(1, 2, {})])
        optimize(slow, store, label="N", relationship="R", budget=1, name="slow", lease=3.0)
        # It is the thread's own connection that was closed.
        assert runs_in(store).get("slow").told == 1
    # Time only takes away from a lease; whoever has more than before has renewed it.
    assert None not in left
    # On a busy machine, it may have run out before the process that renews it was there.
    assert (left[-1] or 0.0) > (left[-2] or 0.0)


def _number(key: str) -> int:
    return int(key[1:])


def test_the_history_as_a_table(grid: "nx.Graph[tuple[int, int]]") -> None:
    pytest.importorskip("pandas")
    fails = {(0, 0), (1, 1), (2, 2), (3, 3)}
    result = optimize(
        lambda node: float("nan") if node in fails else corner(node),
        grid,
        budget=64,
        strategy="random",
    )
    table = result.to_dataframe()
    assert len(table) == 64
    assert list(table["step"]) == [one.step for one in result.history]
    assert table["key"].tolist() == [one.key for one in result.history]
    assert table["best"].iloc[-1] == 14.0
    assert table["best"].dropna().is_monotonic_increasing
    assert table["value"].isna().sum() == table["error"].notna().sum() == 4
    assert {"mean", "std", "acquisition", "restart", "phase", "source"} <= set(table.columns)
    smallest = optimize(corner, grid, budget=5, strategy="random", maximize=False).to_dataframe()
    assert smallest["best"].is_monotonic_decreasing


def test_the_table_needs_pandas(
    grid: "nx.Graph[tuple[int, int]]", monkeypatch: pytest.MonkeyPatch
) -> None:
    result = optimize(corner, grid, budget=1)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(GraphboError, match=r"graphbo\[pandas\]"):
        result.to_dataframe()


def test_the_kernel_is_an_option_of_the_model(grid: "nx.Graph[tuple[int, int]]") -> None:
    result = optimize(corner, grid, budget=12, kernel="polynomial")
    assert result.settings.options["kernel"] == "polynomial"
    named = {"kernel": "diffusion"}
    result = optimize(corner, grid, budget=2, kernel="polynomial", options=named)
    assert result.settings.options["kernel"] == "polynomial"


@pytest.mark.parametrize(
    ("given", "used"), [({}, "sum-inverse"), ({"kernel": "auto"}, "auto")], ids=["none", "auto"]
)
def test_without_a_kernel_it_is_the_strategy_s_own(
    grid: "nx.Graph[tuple[int, int]]", given: dict[str, str], used: str
) -> None:
    result = optimize(corner, grid, budget=2, strategy="paper", **given)  # type: ignore[arg-type]  # mypy reads more into **
    assert result.settings.options["kernel"] == used


def test_a_strategy_without_a_model_takes_no_kernel(grid: "nx.Graph[tuple[int, int]]") -> None:
    with pytest.raises(GraphboError, match="the strategy random has no option kernel"):
        optimize(corner, grid, budget=2, strategy="random", kernel="auto")
    with pytest.raises(GraphboError, match=r"is given as an object, .*: make it with kernel"):
        optimize(corner, grid, budget=2, strategy=RandomSearch(), kernel="auto")


def test_the_strategy_may_be_an_object(grid: "nx.Graph[tuple[int, int]]") -> None:
    made = optimize(corner, grid, budget=8, seed=3, strategy=RandomSearch())
    named = optimize(corner, grid, budget=8, seed=3, strategy="random")
    assert [one.key for one in made.history] == [one.key for one in named.history]


def test_the_kernel_may_be_a_function(grid: "nx.Graph[tuple[int, int]]") -> None:
    made = optimize(corner, grid, budget=13, seed=3, kernel=Diffusion.scaled)
    named = optimize(corner, grid, budget=13, seed=3, kernel="diffusion")
    assert [one.key for one in made.history] == [one.key for one in named.history]
    assert "Diffusion.scaled" in html_of(facts_of(made))


def test_an_open_store_stays_open(grid: "nx.Graph[tuple[int, int]]") -> None:
    with open_store("sqlite::memory:") as store:
        nodes = _loaded(store)
        optimize(float, store, budget=2)
        assert store.count_nodes(View(("Node",), ("LINK",))) == nodes


def _loaded(store: GraphStore) -> int:
    view = View(("Node",), ("LINK",), key="id")
    store.create_key(view)
    store.write_relationships(view, [(i, i + 1, {}) for i in range(5)])
    return 6


def test_an_objective_that_cannot_be_asked_leaves_no_run(backend: Backend) -> None:
    view = View(("N",), ("R",), key="id")
    with backend.open() as store:
        store.create_key(view)
        store.write_nodes(view, [(node, {}) for node in range(3)])
        for objective in (parse_objective("http://127.0.0.1:9/"), lambda: 1.0):
            with pytest.raises(InvalidObjective):
                optimize(objective, store, label="N", relationship="R", key="id", budget=1)
        assert runs_in(store).all() == []


def test_directions_are_those_of_the_graph() -> None:
    path = nx.DiGraph([(0, 1), (1, 2), (2, 3)])
    result = optimize(
        float, path, direction="out", start=[2], reveal="evaluated", strategy="local", budget=4
    )
    assert {one.key for one in result.history} == {2, 3}
    with pytest.raises(InvalidView, match="the edges of the graph have none"):
        optimize(float, path.to_undirected(), direction="out")


def test_what_is_wrong_leaves_no_run_behind() -> None:
    with open_store("sqlite::memory:") as store:
        _loaded(store)
        for wrong in ({"workers": 0}, {"budget": 2.5}, {"executor": "threads"}, {"executor": 7}):
            with pytest.raises(RunError):
                optimize(float, store, **wrong)
        assert runs_in(store).all() == []


def test_a_graph_of_networkx_has_no_labels(grid: "nx.Graph[tuple[int, int]]") -> None:
    with pytest.raises(InvalidView, match="leave out paths, or name candidates by an attribute"):
        optimize(lambda _: 0.0, grid, paths="(:A)-[:R]-(:A)")


def test_factors_are_a_mapping(backend: Backend) -> None:
    with pytest.raises(InvalidView, match="the factor of 'R' is 0"):
        optimize(lambda _: 0.0, backend.uri, relationship={"R": 0})


def test_candidates_of_a_networkx_graph_are_told_by_an_attribute() -> None:
    graph: nx.Graph[Any] = nx.Graph()
    for i in range(24):
        graph.add_node(i, kind="machine" if i % 2 else "rack", load=i / 2)
    graph.add_edges_from((i, (i + 1) % 24) for i in range(24))
    graph.add_node("odd", load=object())

    result = optimize(
        float,
        graph,
        candidates_where='kind = "machine"',
        where="kind IS NOT NULL",
        budget=30,
        default_weight=2.0,
        weight="w",
    )

    assert result.best is not None
    assert result.best.key == 23
    assert {one.key for one in result.history} == set(range(1, 24, 2))


def test_a_filter_cannot_look_at_the_numbers_of_nodes() -> None:
    with pytest.raises(InvalidView, match="filter by another attribute"):
        optimize(lambda _: 0.0, nx.path_graph(3), where="id > 1")
