"""``graphbo status --watch``: follows a run from another terminal until it ends, whoever works on it."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import click
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from graphbo.cli.as_printed import (
    age,
    best_facts,
    centre_of,
    describe_region,
    duration,
    evaluations_of,
    named,
    number,
    observation_facts,
    pending_facts,
    printable,
    record_facts,
    region_facts,
    region_of,
    state_of,
    who,
    with_caption,
)
from graphbo.cli.captions import captions_of
from graphbo.cli.run_progress import MOST_NAMED, bar
from graphbo.runs import Best, Run, best_of, is_abandoned
from graphbo.runs.captions import Captions
from graphbo.runs.records import RunRecord
from graphbo.stores import GraphStore
from graphbo.types import NodeKey, Observation, Pending

__all__ = ["watch_run"]

#: How many of the last evaluations the rate is taken from: it should follow when workers come and go.
RECENT = 20


@dataclass(frozen=True)
class Status:
    """A run at one moment.

    Attributes:
        told: what is new since the status before.
        amended: whether a value was changed since then.
        captions: of the nodes that are shown.
    """

    record: RunRecord
    history: tuple[Observation, ...] = ()
    pending: tuple[Pending, ...] = ()
    told: tuple[Observation, ...] = field(default=())
    amended: bool = False
    captions: Captions | None = None

    @property
    def best(self) -> Best | None:
        """The best value so far."""
        best = best_of(self.history, maximize=self.record.maximize)
        if best is None or best.value is None:
            return None
        return Best(best.key, best.value, best.step)

    @property
    def at_work(self) -> list[Pending]:
        """What somebody is known to be measuring: by hand, or with a lease that has not run out."""
        return [one for one in self.pending if not is_abandoned(one)]

    @property
    def ended(self) -> bool:
        """Whether nothing more is to come. Those at work when a run is stopped still tell what they find."""
        leased = [one for one in self.at_work if one.lease_left is not None]
        return self.record.state != "running" and not leased

    @property
    def rate(self) -> float | None:
        """Evaluations per second, of all workers together, lately."""
        return rate_of(self.history)

    @property
    def left(self) -> float | None:
        """Seconds until the budget is used up, if all goes on like this."""
        if self.record.budget is None or not self.rate:
            return None
        return max(0, self.record.budget - self.record.evaluations) / self.rate

    @property
    def shown_keys(self) -> list[NodeKey]:
        """The nodes that are named."""
        failed = [one for one in self.history if one.failed]
        ones = [self.best, *self.pending, *self.told, *self.history[-1:], *failed[-1:]]
        region = region_of(self.record, self.history)
        return [one.key for one in (*ones, centre_of(region)) if one is not None]

    def differs(self, other: "Status") -> bool:
        """Whether anything happened between the two: a lease that was renewed does not count."""
        return bool(self.told) or self.amended or self._gist() != other._gist()

    def _gist(self) -> tuple[object, ...]:
        asked = tuple((one.step, one.worker) for one in self.pending)
        return (self.record.state, self.record.budget, asked)


def rate_of(history: Sequence[Observation]) -> float | None:
    """Evaluations per second, from the times at which the last ones were told; None before there are two."""
    times = [one.at for one in history if one.source == "run"][-RECENT:]
    try:
        first, last = (datetime.fromisoformat(times[position]) for position in (0, -1))
    except (IndexError, ValueError):
        return None
    seconds = (last - first).total_seconds()
    return (len(times) - 1) / seconds if seconds > 0 else None


def statuses(
    store: GraphStore, name: str, interval: float, caption: str | None = None
) -> Iterator[Status]:
    """A run, again and again, until it has ended.

    Raises:
        NoSuchRun: there is none, or no longer.
        StoreError: the database went away and did not come back.
    """
    run = Run.open(store, name)
    run.refresh()
    known, amended = len(run.history), run.record.amended
    captions = captions_of(store, run.record, caption)
    while True:
        status = Status(
            run.record,
            run.history,
            run.pending,
            run.history[known:],
            run.record.amended != amended,
            captions,
        )
        captions.read(status.shown_keys)
        known, amended = len(run.history), run.record.amended
        yield status
        if status.ended:
            return
        time.sleep(interval)
        run.refresh()


def watch_run(
    store: GraphStore, name: str, *, interval: float, caption: str | None = None, as_json: bool
) -> None:
    """Follow a run until it ends, or until Ctrl-C: a live display on a terminal, in a pipe a line per change.

    Raises:
        NoSuchRun: there is none, or no longer.
        StoreError: the database went away and did not come back.
    """
    console = Console(highlight=False)
    found = statuses(store, name, interval, caption)
    if as_json:
        _follow(found, _print_json)
    elif console.is_terminal:
        _display(found, console)
    else:
        _follow(found, _print_lines)


# In a pipe


def _follow(found: Iterator[Status], show: Callable[[Status], None]) -> None:
    before: Status | None = None
    for status in found:
        if before is None or status.differs(before):
            show(status)
        before = status


def _print_json(status: Status) -> None:
    captions = status.captions
    region = region_of(status.record, status.history)
    facts = record_facts(status.record) | {
        "pending": [with_caption(pending_facts(one), captions) for one in status.pending],
        "best": best_facts(status.best, captions=captions),
        "region": region and region_facts(region),
        "per_second": status.rate,
        "seconds_left": status.left,
        "told": [with_caption(observation_facts(one), captions) for one in status.told],
    }
    click.echo(json.dumps(facts, ensure_ascii=False))


def _print_lines(status: Status) -> None:
    """One for each value, and one for all that changed beside."""
    for one in status.told:
        value = f"failed: {printable(one.error)}" if one.failed else number(one.value)
        step = "known" if one.source == "warm" else str(one.step)
        click.echo(f"{step:>9}  {named(one.key, status.captions)}  {value}")
    parts = [
        state_of(status.record, status.pending),
        evaluations_of(status.record),
        _describe_best(status),
    ]
    if status.record.state == "running":
        parts += [_describe_work(status), *_describe_rate(status)]
    click.echo(", ".join(part for part in parts if part))


def _describe_best(status: Status) -> str:
    best = status.best
    return (
        "" if best is None else f"best {number(best.value)} at {named(best.key, status.captions)}"
    )


def _describe_work(status: Status) -> str:
    workers = list(dict.fromkeys(map(_worker, status.at_work)))
    if not workers:
        return "nobody is at work"
    more = len(workers) - MOST_NAMED
    named = " and ".join(workers[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{named} at work"


def _worker(one: Pending) -> str:
    return "somebody by hand" if one.lease_left is None else who(one)


def _describe_rate(status: Status) -> list[str]:
    if not status.rate:
        return []
    parts = [f"{duration(1 / status.rate)} each"]
    if status.left:
        parts.append(f"about {duration(status.left)} left")
    return parts


# On a terminal


def _display(found: Iterator[Status], console: Console) -> None:
    """Redrawn at each status; the last one stays on the screen."""
    with Live(console=console, auto_refresh=False) as live:
        for status in found:
            live.update(_render(status, console.width), refresh=True)


def _render(status: Status, width: int) -> RenderableType:
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="dim", no_wrap=True, min_width=len("at work"))
    rows.add_column(overflow="ellipsis", no_wrap=True)
    for title, text in _rows(status):
        rows.add_row(title, text)
    rate = (
        ", ".join(_describe_rate(status))
        if status.record.state == "running"
        else status.record.state
    )
    return Group(bar(status.record, rate, width), rows)


def _rows(status: Status) -> Iterator[tuple[str, Text]]:
    best = status.best
    if best is not None:
        when = "known value" if best.step < 0 else f"evaluation {best.step}"
        yield (
            "best",
            Text.assemble(
                (named(best.key, status.captions), "bold green"),
                f"  {number(best.value)}",
                (f"  ({when})", "dim"),
            ),
        )
    if status.history:
        last = status.history[-1]
        value = f"failed: {printable(last.error)}" if last.failed else number(last.value)
        yield "last", Text(f"{named(last.key, status.captions)}  {value}")
    yield from (
        ("at work", _describe_pending(one, status.captions)) for one in status.at_work[:MOST_NAMED]
    )
    more = len(status.at_work) - MOST_NAMED
    if more > 0:
        yield "", Text(f"and {more} more", "dim")
    if not status.at_work and not status.ended:
        yield "at work", Text("nobody", "dim")
    region = region_of(status.record, status.history)
    if region is not None:
        yield "region", Text(describe_region(region, status.captions))
    if status.record.failed:
        last = next(one for one in reversed(status.history) if one.failed)
        key = named(last.key, status.captions)
        error = f"{status.record.failed:,}, the last {key}: {printable(last.error)}"
        yield "failed", Text(error, "red")


def _describe_pending(one: Pending, captions: Captions | None) -> Text:
    asked = age(one.at)
    since = "" if asked is None else f"  for {duration(asked)}"
    return Text.assemble(
        (_worker(one), ""),
        "  ",
        (named(one.key, captions), "bold"),
        (f"  (step {one.step}){since}", "dim"),
    )
