"""What a person sees while ``optimize`` works: on a terminal and in a notebook, and nothing where nobody looks."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from html import escape
from importlib import import_module
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from graphbo.runs import Best
from graphbo.runs.costs import spending_of
from graphbo.runs.records import RunRecord
from graphbo.runs.worker import Progress, Watch
from graphbo.types import NodeKey, Observation
from graphbo.types.text import cut, duration, number, plural

__all__ = ["displayed"]

#: Frames per second on a terminal, and the shortest time between two updates of a notebook's page.
FRAMES, SHORTEST = 8, 0.2
BAR = 30
#: How many nodes are named that are being evaluated, and how long a name is.
MOST_NAMED, LONGEST = 4, 40


@dataclass(frozen=True)
class _Seen:
    """How a search stands, as it is shown."""

    name: str
    record: RunRecord
    best: Best | None = None
    now: tuple[str, ...] = ()
    failed: int = 0
    last_failure: str = ""

    @property
    def count(self) -> str:
        done, budget = self.record.evaluations, self.record.budget
        count = plural(done, "evaluation") if budget is None else f"{done:,} of {budget:,}"
        spent = spending_of(self.record)
        return f"{count}, {spent}" if spent else count

    @property
    def used(self) -> tuple[float, float]:
        """What was used, and of how much: of two budgets, of the one that ends first."""
        budgets = [
            (used, budget)
            for used, budget in (
                (self.record.evaluations, self.record.budget),
                (self.record.spent, self.record.budget_cost),
            )
            if budget
        ]
        return max(budgets, key=lambda one: one[0] / one[1], default=(0.0, 1.0))

    @property
    def share(self) -> float:
        """The same as a share."""
        return self.used[0] / self.used[1]

    def lines(self) -> Iterator[tuple[str, str]]:
        """What there is to say beside the bar."""
        if self.best is not None:
            step = self.best.step
            when = "known value" if step < 0 else f"evaluation {step}"
            yield "best", f"{_named(self.best.key)} with {number(self.best.value)} ({when})"
        if self.now:
            more = len(self.now) - MOST_NAMED
            named = ", ".join(self.now[:MOST_NAMED])
            yield "now", f"{named}, and {more} more" if more > 0 else named
        if self.failed:
            yield "failed", f"{plural(self.failed, 'evaluation')}, the last {self.last_failure}"


@contextmanager
def displayed(
    record: RunRecord, best: Best | None, outward: Callable[[NodeKey], Any]
) -> Iterator[Watch]:
    """Show a search while it goes on, if there is somebody to see it.

    Args:
        record: of its run, as it begins.
        best: of those before.
        outward: from a key to what the user calls the node.
    """
    display = _Display(_Seen(record.name, record, best), outward)
    console = Console(stderr=True, highlight=False)
    if _is_notebook():
        page = _Page(display)
        try:
            yield page
        finally:
            display.rest()
            page.show()
    elif console.is_terminal and not console.is_dumb_terminal:
        # What a function prints stays where it was sent to.
        with Live(
            get_renderable=display.drawn,
            console=console,
            refresh_per_second=FRAMES,
            redirect_stdout=sys.stdout.isatty(),
        ):
            try:
                yield display
            finally:
                display.rest()
    else:
        yield lambda _: None


def _is_notebook() -> bool:
    """Whether output is shown on a page: of all that IPython serves, a notebook has a kernel."""
    get = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return get is not None and getattr(get(), "kernel", None) is not None


class _Display:
    """Follows a search, and draws it. Frames are drawn by another thread: what they need is replaced, not changed."""

    def __init__(self, seen: _Seen, outward: Callable[[NodeKey], Any]) -> None:
        self.seen = seen
        self._outward = outward
        self._began = time.monotonic()
        self._before = seen.share
        self._now: dict[int, str] = {}
        self._seconds: float | None = None

    def __call__(self, progress: Progress) -> None:
        """Something was asked for, or told."""
        record = progress.run.record
        if progress.asked is not None:
            self._now[progress.asked.step] = _named(self._outward(progress.asked.key))
        if progress.told is not None:
            one = progress.told.observation
            self._now.pop(one.step, None)
            self._note(one, best=one.step == record.best_step)
        self.seen = replace(self.seen, record=record, now=tuple(self._now.values()))

    def _note(self, one: Observation, *, best: bool) -> None:
        key = self._outward(one.key)
        if one.value is None:
            error = f"{_named(key)}: {cut(str(one.error), 2 * LONGEST)}"
            self.seen = replace(self.seen, failed=self.seen.failed + 1, last_failure=error)
        elif best:
            self.seen = replace(self.seen, best=Best(key, one.value, one.step))

    def rest(self) -> None:
        """It is over: what stays on the screen says how it ended."""
        self._seconds = time.monotonic() - self._began
        self.seen = replace(self.seen, now=())

    @property
    def times(self) -> str:
        """How long it has taken, and will take."""
        seconds = time.monotonic() - self._began if self._seconds is None else self._seconds
        share = self.seen.share
        gained = share - self._before
        left = (1.0 - share) * seconds / gained if gained > 0 else 0.0
        over = self._seconds is not None or left < 1
        return duration(seconds) + ("" if over else f", about {duration(left)} left")

    def drawn(self) -> RenderableType:
        """A frame for a terminal."""
        seen = self.seen
        title = Table.grid(padding=(0, 2))
        title.add_row(
            Text(cut(seen.name, LONGEST), "bold"),
            ProgressBar(seen.used[1], seen.used[0], width=BAR),
            Text.assemble(seen.count, (f"  {self.times}", "dim")),
        )
        rows = Table.grid(padding=(0, 2))
        rows.add_column(style="dim", no_wrap=True)
        rows.add_column(overflow="ellipsis", no_wrap=True)
        for what, text in seen.lines():
            rows.add_row(what, Text(text, "red" if what == "failed" else ""))
        return Group(title, rows)


class _Page:
    """Shows a display on a notebook's page, and that again in the same place."""

    def __init__(self, display: _Display) -> None:
        self._display = display
        self._handle: Any = import_module("IPython.display").display(self._html(), display_id=True)
        self._last = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        """Something was asked for, or told."""
        self._display(progress)
        # What is asked for next stays there for as long as its evaluation takes: it is never left out.
        if progress.asked is not None or time.monotonic() - self._last >= SHORTEST:
            self.show()

    def show(self) -> None:
        """As it stands now."""
        self._last = time.monotonic()
        if self._handle is not None:
            self._handle.update(self._html())

    def _html(self) -> "_Html":
        seen = self._display.seen
        used, most = seen.used
        bar = f'<progress value="{used:g}" max="{most:g}" style="width:16em"></progress>'
        lines = [
            f"<strong>{escape(seen.name)}</strong> {bar} {seen.count} "
            f'<span style="opacity:0.6">{self._display.times}</span>'
        ]
        lines += [
            f'<span style="opacity:0.6">{what}</span> {escape(text)}' for what, text in seen.lines()
        ]
        rows = "".join(f"<div>{line}</div>" for line in lines)
        return _Html(
            f'<div style="font-family:system-ui,sans-serif;line-height:1.5">{rows}</div>', seen
        )


@dataclass(frozen=True)
class _Html:
    """Something for a page; in a place that shows text only, a line."""

    html: str
    seen: _Seen

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        said = [f"{what} {text}" for what, text in self.seen.lines()]
        return "; ".join([f"{self.seen.name}: {self.seen.count}", *said])


def _named(node: object) -> str:
    return cut(str(node), LONGEST)
