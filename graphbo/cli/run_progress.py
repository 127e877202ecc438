"""What a run shows while it works: a live display on a terminal, plain lines in a pipe."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from graphbo.cli.as_printed import (
    centre_of,
    describe_region,
    duration,
    named,
    number,
    printable,
    region_of,
    shown,
    who,
)
from graphbo.cli.captions import Namer, namer
from graphbo.runs import Clock, Run, best_of
from graphbo.runs.captions import Captions
from graphbo.runs.costs import spending_of
from graphbo.runs.records import RunRecord
from graphbo.runs.worker import Progress, Watch
from graphbo.search.regions import Region
from graphbo.search.strategies import Folding
from graphbo.types import Observation, Pending
from graphbo.types.text import plural

__all__ = ["MOST_NAMED", "bar", "watching"]

#: Frames per second of the display, and the shortest time between two looks at the run.
FRAMES, SHORTEST_LOOK = 8, 0.1
NARROWEST_BAR, WIDEST_BAR, SHORTEST_NAME = 8, 30, 10
#: How many other workers are named.
MOST_NAMED = 3


@contextmanager
def watching(run: Run, *, quiet: bool, caption: str | None = None) -> Iterator[Watch]:
    """Show a run while it works, on standard error, like all that is no result."""
    console = Console(stderr=True, highlight=False)
    if quiet and not console.is_terminal:
        yield _silent
        return
    with namer(run.store, run.view, caption or run.record.config.get("caption")) as names:
        if not console.is_terminal:
            yield _Lines(names)
            return
        with _live(_Display(run, console, names), console) as display:
            yield display


@contextmanager
def _live(display: "_Display", console: Console) -> "Iterator[_Display]":
    with Live(
        get_renderable=display.render,
        console=console,
        refresh_per_second=FRAMES,
        transient=True,
    ):
        yield display


def _silent(_progress: Progress) -> None:
    pass


# In a pipe


class _Lines:
    """A line for each evaluation."""

    def __init__(self, names: Namer) -> None:
        self._names = names
        self._best: Observation | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.told is None:
            return
        one, record = progress.told.observation, progress.run.record
        count = f"{record.evaluations}" + (f"/{record.budget}" if record.budget else "")
        value = f"failed: {printable(one.error)}" if one.failed else number(one.value)
        late = "" if progress.told.outcome == "recorded" else f"  ({progress.told.outcome})"
        best = self._best_of(progress.run)

        def say(captions: Captions) -> None:
            known = (
                ""
                if best is None
                else f"  best {number(best.value)} at {named(best.key, captions)}"
            )
            click.echo(f"{count:>9}  {named(one.key, captions)}  {value}{known}{late}", err=True)

        self._names.later([one.key] if best is None else [one.key, best.key], say)

    def _best_of(self, run: Run) -> Observation | None:
        """Looked for when it is another one, not at every line."""
        best, record = self._best, run.record
        if best is None or (best.step, best.value) != (record.best_step, record.best_value):
            self._best = best_of(run.history, maximize=record.maximize)
        return self._best


# On a terminal


@dataclass(frozen=True)
class _Look:
    """A run at one moment: all that a frame of the display needs."""

    record: RunRecord
    best: Observation | None = None
    asked: tuple[Pending, ...] = ()
    others: tuple[Pending, ...] = ()
    region: Region | None = None
    revealed: int = 0
    failed: Observation | None = None
    clock: Clock = field(default_factory=Clock)
    evaluations: int = 0


class _Display:
    """Looks at the run when something happens; draws what it saw, from the thread of the display."""

    def __init__(self, run: Run, console: Console, names: Namer) -> None:
        self._run = run
        self._names = names
        self._console = console
        self._began = time.monotonic()
        self._before = run.record.evaluations
        self._clock = run.clock.copy()
        self._mine: dict[int, Pending] = {}
        self._done = 0
        self._best: int | None = run.record.best_step
        self._last = 0.0
        self._folding: Folding[Region] = Folding()
        self._look = self._see()

    def __call__(self, progress: Progress) -> None:
        """Something was asked for, or told."""
        if progress.asked is not None:
            self._drop_told()
            self._mine[progress.asked.step] = progress.asked
            self._names.later([progress.asked.key])
        if progress.told is not None:
            self._done += 1
            self._announce(progress.told.observation)
        if time.monotonic() - self._last >= SHORTEST_LOOK:
            self._look = self._see()
            # What is asked for next stays on the screen for as long as its evaluation takes: it is never left out.
            self._last = time.monotonic() if progress.asked is not None else self._last

    def _drop_told(self) -> None:
        """Take away what has its value: only now, since a display that loses a line and gets another one jumps."""
        awaited = {one.step for one in self._run.pending}
        self._mine = {step: one for step, one in self._mine.items() if step in awaited}

    def _announce(self, one: Observation) -> None:
        """Each new best stays on the screen, above the display."""
        if self._run.record.best_step != one.step or one.step == self._best:
            return
        self._best = one.step
        count = f"{self._run.record.evaluations:>7,}  "

        def say(captions: Captions) -> None:
            key = named(one.key, captions)
            self._console.print(
                Text.assemble((count, "dim"), (key, "bold"), f"  {number(one.value)}")
            )

        self._names.later([one.key], say)

    def _see(self) -> _Look:
        run, record = self._run, self._run.record
        region = region_of(record, run.history, self._folding)
        failed = next((one for one in reversed(run.history) if one.failed), None)
        best = best_of(run.history, maximize=record.maximize)
        others = tuple(one for one in run.pending if one.worker != run.worker)
        centre = centre_of(region)
        self._names.later(one.key for one in (best, failed, centre, *others) if one is not None)
        return _Look(
            record=record,
            best=best,
            asked=tuple(self._mine.values()),
            others=others,
            region=region,
            revealed=run.graph.revealed,
            failed=failed,
            clock=run.clock.minus(self._clock),
            evaluations=self._done,
        )

    def render(self) -> RenderableType:
        """A frame."""
        look = self._look
        elapsed = time.monotonic() - self._began
        rows = Table.grid(padding=(0, 2))
        rows.add_column(style="dim", no_wrap=True, min_width=len("revealed"))
        rows.add_column(overflow="ellipsis", no_wrap=True)
        for title, text in _rows(look, self._names):
            rows.add_row(title, text)
        gained = look.record.evaluations - self._before
        times = _times(look.record, elapsed, gained)
        return Group(bar(look.record, times, self._console.width), rows)


def bar(record: RunRecord, times: str, width: int) -> RenderableType:
    """How far a run is: its name, a bar and the numbers."""
    of = "" if record.budget is None else f" of {record.budget:,}"
    name = Text(shown(record.name), "bold")
    cost = spending_of(record)
    numbers = Text(f"{record.evaluations:,}{of}{f', {cost}' if cost else ''}")
    numbers.append(f"  {times}", "dim")
    # The numbers are what people look for: the name and then the bar make room for them.
    room = width - len(numbers) - 2
    name.truncate(max(room - NARROWEST_BAR - 2, min(room, SHORTEST_NAME)), overflow="ellipsis")
    row: list[RenderableType] = [name]
    left = room - len(name) - 2
    used, budget = (
        (record.spent, record.budget_cost)
        if record.budget is None
        else (record.evaluations, record.budget)
    )
    if budget is not None and left >= NARROWEST_BAR:
        row.append(ProgressBar(budget, used, width=min(left, WIDEST_BAR)))
    grid = Table.grid(padding=(0, 2))
    for _ in range(len(row) + 1):
        grid.add_column(no_wrap=True)
    grid.add_row(*row, numbers)
    return grid


def _times(record: RunRecord, elapsed: float, gained: int) -> str:
    taken = duration(elapsed) if elapsed >= 1 else "0 s"
    if record.budget is None or not gained:
        return taken
    # By all workers together, as fast as they were since this one began.
    left = max(0, record.budget - record.evaluations) * elapsed / gained
    return f"{taken}, about {duration(left)} left" if left >= 1 else taken


def _rows(look: _Look, names: Namer) -> Iterator[tuple[str, Text]]:
    if look.best is not None:
        when = "known value" if look.best.step < 0 else f"evaluation {look.best.step}"
        yield (
            "best",
            Text.assemble(
                (names.named(look.best.key), "bold green"),
                f"  {number(look.best.value)}",
                (f"  ({when})", "dim"),
            ),
        )
    for one in look.asked[:MOST_NAMED]:
        yield "now", _now(one, names)
    if look.region is not None:
        yield "region", Text(describe_region(look.region, names.known))
    # What other processes looked at is not recorded.
    here = "" if look.evaluations == look.record.evaluations else " by this command"
    yield "revealed", Text(f"{plural(look.revealed, 'node')}{here}")
    if look.evaluations:
        yield "per step", Text(_per_step(look))
    if look.others:
        some = ", ".join(
            f"{who(one)} at {names.named(one.key)}" for one in look.others[:MOST_NAMED]
        )
        more = len(look.others) - MOST_NAMED
        yield "others", Text(f"{some}, and {more} more" if more > 0 else some)
    if look.failed is not None:
        error = f"{names.named(look.failed.key)}: {printable(look.failed.error)}"
        yield "failed", Text(f"{look.record.failed:,}, the last {error}", "red")


def _now(one: Pending, names: Namer) -> Text:
    found = one.candidate
    text = Text.assemble((names.named(one.key), "bold"), (f"  (step {one.step})", "dim"))
    if found.mean is not None:
        text.append(f"  expecting {number(found.mean)} ± {number(found.std)}")
    if found.acquisition is not None:
        text.append(f", acquisition {number(found.acquisition)}")
    return text


def _per_step(look: _Look) -> str:
    parts = {
        "database": look.clock.database,
        "model": look.clock.model,
        "objective": look.clock.objective,
    }
    return ", ".join(
        f"{duration(seconds / look.evaluations)} {part}" for part, seconds in parts.items()
    )
