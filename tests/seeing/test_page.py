"""The report in a real browser."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest
from playwright.sync_api import Page

from graphbo.runs import Run, RunSettings
from graphbo.seeing import html_of
from graphbo.stores import GraphStore, open_store
from graphbo.types import Phase
from tests.seeing.opened import Opened
from tests.seeing.support import NASTY, VIEW, finished, large_facts, load_graph, score, small_run

pytestmark = pytest.mark.chromium


@pytest.fixture
def memory() -> Iterator[GraphStore]:
    with open_store("sqlite::memory:") as store:
        load_graph(store)
        yield store


@pytest.fixture(scope="module")
def report() -> str:
    with open_store("sqlite::memory:") as store:
        load_graph(store)
        return html_of(finished(small_run(store, 30)))


def picture(page: Page) -> str:
    found: str = page.evaluate("document.getElementById('map').toDataURL()")
    return found


def place_of(page: Page, selector: str) -> dict[str, float]:
    box = page.locator(selector).bounding_box()
    assert box is not None
    return {"x": box["x"], "y": box["y"], "width": box["width"], "height": box["height"]}


def slide(page: Page, position: int) -> None:
    page.evaluate(
        """(position) => {
          const slider = document.getElementById("slider");
          slider.value = position;
          slider.dispatchEvent(new Event("input", { bubbles: true }));
        }""",
        position,
    )


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    """Wait for the page, from outside: its policy lets nobody evaluate a text inside."""
    for _ in range(200):
        if holds():
            return
        page.wait_for_timeout(100)
    pytest.fail("it did not happen")


def test_the_answer_comes_first(opened: Opened, report: str) -> None:
    page = opened(report)

    assert page.title() == "small – graphbo"
    assert page.locator("main > :first-child").get_attribute("id") == "answer"
    assert page.locator("#best-key").inner_text() == "42"
    assert "10" in page.locator("#best-value").inner_text()
    assert "node 42" in page.locator("#best-properties").inner_text()
    assert page.locator("#best-why").inner_text().startswith("Why it was measured: ")
    opened.was_quiet()


def test_every_figure_is_drawn_and_explained(opened: Opened, report: str) -> None:
    page = opened(report)

    for name in ("convergence", "calibration", "kernel", "region", "time"):
        drawn = page.locator(f"#{name} svg").locator("circle, path, rect")
        assert drawn.count() > 3, name
        assert page.locator(f"#{name} svg").get_attribute("aria-label")
        assert len(page.locator(f"#caption-{name}").inner_text()) > 30
    assert not re.search("NaN|undefined|Infinity", page.locator("main").inner_html())


def test_the_slider_replays_the_search(opened: Opened, report: str) -> None:
    page = opened(report)
    end = picture(page)

    slide(page, 5)
    early = picture(page)
    slide(page, 0)

    assert len({end, early, picture(page)}) == 3
    assert "before the first of 30" in page.locator("#slider-text").inner_text()
    slide(page, 30)
    assert picture(page) == end
    opened.was_quiet()


def test_while_it_replays_nothing_later_is_known(opened: Opened, report: str) -> None:
    page = opened(report)
    dot = place_of(page, "#convergence circle.dot.best")
    page.mouse.move(dot["x"] + 4, dot["y"] + 4)
    assert "evaluation" in page.locator("#tip").inner_text()
    told = json.loads(page.locator("#data").text_content() or "")["steps"]
    # So long before the best was found that no other dot is near it.
    position = max(range(30), key=lambda step: told["value"][step]) - 2
    assert position > 1
    slide(page, position)

    page.mouse.move(dot["x"] + 5, dot["y"] + 5)
    assert not page.locator("#tip").is_visible()
    assert not page.locator("#convergence circle.dot.best").is_visible()
    page.locator("#map").scroll_into_view_if_needed()
    box, seen = place_of(page, "#map"), {}
    for row in range(7):
        for column in range(10):
            page.mouse.move(
                box["x"] + box["width"] * column / 10, box["y"] + box["height"] * row / 7
            )
            if page.locator("#tip").is_visible():
                seen[page.locator("#tip strong").inner_text()] = page.locator("#tip").inner_text()
    later = set(told["key"][position:]) & set(seen)
    assert later
    for key, text in seen.items():
        assert ("not measured yet" in text) == (key not in told["key"][:position]), text
        assert "promise" not in text or key in told["key"][:position]
    page.locator("#map").focus()
    page.keyboard.press("b")
    best = max(range(position), key=lambda step: told["value"][step])
    assert page.locator("#tip strong").inner_text() == told["key"][best]
    # What is under the pointer is told anew as the search goes on.
    slide(page, best)
    assert "not measured yet" in page.locator("#tip").inner_text()
    opened.was_quiet()


def test_the_slider_keeps_its_width(opened: Opened, memory: GraphStore) -> None:
    page = opened(html_of(small_run(memory, 12, value=lambda key: -1.23456 / (key + 1) ** 9)))
    widths = set()
    for position in range(13):
        slide(page, position)
        widths.add(place_of(page, "#slider")["width"])

    assert len(widths) == 1


def test_what_is_far_from_the_search_is_faint(opened: Opened) -> None:
    facts = large_facts(10, 600)
    assert facts.map is not None
    places = facts.map.places * 0.5
    places[[10, 11]] = [
        [0.5, 0.5],
        [-0.5, 0.5],
    ]  # in the corners: beside a measured node, and far from all
    drawn = replace(facts.map, places=places, edges=np.array([[0, 10], [11, 12]]))
    page = opened(html_of(replace(facts, map=drawn)))

    assert strength(page, 1.0) > 2 * strength(page, 0.0) > 0
    slide(page, 0)
    assert strength(page, 1.0) == pytest.approx(strength(page, 0.0), rel=0.1)


def strength(page: Page, share: float) -> int:
    """How much ink a node in a corner of the map has: on the left (0) or on the right (1)."""
    found: int = page.evaluate(
        """(share) => {
          const canvas = document.getElementById("map"), side = canvas.width / 6;
          const pixels = canvas.getContext("2d").getImageData(share * (canvas.width - side), 0, side, side).data;
          return Math.max(...pixels.filter((_, i) => i % 4 === 3));
        }""",
        share,
    )
    return found


def test_the_table_of_a_phone_scrolls(opened: Opened, report: str) -> None:
    page = opened(report, viewport={"width": 340, "height": 700})
    page.locator("#measurements .scroll").first.focus()
    page.keyboard.press("ArrowRight")

    # The last column is beyond the edge, and can be reached.
    table = "document.querySelector('#measurements .scroll')"
    assert page.evaluate(f"{table}.scrollWidth > {table}.clientWidth")
    wait_until(page, lambda: page.evaluate(f"{table}.scrollLeft") > 0)
    page.evaluate(f"{table}.scrollLeft = 10000")
    last = place_of(page, "#top th:last-child")
    assert last["x"] + last["width"] <= 340


def test_ten_predictions_are_needed_to_judge_a_model(opened: Opened, memory: GraphStore) -> None:
    page = opened(html_of(small_run(memory, 15)))

    assert page.locator("#calibration").inner_text() == "Too few predictions yet."
    assert (
        "The model has chosen 5 nodes so far." in page.locator("#caption-calibration").inner_text()
    )
    assert page.locator("#coverage dd").count() == 0


def test_the_slider_works_with_the_keyboard(opened: Opened, report: str) -> None:
    page = opened(report)
    page.locator("#slider").focus()

    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")

    assert page.locator("#slider").input_value() == "1"
    assert (page.locator("#slider").get_attribute("aria-valuetext") or "").startswith("1 of 30")


def test_play_goes_to_the_end_and_can_be_paused(opened: Opened, report: str) -> None:
    page = opened(report)

    page.locator("#play").click()
    assert page.locator("#play").inner_text().strip() == "Pause"
    wait_until(page, lambda: int(page.locator("#slider").input_value()) > 3)
    page.locator("#play").click()
    paused = page.locator("#slider").input_value()
    page.wait_for_timeout(300)

    assert page.locator("#slider").input_value() == paused
    page.locator("#play").click()
    wait_until(page, lambda: page.locator("#play").inner_text().strip() == "Replay")
    assert page.locator("#slider").input_value() == "30"


@pytest.mark.parametrize("colour", ["mean", "std", "acquisition"])
def test_the_colours_can_be_switched(opened: Opened, report: str, colour: str) -> None:
    page = opened(report)
    before, legend = picture(page), page.locator("#legend").inner_text()

    page.locator(f"input[value={colour}]").check(force=True)

    assert picture(page) != before
    assert page.locator("#legend").inner_text() != legend
    opened.was_quiet()


def test_hovering_a_node_shows_its_properties(opened: Opened, report: str) -> None:
    page = opened(report)
    page.locator("#map").scroll_into_view_if_needed()
    box = place_of(page, "#map")
    assert not page.locator("#tip").is_visible()

    for row in range(12):
        for column in range(16):
            page.mouse.move(
                box["x"] + box["width"] * column / 16, box["y"] + box["height"] * row / 12
            )
            if page.locator("#tip").is_visible():
                assert "node " in page.locator("#tip").inner_text()
                return
    pytest.fail("no node was found on the map")


def test_hovering_a_chart_shows_the_measurement(opened: Opened, report: str) -> None:
    page = opened(report)
    dot = place_of(page, "#convergence circle.dot.best")

    page.mouse.move(dot["x"] + 4, dot["y"] + 4)

    assert "42" in page.locator("#tip").inner_text()


def test_the_map_works_with_the_keyboard(opened: Opened, report: str) -> None:
    page = opened(report)
    page.locator("#map").focus()

    page.keyboard.press("Home")
    first = page.locator("#tip").inner_text()
    page.keyboard.press("ArrowRight")
    second = page.locator("#tip").inner_text()
    page.keyboard.press("b")

    assert "evaluation 1how" in first.replace("\n", "")
    assert "evaluation 2how" in second.replace("\n", "")
    assert page.locator("#tip strong").inner_text() == "42"
    assert page.locator("#tip").get_attribute("aria-live") == "polite"
    page.keyboard.press("Escape")
    assert not page.locator("#tip").is_visible()


def test_the_map_zooms(opened: Opened, report: str) -> None:
    page = opened(report)
    before = picture(page)

    page.locator("#zoom-in").click()
    assert picture(page) != before
    page.locator("#zoom-reset").click()

    assert picture(page) == before


def test_everything_can_be_reached_with_tab(opened: Opened, report: str) -> None:
    page = opened(report)
    reached = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.value"))

    assert {"value", "map", "zoom-in", "play", "slider", "command", "copy"} <= reached


def test_every_control_has_a_name(opened: Opened, report: str) -> None:
    page = opened(report)
    nameless = page.evaluate(
        """[...document.querySelectorAll("button, input, canvas, svg[role=img]")].filter((one) =>
          !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length)).length"""
    )

    assert nameless == 0
    assert page.locator("h1").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_in_light_and_dark(opened: Opened, report: str, scheme: str) -> None:
    page = opened(report, color_scheme=scheme)
    contrasts: dict[str, float] = page.evaluate(
        """() => {
          const style = getComputedStyle(document.documentElement);
          const light = (name) => {
            const hex = style.getPropertyValue(name).trim().slice(1);
            const part = [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
              .map((one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
            return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
          };
          const found = {};
          for (const ink of ["--ink", "--soft", "--accent", "--cool"]) for (const paper of ["--paper", "--card"]) {
            const [low, high] = [light(ink), light(paper)].sort((a, b) => a - b);
            found[ink + " on " + paper] = (high + 0.05) / (low + 0.05);
          }
          return found;
        }"""
    )

    assert min(contrasts.values()) >= 4.5, contrasts
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(18, 19, 23)") is (scheme == "dark")
    opened.was_quiet()


@pytest.mark.parametrize("width", [320, 390, 800])
def test_narrow_windows_do_not_scroll_sideways(opened: Opened, report: str, width: int) -> None:
    page = opened(report, viewport={"width": width, "height": 800})

    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert place_of(page, "#map")["width"] <= width


def test_printing_leaves_the_figures_and_hides_the_controls(opened: Opened, report: str) -> None:
    page = opened(report, color_scheme="dark")

    page.emulate_media(media="print")

    assert not page.locator("#play").is_visible()
    assert page.locator("#convergence svg").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf()[:4] == b"%PDF"


def test_names_are_never_code(opened: Opened) -> None:
    names = {row: f"{row} {NASTY[row % len(NASTY)]}" for row in range(62)}
    with open_store("sqlite::memory:") as store:
        load_graph(store, names)
        run = small_run(store, 20, name=NASTY[1], value=lambda key: score(int(key.split()[0])))
        page = opened(html_of(run))

    page.locator("#history summary").click()
    page.locator("#map").focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")

    assert page.evaluate("window.broken") is None
    assert page.locator("h1").inner_text() == NASTY[1]
    assert NASTY[0] in page.locator("#history-body").inner_text()
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0
    opened.was_quiet()


def test_nothing_can_be_fetched(opened: Opened, report: str) -> None:
    page = opened(report)

    outcome = page.evaluate("fetch('https://example.org/').then(() => 'fetched', () => 'refused')")

    assert outcome == "refused"
    assert opened.requests == [], "the policy refuses before a request is made"


def test_injected_scripts_do_not_run(opened: Opened, report: str) -> None:
    page = opened(report.replace("<noscript>", "<script>window.broken = true</script><noscript>"))

    assert page.evaluate("window.broken") is None


def _empty(store: GraphStore) -> Run:
    return Run.create(store, VIEW, "empty", RunSettings())


def _asked(store: GraphStore) -> Run:
    run = _empty(store)
    run.ask()
    return run


def _known_only(store: GraphStore) -> Run:
    run = _empty(store)
    run.tell_known({3: 1.0})
    return run


RUNS: dict[str, Any] = {
    "empty": _empty,
    "asked": _asked,
    "known only": _known_only,
    "one": lambda store: small_run(store, 1),
    "all failed": lambda store: small_run(store, 5, fail=lambda key: True),
    "some failed": lambda store: small_run(store, 25, fail=lambda key: key % 3 == 0),
    "minimize": lambda store: small_run(store, 25, maximize=False),
    "random": lambda store: small_run(store, 15, strategy="random"),
    "local": lambda store: small_run(store, 15, strategy="local"),
    "paper": lambda store: small_run(store, 40, strategy="paper"),
    "noisy": lambda store: small_run(store, 20, noise=0.5),
    "constant": lambda store: small_run(store, 15, value=lambda key: 3.0),
    "huge": lambda store: small_run(store, 15, value=lambda key: (-1) ** key * 1e300),
    "tiny": lambda store: small_run(store, 15, value=lambda key: key * 1e-300),
    "unknown": lambda store: small_run(store, 15, start=(5,), reveal="evaluated"),
    "everything": lambda store: small_run(store, 62),
}


@pytest.mark.parametrize("sort", RUNS)
def test_every_sort_of_run_has_a_page(opened: Opened, memory: GraphStore, sort: str) -> None:
    page = opened(html_of(RUNS[sort](memory)))

    text = page.locator("main").inner_text()
    assert not re.search("NaN|undefined|Infinity|null", page.locator("main").inner_html())
    assert "None yet" in text or "with a value of" in text
    opened.was_quiet()


def test_a_run_that_goes_on_is_called_a_snapshot(opened: Opened, memory: GraphStore) -> None:
    page = opened(html_of(_asked(memory)))

    state = page.locator("#state").inner_text()
    assert "in progress" in state
    assert "A snapshot of" in state
    assert "1 node being evaluated" in state


def test_a_thousand_observations_stay_small(opened: Opened) -> None:
    report = html_of(large_facts())
    assert len(report.encode()) < 5_000_000

    slide(opened(report), 500)
    opened.was_quiet()


def test_a_page_of_a_result_has_no_map_and_says_so(opened: Opened) -> None:
    import networkx as nx  # noqa: PLC0415 - only here

    import graphbo  # noqa: PLC0415

    result = graphbo.optimize(lambda node: -abs(node - 7), nx.path_graph(30), budget=15)
    page = opened(html_of(replace(result, search=None)))  # as one that was pickled

    assert page.locator("#best-key").inner_text() == "7"
    assert page.locator("#map").count() == 0
    assert page.locator("#convergence svg").is_visible()
    opened.was_quiet()


def test_the_data_is_json_that_others_can_read(report: str) -> None:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', report)
    assert found is not None

    data = json.loads(found[1])

    assert len(data["steps"]["value"]) == 30


def test_every_way_to_a_node_has_words(opened: Opened) -> None:
    facts = large_facts(len(get_args(Phase)), 20)
    history = [
        replace(one, phase=phase) for one, phase in zip(facts.history, get_args(Phase), strict=True)
    ]
    page = opened(html_of(replace(facts, history=tuple(history))))
    page.locator("#map").focus()
    page.keyboard.press("Home")
    for _ in history:
        assert "undefined" not in page.locator("#tip").inner_text()
        assert "how" in page.locator("#tip").inner_text()
        page.keyboard.press("ArrowRight")
    opened.was_quiet()
