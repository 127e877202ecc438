"""Neo4j Browser in a headless Chromium: what a person does there, step by step. Nothing leaves this machine."""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, Route, sync_playwright

__all__ = ["BrowserPage", "chromium_path", "neo4j_browser"]

#: Milliseconds that a page on a busy machine may take for one thing.
PATIENCE = 60_000
LOOPBACK = re.compile(r"^(?:https?|wss?)://(?:127\.0\.0\.1|localhost|\[::1\])[:/]|^(?:data|blob):")


def chromium_path() -> str | None:
    """The Chromium of this machine, if it has one."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


class BrowserPage:
    """A window with Neo4j Browser in it."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def open(self, link: str, password: str) -> None:
        """Follow a link and log in."""
        self.page.goto(link)
        self.page.get_by_text("Database access not available").wait_for(timeout=PATIENCE)
        self.page.fill("[data-testid=password]", password)
        self.page.click("[data-testid=connect]")
        self.page.get_by_text("You are connected as user").wait_for(timeout=PATIENCE)

    def editor(self) -> str:
        """What is in the editor."""
        # Its lines are drawn with spaces that do not break.
        return self.page.locator("[data-testid=activeEditor] .view-lines").inner_text()

    def drop(self, file: Path) -> None:
        """Drag a file onto the window."""
        given = self.page.evaluate_handle(
            """([name, text]) => {
                 const transfer = new DataTransfer();
                 transfer.items.add(new File([text], name));
                 return transfer;
               }""",
            [file.name, file.read_text(encoding="utf-8")],
        )
        self.page.dispatch_event(".filedrop", "drop", {"dataTransfer": given})

    def paste(self, text: str) -> None:
        """Put a text into the editor, in place of what is there."""
        self.page.locator("[data-testid=activeEditor] textarea").focus()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.insert_text(text)

    def close_picture(self) -> None:
        """Close the picture that was drawn last."""
        self.page.locator("[data-testid=frame] [title=Close]").first.click()
        self.page.locator("g.node").first.wait_for(state="detached", timeout=PATIENCE)

    def run(self) -> None:
        """Run what is in the editor and wait for the picture."""
        self.page.locator("[data-testid=activeEditor] textarea").focus()
        self.page.keyboard.press("Control+Enter")
        self.page.locator("g.node").first.wait_for(state="attached", timeout=PATIENCE)
        # How many there are is said when all of them are drawn.
        self.page.get_by_text("Displaying").first.wait_for(timeout=PATIENCE)

    def nodes(self) -> int:
        """How many nodes are drawn."""
        return self.page.locator("g.node").count()

    def captions(self) -> list[str]:
        """What is written in the nodes."""
        texts = self.page.locator("g.node").all_text_contents()
        return [" ".join(text.split()) for text in texts]

    def colours(self) -> list[str]:
        """How the nodes are filled."""
        found: list[str] = self.page.eval_on_selector_all(
            "g.node circle.b-outline", "all => all.map(one => one.getAttribute('fill'))"
        )
        return found


@contextmanager
def neo4j_browser(
    executable: str, *, width: int = 1280, height: int = 800
) -> Iterator[BrowserPage]:
    """A new Chromium that reaches this machine only: Browser would ask for fonts and report statistics."""
    with sync_playwright() as playwright:
        # It runs as root in containers, where its sandbox does not start; it sees no page of anybody else's.
        chromium = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        try:
            page = chromium.new_page(viewport={"width": width, "height": height})
            page.route("**/*", _keep_here)
            yield BrowserPage(page)
        finally:
            chromium.close()


def _keep_here(route: Route) -> None:
    if LOOPBACK.match(route.request.url):
        route.continue_()
    else:
        route.abort()
