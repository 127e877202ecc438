"""What a dashboard that stays open takes: memory of its server and of the page, while values come in.

    python benchmarks/dashboard.py                        # 20 minutes with a change every two seconds
    python benchmarks/dashboard.py --minutes 60           # an hour

A run of 2,000 observations in an embedded file is shown by ``graphbo dashboard`` in a headless Chromium. Somebody else
changes it all the while: values are replaced, so that the run stays as long as it is, and nodes are taken and given
back. The page asks as it always does. Memory of the server is what the system says that it has; that of the page is
its JavaScript heap after a collection, with the number of elements in it.
"""

import argparse
import math
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright
from rich.console import Console
from rich.table import Table

from graphbo.runs import Run, RunSettings
from graphbo.stores import EdgeRow, GraphStore, open_store
from graphbo.types import View

NODES, NAME = 5_000, "long"
VIEW = View(("N",), ("R",), key="id")
ASKED_AT_ONCE = 50
#: Goal: so much more at the end than when the page had settled, in per cent. Allocators do not give all of it back.
GROWTH = 10.0
#: The page has settled after this part of the time.
SETTLED = 0.2


@dataclass(frozen=True)
class Sample:
    """How much there was at one moment."""

    minutes: float
    changes: int
    server: float
    page: float
    elements: int


def fill(store: GraphStore, observations: int) -> None:
    """A ring with chords, and a run on it with so many observations."""
    store.create_key(VIEW)
    rng = random.Random(0)
    ring = [(node, (node + 1) % NODES) for node in range(NODES)]
    chords = [(rng.randrange(NODES), rng.randrange(NODES)) for _ in range(2 * NODES)]
    edges: list[EdgeRow] = [(a, b, {}) for a, b in (*ring, *chords) if a != b]
    store.write_relationships(VIEW, edges)
    run = Run.create(store, VIEW, NAME, RunSettings())
    while len(run.history) < observations:
        asked = run.ask_many(min(ASKED_AT_ONCE, observations - len(run.history))).pending
        for one in asked:
            run.tell(value(int(str(one.key))), step=one.step)


def value(node: int) -> float:
    """Hills of several widths."""
    return math.sin(node / 97) + math.sin(node / 1009) + 0.5 * math.sin(node / 16.3)


@contextmanager
def served(file: Path) -> Iterator[tuple[int, str]]:
    """A dashboard of the file: its process, and its address."""
    command = [str(Path(sys.executable).with_name("graphbo")), "dashboard", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--uri", f"sqlite:{file}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process.pid, (process.stdout.readline() if process.stdout else "").strip()
    finally:
        process.terminate()
        process.wait()


@dataclass
class Colleague:
    """Somebody who changes the run from elsewhere."""

    run: Run
    changes: int = 0

    def change(self) -> None:
        """Replace a value; every tenth time, take a node and give it back."""
        self.changes += 1
        one = self.run.history[(self.changes * 7919) % len(self.run.history)]
        self.run.tell(value(self.changes), step=one.step, amend=True)
        if self.changes % 10 == 0:
            (taken,) = self.run.ask_many(1).pending
            self.run.release(step=taken.step)


def megabytes_of(process: int) -> float:
    """What a process has in memory."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    (resident,) = (int(one.split()[1]) for one in lines if one.startswith("VmRSS"))
    return resident / 1024


def page_of(client: CDPSession) -> tuple[float, int]:
    """Megabytes of the page's heap, and its elements."""
    client.send("HeapProfiler.collectGarbage")
    found = {one["name"]: one["value"] for one in client.send("Performance.getMetrics")["metrics"]}
    return found["JSHeapUsedSize"] / 2**20, int(found["Nodes"])


def watch(
    page: Page, process: int, colleague: Colleague, minutes: float, pause: float
) -> Iterator[Sample]:
    """Change the run all the while, and look twenty times."""
    client = page.context.new_cdp_session(page)
    client.send("Performance.enable")
    began, looks = time.monotonic(), 0
    while (passed := (time.monotonic() - began) / 60) < minutes:
        colleague.change()
        page.wait_for_timeout(pause * 1000)
        if passed >= looks * minutes / 20:
            looks += 1
            yield Sample(passed, colleague.changes, megabytes_of(process), *page_of(client))


def grown(samples: Sequence[Sample], what: str) -> float:
    """How much more there was at the end than after settling, in per cent; each the middle of a fifth."""
    fifth = max(1, len(samples) // 5)
    settled = int(len(samples) * SETTLED)
    early = statistics.median(getattr(one, what) for one in samples[settled : settled + fifth])
    late = statistics.median(getattr(one, what) for one in samples[-fifth:])
    return float(100 * (late / early - 1))


def main() -> None:
    """Print a table, and say whether memory stayed flat."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--observations", type=int, default=2_000)
    parser.add_argument("--pause", type=float, default=2.0, help="seconds between changes")
    chosen = parser.parse_args()
    chromium = shutil.which("chromium") or sys.exit("Chromium is not installed")
    console = Console()
    samples = []
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "long.db"
        with open_store(f"sqlite:{file}", create=True) as store:
            fill(store, chosen.observations)
            with served(file) as (process, address), sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
                )
                page = browser.new_page()
                base, _, token = address.partition("/#")
                page.goto(f"{base}/run?name={NAME}#{token}")
                page.locator("#map").wait_for()
                colleague = Colleague(Run.open(store, NAME))
                colleague.run.refresh()
                for sample in watch(page, process, colleague, chosen.minutes, chosen.pause):
                    samples.append(sample)
                    console.print(f"{sample.minutes:.1f} min: {sample.server:.1f} MB")
                browser.close()
    console.print(table_of(samples, chosen.observations))
    worst = max(grown(samples, what) for what in ("server", "page", "elements"))
    console.print(f"Flat: {'yes' if worst <= GROWTH else 'no'} (the goal is {GROWTH:g} % at most)")


def table_of(samples: Sequence[Sample], observations: int) -> Table:
    """A line for each look, and how much was added since the page had settled."""
    table = Table(title=f"A dashboard that stays open on a run of {observations:,} observations")
    for name in ("minutes", "changes", "server MB", "page MB", "elements"):
        table.add_column(name, justify="right")
    for one in samples:
        memory = (f"{one.server:.1f}", f"{one.page:.2f}", f"{one.elements:,}")
        table.add_row(f"{one.minutes:.1f}", f"{one.changes:,}", *memory)
    added = (f"{grown(samples, what):+.1f} %" for what in ("server", "page", "elements"))
    table.add_section()
    table.add_row("added", "", *added)
    return table


if __name__ == "__main__":
    main()
