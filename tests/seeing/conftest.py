"""Chromium, where it is installed; the tests that need it say why they are skipped where it is not."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, sync_playwright

from tests.seeing.opened import Opened

#: What Debian, Ubuntu and people call it.
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
#: No sandbox inside containers, no pixels of a graphics card, and nothing that Chromium does on its own account.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless Chromium; gone after the module, since a process can drive one at a time."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("Chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Browser, tmp_path: Path) -> Iterator[Opened]:
    """``opened(html)`` shows a page, and notes what it complains about and what it asks the network for."""
    contexts = []

    def show(html: str, **options: object) -> Page:
        file = tmp_path / "report.html"
        file.write_text(html, encoding="utf-8")
        settings = {"viewport": {"width": 1100, "height": 900}, **options}
        context = chromium.new_context(**settings)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()

        def watch(route: Route) -> None:
            if route.request.url == file.as_uri():
                route.continue_()
            else:
                opener.requests.append(route.request.url)
                route.abort()

        page.route("**/*", watch)
        page.on("console", lambda message: opener.complaints.append(message.text))
        page.on("pageerror", lambda error: opener.complaints.append(str(error)))
        page.goto(file.as_uri())
        return page

    opener = Opened(show)
    yield opener
    for context in contexts:
        context.close()
