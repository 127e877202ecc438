"""People with browsers of their own, and what their browsers complain about."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Request

__all__ = ["People", "Person", "faults", "people", "wait_until"]

#: What the browser says itself when a request is refused on purpose.
_REFUSED = "Failed to load resource: the server responded with a status of 4"


@dataclass
class Person:
    """Somebody with a page."""

    page: Page
    name: str
    address: str

    def goes_to(self, path: str) -> None:
        self.page.goto(f"{self.address.partition('/#')[0]}{path}")

    def card(self, step: int) -> Locator:
        return self.page.locator(f"#cards > [data-id='{step}']")

    def does(self, action: str, within: Locator) -> None:
        """Press a button, and wait until it is confirmed."""
        before = self.page.locator("#said").inner_text()
        # What changes under the pointer may swallow a click; a person clicks again.
        for _ in range(3):
            within.get_by_role("button", name=action, exact=True).click()
            if holds_soon(lambda: self.page.locator("#said").inner_text() != before, tries=200):
                return
        pytest.fail(f"{action}: it was not confirmed")

    def sees(self, text: str, where: str = "main") -> None:
        wait_until(lambda: text in self.page.locator(where).inner_text())

    def looks_at(self, node: str) -> Locator:
        """Open a node by its key."""
        self.page.locator("#find-key").fill(node)
        self.page.locator("#find button").click()
        panel = self.page.locator("#panel")
        panel.locator("h2").filter(has_text=node).wait_for()
        return panel


@dataclass
class People:
    """Everybody, and what went wrong."""

    browser: Browser
    address: str
    complaints: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def join(self, name: str, **options: object) -> Person:
        settings = {
            "viewport": {"width": 1100, "height": 900},
            "reduced_motion": "reduce",
            **options,
        }
        context = self.browser.new_context(**settings)  # type: ignore[arg-type]
        page = context.new_page()
        page.add_init_script(f"localStorage.setItem('graphbo-name', '{name}')")
        page.on("console", lambda message: self._heard(message.text))
        page.on("pageerror", lambda error: self._heard(str(error)))
        page.on("request", self._asked)
        page.goto(self.address)
        return Person(page, name, self.address)

    def _heard(self, text: str) -> None:
        if not text.startswith(_REFUSED):
            self.complaints.append(text)

    def _asked(self, request: Request) -> None:
        base = self.address.partition("/#")[0]
        if not request.url.startswith((f"{base}/", f"blob:{base}/")):
            self.foreign.append(request.url)

    def were_quiet(self) -> None:
        """Nothing was said on a console, and nobody else was asked for anything."""
        assert self.complaints == []
        assert self.foreign == []


@contextmanager
def people(browser: Browser, address: str) -> Iterator[People]:
    """People at the dashboard at this address."""
    found = People(browser, address)
    try:
        yield found
    finally:
        for context in browser.contexts:
            context.close()


def holds_soon(holds: Callable[[], bool], tries: int = 600) -> bool:
    """Whether a page comes to that within some looks at it."""
    for _ in range(tries):
        if holds():
            return True
        time.sleep(0.05)
    return False


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for a page."""
    if not holds_soon(holds):
        pytest.fail("it did not happen")


def faults(page: Page) -> list[str]:
    """What of a page people with a screen reader, a keyboard or weak eyes could not use."""
    found: list[str] = page.evaluate(Path(__file__).with_name("faults.js").read_text())
    return found
