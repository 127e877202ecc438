"""Who works on a run, and who has stopped without saying so."""

import os
import secrets
import socket
from pathlib import Path

from graphbo.types import Pending

__all__ = ["HELD", "is_abandoned", "worker_name"]

#: The requests that this process works on, by their tokens.
HELD: set[str] = set()


def worker_name() -> str:
    """Who this process is, for everybody who shares a run with it: host, process id, and something unique."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


def is_abandoned(pending: Pending) -> bool:
    """Whether nobody works on a node any more: its lease has run out, or its process was one of this host."""
    if pending.lease_left is None or pending.token in HELD:
        return False
    return pending.lease_left < 0 or _is_gone(pending.worker)


def _is_gone(worker: str) -> bool:
    """Whether a worker was a process of this host that is gone."""
    host, _, process = worker.rpartition(":")[0].rpartition(":")
    if host != socket.gethostname() or not process.isdecimal():
        return False
    if int(process) == os.getpid():
        # This process gave it up, or an older one had the same number, as the first in a container always has.
        return True
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return _is_zombie(process)


def _is_zombie(process: str) -> bool:
    """Whether a process has ended and its parent has not noticed yet, where the system tells."""
    try:
        after_name = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2]
    except OSError:
        return False
    return after_name.split()[:1] == [b"Z"]
