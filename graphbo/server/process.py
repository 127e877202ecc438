"""The server's process: start it so that it outlives us, recognise it later, end it."""

import contextlib
import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphbo.server._extra import extra

__all__ = ["Process", "spawn"]

_POLL_SECONDS = 0.05
# Start times are read from the kernel with a hundredth of a second's resolution.
_SAME_START_SECONDS = 0.5

# Processes begun by this interpreter: somebody must wait for them, or they stay as zombies.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class Process:
    """A process and when it began; the number alone may by now belong to another one."""

    pid: int
    started: float

    def alive(self) -> bool:
        """Whether it still runs.

        Raises:
            ServerError: The extra ``graphbo[server]`` is not installed.
        """
        child = _children.get(self.pid)
        if child is not None and child.poll() is not None:
            del _children[self.pid]
        psutil = extra("psutil")
        try:
            found = psutil.Process(self.pid)
            same = abs(found.create_time() - self.started) < _SAME_START_SECONDS
            return bool(same and found.status() != psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
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


def spawn(command: Sequence[str], console: Path, directory: Path) -> Process:
    """Start a program in a session of its own, so that closing the terminal does not end it.

    Args:
        command: The program and its arguments.
        console: The file that gets everything it prints; emptied first.
        directory: Where it runs.
    """
    handle = os.open(console, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_APPEND, 0o600)
    try:
        child = subprocess.Popen(  # noqa: S603 - our own command, no shell
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=handle,
            stderr=handle,
            cwd=directory,
            start_new_session=True,
        )
    finally:
        os.close(handle)
    _children[child.pid] = child
    return Process(child.pid, _start_time(child.pid))


def _start_time(pid: int) -> float:
    psutil = extra("psutil")
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.NoSuchProcess:
        return 0.0
