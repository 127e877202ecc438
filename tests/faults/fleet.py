"""Workers that share a run, each started again when it dies, and what they leave as evidence."""

import csv
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from graphbo.runs import RunSettings
from graphbo.runs.records import News
from graphbo.runs.registry import runs_in
from tests.faults.checker import Evidence, Findings, Recorded, Said, check
from tests.faults.journal import OBJECTIVE, journal_environment, read_journal
from tests.faults.processes import KILLED, PATIENCE_SECONDS, Command, Running, fork
from tests.faults.site import Site
from tests.faults.workers import VIEW
from tests.runs.support import news_in

__all__ = ["Fleet", "Worker"]

_POLL_SECONDS, _REST_SECONDS = 0.002, 0.3
#: After so many that gave up, the others will.
_MOST_GIVING_UP = 100
#: A line for each evaluation that is recorded: how many there are now, the node, its value.
_SAID = re.compile(r" *\d+/\d+  (\d+)  (?:(-?[\d.]+)|failed: .*?)(?:  best .*?)?(?:  \(\w+\))?")


@dataclass
class Worker:
    """A process that works on the run."""

    name: str
    command: Command
    process: Running
    killed: float | None = None

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.process.code is None

    @property
    def gave_up(self) -> bool:
        """Whether it ended by itself with an error."""
        return self.killed is None and self.process.code not in (None, 0)

    def kill(self) -> None:
        """SIGKILL."""
        before = time.monotonic()
        self.process.kill()
        # It may have come to its end a moment ago.
        if self.process.code == KILLED:
            self.killed = before

    def said(self) -> Iterator[Said]:
        """What it printed as recorded."""
        for line in self._lines():
            found = _SAID.fullmatch(line)
            if found:
                value = None if found[2] is None else float(found[2])
                yield Said(self.name, int(found[1]), value)

    def endings(self) -> list[str]:
        """The lines that say why it failed; of a traceback, the last."""
        lines = self._lines()
        clear = [line for line in lines if line.startswith("graphbo: ")]
        broken = any(line.startswith("Traceback") for line in lines)
        return [*clear, f"a traceback and {lines[-1]}"] if broken else clear

    def _lines(self) -> list[str]:
        return self.command.err.read_text().splitlines() if self.command.err.exists() else []


@dataclass
class Fleet:
    """Workers on one run.

    Attributes:
        size: how many there are at a time.
        budget: of the run.
        seconds: how long an evaluation takes.
        options: more of ``graphbo run``.
        launch: starts a worker; gets its number.
        joins: whether workers only join a run that is there; otherwise the first one to come creates it.
    """

    site: Site
    size: int
    budget: int
    seconds: float = 0.005
    options: Sequence[str] = ()
    launch: Callable[[Command, int], Running] = lambda command, _: fork(command)
    joins: bool = False
    workers: list[Worker] = field(default_factory=list)
    _gave_up: int = 0
    _resting_until: float = 0.0

    def __post_init__(self) -> None:
        settings = RunSettings(strategy="random", budget=self.budget, objective=OBJECTIVE)
        self.run = self.site.create_run(settings) if self.joins else self.site.name("run")

    def start(self) -> None:
        """One more worker."""
        number = len(self.workers) + 1
        name = f"{self.run}-worker-{number}"
        command = self.site.command(
            name,
            "run",
            "--name",
            self.run,
            *self._arguments(),
            *self.options,
            **journal_environment(self.site.journal, self.run, name, self.seconds),
        )
        self.workers.append(Worker(name, command, self.launch(command, number)))

    def _arguments(self) -> list[str]:
        if self.joins:
            return ["--worker"]
        graph = ["--label", *VIEW.labels, "--rel", *VIEW.relationships, "--key", str(VIEW.key)]
        how = ["--objective", OBJECTIVE, "--strategy", "random", "--budget", str(self.budget)]
        return [*graph, *how]

    @property
    def alive(self) -> list[Worker]:
        """Those that are at work."""
        return [one for one in self.workers if one.alive]

    @property
    def over(self) -> bool:
        """Whether a worker has found that there is nothing left to do."""
        return any(one.process.code == 0 for one in self.workers)

    def muster(self) -> None:
        """Start as many as there are to be; none when the run is over. Who gave up is replaced after a pause."""
        gave_up = sum(one.gave_up for one in self.workers)
        if gave_up > self._gave_up:
            self._gave_up, self._resting_until = gave_up, time.monotonic() + _REST_SECONDS
        while not self.over and len(self.alive) < self.size and not self._resting:
            self.start()

    @property
    def _resting(self) -> bool:
        return time.monotonic() < self._resting_until

    def kill_one(self, rng: Random) -> int:
        """Kill any; how many that were."""
        alive = self.alive
        if not alive:
            return 0
        victim = rng.choice(alive)
        victim.kill()
        return victim.killed is not None

    def work(self, seconds: float, *, until: Callable[[], bool] = lambda: False) -> bool:
        """Keep all of them at work for a while; whether the run is over."""
        deadline = time.monotonic() + seconds
        while not self.over and time.monotonic() < deadline and not until():
            self.muster()
            time.sleep(_POLL_SECONDS)
        return self.over

    def finish(self) -> None:
        """Keep all of them at work until the run is over, unless all give up, and wait for the last."""
        self.work(PATIENCE_SECONDS, until=lambda: self._gave_up >= _MOST_GIVING_UP)
        self.await_all()

    def await_all(self) -> None:
        """Wait until each has ended; who does not is killed, and the check finds what it left undone."""
        self.wait_while_alive(PATIENCE_SECONDS)
        for one in self.alive:
            one.kill()

    def wait_while_alive(self, seconds: float) -> None:
        """Wait until each has ended, or for so long."""
        deadline = time.monotonic() + seconds
        while self.alive and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)

    # What came of it

    def evidence(self) -> Evidence:
        """All that is known of the run, when nobody works on it."""
        evaluated = read_journal(self.site.journal, self.run)
        gave_up = {
            one.name: max(
                (e.end or e.start for e in evaluated if e.worker == one.name), default=0.0
            )
            for one in self.workers
            if one.gave_up
        }
        news = self._news()
        told = news.observations if news is not None else ()
        return Evidence(
            self.run,
            self.budget,
            [Recorded(one.step, int(one.key), one.value) for one in told],
            evaluated,
            [said for one in self.workers for said in one.said()],
            {one.name: one.killed for one in self.workers if one.killed is not None},
            gave_up,
            read_untold(self.site.directory / f"graphbo-{self.run}-untold.csv"),
        )

    def _news(self) -> News | None:
        with self.site.backend.open() as store:
            there = runs_in(store).find(self.run) is not None
            return news_in(store, name=self.run) if there else None

    def check(self, *, may_give_up: bool = False) -> Findings:
        """What is wrong with the run, which should have come to its end; it is removed then."""
        found = check(self.evidence())
        found.other += [*self._unfinished(), *self.bad_endings(may_give_up=may_give_up)]
        found.add(self.site.clean(self.run))
        return found

    def _unfinished(self) -> Iterator[str]:
        news = self._news()
        if news is None:
            yield f"{self.run} is not there"
            return
        record = news.record
        if (record.state, record.evaluations, record.pending) != ("finished", self.budget, 0):
            yield (
                f"{self.run} is {record.state} with {record.evaluations} of {self.budget} evaluations, "
                f"{record.pending} pending"
            )
        if len(news.observations) != record.evaluations:
            yield (
                f"{self.run} counts {record.evaluations} evaluations and has {len(news.observations)}"
            )

    def bad_endings(self, *, may_give_up: bool) -> Iterator[str]:
        """Workers that did not end as they should: in good order, or with one clear line where they may."""
        for one in self.workers:
            if not one.gave_up:
                continue
            lines = one.endings()
            clear = len(lines) == 1 and lines[0].startswith("graphbo: ")
            if not (may_give_up and one.process.code == 1 and clear):
                yield f"{one.name} ended with {one.process.code}: {' / '.join(lines)[:300]}"


def read_untold(path: Path) -> dict[int, float]:
    """The values that a worker could not tell and left in a file."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {int(row["node"]): float(row["value"]) for row in csv.DictReader(file)}
