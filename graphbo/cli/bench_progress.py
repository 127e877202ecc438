"""What ``graphbo bench`` shows while it works: a bar with an estimate on a terminal, plain lines in a pipe."""

import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from graphbo.bench.cells import Cell
from graphbo.bench.engine import Event, Skipped, Unit
from graphbo.cli.as_printed import duration

__all__ = ["Tracker", "tracking"]


class Tracker:
    """Follows a comparison, and estimates how long it will take: methods differ, so each has its own pace."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._left = Counter(cell.method.label for unit in units for cell in unit.cells)
        self._open = {(unit.task.spec, unit.seed): len(unit.cells) for unit in units}
        self._spent: defaultdict[str, list[float]] = defaultdict(list)
        self._began = time.monotonic()
        self.total = self._left.total()
        self.failed = 0
        self.last = ""

    @property
    def done(self) -> int:
        """How many cells are finished, failed or left out."""
        return self.total - self._left.total()

    def follow(self, event: Event) -> bool:
        """Take note of what happened; whether a problem is finished."""
        if isinstance(event, Skipped):
            return False
        cell, finished = event
        self._left[cell.method.label] -= 1
        self._spent[cell.method.label].append(finished.seconds)
        self.failed += finished.error is not None
        self.last = f"{cell.task}, seed {cell.seed}"
        self._open[cell.task, cell.seed] -= 1
        return self._open[cell.task, cell.seed] == 0

    def skip(self, cells: Sequence[Cell]) -> None:
        """Cells that will not be run."""
        self._left.subtract(cell.method.label for cell in cells)

    def estimate(self) -> str:
        """How long it will still take, in words."""
        spent = [second for seconds in self._spent.values() for second in seconds]
        if not sum(spent):
            return ""
        typical = sum(spent) / len(spent)
        work = sum(
            count * (sum(own) / len(own) if (own := self._spent[method]) else typical)
            for method, count in self._left.items()
        )
        left = (time.monotonic() - self._began) * work / sum(spent)
        return f"about {duration(left)} left"


@contextmanager
def tracking(tracker: Tracker) -> Iterator["_Lines | _Bar"]:
    """Show it on standard error."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield _Lines(tracker)
        return
    with Progress(
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("[dim]{task.description}"),
        console=console,
        transient=True,
    ) as progress:
        yield _Bar(tracker, progress)


class _Lines:
    """A line for each problem."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker

    def __call__(self, event: Event) -> None:
        tracker = self._tracker
        if tracker.follow(event):
            left = tracker.estimate()
            click.echo(
                f"{tracker.done:>6}/{tracker.total}  {tracker.last}" + (left and f"  ({left})"),
                err=True,
            )


class _Bar:
    def __init__(self, tracker: Tracker, progress: Progress) -> None:
        self._tracker = tracker
        self._progress = progress
        self._bar = progress.add_task("", total=tracker.total, left="")

    def __call__(self, event: Event) -> None:
        tracker = self._tracker
        tracker.follow(event)
        self._progress.update(
            self._bar, completed=tracker.done, description=tracker.last, left=tracker.estimate()
        )
