"""Makes the pictures of the dashboard: a run on a computer, all runs in the dark, and a phone.

``python docs/images/make_dashboard.py`` from a clone with the development requirements, where Chromium is installed. It
starts ``graphbo dashboard`` on the rail network of ``make.py``.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from make import SEED, STATIONS, VIEW, clip, code, lateness, name, neighbours, save
from playwright.sync_api import Browser, Page, sync_playwright

from graphbo import Run, RunSettings, open_store
from graphbo.stores import EdgeRow

if TYPE_CHECKING:
    from graphbo.stores import GraphStore

#: Long enough for the map to be drawn.
SETTLING = 2_500
RUN = "station-delays"


def main() -> None:
    """Make them all."""
    chromium = shutil.which("chromium") or sys.exit("Chromium is not installed")
    with TemporaryDirectory() as directory, sync_playwright() as playwright:
        file = Path(directory) / "rail.db"
        fill(file)
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
        )
        with served(file) as address:
            photograph(browser, address)
        browser.close()


def fill(file: Path) -> None:
    """Three runs on the network; Ann and Bob are at work on one of them."""
    places = np.random.default_rng(SEED).uniform(size=(STATIONS, 2))
    late = lateness(places)
    with open_store(f"sqlite:{file}", create=True) as store:
        store.create_key(VIEW)
        store.write_nodes(
            VIEW,
            [
                (
                    code(row),
                    {"name": name(row), "platforms": row % 9 + 1, "opened": 1850 + row % 70},
                )
                for row in range(STATIONS)
            ],
        )
        links: list[EdgeRow] = [(code(a), code(b), {}) for a, b in neighbours(places)]
        store.write_relationships(VIEW, links)
        search(store, "first-try", 40, late, budget=40, seed=3)
        search(store, "on-time", 25, late, budget=60, maximize=False)
        search(store, RUN, 38, late, budget=60)
        Run.open(store, RUN, worker="Ann").ask_many(2)
        Run.open(store, RUN, worker="Bob").ask()


def search(store: "GraphStore", called: str, count: int, late: object, **settings: object) -> None:
    """A run with so many values."""
    chosen = RunSettings(caption="name", **settings)  # type: ignore[arg-type]
    run = Run.create(store, VIEW, called, chosen)
    for number in range(count):
        pending = run.ask().pending
        if pending is None:
            return
        if number == 7:
            run.tell(None, step=pending.step, error="nobody answered the phone")
        else:
            run.tell(float(late[int(str(pending.key)[1:])]), step=pending.step)  # type: ignore[index]


@contextmanager
def served(file: Path) -> Iterator[str]:
    """The address of a dashboard of this file."""
    command = [Path(sys.executable).with_name("graphbo"), "dashboard", "--port", "0"]
    process = subprocess.Popen(  # noqa: S603 - our own program
        [*map(str, command), "--uri", f"sqlite:{file}"], stdout=subprocess.PIPE, text=True
    )
    try:
        yield (process.stdout.readline() if process.stdout else "").strip()
    finally:
        process.terminate()
        process.wait()


def photograph(browser: Browser, address: str) -> None:
    """The run in light, all runs in the dark, and the run on a phone."""
    page = opened(browser, address, f"/run?name={RUN}", "light", 1100)
    save(page.screenshot(clip=clip(page, "body", "#figure-map")), "dashboard-light.png")
    page = opened(browser, address, "/", "dark", 1100)
    for called in ("first-try", RUN):
        page.get_by_label(f"Compare {called}").check()
    page.locator("#compared svg").wait_for()
    save(page.screenshot(clip=clip(page, "body", "[data-part=runs]")), "dashboard-dark.png")
    page = opened(browser, address, f"/run?name={RUN}", "light", 390)
    page.locator("#find-key").fill(code(100))
    page.locator("#find button").click()
    page.locator("#panel h2").wait_for()
    page.set_viewport_size({"width": 390, "height": 720})
    save(page.screenshot(), "dashboard-phone.png")


def opened(browser: Browser, address: str, path: str, scheme: str, width: int) -> Page:
    """A page of the dashboard, in a window that is as high as the page."""
    context = browser.new_context(
        viewport={"width": width, "height": 4200},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.add_init_script("localStorage.setItem('graphbo-name', 'Ann')")
    base, _, token = address.partition("/#")
    page.goto(f"{base}{path}#{token}")
    page.wait_for_timeout(SETTLING)
    return page


if __name__ == "__main__":
    main()
