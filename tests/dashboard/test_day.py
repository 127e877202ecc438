"""The dashboard in a real browser: a day of an investigation by two people, beside a worker in a terminal."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from graphbo.runs import Run
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


def test_a_day_of_an_investigation(
    sqlite_backend: SqliteBackend, tmp_path: Path, chromium: Browser
) -> None:
    load(sqlite_backend)
    with (
        dashboard(sqlite_backend, tmp_path) as (process, address),
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
        correct(ann, bob, sqlite_backend)
        objective = write_objective(tmp_path)
        worked = run_graphbo(sqlite_backend, tmp_path, "run", "--uri", sqlite_backend.uri, "--name", "mine",
                             "--objective", objective, "--budget", 12)  # fmt: skip
        assert worked.code == 0, worked
        ann.sees("finished")
        bob.sees("12 of 12 evaluations")
        for one in (ann, bob):
            assert faults(one.page) == []
        everybody.were_quiet()
        end_group(process, signal.SIGINT)
        assert process.returncode == 0

    check_what_is_in_the_database(sqlite_backend)


def start_a_run(ann: Person) -> None:
    ann.page.get_by_role("link", name="Start a run").click()
    ann.page.locator("#start-name").fill("mine")
    ann.page.locator("#start-label").fill("Nn")
    ann.page.locator("#start-rel").fill("R")
    ann.page.locator("#examine").click()
    ann.sees("choose --label among N", "#findings")
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
    for place in range(400):
        x, y = 0.03 + place % 20 / 21, 0.05 + place // 20 / 22
        canvas.click(position={"x": box["width"] * x, "y": box["height"] * y})
        ann.page.wait_for_timeout(60)
        if panel.is_visible():
            break
    assert panel.is_visible()
    assert faults(ann.page) == []
    ann.page.keyboard.press("Escape")
    canvas.focus()
    ann.page.keyboard.press("PageDown")
    ann.page.keyboard.press("Enter")
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


def check_what_is_in_the_database(backend: Backend) -> None:
    run = run_of(backend)
    assert run.record.state == "finished"
    assert run.record.evaluations == 12
    assert len({one.key for one in run.history}) == len(run.history) == 13
    assert [one.value for one in run.history if one.source == "warm"] == [-1.0]
    assert run.excluded[0].by == "Bob"
    assert not {one.key for one in run.excluded} & {one.key for one in run.history}
