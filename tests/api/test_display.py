"""What people see while a search goes on, and that it can be turned off."""

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import networkx as nx
import pytest

from graphbo import Search, optimize
from graphbo.errors import ObjectiveBroken

NODES = [f"<n{n}>" for n in range(12)]


@pytest.fixture
def graph() -> Any:
    return nx.path_graph(NODES)


def value(node: str) -> float:
    if node == "<n3>":
        raise OSError("out of paper")
    return float(node[2:-1])


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard error is one, as rich sees it."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")


class Page:
    """What a notebook shows: each cell's last output."""

    def __init__(self) -> None:
        self.shown: list[Any] = []

    def display(self, thing: Any, display_id: bool = False) -> "Page":
        assert display_id
        self.shown.append(thing)
        return self

    def update(self, thing: Any) -> None:
        self.shown.append(thing)


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Page:
    """IPython as a notebook has it."""
    page = Page()
    shell = SimpleNamespace(kernel=object())
    top, display = ModuleType("IPython"), ModuleType("IPython.display")
    top.__dict__["get_ipython"] = lambda: shell
    display.__dict__["display"] = page.display
    monkeypatch.setitem(sys.modules, "IPython", top)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return page


def test_a_terminal_shows_how_far_a_search_is(
    graph: Any, terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    optimize(value, graph, budget=12, name="short")
    out, shown = capsys.readouterr()
    assert not out
    assert "short" in shown
    last = shown[shown.rindex("short") :]
    assert "12 of 12" in last
    assert "<n11> with 11 (evaluation " in last
    assert "1 evaluation, the last <n3>: OSError: out of paper" in last
    assert "now" not in last
    # The cursor is there again.
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


def test_a_terminal_is_whole_again_after_an_error(
    graph: Any, terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ObjectiveBroken):
        optimize(lambda _: 1 / 0, graph, budget=12, name="broken")
    shown = capsys.readouterr().err
    assert "10 evaluations, the last" in shown
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


def test_a_notebook_shows_it_in_one_place(
    graph: Any, page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    optimize(value, graph, budget=12, name="<b>", workers=2)
    first, last = page.shown[0], page.shown[-1]
    assert 'value="0" max="12"' in first._repr_html_()
    assert 'value="12" max="12"' in last._repr_html_()
    assert "&lt;n11&gt; with 11" in last._repr_html_()
    assert "<b>" not in last._repr_html_()
    assert repr(last).startswith("<b>: 12 of 12; best <n11> with 11 (evaluation ")
    assert "\n" not in repr(last)
    # What is being evaluated is named, however long it takes.
    assert any("now <n" in repr(one) and ", <n" in repr(one) for one in page.shown)
    assert capsys.readouterr() == ("", "")


def test_what_was_known_before_is_shown_from_the_beginning(graph: Any, page: Page) -> None:
    search = Search(graph, known={"<n5>": 5.0}, name="on")
    search.optimize(value, budget=3)
    search.optimize(value, budget=6)
    assert repr(page.shown[0]) == "on: 0 of 3; best <n5> with 5 (known value)"
    begun = [repr(one) for one in page.shown if "3 of 6" in repr(one)]
    assert "; best <n" in begun[0]


def test_it_can_be_turned_off(
    graph: Any, terminal: None, page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    optimize(value, graph, budget=12, progress=False)
    assert not page.shown
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("term", [None, "dumb"])
def test_nothing_is_shown_where_nobody_looks(
    graph: Any,
    term: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if term is not None:
        monkeypatch.setenv("FORCE_COLOR", "1")
        monkeypatch.setenv("TERM", term)
    optimize(value, graph, budget=12)
    assert capsys.readouterr() == ("", "")


def test_what_a_function_prints_stays_where_it_was_sent_to(
    graph: Any, terminal: None, capsys: pytest.CaptureFixture[str]
) -> None:
    optimize(lambda node: print("looked at", node) or 1.0, graph, budget=2)
    out, shown = capsys.readouterr()
    assert out.count("looked at") == 2
    assert "looked at" not in shown
