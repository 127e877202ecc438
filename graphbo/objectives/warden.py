"""Ending what an evaluation started when the process that evaluates is gone, however it went.

Programs do not notice that nobody waits for them any more, and a system that could tell them would tell the first of a
group only. So each process that evaluates has a warden beside it, a process that knows the groups it has started. When
the pipe between the two is closed, which even SIGKILL does, the warden ends them and itself.
"""

import atexit
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["guard", "guarded", "unguard"]

#: Nothing that has to be imported: it starts in a few milliseconds, and nobody waits for that.
PROGRAM = """
import os, sys
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, 9)
    except OSError:
        pass
"""


log = logging.getLogger(__name__)


class _Warden:
    """The warden of this process, started when there is something to guard."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: set[int] = set()
        self._process: subprocess.Popen[bytes] | None = None

    def add(self, group: int) -> None:
        with self._lock:
            self._groups.add(group)
            if self._process is None or not self._say(f"+{group}"):
                self._start()

    def discard(self, group: int) -> None:
        with self._lock:
            self._groups.discard(group)
            if self._process is not None:
                self._say(f"-{group}")

    def close(self) -> None:
        """End it; what it guards is ended as well."""
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.communicate()

    def forget(self) -> None:
        """Start afresh in a fork: the warden must see when the parent ends."""
        self._lock = threading.Lock()
        self._groups = set()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.returncode = 0  # it is not ours to wait for
        self._process = None

    def _start(self) -> None:
        if self._process is not None:
            self._process.communicate()
            self._process = None
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [sys.executable, "-I", "-S", "-c", PROGRAM],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            log.warning(
                "programs may outlive this process, since no other can be started: %s", error
            )
        else:
            self._say(*(f"+{group}" for group in self._groups))

    def _say(self, *lines: str) -> bool:
        """Whether it is there to hear it."""
        assert self._process is not None  # noqa: S101 - for the type checker
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        try:
            self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())
        except OSError:
            return False
        return True


_warden = _Warden()
atexit.register(_warden.close)
os.register_at_fork(after_in_child=_warden.forget)


def guard(process: "subprocess.Popen[bytes]") -> None:
    """From now on, end a process that leads a group, with all of the group, when this process is gone."""
    _warden.add(process.pid)


def unguard(process: "subprocess.Popen[bytes]") -> None:
    """It has ended."""
    _warden.discard(process.pid)


@contextmanager
def guarded(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Guard a process for a while."""
    guard(process)
    try:
        yield
    finally:
        unguard(process)
