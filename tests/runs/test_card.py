"""What notebooks show of runs and results."""

import re
from html.parser import HTMLParser

import networkx as nx
import pytest

import graphbo
from graphbo.runs import Run, RunSettings
from graphbo.runs.card import card
from graphbo.stores import GraphStore
from graphbo.types import Observation
from tests.seeing.support import NASTY, VIEW, load_graph, small_run


class Checker(HTMLParser):
    """Notes every element, and fails where one is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(html: str) -> Checker:
    checker = Checker()
    checker.feed(html)
    assert checker.open == []
    return checker


def observed(*values: float | None, key: object = "k") -> list[Observation]:
    return [
        Observation(step=n, seq=n, key=key, value=value)  # type: ignore[arg-type]
        for n, value in enumerate(values, start=1)
    ]


def test_a_result_shows_its_best_and_a_curve() -> None:
    result = graphbo.optimize(lambda node: -abs(node - 7), nx.path_graph(30), budget=15)
    shown = read(result._repr_html_())

    assert "Best: 7 with 0" in shown.text
    assert "15 evaluations" in shown.text
    assert {"svg", "path", "table"} <= shown.seen


def test_a_run_that_was_just_opened_shows_what_it_has(store: GraphStore) -> None:
    load_graph(store)
    small_run(store, 12)

    shown = read(Run.open(store, "small")._repr_html_())

    assert "Best: 42 with 10" in shown.text or "Best: " in shown.text
    assert "12 evaluations" in shown.text
    assert "svg" in shown.seen


def test_an_empty_run_says_so(store: GraphStore) -> None:
    load_graph(store)
    run = Run.create(store, VIEW, "empty", RunSettings())

    assert "No value yet" in read(run._repr_html_()).text


@pytest.mark.parametrize("name", NASTY)
def test_names_are_text(name: str) -> None:
    shown = read(card(name, observed(1.0, 2.0, key=name), maximize=True, note=name))

    assert not {"script", "img"} & shown.seen
    assert name[:30] in shown.text


@pytest.mark.parametrize(
    "values", [(1.0,), (3.0, 3.0), (1e308, -1e308), (None, 1.0, None), (5e-324, 0.0)]
)
def test_any_values_give_a_curve(values: tuple[float | None, ...]) -> None:
    html = card("run", observed(*values), maximize=False)

    assert read(html)
    assert not re.search("nan|inf", html)


def test_long_runs_stay_small() -> None:
    html = card("run", observed(*map(float, range(5000))), maximize=True)

    assert len(html) < 120_000
