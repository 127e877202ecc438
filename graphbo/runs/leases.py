"""Keeping what a worker evaluates its own: leases are renewed from another process, however long an evaluation takes.

A thread would not do: it waits while an objective holds the interpreter, as code in C may, and others would take the
node over and evaluate it at the same time.
"""

import json
import logging
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from graphbo.errors import RunError
from graphbo.runs import lease_process
from graphbo.stores import Address

__all__ = ["Leases", "check_lease"]

#: Thirty years: no clock computes with much more.
LONGEST_LEASE = 1e9

log = logging.getLogger(__name__)


def check_lease(lease: float) -> None:
    """Refuse a lease that nobody can hold.

    Raises:
        RunError: it is negative, or there is no end to it.
    """
    if not 0 <= lease <= LONGEST_LEASE:
        raise RunError(f"the lease is {lease:g} s: expected 0 to {LONGEST_LEASE:g}")


class Leases:
    """What a worker has leased, renewed every third of a lease from a process with a connection of its own.

    Args:
        run: its name.
        lease: its length in seconds.
        access: opens the connection; without it nothing is renewed.

    Raises:
        RunError: nobody can hold such a lease.
    """

    def __init__(self, run: str, lease: float, access: Address | None) -> None:
        check_lease(lease)
        self._run = run
        self._lease = lease
        self._access = access
        self._process: subprocess.Popen[bytes] | None = None
        #: The tokens of what is leased.
        self.held: set[str] = set()

    def __enter__(self) -> "Leases":
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Renew nothing any more."""
        self._end()

    def hold(self, token: str) -> None:
        """Renew this lease from now on."""
        self.held.add(token)
        self._say(f"+{token}")

    def drop(self, token: str) -> None:
        """Renew it no longer."""
        self.held.discard(token)
        self._say(f"-{token}")

    def _start(self) -> None:
        """Start the process, and do not wait for it."""
        if self._access is None:
            return
        # Not on the command line, where everybody on this machine could read the password.
        order = {"path": _importing(), "run": self._run, "address": asdict(self._access)}
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                # Safe path (-P): the modules beside the file are not to be taken for those of the standard library.
                [sys.executable, "-P", lease_process.__file__, str(os.getpid()), str(self._lease)],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                # Ctrl-C is for the worker, which ends this one when it has tidied up.
                start_new_session=True,
            )
            self._write([json.dumps(order), *(f"+{token}" for token in self.held)])
        except OSError as error:
            # Whoever takes a node over then does no harm.
            log.warning("leases cannot be renewed, since no process can be started: %s", error)

    def _say(self, line: str) -> None:
        if self._process is None:
            return
        try:
            self._write([line])
        except OSError:
            log.warning("the process that renews leases is gone: another one is started")
            self._end()
            self._start()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _write(self, lines: list[str]) -> None:
        assert self._process is not None  # noqa: S101 - for the type checker
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        self._process.stdin.write("".join(f"{line}\n" for line in lines).encode())


def _importing() -> list[str]:
    """Where modules are found, by names that mean the same in another directory."""
    return [str(Path(part).absolute()) for part in sys.path]
