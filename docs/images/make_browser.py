"""Makes docs/images/browser.png: what Neo4j Browser shows at the end of ``make demo-neo4j``.

``python -m docs.images.make_browser`` runs that demo in a temporary directory, opens its link in a headless Chromium,
drops the style sheet onto the window and takes a picture. It takes a minute or two.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from graphbo.stores.address import read_credentials
from tests.neo4j_browser import BrowserPage, chromium_path, neo4j_browser

ROOT = Path(__file__).parent.parent.parent
RUN = "patient-zero"
#: Until the nodes have found their places, in milliseconds.
SETTLING = 8_000
#: Pixels: a place with nothing on it, and the width of the legend.
CORNER, LEGEND = (300, 740), 260


def main() -> None:
    """Run the demo, and take the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("browser.png"))
    parser.add_argument("--budget", default="60")
    options = parser.parse_args()
    chromium = chromium_path()
    if chromium is None:
        raise SystemExit("there is no Chromium on this machine")
    with tempfile.TemporaryDirectory() as name:
        demo = Path(name) / "demo"
        try:
            run(
                "python",
                "examples/demo.py",
                "--neo4j",
                "--directory",
                demo,
                "--budget",
                options.budget,
            )
            take_picture(demo, chromium, options.output)
        finally:
            run("graphbo", "neo4j", "down", "--home", demo / "neo4j")
    sys.stdout.write(f"{options.output} has {options.output.stat().st_size / 1000:.0f} kB\n")


def run(program: str, *words: object) -> str:
    """Run a command that belongs to this Python; what it printed."""
    command = [str(Path(sys.executable).with_name(program)), *map(str, words)]
    # Our own programs, in our own directory.
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return done.stdout


def take_picture(demo: Path, chromium: str, output: Path) -> None:
    """Do what the demo's last lines say."""
    credentials = demo / "neo4j" / "credentials.env"
    place = ("--credentials", credentials, "-o", demo)
    printed = json.loads(run("graphbo", "browser", RUN, *place, "--json"))
    with neo4j_browser(chromium, width=1280, height=760) as browser:
        browser.open(printed["link"], read_credentials(credentials)["NEO4J_PASSWORD"])
        browser.drop(demo / f"{RUN}.grass")
        browser.run()
        settle(browser)
        browser.page.screenshot(path=output)


def settle(browser: BrowserPage) -> None:
    """The result alone, over the whole window, with all of its nodes in sight."""
    browser.page.locator("[title=Fullscreen]").first.click()
    browser.page.wait_for_timeout(SETTLING)
    browser.page.locator("[aria-label=zoom-to-fit]").first.click()
    browser.page.wait_for_timeout(1_000)
    # The legend covers the right edge of what fits: drag the picture away from it, by an empty corner.
    browser.page.mouse.move(*CORNER)
    browser.page.mouse.down()
    browser.page.mouse.move(CORNER[0] - LEGEND // 2, CORNER[1], steps=5)
    browser.page.mouse.up()
    browser.page.wait_for_timeout(500)


if __name__ == "__main__":
    main()
