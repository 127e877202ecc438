"""The server's process: start it so that it outlives us, recognise it later, end it."""

import contextlib
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphbo.stores.neo4j.server._extra import extra

__all__ = ["Process", "spawn"]

_POLL_SECONDS = 0.05

# Processes begun by this interpreter: somebody must wait for them, or they stay as zombies.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class Process:
    """A process that was started with a certain argument.

    The number alone may by now belong to another program, and start times shift when the clock is
    set; the argument that names the server's directory belongs to that server only.
    """

    pid: int
    argument: str

    def alive(self) -> bool:
        """Whether it still runs.

        Raises:
            ServerError: The extra ``graphbo[server]`` is not installed.
        """
        child = _children.get(self.pid)
        if child is not None:
            if child.poll() is None:
                return True
            del _children[self.pid]
        psutil = extra("psutil")
        try:
            return self.argument in psutil.Process(self.pid).cmdline()
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            return False

    def terminate(self) -> None:
        """Ask it to end; Neo4j then closes its databases properly."""
        self._signal("terminate")

    def kill(self) -> None:
        """End it at once, as a power cut would."""
        self._signal("kill")

    def _signal(self, method: str) -> None:
        psutil = extra("psutil")
        if self.alive():
            with contextlib.suppress(psutil.NoSuchProcess):
                getattr(psutil.Process(self.pid), method)()

    def wait(self, timeout: float) -> bool:
        """Wait for its end; False if it still runs after ``timeout`` seconds."""
        deadline = time.monotonic() + timeout
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True


def spawn(command: Sequence[str], argument: str, console: Path, directory: Path) -> Process:
    """Start a program in a session of its own, so that closing the terminal does not end it.

    Args:
        command: The program and its arguments.
        argument: The last argument, by which the process is recognised later.
        console: The file that gets everything it prints; emptied first.
        directory: Where it runs.
    """
    handle = os.open(console, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_APPEND, 0o600)
    # The server needs none of these, and they may hold the password of another one.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NEO4J_")}
    try:
        child = subprocess.Popen(  # noqa: S603 - our own command, no shell
            [*command, argument],
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=handle,
            cwd=directory,
            env=environment,
            start_new_session=True,
        )
    finally:
        os.close(handle)
    _children[child.pid] = child
    return Process(child.pid, argument)
