"""The dashboard in a real browser: a day of an investigation by two people, beside a worker in a terminal."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from graphbo.runs import Run, RunSettings
from graphbo.types import View
from tests.backends import Backend, SqliteBackend
from tests.cli.commands import run_graphbo
from tests.cli.runs import end_group, load, started, write_objective
from tests.dashboard.people import Person, faults, people, wait_until

pytestmark = [pytest.mark.chromium, pytest.mark.slow]


@contextmanager
def dashboard(
    backend: Backend, directory: Path, *options: object
) -> "Iterator[tuple[subprocess.Popen[str], str]]":
    """The command as somebody types it, and the address that it prints."""
    with started(backend, directory, "dashboard", "--port", 0, *options) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert "/#token=" in address, process.communicate(timeout=5)
        yield process, address


def run_of(backend: Backend) -> Run:
    with backend.open() as store:
        run = Run.open(store, "mine")
        run.refresh()
        return run


def test_a_day_of_an_investigation(backend: Backend, tmp_path: Path, chromium: Browser) -> None:
    load(backend)
    with (
        dashboard(backend, tmp_path) as (process, address),
        people(chromium, address) as everybody,
    ):
        ann, bob = everybody.join("Ann"), everybody.join("Bob")
        ann.sees("There is no run in this database yet")
        assert address.partition("#")[2] not in ann.page.url
        start_a_run(ann)
        bob.sees("mine")
        bob.page.get_by_role("link", name="mine").click()
        measure(ann, bob)
        choose_on_the_map(ann, bob)
        correct(ann, bob, backend)
        bring_in_and_collect(ann, bob, backend)
        objective = write_objective(tmp_path)
        worked = run_graphbo(backend, tmp_path, "run", "--uri", backend.uri, "--name", "mine",
                             "--objective", objective, "--budget", 12)  # fmt: skip
        assert worked.code == 0, worked
        ann.sees("finished")
        bob.sees("12 of 12 evaluations")
        compare(bob)
        for one in (ann, bob):
            assert faults(one.page) == []
        everybody.were_quiet()
        end_group(process, signal.SIGINT)
        assert process.returncode == 0

    check_what_is_in_the_database(backend)


def start_a_run(ann: Person) -> None:
    ann.page.get_by_role("link", name="Start a run").click()
    ann.page.locator("#start-name").fill("mine")
    ann.page.locator("#start-label").fill("Nn")
    ann.page.locator("#start-rel").fill("R")
    ann.page.locator("#examine").click()
    ann.sees("choose “Label of the nodes” among N", "#findings")
    assert faults(ann.page) == []
    ann.page.locator("#start-label").fill("N")
    ann.page.locator("#start-caption").fill("name")
    ann.sees("60 nodes with the label N", "#findings")
    ann.page.get_by_role("button", name="Start the run").click()
    ann.page.wait_for_url("**/run?name=mine")
    ann.sees("Nobody is measuring by hand")


def measure(ann: Person, bob: Person) -> None:
    """They take nodes, and each sees at once what the other does."""
    ask = ann.page.locator("#ask")
    ask.get_by_label("Nodes").fill("3")
    ann.does("Ask for nodes", ask)
    bob.sees("Ann", "#cards")
    bob.does("Ask for nodes", bob.page.locator("#ask"))
    ann.sees("Bob", "#cards")
    assert ann.page.locator(".mine").count() == 3
    # What Bob is typing is not swept away by what Ann tells.
    bob.card(4).get_by_label("Value").fill("4.25")
    ann.card(1).get_by_label("Value").fill("3,5")
    ann.card(1).get_by_role("button", name="Tell").click()
    ann.sees("3.5", "#cards [data-id='1']")
    ann.card(1).get_by_label("Value").fill("3.5")
    ann.card(1).get_by_label("Note", exact=True).fill("<script>alert(1)</script>")
    ann.does("Tell", ann.card(1))
    bob.sees("3.5", "#measurements")
    assert bob.card(4).get_by_label("Value").input_value() == "4.25"
    bob.does("Tell", bob.card(4))
    ann.card(2).get_by_label("Note", exact=True).fill("nobody at home")
    ann.does("Could not be measured", ann.card(2))
    ann.does("Give back", ann.card(3))
    wait_until(lambda: bob.page.locator(".node-card").count() == 0)
    assert "<script>alert(1)</script>" in bob.page.locator("#measurements").inner_text()


def choose_on_the_map(ann: Person, bob: Person) -> None:
    """With the mouse, and with the keyboard alone."""
    canvas = ann.page.locator("#map")
    canvas.wait_for()
    box = canvas.bounding_box()
    assert box is not None
    panel = ann.page.locator("#panel")
    canvas.scroll_into_view_if_needed()
    tip = ann.page.locator("#tip")
    for place in range(1_600):
        x, y = 0.03 + place % 40 / 42, 0.05 + place // 40 / 44
        canvas.hover(position={"x": box["width"] * x, "y": box["height"] * y})
        if tip.is_visible():
            break
    canvas.click(position={"x": box["width"] * x, "y": box["height"] * y})
    panel.wait_for()
    assert faults(ann.page) == []
    ann.page.keyboard.press("Escape")
    take = panel.get_by_role("button", name="Take it", exact=True)
    canvas.focus()
    ann.page.keyboard.press("PageDown")
    ann.page.keyboard.press("Enter")
    panel.get_by_role("button").nth(1).wait_for()
    # Those that were measured or are being measured cannot be taken.
    while not take.is_visible():
        ann.page.keyboard.press("Escape")
        canvas.focus()
        ann.page.keyboard.press("PageDown")
        ann.page.keyboard.press("Enter")
        panel.get_by_role("button").nth(1).wait_for()
    ann.does("Take it", panel)
    bob.sees("Ann", "#cards")
    value = ann.page.locator("#cards").get_by_label("Value")
    value.fill("6")
    value.press("Enter")
    bob.sees("6", "#measurements")


def correct(ann: Person, bob: Person, backend: Backend) -> None:
    """Values that are known, wrong, or of another node; nodes that are left alone."""
    told = run_of(backend).history
    free = [key for key in range(60) if key not in {one.key for one in told}]
    panel = bob.looks_at(str(free[0]))
    panel.locator("form[data-action=exclude]").get_by_label("Reason").fill("under repair")
    bob.does("Leave alone", panel)
    panel = bob.looks_at(str(free[1]))
    panel.locator("form[data-action=known]").get_by_label("Value").fill("-1")
    bob.does("Tell", panel)
    panel = ann.looks_at(str(next(one.key for one in told if one.failed)))
    panel.locator("form[data-action=amend]").get_by_label("Value").fill("2")
    ann.does("Tell", panel)
    panel = ann.looks_at(str(next(one.key for one in told if one.step == 1)))
    panel.locator("form[data-action=retract]").get_by_label("Reason").fill("the neighbour's")
    ann.does("Take the value back", panel)
    bob.sees("-1", "#measurements")


def bring_in_and_collect(ann: Person, bob: Person, backend: Backend) -> None:
    """A spreadsheet with decimal commas is refused, one with points is told; an answer in the database is collected."""
    ann.page.locator("#ask").get_by_label("Nodes").fill("2")
    ann.does("Ask for nodes", ann.page.locator("#ask"))
    run = run_of(backend)
    one, two = (one.key for one in run.pending)
    for text, said in (
        (f"node;value\n{one};4,5\n", "write it with a point"),
        (f"node;value\n{one};4.5\n", "is recorded"),
    ):
        ann.page.locator("#sheet-file").set_input_files(
            {"name": "values.csv", "mimeType": "text/csv", "buffer": text.encode()}
        )
        ann.page.locator("#sheet button").click()
        ann.sees(said, "#sheet-preview")
    assert faults(ann.page) == []
    ann.does("Record 1 line", ann.page.locator("#sheet-preview"))
    with backend.open() as store:
        store.write_nodes(run.view, [(two, {f"{run.record.prefix}Answer": "5.5"})])
    # The answer of a node that waits is seen without anything else having changed.
    bob.sees("1 answer waiting in the database", "[data-part=collect]")
    bob.does("Collect", bob.page.locator("[data-part=collect]"))
    ann.sees("5.5", "#measurements")


def compare(bob: Person) -> None:
    bob.page.get_by_role("link", name="All runs").click()
    bob.page.get_by_label("Compare mine").check()
    bob.page.locator("#compared svg").wait_for()
    bob.sees("mine", "#compared-legend")


def check_what_is_in_the_database(backend: Backend) -> None:
    run = run_of(backend)
    assert run.record.state == "finished"
    assert run.record.evaluations == 12
    assert len({one.key for one in run.history}) == len(run.history) == 13
    assert [one.value for one in run.history if one.source == "warm"] == [-1.0]
    assert run.excluded[0].by == "Bob"
    assert not {one.key for one in run.excluded} & {one.key for one in run.history}


def test_fifty_runs_and_two_thousand_observations(
    sqlite_backend: SqliteBackend, tmp_path: Path, chromium: Browser
) -> None:
    """On a phone, in the dark."""
    view = View(("N",), ("R",), key="id")
    with sqlite_backend.open() as store:
        store.create_key(view)
        store.write_relationships(view, [(key, key + 1, {}) for key in range(2_500)])
        for number in range(50):
            Run.create(store, view, f"run {number}", RunSettings(strategy="random", budget=60))
        run = Run.open(store, "run 0")
        run.tell_known({key: key % 97 / 7 for key in range(1_990)})
        for one in run.ask_many(12).pending[:10]:
            run.tell(1.0, step=one.step)
    with (
        dashboard(sqlite_backend, tmp_path) as (_, address),
        people(chromium, address) as everybody,
    ):
        bob = everybody.join("Bob", viewport={"width": 390, "height": 800}, color_scheme="dark")
        wait_until(lambda: bob.page.locator(".runs tbody tr").count() == 50)
        assert faults(bob.page) == []
        bob.page.get_by_role("link", name="run 0", exact=True).click()
        bob.page.locator("#map").wait_for()
        bob.sees("The latest 25 of 2,000 measurements")
        assert bob.page.locator(".node-card").count() == 2
        bob.page.locator("#more").click()
        wait_until(lambda: bob.page.locator(".told tbody tr").count() == 225)
        assert faults(bob.page) == []
        everybody.were_quiet()
