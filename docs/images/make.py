"""Makes every picture in this directory: the report in a browser, and each plot.

``python docs/images/make.py`` from a clone with the development requirements, where Chromium is installed. The run is
the same every time: a rail network that does not exist, and how late trains are at its stations.
"""

import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, sync_playwright
from scipy.spatial import Delaunay

from graphbo import Run, RunSettings, View, open_store
from graphbo.seeing import RunFacts, facts_of, html_of, plots
from graphbo.stores import EdgeRow
from graphbo.types import FloatArray, Observation

HERE = Path(__file__).parent
VIEW = View(("Station",), ("LINK",), key="code")
STATIONS, BUDGET, SEED = 420, 80, 7
FIRST = "Alder Birch Cedar Dove East Fern Glen Heath Iron Juniper King Lark Mill North Oak Park Quay River South Thorn"
SECOND = "Bridge Court Cross Field Gate Green Hill Junction Lane Market Moor Road Side Square Street Water Way Wood"


def main() -> None:
    """Make them all."""
    facts = collected()
    for kind, plot in plots.PLOTS.items():
        save(plots.image_of(plot(facts), ".png"), f"plot-{kind}.png")
    with TemporaryDirectory() as directory, sync_playwright() as playwright:
        page = Path(directory) / "report.html"
        page.write_text(html_of(facts), encoding="utf-8")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or sys.exit("Chromium is not installed"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        photograph(browser, page.as_uri())
        browser.close()


# The run


def collected() -> RunFacts:
    """What a report knows of the run."""
    places = np.random.default_rng(SEED).uniform(size=(STATIONS, 2))
    late = lateness(places)
    with open_store("sqlite::memory:") as store:
        store.create_key(VIEW)
        store.write_nodes(VIEW, [(code(row), {"name": name(row)}) for row in range(STATIONS)])
        links: list[EdgeRow] = [(code(a), code(b), {}) for a, b in neighbours(places)]
        store.write_relationships(VIEW, links)
        settings = RunSettings(objective="python:delays:measure", budget=BUDGET)
        run = Run.create(store, VIEW, "station-delays-measure", settings)
        while (pending := run.ask().pending) is not None:
            run.tell(float(late[int(str(pending.key)[1:])]), step=pending.step)
        run.finish()
        facts = facts_of(run, optimum=float(late.max()))
    return replace(
        facts, history=timed(facts), address="", started_at=clock(0.0), taken_at=clock(7200.0)
    )


def code(row: int) -> str:
    """What a station is called in the timetable."""
    return f"S{row:03}"


def name(row: int) -> str:
    """What it is called by people."""
    first, second = FIRST.split(), SECOND.split()
    return f"{first[row % len(first)]} {second[row // len(first) % len(second)]}"


def neighbours(places: FloatArray) -> list[tuple[int, int]]:
    """Stations that no other lies between, unless they are far apart."""
    corners = Delaunay(places).simplices
    pairs = {tuple(sorted((int(t[i]), int(t[i - 1])))) for t in corners for i in range(3)}
    near = 2.6 / np.sqrt(STATIONS)
    return sorted((a, b) for a, b in pairs if np.linalg.norm(places[a] - places[b]) < near)


def lateness(places: FloatArray) -> FloatArray:
    """Minutes: two knots in the network, and a little of it everywhere."""
    rng = np.random.default_rng(SEED + 1)
    far = [np.square(places - knot).sum(axis=1) for knot in ((0.78, 0.3), (0.25, 0.7))]
    minutes: FloatArray = 14 * np.exp(-far[0] / 0.02) + 9 * np.exp(-far[1] / 0.03)
    minutes += 1.5 + rng.gamma(2.0, 0.6, size=len(places))
    return minutes.round(1)


def clock(seconds: float) -> str:
    """A time on the day on which the pictures were taken."""
    day = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
    return (day + timedelta(seconds=seconds)).isoformat()


def timed(facts: RunFacts) -> tuple[Observation, ...]:
    """The history of somebody whose objective takes a minute or so."""
    seconds = np.random.default_rng(0).gamma(9.0, 6.0, size=len(facts.history)).cumsum()
    return tuple(
        replace(one, at=clock(float(at))) for one, at in zip(facts.history, seconds, strict=True)
    )


# The pictures


def photograph(browser: Browser, address: str) -> None:
    """The report in light, in dark in the middle of a replay, and on a phone."""
    page = opened(browser, address, "light", 1100)
    save(page.screenshot(clip=clip(page, "body", "#figure-map")), "report-light.png")
    page = opened(browser, address, "dark", 1100)
    page.locator("input[value=mean]").check(force=True)
    page.locator("#map").focus()
    page.keyboard.press("b")
    save(page.screenshot(clip=clip(page, "#figure-map", "#figure-time")), "report-dark.png")
    page = opened(browser, address, "light", 390)
    page.evaluate("document.getElementById('slider').value = 40")
    page.locator("#slider").dispatch_event("input")
    save(page.screenshot(clip=clip(page, "body", "#figure-map")), "report-phone.png")


def opened(browser: Browser, address: str, scheme: str, width: int) -> Page:
    """The report in a window that is as high as the report."""
    context = browser.new_context(
        viewport={"width": width, "height": 4200},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(address)
    return page


def clip(page: Page, first: str, last: str) -> FloatRect:
    """From the top of one element to the bottom of another, over the whole width."""
    top, bottom = page.locator(first).bounding_box(), page.locator(last).bounding_box()
    if top is None or bottom is None:
        sys.exit("the report has no such part")
    begin = max(0.0, top["y"] - 12)
    size = page.viewport_size or {"width": 1100}
    return {
        "x": 0,
        "y": begin,
        "width": size["width"],
        "height": bottom["y"] + bottom["height"] + 12 - begin,
    }


def save(png: bytes, file: str) -> None:
    """With a palette that has a place for rare colours too: nobody sees it, and it takes a third of the room."""
    image = Image.open(BytesIO(png)).convert("RGB")
    palette = image.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    palette.save(HERE / file, optimize=True)


if __name__ == "__main__":
    main()
