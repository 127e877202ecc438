"""Where faults are tried: a database with a small graph of a user in it, and a directory for what commands say."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path

from graphbo.runs import Run, RunSettings
from graphbo.stores.neo4j.server import LocalServer
from tests.backends import Backend, environment_for
from tests.faults.checker import Findings
from tests.faults.databases import empty, strays, users_data
from tests.faults.journal import value_of
from tests.faults.processes import Command, Running, fork, wait
from tests.faults.workers import NODES, VIEW, load

__all__ = ["Answer", "Site"]

_REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Answer:
    """How a command ended."""

    code: int | None
    err: str

    @property
    def message(self) -> str:
        """The line with which it failed."""
        return self.err.strip().rpartition("\n")[2]


@dataclass
class Site:
    """A database that is emptied, and gets a graph.

    Args:
        backend: the database.
        directory: an empty one.
        server: that of the database, if it may be killed.
    """

    backend: Backend
    directory: Path
    server: LocalServer | None = None
    _names: Iterator[int] = field(default_factory=partial(count, 1))

    def __post_init__(self) -> None:
        empty(self.backend)
        with self.backend.open() as store:
            load(store)
            store.write_nodes(VIEW, [(key, {"name": f"node {key}"}) for key in range(NODES)])
        self.reference = users_data(self.backend)
        self.journal = self.directory / "journal"

    def name(self, what: str) -> str:
        """One that nothing else here has."""
        return f"{what}-{next(self._names)}"

    def command(self, name: str, *arguments: object, **environment: str) -> Command:
        """A command on this database."""
        return Command(
            [*map(str, arguments), "--uri", self.backend.uri],
            self.directory,
            environment_for(self.backend)
            | {"PYTHONPATH": str(_REPOSITORY), "PATH": os.environ["PATH"], **environment},
            self.directory / name,
        )

    def start(self, *arguments: object) -> tuple[Running, Command]:
        """Start a command and do not wait for it."""
        command = self.command(self.name("command"), *arguments)
        return fork(command), command

    def run(self, *arguments: object) -> Answer:
        """Run a command to its end."""
        process, command = self.start(*arguments)
        return self.answer(process, command)

    def answer(self, process: Running, command: Command) -> Answer:
        """What a command says in the end; one that does not end is killed."""
        code = wait(process)
        process.kill()
        return Answer(code, command.err.read_text() if command.err.exists() else "")

    def create_run(self, settings: RunSettings, evaluations: int = 0) -> str:
        """A run with so many values of its own."""
        name = self.name("run")
        with self.backend.open() as store:
            _evaluate(Run.create(store, VIEW, name, settings), evaluations)
        return name

    def clean(self, name: str) -> Findings:
        """Remove a run, which is there: what it leaves behind."""
        answer = self.run("clean", name, "--yes")
        found = self.after_clean()
        if answer.code != 0:
            found.other.append(f"cleaning {name} ended with {answer.code}: {answer.message}")
        return found

    def after_clean(self) -> Findings:
        """What is wrong with a database in which there should be no run any more."""
        found = Findings(strays=strays(self.backend))
        if users_data(self.backend) != self.reference:
            found.other.append("the data of the user is not what it was")
        return found


def _evaluate(run: Run, evaluations: int) -> None:
    for _ in range(evaluations):
        asked = run.ask(lease=60.0).pending
        assert asked is not None
        run.tell(value_of(int(asked.key)), step=asked.step, token=asked.token)
