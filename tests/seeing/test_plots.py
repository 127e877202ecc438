"""Figures: what is in them is collected on each store, see ``test_facts.py``."""

import pickle
from collections.abc import Iterator
from typing import Any

import networkx as nx
import pytest
from matplotlib.figure import Figure

import graphbo
from graphbo.errors import RunError
from graphbo.runs import Run, RunSettings
from graphbo.seeing import facts_of, plots
from graphbo.stores import GraphStore, open_store
from tests.backends import on_sqlite
from tests.seeing.support import NASTY, VIEW, load_graph, score, small_run

MAGIC = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture
def memory() -> Iterator[GraphStore]:
    with open_store("sqlite::memory:") as store:
        load_graph(store)
        yield store


def drawn(figure: Figure) -> int:
    """How many points and lines with something in them there are."""
    axes: Any = figure.axes[0]
    points = [len(line.get_xdata()) for line in axes.lines]
    return sum(points) + sum(len(one.get_offsets()) for one in axes.collections)


@on_sqlite
def test_every_kind_draws_something(store: GraphStore) -> None:
    load_graph(store)
    run = small_run(store, 25)

    for kind, plot in plots.PLOTS.items():
        figure = plot(run)
        assert drawn(figure) > 10, kind
        assert plots.image_of(figure, ".png").startswith(MAGIC[".png"])


@pytest.mark.parametrize(
    ("values", "optimum"),
    [
        ((1.7e308, -1.7e308, 5e-324), None),
        pytest.param((1e308, 1.7e308), 1.7e308, marks=pytest.mark.slow),
        pytest.param((1e-320, 0.0), 1.7e308, marks=pytest.mark.slow),
    ],
)
def test_values_at_the_ends_of_what_a_number_can_be(
    memory: GraphStore, values: tuple[float, ...], optimum: float | None
) -> None:
    run = small_run(memory, 15, value=lambda node: values[node % len(values)])
    for kind, plot in plots.PLOTS.items():
        figure = plot(run, optimum=optimum)
        assert plots.image_of(figure, ".png").startswith(MAGIC[".png"]), kind
    axes: Any = plots.convergence(run).axes[0]
    assert axes.get_ylabel() == ("value / 1e+290" if max(values) > 1 else "value")


@pytest.mark.parametrize("ending", MAGIC)
def test_equal_figures_give_equal_files(memory: GraphStore, ending: str) -> None:
    facts = facts_of(small_run(memory, 15))

    first = plots.image_of(plots.convergence(facts), ending)

    assert first.startswith(MAGIC[ending])
    if ending != ".svg":  # whose ids are random
        assert plots.image_of(plots.convergence(facts), ending) == first


def test_with_an_optimum_there_is_a_regret(memory: GraphStore) -> None:
    figure = plots.convergence(small_run(memory, 15), optimum=11.0)
    axes: Any = figure.axes[0]

    assert axes.get_ylabel() == "regret"
    best = list(axes.lines[1].get_ydata())
    assert best == sorted(best, reverse=True)
    assert min(best) >= 1.0


def test_a_result_can_be_plotted_as_far_as_its_history_goes() -> None:
    result = graphbo.optimize(lambda node: -abs(node - 7), nx.path_graph(60), budget=20)
    for kind in plots.PLOTS:
        assert drawn(plots.PLOTS[kind](result)) > 5, kind

    # A file keeps the history, and no connection.
    result = pickle.loads(pickle.dumps(result))

    for kind in ("convergence", "region", "calibration"):
        assert drawn(plots.PLOTS[kind](result)) > 5, kind
    for kind in ("map", "kernel"):
        with pytest.raises(RunError, match=r"give its run, Run\.open"):
            plots.PLOTS[kind](result)


def test_what_cannot_be_drawn_is_said(memory: GraphStore) -> None:
    empty = Run.create(memory, VIEW, "empty", RunSettings())
    for plot in plots.PLOTS.values():
        with pytest.raises(RunError, match="'empty'"):
            plot(empty)
    by_chance = small_run(memory, 5, name="chance", strategy="random")
    for kind, why in (
        ("kernel", "no model"),
        ("region", "its strategy has none"),
        ("calibration", "no predictions"),
    ):
        with pytest.raises(RunError, match=why):
            plots.PLOTS[kind](by_chance)


@pytest.mark.parametrize(
    "settings",
    [{"maximize": False}, {"noise": 0.5}, {"strategy": "paper"}, {"start": (5,), "reveal": "ego"}],
    ids=str,
)
@pytest.mark.slow
def test_every_sort_of_run_can_be_plotted(memory: GraphStore, settings: dict[str, Any]) -> None:
    facts = facts_of(small_run(memory, 25, fail=lambda key: key % 7 == 3, **settings))

    for plot in plots.PLOTS.values():
        assert plots.image_of(plot(facts), ".png")


def test_keys_are_no_formulas() -> None:
    names = {row: f"{row} {NASTY[row % len(NASTY)]}" for row in range(62)}
    with open_store("sqlite::memory:") as store:
        load_graph(store, names)
        run = small_run(
            store, 15, name="$x_{", value=lambda key: score(int(key.split()[0])) + 99 * ("$" in key)
        )
        figure = plots.search_map(run)

    assert "$x_{broken$" in "".join(text.get_text() for text in figure.axes[0].texts)
    assert plots.image_of(figure, ".pdf")
