"""``graphbo`` in processes that can be killed, cheaply: forked from one that has imported everything already."""

import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from graphbo.cli import main

__all__ = ["FORKING", "KILLED", "PATIENCE_SECONDS", "Command", "Running", "fork", "spawn"]

#: How a process ends that was killed, and how long one that was not may take.
KILLED = -9
PATIENCE_SECONDS = 180.0

#: There is one server that forks for all: whoever starts processes from it imports this.
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(
    [
        "pytest",
        *(f"graphbo.cli.{name}" for name in ("annotate", "by_hand", "load", "run", "runs")),
        "graphbo.runs.worker",
        "graphbo.stores.neo4j.store",
        "graphbo.stores.sqlite.store",
        "graphbo.search.strategies.model",
        "tests.faults.processes",
        "tests.faults.workers",
    ]
)


@dataclass(frozen=True)
class Command:
    """A command line and what surrounds it.

    Attributes:
        output: where it writes; standard output and standard error each add a suffix.
        prepare: called in the new process before anything else, for what an environment cannot say.
    """

    arguments: Sequence[str]
    directory: Path
    environment: Mapping[str, str]
    output: Path
    prepare: Callable[[], None] | None = None

    @property
    def out(self) -> Path:
        """Its standard output."""
        return self.output.with_suffix(".out")

    @property
    def err(self) -> Path:
        """Its standard error."""
        return self.output.with_suffix(".err")


class Running(Protocol):
    """A process that was started."""

    @property
    def code(self) -> int | None:
        """How it ended; None while it runs."""

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""


class _Forked:
    def __init__(self, command: Command) -> None:
        # A daemon of multiprocessing: it ends with this process at the latest.
        self._process = FORKING.Process(target=_perform, args=(command,), daemon=True)
        self._process.start()

    @property
    def code(self) -> int | None:
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()
        self._process.join()


def _perform(command: Command) -> None:
    """Become ``graphbo ARGUMENTS``, as its entry point does."""
    for path, number in ((command.out, 1), (command.err, 2)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(file, number)
    sys.stdin.close()
    sys.stdin = Path(os.devnull).open()  # noqa: SIM115 - for as long as the process lives
    os.chdir(command.directory)
    os.environ.clear()
    os.environ.update(command.environment)
    sys.argv = ["graphbo", *command.arguments]
    if command.prepare is not None:
        command.prepare()
    main()


class _Spawned:
    def __init__(self, command: Command, before: Sequence[str]) -> None:
        program = str(Path(sys.executable).with_name("graphbo"))
        with command.out.open("ab") as out, command.err.open("ab") as err:
            self._process = subprocess.Popen(
                [*before, program, *command.arguments],
                cwd=command.directory,
                env=dict(command.environment),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )

    @property
    def code(self) -> int | None:
        return self._process.poll()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


def fork(command: Command) -> Running:
    """Run a command in a process that is forked: it is at work within milliseconds."""
    return _Forked(command)


def spawn(command: Command, before: Sequence[str] = ()) -> Running:
    """Run the installed program, perhaps by another one that comes ``before`` it in the command line."""
    return _Spawned(command, before)


def wait(process: Running, seconds: float = PATIENCE_SECONDS) -> int | None:
    """How it ended; None if it did not in that time."""
    deadline = time.monotonic() + seconds
    while process.code is None and time.monotonic() < deadline:
        time.sleep(0.002)
    return process.code
